"""The vocabulary of LitePyramids and MTurk files: which columns make which kind of file, ids in a cell, answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from pyramidion.formats.nist import parse_name

Kind = Literal["units", "writing input", "judging input", "judging results", "writing results"]

PYRAMID = "crowd"

REQUIRED: dict[Kind, tuple[str, ...]] = {
    "units": ("eventId", "questionId", "questionText", "author", "sourceSummaryId", "forUse"),
    "writing input": ("eventId", "summaryId", "summary_text"),
    "judging input": ("eventId", "summaryId", "qIdList", "summary_text", "statement_1"),
    "judging results": (
        "Input.eventId",
        "Input.summaryId",
        "Input.qIdList",
        "Input.summary_text",
        "Input.statement_1",
    ),
    "writing results": ("HITId", "WorkerId", "Input.eventId", "Input.summaryId", "Input.summary_text"),
}
"""In reading order: the earlier a kind comes, the more its files know about the units."""

WHO = ("HITId", "AssignmentId", "WorkerId")
"""Released judging results may have none of these: then their workers are anonymous."""

_OPTIONAL: dict[Kind, frozenset[str]] = {
    "units": frozenset({"answer"}),
    "judging input": frozenset({"HITId"}),
}
_FROM_MTURK = frozenset(
    {
        "HITId",
        "HITTypeId",
        "Title",
        "Description",
        "Keywords",
        "Reward",
        "CreationTime",
        "MaxAssignments",
        "RequesterAnnotation",
        "AssignmentDurationInSeconds",
        "AutoApprovalDelayInSeconds",
        "Expiration",
        "NumberOfSimilarHITs",
        "LifetimeInSeconds",
        "AssignmentId",
        "WorkerId",
        "AssignmentStatus",
        "AcceptTime",
        "SubmitTime",
        "AutoApprovalTime",
        "ApprovalTime",
        "RejectionTime",
        "RequesterFeedback",
        "WorkTimeInSeconds",
        "LifetimeApprovalRate",
        "Last30DaysApprovalRate",
        "Last7DaysApprovalRate",
        "Approve",
        "Reject",
    }
)
_STATEMENT = re.compile(r"(?:Input\.)?statement_(\d+)")
_ANSWER = re.compile(r"Answer\.S(\d+)Answer")


def kind_of(header: Iterable[str]) -> Kind | None:
    """What a file with these columns holds; recognised even if required columns are missing."""
    names = set(header)
    judging = any(_STATEMENT.fullmatch(name) or _ANSWER.fullmatch(name) for name in names)
    if not names.isdisjoint({"questionId", "questionText"}):
        return "units"
    if any(name.startswith(("Input.", "Answer.")) for name in names):
        if judging or "Input.qIdList" in names:
            return "judging results"
        return (
            None if names.isdisjoint({"Input.eventId", "Input.summaryId", "Input.summary_text"}) else "writing results"
        )
    if judging or "qIdList" in names:
        return "judging input"
    return "writing input" if "summary_text" in names and not names.isdisjoint({"eventId", "summaryId"}) else None


def missing_columns(kind: Kind, header: Sequence[str]) -> list[str]:
    required = list(REQUIRED[kind])
    if kind == "judging results":
        required += WHO if any(name in header for name in WHO) else ()
        required += [answer_column(number) for number in statement_columns(header)]
    return [name for name in required if name not in header]


def ignored_columns(kind: Kind, header: Sequence[str]) -> list[str]:
    """Columns that are neither used nor part of what MTurk always writes."""
    known = {*REQUIRED[kind], *_OPTIONAL.get(kind, ())}
    if kind in {"judging input", "judging results"}:
        known.update(statement_columns(header).values())
    if kind in {"writing results", "judging results"}:
        known |= _FROM_MTURK
        used = _ANSWER.fullmatch if kind == "judging results" else re.compile(r"Answer\..*").fullmatch
        known.update(name for name in header if used(name))
    return [name for name in header if name and name not in known]


def statement_columns(header: Iterable[str]) -> Mapping[int, str]:
    """Column names of statements by their number, in the order of the numbers."""
    return _statement_columns(tuple(header))


@lru_cache(maxsize=16)
def _statement_columns(header: tuple[str, ...]) -> Mapping[int, str]:
    columns = {int(match[1]): name for name in header if (match := _STATEMENT.fullmatch(name))}
    return dict(sorted(columns.items()))


def answer_column(number: int) -> str:
    return f"Answer.S{number}Answer"


BLANK = "BLANK"
"""Stands for no statement in files whose tasks are filled up to the same number."""

ANSWERS: dict[str, float | None] = {
    **dict.fromkeys(("p", "present", "y", "yes", "true", "1"), 1.0),
    **dict.fromkeys(("n", "not present", "absent", "no", "false", "0"), 0.0),
    "": None,
}
"""What people and programs write for a unit that is present or not, in any case."""


def system_of(id: str) -> str:
    """Who wrote the summary with this id: the last part of a NIST name, otherwise the id itself."""
    name = parse_name(id)
    return name.system if name else id


# -- ids in one cell: there is no standard, so the number of statements decides -------------------------------


def split_ids(cell: str, count: int) -> list[str] | None:
    """The ids of a cell, split in the first way that gives this many; None if no way does."""
    for split in _SPLITS:
        ids = [id for part in split(cell) if (id := part.strip())]
        if len(ids) == count:
            return ids
    return None


def join_ids(ids: Sequence[str]) -> str:
    joined = ";".join(ids)
    unclear = joined.startswith(("[", "(")) or any(";" in id for id in ids)
    return json.dumps(list(ids), ensure_ascii=False) if unclear else joined


def _list_items(cell: str) -> list[str]:
    """A list as JSON or Python writes it; nothing where the cell is not a list."""
    cell = cell.strip()
    if not (cell.startswith(("[", "(")) and cell.endswith(("]", ")"))):
        return []
    try:
        items = json.loads(cell)
    except (ValueError, RecursionError):
        return [part.strip().strip("'\"") for part in cell[1:-1].split(",")]
    return [str(item) for item in items] if isinstance(items, list) else []


_SPLITS: tuple[Callable[[str], list[str]], ...] = (
    _list_items,
    lambda cell: cell.split(";"),
    lambda cell: cell.split(","),
    lambda cell: cell.split("|"),
    str.split,
    lambda cell: cell.split("_"),
)
