"""What a store must do, on both databases."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update

import pyramidion as pyr
from pyramidion.campaigns import queries
from pyramidion.campaigns.assignments import Assignments, Lease, OwnProgress, SubmissionConflictError
from pyramidion.campaigns.decisions import AnswerDecisions
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.tables import Campaigns
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.campaigns.workers import Entry, WorkerDecisions, Workers
from pyramidion.store import migrations, schema
from pyramidion.store.accounts import Accounts
from pyramidion.store.database import Database
from pyramidion.store.studies import Studies
from pyramidion.study import Campaign, Settings, Task


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def campaign(database: Database, tasks: int = 2, name: str = "judge", kind: str = "judge", **settings: object) -> None:
    chosen = Settings.for_kind(kind, **{"workers": 2, "lease_minutes": 10, **settings})  # type: ignore[arg-type]
    made = [Task(f"{name}-{i}", f"t{i}", "s", ("u1", "u2"), kind=kind) for i in range(tasks)]  # type: ignore[arg-type]
    Campaigns(database).add(Campaign(name, kind, chosen), made)  # type: ignore[arg-type]


def worker(database: Database, name: str) -> str:
    return Workers(database).join("local", name).id


# -- the study -----------------------------------------------------------------------------------------------


def test_a_study_survives_the_store(database: Database, example: pyr.Study) -> None:
    Studies(database).add(example)
    assert Studies(database).load() == replace(example, title="A study")


def test_a_database_is_made_once_and_opened_later(place: str) -> None:
    Database.create(place).close()
    with pytest.raises(pyr.UsageError, match="already"):
        Database.create(place)
    first, second = Database.open(place), Database.open(place)
    assert first.secret == second.secret
    assert len(first.secret) == 32
    first.close()
    second.close()


def test_only_study_databases_open(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "x.db").write_text("not a database")
    with pytest.raises(pyr.UsageError, match="file is not a database"):
        Database.open(tmp_path / "x.db")
    assert (tmp_path / "x.db").read_text() == "not a database"
    (tmp_path / "empty.db").touch()
    for name in ("empty.db", "missing.db"):
        with pytest.raises(pyr.UsageError, match="pyramidion init"):
            Database.open(tmp_path / name)
    assert not (tmp_path / "empty.db").read_bytes()
    assert not (tmp_path / "missing.db").exists()
    with pytest.raises(pyr.UsageError, match="cannot be opened"):
        Database.open("postgresql://nobody@127.0.0.1:1/nothing")


# -- leases --------------------------------------------------------------------------------------------------


def test_a_task_is_given_to_exactly_as_many_workers_as_wanted(database: Database) -> None:
    campaign(database, tasks=1)
    assignments = Assignments(database)
    a, b, c = (worker(database, name) for name in "abc")
    first, second = assignments.lease("judge", a), assignments.lease("judge", b)
    assert first is not None
    assert second is not None
    assert first.task == second.task
    assert assignments.lease("judge", c) is None


def test_a_reload_gives_the_same_task_back_with_its_draft(database: Database) -> None:
    campaign(database)
    assignments = Assignments(database)
    a = worker(database, "a")
    lease = assignments.lease("judge", a)
    assert lease is not None
    assignments.save_draft(lease.id, a, {"units": {"u1": 1}})
    again = assignments.lease("judge", a)
    assert again is not None
    assert (again.id, again.draft) == (lease.id, {"units": {"u1": 1}})


def test_an_expired_lease_frees_its_place_and_late_work_is_surplus(database: Database) -> None:
    clock = Clock()
    campaign(database, tasks=1, workers=1)
    assignments = Assignments(database, clock)
    slow, quick = worker(database, "slow"), worker(database, "quick")
    late = assignments.lease("judge", slow)
    assert late is not None
    clock.now += 601
    taken = assignments.lease("judge", quick)
    assert taken is not None
    assert assignments.lease("judge", slow) is None  # never the same task twice
    assert assignments.submit(late.id, slow, "k1", JudgeAnswer({})).counted is False
    assert assignments.submit(taken.id, quick, "k2", JudgeAnswer({})).counted is True
    progress = Campaigns(database).progress("judge")
    assert (progress["submitted"], progress["surplus"], progress["tasks_full"]) == (1, 1, 1)


def test_whoever_comes_back_late_goes_on_where_they_were(database: Database) -> None:
    clock = Clock()
    campaign(database, tasks=2, workers=1)
    assignments = Assignments(database, clock)
    slow = worker(database, "slow")
    lease = assignments.lease("judge", slow)
    assert lease is not None
    assignments.save_draft(lease.id, slow, {"n": 1})
    clock.now += 10_000
    again = assignments.lease("judge", slow)
    assert again is not None
    assert (again.id, again.draft, again.expires) == (lease.id, {"n": 1}, clock.now + 600)


def test_late_work_counts_where_a_place_is_free(database: Database) -> None:
    clock = Clock()
    campaign(database, tasks=1, workers=1)
    assignments = Assignments(database, clock)
    slow = worker(database, "slow")
    late = assignments.lease("judge", slow)
    assert late is not None
    clock.now += 10_000
    assert assignments.submit(late.id, slow, "k", JudgeAnswer({})).counted is True


def test_a_draft_renews_the_lease_but_not_a_place_that_is_gone(database: Database) -> None:
    clock = Clock()
    campaign(database, tasks=1, workers=1)
    assignments = Assignments(database, clock)
    a, b = worker(database, "a"), worker(database, "b")
    lease = assignments.lease("judge", a)
    assert lease is not None
    clock.now += 500
    assert assignments.save_draft(lease.id, a, {"n": 1}) == clock.now + 600
    clock.now += 500
    assert assignments.lease("judge", b) is None
    clock.now += 200
    assert assignments.lease("judge", b) is not None
    assert assignments.save_draft(lease.id, a, {"n": 2}) is None


def test_a_draft_in_good_time_is_kept_in_one_step_for_its_owner_only(database: Database) -> None:
    clock = Clock()
    campaign(database, tasks=2, workers=1)
    campaign(database, tasks=2, workers=1, name="other")
    about, other = (Campaigns(database).get(name) for name in ("judge", "other"))
    workers, assignments = Workers(database), Assignments(database, clock)
    owner, again = (workers.enter("judge", Arrival("prolific", "a", session)) for session in ("s1", "s2"))
    stranger = workers.enter("judge", Arrival("prolific", "b", "s3"))
    lease = assignments.lease("judge", owner.worker, owner.id)
    assert lease is not None

    def save(campaign: Campaign, entry: Entry, draft: object) -> float | None:
        return assignments.save_draft_early(lease.id, campaign, entry.worker, entry.id, {"n": draft})

    def kept() -> Lease | None:
        return assignments.lease("judge", owner.worker, owner.id)

    clock.now += 500
    assert save(about, owner, 1) == clock.now + 600
    good = kept()
    assert good == replace(lease, expires=clock.now + 600, draft={"n": 1})
    assert [save(about, stranger, 2), save(about, again, 3), save(other, owner, 4)] == [None, None, None]
    workers.set_blocked(owner.worker, "a reason")
    assert save(about, owner, 5) is None
    workers.set_blocked(owner.worker, None)
    assert kept() == good
    clock.now += 545  # it runs for 55 seconds yet: somebody else might look when it has run out
    assert save(about, owner, 6) is None
    assert kept() == good
    clock.now -= 10
    assert save(about, owner, 7) == clock.now + 600
    assert assignments.submit(lease.id, owner.worker, "k", JudgeAnswer({})).counted
    assert save(about, owner, 8) is None


def test_what_is_left_is_counted_up_to_many(database: Database) -> None:
    clock = Clock()
    campaign(database, tasks=120, workers=1)
    assignments = Assignments(database, clock)
    a, b = worker(database, "a"), worker(database, "b")

    def take(who: str, times: int) -> OwnProgress | None:
        for _ in range(times):
            lease = assignments.lease("judge", who)
            assert lease is not None
            assignments.submit(lease.id, who, "k", JudgeAnswer({}))
        clock.now += 10  # what is known of the campaign is looked up again
        return lease.own

    def left(who: str) -> int:
        return assignments.progress_of("judge", who, None).left

    assert left(a) == left(b) == queries.MANY
    assert take(a, 15) == OwnProgress(14, 0.0, queries.MANY, holds=True)
    assert left(a) == queries.MANY
    assert take(a, 10) == OwnProgress(24, 0.0, 95, holds=True)
    assert left(a) == left(b) == 95
    assert take(b, 90) == OwnProgress(89, 0.0, 5, holds=True)
    assert left(a) == left(b) == 5
    assert take(b, 5) == OwnProgress(94, 0.0, 0, holds=True)
    assert left(a) == left(b) == 0


def test_topics_somebody_wrote_for_are_not_left_for_them(database: Database) -> None:
    campaign(database, tasks=3, name="write", kind="write")
    campaign(database, tasks=110, workers=1)
    clock = Clock()
    assignments = Assignments(database, clock)
    writer, other = worker(database, "a"), worker(database, "b")
    for _ in range(3):
        lease = assignments.lease("write", writer)
        assert lease is not None
        assignments.give_back(lease.id, writer)
    first, second = assignments.lease("judge", writer), assignments.lease("judge", other)
    assert first is not None
    assert second is not None
    assert (first.task.topic, second.task.topic) == ("t3", "t0")
    for _ in range(10):
        assignments.submit(first.id, writer, "k", JudgeAnswer({}))
        first = assignments.lease("judge", writer)
        assert first is not None
    clock.now += 10
    assert assignments.progress_of("judge", writer, None).left == 110 - 3 - 11
    assert assignments.progress_of("judge", other, None).left == 110 - 12


def test_replayed_submissions_give_the_same_receipt_and_others_conflict(database: Database) -> None:
    campaign(database)
    assignments = Assignments(database)
    a, b = worker(database, "a"), worker(database, "b")
    lease = assignments.lease("judge", a)
    assert lease is not None
    first = assignments.submit(lease.id, a, "key", JudgeAnswer({"u1": 1}))
    again = assignments.submit(lease.id, a, "key", JudgeAnswer({"u1": 1}))
    assert (first.counted, first.replayed) == (True, False)
    assert (again.counted, again.replayed) == (True, True)
    with pytest.raises(SubmissionConflictError, match="a different answer"):
        assignments.submit(lease.id, a, "key", JudgeAnswer({"u1": 0}))
    with pytest.raises(SubmissionConflictError, match="a different answer"):
        assignments.submit(lease.id, a, "other", JudgeAnswer({"u1": 1}))
    with pytest.raises(SubmissionConflictError, match="not your task"):
        assignments.submit(lease.id, b, "key", JudgeAnswer({"u1": 1}))
    assert [x.answer for x in Campaigns(database).answers("judge")] == [JudgeAnswer({"u1": 1})]


def test_given_back_tasks_go_to_others(database: Database) -> None:
    campaign(database, tasks=1, workers=1)
    assignments = Assignments(database)
    a, b = worker(database, "a"), worker(database, "b")
    lease = assignments.lease("judge", a)
    assert lease is not None
    assignments.give_back(lease.id, a)
    assert assignments.lease("judge", a) is None
    assert assignments.lease("judge", b) is not None
    assert assignments.release_worker(b) == 1


def test_a_place_that_is_free_again_is_found_wherever_it_is(database: Database) -> None:
    """Another process gives back a task before those that this one knows to be open."""
    clock = Clock()
    campaign(database, tasks=3, workers=1)
    here, there = Assignments(database, clock), Assignments(database, clock)
    first, *others = (worker(database, name) for name in "abcd")
    lease = there.lease("judge", first)
    assert lease is not None
    assert there.lease("judge", first) == lease
    clock.now += 10
    assert here.progress_of("judge", others[0], None).left == 2
    there.give_back(lease.id, first)
    got = [here.lease("judge", each) for each in others[:2]]
    assert here.progress_of("judge", others[2], None).left == 1
    got.append(here.lease("judge", others[2]))
    assert [each.task.id for each in got if each] == ["judge-1", "judge-2", "judge-0"]
    assert here.lease("judge", worker(database, "e")) is None


def test_the_last_counted_answer_fills_a_task(database: Database) -> None:
    clock = Clock()
    campaign(database, tasks=1, workers=3)
    assignments = Assignments(database, clock)
    workers = [worker(database, name) for name in "abcd"]
    late = assignments.lease("judge", workers[0])
    clock.now += 3600
    leases = [assignments.lease("judge", each) for each in workers[1:]]
    assert late is not None
    assert assignments.submit(late.id, workers[0], "k", JudgeAnswer({})).counted is False
    filled = []
    for who, lease in zip(workers[1:], leases, strict=True):
        assert lease is not None
        filled.append(assignments.submit(lease.id, who, "k", JudgeAnswer({})).filled)
    assert filled == [False, False, True]
    assert Campaigns(database).progress("judge")["tasks_full"] == 1
    again = leases[-1]
    assert again is not None
    assert assignments.submit(again.id, workers[3], "k", JudgeAnswer({})).filled is False, "it was full before"


def test_tasks_whose_places_are_held_cost_nobody_else_time(tmp_path: Path) -> None:
    """They were counted for everybody who asked: in the middle of a campaign, a quarter of the processor's time."""
    database = Database.create(tmp_path / "study.db")
    clock = Clock()
    campaign(database, tasks=500, workers=1)
    assignments = Assignments(database, clock)

    def steps(name: str) -> int:
        """How long SQLite is at work for a lease, in its own instructions."""
        who, counted = worker(database, name), list[int]()
        with database.together(), database.write() as connection:
            driver: Any = connection.connection.driver_connection
            driver.set_progress_handler(lambda: counted.append(1), 10)
            assert assignments.lease("judge", who) is not None
            driver.set_progress_handler(None, 0)
        return len(counted)

    steps("first")
    early = steps("second")
    for number in range(300):
        assert assignments.lease("judge", worker(database, f"w{number}")) is not None
    clock.now += 10  # what is known of the campaign is looked up again
    assert assignments.lease("judge", worker(database, "the next")) is not None
    assert steps("another") < 2 * early
    database.close()


def test_reopening_asks_somebody_else_and_keeps_the_answer(database: Database) -> None:
    campaign(database, tasks=1, workers=1)
    assignments = Assignments(database)
    a, b = worker(database, "a"), worker(database, "b")
    lease = assignments.lease("judge", a)
    assert lease is not None
    assignments.submit(lease.id, a, "k", JudgeAnswer({"u1": 1}))
    assert assignments.lease("judge", b) is None
    AnswerDecisions(database).decide("judge", [lease.id], "reopen", actor="m", reason="doubtful")
    assert assignments.lease("judge", b) is not None
    assert Campaigns(database).answers()[0].answer == JudgeAnswer({"u1": 1})
    assert not Campaigns(database).answers()[0].counted


def test_writers_do_not_judge_their_own_topics(database: Database) -> None:
    campaign(database, tasks=2, name="write", kind="write")
    campaign(database, tasks=2)
    campaign(database, tasks=2, name="open", separate_writers=False)
    assignments = Assignments(database)
    a = worker(database, "a")
    written = assignments.lease("write", a)
    judged, anyhow = assignments.lease("judge", a), assignments.lease("open", a)
    assert written is not None
    assert judged is not None
    assert anyhow is not None
    assert (written.task.topic, judged.task.topic, anyhow.task.topic) == ("t0", "t1", "t0")


def test_a_campaign_from_before_a_setting_has_its_default(database: Database) -> None:
    campaign(database, tasks=2, workers=1)
    kept = {"workers": 1, "check": False}
    with database.write() as connection:
        connection.execute(update(schema.campaigns).values(settings=kept))
    clock = Clock()
    assignments = Assignments(database, clock)
    a = worker(database, "a")
    lease = assignments.lease("judge", a)
    assert lease is not None
    assert lease.expires == clock.now + 60 * Settings().lease_minutes
    clock.now += 60
    assert assignments.save_draft(lease.id, a, {}) == clock.now + 60 * Settings().lease_minutes
    assert assignments.submit(lease.id, a, "k", JudgeAnswer({})).counted
    assert assignments.lease("judge", a) is not None


def test_the_newest_record_tells_that_something_was_added(database: Database, example: pyr.Study) -> None:
    studies = Studies(database)
    assert studies.newest() == 0
    studies.add(pyr.Study(topics=example.topics[:1]))
    first = studies.newest()
    studies.add(pyr.Study(topics=example.topics[1:2]))
    assert 0 < first < studies.newest()


def test_a_worker_can_be_limited(database: Database) -> None:
    campaign(database, tasks=3, most_per_worker=1)
    assignments = Assignments(database)
    a = worker(database, "a")
    lease = assignments.lease("judge", a)
    assert lease is not None
    assignments.submit(lease.id, a, "k", JudgeAnswer({}))
    assert assignments.lease("judge", a) is None


def test_paused_campaigns_give_out_nothing_and_take_everything_in(database: Database) -> None:
    campaign(database)
    assignments, campaigns = Assignments(database), Campaigns(database)
    a, b = worker(database, "a"), worker(database, "b")
    lease = assignments.lease("judge", a)
    assert lease is not None
    campaigns.set_state("judge", "paused")
    assert assignments.lease("judge", b) is None
    assert assignments.submit(lease.id, a, "k", JudgeAnswer({})).counted
    campaigns.set_state("judge", "running")
    assert assignments.lease("judge", b) is not None
    campaigns.set_state("judge", "closed")
    with pytest.raises(pyr.UsageError, match="closed permanently"):
        campaigns.set_state("judge", "running")


def test_a_task_that_somebody_is_just_submitting_is_waited_for(database: Database) -> None:
    """On PostgreSQL locked tasks are passed over; the last one must not be taken for none. SQLite waits by itself."""
    campaign(database, tasks=1, workers=2)
    waiting = worker(database, "w")
    locked, done = threading.Event(), threading.Event()

    def hold() -> None:
        with database.write() as connection:
            connection.execute(select(schema.tasks).with_for_update()).all()
            locked.set()
            done.wait()

    def let_go(_: float) -> None:
        done.set()
        holder.join()

    holder = threading.Thread(target=hold)
    holder.start()
    locked.wait()
    if database.sqlite:
        done.set()
    assert Assignments(database, pause=let_go).lease("judge", waiting) is not None
    assert done.is_set()
    holder.join()


def test_many_threads_share_out_every_place_exactly_once(database: Database) -> None:
    campaign(database, tasks=10, workers=3)
    assignments = Assignments(database)
    names = [worker(database, f"w{i}") for i in range(12)]
    failures: list[BaseException] = []

    def work(name: str) -> None:
        try:
            while (lease := assignments.lease("judge", name)) is not None:
                assignments.submit(lease.id, name, f"{lease.id}", JudgeAnswer({}, name))
        except BaseException as error:  # shown in the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    answers = Campaigns(database).answers("judge")
    per_task = Counter(answer.task.id for answer in answers if answer.counted)
    assert per_task == {f"judge-{i}": 3 for i in range(10)}
    assert len({(answer.task.id, answer.worker) for answer in answers}) == len(answers) == 30


# -- people --------------------------------------------------------------------------------------------------


def test_worker_ids_are_pseudonyms_of_this_study_only(database: Database, tmp_path) -> None:  # type: ignore[no-untyped-def]
    workers = Workers(database)
    here = workers.join("prolific", "5f3a")
    assert workers.join("prolific", "5f3a") == here
    assert "5f3a" not in here.id
    other = Database.create(tmp_path / "other.db")
    assert Workers(other).join("prolific", "5f3a").id != here.id
    other.close()


def test_every_way_into_a_campaign_has_its_own_session(database: Database) -> None:
    campaign(database, name="a")
    campaign(database, name="b")
    workers = Workers(database)
    first = workers.enter("a", Arrival("prolific", "5f3a", "s1", "study-a"))
    second = workers.enter("b", Arrival("prolific", "5f3a", "s2", "study-b"))
    again = workers.enter("a", Arrival("prolific", "5f3a", "s3", "study-a"))
    assert first.worker == second.worker == again.worker
    assert workers.enter("a", Arrival("prolific", "5f3a", "s1", "study-a")) == first
    assert [(e.campaign, e.study, e.session) for e in workers.entries()] == [
        ("a", "study-a", "s1"),
        ("b", "study-b", "s2"),
        ("a", "study-a", "s3"),
    ]
    with pytest.raises(pyr.InputError, match="belongs to somebody else"):
        workers.enter("a", Arrival("prolific", "another", "s1", "study-a"))


def test_an_open_task_stays_with_the_session_it_was_leased_to(database: Database) -> None:
    """Who knows somebody's id on a platform, but not their session, is not given their task and draft."""
    campaign(database, tasks=2)
    workers, assignments = Workers(database), Assignments(database)
    owner = workers.enter("judge", Arrival("prolific", "5f3a", "s1"))
    lease = assignments.lease("judge", owner.worker, owner.id)
    assert lease is not None
    assignments.save_draft(lease.id, owner.worker, {"mine": True})
    intruder = workers.enter("judge", Arrival("prolific", "5f3a", "guessed"))
    other = assignments.lease("judge", intruder.worker, intruder.id)
    assert other is None or (other.id != lease.id and other.draft is None)
    back = assignments.lease("judge", owner.worker, owner.id)
    assert back is not None
    assert (back.id, back.draft) == (lease.id, {"mine": True})


def test_a_database_from_before_consents_opens(place: str) -> None:
    database = Database.create(place, title="Old")
    with database.write() as connection:
        schema.consents.drop(connection)
        connection.execute(delete(migrations._history).where(migrations._history.c.name == "given_consents"))
    database.close()
    again = Database.open(place)
    campaign(again, consent="Freely.")
    asking, workers, ann = Campaigns(again).get("judge"), Workers(again), worker(again, "ann")
    assert not workers.has_agreed(asking, ann)
    for _ in range(2):
        workers.record_consent(asking, ann)
    assert workers.has_agreed(asking, ann)
    assert list(workers.consents("judge")) == [ann]
    again.close()


def test_the_comprehension_check_has_two_tries(database: Database) -> None:
    campaign(database)
    workers = Workers(database)
    a = worker(database, "a")
    assert workers.check_state("judge", a) == (0, False)
    assert workers.record_check("judge", a, False, after=0) == (1, False)
    assert workers.record_check("judge", a, True, after=0) == (1, False), "that try was used in another tab"
    assert workers.record_check("judge", a, False, after=1) == (2, False)
    assert workers.record_check("judge", a, True, after=2) == (2, False)
    b = worker(database, "b")
    assert workers.record_check("judge", b, True, after=0) == (1, True)
    assert workers.record_check("judge", b, False, after=1) == (1, True)


def test_one_try_sent_from_many_tabs_at_once_is_one_try(database: Database) -> None:
    campaign(database)
    workers = Workers(database)
    a = worker(database, "a")
    with ThreadPoolExecutor(8) as threads:
        ends = list(threads.map(lambda _: workers.record_check("judge", a, False, after=0), range(16)))
    assert set(ends) == {(1, False)}
    assert workers.check_state("judge", a) == (1, False)


def test_reviews_are_appended_and_the_last_word_holds(database: Database) -> None:
    a = worker(database, "a")
    reviews = WorkerDecisions(database)
    reviews.add("exclude", actor="m", reason="agrees with nobody", worker=a)
    assert reviews.exclusions() == {a: "agrees with nobody"}
    reviews.add("include", actor="m", reason="was right after all", worker=a)
    assert reviews.exclusions() == {}
    assert [review.action for review in reviews.all()] == ["exclude", "include"]
    with pytest.raises(pyr.UsageError, match="unknown worker"):
        reviews.add("exclude", actor="m", reason="", worker="w0")


def test_accounts_log_in_and_out(database: Database) -> None:
    accounts = Accounts(database)
    with pytest.raises(pyr.UsageError, match="at least 10"):
        accounts.add("ann", "short")
    accounts.add("ann", "correct horse battery", "manager")
    assert accounts.log_in("ann", "wrong") is None
    assert accounts.log_in("bob", "correct horse battery") is None
    token = accounts.log_in("ann", "correct horse battery")
    assert token is not None
    account = accounts.of_session(token)
    assert account is not None
    assert (account.name, account.role) == ("ann", "manager")
    assert accounts.of_session(token + "x") is None
    accounts.log_out(token)
    assert accounts.of_session(token) is None


@pytest.mark.usefixtures("real_password_cost")
def test_a_password_is_dear_to_guess(database: Database) -> None:
    accounts = Accounts(database)
    accounts.add("ann", "correct horse battery")
    with database.read() as connection:
        stored = connection.execute(select(schema.accounts.c.password)).scalar_one()
    # RFC 9106, 4: argon2id, and its second recommended choice of memory, passes and lanes.
    assert stored.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert accounts.log_in("ann", "correct horse battery")
