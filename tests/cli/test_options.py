"""Every option of every command does something: it changes what comes out, or it is refused. None is ignored.

Each option has a probe in option_probes.py: a call without it and the same call with it. What they print and write is
compared, less the signature, which names options whether or not they were obeyed, and less times and random words: the
call without the option is made twice and must give the same. The test fails where an option has no probe.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.analysis.assessed_years import annotated_year
from tests.campaigns.designs import answer_all, desk_in_rounds, look_of, plan_in_rounds
from tests.campaigns.platforms.fake_prolific import STUDY as PLATFORM_STUDY
from tests.campaigns.platforms.fake_prolific import fake_prolific
from tests.cli.option_probes import (
    APPROVED,
    ASKED,
    BASE,
    BUILT,
    CORRECTED,
    DB,
    EMPTY,
    EVERYWHERE,
    KEPT,
    LONG,
    MODELLED,
    ORDERED,
    PAID,
    PARTLY,
    PROBES,
    RATED,
    RECEIPTS,
    REFUSED,
    REHEARSED,
    REJECTED,
    ROUNDS,
    SECOND,
    SMALL,
    SMALL_SECOND,
    STUDY,
    TABLE,
    TEXTS,
    TINY,
    WORKER,
    Probe,
    Words,
)
from tests.cli.running import run
from tests.combined_studies import rated_study, study_of
from typer.main import get_command

import pyramidion as pyr
from pyramidion import engines
from pyramidion.annotation.desk import AnnotationDesk
from pyramidion.campaigns import sync as platforms
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.platforms.prolific import Client
from pyramidion.campaigns.tasks import RateAnswer
from pyramidion.cli import demo
from pyramidion.cli.main import app
from pyramidion.engines import cluster
from pyramidion.errors import UsageError
from pyramidion.server import serving
from pyramidion.store.database import Database
from pyramidion.store.studies import Studies
from pyramidion.study import Aspect, Assignment, ContentUnit, Contributor, Judge, Judgment, Judgments, Score


def commands() -> Iterator[tuple[str, Any]]:
    def walk(command: Any, path: str) -> Iterator[tuple[str, Any]]:
        if hasattr(command, "commands"):
            for name, part in command.commands.items():
                yield from walk(part, f"{path} {name}".strip())
        else:
            yield path, command

    yield from walk(get_command(app), "")


def options(command: Any) -> list[str]:
    return [max(p.opts, key=len) for p in command.params if p.param_type_name == "option" and p.name != "help"]


ALL = {path: options(command) for path, command in commands()}

# -- files to ask about --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    whole = pyr.example()
    small = part_of(whole, ("museum-theft", "reef-nursery"), ("lead", "paraphrase", "vague"))
    tiny = part_of(whole, ("reef-nursery",), ("lead", "vague"))
    for name, study in ((STUDY, whole), (SECOND, two_annotators(whole)), (SMALL, small), (TINY, tiny)):
        pyr.save(study, folder / name)
    pyr.save(two_annotators(small), folder / SMALL_SECOND)
    pyr.save(with_assignments(whole), folder / ORDERED)
    tables = [pyr.score(whole, method) for method in ("pyramid", "lite")]
    scores = tuple(score for table in tables for score in table.scores)
    pyr.write_scores(pyr.ScoreTable(scores, tables[0].signature), folder / TABLE)
    rng = np.random.default_rng(0)
    long = [
        Score(f"t{t:02}", system, measure, float(rng.normal(0.1 * s, 0.3)))
        for t in range(24)
        for s, system in enumerate(("lead", "extract", "vague", "repeat"))
        for measure in ("modified", "lite")
    ]
    pyr.write_scores(pyr.ScoreTable.of_summaries(long, pyr.Signature.of("long")), folder / LONG)
    (folder / "people.txt").write_text("Anna Weber\nBen Okri\n")
    (folder / RECEIPTS).write_text('{"assignment": 4711, "key": "a key"}\n')
    (folder / "corpus.txt").write_text("\n".join(s.text.replace("\n", " ") for s in whole.summaries))
    done("auto train-wtmf corpus.txt -o wtmf.npz --dimensions 5 --rounds 2", folder)
    done(f"auto build {TINY} -o {BUILT}", folder)
    done(f"analyze grid {' '.join(KEPT)}", folder)
    unit = next(j.unit for j in small.judgments if j.judge == "annotator" and j.system == "lead" and j.value)
    topic = next(p.topic for p in small.pyramids if any(u.id == unit for u in p.units))
    about = {"topic": topic, "system": "lead", "unit": unit, "verdict": "not found"}
    (folder / CORRECTED).write_text(json.dumps(about))
    done(f"feedback {SMALL} -o made", folder)
    done(f"judge {SMALL} --judge lexical --save lexical.jsonl", folder)
    done(f"judge lexical.jsonl --judge align --save {MODELLED}", folder)
    make_years(folder)
    make_combined(folder)
    for path in list(folder.glob("*.jsonl")):
        broken = path.read_text("utf-8") + '{"type": "nonsense"}\n'
        path.with_name(f"broken-{path.name}").write_text(broken, "utf-8")
    for name in (TABLE, LONG):
        (folder / f"broken-{name}").write_text((folder / name).read_text() + "reef-nursery,lead,lite,good\n")
    make_databases(folder, small, tiny)
    make_rounds(folder / ROUNDS)
    return folder


def make_combined(folder: Path) -> None:
    """Studies in which people judged a part: as a design drew it, as nobody knows, and ratings."""
    study = study_of(topics=15)
    other = [replace(j, judge="other", value=1 - (j.value or 0)) for j in study.judgments if j.judge == "align"]
    both = replace(study, judges=(*study.judges, Judge("other", "model")), judgments=study.judgments + Judgments(other))
    pyr.save(both, folder / PARTLY)
    once = study_of(topics=15, drawn=False)
    pyr.save(once, folder / "unrecorded.jsonl")
    second = [replace(p, name="second", units=tuple(replace(u, id=f"s{u.id}") for u in p.units)) for p in once.pyramids]
    again = Judgments(replace(j, unit=f"s{j.unit}", value=1 - (j.value or 0)) for j in once.judgments)
    twice = replace(once, pyramids=(*once.pyramids, *second), judgments=once.judgments + again)
    pyr.save(twice, folder / "twice.jsonl")
    pyr.save(rated_study(), folder / RATED)
    rows = sorted({(task.topic, task.units[0]) for task in study.tasks})
    table = "".join(f"{topic},{unit},{0.4 if unit < 'u3' else 0.6}\n" for topic, unit in rows)
    (folder / "chances.csv").write_text("topic,unit,probability\n" + table)


def done(call: str, folder: Path) -> str:
    found = run(*call.split(), cwd=folder)
    assert found.returncode == 0, found.stderr
    return found.stdout


def part_of(study: pyr.Study, topics: tuple[str, ...], systems: tuple[str, ...]) -> pyr.Study:
    return replace(
        study,
        topics=tuple(t for t in study.topics if t.id in topics),
        summaries=tuple(
            s for s in study.summaries if s.topic in topics and (s.role == "reference" or s.system in systems)
        ),
        pyramids=tuple(p for p in study.pyramids if p.topic in topics),
        judgments=pyr.Judgments(j for j in study.judgments if j.topic in topics and j.system in systems),
        tasks=tuple(t for t in study.tasks if t.topic in topics and t.system in (*systems, "")),
    )


def with_assignments(study: pyr.Study) -> pyr.Study:
    """Workers answer in the order of their names, and leave every fifth unit blank."""
    crowd = study.judges_of("crowd")
    judgments = [
        replace(j, value=None) if j.judge in crowd and i % 5 == 0 else j for i, j in enumerate(study.judgments)
    ]
    works = sorted({(j.task, j.judge) for j in judgments if j.judge in crowd and j.task})
    assignments = tuple(Assignment(task, judge, id=f"{task}/{judge}") for task, judge in works)
    return replace(study, judgments=pyr.Judgments(judgments), assignments=assignments)


def two_annotators(study: pyr.Study) -> pyr.Study:
    """A second expert who misses every third unit, and head-to-head votes. Units of one reference are in it twice."""
    expert = study.judges_of("expert")
    mine = [j for j in study.judgments if j.judge in expert and j.unit]
    theirs = [replace(j, judge="second", value=0.0 if i % 3 == 0 else j.value) for i, j in enumerate(mine)]
    votes = [
        Judgment(topic.id, a, judge, float((i + len(judge) + ord(topic.id[0])) % 2), aspect="better", other=b)
        for topic in study.topics
        for judge in ("ann", "charlie")
        for i, (a, b) in enumerate((("lead", "paraphrase"), ("paraphrase", "vague"), ("vague", "lead")))
    ]
    votes += [replace(vote, aspect="clearer", value=1.0 - (vote.value or 0)) for vote in votes[::2]]
    return replace(
        study,
        pyramids=tuple(
            replace(p, units=tuple(map(twice, p.units))) if p.name == "expert" else p for p in study.pyramids
        ),
        judges=(*study.judges, Judge("second", "expert"), Judge("ann"), Judge("charlie")),
        aspects=(*study.aspects, Aspect("better", 0, 1), Aspect("clearer", 0, 1)),
        judgments=study.judgments + theirs + votes,
    )


def twice(unit: ContentUnit) -> ContentUnit:
    one = len(unit.contributors) == 1
    return (
        replace(unit, contributors=(*unit.contributors, Contributor(unit.contributors[0].reference))) if one else unit
    )


def make_years(folder: Path) -> None:
    rows: list[dict[str, Any]] = []
    for seed, year in enumerate(("2008", "2009", "2010")):
        study, table = annotated_year(seed, topics=6, systems=5, year=year[2:])
        pyr.save(study, folder / f"{year}.jsonl")
        pyr.write_scores(table, folder / f"{year}.csv")
        rows += [
            {"topic": topic, "system": system, **{name: table.value(system, name, topic) for name in table.measures}}
            for topic, system in table.per_summary(table.measures[0])
        ]
    with (folder / "wide.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def make_databases(folder: Path, small: pyr.Study, tiny: pyr.Study) -> None:
    pyr.save(replace(small, judgments=tiny.judgments), folder / "judged.jsonl")
    pyr.save(pyr.Study(topics=tiny.topics, summaries=tiny.summaries), folder / "texts.jsonl")
    for name, source in ((DB, "judged.jsonl"), (TEXTS, "texts.jsonl"), (EMPTY, "")):
        done(f"init {name} --password long-password", folder)
        if source:
            done(f"import {name} {source}", folder)
    done(f"campaign plan {TEXTS} write --yes --set workers=1 --set units_per_topic=4 --set statements=3", folder)
    done(f"campaign rehearse {TEXTS} write --in-place --yes --workers 3", folder)
    done(f"campaign plan {DB} judge --yes --set workers=3 --topic reef-nursery", folder)
    done(f"campaign rehearse {DB} judge --in-place --yes --workers 6 --abandon 0", folder)
    done(f"campaign plan {DB} judge --name open --yes --set workers=3 --topic reef-nursery", folder)
    done(f"campaign rehearse {DB} open --workers 3 --copy {REHEARSED}", folder)
    paid = f"--set platform=prolific --set platform_study={PLATFORM_STUDY} --set completion_code=DONE"
    done(f"campaign plan {DB} rate --name paid --yes {paid}", folder)
    workers = json.loads(done(f"campaign status {DB} judge --json", folder))[0]["workers"]
    names = dict(zip((WORKER, REJECTED, APPROVED), (worker["worker"] for worker in workers), strict=False))
    names[PAID] = rate_one(folder / DB)
    (folder / "names.json").write_text(json.dumps(names))
    done(f"campaign reject {DB} judge --worker {names[REJECTED]} --reason careless", folder)
    done(f"campaign approve {DB} judge --worker {names[APPROVED]}", folder)
    database = Database.open(folder / DB)
    study = Studies(database).load()
    desk = AnnotationDesk(database, lambda: study)
    pyramid = desk.begin_pyramid("reef-nursery", name="anna", owner="anna", start="expert").id
    desk.begin_peer("reef-nursery", "lead", name="anna", owner="anna", pyramid=pyramid, start="annotator")
    desk.begin_pyramid("reef-nursery", name="ben", owner="ben", start="expert")
    database.close()


def make_rounds(place: Path) -> None:
    """One campaign that has reached its goal, and one on Prolific with a look after its first round."""
    desk = desk_in_rounds(place)
    platform = {"platform": "prolific", "platform_study": PLATFORM_STUDY, "completion_code": "DONE"}
    desk.start(plan_in_rounds(desk.studies.load(), "due", **platform))
    for name, stay in (("judge", ()), ("due", ("fair", "good"))):
        answer_all(desk, name)
        desk.rounds.add_look(name, look_of(1, stay), "server")
    desk.rounds.stop("judge", 1)
    desk.database.close()


def rate_one(place: Path) -> str:
    """One answer of somebody who came from Prolific; the worker's id."""
    desk = CampaignDesk.open(place)
    entry = desk.workers.enter("paid", Arrival("prolific", "p-s1", "s1", PLATFORM_STUDY))
    lease = desk.assignments.lease("paid", entry.worker, entry.id)
    assert lease is not None
    desk.assignments.submit(lease.id, entry.worker, "a key of theirs", RateAnswer({}))
    desk.database.close()
    return entry.worker


@pytest.fixture(scope="module")
def outside(place: Path) -> Iterator[None]:
    """What is outside of a command: a server and processes that say how they would be started, Prolific that is here.

    The demo is about the small study, to be done sooner.
    """

    class Socket(NamedTuple):
        host: str
        port: int

        def getsockname(self) -> tuple[str, int]:
            return self.host, self.port

    def started(listening: Socket, processes: int) -> None:
        import os

        print(*listening, processes, {name: value for name, value in os.environ.items() if "PYRAMIDION" in name})

    def processes(count: int, *_rest: object) -> None:
        raise UsageError(f"{count} processes")

    def on_local_cluster(workers: int, *, dashboard: bool) -> None:
        raise UsageError(f"{workers} Dask workers, dashboard {dashboard}")

    with pytest.MonkeyPatch.context() as patch, fake_prolific() as prolific:
        prolific.add("s1")
        patch.setattr(serving, "bind", Socket)
        patch.setattr(serving, "serve", started)
        patch.setattr(engines, "ProcessPoolExecutor", processes)
        patch.setattr(cluster, "on_local_cluster", on_local_cluster)
        patch.setattr(platforms, "Client", partial(Client, base_url=prolific.url))
        patch.setattr(demo, "example", lambda: pyr.load(place / SMALL))
        yield


# -- what a call does ----------------------------------------------------------------------------------------------

Seen = tuple[int, str, dict[str, object]]
MASKED = (
    re.compile(r"pyramidion\|[^\"\n<]*"),
    re.compile(r"(?<=with the password )\S+"),
    re.compile(r'(?<="password": )"[^"]+"'),
    re.compile(r"(?<=/join/)[^\s\"]+"),
    re.compile(r"[0-9a-f]{64}"),  # a checksum over a database with its times
    re.compile(r"(?<=the study has )\d+|(?<=\"places\": )\d+"),
)
RANDOM = {"added", "created", "joined", "at", "leased", "expires", "submitted", "password", "key", "session", "arrived"}
"""Columns of a database with times and random words."""


def masked(text: str) -> str:
    for pattern in MASKED:
        text = pattern.sub("", text)
    return text


def seen(place: Path, folder: Path, command: str, words: Words) -> Seen:
    """The exit code, what was printed, and what was written. Only what the call names is there."""
    folder.mkdir()
    for path in place.iterdir():
        # A database may still have its newest rows in the file beside it.
        if any(path.name.removesuffix("-wal") in word for word in words):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
    names = json.loads((place / "names.json").read_text())
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    found = run(*command.split(), *(names.get(word, word) for word in words), cwd=folder)
    assert "Traceback" not in found.stderr, found.stderr
    said = masked(found.stdout + found.stderr).replace(str(folder), "")
    written = {
        str(path.relative_to(folder)): content(path)
        for path in folder.rglob("*")
        if path.is_file() and before.get(path) != path.read_bytes() and not path.suffix.startswith(".db")
    }
    # What was written to a database may still be in files beside it.
    written |= {path.name: rows(path) for path in folder.glob("*.db") if path.name in words}
    shutil.rmtree(folder)
    return found.returncode, re.sub(r"\s+", " ", said), written


def content(path: Path) -> object:
    try:
        return masked(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        return path.read_bytes()


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What a database holds, less its secret, times and random words."""
    found = {}
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        for table in set(tables) - {"migrations"}:
            columns = [row[1] for row in database.execute(f"pragma table_info({table})") if row[1] not in RANDOM]
            found[table] = database.execute(f"select {', '.join(columns)} from {table}").fetchall()
        kept = database.execute("select key, value from meta where key != 'secret'")
        found["meta"] = [(key, re.sub(r'"at": [0-9.]+', "", value)) for key, value in kept]
    return found


@cache
def without(place: Path, folder: Path, command: str, words: tuple[str, ...]) -> Seen:
    """What a call does that is the same every time."""
    first, again = (seen(place, folder, command, list(words)) for _ in range(2))
    assert first == again, f"{command} {' '.join(words)} is not the same every time"
    assert any(first), f"{command} {' '.join(words)} does nothing"
    return first


# -- every option --------------------------------------------------------------------------------------------------


def probe(command: str, option: str) -> Probe | None:
    generic = EVERYWHERE | (ASKED if "--plot" in ALL[command] else {})
    found = PROBES.get(command, {}).get(option, generic.get(option))
    if option == "--lenient":
        with_errors = (STUDY, SECOND, SMALL, SMALL_SECOND, TINY, BUILT, MODELLED, PARTLY, TABLE, LONG, "2008.jsonl")
        return [f"broken-{word}" if word in with_errors else word for word in BASE[command]], ["--lenient"]
    if found is None:
        return None
    return found if isinstance(found, tuple) else (BASE[command], found)


def named(part: object) -> str:
    """A part of a test's id; of a call its last words."""
    return "beside-" + "-".join(part[-2:]) if isinstance(part, list) else str(part).replace(" ", "-").strip("-")


CASES = [(command, option) for command, held in ALL.items() for option in held]


def test_every_option_has_a_probe() -> None:
    without_probe = [f"{command} {option}" for command, option in CASES if probe(command, option) is None]
    assert without_probe == [], "add one that shows what it changes"


@pytest.mark.slow
@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(("command", "option"), CASES, ids=named)
def test_every_option_changes_something_or_is_refused(command: str, option: str, place: Path, tmp_path: Path) -> None:
    found = probe(command, option)
    assert found is not None, "has no probe"
    call, added = found
    plain = without(place, tmp_path.parent / "without", command, tuple(call))
    assert seen(place, tmp_path / "with", command, [*call, *added]) != plain


def test_there_is_no_probe_of_an_option_that_is_gone() -> None:
    assert {(command, option) for command, held in PROBES.items() for option in held} <= set(CASES)
    assert set(BASE) <= set(ALL)


USELESS = [(command, call, option) for command, held in REFUSED.items() for call, option in held]


@pytest.mark.slow
@pytest.mark.usefixtures("outside")
@pytest.mark.parametrize(("command", "call", "option"), USELESS, ids=named)
def test_an_option_of_no_use_beside_others_is_refused(
    command: str, call: Words, option: str, place: Path, tmp_path: Path
) -> None:
    assert without(place, tmp_path.parent / "without", command, tuple(call))[0] == 0
    code, said, _ = seen(place, tmp_path / "with", command, [*call, *option.split()])
    assert code == 2
    assert f"{option.split()[0]} has no effect " in said
