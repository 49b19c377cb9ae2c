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
from pathlib import Path
from typing import NamedTuple

import numpy as np
from replays import MADE_UP, MODELS, Codes, Floats, Model, Parts, Population, cut, populations, whole_topics
from scipy.stats import t as student

from pyramidion.analysis.answer import Lines, Series
from pyramidion.stats.bounded import Bounds
from pyramidion.stats.combining import QUESTIONS, AskedParts, Combined, Question, combine

RESULTS = Path(__file__).parent / "results"
LABELS = Path(__file__).resolve().parents[2] / "shared" / "held-out"
REPLAYS, QUICK = 1000, 60
TOPICS = (10, 20, 50, 100)
SHARE, STRATA = 0.25, 3
ASKED_PER_STRATUM = 6
"""Fewer strata rather than fewer parts asked in one: degrees of freedom cost more than strata save."""
SHARES = (0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.65, 0.8)
RESAMPLES, PAIRS = 400, 45
Design = Callable[[Population, np.random.Generator], Parts]


def spread(part: int = 1, strata: int = 1, share: float = SHARE) -> Design:
    """Units of all topics; with strata, more where the model is unsure."""

    def drawn(population: Population, rng: np.random.Generator) -> Parts:
        most = int(share * len(population.topic) / part / ASKED_PER_STRATUM)
        return cut(population, rng, part=part, strata=max(1, min(strata, most)))

    return drawn


def pairs_of(systems: int) -> tuple[Codes, Codes]:
    return np.triu_indices(systems, 1)


def gaps(scores: Floats) -> Floats:
    return np.asarray(scores[:, None] - scores)


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


# -- coverage ----------------------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """``workers`` is how many answer each unit and system; 0 takes the label."""

    model: Model
    workers: int
    part: int = 1

    def __str__(self) -> str:
        said = ("label", "one answer", "two answers")[self.workers]
        return f"{self.model} | {said}" + (f" | {self.part}")


Coverage = dict[tuple[Question, str], float]
"""By question, and scores or differences."""


def coverage(whole: Population, topics: int, setting: Setting, replays: int) -> Coverage:
    """How often intervals contain the truth: topics are drawn with replacement, then what is asked about them."""
    rng = np.random.default_rng([topics, setting.workers])
    whole = whole.judged_by(setting.model, rng)
    if setting.workers:
        whole = whole.by_single_answers()
    design = spread(setting.part, STRATA)
    held: Coverage = {}
    for _ in range(replays):
        these = whole.only(rng.integers(0, whole.topics, topics))
        parts = design(these, rng)
        answers = these.answered(setting.workers, rng) if setting.workers else (None, None)
        estimate = combine(parts.asked(parts.allocated(SHARE), *answers))
        for question in QUESTIONS:
            truth = (these if question == "these" else whole).scores
            intervals = estimate.intervals(question)
            right = _contains(intervals.of_differences, gaps(truth))[pairs_of(whole.systems)]
            _count(held, (question, "scores"), _contains(intervals.of_scores, truth).mean() / replays)
            _count(held, (question, "differences"), right.mean() / replays)
    return held


def _contains(bounds: Bounds, truth: Floats) -> Floats:
    slack = 1e-9  # everything was asked: the interval is a point
    return np.asarray((bounds.low - slack <= truth) & (truth <= bounds.high + slack), np.float64)


def _count(held: Coverage, key: tuple[Question, str], more: float) -> None:
    held[key] = held.get(key, 0.0) + float(more)


def coverage_tables(labelled: Sequence[Population], replays: int) -> list[str]:
    cells: dict[tuple[str, Setting, int], Coverage] = {}
    for population in labelled:
        for workers in (0, 1, 2) if population.answers is not None else (0,):
            for setting in [Setting(model, workers) for model in MODELS]:
                for topics in TOPICS:
                    cells[population.name, setting, topics] = coverage(population, topics, setting, replays)
        for topics in TOPICS:
            setting = Setting("good", 0, 3)
            cells[population.name, setting, topics] = coverage(population, topics, setting, replays)
    figures = [value for held in cells.values() for value in held.values()]
    inside = sum(0.93 <= value <= 0.97 for value in figures)
    lines = [f"{inside} of {len(figures)} figures are within 93-97%; the others are in bold.", ""]
    for question, what in (("these", "These topics"), ("topics", "Topics of this kind")):
        lines += [f"### {what}", "", _COVERAGE_HEAD, "|---|---|---|---:" + "|---:" * len(TOPICS) + "|"]
        for name, setting in dict.fromkeys((name, setting) for name, setting, _ in cells):
            shown = (_shown(cells[name, setting, topics], question) for topics in TOPICS)
            lines.append(f"| {name} | {setting} | " + " | ".join(shown) + " |")
        lines.append("")
    return lines


_COVERAGE_HEAD = "| labels | model | truth by | units per part | " + " | ".join(f"{n} topics" for n in TOPICS) + " |"


def _shown(held: Coverage, question: str) -> str:
    values = (value for (asked, _), value in held.items() if asked == question)
    return " / ".join(f"{value:.1%}" if 0.93 <= value <= 0.97 else f"**{value:.1%}**" for value in values)


# -- intervals beside others -------------------------------------------------------------------------------------


def intervals(whole: Population, replays: int) -> list[str]:
    """Coverage for topics of this kind by our intervals, by plain t intervals and by a bootstrap over topics."""
    lines = []
    for topics in TOPICS:
        rng = np.random.default_rng(topics)
        one, other = pairs_of(whole.systems)
        chosen = rng.permutation(len(one))[:PAIRS]
        pairs = one[chosen], other[chosen]
        truth = np.concatenate([whole.scores, gaps(whole.scores)[pairs]])
        right = np.zeros((3, len(truth)))
        for _ in range(replays):
            these = whole.only(rng.integers(0, whole.topics, topics))
            parts = spread(1, STRATA)(these, rng)
            estimate = combine(parts.asked(parts.allocated(SHARE)))
            bounds = _ours(estimate, pairs), _by_t(estimate, pairs), _bootstrap(estimate, pairs, rng)
            right += [_contains(each, truth) for each in bounds]
        scores, differences = right[:, : whole.systems].mean(axis=1), right[:, whole.systems :].mean(axis=1)
        shown = [f"{a / replays:.1%} / {b / replays:.1%}" for a, b in zip(scores, differences, strict=True)]
        lines.append(f"| {whole.name} | {topics} | " + " | ".join(shown) + " |")
    return lines


def _ours(estimate: Combined, pairs: tuple[Codes, Codes]) -> Bounds:
    found = estimate.intervals("topics")
    low, high = (
        np.concatenate([a, b[pairs]]) for a, b in zip(found.of_scores, found.of_differences, strict=True)
    )  # fmt: skip
    return Bounds(low, high)


def _by_t(estimate: Combined, pairs: tuple[Codes, Codes]) -> Bounds:
    values = np.column_stack([estimate.by_topic, estimate.by_topic[:, pairs[0]] - estimate.by_topic[:, pairs[1]]])
    half = student.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return Bounds(values.mean(axis=0) - half, values.mean(axis=0) + half)


def _bootstrap(estimate: Combined, pairs: tuple[Codes, Codes], rng: np.random.Generator) -> Bounds:
    """Percentiles."""
    topics = len(estimate.by_topic)
    scores = rng.multinomial(topics, np.full(topics, 1 / topics), RESAMPLES) @ estimate.by_topic / topics
    low, high = np.quantile(
        np.column_stack([scores, scores[:, pairs[0]] - scores[:, pairs[1]]]), [0.025, 0.975], axis=0
    )
    return Bounds(low, high)


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
    for judgments in (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000, 4_000_000):
        asked = many(judgments, np.random.default_rng(0))
        took = []
        for _ in range(3):
            start = time.perf_counter()
            estimate = combine(asked)
            for question in QUESTIONS:
                estimate.intervals(question)
            took.append(time.perf_counter() - start)
        lines.append(f"| {judgments:,} | {len(asked.model_means):,} | {asked.people.shape[1]} | {min(took):.3f} |")
    return lines


def many(judgments: int, rng: np.random.Generator, systems: int = 50, units: int = 20) -> AskedParts:
    """So many judgments of people: a quarter of the units of each topic, one by one, in five strata."""
    parts = judgments // systems
    topics = max(2, parts * 4 // units)
    model = rng.random((parts, systems))
    people = (rng.random(model.shape) < model).astype(np.float64)
    stratum = rng.integers(0, 5, parts)
    return AskedParts(
        rng.integers(0, topics, parts),
        stratum,
        np.full(parts, 1 / units),
        people,
        model,
        np.bincount(stratum, minlength=5) * 4,
        rng.random((topics, systems)),
    )


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
COVERAGE = f"""
## Coverage of 95% intervals

{SHARE:.0%} of the judgments are asked of people. Topics are drawn from the collection with replacement: for "these
topics" the truth is what people say about all units of the topics drawn, for "topics of this kind" what they say about
the whole collection. Each cell: scores / differences between systems. A useless model is the good one shuffled, a
biased one adds .2 to its judgments of every second system. Where the truth is by answers, it is the mean of all answers
of single workers, of which one or two are drawn for each judgment. The standard error of a figure is about .3 to .7
points.
"""
INTERVALS = """## Beside other intervals

Topics of this kind, a good model, parts of one unit. Coverage of scores / differences by our intervals (Wilson's with
an effective number, and MOVER for differences), by mean ± t standard errors over topics, and by percentiles of a
bootstrap over topics.

| labels | topics | ours | t | bootstrap |
|---|---:|---:|---:|---:|"""
SPEED = """
## Speed

Estimates, covariances and all intervals of both questions, from arrays; the best of three. People were asked about a
quarter of the units.

| judgments of people | topics | systems | seconds |
|---:|---:|---:|---:|"""

if __name__ == "__main__":
    main()
