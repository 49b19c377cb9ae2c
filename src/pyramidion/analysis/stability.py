"""How many units, topics and workers does it take? Shapira et al. 2019, section 4 and Figures 1 and 2.

From the judgments that were collected, evaluations with fewer units, topics or workers are drawn (70 of each size) and
their system scores correlated with a gold measure, which keeps all its topics, or with the full evaluation itself.
Within one draw sizes are nested: the third unit is added to the first two. Each size is a proper random draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple, get_args

import numpy as np

from pyramidion.analysis.answer import (
    Answer,
    Estimate,
    Figure,
    Intervals,
    Lines,
    Point,
    Scatter,
    Series,
    Table,
    count,
    listed,
)
from pyramidion.analysis.inputs import Floats, choose_measures, column_means, grid, measures_of
from pyramidion.analysis.votes import VoteArray, unit_votes
from pyramidion.engines import Advance, Where, ignore, mapped
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.stats.alpha import alpha
from pyramidion.stats.correlation import Correlation, Kind, correlation, row_correlations
from pyramidion.stats.intervals import blocks, percentile_interval
from pyramidion.study import ScoreTable, Signature, Study

Over = Literal["units", "topics", "workers"]
KINDS: tuple[Kind, ...] = ("pearson", "spearman")
DRAWN_AT_ONCE = 100
"""Repetitions that one worker draws."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The correlation at one size, over the draws: mean, spread and the middle 95%; None where all are undefined."""

    over: str
    size: int
    kind: str
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    undefined: int


@dataclass(frozen=True)
class Curves:
    gold: str
    systems: int
    topics: int
    points: tuple[CurvePoint, ...]

    def curve(self, over: str, kind: str = "pearson") -> tuple[CurvePoint, ...]:
        return tuple(p for p in self.points if (p.over, p.kind) == (over, kind))


def resampling(
    study: Study,
    gold: ScoreTable | None = None,
    *,
    gold_measure: str | None = None,
    over: Sequence[Over] = ("units", "topics", "workers"),
    kinds: Sequence[Kind] = KINDS,
    repetitions: int = 70,
    pyramid: str | None = None,
    judges: str | None = None,
    min_agreement: float | None = 0.5,
    seed: int = 0,
    engine: Where = None,
    advance: Advance = ignore,
) -> Answer[Curves]:
    """Correlation with the gold as a function of how much was judged. ``advance`` hears of every repetition."""
    for what in over:
        check_choice("what to draw", what, get_args(Over))
    if repetitions < 1:
        raise UsageError(f"repetitions must be at least 1, not {repetitions}")
    votes = unit_votes(study, pyramid=pyramid, judges=judges, min_agreement=min_agreement)
    name, target = gold_means(votes, gold, gold_measure)
    points = tuple(
        point
        for what, drawn in _drawn(votes, over, repetitions, seed, engine, advance)
        for point in _curve(drawn, target, what, kinds)
    )
    result = Curves(name, len(votes.systems), len(votes.topics), points)
    made = Signature.of(
        "stability", draw=over, gold=name, repetitions=repetitions, tie="absent", screen=min_agreement, seed=seed
    )
    tables = tuple(_table(result, what) for what in over)
    figures: tuple[Figure, ...] = tuple(_figure(result, what, kinds) for what in over)
    notes = (*votes.notes, *_undefined(points))
    return Answer("stability", _sentence(result, over, kinds[0]), tables, made, result, figures, notes)


def gold_means(votes: VoteArray, gold: ScoreTable | None, measure: str | None) -> tuple[str, Floats]:
    """What to correlate with: a gold measure's system means, or the scores of the full evaluation."""
    if gold is None:
        return "the full evaluation", column_means(votes.summary_scores())
    known = measures_of(gold)
    chosen = choose_measures(known, [measure or known[0].name])[0]
    means = gold.per_system(chosen.measure)
    shared = [system for system in votes.systems if means.get(system) is not None]
    if len(shared) < 2:
        raise UsageError(f"{chosen.name} scores {len(shared)} of the judged systems; a correlation needs at least 2")
    return chosen.name, np.array([np.nan if (v := means.get(s)) is None else v for s in votes.systems])


class _Draws(NamedTuple):
    """Repetitions that are drawn one after the other; each ``seed`` begins anew, so that all workers draw the same."""

    over: str
    seed: tuple[int, ...]
    repetitions: int


def _drawn(
    votes: VoteArray, over: Sequence[str], repetitions: int, seed: int, engine: Where, advance: Advance
) -> Iterator[tuple[str, Floats]]:
    """For each thing that is drawn the scores: repetitions x sizes x systems."""
    draws = [
        _Draws(what, (seed, place, number)[: 3 if number else 2], size)
        for place, what in enumerate(over)
        for number, size in enumerate(blocks(repetitions, DRAWN_AT_ONCE))
    ]
    scores = mapped(engine, partial(_draw, votes), draws, advance, size=attrgetter("repetitions"))
    for what, some in groupby(zip(draws, scores, strict=True), key=lambda pair: pair[0].over):
        yield what, np.concatenate([drawn for _, drawn in some])


def _draw(votes: VoteArray, draws: _Draws) -> Floats:
    draw = {"units": votes.with_units, "topics": votes.with_topics, "workers": votes.with_workers}[draws.over]
    rng = np.random.default_rng(draws.seed)
    return np.stack([draw(rng) for _ in range(draws.repetitions)])


def _curve(drawn: Floats, target: Floats, over: str, kinds: Sequence[Kind]) -> list[CurvePoint]:
    found = []
    for kind in kinds:
        r = row_correlations(drawn, target, kind)
        for size in range(1, r.shape[1] + 1):
            at = r[:, size - 1]
            defined = at[~np.isnan(at)]
            interval = percentile_interval(at)
            found.append(
                CurvePoint(
                    over,
                    size,
                    kind,
                    float(defined.mean()) if len(defined) else None,
                    float(defined.std(ddof=1)) if len(defined) > 1 else None,
                    interval.low if interval else None,
                    interval.high if interval else None,
                    len(at) - len(defined),
                )
            )
    return found


def _undefined(points: Sequence[CurvePoint]) -> list[Problem]:
    total = sum(point.undefined for point in points)
    if not total:
        return []
    what = (
        "had no correlation, because all systems were equal; they are left out of the means and counted in the tables"
    )
    return [Problem(count(total, "draw"), what, "warning")]


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Curves, over: Sequence[str], kind: str) -> str:
    parts = []
    for what in over:
        curve = [point for point in result.curve(what, kind) if point.mean is not None]
        if not curve:
            parts.append(f"{what}: undefined")
            continue
        end, middle = curve[-1], curve[(len(curve) - 1) // 2]
        parts.append(f"{middle.mean:.3f} with {middle.size} of {end.size} {what}")
    reached = [points[-1].mean for what in over if (points := result.curve(what, kind))]
    full = f"{reached[0]:.3f}" if reached and reached[0] is not None else "undefined"
    return f"{kind.capitalize()} with {result.gold} is {full} with all data and on average {'; '.join(parts)}."


def _table(result: Curves, over: str) -> Table:
    kinds = list(dict.fromkeys(p.kind for p in result.points))
    by_size = zip(*(result.curve(over, kind) for kind in kinds), strict=True)
    rows = tuple(
        (same[0].size, *(part for p in same for part in (p.mean, p.sd, p.low, p.high)), same[0].undefined)
        for same in by_size
    )
    columns = [f"{kind}{part}" for kind in kinds for part in ("", " sd", " low", " high")]
    return Table(
        f"Correlation with {result.gold} by number of {over}",
        (over, *columns, "undefined"),
        rows,
        "Mean over draws, their standard deviation, and the middle 95% of them.",
    )


def _figure(result: Curves, over: str, kinds: Sequence[Kind]) -> Lines:
    series = []
    for kind in kinds:
        curve = result.curve(over, kind)
        series.append(
            Series(
                kind,
                tuple(float(p.size) for p in curve),
                tuple(p.mean for p in curve),
                tuple(p.low for p in curve),
                tuple(p.high for p in curve),
            )
        )
    noun = "units per topic" if over == "units" else "workers per task" if over == "workers" else over
    return Lines(f"Correlation with {result.gold}", f"number of {noun}", "correlation", tuple(series))


# ----------------------------------------------------------------------
# Is an evaluation stable? Two runs of it, and what the topics with least agreement do to it. Shapira et al. 2019, §4.
#
# ``rerun``: the mean relative change of system scores between two runs (the paper: 10% for lightweight pyramids, 24%
# for crowd responsiveness). ``drop_topics``: leave out the 20% of topics on which judges agree least and correlate
# the system scores with a gold measure that keeps all topics.

RERUN_KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


@dataclass(frozen=True, slots=True)
class SystemChange:
    system: str
    first: float
    second: float
    relative: float | None


@dataclass(frozen=True)
class Rerun:
    measure: str
    systems: tuple[SystemChange, ...]
    mean_change: float | None
    correlations: tuple[Correlation, ...]


def rerun(first: ScoreTable, second: ScoreTable, *, measure: str | None = None) -> Answer[Rerun]:
    """Compare the system scores of two runs over the topics both have. Relative to the first run."""
    name = measure or first.measures[0]
    pair = choose_measures(measures_of({"first": first, "second": second}), [f"first:{name}", f"second:{name}"])
    data = grid(pair)
    a, b = (data.means[m.name] for m in pair)
    changes = tuple(
        SystemChange(system, float(x), float(y), float(abs(y - x) / abs(x)) if x else None)
        for system, x, y in zip(data.systems, a, b, strict=True)
        if not np.isnan(x + y)
    )
    relative = [change.relative for change in changes if change.relative is not None]
    zero = [change.system for change in changes if change.relative is None]
    result = Rerun(
        name,
        changes,
        float(np.mean(relative)) if relative else None,
        tuple(correlation(a, b, kind) for kind in RERUN_KINDS),
    )
    notes = [*data.notes]
    if zero:
        notes.append(
            Problem(
                "relative change", f"undefined for systems that scored 0 in the first run: {listed(zero)}", "warning"
            )
        )
    table = Table(
        f"{name} in two runs",
        ("system", "first", "second", "relative change"),
        tuple((c.system, c.first, c.second, c.relative) for c in changes),
    )
    agreement = Table("Correlation of the runs", ("kind", "r", "p", "n"), tuple(_row(c) for c in result.correlations))
    points = tuple(Point(c.system, c.first, c.second) for c in changes)
    figure = Scatter(f"{name} in two runs", "first run", "second run", points, diagonal=True)
    shown = "undefined" if result.mean_change is None else f"{result.mean_change:.1%}"
    r = result.correlations[0].r
    sentence = f"Between the runs, {name} of {count(len(changes), 'system')} changes by {shown} on average"
    sentence += "." if r is None else f"; the runs correlate with r = {r:.3f}."
    made = Signature.of("stability", study="rerun", measure=name, change="relative-to-first")
    return Answer("stability", sentence, (table, agreement), made, result, (figure,), tuple(notes))


def _row(c: Correlation) -> tuple[str, float | None, float | None, int]:
    return c.kind, c.r, c.p, c.n


class TopicAlpha(NamedTuple):
    topic: str
    alpha: float | None


@dataclass(frozen=True)
class DroppedTopics:
    gold: str
    topics: tuple[TopicAlpha, ...]
    dropped: tuple[str, ...]
    before: tuple[Correlation, ...]
    after: tuple[Correlation, ...]


def drop_topics(
    study: Study,
    gold: ScoreTable,
    *,
    gold_measure: str | None = None,
    share: float = 0.2,
    pyramid: str | None = None,
    judges: str | None = None,
    min_agreement: float | None = 0.5,
    kinds: Sequence[Kind] = RERUN_KINDS,
) -> Answer[DroppedTopics]:
    """Correlation with the gold on all topics, and without the topics on which workers agree least."""
    if not 0 < share < 1:
        raise UsageError(f"the share of topics to drop must be between 0 and 1, not {share}")
    votes = unit_votes(study, pyramid=pyramid, judges=judges, min_agreement=min_agreement)
    ordered = _by_agreement(votes)
    number = round(share * len(votes.topics))
    if not 0 < number < len(votes.topics):
        raise UsageError(
            f"{share:.0%} of {count(len(votes.topics), 'topic')} is {number}: either no topic would be dropped "
            "or none would be left"
        )
    dropped = tuple(topic for topic, value in ordered if value is not None)[:number]
    name, target = gold_means(votes, gold, gold_measure)
    scores = votes.summary_scores()
    kept = ~np.isin(votes.topics, dropped)
    before, after = (
        tuple(correlation(column_means(part), target, kind) for kind in kinds) for part in (scores, scores[kept])
    )
    result = DroppedTopics(name, ordered, dropped, before, after)
    made = Signature.of(
        "stability", study="drop-topics", gold=name, share=share, agreement="alpha", screen=min_agreement
    )
    figure = Intervals("Agreement by topic", "alpha", tuple(Estimate(topic, value) for topic, value in ordered))
    return Answer("stability", _without(result), _dropped_tables(result), made, result, (figure,), votes.notes)


def _by_agreement(votes: VoteArray) -> tuple[TopicAlpha, ...]:
    """Alpha of the workers who are kept, on each topic, the lowest first; undefined ones last."""
    found = []
    for topic, answers in zip(votes.topics, votes.answers, strict=True):
        items = np.repeat(np.arange(answers.shape[0] * answers.shape[1]), answers.shape[2])
        found.append(TopicAlpha(topic, alpha(items, answers.ravel()).value))
    return tuple(sorted(found, key=lambda t: (t.alpha is None, t.alpha or 0.0, t.topic)))


def _without(result: DroppedTopics) -> str:
    moves = "; ".join(
        f"{b.kind} from {b.r:.3f} to {a.r:.3f}"
        for b, a in zip(result.before, result.after, strict=True)
        if a.r is not None and b.r is not None
    )
    dropped = f"{count(len(result.dropped), 'topic')} with the least agreement ({listed(result.dropped)})"
    return f"Without the {dropped}, {moves or 'nothing is defined'}."


def _dropped_tables(result: DroppedTopics) -> tuple[Table, Table]:
    change = Table(
        f"Correlation with {result.gold} on all its topics",
        ("kind", "all topics", f"without {len(result.dropped)}", "change", "n"),
        tuple(
            (b.kind, b.r, a.r, None if a.r is None or b.r is None else a.r - b.r, b.n)
            for b, a in zip(result.before, result.after, strict=True)
        ),
    )
    topics = Table(
        "Agreement by topic",
        ("topic", "alpha", "dropped"),
        tuple((topic, value, topic in result.dropped) for topic, value in result.topics),
    )
    return change, topics
