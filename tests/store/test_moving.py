"""A study moves between SQLite and PostgreSQL with everything in it, or stays where it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from tests.databases import Postgres
from tests.store.test_backup import rows
from tests.store.test_store import campaign

import pyramidion as pyr
from pyramidion.annotation.events import Annotations
from pyramidion.campaigns.assignments import Assignments
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.tasks import JudgeAnswer
from pyramidion.campaigns.verification import verify
from pyramidion.campaigns.workers import Workers
from pyramidion.store import moving
from pyramidion.store.backup import copy_rows
from pyramidion.store.database import Database
from pyramidion.store.moving import move, sum_tables, undo
from pyramidion.store.trouble import MovedStudyError

Places = Callable[[], str]


def sums(database: Database) -> dict[str, Any]:
    with database.snapshot() as connection:
        return sum_tables(connection)


def test_a_study_moves_with_everything_and_back(study: Database, place: str, another: Places, tmp_path: Path) -> None:
    before, contents = rows(study), sums(study)
    target = another()
    done = move(place, target)
    assert done.tables == contents
    assert (done.counts["answers"], done.counts["workers"]) == (4, 2)
    assert done.tables["blocks"].rows == 4
    there = Database.open(target)
    assert rows(there) == before
    assert verify(target).problems == ()
    Workers(there).join("local", "new")  # ids go on after the last
    campaign(there, name="next")
    there.close()
    study.close()
    back = str(tmp_path / "back.db")
    move(target, back)
    again = Database.open(back)
    assert len(rows(again)["workers"]) == len(before["workers"]) + 1
    again.close()


def test_nobody_changes_or_opens_a_study_that_was_moved(study: Database, place: str, another: Places) -> None:
    """Those who have it open are refused, too, whatever they do."""
    desk = CampaignDesk(study)
    worker = desk.workers.join("local", "late").id
    lease = Assignments(study).lease("judge", worker)
    assert lease is not None
    target = another()
    move(place, target)
    contents = sums(study)
    for change in (
        lambda: Assignments(study).submit(lease.id, worker, "k", JudgeAnswer({})),
        lambda: Annotations(study).add("t", "pyramid", name="a", owner="a"),
        lambda: desk.workers.join("local", "new"),
        lambda: desk.studies.set_blind(True),
        lambda: desk.studies.add(pyr.Study(topics=(pyr.Topic("x"),))),
    ):
        with pytest.raises(MovedStudyError, match="was moved"):
            change()
    assert sums(study) == contents
    assert len(desk.campaigns.answers("judge")) == 6, "reading goes on"
    for _ in range(2):
        with pytest.raises(pyr.UsageError, match=r"the study was moved from .* to .*; use it there.*--undo"):
            Database.open(place)
        with pytest.raises(pyr.UsageError, match="the study was moved"):
            move(place, another())
    assert undo(place).done
    Assignments(study).submit(lease.id, worker, "k", JudgeAnswer({}))
    Database.open(place).close()
    with pytest.raises(pyr.UsageError, match="was not moved"):
        undo(place)


def test_a_place_that_is_not_empty_is_refused_and_the_study_goes_on(
    study: Database, place: str, another: Places
) -> None:
    target = another()
    other = Database.create(target, title="another study")
    Workers(other).join("local", "x")
    kept = rows(other)
    with pytest.raises(pyr.UsageError, match="--force"):
        move(place, target)
    Workers(study).join("local", "still possible")
    assert rows(other) == kept
    with pytest.raises(pyr.UsageError, match="in use"):
        move(place, target, force=True)
    Workers(study).join("local", "still possible, too")
    other.close()
    done = move(place, target, force=True)
    assert "before_move_" in done.aside
    there = Database.open(target)
    assert len(rows(there)["workers"]) == 4
    there.close()
    with pytest.raises(pyr.UsageError, match="is where the study is"):
        move(target, target)


def test_a_copy_that_differs_is_noticed_and_nothing_is_moved(
    study: Database, place: str, another: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = another()

    def lossy(here: Connection, there: Connection, progress: Any) -> None:
        copy_rows(here, there, progress)
        there.execute(text("UPDATE assignments SET leased = leased + 1 WHERE id = 1"))
        there.execute(text("DELETE FROM reviews"))

    monkeypatch.setattr(moving, "copy_rows", lossy)
    with pytest.raises(pyr.InputError, match=r"table assignments: 5 rows \(\w{12}\) became 5 \(\w{12}\)"):
        move(place, target)
    Workers(study).join("local", "still possible")
    with pytest.raises(pyr.UsageError, match=r"is not a study database|contains no study"):
        Database.open(target)
    monkeypatch.undo()
    assert move(place, target).tables["workers"].rows == 3


def test_an_interrupted_command_opens_the_study_again(study: Database, place: str, another: Places) -> None:
    @contextmanager
    def interrupted(_total: int) -> Iterator[Any]:
        with pytest.raises(MovedStudyError):
            Workers(study).join("local", "too late")
        yield lambda _done: None
        raise KeyboardInterrupt

    target = another()
    with pytest.raises(KeyboardInterrupt):
        move(place, target, progress=interrupted)
    Workers(study).join("local", "still possible")
    Database.open(place).close()
    assert move(place, target).tables["workers"].rows == 3


KILLED = """
import os, signal, sys
from contextlib import contextmanager
from pyramidion.store import moving
place, target, late = sys.argv[1:]
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
@contextmanager
def killed(_total):
    yield (lambda done: None if late == "late" else kill())
if late == "late":
    real = moving._set
    moving._set = lambda database, mark: kill() if mark and mark.done else real(database, mark)
moving.move(place, target, progress=killed)
"""


@pytest.mark.parametrize("when", ["early", "late"])
def test_a_killed_move_is_finished_or_undone(study: Database, place: str, another: Places, when: str) -> None:
    """Early: nothing has arrived. Late: everything has, but the old place does not say so."""
    before, target = rows(study), another()
    killed = subprocess.run([sys.executable, "-c", KILLED, place, target, when], check=False, env=dict(os.environ))
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(MovedStudyError):
        Workers(study).join("local", "too late")
    with pytest.raises(pyr.UsageError, match=r"is being moved to .*repeat the command to go on.*--undo"):
        Database.open(place)
    with pytest.raises(pyr.UsageError, match="is being moved to"):
        move(place, another())
    assert not undo(place).done
    assert rows(study) == before
    if when == "late":
        with pytest.raises(pyr.UsageError, match="--force"):
            move(place, target)
        return
    killed = subprocess.run([sys.executable, "-c", KILLED, place, target, "early"], check=False, env=dict(os.environ))
    done = move(place, target)
    assert done.tables["assignments"].rows == 5
    there = Database.open(target)
    assert rows(there) == before
    there.close()


def test_a_move_killed_at_its_end_is_only_finished(study: Database, place: str, another: Places) -> None:
    before, target = rows(study), another()
    subprocess.run([sys.executable, "-c", KILLED, place, target, "late"], check=False, env=dict(os.environ))
    done = move(place, target)
    assert (done.aside, done.tables["assignments"].rows) == ("", 5)
    there = Database.open(target)
    assert rows(there) == before
    there.close()


def test_only_one_moves_a_study_at_a_time(study: Database, place: str, another: Places) -> None:
    @contextmanager
    def meanwhile(_total: int) -> Iterator[Any]:
        for second in (lambda: move(place, another()), lambda: undo(place)):
            with pytest.raises(pyr.UsageError, match="is being moved by another command"):
                second()
        yield lambda _done: None

    move(place, another(), progress=meanwhile)


def test_what_postgresql_cannot_hold_is_named(server: Postgres, tmp_path: Path) -> None:
    place = str(tmp_path / "study.db")
    database = Database.create(place)
    campaign(database)
    with database.write() as connection:
        connection.execute(text("UPDATE tasks SET topic = 'zero ' || char(0) || ' byte'"))
    with pytest.raises(pyr.UsageError, match="table tasks cannot be copied"):
        move(place, server.new_database())
    Workers(database).join("local", "still possible")
    database.close()
