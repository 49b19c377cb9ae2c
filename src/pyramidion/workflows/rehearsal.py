"""Rehearse a campaign with simulated workers, in process: the same store, the same checks, nobody paid."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pyramidion.errors import UsageError
from pyramidion.platforms.simulated import Rehearsal, crowd, rehearse
from pyramidion.store import Assignments
from pyramidion.workflows.campaign import Desk
from pyramidion.workflows.tasks import check_answer, task_page


class _InProcess:
    """The simulator's view of a database: what the server does for a real worker's page."""

    def __init__(self, desk: Desk, campaign: str) -> None:
        self.now = time.time()
        self._desk = desk
        self._campaign = desk.campaigns.get(campaign)
        self._assignments = Assignments(desk.database, lambda: self.now)
        self._study = desk.studies.load()
        self._pages: dict[int, dict[str, Any]] = {}

    def _id(self, worker: str) -> str:
        return self._desk.workers.join("simulated", worker).id

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        lease = self._assignments.lease(self._campaign.name, self._id(worker))
        if lease is None:
            return None
        page = task_page(self._study, self._campaign, lease.task, lease.gold)
        self._pages[lease.id] = page
        return lease.id, page

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> object:
        clean = check_answer(self._pages[assignment], answer)
        return self._assignments.submit(assignment, self._id(worker), key, clean)

    def give_back(self, worker: str, assignment: int, /) -> object:
        self._assignments.give_back(assignment, self._id(worker))
        return None

    def wait(self, seconds: float) -> None:
        self.now += seconds


def rehearse_campaign(
    desk: Desk,
    campaign: str,
    *,
    workers: int = 30,
    careless: float = 0.2,
    adversarial: float = 0.05,
    abandon: float = 0.0,
    seed: int = 0,
) -> Rehearsal:
    """Let a simulated crowd do a campaign to its end."""
    if (state := desk.campaigns.get(campaign).state) != "running":
        raise UsageError(f"campaign {campaign} is {state}, so it gives out no tasks")
    rng = np.random.default_rng(seed)
    stage = _InProcess(desk, campaign)
    people = crowd(workers, rng, careless=careless, adversarial=adversarial, abandon=abandon)
    return rehearse(stage, people, rng, wait=stage.wait)
