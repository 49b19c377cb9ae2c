"""A backup holds every row of every table, whichever database it is of, and a study can be made of it again on both."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import JSON, Column, ColumnElement, Text, cast, insert, select, text, update
from tests.databases import Postgres
from tests.store.test_store import campaign

import pyramidion as pyr
from pyramidion.campaigns.forgetting import forget_again, forget_worker
from pyramidion.campaigns.workers import Workers
from pyramidion.store import schema
from pyramidion.store.accounts import Accounts
from pyramidion.store.backup import back_up, check_file, restore
from pyramidion.store.database import Database

Rows = dict[str, list[tuple[Any, ...]]]


def raw(column: Column[Any]) -> ColumnElement[Any]:
    return cast(column, Text) if isinstance(column.type, JSON) else column


def rows(database: Database) -> Rows:
    """Everything, as it is stored."""
    with database.read() as connection:
        return {
            table.name: sorted(map(tuple, connection.execute(select(*map(raw, table.c)))), key=str)
            for table in schema.metadata.sorted_tables
        }


def test_a_study_comes_back_as_it_was(study: Database, another: Callable[[], str], tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    done = back_up(study, file)
    assert done.counts["answers"] == 4
    assert (done.counts["campaigns"], done.counts["workers"], done.counts["accounts"]) == (1, 2, 1)
    assert done.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert done.bytes == file.stat().st_size
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == ["backup.db"], (
        "one file, nothing half"
    )
    place = another()
    assert restore(file, place).counts == done.counts
    assert hashlib.sha256(file.read_bytes()).hexdigest() == done.sha256, "the backup is not touched"
    back = Database.open(place)
    assert rows(back) == rows(study)
    assert done.counts["records"] > 4900
    Workers(back).join("local", "new")  # ids go on after the last
    campaign(back, name="next")
    with back.write() as connection:
        values = {"at": 1.0, "actor": "m", "action": "exclude", "reason": "r"}
        connection.execute(insert(schema.reviews).values(values))
    back.close()


def test_a_backup_is_not_lost_by_mistake(study: Database, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    back_up(study, file)
    before = file.read_bytes()
    with pytest.raises(pyr.UsageError, match=r"backup\.db already exists.*--force"):
        back_up(study, file)
    assert file.read_bytes() == before
    campaign(study, name="second")
    assert back_up(study, file, force=True).counts["campaigns"] == 2
    for wrong, why in ((tmp_path, "is a folder"), (tmp_path / "no" / "x.db", "create it first")):
        with pytest.raises(pyr.UsageError, match=why):
            back_up(study, wrong, force=True)
    if study.sqlite:
        for suffix in ("", "-wal", "-shm"):
            with pytest.raises(pyr.UsageError, match="belongs to the study itself"):
                back_up(study, Path(f"{study.shown}{suffix}"), force=True)


def test_a_backup_that_fails_leaves_nothing(study: Database, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()

    def interrupted(_total: int) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(study, folder / "backup.db", progress=interrupted)
    assert list(folder.iterdir()) == []


def test_nothing_that_is_there_is_overwritten(study: Database, another: Callable[[], str], tmp_path: Path) -> None:
    file, place = tmp_path / "backup.db", another()
    back_up(study, file)
    other = Database.create(place, title="another study")
    Workers(other).join("local", "x")
    kept = rows(other)
    with pytest.raises(pyr.UsageError, match="--force"):
        restore(file, place, force=False)
    with pytest.raises(pyr.UsageError, match="in use"):
        restore(file, place, force=True)
    assert rows(other) == kept
    other.close()
    done = restore(file, place, force=True)
    assert done.forgotten == {}, "of another study"
    back = Database.open(place)
    assert rows(back) == rows(study)
    if back.sqlite:
        aside = Database.open(done.aside)
        assert rows(aside) == kept
        aside.close()
    else:
        with back.read() as connection:
            schema_name = done.aside.removeprefix("schema ")
            assert connection.execute(text(f"SELECT count(*) FROM {schema_name}.workers")).scalar_one() == 1
            connection.execute(text(f"SET search_path TO {schema_name}"))
            assert (
                connection.execute(text("SELECT value FROM meta WHERE key = 'title'")).scalar_one() == "another study"
            )
    back.close()


def test_damaged_and_other_files_are_refused(study: Database, another: Callable[[], str], tmp_path: Path) -> None:
    file, place = tmp_path / "backup.db", another()
    back_up(study, file)
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 4096] = bytes(4096)
    (tmp_path / "damaged.db").write_bytes(content)
    (tmp_path / "text.db").write_text("not a database at all")
    (tmp_path / "cut.db").write_bytes(file.read_bytes()[: middle + 100])
    for name in ("damaged.db", "text.db", "cut.db"):
        assert check_file(tmp_path / name)
        with pytest.raises(pyr.InputError, match=name):
            restore(tmp_path / name, place)
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as plain:
        plain.execute("CREATE TABLE x (y)")
    with pytest.raises(pyr.UsageError, match="contains no study"):
        restore(tmp_path / "other.sqlite", place)
    with pytest.raises(pyr.UsageError, match="is not a file"):
        restore(tmp_path / "missing.db", place)
    if "://" not in place:
        assert not Path(place).exists()
        with pytest.raises(pyr.UsageError, match="is the backup itself"):
            restore(file, str(file), force=True)


def test_what_postgresql_cannot_hold_is_named_and_nothing_is_restored(
    server: Postgres, tmp_path: Path, example: pyr.Study
) -> None:
    database = Database.create(tmp_path / "study.db")
    campaign(database)
    with database.write() as connection:
        connection.execute(update(schema.tasks).values(topic="zero \0 byte"))
    back_up(database, tmp_path / "backup.db")
    database.close()
    place = server.new_database()
    with pytest.raises(pyr.UsageError, match="table tasks cannot be copied"):
        restore(tmp_path / "backup.db", place)
    Database.create(place).close()  # it is still empty


def test_a_damaged_study_is_kept_aside_too(study: Database, tmp_path: Path) -> None:
    file, place = tmp_path / "backup.db", tmp_path / "broken.db"
    back_up(study, file)
    place.write_bytes(b"no longer a database")
    done = restore(file, str(place), force=True)
    assert Path(done.aside).read_bytes() == b"no longer a database"
    back = Database.open(place)
    assert rows(back) == rows(study)
    back.close()


def test_a_copy_of_the_file_with_the_one_beside_it_is_a_backup_too(tmp_path: Path, example: pyr.Study) -> None:
    database = Database.create(tmp_path / "study.db")
    Accounts(database).add("ann", "correct horse battery")
    folder = tmp_path / "copy"
    folder.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(tmp_path / f"study.db{suffix}", folder)
    restore(folder / "study.db", str(tmp_path / "back.db"))
    back = Database.open(tmp_path / "back.db")
    assert rows(back) == rows(database)
    back.close()
    database.close()


def test_whoever_was_forgotten_since_is_forgotten_again(
    study: Database, another: Callable[[], str], tmp_path: Path
) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    back_up(study, first)
    place = another()
    restore(first, place)
    database = Database.open(place)
    worker = Workers(database).join("local", "a").id
    done = forget_worker(database, worker)
    back_up(database, second)
    database.close()
    restored = restore(first, place, force=True)
    database = Database.open(place)
    assert Workers(database).get(worker) is not None, "the backup was made before"
    [again] = forget_again(database, restored.forgotten)
    assert again.replacement == done.replacement
    assert Workers(database).get(worker) is None
    assert Workers(database).join("local", "a").id == done.replacement
    assert forget_again(database, restored.forgotten) == []
    database.close()


def test_the_last_to_close_leaves_everything_in_the_file(tmp_path: Path) -> None:
    database = Database.create(tmp_path / "study.db")
    beside = tmp_path / "study.db-wal"
    Accounts(database).add("ann", "correct horse battery")
    assert beside.stat().st_size
    reader = sqlite3.connect(tmp_path / "study.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM accounts").fetchone() == (1,)
    Accounts(database).add("ben", "correct horse battery")
    assert database.close() is False, "somebody still reads what was there before"
    reader.execute("COMMIT")
    again = Database.open(tmp_path / "study.db")
    assert again.close() is True
    reader.close()
    copy = tmp_path / "copy.db"
    shutil.copy(tmp_path / "study.db", copy)
    with closing(sqlite3.connect(copy)) as held:
        assert held.execute("SELECT name FROM accounts ORDER BY name").fetchall() == [("ann",), ("ben",)]
