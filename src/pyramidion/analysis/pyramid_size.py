"""How many references does a pyramid need? Nenkova et al. 2007, section 3, Figure 2 and Tables I and II.

Every sub-pyramid of n references (contributors of the others go, and units left empty) scores the summaries that are
held out: peers, or the references themselves, each by pyramids of the others. Reported for each n:

    range       the mean over summaries of the greatest less the least score
    diverged    pairs in which the least score of the better summary is above the greatest of the worse one
    E1          the two seem the same with n references but differ with all of them
    E2          they seem to differ but are the same with all
    E3          they seem to differ the other way round
    Spearman    the mean rank correlation with the ranking by all references

Two scores are the same if they differ by less than 0.06. E1 to E3 are shares of all comparisons (pairs of summaries
of a topic x sub-pyramids); the table also gives them as the paper defines them, given the verdict with n references.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Table, count
from pyramidion.analysis.figures import Figure, Lines, Series
from pyramidion.analysis.inputs import Floats, column_means
from pyramidion.errors import Problems, UsageError, check_choice
from pyramidion.methods.choice import choose
from pyramidion.methods.pyramid import peer_scores
from pyramidion.model import Pyramid, Signature, Study
from pyramidion.stats.correlation import row_correlations

HeldOut = Literal["peers", "references"]
Measure = Literal["modified", "original"]
SAME, CLEAR = 0.06, 0.1
"""Below the first, two summaries are the same; of pairs above the second the paper asks when they diverge."""


@dataclass(frozen=True, slots=True)
class SizeRow:
    references: int
    pyramids: int
    range: float | None
    diverged: float | None
    e1: float | None
    e2: float | None
    e3: float | None
    given_same: float | None
    given_different_same: float | None
    given_different_reversed: float | None
    spearman: float | None
    undefined: int

    @property
    def error(self) -> float | None:
        return None if self.e1 is None or self.e2 is None or self.e3 is None else self.e1 + self.e2 + self.e3


@dataclass(frozen=True)
class Held:
    """The scores of one topic's held-out summaries: summaries x sub-pyramids, NaN where one cannot be scored."""

    topic: str
    summaries: tuple[str, ...]
    references: tuple[str, ...]
    sizes: NDArray[np.int64]
    scores: Floats
    full: Floats


@dataclass(frozen=True)
class PyramidSizes:
    held_out: str
    measure: str
    rows: tuple[SizeRow, ...]
    mean_divergence: float | None
    clear_pairs: int
    topics: tuple[Held, ...]


def pyramid_size(
    study: Study,
    *,
    held_out: HeldOut = "peers",
    measure: Measure = "modified",
    pyramid: str | None = None,
    judges: str | None = None,
    most: int = 2000,
    seed: int = 0,
) -> Answer[PyramidSizes]:
    """Score held-out summaries by every sub-pyramid; beyond ``most`` of one size, by that many at random."""
    check_choice("held_out", held_out, get_args(HeldOut))
    check_choice("measure", measure, get_args(Measure))
    problems = Problems()
    rng = np.random.default_rng(seed)
    made = _of_peers if held_out == "peers" else _of_references
    topics = tuple(made(study, measure, pyramid, judges, most, rng, problems))
    if not topics:
        raise UsageError("no topic has two scored summaries and two references, so no size can be compared")
    sizes = range(1, max(int(t.sizes.max()) for t in topics) + 1)
    rows = tuple(_row(n, topics) for n in sizes)
    divergence, clear = _divergence(topics)
    result = PyramidSizes(held_out, measure, rows, divergence, clear, topics)
    signature = Signature.of("stability", study="pyramid-size", held=held_out, measure=measure, same=SAME, seed=seed)
    figures = tuple(_figures(result))
    return Answer("stability", _sentence(result), (_table(result),), signature, result, figures, tuple(problems))


def _of_peers(
    study: Study,
    measure: Measure,
    pyramid: str | None,
    judges: str | None,
    most: int,
    rng: np.random.Generator,
    problems: Problems,
) -> Iterator[Held]:
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges)
    found: dict[str, dict[str, tuple[list[bool], int | None]]] = {}
    for topic, system, score in peer_scores(choice, problems):
        expressed = [score.expressed.get(unit.id, 0) > 0 for unit in _in_order(score.pyramid).units]
        found.setdefault(topic, {})[system] = (expressed, score.size)
    for topic, peers in found.items():
        base = _in_order(choice.pyramids[topic])
        if len(peers) > 1 and len(base.references) > 1 and base.units:
            members = _subsets(len(base.references), most, rng, topic, problems)
            scores = _scores(base, members, [peers[p] for p in sorted(peers)], measure)
            if not np.isnan(scores).all():
                full = scores[:, members.sum(axis=1) == len(base.references)][:, 0]
                yield Held(topic, tuple(sorted(peers)), base.references, members.sum(axis=1), scores, full)


def _of_references(
    study: Study,
    measure: Measure,
    pyramid: str | None,
    judges: str | None,
    most: int,
    rng: np.random.Generator,
    problems: Problems,
) -> Iterator[Held]:
    """A reference expresses the units it contributes to; pyramids with itself do not score it."""
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges or "all")
    for topic, held in sorted(choice.pyramids.items()):
        base = _in_order(held)
        if len(base.references) < 3 or not base.units:
            problems.warning(
                f"topic {topic}", "has fewer than 3 references or no units; holding one out leaves too few"
            )
            continue
        told = [[reference in unit.references for unit in base.units] for reference in base.references]
        members = _subsets(len(base.references), most, rng, topic, problems)
        members = members[members.sum(axis=1) < len(base.references)]
        scores = _scores(base, members, [(row, sum(row)) for row in told], measure)
        scores[members.T.astype(bool)] = np.nan
        others = members.sum(axis=1) == len(base.references) - 1
        full = column_means(scores[:, others].T)  # the one pyramid of all the others
        yield Held(topic, base.references, base.references, members.sum(axis=1), scores, full)


def _in_order(pyramid: Pyramid) -> Pyramid:
    """The pyramid with references and units by name: which of its parts are drawn must not depend on their order."""
    return replace(
        pyramid,
        references=tuple(sorted(pyramid.references)),
        units=tuple(sorted(pyramid.units, key=lambda unit: unit.id)),
    )


def _subsets(references: int, most: int, rng: np.random.Generator, topic: str, problems: Problems) -> NDArray[np.int64]:
    """Which references are in each sub-pyramid, from single ones up to all of them."""
    rows = []
    for n in range(1, references + 1):
        if comb(references, n) <= most:
            chosen = [list(members) for members in combinations(range(references), n)]
        else:
            problems.warning(f"topic {topic}", f"{most} of {comb(references, n):,} pyramids of {n} references drawn")
            chosen = [rng.permutation(references)[:n].tolist() for _ in range(most)]
        rows += [[int(reference in members) for reference in range(references)] for members in chosen]
    return np.array(rows, dtype=np.int64)


def _scores(
    base: Pyramid, members: NDArray[np.int64], summaries: list[tuple[list[bool], int | None]], measure: Measure
) -> Floats:
    """All summaries by all sub-pyramids at once: weights are counts of members among a unit's references."""
    told_by = np.array([[reference in unit.references for reference in base.references] for unit in base.units])
    weights = members @ told_by.T.astype(np.int64)  # sub-pyramids x units
    expressed = np.array([row for row, _ in summaries], dtype=np.int64)
    raw = (expressed @ weights.T).astype(np.float64)  # summaries x sub-pyramids
    best = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(-np.sort(-weights, axis=1), axis=1)], axis=1)
    units = best.shape[1] - 1
    if measure == "modified":
        average = np.floor(weights.sum(axis=1) / members.sum(axis=1) + 0.5).astype(np.int64)
        reach = np.tile(np.minimum(average, units), (len(summaries), 1))
    else:
        # What a smaller pyramid lacks becomes unmatched content, so X, all content of the summary, stays the same.
        size = np.array([-1 if x is None else min(x, units) for _, x in summaries])
        reach = np.tile(size[:, None], (1, len(weights)))
    ideal = np.where(reach >= 0, best[np.arange(len(weights)), np.maximum(reach, 0)], 0.0)
    empty = (reach == 0) & (measure == "original") & (best[:, -1] > 0)  # a summary without content scores 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(empty, 0.0, np.where(ideal > 0, raw / ideal, np.nan)))


def _row(n: int, topics: tuple[Held, ...]) -> SizeRow:
    ranges: list[float] = []
    diverged: list[bool] = []
    rank: list[float] = []
    undefined = pyramids = same_n = different_n = 0
    errors = np.zeros(3)
    for held in topics:
        at = held.scores[:, held.sizes == n]
        pyramids += at.shape[1]
        if not at.shape[1]:
            continue
        low, high = _extremes(at)
        ranges += (high - low)[~np.isnan(high)].tolist()
        r = row_correlations(at.T, held.full, "spearman") if len(held.summaries) > 2 else np.zeros(0)
        rank += r[~np.isnan(r)].tolist()
        undefined += int(np.isnan(r).sum())
        for i, j in combinations(range(len(held.summaries)), 2):
            better, worse = (i, j) if held.full[i] >= held.full[j] else (j, i)
            gap, whole = at[better] - at[worse], held.full[better] - held.full[worse]
            gap = gap[~np.isnan(gap)]
            if np.isnan(whole):
                continue
            if whole > CLEAR and not np.isnan(low[better] + high[worse]):
                diverged.append(bool(low[better] > high[worse]))
            equal = np.abs(gap) < SAME
            same_n += int(equal.sum())
            different_n += int((~equal).sum())
            if whole < SAME:
                errors[1] += (~equal).sum()
            else:
                errors += [equal.sum(), 0, (gap <= -SAME).sum()]
    total = same_n + different_n
    e1, e2, e3 = (float(e / total) if total else None for e in errors)
    return SizeRow(
        n,
        pyramids,
        float(np.mean(ranges)) if ranges else None,
        float(np.mean(diverged)) if diverged else None,
        e1,
        e2,
        e3,
        float(errors[0] / same_n) if same_n else None,
        float(errors[1] / different_n) if different_n else None,
        float(errors[2] / different_n) if different_n else None,
        float(np.mean(rank)) if rank else None,
        undefined,
    )


def _extremes(at: Floats) -> tuple[Floats, Floats]:
    low, high = np.where(np.isnan(at), np.inf, at).min(axis=1), np.where(np.isnan(at), -np.inf, at).max(axis=1)
    nothing = np.isnan(at).all(axis=1)
    return np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)


def _divergence(topics: tuple[Held, ...]) -> tuple[float | None, int]:
    """The mean size at which clearly different summaries first diverge, and how many such pairs there are."""
    first = []
    for held in topics:
        sizes = np.unique(held.sizes).tolist()
        bounds = {n: _extremes(held.scores[:, held.sizes == n]) for n in sizes}
        for i, j in combinations(range(len(held.summaries)), 2):
            better, worse = (i, j) if held.full[i] >= held.full[j] else (j, i)
            if held.full[better] - held.full[worse] > CLEAR:
                first.append(next((n for n in sizes if bounds[n][0][better] > bounds[n][1][worse]), sizes[-1] + 1))
    return (float(np.mean(first)) if first else None), len(first)


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: PyramidSizes) -> str:
    last = result.rows[-1].references
    safe = next((r for r in result.rows if r.error is not None and r.error <= 0.1 and r.references < last), None)
    text = f"Up to {count(last, 'reference')} a pyramid, {count(len(result.topics), 'topic')}:"
    if safe is not None and safe.error is not None:
        text += f" with {safe.references}, {safe.error:.0%} of the verdicts on two summaries are not those with all."
    else:
        text += " even one reference less than all changes more than 10% of the verdicts on two summaries."
    if result.mean_divergence is not None:
        pairs = count(result.clear_pairs, "clearly different pair")
        text += f" {pairs} diverge at {result.mean_divergence:.1f} references on average."
    return text


def _table(result: PyramidSizes) -> Table:
    return Table(
        f"Pyramid size: {result.measure} scores of held-out {result.held_out}",
        (
            "references",
            "pyramids",
            "range",
            "diverged",
            "E1",
            "E2",
            "E3",
            "any error",
            "E1 of same",
            "E2 of different",
            "E3 of different",
            "Spearman",
        ),
        tuple(
            (
                r.references,
                r.pyramids,
                r.range,
                r.diverged,
                r.e1,
                r.e2,
                r.e3,
                r.error,
                r.given_same,
                r.given_different_same,
                r.given_different_reversed,
                r.spearman,
            )
            for r in result.rows
        ),
        f"diverged: of pairs that differ by more than {CLEAR} with all references. E1: seem the same, differ with all; "
        f"E2: seem to differ, are the same; E3: order reversed; scores less than {SAME} apart are the same.",
    )


def _figures(result: PyramidSizes) -> Iterator[Figure]:
    x = tuple(float(r.references) for r in result.rows)
    yield Lines(
        "Verdicts on two summaries that change with more references",
        "references in the pyramid",
        "share of verdicts",
        (
            Series("E1 seem the same", x, tuple(r.e1 for r in result.rows)),
            Series("E2 seem to differ", x, tuple(r.e2 for r in result.rows)),
            Series("E3 reversed", x, tuple(r.e3 for r in result.rows)),
            Series("any", x, tuple(r.error for r in result.rows)),
        ),
    )
    spearman = Series("", x, tuple(r.spearman for r in result.rows))
    yield Lines("Ranking by n references and by all", "references in the pyramid", "mean Spearman", (spearman,))
    yield from _example(result)


def _example(result: PyramidSizes) -> Iterator[Lines]:
    """Two summaries of a topic as in Figure 2: the range of their scores narrows until they part."""
    for held in result.topics:
        order = [int(i) for i in np.argsort(-np.nan_to_num(held.full, nan=-1.0))]
        pair = next(((a, b) for a, b in combinations(order, 2) if held.full[a] - held.full[b] > CLEAR), None)
        if pair is None:
            continue
        sizes = np.unique(held.sizes).tolist()
        series = []
        for i in pair:
            at = [held.scores[i, held.sizes == n] for n in sizes]
            at = [row[~np.isnan(row)] for row in at]
            low, mean, high = (
                tuple(float(how(row)) if len(row) else None for row in at) for how in (np.min, np.mean, np.max)
            )
            series.append(Series(held.summaries[i], tuple(map(float, sizes)), mean, low, high))
        title = f"{held.topic}: least, mean and greatest score over all pyramids of a size"
        yield Lines(title, "references in the pyramid", result.measure, tuple(series))
        return
