"""How fast judgments become scores: python benchmarks/scoring.py [--write]

Times the whole Lightweight Pyramids chain (screening, majority, scores, missing-data report) at 10^4, 10^5 and 10^6
judgments in random order, and beside it, in the same run, a plain pandas group-by majority vote without screening or
report. Each is the best of five; memory is the peak above what the data itself takes, measured in a separate pass.

The second table has what the chain is made of, on 10^6 judgments, beside pandas: adding two halves, taking every second
row, grouping by topic, system and unit. The frame's columns of names are categories, which is what ours are.
"""

from __future__ import annotations

import argparse
import platform
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas

from pyramidion.scoring import lite
from pyramidion.study import Column, ContentUnit, Contributor, Judge, Judgments, Pyramid, Study, Summary, Topic
from pyramidion.study.judgments import group

TARGET = Path(__file__).parent / "results" / "scoring.md"
UNITS, JUDGES_PER_UNIT, TOPICS = 20, 5, 25


def make_study(judgment_count: int) -> Study:
    """25 topics x 20 units x 5 of 50 workers; as many systems as it takes."""
    rng = np.random.default_rng(7)
    systems = judgment_count // (TOPICS * UNITS * JUDGES_PER_UNIT)
    shape = (TOPICS, systems, UNITS, JUDGES_PER_UNIT)
    order = rng.permutation(TOPICS * systems * UNITS * JUDGES_PER_UNIT)  # answers arrive in any order
    topic, system, unit, slot = (part.ravel()[order] for part in np.indices(shape, dtype=np.int32))
    judge = ((topic * 7 + system * 3 + slot) % 50).astype(np.int32)
    truth = rng.random((TOPICS, systems, UNITS))[topic, system, unit] < 0.35
    value = np.where(rng.random(len(topic)) < 0.1, ~truth, truth).astype(np.float64)
    topics = [f"topic{i:02}" for i in range(TOPICS)]
    names = [f"system{i:03}" for i in range(systems)]
    units = [f"u{i:02}" for i in range(UNITS)]
    nothing = Column.repeat("", len(topic))
    return Study(
        topics=tuple(map(Topic, topics)),
        summaries=tuple(Summary(t, s, "text") for t in topics for s in names),
        pyramids=tuple(
            Pyramid(t, ("A",), tuple(ContentUnit(u, u, (Contributor("A"),)) for u in units), "crowd") for t in topics
        ),
        judges=tuple(Judge(f"worker{i:02}") for i in range(50)),
        judgments=Judgments.of_columns(
            topic=Column(topics, topic),
            system=Column(names, system),
            unit=Column(units, unit),
            aspect=nothing,
            judge=Column([f"worker{i:02}" for i in range(50)], judge),
            task=nothing,
            value=value,
        ),
    )


def as_frame(study: Study) -> pandas.DataFrame:
    judgments = study.judgments
    names = ("topic", "system", "unit", "judge")
    columns: dict[str, object] = {name: list(getattr(judgments, name)) for name in names}
    return pandas.DataFrame({**columns, "value": judgments.value})


def pandas_majority(frame: pandas.DataFrame) -> pandas.Series:
    present = frame.groupby(["topic", "system", "unit"])["value"].mean() > 0.5
    return present.groupby(["topic", "system"]).mean().groupby("system").mean()


def column_rows(study: Study, frame: pandas.DataFrame) -> list[str]:
    """One line per operation on columns, with the same operation of pandas."""
    judgments, count = study.judgments, len(study.judgments)
    names = ["topic", "system", "unit"]
    frame = frame.astype(dict.fromkeys((*names, "judge"), "category"))
    half = np.arange(count) % 2 == 0
    first, second = judgments.take(half), judgments.take(~half)
    frames = [frame[half], frame[~half]]
    asked = [judgments.topic, judgments.system, judgments.unit]
    operations: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "add two halves": (lambda: first + second, lambda: pandas.concat(frames, ignore_index=True)),
        "take half": (lambda: judgments.take(half), lambda: frame[half]),
        "group": (
            lambda: group(*(column.ranks() for column in asked)),
            lambda: frame.groupby(names, observed=True).ngroup(),
        ),
    }
    rows = ["| operation | ours, s | pandas, s | ratio |", "|---|---:|---:|---:|"]
    for name, (ours, theirs) in operations.items():
        mine, peer = best_of(5, ours), best_of(5, theirs)
        rows.append(f"| {name} | {mine:.4f} | {peer:.4f} | {mine / peer:.2f} |")
        print(rows[-1], flush=True)
    return rows


def best_of(times: int, run: Callable[[], object]) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak_mib(run: Callable[[], object]) -> float:
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"also write {TARGET}")
    rows = [
        "| judgments | chain, s | ns per judgment | peak MiB | pandas vote, s | ratio | without screening, s | ratio |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    write = parser.parse_args().write
    for count in (10_000, 100_000, 1_000_000):
        study = make_study(count)
        frame = as_frame(study)
        ours = lite.score(study, min_agreement=None).per_system("lite")
        theirs = pandas_majority(frame)
        assert all(abs((ours[str(s)] or 0) - v) < 1e-12 for s, v in theirs.items()), "the two must agree"
        chain = best_of(5, partial(lite.score, study))
        bare = best_of(5, partial(lite.score, study, min_agreement=None))
        peer = best_of(5, partial(pandas_majority, frame))
        memory = peak_mib(partial(lite.score, study))
        rows.append(
            f"| {len(study.judgments):,} | {chain:.3f} | {chain / count * 1e9:.0f} | {memory:.0f} | {peer:.3f} "
            f"| {chain / peer:.2f} | {bare:.3f} | {bare / peer:.2f} |"
        )
        print(rows[-1], flush=True)
    rows += ["", *column_rows(study, frame)]
    machine = (
        f"Python {platform.python_version()}, numpy {np.__version__}, pandas {pandas.__version__}, "
        f"{platform.system()} {platform.machine()}, 2 shared cores."
    )
    about = (__doc__ or "").split("\n\n", 1)[1].strip()
    text = "\n".join(["# Scoring judgments", "", about, "", *rows, "", machine, ""])
    if write:
        TARGET.parent.mkdir(exist_ok=True)
        TARGET.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
