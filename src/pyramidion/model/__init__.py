"""The nouns every part speaks: frozen values, standard library only."""

from pyramidion.model.campaigns import Assignment, Campaign, Settings, Task
from pyramidion.model.judgments import UNMATCHED, Aspect, Column, Judge, Judgment, Judgments
from pyramidion.model.pyramids import ContentUnit, Contributor, Pyramid
from pyramidion.model.scores import Score, ScoreTable, Signature
from pyramidion.model.studies import Study
from pyramidion.model.texts import Document, Span, Summary, Topic

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
