"""Rehearse a campaign with simulated workers, in process: the same store, the same checks, nobody paid.

It shows what each gate is good for: how many of each kind of worker the comprehension check keeps out, how many of
those who work are flagged and why, and how many careful people are hurt. A campaign with a goal goes through its rounds
as it would on a server.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sqlalchemy import Connection, String, cast, delete, insert, literal, update

from pyramidion.campaigns.advancing import advance
from pyramidion.campaigns.assignments import Assignments, Lease
from pyramidion.campaigns.checks import answer_check, check_state
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.monitor import overview
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.round_report import RoundsReport, report_rounds
from pyramidion.campaigns.signs import Reason
from pyramidion.campaigns.simulated_workers import (
    WORKER_KINDS,
    SimulatedWorker,
    WorkerKind,
    answer,
    crowd,
    own_generator,
)
from pyramidion.campaigns.tasks import ATTENTION, AttentionCheck, ExpertRatings, asked_units, read_submission, task_page
from pyramidion.campaigns.workers import Entry
from pyramidion.errors import UsageError
from pyramidion.store import schema
from pyramidion.store.backup import back_up, meta_in
from pyramidion.store.database import Database
from pyramidion.study import Study
from pyramidion.study.judgments import PRESENT

REHEARSAL = "rehearsal"
"""Who takes the looks of a rehearsal, and the mark in ``meta`` of a study that was copied for one."""

# ----------------------------------------------------------------------
# A rehearsal fills a copy: what simulated workers have answered, nobody else is asked.


def is_rehearsal(database: Database) -> bool:
    """Whether a study is a copy that was made for rehearsals, so that it may be filled without asking."""
    return REHEARSAL in database.meta


def rehearsal_place(database: Database, place: str) -> Path:
    """Where the copy of a study is by default: beside its file; of a PostgreSQL database, in the current folder."""
    file = Path(database.path or f"{database.engine.url.database}.db") if "://" in place else Path(place)
    return file.with_name(f"{file.stem}-rehearsal{file.suffix}")


def copy_for_rehearsal(database: Database, destination: Path, *, force: bool = False) -> None:
    """Copy a study into a file for its rehearsals, without the platforms' ids of people and sessions, logged in to by
    nobody.
    ``force`` replaces an earlier copy, and nothing else."""
    if destination.exists():
        if not force:
            how = "choose another name with --copy, or use --force to replace it"
            raise UsageError(f"{destination} already exists; {how}")
        if REHEARSAL not in meta_in(destination):
            raise UsageError(f"{destination} is not a copy for rehearsals, so it is not replaced; choose another name")

    def mark(copy: Connection) -> None:
        for table in (schema.identities, schema.platform_events, schema.sessions, schema.log_in_failures):
            copy.execute(delete(table))
        came = schema.entries
        nobody = literal("copied-") + cast(came.c.id, String)  # one for each entry: a session belongs to one person
        copy.execute(update(came).where(came.c.session != "").values(session=nobody))
        copy.execute(insert(schema.meta).values(key=REHEARSAL, value=database.shown))

    back_up(database, destination, force=force, change=mark)


# ----------------------------------------------------------------------
# What simulated workers see of a campaign.


class Truths:
    """What is true of each unit of each summary where a campaign has a design: what people in the study have said, by
    majority; where nobody has, it is drawn once, with the model's value as its chance. So systems differ as the model
    says they do, and the model is wrong as often as it says it may be."""

    def __init__(self, study: Study, model: str, seed: int) -> None:
        self._seed = str(seed)
        kinds = {judge.id: judge.kind for judge in study.judges}
        self._people: dict[tuple[str, str, str], list[float]] = {}
        self._model: dict[tuple[str, str, str], float] = {}
        for j in study.judgments:
            cell = (j.topic, j.system, j.unit)
            if j.unit and j.value is not None and j.judge == model:
                self._model[cell] = j.value
            elif j.unit and j.value is not None and kinds.get(j.judge) != "model":
                self._people.setdefault(cell, []).append(min(j.value, 1.0))

    def of(self, topic: str, system: str, unit: str) -> float | None:
        cell = (topic, system, unit)
        if said := self._people.get(cell):
            return float(sum(said) / len(said) >= PRESENT)
        if cell in self._model:
            return float(own_generator(self._seed, *cell).random() < self._model[cell])
        return None


class InProcess:
    """The simulator's view of a database: what the server does for a real worker's page."""

    def __init__(self, desk: CampaignDesk, campaign: str, seed: int = 0) -> None:
        self.now = time.time()
        self._desk = desk
        self._campaign = desk.campaigns.get(campaign)
        self._assignments = Assignments(desk.database, lambda: self.now)
        self._study = desk.studies.load()
        model = self._campaign.settings.model
        self._truths = Truths(self._study, model, seed) if model else None
        self._pages: dict[int, tuple[Lease, dict[str, Any]]] = {}
        self._entries: dict[str, Entry] = {}

    def _entry(self, worker: str) -> Entry:
        if worker not in self._entries:
            self._entries[worker] = self._enter(worker)
        return self._entries[worker]

    def _enter(self, worker: str) -> Entry:
        arrival = Arrival("simulated", worker, session=f"{self._campaign.name}-{worker}", study=self._campaign.name)
        return self._desk.workers.enter(self._campaign.name, arrival)

    def pseudonym(self, worker: str) -> str:
        return self._entry(worker).worker

    def lets_in(self, person: SimulatedWorker, rng: np.random.Generator) -> bool:
        """Whether somebody passes the comprehension check, in as many tries as people have. Everybody agrees to take
        part."""
        self._desk.workers.record_consent(self._campaign, self.pseudonym(person.name))
        if not self._campaign.settings.check:
            return True
        asked = (self._desk.workers, self._desk.database.secret, self._campaign, self.pseudonym(person.name))
        now = check_state(*asked)
        while now.check is not None:
            now = answer_check(*asked, person.answer_check(now.check, rng))
        return now.passed

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        entry = self._entry(worker)
        lease = self._assignments.lease(self._campaign.name, entry.worker, entry.id)
        if lease is None:
            return None
        page = task_page(self._study, self._campaign, lease.task, lease.gold)
        self._pages[lease.id] = lease, page
        return lease.id, page

    def truth(self, assignment: int, /) -> dict[str, float]:
        """The known answers of a task: careful people are as often right about them as about anything else."""
        lease, page = self._pages[assignment]
        match lease.gold:
            case ExpertRatings(aspects):
                return dict(aspects)
            case AttentionCheck(value=value, position=position):
                return {**self._truths_of(lease, page), page["units"][position]["id"]: value}
        return self._truths_of(lease, page)

    def _truths_of(self, lease: Lease, page: dict[str, Any]) -> dict[str, float]:
        if self._truths is None:
            return {}
        asked = zip(page["units"], asked_units(lease.task, lease.gold), strict=True)
        about = ((shown["id"], unit) for shown, unit in asked if unit != ATTENTION)
        task = lease.task
        return {
            id: truth for id, unit in about if (truth := self._truths.of(task.topic, task.system, unit)) is not None
        }

    def submit(self, worker: str, assignment: int, key: str, answer: dict[str, Any], /) -> object:
        lease, page = self._pages[assignment]
        checked = read_submission(page, lease.task, lease.gold, answer)
        return self._assignments.submit(assignment, self._entry(worker).worker, key, checked)

    def give_back(self, worker: str, assignment: int, /) -> object:
        self._assignments.give_back(assignment, self._entry(worker).worker)
        return None

    def wait(self, seconds: float) -> None:
        self.now += seconds


def check_running(desk: CampaignDesk, campaign: str) -> None:
    if (state := desk.campaigns.get(campaign).state) != "running":
        raise UsageError(f"campaign {campaign} is {state}, so workers get no tasks")


def rehearse_campaign(
    desk: CampaignDesk,
    campaign: str,
    *,
    workers: int = 30,
    shares: Mapping[WorkerKind, float] | None = None,
    careless: float = 0.2,
    adversarial: float = 0.05,
    abandon: float = 0.0,
    seed: int = 0,
) -> Rehearsal:
    """Let simulated workers complete a campaign; those who fail its comprehension check get no task."""
    check_running(desk, campaign)
    rng = np.random.default_rng(seed)
    stage = InProcess(desk, campaign, seed)
    people = crowd(workers, rng, shares=shares, careless=careless, adversarial=adversarial, abandon=abandon)
    admitted = [person for person in people if stage.lets_in(person, rng)]
    done = rehearse(stage, admitted, rng, wait=stage.wait)
    while _next_round(desk, campaign):
        rehearse(stage, admitted, rng, wait=stage.wait, done=done)
    gates = _gates(desk, campaign, stage, people, admitted, done)
    return replace(done, gates=gates, rounds=report_rounds(desk, campaign))


def _next_round(desk: CampaignDesk, campaign: str) -> bool:
    """Take the look that is due; whether another round with tasks was released."""
    if not desk.campaigns.get(campaign).settings.until:
        return False
    while released := advance(desk, campaign, actor=REHEARSAL).released:
        if released.tasks:
            return True
    return False


# ----------------------------------------------------------------------
# What became of each kind of worker.


@dataclass(frozen=True)
class GateReport:
    """How many of one kind came, failed the comprehension check, submitted something, and were flagged for what.

    ``caught`` counts those who failed the check or have a flag.
    """

    kind: WorkerKind
    came: int
    failed_check: int
    worked: int
    flagged: Mapping[Reason, int]
    caught: int


def _gates(
    desk: CampaignDesk,
    campaign: str,
    stage: InProcess,
    people: Sequence[SimulatedWorker],
    admitted: Sequence[SimulatedWorker],
    done: Rehearsal,
) -> tuple[GateReport, ...]:
    reasons = {one.worker: {flag.reason for flag in one.flags} for one in overview(desk, campaign).workers}
    inside = {person.name for person in admitted}
    reports = []
    for kind in WORKER_KINDS:
        came = [person.name for person in people if person.kind == kind]
        signs = {name: reasons.get(stage.pseudonym(name), set()) for name in came}
        flagged: Counter[Reason] = Counter(reason for found in signs.values() for reason in found)
        out = [name for name in came if name not in inside]
        worked = sum(done.submitted[name] > 0 for name in came)
        caught = len(out) + sum(bool(found) for found in signs.values())
        if came:
            reports.append(GateReport(kind, len(came), len(out), worked, dict(flagged), caught))
    return tuple(reports)


# ----------------------------------------------------------------------
# Let simulated workers work until nothing is left: one after another, so that a seed gives the same campaign again.


class Api(Protocol):
    """What a worker can do."""

    def next_task(self, worker: str, /) -> tuple[int, dict[str, Any]] | None:
        """The task this worker is on or the next one; None: nothing for this worker now."""
        ...

    def truth(self, assignment: int, /) -> dict[str, float]:
        """The answers to a task that are known."""
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
    gates: tuple[GateReport, ...] = ()
    rounds: RoundsReport | None = None


def rehearse(
    api: Api,
    workers: Sequence[SimulatedWorker],
    rng: np.random.Generator,
    *,
    wait: Callable[[float], object] = lambda _seconds: None,
    done: Rehearsal | None = None,
) -> Rehearsal:
    """Everybody in turn, in random order, one task per turn, until nobody finds anything to do.

    ``wait`` is called with the seconds a worker takes: to sleep, or to move a clock. What happens is added to ``done``.
    """
    done = Rehearsal() if done is None else done
    busy = bool(workers)
    while busy:
        busy = sum(_take_turn(api, worker, rng, wait, done) for worker in _in_turn(workers, rng)) > 0
    return done


def _in_turn(workers: Sequence[SimulatedWorker], rng: np.random.Generator) -> list[SimulatedWorker]:
    """Everybody once, in random order; people who work as a pair, one after the other."""
    order = [workers[i] for i in rng.permutation(len(workers))]
    first: dict[str, int] = {}
    for place, worker in enumerate(order):
        first.setdefault(worker.pair or worker.name, place)
    return sorted(order, key=lambda worker: first[worker.pair or worker.name])


def _take_turn(
    api: Api, worker: SimulatedWorker, rng: np.random.Generator, wait: Callable[[float], object], done: Rehearsal
) -> bool:
    """One task, done or given back; False where there was none."""
    next_task = api.next_task(worker.name)
    if next_task is None:
        return False
    assignment, page = next_task
    seconds = worker.working_time(rng, page["kind"])
    done.seconds += seconds
    wait(seconds)
    if rng.random() < worker.abandon:
        api.give_back(worker.name, assignment)
        done.abandoned += 1
        return True
    given = answer(worker, page, api.truth(assignment), rng)
    key = f"simulated-{assignment}"
    api.submit(worker.name, assignment, key, given)
    done.submitted[worker.name] += 1
    if rng.random() < worker.twice:
        api.submit(worker.name, assignment, key, given)
        done.repeated += 1
    return True
