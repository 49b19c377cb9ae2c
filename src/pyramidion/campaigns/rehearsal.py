"""Rehearse a campaign with simulated workers, in process: the same store, the same checks, nobody paid."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.platforms.simulated import SimulatedWorker, answer, crowd
from pyramidion.campaigns.tasks import check_answer, task_page
from pyramidion.campaigns.workers import Entry
from pyramidion.errors import UsageError


class InProcess:
    """The simulator's view of a database: what the server does for a real worker's page."""

    def __init__(self, desk: CampaignDesk, campaign: str) -> None:
        self.now = time.time()
        self._desk = desk
        self._campaign = desk.campaigns.get(campaign)
        self._assignments = Assignments(desk.database, lambda: self.now)
        self._study = desk.studies.load()
        self._pages: dict[int, dict[str, Any]] = {}
        self._entries: dict[str, Entry] = {}

    def _entry(self, worker: str) -> Entry:
        if worker not in self._entries:
            self._entries[worker] = self._enter(worker)
        return self._entries[worker]

    def _enter(self, worker: str) -> Entry:
        arrival = Arrival("simulated", worker, session=f"{self._campaign.name}-{worker}", study=self._campaign.name)
        return self._desk.workers.enter(self._campaign.name, arrival)

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        entry = self._entry(worker)
        lease = self._assignments.lease(self._campaign.name, entry.worker, entry.id)
        if lease is None:
            return None
        page = task_page(self._study, self._campaign, lease.task, lease.gold)
        self._pages[lease.id] = page
        return lease.id, page

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> object:
        checked = check_answer(self._pages[assignment], answer)
        return self._assignments.submit(assignment, self._entry(worker).worker, key, checked)

    def give_back(self, worker: str, assignment: int, /) -> object:
        self._assignments.give_back(assignment, self._entry(worker).worker)
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
    """Let simulated workers complete a campaign."""
    if (state := desk.campaigns.get(campaign).state) != "running":
        raise UsageError(f"campaign {campaign} is {state}, so workers get no tasks")
    rng = np.random.default_rng(seed)
    stage = InProcess(desk, campaign)
    people = crowd(workers, rng, careless=careless, adversarial=adversarial, abandon=abandon)
    return rehearse(stage, people, rng, wait=stage.wait)


# ----------------------------------------------------------------------
# Let simulated workers work until nothing is left: one after another, so that a seed gives the same campaign again.


class Api(Protocol):
    """What a worker can do."""

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        """The task this worker is on or the next one; None: nothing for this worker now."""
        ...

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> object: ...

    def give_back(self, worker: str, assignment: int, /) -> object: ...


@dataclass
class Rehearsal:
    """What happened: tasks submitted by each worker, how often one was given back or submitted twice, and the time that
    all of it took."""

    submitted: Counter[str] = field(default_factory=Counter)
    abandoned: int = 0
    repeated: int = 0
    seconds: float = 0.0


def rehearse(
    api: Api,
    workers: Sequence[SimulatedWorker],
    rng: np.random.Generator,
    *,
    wait: Callable[[float], object] = lambda _seconds: None,
) -> Rehearsal:
    """Rounds in random order, one task per turn, until a whole round finds nothing to do.

    ``wait`` is called with the seconds a worker takes: to sleep, or to move a clock.
    """
    done = Rehearsal()
    busy = bool(workers)
    while busy:
        busy = sum(_take_turn(api, workers[i], rng, wait, done) for i in rng.permutation(len(workers))) > 0
    return done


def _take_turn(
    api: Api, worker: SimulatedWorker, rng: np.random.Generator, wait: Callable[[float], object], done: Rehearsal
) -> bool:
    """One task, done or given back; False where there was none."""
    next_task = api.next_task(worker.name)
    if next_task is None:
        return False
    assignment, page = next_task
    seconds = worker.working_time(rng)
    done.seconds += seconds
    wait(seconds)
    if rng.random() < worker.abandon:
        api.give_back(worker.name, assignment)
        done.abandoned += 1
        return True
    given = answer(worker, page, None, rng)
    key = f"simulated-{assignment}"
    api.submit(worker.name, assignment, key, given)
    done.submitted[worker.name] += 1
    if rng.random() < worker.twice:
        api.submit(worker.name, assignment, key, given)
        done.repeated += 1
    return True
