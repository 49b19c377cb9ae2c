"""Do judges agree, which of them differ from the rest, and where does the variance of their scores come from?

Krippendorff's alpha with a bootstrap interval over items; per topic; per judge; for every pair of judges. Judge means
and their spread, the difference between two judges on one item and how often each occurs, and the share of variance
that judges, topics and systems explain: Gillick and Liu 2010, section 4.1, Tables 2 and 4.

A judge's alpha is 1 - the mean disagreement of the judge's pairs with others / that of all pairs of answers: the mean
of the judges' alphas, weighted by answers, is the overall alpha. Alpha is undefined if nothing varies (with unanimous
data, agreement beyond chance has no meaning) or if no item has two answers (a single judge).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from pyramidion.analysis.answer import Answer, Estimate, Figure, Heatmap, Intervals, Table, count, listed
from pyramidion.analysis.ratings import Explained, Ratings, explained_variance, rated_aspects, ratings_of, unit_answers
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.stats.alpha import Alpha, Distance, alpha, alpha_interval, dice_distances
from pyramidion.stats.intervals import Interval
from pyramidion.study import Signature, Study
from pyramidion.study.judgments import JudgeKind

MOST_JUDGES = 60
"""With more judges, the matrix of all pairs is left out: nobody could read it."""
MOST_DIFFERENCES = 20
"""With more distinct values, differences between two judges are counted in steps."""


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    judge: str
    alpha: float | None
    agreement: float | None
    mean: float
    sd: float | None
    answers: int
    pairs: int


class TopicAgreement(NamedTuple):
    topic: str
    alpha: Alpha


class PairAgreement(NamedTuple):
    """Two judges on the items both answered."""

    judge: str
    other: str
    alpha: Alpha


class DifferenceCount(NamedTuple):
    """How many pairs of answers to the same item are this far apart: from ``low`` up to but excluding ``high``. Both
    are equal if the differences are few enough to be counted one by one."""

    low: float
    high: float
    pairs: int


@dataclass(frozen=True)
class Agreement:
    measure: str
    alpha: Alpha
    judges: tuple[JudgeAgreement, ...]
    topics: tuple[TopicAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    explained: tuple[Explained, ...]
    differences: tuple[DifferenceCount, ...]
    pair_difference: float | None
    pair_difference_sd: float | None
    judge_mean_sd: float | None
    unanimous: float | None

    @property
    def judge_means(self) -> tuple[float, float]:
        means = [judge.mean for judge in self.judges]
        return min(means), max(means)


def agreement(
    study: Study,
    *,
    aspect: str | None = None,
    kind: JudgeKind = "crowd",
    pyramid: str | None = None,
    judges: str | None = None,
    distance: Distance | None = None,
    resamples: int = 1000,
    removals: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
    naming: Callable[[str], str] = str,
) -> Answer[Agreement]:
    """Measure agreement on units (the default, if there are any) or on the ratings of an aspect.

    The distance is nominal for units and ordinal for ratings unless another one is named. ``removals`` is how many
    times all but one answer per item are removed at random, for the variance with one answer per item. ``naming`` says
    what the sentence, the tables and the figures call what was judged.
    """
    if removals < 1:
        raise UsageError(f"removals must be at least 1, not {removals}")
    data = _answers(study, aspect, kind, pyramid, judges)
    rated = data.measure in rated_aspects(study)
    chosen: Distance = distance or ("ordinal" if rated else "nominal")
    check_choice("distance", chosen, get_args(Distance))
    rng = np.random.default_rng(seed)
    whole = alpha_interval(data.item, data.value, distance=chosen, rng=rng, resamples=resamples, confidence=confidence)
    left, right = pairs_within(data.item)
    gap = np.abs(data.value[left] - data.value[right])
    means = np.bincount(data.judge, weights=data.value) / np.bincount(data.judge)
    result = Agreement(
        data.measure,
        whole,
        tuple(_per_judge(data, left, right, chosen)),
        tuple(
            TopicAgreement(name, alpha(*_rows(data, data.topic == t), distance=chosen))
            for t, name in enumerate(data.topics)
        ),
        tuple(_per_pair(data, left, right, chosen)) if len(data.judges) <= MOST_JUDGES else (),
        tuple(explained_variance(data, removals=removals, rng=np.random.default_rng([seed, 1]), confidence=confidence)),
        tuple(_differences(gap)) if rated else (),
        float(gap.mean()) if len(gap) else None,
        float(gap.std(ddof=1)) if len(gap) > 1 else None,
        float(means.std(ddof=1)) if len(means) > 1 else None,
        _unanimous(data),
    )
    made = Signature.of(
        "agreement",
        on=data.measure.replace(" ", "-"),
        distance=chosen,
        interval="percentile",
        resamples=resamples,
        removals=removals,
        seed=seed,
    )
    notes = (*data.notes, *_remarks(result, data))
    about = naming(data.measure)
    figures = tuple(_figures(result, about))
    return Answer("agreement", _sentence(result, about), _tables(result, about), made, result, figures, notes)


def _answers(study: Study, aspect: str | None, kind: JudgeKind, pyramid: str | None, judges: str | None) -> Ratings:
    if not len(study.judgments):
        raise UsageError("the study has no judgments, so agreement cannot be measured")
    if aspect is not None or not study.pyramids:
        data = ratings_of(study, aspect, judges=judges)
    else:
        data = unit_answers(study, kind=kind, pyramid=pyramid, judges=judges)
        if not len(data.value) and rated_aspects(study):
            data = ratings_of(study, None, judges=judges)
    if not len(data.value):
        raise UsageError(f"{data.measure}: there are no answers to compare")
    if judges is None and set(data.judges) <= study.judges_of("model"):
        raise UsageError(
            f"{data.measure}: only models have judged it; name them (judges: model) to measure their agreement"
        )
    return data


def _rows(data: Ratings, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return data.item[kept], data.value[kept]


def pairs_within(item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of every pair of answers to the same item."""
    order = np.argsort(item, kind="stable")
    grouped = item[order]
    left, right = [], []
    lag = 1
    # Rows lie item by item: every pair within an item is some row and the row `lag` further on.
    while lag < len(grouped) and (same := np.flatnonzero(grouped[lag:] == grouped[:-lag])).size:
        left.append(order[same])
        right.append(order[same + lag])
        lag += 1
    if not left:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate(left), np.concatenate(right)


def _gaps(data: Ratings, left: np.ndarray, right: np.ndarray, distance: str) -> tuple[np.ndarray, float]:
    """The distance of the answers of every pair, and the mean distance of any two answers to items with several."""
    size = np.bincount(data.item)[data.item]
    paired = size > 1
    levels, level = np.unique(data.value, return_inverse=True)
    totals = np.bincount(level[paired], minlength=len(levels)).astype(np.float64)
    number = totals.sum()
    if distance == "nominal":
        return (level[left] != level[right]).astype(np.float64), float(1 - (totals**2).sum() / number**2) * number / (
            number - 1
        )
    if distance == "dice":
        table = dice_distances(levels)
        return table[level[left], level[right]], float(totals @ table @ totals / (number * (number - 1)))
    scale = np.cumsum(totals) - totals / 2 if distance == "ordinal" else levels
    centre = scale - (totals @ scale) / number
    expected = float(2 * (totals @ centre**2) / (number - 1))
    return (scale[level[left]] - scale[level[right]]) ** 2, expected


def _per_judge(data: Ratings, left: np.ndarray, right: np.ndarray, distance: str) -> Iterator[JudgeAgreement]:
    judges = len(data.judges)
    answers = np.bincount(data.judge, minlength=judges)
    total = np.bincount(data.judge, weights=data.value, minlength=judges)
    square = np.bincount(data.judge, weights=data.value**2, minlength=judges)
    # An item with m answers counts m times, as in alpha, so each of its m (m - 1) / 2 pairs weighs 1 / (m - 1).
    size = np.bincount(data.item)[data.item]
    gap, expected = _gaps(data, left, right, distance) if len(left) else (np.zeros(0), 0.0)
    weight = 1.0 / (size[left] - 1)
    both = np.concatenate([data.judge[left], data.judge[right]])
    pairs = np.bincount(both, minlength=judges)
    weights = np.bincount(both, weights=np.tile(weight, 2), minlength=judges)
    apart = np.bincount(both, weights=np.tile(weight * gap, 2), minlength=judges)
    agreed = np.bincount(both, weights=np.tile(data.value[left] == data.value[right], 2), minlength=judges)
    for code, name in enumerate(data.judges):
        number = int(answers[code])
        mean = total[code] / number
        spread = max(square[code] / number - mean**2, 0.0)
        own = 1 - apart[code] / weights[code] / expected if pairs[code] and expected > 0 else None
        yield JudgeAgreement(
            name,
            None if own is None else float(own),
            float(agreed[code] / pairs[code]) if pairs[code] else None,
            float(mean),
            float(np.sqrt(spread * number / (number - 1))) if number > 1 else None,
            number,
            int(pairs[code]),
        )


def _per_pair(data: Ratings, left: np.ndarray, right: np.ndarray, distance: Distance) -> Iterator[PairAgreement]:
    """Alpha of every two judges on the items both answered; each pair of judges costs only its own items."""
    first = np.minimum(data.judge[left], data.judge[right])
    second = np.maximum(data.judge[left], data.judge[right])
    key = first * len(data.judges) + second
    order = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    for rows in np.split(order, cuts):
        if len(rows) and first[rows[0]] != second[rows[0]]:
            item = np.tile(np.arange(len(rows)), 2)
            found = alpha(item, np.concatenate([data.value[left[rows]], data.value[right[rows]]]), distance=distance)
            yield PairAgreement(data.judges[first[rows[0]]], data.judges[second[rows[0]]], found)


def _differences(gap: np.ndarray) -> Iterator[DifferenceCount]:
    """Every whole difference from 0 to the greatest; on a scale with parts of points the ones that occur, or, where
    those are many, ten equal steps.
    """
    if not len(gap):
        return
    gap = np.round(gap, 9)
    values, pairs = np.unique(gap, return_counts=True)
    if (values == np.round(values)).all() and values[-1] < MOST_DIFFERENCES:
        pairs = np.bincount(gap.astype(np.int64))
        values = np.arange(len(pairs), dtype=np.float64)
    if len(values) <= MOST_DIFFERENCES:
        yield from map(DifferenceCount, values.tolist(), values.tolist(), pairs.tolist())
        return
    pairs, edges = np.histogram(gap, bins=10, range=(0.0, float(np.nextafter(values[-1], np.inf))))
    yield from map(DifferenceCount, edges[:-1].tolist(), edges[1:].tolist(), pairs.tolist())


def _unanimous(data: Ratings) -> float | None:
    """The share of items with several answers on which all are the same."""
    order = np.lexsort((data.value, data.item))
    item, value = data.item[order], data.value[order]
    if not len(item):
        return None
    starts = np.flatnonzero(np.diff(item, prepend=-1))
    ends = np.append(starts[1:], len(item)) - 1
    several = ends > starts
    return float((value[starts] == value[ends])[several].mean()) if several.any() else None


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Agreement, about: str) -> str:
    found, judges = result.alpha, count(len(result.judges), "judge")
    if found.value is None and not found.items:
        return f"Alpha on {about} is undefined: no item was answered by two judges ({judges})."
    counts = f"{judges}, {count(found.items, 'item')}, {count(found.answers, 'answer')}"
    if found.value is None:
        return f"Alpha on {about} is undefined: all answers are the same ({counts})."
    interval = f" [{found.interval.low:.3f}, {found.interval.high:.3f}]" if found.interval else ""
    text = f"Krippendorff's alpha on {about} is {found.value:.3f}{interval} ({found.distance}; {counts})."
    low = [j for j in result.judges if j.alpha is not None]
    if len(low) > 2:
        worst = min(low, key=lambda j: j.alpha or 0.0)
        text += f" {worst.judge} agrees least with the others (alpha {worst.alpha:.3f})."
    return text


def _remarks(result: Agreement, data: Ratings) -> Iterator[Problem]:
    found = result.alpha
    if found.items and (interval := found.interval) and interval.undefined:
        yield Problem("alpha", f"{interval.undefined} of {interval.resamples} resamples had no variation", "warning")
    if alone := int((np.bincount(data.item) == 1).sum()):
        yield Problem("items", f"{count(alone, 'item')} with only one answer do not count for alpha", "warning")
    without = [judge.judge for judge in result.judges if not judge.pairs]
    if without and len(without) < len(result.judges):
        yield Problem("judges", f"share no item with anyone: {listed(without)}", "warning")
    if len(result.judges) > MOST_JUDGES:
        yield Problem("judges", f"more than {MOST_JUDGES}, so the table of all pairs is left out", "warning")


def _tables(result: Agreement, about: str) -> tuple[Table, ...]:
    found = result.alpha
    low, high = _ends(found.interval)
    overall = Table(
        f"Agreement on {about}",
        ("", "value"),
        (
            (f"alpha ({found.distance})", found.value),
            ("interval, low", low),
            ("interval, high", high),
            ("items with two or more answers", found.items),
            ("share of them unanimous", result.unanimous),
            ("mean difference of two judges", result.pair_difference),
            ("sd of that difference", result.pair_difference_sd),
            ("sd of judge means", result.judge_mean_sd),
            ("lowest judge mean", result.judge_means[0]),
            ("highest judge mean", result.judge_means[1]),
        ),
    )
    ordered = sorted(result.judges, key=lambda j: (j.alpha is None, j.alpha or 0.0, j.judge))
    judges = Table(
        "Judges, lowest agreement first",
        ("judge", "alpha", "same answer", "mean", "sd", "answers", "pairs"),
        tuple((j.judge, j.alpha, j.agreement, j.mean, j.sd, j.answers, j.pairs) for j in ordered),
        "alpha, same answer: with the others on the same items.",
    )
    topics = Table(
        "Topics",
        ("topic", "alpha", "items", "answers"),
        tuple((name, a.value, a.items, a.answers) for name, a in sorted(result.topics, key=lambda t: _low_first(t[1]))),
    )
    explained = Table(
        "Share of variance explained (R squared)",
        ("factor", "levels", "all answers", "one answer per item", "low", "high"),
        tuple((e.factor, e.levels, e.r2, e.r2_single, *_ends(e.single)) for e in result.explained),
        "Each factor in its own model. A factor with many levels explains much by chance. One answer per item: "
        "the mean over random removals of the others; low, high: the middle 95% of the removals.",
    )
    pairs_in_all = sum(d.pairs for d in result.differences)
    differences = Table(
        "Differences between two judges of the same summary",
        ("difference", "pairs", "share"),
        tuple((_span(d), d.pairs, d.pairs / pairs_in_all) for d in result.differences),
    )
    pairs = Table(
        "Pairs of judges",
        ("judge", "other", "alpha", "items"),
        tuple((a, b, found.value, found.items) for a, b, found in result.pairs),
    )
    return (
        overall,
        *([differences] if result.differences else []),
        judges,
        topics,
        explained,
        *([pairs] if result.pairs else []),
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


def _span(found: DifferenceCount) -> str:
    return f"{found.low:g}" if found.low == found.high else f"{found.low:.3g} to {found.high:.3g}"


def _low_first(found: Alpha) -> tuple[bool, float]:
    return found.value is None, found.value or 0.0


def _figures(result: Agreement, about: str) -> Iterator[Figure]:
    ordered = sorted(result.judges, key=lambda j: (j.alpha is None, -(j.alpha or 0.0)))
    rows = tuple(Estimate(j.judge, j.alpha) for j in ordered)
    yield Intervals(f"Judges on {about}", "alpha with the others", rows, mark=result.alpha.value)
    names = tuple(judge.judge for judge in result.judges)
    if result.pairs and len(names) > 1:
        known = {(a, b): found.value for a, b, found in result.pairs}
        values = tuple(tuple(known.get((a, b), known.get((b, a))) for b in names) for a in names)
        yield Heatmap(f"Pairs of judges on {about}", "alpha", names, names, values, low=-1.0)
