"""LitePyramids files (Shapira et al. 2019) and the CSVs of Amazon Mechanical Turk: one CSV or a folder of them.

units             eventId, questionId, questionText, answer, author, sourceSummaryId, forUse
writing input     eventId, summaryId, summary_text                                     one reference per row
judging input     eventId, summaryId, qIdList, summary_text, statement_1 ...           one task per row
judging results   HITId, AssignmentId, WorkerId, ..., Input.*, Answer.S1Answer ...     one assignment per row
writing results   HITId, WorkerId, ..., Input.*, other Answer.*                        one assignment per row

Each file is recognised by its header. An unanswered unit is missing (None), never "present" as in the released
LitePyramids code.
"""

from __future__ import annotations

from pyramidion.formats import Format
from pyramidion.formats.mturk.reading import read, recognises
from pyramidion.formats.mturk.writing import write

__all__ = ["FORMAT", "read", "recognises", "write"]

FORMAT = Format(
    name="mturk",
    title="LitePyramids and MTurk CSVs: units, tasks to upload, downloaded results",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset(
        {
            "references",
            "peers",
            "source names",
            "pyramids",
            "unit authors",
            "unit groups",
            "unit judgments",
            "tasks",
            "assignments",
        }
    ),
)
