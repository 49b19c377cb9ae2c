"""What an evaluation is made of: texts, pyramids, judgments, scores, and the rules they obey. Frozen values."""

from pyramidion.study.judgments import UNMATCHED, Aspect, Column, Judge, Judgment, Judgments
from pyramidion.study.scores import Score, ScoreTable, Signature
from pyramidion.study.study import Study
from pyramidion.study.tasks import Assignment, Campaign, Settings, Task
from pyramidion.study.texts import ContentUnit, Contributor, Document, Pyramid, Span, Summary, Topic

__all__ = [
    "UNMATCHED",
    "Aspect",
    "Assignment",
    "Campaign",
    "Column",
    "ContentUnit",
    "Contributor",
    "Document",
    "Judge",
    "Judgment",
    "Judgments",
    "Pyramid",
    "Score",
    "ScoreTable",
    "Settings",
    "Signature",
    "Span",
    "Study",
    "Summary",
    "Task",
    "Topic",
]
