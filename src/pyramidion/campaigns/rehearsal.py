"""Rehearse a campaign with simulated workers, in process: the same store, the same checks, nobody paid."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np

from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms.simulated import SimulatedWorker, Truth, answer, crowd
from pyramidion.campaigns.tasks import check_answer, task_page
from pyramidion.errors import UsageError, check_choice


class InProcess:
    """The simulator's view of a database: what the server does for a real worker's page."""

    def __init__(self, desk: CampaignDesk, campaign: str) -> None:
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
        checked = check_answer(self._pages[assignment], answer)
        return self._assignments.submit(assignment, self._id(worker), key, checked)

    def give_back(self, worker: str, assignment: int, /) -> object:
        self._assignments.give_back(assignment, self._id(worker))
        return None

    def wait(self, seconds: float) -> None:
        self.now += seconds


def rehearse_campaign(
    desk: CampaignDesk,
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
    stage = InProcess(desk, campaign)
    people = crowd(workers, rng, careless=careless, adversarial=adversarial, abandon=abandon)
    return rehearse(stage, people, rng, wait=stage.wait)


# ----------------------------------------------------------------------
# Let simulated workers work until nothing is left: one after another, so that a seed gives the same campaign again.

Leaving = Literal["return", "vanish"]


class Api(Protocol):
    """What a worker can do."""

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        """The task this worker is on or the next one; None: nothing for this worker now."""
        ...

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> object: ...

    def give_back(self, worker: str, assignment: int, /) -> object: ...


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What happened: tasks submitted by each worker, and how often one was left or submitted twice."""

    submitted: Mapping[str, int]
    abandoned: int
    repeated: int
    seconds: float

    @property
    def total(self) -> int:
        return sum(self.submitted.values())


def rehearse(
    api: Api,
    workers: Sequence[SimulatedWorker],
    rng: np.random.Generator,
    *,
    truth: Callable[[dict[str, Any]], Truth] | None = None,
    wait: Callable[[float], object] | None = None,
    leaving: Leaving = "return",
) -> Rehearsal:
    """Rounds in random order, one task a turn, until a whole round finds nothing to do.

    ``truth`` gives the right answers to a page, as ``answer`` takes them. ``wait`` is called with the seconds a worker
    takes: to sleep, or to move a clock. A worker who leaves a task gives it back, or vanishes for good and keeps its
    place until the lease expires; to go on after that, rehearse again.
    """
    check_choice("leaving", leaving, get_args(Leaving))
    stage = _Stage(api, rng, truth, wait, leaving)
    present = list(workers)
    busy = True
    while busy and present:
        busy = sum(stage.turn(present[i]) for i in rng.permutation(len(present))) > 0
        present = [worker for worker in present if worker.name not in stage.gone]
    return Rehearsal(dict(stage.submitted), stage.abandoned, stage.repeated, stage.seconds)


class _Stage:
    def __init__(
        self,
        api: Api,
        rng: np.random.Generator,
        truth: Callable[[dict[str, Any]], Truth] | None,
        wait: Callable[[float], object] | None,
        leaving: Leaving,
    ) -> None:
        self._api, self._rng, self._truth, self._wait, self._leaving = api, rng, truth, wait, leaving
        self.submitted: Counter[str] = Counter()
        self.gone: set[str] = set()
        self.abandoned = self.repeated = 0
        self.seconds = 0.0

    def turn(self, worker: SimulatedWorker) -> bool:
        """One task, done or left; False where there was none."""
        next_task = self._api.next_task(worker.name)
        if next_task is None:
            return False
        assignment, page = next_task
        self._spend(worker.working_time(self._rng))
        if self._rng.random() < worker.abandon:
            self._leave(worker, assignment)
        else:
            self._submit(worker, assignment, page)
        return True

    def _spend(self, seconds: float) -> None:
        self.seconds += seconds
        if self._wait:
            self._wait(seconds)

    def _leave(self, worker: SimulatedWorker, assignment: int) -> None:
        self.abandoned += 1
        if self._leaving == "return":
            self._api.give_back(worker.name, assignment)
        else:
            self.gone.add(worker.name)

    def _submit(self, worker: SimulatedWorker, assignment: int, page: dict[str, Any]) -> None:
        given = answer(worker, page, self._truth(page) if self._truth else None, self._rng)
        key = f"simulated-{assignment}"
        self._api.submit(worker.name, assignment, key, given)
        self.submitted[worker.name] += 1
        if self._rng.random() < worker.twice:
            self._api.submit(worker.name, assignment, key, given)
            self.repeated += 1
