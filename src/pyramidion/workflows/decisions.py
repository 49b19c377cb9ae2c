"""A manager's decision about a worker and what follows from it, for the command line and the pages alike."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, cast

from pyramidion.store.reviews import Action
from pyramidion.workflows.campaign import Desk
from pyramidion.workflows.monitor import overview

OfSubmission = Literal["approve", "reject", "reopen"]


def decide(
    desk: Desk,
    action: str,
    *,
    worker: str,
    actor: str,
    reason: str,
    amount: float | None = None,
    campaign: str | None = None,
) -> int:
    """Record the decision. A block also stops tasks; approve and reject cover every undecided submission, or those to
    one campaign. Returns how many submissions they covered.
    """
    about: dict[str, Any] = {"actor": actor, "reason": reason, "worker": worker}
    desk.reviews.add(cast(Action, action), **about, amount=amount)
    if action == "block":
        desk.workers.set_blocked(worker, reason)
        desk.assignments.release_worker(worker)
    elif action == "unblock":
        desk.workers.set_blocked(worker, None)
    elif action in {"approve", "reject"}:
        decided = desk.reviews.decisions()
        given = [a for a in desk.campaigns.answers(campaign) if a.worker == worker and a.state == "submitted"]
        undecided = [answer.id for answer in given if answer.id not in decided]
        for assignment in undecided:
            desk.reviews.add(cast(Action, action), **about, assignment=assignment)
        return len(undecided)
    return 0


class Approved(NamedTuple):
    """Whose submissions were approved, how many, and the workers who were left out."""

    workers: tuple[str, ...]
    submissions: int
    left: tuple[str, ...]


def approve_unflagged(desk: Desk, campaign: str, *, actor: str, reason: str) -> Approved:
    """Approve what everybody submitted to a campaign who has no flag there and is not excluded."""
    found = overview(desk, campaign).workers
    good = tuple(one.worker for one in found if not one.flags and not one.excluded)
    done = [decide(desk, "approve", worker=worker, actor=actor, reason=reason, campaign=campaign) for worker in good]
    return Approved(good, sum(done), tuple(one.worker for one in found if one.worker not in good))


def decide_submission(desk: Desk, action: OfSubmission, assignment: int, *, actor: str, reason: str) -> None:
    """Record a decision about one submission.

    To reopen is to ask somebody else to do the task again; the answer that was given is kept, but no longer counted.
    """
    if action == "reopen":
        desk.assignments.reopen(assignment)
    desk.reviews.add(action, actor=actor, reason=reason, assignment=assignment)
