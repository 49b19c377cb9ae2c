"""Whatever is missing or contradicts itself in a study database is found and named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.store.test_store import campaign

import pyramidion as pyr
from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.forgetting import forget_worker
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.campaigns.verification import KeptReceipt, read_receipts, verify
from pyramidion.campaigns.workers import WorkerDecisions, Workers, tombstone
from pyramidion.store.backup import back_up
from pyramidion.store.database import Database


@pytest.fixture
def work(database: Database) -> dict[int, str]:
    """Two tasks of a campaign, both done by two people; the key of each answer."""
    campaign(database, tasks=2)
    campaign(database, tasks=1, name="other")
    keys = {}
    for name in ("a", "b"):
        entry = Workers(database).enter("judge", Arrival("local", name))
        for number in range(2):
            lease = Assignments(database).lease("judge", entry.worker, entry.id)
            assert lease is not None
            keys[lease.id] = f"key {name} {number}"
            answer = JudgeAnswer({"u1": number}, "a comment")
            Assignments(database).submit(lease.id, entry.worker, keys[lease.id], answer)
    WorkerDecisions(database).add("bonus", actor="m", reason="r", worker=entry.worker, amount=1.0, campaign="judge")
    return keys


def found(place: str, **more: object) -> list[str]:
    return [str(problem) for problem in verify(place, **more).problems]  # type: ignore[arg-type]


def spoil(database: Database, *statements: str) -> None:
    """Change what the tables would not allow."""
    with database.engine.connect() as connection:
        if database.sqlite:
            connection.detach()
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(text(statement))
        connection.commit()


def test_a_whole_study_is_whole(database: Database, place: str, work: dict[int, str]) -> None:
    checked = verify(place, receipts=[KeptReceipt(*item) for item in work.items()])
    assert checked.problems == ()
    assert (checked.counts["answers"], checked.counts["tasks"], checked.counts["decisions"]) == (4, 3, 1)


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE assignments SET answer = NULL WHERE id = 2", "answer 2: was submitted, but has no answer"),
        ("UPDATE assignments SET answer = 'null' WHERE id = 2", "answer 2: was submitted, but has no answer"),
        ("UPDATE assignments SET key = NULL WHERE id = 2", "answer 2: was submitted, but has no key"),
        (
            """UPDATE assignments SET answer = '{"winner": "first"}' WHERE id = 3""",
            "answer 3: is not an answer to a task of kind judge",
        ),
        ('UPDATE tasks SET "full" = NOT "full" WHERE id = 1', "task judge-0: is marked open, but has 2 of 2 answers"),
        ('UPDATE tasks SET "full" = NOT "full" WHERE id = 3', "task other-0: is marked full, but has 0 of 2 answers"),
        ("UPDATE tasks SET wanted = 1 WHERE id = 1", "task judge-0: has 2 of 1 answers, more than it needs"),
        (
            "UPDATE assignments SET entry_id = 2 WHERE id = 1",
            "answer 1: belongs to an entry of another worker or campaign",
        ),
        (
            "UPDATE entries SET campaign_id = 2 WHERE id = 2",
            "answer 3: belongs to an entry of another worker or campaign",
        ),
        ("UPDATE reviews SET assignment_id = 1", "decision 1: is about an answer that is gone or another worker's"),
        ("UPDATE reviews SET entry_id = 1", "decision 1: is about an entry that is gone or another worker's"),
    ],
)
def test_every_contradiction_is_found(database: Database, place: str, statement: str, problem: str) -> None:
    spoil(database, statement)
    assert problem in found(place)


@pytest.mark.usefixtures("work")
def test_somebody_twice_in_one_task_is_found(database: Database, place: str) -> None:
    if database.sqlite:  # which cannot drop a constraint
        with database.read() as connection:
            made = connection.execute(text("SELECT sql FROM sqlite_master WHERE name = 'assignments'")).scalar_one()
        constraint = "CONSTRAINT one_assignment_per_task_and_worker UNIQUE (task_id, worker_id), "
        assert constraint in made
        spoil(database, "CREATE TABLE kept AS SELECT * FROM assignments", "DROP TABLE assignments")
        spoil(database, made.replace(constraint, ""), "INSERT INTO assignments SELECT * FROM kept", "DROP TABLE kept")
    else:
        spoil(database, "ALTER TABLE assignments DROP CONSTRAINT one_assignment_per_task_and_worker")
    spoil(database, "UPDATE assignments SET task_id = 1 WHERE id = 2")
    assert any(problem.startswith("task judge-0: was given to worker w") for problem in found(place))


def test_rows_that_are_gone_and_damaged_files_are_found(tmp_path: Path) -> None:
    place = tmp_path / "study.db"
    database = Database.create(place)
    campaign(database)
    entry = Workers(database).enter("judge", Arrival("local", "a"))
    lease = Assignments(database).lease("judge", entry.worker, entry.id)
    assert lease is not None
    spoil(database, "DELETE FROM entries")
    assert found(str(place)) == [f"{place}, table assignments, row 1: refers to a row of entries that is gone"]
    database.close()
    content = bytearray(place.read_bytes())
    content[4096 * 3 : 4096 * 4] = b"\xff" * 4096
    place.write_bytes(content)
    assert found(str(place))
    place.write_text("nothing like a database")
    assert found(str(place)) == [f"{place}: file is not a database"]
    with pytest.raises(pyr.UsageError, match="pyramidion init"):
        verify(str(tmp_path / "missing.db"))


def test_receipts_without_an_answer_are_named(database: Database, place: str, work: dict[int, str]) -> None:
    lost = [KeptReceipt(4711, "some key"), KeptReceipt(1, "another key"), KeptReceipt(2, work[2])]
    assert found(place, receipts=lost) == [
        "receipt of answer 4711: the answer is missing",
        "receipt of answer 1: the answer has another key",
    ]


def test_receipts_are_read_strictly(tmp_path: Path) -> None:
    file = tmp_path / "receipts.jsonl"
    file.write_text('{"assignment": 1, "key": "k", "counted": true}\n\n' + json.dumps({"assignment": 2, "key": "l"}))
    assert read_receipts(file) == [(1, "k"), (2, "l")]
    for wrong in ('{"assignment": "1", "key": "k"}', '{"assignment": true, "key": "k"}', "[1]", "{", "[" * 10**5):
        file.write_text(f'{{"assignment": 1, "key": "k"}}\n{wrong}\n')
        with pytest.raises(pyr.InputError, match=r"receipts\.jsonl, line 2: is not a receipt"):
            read_receipts(file)
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(pyr.UsageError, match="UTF-8"):
        read_receipts(file)
    with pytest.raises(pyr.UsageError, match="cannot be read"):
        read_receipts(tmp_path / "missing.jsonl")


@pytest.mark.usefixtures("work")
def test_a_backup_shows_what_was_lost_since(database: Database, place: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    back_up(database, file)
    before = file.read_bytes()
    assert found(place, backup=file) == []
    forget_worker(database, Workers(database).join("local", "a").id)
    assert found(place, backup=file) == [], "comments may be erased"
    spoil(database, """UPDATE assignments SET answer = '{"units": {"u1": 7}}' WHERE id = 1""")
    spoil(database, "UPDATE assignments SET state = 'returned' WHERE id = 4", 'UPDATE tasks SET "full" = NOT "full"')
    problems = found(place, backup=file)
    assert f"answer 1: is not the one in {file}" in problems
    assert f"answer 4: is in {file}, but not in the study" in problems
    assert file.read_bytes() == before
    other = Database.create(tmp_path / "other.db")
    back_up(other, tmp_path / "other-backup.db")
    other.close()
    with pytest.raises(pyr.UsageError, match="is not a backup of this study"):
        verify(place, backup=tmp_path / "other-backup.db")


@pytest.mark.usefixtures("work")
def test_whoever_was_forgotten_and_is_here_again_is_named(database: Database, place: str) -> None:
    worker = Workers(database).join("local", "a").id
    mark = tombstone(database.secret, worker)
    spoil(database, f"INSERT INTO forgotten VALUES ('{mark}', '{Workers(database).join('local', 'b').id}', 1.0)")
    assert [problem.split(";")[0] for problem in found(place)] == [f"worker {worker}: was forgotten and is here again"]
