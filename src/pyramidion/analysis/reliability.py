"""Would another annotator give the same scores? Nenkova et al. 2007, section 4.1 and Tables III to V.

Two annotations of the same peers against the same pyramid: Krippendorff's alpha over the counts of units (nominal, and
with the distance 1 - Dice), and what that means for the scores: their correlation and their mean absolute difference,
compared with 0.06, below which the paper takes two summaries to be equally good. Whether one average represents all is
a separate question: an analysis of variance of agreement over annotators, topics and peers, as the paper has it, and
over units as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats

from pyramidion.analysis.answer import Answer, Cell, Figure, Point, Scatter, Table, count
from pyramidion.errors import Problems, UsageError
from pyramidion.scoring.choice import choose
from pyramidion.scoring.pyramid import PeerScore, peer_scores
from pyramidion.stats.alpha import Alpha, Distance, alpha, alpha_interval
from pyramidion.stats.anova import FactorEffect, several_way
from pyramidion.stats.correlation import correlation
from pyramidion.stats.rounding import rounded_beside
from pyramidion.study import Signature, Study

SAME = 0.06
"""Scores that differ by less are taken to be the same (section 3)."""

Peer = tuple[str, str]
Annotation = Mapping[Peer, PeerScore]


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """How the scores of two annotations compare; None where undefined. The interval is Fisher's; p is from a paired
    t-test of the difference."""

    measure: str
    peers: int
    r: float | None
    low: float | None
    high: float | None
    mean_difference: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class SetReliability:
    """One topic annotated twice (``topic`` None: all of them together). ``per_peer`` is the mean over single peers."""

    topic: str | None
    first: str
    second: str
    peers: int
    units: int
    nominal: Alpha
    dice: Alpha
    per_peer_nominal: float | None
    per_peer_dice: float | None
    scores: tuple[ScoreAgreement, ...]

    def score(self, measure: str) -> ScoreAgreement:
        return next(s for s in self.scores if s.measure == measure)


@dataclass(frozen=True, slots=True)
class AgreementVariance:
    """Does agreement depend on who annotates, on the topic, on the peer or on the unit? ``agreement`` says what is
    explained: alpha on single peers (nominal, Dice), or Dice of the two counts of single units.
    """

    agreement: str
    values: int
    effects: tuple[FactorEffect, ...]


@dataclass(frozen=True)
class Reliability:
    sets: tuple[SetReliability, ...]
    variance: tuple[AgreementVariance, ...]

    def overall(self) -> tuple[SetReliability, ...]:
        return tuple(found for found in self.sets if found.topic is None)


def reliability(
    study: Study,
    other: Study | None = None,
    *,
    pyramid: str | None = None,
    judges: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Answer[Reliability]:
    """Compare every two annotators of a study (or those named), or the annotations of two studies."""
    annotations, problems = _annotations(study, other, pyramid, judges)
    sets: list[SetReliability] = []
    points: list[Point] = []
    decisions = _Decisions()
    for (first, a), (second, b) in combinations(annotations.items(), 2):
        shared = sorted(a.keys() & b.keys())
        if not shared:
            continue
        decisions.add(f"{first} and {second}", a, b, shared)
        rng = np.random.default_rng(seed)
        topics = sorted({topic for topic, _ in shared})
        wanted: list[str | None] = [*topics, None] if len(topics) > 1 else [None]
        for topic in wanted:
            peers = [peer for peer in shared if topic is None or peer[0] == topic]
            sets.append(_set(topic, first, second, a, b, peers, rng, resamples))
        points += _points(a, b, shared)
    if not sets:
        raise UsageError(f"no peer was annotated twice; the annotators are: {', '.join(annotations) or 'none'}")
    result = Reliability(tuple(sets), tuple(decisions.variance()))
    made = Signature.of("reliability", same=SAME, alpha=("nominal", "dice"), resamples=resamples, seed=seed)
    figures: tuple[Figure, ...] = (
        Scatter(
            "Modified score by two annotators, one point per peer", "first", "second", tuple(points), diagonal=True
        ),
    )
    return Answer("reliability", _sentence(result), _tables(result), made, result, figures, tuple(problems))


class _Decisions:
    """Every two counts of a unit in a peer by two annotators, with who, where and what they are about."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, str]] = []  # annotators, topic, peer, unit
        self.counts: list[tuple[float, float]] = []

    def add(self, annotators: str, a: Annotation, b: Annotation, peers: Sequence[Peer]) -> None:
        for peer in peers:
            for unit in sorted(a[peer].expressed.keys() & b[peer].expressed.keys()):
                self.rows.append((annotators, *peer, unit))
                self.counts.append((a[peer].expressed[unit], b[peer].expressed[unit]))

    def variance(self) -> Iterator[AgreementVariance]:
        if not self.rows:
            return
        annotators, topic, peer, unit = (
            np.unique(names, return_inverse=True)[1] for names in zip(*self.rows, strict=True)
        )
        pairs = np.array(self.counts, dtype=np.float64)
        owner = np.unique(np.column_stack([annotators, topic, peer]), axis=0, return_inverse=True)[1].ravel()
        by_peer = np.split(np.argsort(owner, kind="stable"), np.cumsum(np.bincount(owner))[:-1])
        for distance in ("nominal", "dice"):
            each = [alpha(*_long(pairs[rows]), distance=distance).value for rows in by_peer]
            known = [number for number, value in enumerate(each) if value is not None]
            at = [int(by_peer[number][0]) for number in known]
            yield _explained(
                f"alpha per peer, {'Dice' if distance == 'dice' else distance}",
                np.array([each[number] for number in known], dtype=np.float64),
                {"annotators": annotators[at], "topic": topic[at], "peer": peer[at]},
            )
        total = pairs.sum(axis=1)
        same = np.divide(2 * pairs.min(axis=1), total, out=np.ones(len(pairs)), where=total > 0)
        units = topic * (int(unit.max()) + 1) + unit
        yield _explained("Dice per unit", same, {"annotators": annotators, "topic": topic, "peer": peer, "unit": units})


def _long(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.repeat(np.arange(len(pairs)), 2), pairs.ravel()


def _explained(name: str, values: np.ndarray, factors: Mapping[str, np.ndarray]) -> AgreementVariance:
    """Factors with one level have nothing to explain and are left out."""
    several = {factor: code for factor, code in factors.items() if len(np.unique(code)) > 1}
    return AgreementVariance(name, len(values), several_way(values, several))


def _annotations(
    study: Study, other: Study | None, pyramid: str | None, judges: Sequence[str] | None
) -> tuple[dict[str, Annotation], Problems]:
    problems = Problems()
    if other is not None:
        return {
            "first": _annotation(study, pyramid, None, problems),
            "second": _annotation(other, pyramid, None, problems),
        }, problems
    choice = choose(study, kind="expert", pyramid=pyramid, judges="all")
    names = list(judges) if judges else choice.on_units.judge.present_names()
    experts = [name for name in names if judges or name in study.judges_of("expert")]
    named = experts if len(experts) > 1 else names
    if len(named) < 2:
        raise UsageError(
            f"pyramid {choice.pyramid} was annotated only by {', '.join(named) or 'nobody'}; "
            "reliability needs two annotators, or a second study"
        )
    return {name: _annotation(study, choice.pyramid, name, problems) for name in named}, problems


def _annotation(study: Study, pyramid: str | None, judge: str | None, problems: Problems) -> Annotation:
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judge)
    joined = peer_scores(choice, Problems(), annotators="consensus")  # of one study each; counts have no mean
    found = {(peer.topic, peer.system): score for peer in joined for score in peer.by.values()}
    partial = sum(len(score.expressed) < len(score.pyramid.units) for score in found.values())
    if partial:
        what = (
            f"{partial} of {count(len(found), 'peer')} were not judged on every unit; the missing units count as "
            "not expressed"
        )
        problems.warning(f"annotator {judge}" if judge else "annotation", what)
    return found


def _set(
    topic: str | None,
    first: str,
    second: str,
    a: Annotation,
    b: Annotation,
    peers: Sequence[Peer],
    rng: np.random.Generator,
    resamples: int,
) -> SetReliability:
    items, counts, owner = _counts(a, b, peers)
    nominal, dice = (
        alpha_interval(items, counts, distance=distance, rng=rng, resamples=resamples)
        for distance in ("nominal", "dice")
    )
    units = len({(peer[0], unit) for peer in peers for unit in a[peer].expressed})
    scores = tuple(_scores(measure, a, b, peers) for measure in ("modified", "original"))
    apiece, dice_apiece = (_per_peer(items, counts, owner, distance) for distance in ("nominal", "dice"))
    return SetReliability(topic, first, second, len(peers), units, nominal, dice, apiece, dice_apiece, scores)


def _counts(a: Annotation, b: Annotation, peers: Sequence[Peer]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often each annotator finds each unit in each peer, as long columns: item, count, peer."""
    items: list[int] = []
    counts: list[float] = []
    owner: list[int] = []
    for number, peer in enumerate(peers):
        for unit in sorted(a[peer].expressed.keys() & b[peer].expressed.keys()):
            item = len(items) // 2
            items += [item, item]
            counts += [a[peer].expressed[unit], b[peer].expressed[unit]]
            owner += [number, number]
    return np.array(items), np.array(counts, dtype=np.float64), np.array(owner)


def _per_peer(items: np.ndarray, counts: np.ndarray, owner: np.ndarray, distance: Distance) -> float | None:
    """The mean over peers of alpha on one peer, as the paper's Table III; peers without variation do not count."""
    each = [alpha(items[owner == peer], counts[owner == peer], distance=distance).value for peer in np.unique(owner)]
    defined = [value for value in each if value is not None]
    return float(np.mean(defined)) if defined else None


def _scores(measure: str, a: Annotation, b: Annotation, peers: Sequence[Peer]) -> ScoreAgreement:
    pairs = [(getattr(a[peer], measure), getattr(b[peer], measure)) for peer in peers]
    defined = np.array([pair for pair in pairs if None not in pair], dtype=np.float64).reshape(-1, 2)
    if not len(defined):
        return ScoreAgreement(measure, 0, None, None, None, None, None)
    gap = defined[:, 0] - defined[:, 1]
    r = correlation(defined[:, 0], defined[:, 1]).r
    low, high = _fisher(r, len(defined))
    p = float(stats.ttest_rel(defined[:, 0], defined[:, 1]).pvalue) if len(gap) > 1 and np.ptp(gap) > 1e-12 else None
    return ScoreAgreement(measure, len(defined), r, low, high, float(np.abs(gap).mean()), p)


def _fisher(r: float | None, n: int) -> tuple[float | None, float | None]:
    """The 95% interval of a correlation by Fisher's z."""
    if r is None or n < 4:
        return None, None
    z, error = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12)), 1.96 / np.sqrt(n - 3)
    return float(np.tanh(z - error)), float(np.tanh(z + error))


def _points(a: Annotation, b: Annotation, peers: Sequence[Peer]) -> Iterator[Point]:
    for peer in peers:
        x, y = a[peer].modified, b[peer].modified
        if x is not None and y is not None:
            yield Point(f"{peer[1]}", x, y)


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Reliability) -> str:
    found = result.overall()[0]
    score = found.score("modified")
    if found.dice.value is None:
        text = f"{found.first} and {found.second} agree on everything and nothing varies, so alpha is undefined"
    else:
        text = f"{found.first} and {found.second} agree with alpha {found.dice.value:.3f} (1-Dice) on units"
    text += f" over {count(found.peers, 'peer')}."
    if score.mean_difference is None:
        return text
    verdict = "below" if score.mean_difference < SAME else "not below"
    apart = rounded_beside(score.mean_difference, SAME, digits=3)
    related = "" if score.r is None else f"correlate with r = {score.r:.3f} and "
    return (
        text + f" Their modified scores {related}differ by {apart} on average, {verdict} the {SAME} "
        "that separates summaries."
    )


def _tables(result: Reliability) -> tuple[Table, ...]:
    agreement: list[tuple[Cell, ...]] = []
    scores: list[tuple[Cell, ...]] = []
    for found in result.sets:
        who = (found.topic or "all", found.first, found.second)
        interval = found.dice.interval
        agreement.append(
            (
                *who,
                found.peers,
                found.units,
                found.nominal.value,
                found.dice.value,
                interval.low if interval else None,
                interval.high if interval else None,
                found.per_peer_nominal,
                found.per_peer_dice,
            )
        )
        for s in (s for s in found.scores if s.peers):
            below = s.mean_difference is not None and s.mean_difference < SAME
            scores.append((*who, s.measure, s.peers, s.r, s.low, s.high, s.mean_difference, s.p, below))
    names = ("topic", "first", "second", "peers", "units", "nominal", "Dice", "Dice, low", "Dice, high")
    return (
        Table(
            "Agreement on units (Krippendorff's alpha)",
            (*names, "nominal, per peer", "Dice, per peer"),
            tuple(agreement),
            "per peer: the mean of the alphas of single peers.",
        ),
        Table(
            "Agreement of scores",
            (*names[:3], "measure", "peers", "r", "low", "high", "mean |difference|", "p", f"below {SAME}"),
            tuple(scores),
            "low, high: Fisher's 95% interval of r. p: paired t-test of the difference.",
        ),
        *_variance_tables(result),
    )


def _variance_tables(result: Reliability) -> Iterator[Table]:
    rows = tuple(
        (found.agreement, e.factor, e.levels, e.f, e.df, e.residual, e.p, e.share)
        for found in result.variance
        for e in found.effects
    )
    if rows:
        yield Table(
            "Analysis of variance of agreement",
            ("agreement", "factor", "levels", "F", "df", "residual df", "p", "share"),
            rows,
            "Each factor is tested beyond the others (type II), without those nested in it. If no p is small, "
            "the average agreement represents every annotator, topic, peer and unit. share: of all variation "
            "of agreement.",
        )
