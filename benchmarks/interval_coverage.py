"""How often intervals from people and a model contain the truth: what `combine.py` tells about coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from replays import MODELS, SHARE, STRATA, Codes, Floats, Model, Population, gaps, pairs_of, spread
from scipy.stats import t as student

from pyramidion.stats.bounded import IntervalEnds
from pyramidion.stats.combining import LEAST_PARTS, QUESTIONS, Combined, Question, combine

TOPICS = (10, 20, 50, 100)
MOST = 0.6
"""A larger share than this is not a sample that a model could save much of."""
RESAMPLES, PAIRS = 400, 45


# -- coverage ----------------------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """``workers`` is how many answer each unit and system; 0 takes the label. The truth is what they say, or what all
    would say (``everybody``)."""

    model: Model
    workers: int = 0
    everybody: bool = True
    part: int = 1

    def __str__(self) -> str:
        said = ("the label", "one answer", "two answers")[self.workers]
        told = "" if not self.workers else ", of everybody" if self.everybody else ", of those asked"
        return f"{self.model} | {said}{told} | {self.part}"


def settings(population: Population) -> list[Setting]:
    found = [*(Setting(model) for model in MODELS), Setting("good", part=3)]
    if population.answers is not None:
        found += [Setting(model, 1, False) for model in MODELS]
        found += [Setting(model, number) for number in (1, 2) for model in MODELS]
    return found


Coverage = dict[tuple[Question, str], float]
"""By question, and scores or differences."""


def coverage(whole: Population, topics: int, setting: Setting, replays: int) -> Coverage:
    """How often intervals contain the truth: topics are drawn with replacement, then what is asked about them. Nothing
    where too few parts would be left for a sample."""
    share = max(SHARE, LEAST_PARTS / (len(whole.topic) / whole.topics * topics / setting.part))
    if share > MOST:
        return {}
    rng = np.random.default_rng([topics, setting.workers])
    whole = whole.judged_by(setting.model, rng)
    if setting.workers:
        whole = whole.by_single_answers()
    design = spread(setting.part, STRATA, share)
    held: Coverage = {}
    for _ in range(replays):
        these = whole.only(rng.integers(0, whole.topics, topics))
        parts = design(these, rng)
        said, noise = these.answered(setting.workers, rng) if setting.workers else (None, None)
        estimate = combine(parts.asked(parts.allocated(share), said, noise if setting.everybody else None))
        for question in QUESTIONS:
            truth = (these if question == "these" else whole).scores
            if said is not None and question == "these" and not setting.everybody:
                truth = these.topic_means(said).mean(axis=0)
            intervals = estimate.intervals(question)
            right = _contains(intervals.of_differences, gaps(truth))[pairs_of(whole.systems)]
            _count(held, (question, "scores"), _contains(intervals.of_scores, truth).mean() / replays)
            _count(held, (question, "differences"), right.mean() / replays)
    return held


def _contains(bounds: IntervalEnds, truth: Floats) -> Floats:
    slack = 1e-9  # everything was asked: the interval is a point
    return np.asarray((bounds.low - slack <= truth) & (truth <= bounds.high + slack), np.float64)


def _count(held: Coverage, key: tuple[Question, str], more: float) -> None:
    held[key] = held.get(key, 0.0) + float(more)


def coverage_tables(labelled: Sequence[Population], replays: int) -> list[str]:
    cells: dict[tuple[str, Setting, int], Coverage] = {}
    for population in labelled:
        for setting in settings(population):
            for topics in TOPICS:
                cells[population.name, setting, topics] = coverage(population, topics, setting, replays)
    figures = [
        value
        for (_, setting, _), held in cells.items()
        for (question, _), value in held.items()
        if setting.everybody or question == "these"
    ]
    inside = sum(0.93 <= value <= 0.97 for value in figures)
    lines = [f"{inside} of {len(figures)} figures are within 93-97%; the others are in bold.", ""]
    for question, what in (("these", "These topics"), ("topics", "Topics of this kind")):
        lines += [f"### {what}", "", _COVERAGE_HEAD, "|---|---|---|---:" + "|---:" * len(TOPICS) + "|"]
        for name, setting in dict.fromkeys((name, setting) for name, setting, _ in cells):
            if question == "topics" and not setting.everybody:
                continue
            shown = (_shown(cells[name, setting, topics], question) for topics in TOPICS)
            lines.append(f"| {name} | {setting} | " + " | ".join(shown) + " |")
        lines.append("")
    return lines


_COVERAGE_HEAD = "| labels | model | truth by | units per part | " + " | ".join(f"{n} topics" for n in TOPICS) + " |"


def _shown(held: Coverage, question: str) -> str:
    values = (value for (asked, _), value in held.items() if asked == question)
    return " / ".join(f"{value:.1%}" if 0.93 <= value <= 0.97 else f"**{value:.1%}**" for value in values) or "-"


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


def _ours(estimate: Combined, pairs: tuple[Codes, Codes]) -> IntervalEnds:
    found = estimate.intervals("topics")
    low, high = (
        np.concatenate([a, b[pairs]]) for a, b in zip(found.of_scores, found.of_differences, strict=True)
    )  # fmt: skip
    return IntervalEnds(low, high)


def _by_t(estimate: Combined, pairs: tuple[Codes, Codes]) -> IntervalEnds:
    values = np.column_stack([estimate.by_topic, estimate.by_topic[:, pairs[0]] - estimate.by_topic[:, pairs[1]]])
    half = student.ppf(0.975, len(values) - 1) * values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return IntervalEnds(values.mean(axis=0) - half, values.mean(axis=0) + half)


def _bootstrap(estimate: Combined, pairs: tuple[Codes, Codes], rng: np.random.Generator) -> IntervalEnds:
    """Percentiles."""
    topics = len(estimate.by_topic)
    scores = rng.multinomial(topics, np.full(topics, 1 / topics), RESAMPLES) @ estimate.by_topic / topics
    low, high = np.quantile(
        np.column_stack([scores, scores[:, pairs[0]] - scores[:, pairs[1]]]), [0.025, 0.975], axis=0
    )
    return IntervalEnds(low, high)


COVERAGE = f"""
## Coverage of 95% intervals

{SHARE:.0%} of the judgments are asked of people, or so many that {LEAST_PARTS} parts are asked, the fewest that the
analysis takes; "-" where that would be more than {MOST:.0%}. Topics are drawn from the collection with replacement: for
"these topics" the truth is what people say about all units of the topics drawn, for "topics of this kind" what they say
about the whole collection. Each cell: scores / differences between systems. A useless model is the good one shuffled, a
biased one adds .2 to its judgments of every second system.

Answers are those of single workers, one or two drawn for each judgment. The truth "of everybody" is the mean of all
answers that there are, which is what the analysis is about when answers are averaged; "of those asked" it is what the
workers drawn would say about everything, which is what it is about when the majority is taken for true. Nobody can tell
from single answers how much workers differ, so that all they say beyond the model is taken for it, which is cautious.
The standard error of a figure is .3 to .7 points.
"""
INTERVALS = """## Beside other intervals

Topics of this kind, a good model, parts of one unit. Coverage of scores / differences by our intervals (Wilson's with
an effective number, and MOVER for differences), by mean ± t standard errors over topics, and by percentiles of a
bootstrap over topics.

| labels | topics | ours | t | bootstrap |
|---|---:|---:|---:|---:|"""
