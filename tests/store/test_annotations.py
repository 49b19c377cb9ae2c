"""What the store of annotations must do, on both databases."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import delete, select, text

import pyramidion as pyr
from pyramidion.annotation.commands import AddUnit
from pyramidion.annotation.events import Annotations, BehindError
from pyramidion.annotation.log import Event
from pyramidion.store import migrations, schema
from pyramidion.store.database import Database
from pyramidion.store.studies import Studies


def event(number: int, author: str = "anna") -> Event:
    unit = AddUnit(str(number), f"{author} é 👩‍👩‍👧 \x00 {number}")
    return Event(number, author, unit, number, (("unit", str(number)),), 1.5)


def test_annotations_are_begun_once_under_a_name(database: Database) -> None:
    store = Annotations(database)
    made = store.add("t", "pyramid", name="anna", owner="anna", sources="AB", events=[event(0), event(1)])
    peer = store.add("t", "peer", system="s", name="anna", owner="anna", shared=True, pyramid_id=made.id)
    assert (made.shared, peer.shared, peer.pyramid_id) == (False, True, made.id)
    assert store.get(peer.id) == peer == store.find("t", "peer", system="s", name="anna")
    assert store.all() == [made, peer]
    assert store.get(made.id).sources == ("A", "B")
    assert store.all(kind="peer") == [peer]
    assert store.all(topic="other") == []
    assert (store.version(made.id), store.version(peer.id)) == (2, 0)
    with pytest.raises(pyr.UsageError, match="topic t: the pyramid already has an annotation called 'anna'"):
        store.add("t", "pyramid", name="anna", owner="ben")
    with pytest.raises(pyr.UsageError, match="there is no annotation 99"):
        store.get(99)
    with pytest.raises(pyr.UsageError, match="there is no annotation 99"):
        store.append(99, event(0))


def test_events_are_read_from_a_version_on(database: Database) -> None:
    store = Annotations(database)
    first, second = (store.add("t", "pyramid", name=name, owner=name) for name in ("anna", "ben"))
    for number in range(12):
        store.append(first.id, event(number))
    store.append(second.id, event(0, "ben"))
    assert store.since(first.id) == [event(number) for number in range(12)]
    assert store.since(first.id, 10) == [event(10), event(11)]
    assert store.since(first.id, 12) == []
    assert store.since(second.id) == [event(0, "ben")]


def test_the_time_at_work_is_without_pauses(database: Database) -> None:
    """From the beginning through all changes; whoever makes none for five minutes has left the desk."""
    store = Annotations(database, clock=lambda: 1000.0)
    times = {"anna": (1020.0, 1050.0, 9050.0, 9350.0), "ben": (1000.0,), "cy": ()}
    ids = {}
    for name, moments in times.items():
        made = [replace(event(number, name), at=at) for number, at in enumerate(moments)]
        ids[name] = store.add("t", "pyramid", name=name, owner=name, events=made).id
    assert store.activity() == {ids["anna"]: (4, 9350.0, 20 + 30 + 300), ids["ben"]: (1, 1000.0, 0)}


def test_a_third_remembers_the_two_that_it_settles(database: Database) -> None:
    store = Annotations(database)
    one, two = (store.add("t", "pyramid", name=name, owner=name).id for name in ("anna", "ben"))
    third = store.add("t", "pyramid", name="both", owner="cy", adjudicates=[two, one])
    assert store.get(third.id) == third
    assert (third.adjudicates, store.get(one).adjudicates) == ((two, one), ())


def test_a_database_from_before_thirds_opens(place: str) -> None:
    database = Database.create(place, title="Old")
    made = Annotations(database).add("t", "pyramid", name="anna", owner="anna", events=[event(0)])
    with database.write() as connection:
        connection.execute(text("ALTER TABLE annotations DROP COLUMN adjudicates"))
        history = migrations._history
        connection.execute(delete(history).where(history.c.name == "adjudications"))
    database.close()
    again = Database.open(place)
    assert Annotations(again).all() == [made]
    again.close()


def test_whoever_is_behind_is_refused(database: Database) -> None:
    store = Annotations(database)
    id = store.add("t", "pyramid", name="both", owner="anna", shared=True).id
    store.append(id, event(0))
    store.append(id, event(1))
    with pytest.raises(BehindError):
        store.append(id, event(1, "ben"))
    with pytest.raises(BehindError):
        store.append(id, event(3, "ben"))  # no gaps
    assert store.since(id) == [event(0), event(1)]


def test_a_number_taken_between_look_and_write_is_refused(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Annotations(database)
    id = store.add("t", "pyramid", name="both", owner="anna", shared=True).id
    store.append(id, event(0))
    monkeypatch.setattr("pyramidion.annotation.events._version", lambda connection, id: 0)  # looked too early
    with pytest.raises(BehindError):
        store.append(id, event(0, "ben"))
    assert store.since(id) == [event(0)]


def test_writers_who_race_lose_nothing(place: str) -> None:
    """Two connections, as two processes have them: every number is written once, by whom the store said."""
    Database.create(place).close()
    databases = [Database.open(place) for _ in range(2)]
    id = Annotations(databases[0]).add("t", "pyramid", name="both", owner="anna", shared=True).id
    wrote: dict[str, list[int]] = {"anna": [], "ben": []}
    together = threading.Barrier(2)

    def work(author: str, database: Database) -> None:
        store, version = Annotations(database), 0
        together.wait()
        while len(wrote[author]) < 15:
            try:
                store.append(id, event(version, author))
                wrote[author].append(version)
                version += 1
            except BehindError:
                assert store.version(id) > version, "somebody was first"
                version = store.version(id)

    threads = [threading.Thread(target=work, args=pair) for pair in zip(wrote, databases, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = Annotations(databases[0]).since(id)
    assert [e.number for e in events] == list(range(30))
    for author, numbers in wrote.items():
        assert [e.number for e in events if e.author == author] == numbers
    for database in databases:
        database.close()


def test_a_database_from_before_gets_the_tables(place: str) -> None:
    database = Database.create(place, title="Old")
    with database.write() as connection:
        for table in (schema.annotation_events, schema.annotation_heads):
            table.drop(connection)
        history = migrations._history
        connection.execute(delete(history).where(history.c.name == "annotation_tables"))
    database.close()
    again = Database.open(place)
    assert again.meta["title"] == "Old"
    made = Annotations(again).add("t", "pyramid", name="anna", owner="anna")
    assert Annotations(again).all() == [made]
    with again.read() as connection:
        names = set(connection.execute(select(migrations._history.c.name)).scalars())
    assert names == {step.__name__ for step in migrations.STEPS}
    again.close()


def test_annotations_from_before_get_the_column(place: str) -> None:
    database = Database.create(place)
    made = Annotations(database).add("t", "pyramid", name="anna", owner="anna")
    with database.write() as connection:
        connection.execute(text("ALTER TABLE annotations DROP COLUMN stored"))
        connection.execute(delete(migrations._history).where(migrations._history.c.name == "stored_annotations"))
    database.close()
    again = Database.open(place)
    assert Annotations(again).all() == [made]
    again.close()


def test_what_was_done_and_what_was_stored(database: Database) -> None:
    store = Annotations(database)
    busy, idle = (store.add("t", "pyramid", name=name, owner=name) for name in ("anna", "ben"))
    store.append(busy.id, event(0))
    store.append(busy.id, event(1))
    assert store.activity() == {busy.id: (2, 1.5, 0)}
    store.mark_stored(busy.id, 2)
    assert (store.get(busy.id).stored, store.get(idle.id).stored) == (2, None)


def test_records_are_replaced_whole_or_not_at_all(database: Database) -> None:
    studies = Studies(database)
    pyramids = tuple(pyr.Pyramid(topic, (), (), "mine") for topic in ("t", "u"))
    studies.add(pyr.Study(topics=(pyr.Topic("t"), pyr.Topic("u")), pyramids=pyramids))
    changed = pyr.Study(pyramids=(pyr.Pyramid("t", ("A",), (), "mine"),))

    def nothing(judgments: pyr.Judgments) -> NDArray[np.bool_]:
        return np.zeros(len(judgments), dtype=bool)

    def fail() -> None:
        with studies.changing():
            studies.put(changed, topic="t", pyramids={"mine"}, judgments=nothing)
            raise RuntimeError

    before = studies.newest()
    with pytest.raises(RuntimeError):
        fail()
    assert studies.load().pyramids == pyramids
    for _ in range(2):
        with studies.changing():
            assert studies.load().pyramid("u", "mine") == pyramids[1]
            studies.put(changed, topic="t", pyramids={"mine"}, judgments=nothing)
        assert studies.newest() > before, "other processes see by the newest record that something changed"
        before = studies.newest()
    assert studies.load().pyramids == (pyramids[1], changed.pyramids[0])
