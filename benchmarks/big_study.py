"""How long a study of 10^6 judgments takes to write and to read, in every form that holds all of it:
python benchmarks/big_study.py [--write] [--judgments N]

25 topics, 20 units each, 50 workers, answers in random order, a tenth of them with a span as evidence. "Read" is from
the file to a `Study` in memory; "checked" adds what every command does before it uses a study (recognise the format,
look for contradictions). Each is the best of three, but JSON Lines are read once. Then, in the same study: the
Lightweight Pyramid scores, storing one annotation, and moving everything from SQLite to PostgreSQL and back with all
checksums.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow
import sqlalchemy

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from tests.databases import postgres  # noqa: E402

import pyramidion as pyr  # noqa: E402
from pyramidion import formats  # noqa: E402
from pyramidion.annotation.commands import AddUnit  # noqa: E402
from pyramidion.annotation.desk import AnnotationDesk  # noqa: E402
from pyramidion.annotation.exports import store_annotation  # noqa: E402
from pyramidion.campaigns.desk import CampaignDesk  # noqa: E402
from pyramidion.errors import Problems  # noqa: E402
from pyramidion.store.database import Database  # noqa: E402
from pyramidion.store.moving import move  # noqa: E402
from pyramidion.store.studies import Studies  # noqa: E402
from pyramidion.study import Span, Study, Summary  # noqa: E402
from scoring import make_study  # noqa: E402

TARGET = Path(__file__).parent / "results" / "big_study.md"
TIMES = 3


def seconds(act: Callable[[], object], times: int = TIMES) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        act()
        best = min(best, time.perf_counter() - start)
    return best


def big_study(judgments: int) -> Study:
    study = make_study(judgments)
    rows = np.flatnonzero(np.random.default_rng(3).random(judgments) < 0.1).tolist()
    evidence = {row: ((Span(row % 3, 4),),) for row in rows}
    topics = [topic.id for topic in study.topics]
    return replace(
        study,
        judgments=study.judgments.with_columns(evidence=evidence),
        summaries=(*study.summaries, *(Summary(topic, "A", "another text", "reference") for topic in topics)),
    )


def file_row(study: Study, path: Path, name: str, times: int) -> str:
    format = formats.get(name)
    wrote = seconds(lambda: formats.save(study, path, format=name), 1)
    read = seconds(lambda: format.read(path, Problems()), times)
    checked = seconds(lambda: pyr.load(path), times)
    return f"| {name} | {wrote:.1f} | {read:.2f} | {checked:.2f} | {path.stat().st_size / 1e6:.1f} |"


def database_row(study: Study, place: str, name: str) -> str:
    database = Database.create(place)
    wrote = seconds(lambda: Studies(database).add(study), 1)
    read = seconds(lambda: Studies(database).load())
    database.close()
    checked = seconds(lambda: pyr.load(place))
    size = f"{Path(place).stat().st_size / 1e6:.1f}" if "://" not in place else ""
    return f"| {name} | {wrote:.1f} | {read:.2f} | {checked:.2f} | {size} |"


def work_rows(place: str, target: str, back: str) -> list[str]:
    desk = CampaignDesk.open(place)
    study = desk.studies.load()
    score = seconds(lambda: pyr.score(study, "lite"))
    annotations = AnnotationDesk(desk.database, lambda: study)
    topic = study.topics[0].id
    mine = annotations.begin_pyramid(topic, name="anna", owner="anna")
    annotations.apply(mine.id, AddUnit("1", "A unit"), author="anna", base=0)
    store = seconds(lambda: store_annotation(annotations, desk.studies, mine.id))
    desk.database.close()
    there, home = seconds(lambda: move(place, target), 1), seconds(lambda: move(target, back), 1)
    return [
        f"| scores (lite) of the study in memory | {score:.2f} |",
        f"| store an annotation: its topic is read, checked and written | {store:.2f} |",
        f"| move from SQLite to PostgreSQL, with checksums | {there:.2f} |",
        f"| move back | {home:.2f} |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--judgments", type=int, default=1_000_000)
    chosen = parser.parse_args()
    study = big_study(chosen.judgments)
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        place = Path(folder)
        rows = [
            file_row(study, place / "study.jsonl", "jsonl", 1),
            file_row(study, place / "study.parquet", "parquet", TIMES),
            database_row(study, str(place / "study.db"), "database (SQLite)"),
            database_row(study, server.new_database(), "database (PostgreSQL)"),
        ]
        others = work_rows(str(place / "study.db"), server.new_database(), str(place / "back.db"))
    lines = [
        f"# A study of {chosen.judgments:,} judgments",
        "\n".join(str(__doc__).split("\n\n")[1].splitlines()),
        "| form | write, s | read, s | read and checked, s | MB |\n|---|---:|---:|---:|---:|\n" + "\n".join(rows),
        "| then | s |\n|---|---:|\n" + "\n".join(others),
        f"Python {platform.python_version()}, numpy {np.__version__}, pyarrow {pyarrow.__version__}, SQLAlchemy "
        f"{sqlalchemy.__version__}, {platform.system()} {platform.machine()}, 2 shared cores.",
    ]
    text = "\n\n".join(lines) + "\n"
    print(text)
    if chosen.write:
        TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
