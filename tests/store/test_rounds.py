"""Rounds and looks are added once, whoever tries, however many at a time; on SQLite and on PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from sqlalchemy import delete, func, select, update
from tests.campaigns.designs import answer_all, desk_in_rounds

from pyramidion.analysis.stopping import DecidedPair, Look, SystemStanding
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.forgetting import forget_worker
from pyramidion.campaigns.plan import release
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.campaigns.verification import verify
from pyramidion.store import migrations, schema
from pyramidion.store.backup import back_up, restore
from pyramidion.store.database import Database, insert_if_new

LOOK = Look(
    number=1,
    looks=3,
    goal="ranking",
    question="these",
    standings=(SystemStanding("good", 0.75, 0.5, 1.0, True), SystemStanding("poor", 0.125, 0.0, 0.25, False)),
    decided=(DecidedPair("good", "poor", 0.625, 1),),
    pairs=3,
    answered=72,
    reached=False,
    notes=("a note",),
)


def at_once(number: int, do: Callable[[CampaignDesk], bool], place: str) -> list[bool]:
    """What so many connections of their own get who do the same thing at the same moment."""
    desks = [CampaignDesk(Database.open(place)) for _ in range(number)]
    gate = threading.Barrier(number)

    def one(desk: CampaignDesk) -> bool:
        gate.wait()
        return do(desk)

    with ThreadPoolExecutor(number) as threads:
        done = list(threads.map(one, desks))
    for desk in desks:
        desk.database.close()
    return done


def release_second(desk: CampaignDesk) -> bool:
    systems = ("fair", "good")
    made = release(desk.material(), desk.campaigns.get("judge"), desk.rounds.parts("judge"), 2, systems)
    return desk.rounds.release("judge", 2, systems, made, actor="somebody")


def test_a_look_and_a_round_come_once_however_many_try(place: str) -> None:
    desk = desk_in_rounds(place)
    assert sum(at_once(4, lambda one: one.rounds.add_look("judge", LOOK, "somebody"), place)) == 1
    assert [(one.look, one.actor) for one in desk.rounds.looks("judge")] == [(LOOK, "somebody")]
    assert not release_second(desk), "the first round still lacks answers"
    answer_all(desk)
    before = desk.campaigns.progress("judge")["tasks"]
    assert sum(at_once(4, release_second, place)) == 1
    assert not any(at_once(2, release_second, place)), "and nobody does it again"
    assert [one.number for one in desk.rounds.released("judge")] == [1, 2]
    second = desk.rounds.released("judge")[1]
    assert (second.systems, second.tasks) == (("fair", "good"), desk.campaigns.progress("judge")["tasks"] - before)
    asked = [(t.task.stratum, t.task.place, t.task.system) for t in desk.campaigns.tasks("judge")]
    assert len(asked) == len(set(asked)), "no part is asked twice about a system"
    desk.database.close()


def test_a_round_is_released_only_while_the_campaign_runs(place: str) -> None:
    desk = desk_in_rounds(place)
    answer_all(desk)
    desk.campaigns.set_state("judge", "paused")
    assert not release_second(desk)
    assert not desk.rounds.stop("judge", 1), "nobody stops what does not run"
    desk.campaigns.set_state("judge", "running")
    assert not desk.rounds.stop("judge", 2), "that round was not released"
    assert desk.rounds.stop("judge", 1)
    assert desk.campaigns.get("judge").state == "paused"
    systems = ("good",)
    made = release(desk.material(), desk.campaigns.get("judge"), desk.rounds.parts("judge"), 2, systems)
    assert desk.rounds.release("judge", 2, systems, made, actor="boss", reason="to be sure", resume=True)
    assert desk.campaigns.get("judge").state == "running"
    last = desk.rounds.released("judge")[-1]
    assert (last.actor, last.reason, last.systems) == ("boss", "to be sure", systems)
    desk.campaigns.set_state("judge", "closed")
    third = release(desk.material(), desk.campaigns.get("judge"), desk.rounds.parts("judge"), 3, systems)
    assert not desk.rounds.release("judge", 3, systems, third, actor="boss", resume=True), "closed is for good"
    desk.database.close()


def test_where_a_campaign_is(place: str) -> None:
    desk = desk_in_rounds(place)
    phase = desk.rounds.phase("judge")
    assert phase is not None
    assert (phase.round.number, phase.open_tasks, phase.taken, phase.due) == (1, 18, None, False)
    assert (desk.rounds.in_rounds(), desk.rounds.due()) == (["judge"], [])
    assert desk.rounds.more_may_come("judge")
    answer_all(desk)
    assert desk.rounds.due() == ["judge"]
    desk.campaigns.set_state("judge", "paused")
    assert (desk.rounds.in_rounds(), desk.rounds.due()) == ([], [])
    assert not desk.rounds.more_may_come("judge")
    assert not desk.rounds.has_stopped("judge"), "a person has paused it"
    desk.rounds.add_look("judge", LOOK, "server")
    assert desk.rounds.has_stopped("judge")
    desk.database.close()


def test_whoever_adds_a_row_first_is_told_so(database: Database) -> None:
    row = {"platform": "prolific", "id": "a message", "session": "s", "sent": 1.0}
    with database.write() as connection:
        assert [insert_if_new(connection, schema.platform_events, **row) for _ in range(3)] == [True, False, False]


def test_the_answer_that_fills_a_task_says_so(place: str) -> None:
    desk = desk_in_rounds(place, workers=2)
    filled = []
    for name in ("ann", "ben"):
        worker = desk.workers.join("local", name).id
        lease = desk.assignments.lease("judge", worker)
        assert lease is not None
        answer = JudgeAnswer(dict.fromkeys(lease.task.units, 1))
        filled += [desk.assignments.submit(lease.id, worker, "a key of mine", answer).filled for _ in range(2)]
    assert filled == [False, False, True, False], "the second answer of two, and not its repetition"
    desk.database.close()


def test_places_are_written_down_once(place: str) -> None:
    desk = desk_in_rounds(place)
    answer_all(desk)
    release_second(desk)
    assert desk.rounds.want_places("judge", 2, 30) == 30
    assert desk.rounds.want_places("judge", 2, 45) == 30, "what was written first holds"
    desk.rounds.mark_placed("judge", 29)
    assert desk.rounds.released("judge")[1].placed is None
    desk.rounds.mark_placed("judge", 30)
    assert desk.rounds.released("judge")[1].placed is not None
    desk.database.close()


def test_a_backup_holds_rounds_and_looks(place: str, tmp_path: Path) -> None:
    desk = desk_in_rounds(place)
    answer_all(desk)
    desk.rounds.add_look("judge", LOOK, "server")
    assert release_second(desk)
    back_up(desk.database, tmp_path / "backup.db")
    restore(tmp_path / "backup.db", str(tmp_path / "again.db"))
    again = CampaignDesk.open(tmp_path / "again.db")
    assert again.rounds.parts("judge") == desk.rounds.parts("judge")
    assert again.rounds.looks("judge") == desk.rounds.looks("judge")
    assert again.rounds.released("judge") == desk.rounds.released("judge")
    assert verify(str(tmp_path / "again.db")).problems == ()
    again.database.close()
    desk.database.close()


def test_a_database_from_before_gets_the_tables(place: str) -> None:
    database = Database.create(place, title="Old")
    with database.write() as connection:
        for table in (schema.parts, schema.rounds, schema.looks):
            table.drop(connection)
        history = migrations._history
        connection.execute(delete(history).where(history.c.name == "rounds_and_looks"))
    database.close()
    again = Database.open(place)
    with again.read() as connection:
        for table in (schema.parts, schema.rounds, schema.looks):
            assert connection.execute(select(func.count()).select_from(table)).scalar_one() == 0
    again.close()


def test_verification_finds_what_is_missing(place: str) -> None:
    desk = desk_in_rounds(place)
    assert verify(place).problems == ()
    desk.rounds.add_look("judge", replace(LOOK, number=2), "server")
    with desk.database.write() as connection:
        connection.execute(update(schema.rounds).values(number=4))
        connection.execute(delete(schema.tasks).where(schema.tasks.c.name == "judge:1-01"))
    found = [str(problem) for problem in verify(place).problems]
    assert found == [
        "campaign judge: has rounds 4; some are missing",
        "campaign judge: has 17 tasks, but its rounds have 18",
        "campaign judge: has look 2, but no such round",
    ]
    desk.database.close()


def test_a_forgotten_person_is_in_no_reason_of_a_round(place: str) -> None:
    desk = desk_in_rounds(place)
    entry = desk.workers.enter("judge", Arrival("prolific", "participant4711", "session4711", "study"))
    answer_all(desk)
    made = release(desk.material(), desk.campaigns.get("judge"), desk.rounds.parts("judge"), 2, ("good",))
    reason = f"{entry.worker} alias participant4711 has answered too fast"
    assert desk.rounds.release("judge", 2, ("good",), made, actor="boss", reason=reason)
    gone = forget_worker(desk.database, entry.worker, unpaid=True)
    kept = desk.rounds.released("judge")[-1].reason
    assert kept == f"{gone.replacement} alias erased has answered too fast"
    desk.database.close()
