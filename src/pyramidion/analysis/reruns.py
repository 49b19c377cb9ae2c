"""Is an evaluation stable? Two runs of it, and what the topics with least agreement do to it. Shapira et al. 2019, §4.

``rerun``: the mean relative change of system scores between two runs (the paper: 10% for lightweight pyramids, 24% for
crowd responsiveness). ``drop_topics``: leave out the 20% of topics on which judges agree least and correlate the system
scores with a gold measure that keeps all topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pyramidion.analysis.answer import Answer, Table, count, listed
from pyramidion.analysis.figures import Estimate, Intervals, Point, Scatter
from pyramidion.analysis.inputs import choose_measures, column_means, grid, measures_of
from pyramidion.analysis.resampling import gold_means
from pyramidion.analysis.votes import Votes, unit_votes
from pyramidion.errors import Problem, UsageError
from pyramidion.model import ScoreTable, Signature, Study
from pyramidion.stats.alpha import alpha
from pyramidion.stats.correlation import Correlation, Kind, correlation

KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


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
        name, changes, float(np.mean(relative)) if relative else None, tuple(correlation(a, b, kind) for kind in KINDS)
    )
    notes = [*data.notes]
    if zero:
        notes.append(
            Problem("relative change", f"undefined for systems that scored 0 first: {listed(zero)}", "warning")
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
    kinds: Sequence[Kind] = KINDS,
) -> Answer[DroppedTopics]:
    """Correlation with the gold on all topics, and without the topics on which workers agree least."""
    if not 0 < share < 1:
        raise UsageError(f"the share of topics to drop is between 0 and 1, not {share}")
    votes = unit_votes(study, pyramid=pyramid, judges=judges, min_agreement=min_agreement)
    ordered = _by_agreement(votes)
    number = round(share * len(votes.topics))
    if not 0 < number < len(votes.topics):
        raise UsageError(f"{share:.0%} of {count(len(votes.topics), 'topic')} is {number}: nothing is dropped or left")
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


def _by_agreement(votes: Votes) -> tuple[TopicAlpha, ...]:
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
    dropped = f"{count(len(result.dropped), 'topic')} of least agreement ({listed(result.dropped)})"
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
