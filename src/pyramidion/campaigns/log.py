"""The log of decisions as people read it: one row for what was decided at once, and whether it can be taken back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyramidion.campaigns.decisions import Standing
from pyramidion.campaigns.workers import Decision

UNDONE_BY = {
    "approve": "unapprove",
    "reject": "restore",
    "reopen": "restore",
    "exclude": "include",
    "include": "exclude",
    "block": "unblock",
    "unblock": "block",
}
"""What takes a decision back; the others stand."""
AT_ONCE = 1.0
"""Entries about answers that follow each other within so many seconds, alike in all else, are one decision."""
BLOCK_AND_REMOVE = "block-remove"
"""A block together with the removal of the worker's answers, which has entries of its own."""


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """The entries of the log from ``first`` to ``last``: about a worker, or about answers of ``workers`` workers.

    ``worker`` and ``assignment`` name the only one. ``undo`` says whether something of it still stands and can be taken
    back.
    """

    first: int
    last: int
    at: float
    actor: str
    action: str
    reason: str
    amount: float | None
    workers: int
    worker: str | None
    answers: int
    assignment: int | None
    undo: bool


def together(entries: Iterable[Decision]) -> Iterator[list[Decision]]:
    """Entries that were made at once, in their order."""
    group: list[Decision] = []
    for entry in entries:
        if group and not _belongs(entry, group):
            yield group
            group = []
        group.append(entry)
    if group:
        yield group


def _belongs(entry: Decision, group: list[Decision]) -> bool:
    at_once = entry.at - group[-1].at <= AT_ONCE
    return entry.assignment is not None and at_once and is_part(entry, group[0])


def is_part(entry: Decision, first: Decision) -> bool:
    """Whether an entry about an answer may belong to the decision that begins with another entry."""
    if (entry.actor, entry.reason) != (first.actor, first.reason):
        return False
    if first.action == "block":
        return entry.action in {"reject", "reopen"} and entry.worker == first.worker
    return first.assignment is not None and entry.action == first.action


def stands(entry: Decision, standing: Standing, removed: str | None) -> bool:
    """Whether a decision about an answer holds and no platform was told, so that it can be taken back."""
    if entry.action == "reopen":
        return removed == "reopened"
    return entry.action in UNDONE_BY and standing.decision == entry.action and not standing.told


def log_rows(
    entries: Iterable[Decision],
    standings: Mapping[int, Standing],
    removed: Mapping[int, str | None],
    out: Mapping[str, Mapping[str, str]],
) -> list[LoggedDecision]:
    """The log by what was decided at once. ``removed`` says why answers do not count; ``out`` who is excluded and who
    blocked."""
    rows = []
    for group in together(entries):
        first, last = group[0], group[-1]
        workers = sorted({entry.worker for entry in group if entry.worker})
        answers = [(entry, entry.assignment) for entry in group if entry.assignment is not None]
        holds = first.assignment is None and any(_holds(first, action, out) for action in ("exclude", "block"))
        undo = holds or any(stands(entry, standings.get(id, Standing()), removed.get(id)) for entry, id in answers)
        rows.append(
            LoggedDecision(
                first=first.id,
                last=last.id,
                at=last.at,
                actor=first.actor,
                action=BLOCK_AND_REMOVE if first.action == "block" and answers else first.action,
                reason=first.reason,
                amount=first.amount,
                workers=len(workers),
                worker=workers[0] if len(workers) == 1 else None,
                answers=len(answers),
                assignment=first.assignment if len(group) == 1 else None,
                undo=undo,
            )
        )
    return rows


def _holds(entry: Decision, action: str, out: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether an exclusion or a block is the one that holds."""
    return entry.action == action and out[action].get(entry.worker or "") == entry.reason
