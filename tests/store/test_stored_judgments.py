"""Judgments in blocks, on both databases: what a topic's change reads, old databases, damage, and forgetting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray
from sqlalchemy import delete, func, insert, select, text, update
from tests.strategies import studies as any_study

import pyramidion as pyr
from pyramidion.annotation.commands import AddUnit
from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.annotation.exports import store_annotation
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.forgetting import forget_worker
from pyramidion.campaigns.verification import verify
from pyramidion.store import migrations, schema
from pyramidion.store.backup import count_contents
from pyramidion.store.database import Database
from pyramidion.store.stored_judgments import ROWS
from pyramidion.store.studies import Studies
from pyramidion.study import Judge, Judgment, Judgments, Study
from pyramidion.study.records import to_records


def counts(database: Database) -> tuple[int, int]:
    with database.read() as connection:
        tables = (schema.records, schema.blocks)
        records, blocks = (connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables)
    return records, blocks


def everything(judgments: Judgments) -> NDArray[np.bool_]:
    return np.ones(len(judgments), dtype=bool)


def test_judgments_are_in_blocks_by_topic_in_their_order(database: Database) -> None:
    rng = np.random.default_rng(3)
    given = Judgments(
        Judgment(f"t{topic}", f"s{row}", "ann", None if row % 3 == 0 else row, unit="u")
        for row, topic in enumerate(rng.integers(0, 2, 3 * ROWS).tolist())
    )
    studies = Studies(database)
    assert studies.add(Study(judgments=given)) == 3 * ROWS
    assert counts(database) == (0, 4), "two topics of one and a half blocks"
    assert studies.load().judgments == given
    assert studies.load("t1").judgments == given.take(given.topic.is_in({"t1"}))
    with database.read() as connection:
        assert count_contents(connection)["records"] == 3 * ROWS
    more = Judgments([Judgment("t0", "new", "ann", 1, unit="u"), Judgment("t9", "new", "ann", 1, unit="u")])
    studies.add(Study(judgments=more))
    assert studies.load().judgments == given + more


def test_a_topic_is_read_alone(database: Database, example: pyr.Study) -> None:
    studies = Studies(database)
    studies.add(example)
    topic = example.topics[1].id
    part = studies.load(topic)
    assert part.topics == (example.topics[1],)
    assert part.summaries == tuple(s for s in example.summaries if s.topic == topic)
    assert part.pyramids == tuple(p for p in example.pyramids if p.topic == topic)
    assert part.tasks == tuple(t for t in example.tasks if t.topic == topic)
    assert (part.judges, part.aspects, part.assignments) == (example.judges, example.aspects, ())
    assert list(part.judgments) == [j for j in example.judgments if j.topic == topic]
    assert [p for p in part.problems() if p.severity == "error"] == []


def test_other_processes_see_that_judgments_were_taken_out(database: Database) -> None:
    studies = Studies(database)
    studies.add(Study(judgments=Judgments([Judgment("t", "s", "ann", 1, unit="u")])))
    seen = {studies.newest()}
    for new in ([], [Judgment("t", "s", "ann", 0, unit="u")], []):
        with studies.changing():
            studies.put(Study(judgments=Judgments(new)), topic="t", judgments=everything)
        assert list(studies.load().judgments) == new
        assert studies.newest() > max(seen)
        seen.add(studies.newest())
    assert counts(database)[1] == 1


def test_storing_an_annotation_reads_nothing_of_other_topics(database: Database, example: pyr.Study) -> None:
    """Whatever is there: it cannot even be read."""
    studies = Studies(database)
    studies.add(example)
    topic, whole = example.topics[0].id, studies.load()
    desk = AnnotationDesk(database, lambda: whole)
    system = whole.peers[0].system
    pyramid = desk.begin_pyramid(topic, name="anna", owner="anna")
    desk.apply(pyramid.id, AddUnit("1", "A unit"), author="anna", base=0)
    peer = desk.begin_peer(topic, system, name="anna", owner="anna", pyramid=pyramid.id)
    with database.write() as connection:
        broken = update(schema.blocks).where(schema.blocks.c.topic != topic)
        assert connection.execute(broken.values(body=b"broken")).rowcount > 0
        others = update(schema.records).where(schema.records.c.topic != topic)
        assert connection.execute(others.values(body={"type": "broken"})).rowcount > 0

    def unreadable() -> Study:
        if database._shared is not None:
            raise AssertionError("the whole study is read inside the transaction")
        return whole

    made = store_annotation(AnnotationDesk(database, unreadable), studies, peer.id)
    assert (made.pyramids, made.judgments) == (1, 2), "one unit, and the unmatched content"
    held = studies.load(topic)
    assert held.pyramid(topic, "anna") is not None
    assert {(j.system, j.unit or j.aspect) for j in held.judgments if j.judge == "anna"} == {
        (system, "1"),
        (system, "unmatched"),
    }
    assert len(held.judgments) == sum(j.topic == topic for j in example.judgments) + 2


def test_a_damaged_block_is_named(database: Database, place: str, example: pyr.Study) -> None:
    studies = Studies(database)
    studies.add(example)
    with database.write() as connection:
        connection.execute(update(schema.blocks).filter_by(id=2).values(body=b"broken"))
        connection.execute(update(schema.blocks).filter_by(id=3).values(rows=1))
    with pytest.raises(pyr.UsageError, match=r"block 2 of the database: this is not a block of judgments"):
        studies.load()
    found = verify(place).problems
    assert [problem.where for problem in found] == ["block 2", "block 3"]


def as_before(database: Database, study: Study) -> None:
    """Put a study where releases before blocks had it."""
    with database.write() as connection:
        schema.blocks.drop(connection)
        for index in schema.records.indexes:
            if "topic" in index.columns:
                index.drop(connection)
        connection.execute(text("ALTER TABLE records DROP COLUMN topic"))
        history = migrations._history
        connection.execute(delete(history).where(history.c.name == "judgment_blocks"))
        rows = [{"type": r["type"], "body": r, "added": 1.0} for r in to_records(study) if r["type"] != "study"]
        rows = sorted(rows, key=lambda row: len(str(row["body"])))  # judgments between other records
        connection.execute(insert(schema.records), rows)


def test_a_database_with_a_row_per_judgment_is_brought_up_to_date(place: str, example: pyr.Study) -> None:
    database = Database.create(place, title="Old")
    as_before(database, example)
    database.close()
    again = Database.open(place)
    held = Studies(again).load()
    assert (len(held.judgments), set(held.topics)) == (len(example.judgments), set(example.topics))
    assert set(held.judgments) == set(example.judgments)
    records = (record for record in to_records(example) if record["type"] == "judgment")
    size = {judgment: len(str(record)) for judgment, record in zip(example.judgments, records, strict=True)}
    assert [size[judgment] for judgment in held.judgments] == sorted(size.values()), "in the order of their rows"
    topic = example.topics[2].id
    assert set(Studies(again).load(topic).judgments) == {j for j in example.judgments if j.topic == topic}
    assert Studies(again).load(topic).pyramids
    with again.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM records WHERE type = 'judgment'")).scalar_one() == 0
    again.close()


def test_an_old_row_that_cannot_be_used_is_named_and_nothing_is_changed(place: str, example: pyr.Study) -> None:
    database = Database.create(place)
    as_before(database, example)
    with database.write() as connection:
        broken = connection.execute(text("SELECT max(id) FROM records WHERE type = 'judgment'")).scalar_one()
        bad = update(schema.records).where(schema.records.c.id == broken)
        connection.execute(bad.values(body={"type": "judgment", "topic": "t"}))
    for _ in range(2):
        with pytest.raises(pyr.UsageError, match=f"record {broken} of the database cannot be used: field 'system'"):
            Database.open(place)
    with database.read() as connection:
        left = connection.execute(text("SELECT count(*) FROM records WHERE type = 'judgment'")).scalar_one()
    assert left == len(example.judgments)
    database.close()


def test_a_forgotten_judge_is_in_no_block(database: Database, example: pyr.Study) -> None:
    desk = CampaignDesk(database)
    desk.import_study(example)
    before = desk.studies.load().judgments
    worker = next(judge.id for judge in desk.studies.load().judges if judge.kind == "crowd")
    rows = before.judge.is_in({worker})
    done = forget_worker(database, worker)
    after = desk.studies.load().judgments
    assert worker not in after.judge.names
    assert after.judge.is_in({done.replacement}).tolist() == rows.tolist()
    assert done.erased["author and judge ids"] >= rows.sum() > 0
    assert np.array_equal(after.value, before.value, equal_nan=True)


def test_importing_twice_adds_nothing_and_a_change_is_added(database: Database, example: pyr.Study) -> None:
    desk = CampaignDesk(database)
    assert desk.import_study(example) > 0
    assert desk.import_study(example) == 0
    late = Study(
        judges=(Judge("late", "expert"),),
        judgments=Judgments([replace(example.judgments[0], judge="late", value=None, evidence=())]),
    )
    assert desk.import_study(late) == 2
    assert desk.studies.load().judgments[-1].judge == "late"


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(study=any_study())
def test_strange_studies_survive(tmp_path, study: Study) -> None:  # type: ignore[no-untyped-def]
    place = tmp_path / "strange.db"
    place.unlink(missing_ok=True)
    database = Database.create(place, title=study.title)
    Studies(database).add(study)
    assert Studies(database).load() == study
    database.close()
