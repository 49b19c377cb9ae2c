"""Exactly k distinct workers per task, whatever people do in whatever order; a racy variant must be caught."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import select

from pyramidion.campaigns import queries
from pyramidion.campaigns.assignments import Assignments, Lease, SubmissionConflictError
from pyramidion.campaigns.tables import Campaigns, task_of
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.campaigns.workers import Workers
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Settings, Task

TASKS, WANTED, WORKERS = 3, 2, 5
MINUTES = 10.0


class RacyAssignments(Assignments):
    """Gives out a place without looking at who else is working on the task: what a missing lock amounts to."""

    def _free_task(self, connection: Any, asker: Any) -> Lease | None:
        asked, t, a = asker.asked, schema.tasks.c, schema.assignments.c
        mine = select(a.task_id).where(a.worker_id == asked["worker"])
        open_tasks = select(schema.tasks).where(t.campaign_id == asked["campaign"], t.full.is_(False))
        task = connection.execute(open_tasks.where(t.id.not_in(mine)).limit(1)).first()
        if task is None:
            return None
        id = connection.execute(queries.NEW_LEASE, asked | {"task": task.id, "wanted": 10**6}).scalar_one()
        return Lease(id, task_of(task.body), asked["new_expires"])


class Campaigning(RuleBasedStateMachine):
    store: type[Assignments] = Assignments

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.database = Database.create(self.folder / "study.db")
        tasks = [Task(f"k{i}", "t", "s") for i in range(TASKS)]
        chosen = Settings.for_kind("judge", workers=WANTED, lease_minutes=MINUTES)
        Campaigns(self.database).add(Campaign("c", "judge", chosen), tasks)
        self.now = 0.0
        self.assignments = self.store(self.database, lambda: self.now)
        self.workers = [Workers(self.database).join("local", f"w{i}").id for i in range(WORKERS)]
        self.leases: dict[int, tuple[str, Lease]] = {}
        self.receipts: dict[int, tuple[str, bool]] = {}

    def teardown(self) -> None:
        self.database.close()
        shutil.rmtree(self.folder)

    @rule(who=st.integers(0, WORKERS - 1))
    def ask(self, who: int) -> None:
        worker = self.workers[who]
        lease = self.assignments.lease("c", worker)
        if lease is None:
            return
        known = self.leases.get(lease.id)
        if known is None:
            seen = {held.task.id for by, held in self.leases.values() if by == worker}
            assert lease.task.id not in seen, "a worker never sees a task twice"
        self.leases[lease.id] = (worker, lease)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), twice=st.booleans())
    def submit(self, data: st.DataObject, twice: bool) -> None:
        id = data.draw(st.sampled_from(sorted(self.leases)))
        worker, _ = self.leases[id]
        for _ in range(1 + twice):
            receipt = self.assignments.submit(id, worker, f"key {id}", JudgeAnswer({}, worker))
            known = self.receipts.setdefault(id, (worker, receipt.counted))
            assert known == (worker, receipt.counted), "a replay changes nothing"
        with pytest.raises(SubmissionConflictError):
            self.assignments.submit(id, worker, "another key", JudgeAnswer({}, "somebody else"))

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.leases)))
        self.assignments.give_back(id, self.leases[id][0])

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def save_draft(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(self.leases)))
        self.assignments.save_draft(id, self.leases[id][0], {"half": True})

    @rule(minutes=st.sampled_from([1.0, MINUTES + 0.1]))
    def wait(self, minutes: float) -> None:
        self.now += 60 * minutes

    @invariant()
    def no_task_has_too_many(self) -> None:
        answers = Campaigns(self.database).answers("c")
        counted = Counter(answer.task.id for answer in answers if answer.counted)
        active = Counter(a.task.id for a in answers if a.state == "leased" and a.expires > self.now)
        for task in {*counted, *active}:
            assert counted[task] + active[task] <= WANTED, "no task has more than the wanted workers"
        pairs = [(answer.task.id, answer.worker) for answer in answers]
        assert len(pairs) == len(set(pairs))

    @invariant()
    def acknowledged_work_is_there(self) -> None:
        stored = {a.id: (a.worker, a.counted) for a in Campaigns(self.database).answers("c") if a.state == "submitted"}
        assert stored == self.receipts


STEPS = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def test_exactly_k_whatever_happens() -> None:
    run_state_machine_as_test(Campaigning, settings=STEPS)


def test_a_racy_variant_is_caught() -> None:
    class Racy(Campaigning):
        store = RacyAssignments

    with pytest.raises(AssertionError, match="no task has more than the wanted workers"):
        run_state_machine_as_test(Racy, settings=settings(STEPS, phases=[Phase.generate]))
