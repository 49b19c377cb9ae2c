"""Automatic pyramids beside ROUGE: agreement with people, sanity with several references, throughput.

    python benchmarks/automatic.py [DATA] [--write]    # DATA has pyrxsum/, realsumm-half/ and gum-summaries/

DATA is ../shared/data by default. --write also writes benchmarks/results/automatic.md. Without DATA only the bundled
example and the throughput are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import pyramidion as pyr
from pyramidion.encoder.sentences import tokens
from pyramidion.evaluation import Evaluator, evaluate_study
from pyramidion.pyramids.choices import Choices
from pyramidion.study import ScoreTable, Study

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks/results/automatic.md"
ROUGE = ("rouge-1-recall", "rouge-1-f", "rouge-2-recall", "rouge-2-f", "rouge-l-recall", "rouge-l-f")
Doubles = NDArray[np.float64]


def pearson(a: Doubles, b: Doubles) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() and b.std() else float("nan")


def agreement(ours: Doubles, gold: Doubles) -> tuple[float, float]:
    """System-level Pearson, and the mean over topics of that over systems; both arrays are systems x topics."""
    levels = [pearson(a, b) for a, b in zip(ours.T, gold.T, strict=True)]
    return pearson(ours.mean(1), gold.mean(1)), float(np.nanmean(levels))


def interval(ours: Doubles, gold: Doubles, draws: int = 1000) -> list[tuple[float, float]]:
    """95% bootstrap over topics of both."""
    rng = np.random.default_rng(0)
    topics = gold.shape[1]
    found = []
    for _ in range(draws):
        rows = rng.integers(topics, size=topics)
        found.append(agreement(ours[:, rows], gold[:, rows]))
    low, high = np.nanpercentile(np.array(found), [2.5, 97.5], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def grid(table: ScoreTable, measure: str, systems: Sequence[str], topics: Sequence[str]) -> Doubles:
    values = table.per_summary(measure)
    return np.array([[values[topic, system] for topic in topics] for system in systems], float)


EXPERT = {
    "extent": "modified",
    "coverage": "modified",
    "quality": "original",
    "comprehensive": "comprehensive",
    "raw": "raw",
}
MARKS = re.compile(r"\s*</?t>\s*")
"""Where sentences begin and end in the references of REALSumm."""


def by_experts(study: Study) -> Iterator[str]:
    """Each score beside the same score by the expert pyramids."""
    experts = pyr.score(study, "pyramid", measures=list(dict.fromkeys(EXPERT.values())))
    bare = replace(study, pyramids=(), judgments=pyr.Judgments(), judges=(), tasks=(), assignments=())
    systems, topics = sorted(experts.systems), sorted(experts.topics)
    table = evaluate_study(bare, explain=False).table
    yield f"## Agreement with experts: the bundled example, {len(systems)} systems, {len(topics)} topics\n"
    yield "Pearson of each score with the same score by the expert pyramids.\n"
    yield "| score | expert's | all summaries | system level | mean summary level | greatest |"
    yield "|---|---|---|---|---|---|"
    for measure, expert in EXPERT.items():
        ours, gold = grid(table, measure, systems, topics), grid(experts, expert, systems, topics)
        system, summary = agreement(ours, gold)
        pooled = pearson(ours.ravel(), gold.ravel())
        yield f"| {measure} | {expert} | {pooled:.3f} | {system:.3f} | {summary:.3f} | {ours.max():.2f} |"
    yield ""


def accuracy(folder: Path, matchers: Sequence[str] = ("align", "wmin", "exact")) -> Iterator[str]:
    study = pyr.load(folder)
    study = replace(study, summaries=tuple(replace(s, text=MARKS.sub(" ", s.text).strip()) for s in study.summaries))
    human = pyr.score(study, "lite")
    systems, topics = sorted(human.systems), sorted(human.topics)
    gold = grid(human, "lite", systems, topics)
    bare = replace(study, pyramids=(), judgments=pyr.Judgments())
    yield f"## Agreement with people: {folder.name}, {len(systems)} systems, {len(topics)} references, no units given\n"
    yield "Pearson with the share of units that people found, 95% bootstrap intervals over documents. The shipped model"
    yield "was **trained on this collection** (on its labels, not on these pyramids), so the rows of `align` are too"
    yield "good; [Automatic evaluation](../../docs/explanation/automatic.md) has those of a model that has not seen it."
    yield ""
    yield "| metric | system level | | mean summary level | |"
    yield "|---|---|---|---|---|"

    def row(name: str, ours: Doubles) -> str:
        system, summary = agreement(ours, gold)
        low = interval(ours, gold)
        bounds = [f"{a:.3f} to {b:.3f}" for a, b in low]
        return f"| {name} | {system:.3f} | {bounds[0]} | {summary:.3f} | {bounds[1]} |"

    for matcher in matchers:
        table = evaluate_study(bare, Choices(matcher=matcher), explain=False).table
        measures = ("extent", "coverage", "quality", "comprehensive") if matcher == "align" else ("coverage",)
        for measure in measures:
            yield row(f"{matcher}, {measure}", grid(table, measure, systems, topics))
    if "wmin" in matchers:
        cosine = evaluate_study(bare, Choices(matcher="wmin", similarity="cosine"), explain=False).table
        yield row("wmin over cosines of clause vectors, coverage", grid(cosine, "coverage", systems, topics))
    rouge = pyr.score(bare, "rouge", measures=ROUGE)
    for measure in ROUGE:
        yield row(measure, grid(rouge, measure, systems, topics))
    length = {(s.topic, s.system): len(tokens(s.text)) for s in bare.peers}
    yield row("number of words", np.array([[length[t, s] for t in topics] for s in systems], float))
    yield ""


def several_references(path: Path) -> Iterator[str]:
    """Each human summary against the pyramid of the others, beside a summary of every other document."""
    documents = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    texts = [[s["text"] for s in d["summaries"] if s["by"].startswith("human")] for d in documents]
    texts = [found for found in texts if len(found) > 2]
    yield f"## Several references: {len(texts)} documents, {sum(map(len, texts))} human summaries\n"
    yield "Each summary is scored by the pyramid of the others, beside the first summary of every other document.\n"
    yield "| partitioner | own above all others | lowest own coverage, mean over documents | highest other | seconds |"
    yield "|---|---|---|---|---|"
    for partitioner in ("edua-x", "edua-g", "edua-c"):
        start, wins, total, lowest, highest = time.perf_counter(), 0, 0, [], []
        for number, own in enumerate(texts):
            foreign = {f"other{i}": found[0] for i, found in enumerate(texts) if i != number}
            margins = []
            for left_out, text in enumerate(own):
                rest = [other for i, other in enumerate(own) if i != left_out]
                table = pyr.evaluate(rest, {"own": text, **foreign}, partitioner=partitioner)
                scores = table.per_system("coverage")
                mine = scores.pop("own") or 0.0
                best = max(value or 0.0 for value in scores.values())
                wins, total = wins + (mine > best), total + 1
                margins.append((mine, best))
            lowest.append(min(m for m, _ in margins))
            highest.append(max(b for _, b in margins))
        seconds = time.perf_counter() - start
        own_low, other_high = np.mean(lowest), np.mean(highest)
        yield f"| {partitioner} | {wins} of {total} | {own_low:.2f} | {other_high:.2f} | {seconds:.0f} |"
    yield ""


def throughput(study: Study) -> Iterator[str]:
    """Peers of about 100 words a second against a prepared pyramid, and what grows with their number."""
    topic = study.topics[0].id
    references = {s.system: s.text for s in study.references if s.topic == topic}
    sentences = [s.strip() + "." for summary in study.summaries for s in summary.text.split(".") if len(s.split()) > 5]
    rng = np.random.default_rng(0)

    def peer(number: int) -> str:
        """About 100 words; a number in each sentence makes all sentences distinct."""
        words: list[str] = []
        while len(words) < 95:
            words += f"In {number}{len(words)} {sentences[rng.integers(len(sentences))]}".split()
        return " ".join(words)

    evaluator = Evaluator()
    pyramid = evaluator.builder.build(topic, references).pyramid
    yield "## Throughput: peers of about 100 words, all sentences distinct, against a prepared pyramid\n"
    yield "| peers | seconds | peers a second | processor seconds | peak memory, MB |"
    yield "|---|---|---|---|---|"
    for count in (100, 200, 400, 800):
        texts = [(str(i), peer(i)) for i in range(count)]
        start, used = time.perf_counter(), time.process_time()
        for _ in evaluator.score(pyramid, references, texts):
            pass
        seconds, used = time.perf_counter() - start, time.process_time() - used
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield f"| {count} | {seconds:.1f} | {count / seconds:.0f} | {used:.1f} | {memory:.0f} |"
    yield ""


def main() -> None:
    os.environ["PYRAMIDION_ENCODINGS_MB"] = "0"  # encodings.py measures what keeping them saves
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared/data")
    asked.add_argument("--write", action="store_true", help="also write benchmarks/results/automatic.md")
    options = asked.parse_args()
    data: Path = options.data
    lines = [
        "# Automatic pyramids\n",
        f"Made by `python benchmarks/automatic.py` on {os.cpu_count()} cores ({platform.machine()}), "
        f"Python {platform.python_version()}.\n",
    ]
    parts = [by_experts(pyr.example()), throughput(pyr.example())]
    if data.exists():
        several = several_references(data / "gum-summaries/dev.jsonl")
        parts[1:1] = [accuracy(data / "pyrxsum"), accuracy(data / "realsumm-half", ("align",)), several]
    for part in parts:
        for line in part:
            print(line, flush=True)
            lines.append(line)
    if options.write:
        RESULT.write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
