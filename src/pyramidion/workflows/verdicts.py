"""One word for all answers of a worker: a platform approves or rejects a session as a whole.

A session is rejected only where every answer in it is rejected, so that none is in scores, and approved only where none
is. Anything between is told to nobody until a manager has decided: reject the others too, or re-open the rejected ones,
which are then paid but still in no score.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyramidion.model import Campaign
from pyramidion.store import Standing, StoredAnswer
from pyramidion.workflows.campaign import Desk

PAYING = frozenset({"prolific", "simulated"})
"""Platforms that take decisions; with the others, whoever invited people pays them."""
SOME_REJECTED = (
    "some answers are rejected and others approved, but the platform takes one decision for all: reject the others "
    "too, or restore and re-open the rejected ones"
)


class Verdict(NamedTuple):
    """What the platform should be told about a worker: approve or reject, or empty with the reason why nothing yet."""

    worker: str
    decision: str
    answers: tuple[int, ...]
    reason: str
    problem: str = ""
    told: bool = False


class Pending(NamedTuple):
    """A decision that holds here and of which the platform does not know."""

    worker: str
    decision: str
    answers: int
    problem: str


def verdicts(answers: Iterable[StoredAnswer], standings: dict[int, Standing]) -> list[Verdict]:
    """A verdict for each worker all of whose answers are decided. Withdrawn answers need none."""
    by_worker: dict[str, list[int]] = {}
    for answer in answers:
        if answer.state == "submitted" and answer.removed != "withdrawn":
            by_worker.setdefault(answer.worker, []).append(answer.id)
    return [
        _verdict(worker, {id: standings.get(id, Standing()) for id in ids}) for worker, ids in sorted(by_worker.items())
    ]


def _verdict(worker: str, answers: dict[int, Standing]) -> Verdict:
    words = {standing.decision for standing in answers.values()}
    ids = tuple(answers)
    if words != {"approve"} and words != {"reject"}:
        return Verdict(worker, "", ids, "", SOME_REJECTED if "" not in words else "")
    [word] = words
    told = all(standing.told == word for standing in answers.values())
    problem = next((standing.problem for standing in answers.values() if standing.problem), "")
    return Verdict(worker, word, ids, list(answers.values())[-1].reason, problem, told and not problem)


def pending_decisions(desk: Desk, campaign: Campaign, answers: Iterable[StoredAnswer]) -> tuple[Pending, ...]:
    """What the platform of a campaign has yet to be told, or has refused to hear."""
    if campaign.settings.platform not in PAYING:
        return ()
    found = verdicts(answers, desk.decisions.standings(campaign.name))
    return tuple(
        Pending(one.worker, one.decision, len(one.answers), one.problem)
        for one in found
        if (one.decision and not one.told) or one.problem
    )
