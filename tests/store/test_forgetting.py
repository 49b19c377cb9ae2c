"""Forgetting leaves nothing of a person, in no table and in no file, and everything that counts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import LargeBinary, Text, cast, insert, select
from tests.databases import Postgres

import pyramidion as pyr
from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.forgetting import DAY, ERASED, find_unsettled, forget_expired, forget_worker
from pyramidion.campaigns.management import decide_answers, decide_worker, invite_people
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.platforms.local import open_token
from pyramidion.campaigns.tasks import ATTENTION, Answer, JudgeAnswer, WriteAnswer
from pyramidion.campaigns.verification import verify
from pyramidion.campaigns.workers import Entry, tombstone
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Settings, Task
from pyramidion.study.blocks import unpack

ANNA = Arrival("connect", "participant-5f3a9c0d1e", "session-6a7b8c9d", "study-77aa88bb")
AGAIN = replace(ANNA, session="session-second-visit")
BEN, CARA = (Arrival("connect", f"participant-{name}", f"session-{name}", "study-77aa88bb") for name in ("ben", "cara"))
SAID = ("my daughter is ill, sorry", "copied from a private letter", "half-finished thought", "knows her neighbour")
"""A comment, a pasted text, a draft, and a reason for a decision."""


@dataclass
class Site:
    """A study in which Anna has written, judged, commented, pasted and begun something."""

    desk: CampaignDesk
    anna: Entry

    @property
    def database(self) -> Database:
        return self.desk.database

    def words(self) -> tuple[str, ...]:
        return (self.anna.worker, ANNA.external, ANNA.session, AGAIN.session, *SAID)


def start(desk: CampaignDesk, kind: str, name: str, **settings: object) -> None:
    chosen = Settings.for_kind(kind, **{"workers": 3, "check": False, "platform": "connect", **settings})  # type: ignore[arg-type]
    desk.start(plan(desk.material(), kind, name, chosen, topics=("museum-theft",)))  # type: ignore[arg-type]


def work(desk: CampaignDesk, entry: Entry, most: int, comment: str = "", pasted: tuple[str, ...] = ()) -> list[int]:
    """Submit up to so many tasks of a campaign; returns the answers' ids."""
    done = []
    for _ in range(most):
        lease = desk.assignments.lease(entry.campaign, entry.worker, entry.id)
        if lease is None:
            break
        desk.assignments.submit(lease.id, entry.worker, f"key {lease.id}", answer(desk, lease.task, comment, pasted))
        done.append(lease.id)
    return done


def answer(desk: CampaignDesk, task: Task, comment: str, pasted: tuple[str, ...]) -> Answer:
    if task.kind == "write":
        reference = desk.studies.load().summary(task.topic, task.references[0], "reference")
        assert reference is not None
        words = reference.text.split()[2 * bool(pasted) :]  # who pastes writes something else than the others
        return WriteAnswer(tuple(" ".join(words[5 * n : 5 * n + 6]) for n in range(8)), pasted, comment)
    rng = np.random.default_rng(len(task.id) + ord(task.system[0]))
    return JudgeAnswer({unit: int(rng.integers(2)) for unit in task.units if unit != ATTENTION}, comment)


@pytest.fixture
def site(database: Database, example: pyr.Study) -> Site:
    desk = CampaignDesk(database)
    desk.import_study(pyr.Study(topics=example.topics, summaries=example.summaries))
    start(desk, "write", "write", workers=2)
    for arrival in (ANNA, BEN, CARA):
        mine = arrival is ANNA
        entry = desk.workers.enter("write", arrival)
        work(desk, entry, 3, SAID[0] if mine else "fine", (SAID[1],) if mine else ())
    desk.store_units(desk.make_units("write"))
    start(desk, "judge", "judge", separate_writers=False, workers=3)
    anna = desk.workers.enter("judge", ANNA)
    again = desk.workers.enter("judge", AGAIN)
    done = work(desk, anna, 3, SAID[0]) + work(desk, again, 1)
    for arrival in (BEN, CARA):
        theirs = work(desk, desk.workers.enter("judge", arrival), 99)
    lease = desk.assignments.lease("judge", anna.worker, anna.id)
    assert lease is not None
    desk.assignments.save_draft(lease.id, anna.worker, {"comment": SAID[2]})
    decide_answers(desk, "approve", "judge", done[:1], actor="boss", reason=SAID[3])
    like_anna = f"as {anna.worker}, who is {ANNA.external} on the platform"
    decide_answers(desk, "approve", "judge", theirs[:1], actor="boss", reason=like_anna)
    decide_worker(desk, "bonus", anna.worker, actor="boss", reason=SAID[3], amount=0.5, campaign="judge")
    hear(desk, "m1", ANNA.session, time.time())
    hear(desk, "m2", BEN.session, time.time())
    study = desk.studies.load()
    AnnotationDesk(database, lambda: study).begin_pyramid("museum-theft", name="erin", owner="erin", start="crowd")
    return Site(desk, anna)


def hear(desk: CampaignDesk, id: str, session: str, sent: float) -> None:
    """Receive a platform's message about a session."""
    with desk.database.write() as connection:
        row = {"platform": "connect", "id": id, "session": session, "sent": sent}
        connection.execute(insert(schema.platform_events).values(row))


def tables(database: Database) -> dict[str, str]:
    """Every table as text; of judgments, the names that are packed in their blocks."""
    with database.read() as connection:
        found = {}
        for table in schema.metadata.sorted_tables:
            columns = [cast(c, Text) for c in table.c if not isinstance(c.type, LargeBinary)]
            found[table.name] = "\n".join(str(tuple(row)) for row in connection.execute(select(*columns)))
        packed = connection.execute(select(schema.blocks.c.body)).scalars()
        found["blocks"] += "\n".join(str(list(unpack(body).judgments)) for body in packed)
    return found


def files_with(database: Database, words: Iterable[str], running: Postgres | None) -> dict[str, list[str]]:
    """The files of a database in which any of some words is, byte by byte."""
    if database.sqlite:
        files = list(Path(database.shown).parent.glob(f"{Path(database.shown).name}*"))
    else:
        assert running is not None
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("CHECKPOINT")
            mine = connection.exec_driver_sql("SELECT oid FROM pg_database WHERE datname = current_database()").scalar()
        files = [path for path in running.data.glob(f"base/{mine}/*") if path.is_file()]
        assert len(files) > 100
    held = {path: content(path) for path in files}
    return {path.name: hits for path, raw in held.items() if (hits := [w for w in words if w.encode() in raw])}


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # PostgreSQL has just removed it
        return b""


@pytest.fixture
def running(request: pytest.FixtureRequest, database: Database) -> Postgres | None:
    return None if database.sqlite else request.getfixturevalue("server")


def test_nothing_of_the_person_is_left(site: Site, running: Postgres | None) -> None:
    before = tables(site.database)
    for word in site.words():
        assert any(word in text for text in before.values()), f"{word} is to be erased"
    for name in ("records", "annotation_events"):
        assert site.anna.worker in before[name], "she wrote units"
    assert files_with(site.database, site.words(), running)
    done = forget_worker(site.database, site.anna.worker)
    assert done.leftover is None
    for name, text in tables(site.database).items():
        assert [word for word in site.words() if word in text] == [], name
    assert files_with(site.database, site.words(), running) == {}
    assert set(done.erased) == {
        "platform ids",
        "platform sessions",
        "drafts",
        "comments",
        "pasted texts",
        "reasons",
        "author and judge ids",
        "annotation ids",
        "mentions",
    }
    assert (done.erased["platform ids"], done.erased["platform sessions"], done.erased["drafts"]) == (1, 3, 1)
    assert (done.erased["pasted texts"], done.erased["comments"]) == (3, 6)
    assert done.answers == 7
    assert before["forgotten"] == ""
    assert tombstone(site.database.secret, site.anna.worker) in tables(site.database)["forgotten"]
    assert verify(shown(site.database)).problems == ()


def shown(database: Database) -> str:
    return database.engine.url.render_as_string(hide_password=False)


def test_scores_and_places_stay_as_they_are(site: Site) -> None:
    before = pyr.score(site.desk.study(), "lite")
    progress = site.desk.campaigns.progress("judge")
    statements = [a.statements for a in site.desk.campaigns.answers("write")]
    forget_worker(site.database, site.anna.worker)
    after = pyr.score(site.desk.study(), "lite")
    assert list(after) == list(before)
    assert len(list(after)) > 5
    now = site.desk.campaigns.progress("judge")
    assert now == {**progress, "leased": 0, "returned": 1, "open": progress["open"] + 1}, "her draft's place is free"
    assert [a.statements for a in site.desk.campaigns.answers("write")] == statements
    excluded = site.desk.campaigns.answers("judge")[0].worker
    assert excluded.startswith("forgotten-")


def test_a_dry_run_counts_the_same_and_changes_nothing(site: Site) -> None:
    before = tables(site.database)
    counted = forget_worker(site.database, site.anna.worker, dry_run=True)
    assert tables(site.database) == before
    done = forget_worker(site.database, site.anna.worker)
    assert (done.erased, done.answers) == (counted.erased, counted.answers)
    with pytest.raises(pyr.UsageError, match="unknown worker"):
        forget_worker(site.database, site.anna.worker)


def test_whoever_comes_again_has_the_places_they_had_and_no_others(site: Site) -> None:
    desk = site.desk
    had = {a.task.id for a in desk.campaigns.answers("judge") if a.worker == site.anna.worker}
    done = forget_worker(site.database, site.anna.worker)
    back = desk.workers.enter("judge", ANNA)
    assert back.worker == done.replacement != site.anna.worker
    assert desk.workers.get(site.anna.worker) is None, "a cookie with the old id is refused"
    work(desk, back, 99)
    mine = [a.task.id for a in desk.campaigns.answers("judge") if a.worker == back.worker]
    assert len(mine) == len(set(mine)) > len(had)
    assert had < set(mine)
    assert desk.workers.enter("judge", BEN).worker != back.worker
    again = forget_worker(site.database, back.worker)
    assert again.replacement != done.replacement
    assert desk.workers.enter("judge", ANNA).worker == again.replacement, "also after being forgotten twice"
    assert len({a.worker for a in desk.campaigns.answers("judge")}) == 3
    assert verify(shown(site.database)).problems == ()


def test_a_block_an_exclusion_and_used_tries_hold(site: Site) -> None:
    desk = site.desk
    for action in ("block", "exclude"):
        decide_worker(desk, action, site.anna.worker, actor="boss", reason=SAID[3])  # type: ignore[arg-type]
    desk.workers.record_check("judge", site.anna.worker, False, after=0)
    asking = Campaign("judge", "judge", Settings(consent="Freely."))
    desk.workers.record_consent(asking, site.anna.worker)
    assert forget_worker(site.database, site.anna.worker).erased["consents"] == 1
    back = desk.workers.enter("judge", ANNA)
    known = desk.workers.get(back.worker)
    assert known is not None
    assert known.blocked == ERASED
    assert desk.assignments.lease("judge", back.worker, back.id) is None
    assert desk.worker_decisions.exclusions() == {back.worker: ERASED}
    assert desk.workers.check_state("judge", back.worker) == (1, False)
    assert not desk.workers.has_agreed(asking, back.worker), "whoever comes again is asked again"
    assert desk.workers.consents("judge") == {}


def test_invitations_and_imports_know_who_was_forgotten(site: Site, example: pyr.Study) -> None:
    desk = site.desk
    [link] = invite_people(desk, "judge", ["Dora"], "http://x")
    person = open_token(site.database.secret, link.link.rsplit("/", 1)[1]).person
    entry = desk.workers.enter("judge", Arrival("local", person, study="judge"))
    assert entry.worker == link.worker
    exported = desk.study(keep_excluded=True)
    done = forget_worker(site.database, entry.worker)
    [again] = invite_people(desk, "judge", ["Dora"], "http://x")
    assert (again.link.rsplit("/", 1)[1], again.worker) == (link.link.rsplit("/", 1)[1], done.replacement)
    forget_worker(site.database, site.anna.worker)
    renamed = replace(exported, judges=(), judgments=pyr.Judgments(), tasks=(), assignments=())
    assert desk.import_study(renamed) == 0, "what was exported before comes back under the new ids"


def test_imported_workers_can_be_forgotten(database: Database, example: pyr.Study) -> None:
    desk = CampaignDesk(database)
    desk.import_study(example)
    before = pyr.score(desk.study(), "lite")
    worker = next(judge.id for judge in desk.studies.load().judges if judge.kind == "crowd")
    done = forget_worker(database, worker)
    assert set(done.erased) == {"author and judge ids"}
    assert not [name for name, text in tables(database).items() if worker in text]
    assert list(pyr.score(desk.study(), "lite")) == list(before)
    assert desk.import_study(example) == 0
    with pytest.raises(pyr.UsageError, match="unknown worker"):
        forget_worker(database, "expert")


def test_a_platform_id_that_is_a_word_changes_no_text(site: Site) -> None:
    """Some platforms let people choose their ids."""
    texts = [s.text for s in site.desk.studies.load().summaries]
    assert any("museum" in text for text in texts)
    odd = site.desk.workers.enter("judge", Arrival("connect", "museum", "session-odd", "study-77aa88bb"))
    decide_worker(site.desk, "exclude", odd.worker, actor="boss", reason="calls itself museum")
    forget_worker(site.database, odd.worker)
    assert [s.text for s in site.desk.studies.load().summaries] == texts


def test_servers_notice_that_the_study_changed(site: Site) -> None:
    before = site.desk.studies.newest()
    forget_worker(site.database, site.anna.worker)
    assert site.desk.studies.newest() > before


# -- who is owed something -----------------------------------------------------------------------------------


def test_nobody_is_forgotten_by_mistake_before_they_are_paid(site: Site) -> None:
    desk = site.desk
    start(desk, "judge", "paid", separate_writers=False, platform="prolific", platform_study="p1", completion_code="C1")
    entry = desk.workers.enter("paid", Arrival("prolific", "5f3a9c0d1e2f", "s1", "p1"))
    assert find_unsettled(site.database) == {}
    [first] = work(desk, entry, 1)
    refusals = ["told nothing about 1 answers"]
    decide_answers(desk, "approve", "paid", [first], actor="boss", reason="good")
    desk.decisions.tell([first], "tell-approve", actor="prolific", reason="good")
    for refusal in refusals:
        assert refusal not in find_unsettled(site.database).get(entry.worker, "")
    decide_worker(desk, "bonus", entry.worker, actor="boss", reason="good", amount=0.5, campaign="paid")
    with pytest.raises(pyr.UsageError, match=r"a bonus of 0\.5 for paid is not paid; settle"):
        forget_worker(site.database, entry.worker)
    payment, _ = desk.payments.intend("paid", entry.id, Decimal(0))
    with pytest.raises(pyr.UsageError, match=f"payment {payment} for paid is intended"):
        forget_worker(site.database, entry.worker)
    desk.payments.move(payment, "intended", "paid", reference="bonus-of-5f3a")
    work(desk, entry, 1)
    with pytest.raises(pyr.UsageError, match="told nothing about 1 answers to paid"):
        forget_worker(site.database, entry.worker)
    done = forget_worker(site.database, entry.worker, unpaid=True)
    assert done.erased["payment references"] == 1
    assert not any("bonus-of-5f3a" in text for text in tables(site.database).values())
    [kept] = desk.payments.all("paid")
    assert (kept.worker, kept.amount, kept.state) == (done.replacement, Decimal("0.5"), "paid")


# -- retention -----------------------------------------------------------------------------------------------


def set_days(site: Site, **days: int) -> None:
    with site.database.write() as connection:
        for name, keep in days.items():
            settings = replace(site.desk.campaigns.get(name).settings, keep_days=keep)
            connection.execute(schema.campaigns.update().filter_by(name=name).values(settings=settings.as_dict()))


def test_campaigns_are_kept_as_long_as_their_setting_says(site: Site, running: Postgres | None) -> None:
    def later(days: float) -> float:
        return time.time() + days * DAY

    before = tables(site.database)
    assert forget_expired(site.database, clock=lambda: later(10_000)).campaigns == (), "0 keeps everything"
    set_days(site, write=30)
    assert forget_expired(site.database, clock=lambda: later(29)).campaigns == ()
    planned = forget_expired(site.database, clock=lambda: later(31), dry_run=True)
    assert tables(site.database)["assignments"] == before["assignments"]
    done = forget_expired(site.database, clock=lambda: later(31))
    assert done == planned
    assert done.campaigns == ("write",)
    assert done.erased == {"platform sessions": 3, "comments": 7, "pasted texts": 3}
    left = tables(site.database)
    assert SAID[1] not in left["assignments"]
    assert left["identities"] == before["identities"], "the other campaign needs them"
    assert SAID[0] in left["assignments"]

    set_days(site, write=30, judge=60)
    scores = list(pyr.score(site.desk.study(), "lite"))
    done = forget_expired(site.database, clock=lambda: later(61))
    assert done.campaigns == ("write", "judge")
    assert done.erased == {"platform ids": 3, "platform sessions": 4, "comments": 3, "drafts": 1}
    gone = (ANNA.external, ANNA.session, AGAIN.session, BEN.external, BEN.session, *SAID[:3])
    left = tables(site.database)
    for name in ("identities", "entries", "assignments"):
        assert [word for word in gone if word in left[name]] == []
    assert set(files_with(site.database, gone[1:], running)) == set()
    assert list(pyr.score(site.desk.study(), "lite")) == scores
    assert forget_expired(site.database, clock=lambda: later(62)).erased == {}, "nothing is left to erase"
    assert site.desk.workers.enter("judge", ANNA).worker == site.anna.worker, "pseudonyms stay"


def test_messages_about_nobody_here_are_not_kept_either(site: Site) -> None:
    now = time.time()
    hear(site.desk, "old", "session-of-a-stranger", now - 31 * DAY)
    hear(site.desk, "new", "session-just-heard-of", now)
    hear(site.desk, "hers", ANNA.session, now - 31 * DAY)
    assert forget_expired(site.database).erased == {"platform sessions": 1}
    left = tables(site.database)["platform_events"]
    assert "session-of-a-stranger" not in left
    assert "session-just-heard-of" in left
    assert ANNA.session in left


def test_people_who_are_owed_something_are_kept_and_named(site: Site) -> None:
    desk = site.desk
    start(desk, "judge", "paid", separate_writers=False, platform="simulated", platform_study="p1", keep_days=1)
    owed = desk.workers.enter("paid", Arrival("simulated", "sim-1", "session-owed", "p1"))
    free = desk.workers.enter("paid", Arrival("simulated", "sim-2", "session-free", "p1"))
    work(desk, owed, 1)
    done = forget_expired(site.database, clock=lambda: time.time() + 2 * DAY)
    assert list(done.kept) == [owed.worker]
    assert "told nothing about 1 answers to paid" in done.kept[owed.worker]
    sessions = {entry.worker: entry.session for entry in desk.workers.entries("paid")}
    assert sessions == {owed.worker: "session-owed", free.worker: ERASED}


def test_every_table_about_people_is_on_the_page_about_privacy() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "privacy.md").read_text("utf-8")
    people = {schema.workers, schema.entries}
    about = {t.name for t in schema.metadata.sorted_tables if any(key.column.table in people for key in t.foreign_keys)}
    assert {"assignments", "entries", "identities", "payments", "reviews"} <= about
    assert not [name for name in about | {"workers", "records", "platform_events"} if f"`{name}`" not in page]
