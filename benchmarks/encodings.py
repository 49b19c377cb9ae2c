"""What a second run of `pyramidion judge` costs: python benchmarks/encodings.py [--write] [--data FOLDER] [--quick]

FOLDER holds 25 systems' summaries of several sentences in the Lite2-3Pyramid layout (REALSumm); its documents are
doubled with slightly changed words, so that every sentence is new. Without it, summaries are made up. The command runs
as a user runs it, in a process of its own: without a cache of encodings, with an empty one, and with the one that this
run has filled; in turns, the best of three. What they write is compared byte for byte.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pyramidion as pyr
from pyramidion.encoder.encodings import EncodingCache
from pyramidion.encoder.sentences import sentence_spans
from pyramidion.study import ContentUnit, Judgments, Pyramid, Study, Summary, Topic

TARGET = Path(__file__).parent / "results" / "encodings.md"
DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "realsumm-half"
CHANGED = {"the": "this", "a": "one", "an": "one", "his": "their", "her": "their", "said": "says", "to": "so as to"}
WORDS = (
    "river police mayor budget storm school court company price union bridge water vote strike fire island plant rose "
    "fell closed opened said argued banned raised killed moved promised denied the a in on of after before without"
)


def doubled(study: Study, pyramid: str) -> Study:
    """Each topic twice; the second time some of the small words are others."""

    def change(text: str) -> str:
        return re.sub(r"\b(the|an?|his|her|said|to)\b", lambda match: CHANGED[match[1]], text)

    pyramids = [
        replace(held, units=tuple(replace(unit, contributors=()) for unit in held.units))
        for held in study.pyramids
        if held.name == pyramid
    ]
    others = [
        replace(held, topic=f"{held.topic}-again", units=tuple(replace(u, label=change(u.label)) for u in held.units))
        for held in pyramids
    ]
    return replace(
        study,
        topics=(*study.topics, *(replace(topic, id=f"{topic.id}-again") for topic in study.topics)),
        summaries=(
            *study.summaries,
            *(replace(s, topic=f"{s.topic}-again", text=change(s.text)) for s in study.summaries),
        ),
        pyramids=(*pyramids, *others),
        judgments=Judgments(),
    )


def made_up(topics: int, systems: int, rng: np.random.Generator) -> Study:
    def text(sentences: int) -> str:
        parts = [rng.choice(WORDS.split(), 18).tolist() for _ in range(sentences)]
        return " ".join(" ".join(words).capitalize() + f" {rng.integers(10_000)}." for words in parts)

    names = [f"t{number:03}" for number in range(topics)]
    units = {name: tuple(ContentUnit(f"u{i}", text(1), ()) for i in range(11)) for name in names}
    return Study(
        topics=tuple(map(Topic, names)),
        summaries=(
            *(Summary(name, f"s{system:02}", text(3)) for name in names for system in range(systems)),
            *(Summary(name, "A", text(3), role="reference") for name in names),
        ),
        pyramids=tuple(Pyramid(name, ("A",), units[name], name="expert") for name in names),
    )


def part_of(study: Study, topics: int) -> Study:
    names = {topic.id for topic in study.topics[:topics]}
    return replace(
        study,
        topics=study.topics[:topics],
        summaries=tuple(s for s in study.summaries if s.topic in names),
        pyramids=tuple(held for held in study.pyramids if held.topic in names),
    )


class Run(NamedTuple):
    wall: float
    processor: float


def run(study: Path, target: Path, cache: Path, megabytes: int) -> Run:
    command = [sys.executable, "-m", "pyramidion", "judge", str(study), "--pyramid", "expert", "-o", str(target)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYRAMIDION_ENCODINGS_MB": str(megabytes)}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def best(runs: list[Run]) -> Run:
    return Run(min(run.wall for run in runs), min(run.processor for run in runs))


def measured(study: Study, times: int) -> str:
    labels = [unit.label for held in study.pyramids for unit in held.units]
    texts = [*(summary.text for summary in study.summaries), *labels]
    sentences = len({span.of(text) for text in texts for span in sentence_spans(text)})
    peers = sum(summary.role == "peer" for summary in study.summaries)
    systems = len({summary.system for summary in study.summaries if summary.role == "peer"})
    judgments = systems * len(labels)
    runs: dict[str, list[Run]] = {"without": [], "cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pyr.save(study, folder / "study.jsonl")
        for turn in range(times):
            cache = folder / f"cache{turn}"
            for kind, found in runs.items():
                most = 0 if kind == "without" else 2000
                found.append(run(folder / "study.jsonl", folder / f"{kind}.csv", cache, most))
        written = {(folder / f"{kind}.csv").read_bytes() for kind in runs}
        assert len(written) == 1, "scores differ with and without a cache"
        size = EncodingCache(cache / "pyramidion" / "encodings.sqlite", 0).content().size / 1e6
    without, cold, warm = (best(found) for found in runs.values())
    return (
        f"| {len(study.topics)} | {peers:,} | {sentences:,} | {judgments:,} | {without.wall:.1f} | {cold.wall:.1f} | "
        f"{warm.wall:.1f} | {judgments / without.wall:,.0f} | {judgments / warm.wall:,.0f} | "
        f"{without.wall / warm.wall:.1f} | {without.processor:.1f} | {cold.processor:.1f} | {warm.processor:.1f} | "
        f"{without.processor / warm.processor:.1f} | {size:.0f} | {1000 * size / sentences:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    real = options.data.is_dir()
    study = doubled(pyr.load(options.data), "expert") if real else made_up(100, 25, np.random.default_rng(0))
    sizes = (10,) if options.quick else (25, 50, 100)
    lines = [measured(part_of(study, size), 1 if options.quick else 3) for size in sizes]
    texts = "REALSumm (half of it, doubled with slightly changed words)" if real else "made-up texts"
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} shared cores"
    page = "\n".join([HEAD.format(texts=texts), *lines, "", f"Python {platform.python_version()}, {machine}.", ""])
    sys.stdout.write(page)
    if options.write:
        TARGET.write_text(page, "utf-8")


HEAD = """# What a second run costs

`pyramidion judge` from start to end, reading, starting Python and writing included, on {texts}: 25 systems' summaries
of several sentences. *Without* keeps no encodings, *first* begins with an empty cache and fills it, *second* finds all
sentences there; the difference is encoding. Scores are the same to the byte. The best of three in turns; seconds of the
clock move with whatever else the machine does, seconds of the processor less.

| topics | summaries | distinct sentences | judgments | without, s | first, s | second, s | judgments/s without | \
judgments/s second | times as fast | processor: without, s | first, s | second, s | times as fast | MB on disk | \
MB per 1,000 sentences |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""

if __name__ == "__main__":
    main()
