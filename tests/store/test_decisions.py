"""Decisions about answers, on both databases: what counts, whose place is open, and what may not be said any more."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import threading
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import text
from tests.databases import Postgres

import pyramidion as pyr
from pyramidion.campaigns.assignments import Assignments, Lease
from pyramidion.campaigns.decisions import AnswerDecisions, DecisionConflictError
from pyramidion.campaigns.tables import Campaigns
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.campaigns.workers import WorkerDecisions, Workers
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Settings, Task

BOSS = {"actor": "boss", "reason": "read nothing"}
THERE = {"actor": "prolific", "reason": "said there", "by_platform": True}


def start(database: Database, name: str = "c", *, tasks: int = 1, wanted: int = 2) -> None:
    chosen = Settings.for_kind("judge", workers=wanted, lease_minutes=10)
    made = [Task(f"{name}-{i}", "t", "s", ("u1",)) for i in range(tasks)]
    Campaigns(database).add(Campaign(name, "judge", chosen), made)


def joined(database: Database, name: str) -> str:
    return Workers(database).join("local", name).id


def answer(database: Database, name: str, campaign: str = "c") -> int:
    """Let somebody do their next task."""
    lease = Assignments(database).lease(campaign, joined(database, name))
    assert lease is not None
    Assignments(database).submit(lease.id, joined(database, name), f"key {lease.id}", JudgeAnswer({"u1": 1}))
    return lease.id


def counted(database: Database, campaign: str = "c") -> list[int]:
    return [one.id for one in Campaigns(database).answers(campaign) if one.counted]


def test_a_rejected_answer_frees_its_place_for_somebody_else(database: Database) -> None:
    start(database)
    first, second = answer(database, "a"), answer(database, "b")
    assert Assignments(database).lease("c", joined(database, "z")) is None
    [done] = AnswerDecisions(database).decide("c", [first], "reject", **BOSS)
    assert (done.counted_before, done.counted, done.changed) == (True, False, True)
    assert counted(database) == [second]
    progress = Campaigns(database).progress("c")
    assert (progress["submitted"], progress["rejected"], progress["open"], progress["tasks_full"]) == (1, 1, 1, 0)
    assert Assignments(database).lease("c", joined(database, "a")) is None, "never the same worker"
    third = answer(database, "z")
    assert counted(database) == [second, third]
    assert Campaigns(database).progress("c")["tasks_full"] == 1
    assert Campaigns(database).answers("c")[0].answer == JudgeAnswer({"u1": 1}), "the answer itself is kept"
    [review] = WorkerDecisions(database).all()
    assert (review.actor, review.action, review.reason, review.assignment) == ("boss", "reject", "read nothing", first)


def test_a_rejection_acts_in_its_campaign_only(database: Database) -> None:
    start(database)
    start(database, "other")
    here, there = answer(database, "a"), answer(database, "a", "other")
    decisions = AnswerDecisions(database)
    with pytest.raises(pyr.UsageError, match=f"answer {there} belongs to campaign other, not to c"):
        decisions.decide("c", [here, there], "reject", **BOSS)
    assert counted(database) == [here], "all or none"
    with pytest.raises(pyr.UsageError, match="there is no answer 99"):
        decisions.decide("c", [99], "reject", **BOSS)
    decisions.decide("c", [here], "reject", **BOSS)
    assert (counted(database), counted(database, "other")) == ([], [there])
    assert set(decisions.standings("other")) == set()
    assert decisions.standings("c")[here].decision == "reject"


@pytest.mark.parametrize("undo", ["approve", "restore"])
def test_what_comes_back_counts_if_its_place_is_free(database: Database, undo: str) -> None:
    start(database, wanted=1)
    first = answer(database, "a")
    decisions = AnswerDecisions(database)
    decisions.decide("c", [first], "reject", **BOSS)
    [back] = decisions.decide("c", [first], undo, **BOSS)  # type: ignore[arg-type]
    assert (back.counted_before, back.counted) == (False, True)
    assert decisions.standings("c")[first].decision == ("approve" if undo == "approve" else "")
    decisions.decide("c", [first], "reject", **BOSS)
    second = answer(database, "b")
    [late] = decisions.decide("c", [first], undo, **BOSS)  # type: ignore[arg-type]
    assert (late.counted, late.removed) == (False, None)
    assert counted(database) == [second], "never more than wanted"
    decisions.decide("c", [second], "reject", **BOSS)
    assert counted(database) == []
    decisions.decide("c", [first], "restore", **BOSS)
    assert counted(database) == [first], "surplus counts once there is a place"


def test_a_place_in_work_is_taken(database: Database) -> None:
    start(database, wanted=1)
    first = answer(database, "a")
    decisions = AnswerDecisions(database)
    decisions.decide("c", [first], "reject", **BOSS)
    lease = Assignments(database).lease("c", joined(database, "b"))
    assert lease is not None
    decisions.decide("c", [first], "restore", **BOSS)
    assert counted(database) == []
    assert Assignments(database).submit(lease.id, joined(database, "b"), "k", JudgeAnswer({})).counted


def test_reopening_leaves_the_pay_alone(database: Database) -> None:
    start(database)
    first = answer(database, "a")
    decisions = AnswerDecisions(database)
    decisions.decide("c", [first], "reopen", **BOSS)
    decisions.decide("c", [first], "approve", **BOSS)
    [stored] = Campaigns(database).answers("c")
    assert (stored.counted, stored.removed, stored.paid_for) == (False, "reopened", True)
    assert decisions.standings("c")[first].decision == "approve"
    decisions.decide("c", [first], "restore", **BOSS)
    assert counted(database) == [first]
    assert decisions.standings("c")[first].decision == "approve", "only rejections are taken back"
    decisions.decide("c", [first], "reject", **BOSS)
    with pytest.raises(DecisionConflictError, match="restore it first"):
        decisions.decide("c", [first], "reopen", **BOSS)


def test_deciding_twice_is_deciding_once_and_only_submissions_are_decided(database: Database) -> None:
    start(database)
    first = answer(database, "a")
    decisions = AnswerDecisions(database)
    for _ in range(2):
        done = decisions.decide("c", [first, first], "reject", **BOSS)
    assert [one.changed for one in done] == [False]
    assert len(WorkerDecisions(database).all()) == 1
    lease = Assignments(database).lease("c", joined(database, "b"))
    assert lease is not None
    with pytest.raises(DecisionConflictError, match=f"answer {lease.id} has not been submitted"):
        decisions.decide("c", [lease.id], "reject", **BOSS)


def test_a_dry_run_says_the_same_and_changes_nothing(database: Database) -> None:
    start(database, tasks=2)
    ids = [answer(database, name) for name in "ababc"[:4]]
    before = (Campaigns(database).answers(), Campaigns(database).progress("c"))
    decisions = AnswerDecisions(database)
    seen = decisions.decide("c", ids[:3], "reject", **BOSS, dry_run=True)
    assert (Campaigns(database).answers(), Campaigns(database).progress("c")) == before
    assert not WorkerDecisions(database).all()
    assert decisions.decide("c", ids[:3], "reject", **BOSS) == seen


def test_who_withdraws_is_out_of_the_campaign(database: Database) -> None:
    start(database, tasks=3)
    start(database, "other")
    first = answer(database, "a")
    assignments, decisions = Assignments(database), AnswerDecisions(database)
    a = joined(database, "a")
    lease = assignments.lease("c", a)
    assert lease is not None
    decisions.decide("c", [first, lease.id], "withdraw", **THERE)
    assert counted(database) == []
    assert Campaigns(database).progress("c")["open"] == 6
    late = assignments.submit(lease.id, a, "k", JudgeAnswer({"u1": 1}))
    assert not late.counted, "what comes after that does not count, though there is a place"
    assert counted(database) == []
    assert assignments.lease("c", a) is None
    assert assignments.lease("other", a) is not None
    for action in ("approve", "restore", "reopen", "reject"):
        with pytest.raises(DecisionConflictError, match="withdrawn by its worker"):
            decisions.decide("c", [first], action, **BOSS)  # type: ignore[arg-type]
    decisions.decide("c", [first], "approve", **THERE)
    assert counted(database) == [first], "the platform's word holds"


def test_what_the_platform_was_told_is_changed_there(database: Database) -> None:
    start(database)
    good, bad = answer(database, "a"), answer(database, "b")
    decisions = AnswerDecisions(database)
    for id, word in ((good, "approve"), (bad, "reject")):
        decisions.decide("c", [id], word, **BOSS)  # type: ignore[arg-type]
        decisions.tell([id], f"tell-{word}", actor="prolific", reason="r")  # type: ignore[arg-type]
    with pytest.raises(DecisionConflictError, match="the platform was told that it is approved"):
        decisions.decide("c", [good], "reject", **BOSS)
    for undo in ("approve", "restore"):
        with pytest.raises(DecisionConflictError, match="the platform was told that it is rejected"):
            decisions.decide("c", [bad], undo, **BOSS)  # type: ignore[arg-type]
    assert counted(database) == [good]
    decisions.tell([bad], "tell-unknown", actor="prolific", reason="no answer came")
    with pytest.raises(DecisionConflictError, match="may have been told"):
        decisions.decide("c", [bad], "restore", **BOSS)
    decisions.tell([bad], "tell-failed", actor="prolific", reason="message too short")
    standing = decisions.standings("c")[bad]
    assert (standing.decision, standing.told, standing.problem) == ("reject", "", "message too short")
    decisions.decide("c", [bad], "restore", **BOSS)
    assert counted(database) == [good, bad]


def test_blocked_workers_get_nothing_from_the_store_either(database: Database) -> None:
    start(database, tasks=2)
    answer(database, "a")
    Workers(database).set_blocked(joined(database, "a"), "too fast")
    assert Assignments(database).lease("c", joined(database, "a")) is None


def test_rejections_and_refills_at_the_same_time_keep_exactly_k(database: Database) -> None:
    """One manager rejects and takes back while many people work."""
    start(database, tasks=6, wanted=3)
    ids = [answer(database, f"first {n % 4}") for n in range(18)]
    names = [joined(database, f"w{i}") for i in range(8)]
    decisions, assignments = AnswerDecisions(database), Assignments(database)
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for _ in range(12):
                if (lease := assignments.lease("c", name)) is not None:
                    assignments.submit(lease.id, name, f"{lease.id}", JudgeAnswer({}))
        except BaseException as error:  # shown in the main thread
            failures.append(error)

    def decide() -> None:
        try:
            for first in range(0, 18, 3):
                decisions.decide("c", ids[first : first + 3], "reject", **BOSS)
                decisions.decide("c", ids[first : first + 2], "restore", **BOSS)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in names] + [threading.Thread(target=decide)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for name in names:  # whoever came too early for the last place
        while (lease := assignments.lease("c", name)) is not None:
            assignments.submit(lease.id, name, f"{lease.id}", JudgeAnswer({}))
    per_task = Counter(one.task.id for one in Campaigns(database).answers("c") if one.counted)
    assert per_task == {f"c-{i}": 3 for i in range(6)}


# -- databases of version 0.1 --------------------------------------------------------------------------------


def test_a_database_of_version_0_1_opens_and_keeps_its_data(place: str) -> None:
    """It had no column for removed answers: rejected ones counted, re-opened ones were surplus."""
    database = Database.create(place)
    start(database, tasks=2, wanted=2)
    rejected, kept, again, plain = (answer(database, name) for name in ("a", "b", "a", "b"))
    said = text("INSERT INTO reviews (at, actor, action, assignment_id, reason) VALUES (1, 'm', :action, :id, 'r')")
    with database.write() as connection:
        for action, id in [("reject", rejected), ("reject", kept), ("approve", kept), ("reopen", again)]:
            connection.execute(said, {"action": action, "id": id})
        connection.execute(text("UPDATE assignments SET surplus = :yes WHERE id = :id"), {"yes": True, "id": again})
        connection.execute(text("ALTER TABLE assignments DROP COLUMN removed"))
        connection.execute(text("DELETE FROM migrations WHERE name = 'removed_answers'"))
    database.close()
    for _ in range(2):
        database = Database.open(place)
        answers = {one.id: one for one in Campaigns(database).answers("c")}
        assert {id: one.removed for id, one in answers.items()} == {
            rejected: "rejected",
            kept: None,
            again: "reopened",
            plain: None,
        }
        assert all(one.answer == JudgeAnswer({"u1": 1}) for one in answers.values())
        assert counted(database) == [kept, plain]
        assert len(WorkerDecisions(database).all()) == 4
        progress = Campaigns(database).progress("c")
        assert (progress["open"], progress["tasks_full"]) == (2, 0)
        database.close()
    database = Database.open(place)
    for name in "xy":
        answer(database, name)
    assert Campaigns(database).progress("c")["tasks_full"] == 2
    database.close()


# -- whatever happens ----------------------------------------------------------------------------------------

TASKS, WANTED, WORKERS = 2, 2, 5
MINUTES = 10.0
_campaigns = itertools.count(1)


class Deciding(RuleBasedStateMachine):
    """People work and managers decide, in any order; beside the store runs a model of plain sets."""

    place = ""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.database = Database.open(self.place) if self.place else Database.create(self.folder / "study.db")
        self.name = f"m{next(_campaigns)}"
        start(self.database, self.name, tasks=TASKS, wanted=WANTED)
        self.now = 0.0
        self.assignments = Assignments(self.database, lambda: self.now)
        self.decisions = AnswerDecisions(self.database, lambda: self.now)
        self.workers = [joined(self.database, f"{self.name} w{i}") for i in range(WORKERS)]
        self.leases: dict[int, tuple[str, Lease]] = {}
        self.submitted: set[int] = set()
        self.out: set[int] = set()
        self.blocked: set[str] = set()

    def teardown(self) -> None:
        self.fresh_people_find_every_open_place()
        self.database.close()
        shutil.rmtree(self.folder)

    @rule(who=st.integers(0, WORKERS - 1))
    def ask(self, who: int) -> None:
        worker = self.workers[who]
        lease = self.assignments.lease(self.name, worker)
        if lease is not None:
            seen = {held.task.id for id, (by, held) in self.leases.items() if by == worker and id != lease.id}
            assert lease.task.id not in seen, "never the same task twice, rejected or not"
            assert worker not in self.blocked or lease.id in self.leases
            self.leases[lease.id] = (worker, lease)

    @precondition(lambda self: set(self.leases) - self.submitted)
    @rule(data=st.data())
    def submit(self, data: st.DataObject) -> None:
        id = data.draw(st.sampled_from(sorted(set(self.leases) - self.submitted)))
        worker = self.leases[id][0]
        self.assignments.submit(id, worker, f"key {id}", JudgeAnswer({}, worker))
        self.submitted.add(id)

    @precondition(lambda self: self.submitted)
    @rule(data=st.data(), action=st.sampled_from(["approve", "reject", "restore", "reopen"]))
    def decide(self, data: st.DataObject, action: str) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(self.submitted)), min_size=1, max_size=3))
        try:
            done = self.decisions.decide(self.name, ids, action, **BOSS)  # type: ignore[arg-type]
        except DecisionConflictError:
            assert action == "reopen", "nothing was told to anybody"
            return
        removes = action in {"reject", "reopen"}
        assert all(not (removes and one.counted) for one in done)
        self.out = (
            (self.out | set(ids)) if removes else self.out - (set(ids) if action == "restore" else self._back(ids))
        )

    def _back(self, ids: list[int]) -> set[int]:
        """Approving takes back a rejection, not a re-opening."""
        return {one.id for one in Campaigns(self.database).answers(self.name) if one.id in ids and not one.removed}

    @rule(who=st.integers(0, WORKERS - 1))
    def block(self, who: int) -> None:
        Workers(self.database).set_blocked(self.workers[who], "enough")
        self.assignments.release_worker(self.workers[who])
        self.blocked.add(self.workers[who])

    @rule(minutes=st.sampled_from([1.0, MINUTES + 0.1]))
    def wait(self, minutes: float) -> None:
        self.now += 60 * minutes

    @invariant()
    def scores_hold_what_was_not_removed(self) -> None:
        answers = Campaigns(self.database).answers(self.name)
        assert {one.id for one in answers if one.state == "submitted"} == self.submitted
        for one in answers:
            if one.id in self.submitted:
                assert one.counted == (one.id not in self.out and not one.surplus)

    @invariant()
    def no_task_has_too_many_and_every_place_is_accounted_for(self) -> None:
        answers = Campaigns(self.database).answers(self.name)
        counting = Counter(one.task.id for one in answers if one.counted)
        active = Counter(one.task.id for one in answers if one.state == "leased" and one.expires > self.now)
        assert all(counting[task] + active[task] <= WANTED for task in {*counting, *active})
        assert len({(one.task.id, one.worker) for one in answers}) == len(answers)
        progress = Campaigns(self.database, lambda: self.now).progress(self.name)
        self.open = TASKS * WANTED - counting.total() - active.total()
        assert progress["open"] == self.open
        assert progress["submitted"] == counting.total()
        assert progress["tasks_full"] == sum(count == WANTED for count in counting.values())

    def fresh_people_find_every_open_place(self) -> None:
        found = 0
        for number in range(TASKS * WANTED + 1):
            stranger = joined(self.database, f"{self.name} stranger {number}")
            while (lease := self.assignments.lease(self.name, stranger)) is not None:
                self.assignments.submit(lease.id, stranger, f"k{lease.id}", JudgeAnswer({}))
                found += 1
        assert found == self.open


STEPS = {"stateful_step_count": 25, "deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@pytest.mark.slow
def test_every_task_has_its_answers_whatever_is_decided() -> None:
    run_state_machine_as_test(Deciding, settings=settings(max_examples=20, **STEPS))  # type: ignore[arg-type]


@pytest.mark.slow
def test_every_task_has_its_answers_on_postgresql(server: Postgres) -> None:
    class OnPostgres(Deciding):
        place = server.new_database()

    Database.create(OnPostgres.place).close()
    run_state_machine_as_test(OnPostgres, settings=settings(max_examples=6, **STEPS))  # type: ignore[arg-type]
