"""A manager's decision about a worker and what follows from it, for the command line and the pages alike."""

from __future__ import annotations

from typing import Any, cast

from pyramidion.store import Assignments, Workers
from pyramidion.store.reviews import Action
from pyramidion.workflows.campaign import Desk


def decide(desk: Desk, action: str, *, worker: str, actor: str, reason: str, amount: float | None = None) -> None:
    """Record the decision. A block also stops tasks; approve and reject cover every undecided submission."""
    about: dict[str, Any] = {"actor": actor, "reason": reason, "worker": worker}
    desk.reviews.add(cast(Action, action), **about, amount=amount)
    workers = Workers(desk.database)
    if action == "block":
        workers.set_blocked(worker, reason)
        Assignments(desk.database).release_worker(worker)
    elif action == "unblock":
        workers.set_blocked(worker, None)
    elif action in {"approve", "reject"}:
        decided = desk.reviews.decisions()
        for answer in desk.campaigns.answers():
            if answer.worker == worker and answer.state == "submitted" and answer.id not in decided:
                desk.reviews.add(cast(Action, action), **about, assignment=answer.id)


def reopen(desk: Desk, assignment: int, *, actor: str, reason: str) -> None:
    """Ask somebody else to do a task again; the answer that was given is kept, but no longer counted."""
    Assignments(desk.database).reopen(assignment)
    desk.reviews.add("reopen", actor=actor, reason=reason, assignment=assignment)
