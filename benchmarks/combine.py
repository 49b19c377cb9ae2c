"""People and a model together, replayed on real labels: python benchmarks/combine.py [--quick] [--write]

Labels are in the folder that `--labels` names: what `models/held_out_judgments.py` wrote. Without them a made-up
population is replayed. Every replay draws what people are asked and hands it to `pyramidion.stats.combining`, which the
analysis uses. Ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from interval_coverage import COVERAGE, INTERVALS, coverage_tables, intervals
from replays import (
    LABELS,
    MADE_UP,
    SHARE,
    STRATA,
    Design,
    Floats,
    Population,
    as_study,
    cut,
    gaps,
    made_up,
    pairs_of,
    populations,
    spread,
    whole_topics,
)

from pyramidion.analysis.answer import Lines, Series
from pyramidion.analysis.combine import combine as combine_study
from pyramidion.stats.combining import QUESTIONS, AskedParts, Combined, Question, combine

RESULTS = Path(__file__).parent / "results"
REPLAYS, QUICK = 1000, 60
SHARES = (0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8)


# -- the error of differences ------------------------------------------------------------------------------------


def errors(population: Population, replays: int, share: float = 0.1) -> list[str]:
    """The mean squared error of differences between systems, with the same share asked by four designs."""
    lines = []
    for what, design in (
        ("whole topics", whole_topics),
        ("units of all topics", spread(share=share)),
        ("units of all topics, more where the model is unsure", spread(strata=STRATA, share=share)),
        ("parts of three units, more where the model is unsure", spread(3, STRATA, share)),
    ):
        rng = np.random.default_rng(1)
        found = np.zeros(2)
        judged = 0.0
        for _ in range(replays):
            parts = design(population, rng)
            asked = parts.asked(parts.allocated(share))
            judged += float((asked.share * population.sizes[asked.topic]).sum()) / len(population.topic)
            found += [_squared(combine(asked, with_model=used), population) for used in (False, True)]
        alone, both = found / replays
        lines.append(f"| {population.name} | {what} | {judged / replays:.1%} | {alone:.5f} | {both:.5f} |")
    return lines


def _squared(estimate: Combined, truth: Population) -> float:
    return float(np.mean((gaps(estimate.scores) - gaps(truth.scores))[pairs_of(truth.systems)] ** 2))


# -- judgments for the same width --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Widths:
    """Half the mean width of the intervals of scores or differences, by share asked; ``shares`` are those that were
    asked, which differ a little from those that were wanted."""

    shares: Floats
    widths: Floats

    def needed(self, width: float) -> float:
        """The share at which intervals are so wide: 1 / share - 1 is about proportional to the square of the width."""
        odds = np.log(1 / self.shares - 1)
        return float(1 / (1 + np.exp(np.interp(np.log(width), np.log(self.widths[::-1]), odds[::-1]))))


def widths(
    whole: Population, design: Callable[[float], Design], *, with_model: bool, replays: int
) -> dict[tuple[Question, str], Widths]:
    found = {(question, what): np.zeros(len(SHARES)) for question in QUESTIONS for what in ("scores", "differences")}
    asked_shares = np.zeros(len(SHARES))
    pairs = pairs_of(whole.systems)
    for place, share in enumerate(SHARES):
        rng = np.random.default_rng(place)
        for _ in range(replays):
            parts = design(share)(whole, rng)
            asked = parts.asked(parts.allocated(share))
            asked_shares[place] += (asked.share * whole.sizes[asked.topic]).sum() / len(whole.topic) / replays
            estimate = combine(asked, with_model=with_model)
            for question in QUESTIONS:
                each = estimate.intervals(question)
                wide = each.of_scores.high - each.of_scores.low
                found[question, "scores"][place] += wide.mean() / 2 / replays
                wide = (each.of_differences.high - each.of_differences.low)[pairs]
                found[question, "differences"][place] += wide.mean() / 2 / replays
    return {key: Widths(asked_shares, values) for key, values in found.items()}


Curves = dict[str, dict[tuple[Question, str], Widths]]


def curves(whole: Population, replays: int) -> Curves:
    return {
        "people, whole topics": widths(whole, lambda _: whole_topics, with_model=False, replays=replays),
        "people, units of all topics": widths(whole, lambda s: spread(share=s), with_model=False, replays=replays),
        "people and model": widths(whole, lambda s: spread(1, STRATA, s), with_model=True, replays=replays),
    }


def needed(name: str, found: Curves) -> list[str]:
    """For each share asked of people alone, what share gives intervals as wide with the model."""
    lines = []
    usual, alone, both = found.values()
    for what in ("scores", "differences"):
        for share in (0.1, 0.25, 0.5):
            cells = []
            for people in (alone, usual):
                curve = people["these", what]
                width = float(np.interp(share, curve.shares, curve.widths))
                curve = both["these", what]
                with_model = curve.needed(width)
                less = "< " if width > curve.widths.max() else ""
                cells.append(f"{width:.4f} | {less}{with_model:.1%} | {less}{with_model / share:.2f}")
            lines.append(f"| {name} | {what} | {share:.0%} | " + " | ".join(cells) + " |")
    return lines


def draw(found: dict[str, Curves], path: Path) -> None:
    """Width against the share of judgments, of the collection with most systems."""
    from pyramidion.report.plots import save

    name = "realsumm" if "realsumm" in found else next(iter(found))
    series = tuple(_series(label, each["these", "differences"]) for label, each in found[name].items())
    save(Lines(f"Intervals of differences between systems ({name})", "share of judgments asked of people",
               "half the width of a 95% interval", series), path)  # fmt: skip


def _series(label: str, curve: Widths) -> Series:
    return Series(label, tuple(curve.shares.round(3).tolist()), tuple(curve.widths.round(4).tolist()))


# -- speed -------------------------------------------------------------------------------------------------------


def speed(quick: bool) -> list[str]:
    lines = []
    for judgments in (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000):
        rng = np.random.default_rng(0)
        population = made_up(rng, topics=judgments // 1000, systems=50, units=20)
        parts = cut(population, rng, strata=STRATA)
        asked = parts.asked(parts.allocated(SHARE))
        study = as_study(population, rng.random(len(population.topic)) < SHARE)
        arrays = best_of(partial(_all_intervals, asked))
        whole = best_of(partial(combine_study, study, people="worker", assume_random=True))
        size = f"{len(study.judgments):,} | {population.topics:,} | {population.systems}"
        lines.append(f"| {size} | {arrays:.3f} | {whole:.2f} |")
    return lines


def _all_intervals(asked: AskedParts) -> None:
    estimate = combine(asked)
    for question in QUESTIONS:
        estimate.intervals(question)


def best_of(run: Callable[[], object], times: int = 3) -> float:
    took = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)
    return min(took)


# -- the page ----------------------------------------------------------------------------------------------------


def page(labelled: Sequence[Population], replays: int, *, quick: bool, figure: Path | None) -> Iterable[str]:
    yield TITLE.format(replays=f"{replays:,}")
    if labelled[0].name == MADE_UP:
        yield "**A made-up population**: these figures say nothing about real labels.\n"
    yield "| labels | topics | systems | units | judgments | r of model and people | r of differences |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    yield from map(_about, labelled)
    yield ERRORS
    for population in labelled:
        yield from errors(population, replays)
    found = {population.name: curves(population, max(20, replays // 10)) for population in labelled}
    yield NEEDED
    for name, each in found.items():
        yield from needed(name, each)
    if figure is not None:
        draw(found, figure)
        yield f"\n![Half the width of intervals against the share of judgments asked]({figure.name})"
    yield COVERAGE
    yield from coverage_tables(labelled, replays)
    yield INTERVALS
    for population in labelled:
        yield from intervals(population, replays)
    yield SPEED
    yield from speed(quick)
    machine = f"{platform.machine()}, {os.cpu_count()} shared cores"
    yield f"\nMade by `python benchmarks/combine.py --write` ({machine}, Python {platform.python_version()})."


def _about(population: Population) -> str:
    pairs = pairs_of(population.systems)
    ours, theirs = ((each[:, pairs[0]] - each[:, pairs[1]]).ravel() for each in (population.model, population.people))
    r = np.corrcoef(population.model.ravel(), population.people.ravel())[0, 1]
    return (
        f"| {population.name} | {population.topics} | {population.systems} | {len(population.topic)} | "
        f"{population.people.size:,} | {r:.3f} | {np.corrcoef(ours, theirs)[0, 1]:.3f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} replays instead of {REPLAYS:,}")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--labels", type=Path, default=LABELS)
    options = parser.parse_args()
    figure = RESULTS / "combine.svg" if options.write else None
    lines = []
    labelled = list(populations(options.labels))
    for line in page(labelled, QUICK if options.quick else REPLAYS, quick=options.quick, figure=figure):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        (RESULTS / "combine.md").write_text("\n".join(lines) + "\n", "utf-8")


TITLE = """# People and a model together

{replays} replays of everything below unless it says otherwise. What people said about all units of all summaries is the
truth; a replay draws what they are asked, and `stats/combining.py` estimates the rest with the help of a model.

PyrXSum and REALSumm (half of it) are judged by `align` with the encoder as it was before it was tuned, and an answer
fitted on other documents (`models/held_out_judgments.py`): a weaker judge than the shipped one, which has seen these
labels. QAPyramid comes without texts; its model is the majority with noise, so its rows show that the method works with
many units per topic, not how good a model is there.
"""
ERRORS = """
## The error of differences

A tenth of all judgments is asked of people. The mean squared error of the differences between systems, over all pairs.

| labels | what is asked | asked | people alone | people and model |
|---|---|---:|---:|---:|"""
NEEDED = """
## Judgments for the same width

Intervals about these topics, parts of one unit; with the model, more is asked where it is unsure. The first three
columns of figures compare with people who are asked about units of all topics at random, the next with the usual
design, whole topics. A tenth of the replays.

| labels | of | asked, people alone | half width, spread | asked with the model | ratio | half width, whole topics | asked with the model | ratio |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""  # noqa: E501
SPEED = """
## Speed

The model judged everything, people a quarter of it, and both count as judgments. From arrays: estimates, covariances
and all intervals of both questions; from a study: `pyr.combine`. The best of three.

| judgments | topics | systems | arrays, s | study, s |
|---:|---:|---:|---:|---:|"""

if __name__ == "__main__":
    main()
