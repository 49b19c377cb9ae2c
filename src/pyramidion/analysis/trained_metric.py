"""A metric trained on human scores, with and without noisy assessors. Owczarzak et al. 2012, section 5 and Table 5.

After CLASSY (Rankel et al. 2011): every subset of features with each of three fits (robust regression, non-negative
least squares, canonical correlation) is fitted on the first year; the one that predicts the second year best is
refitted on the second and predicts the third, whether or not anybody judged it. Everything is repeated without the
least consistent assessors of the first two years, by alpha (the paper's a) or by autoPyramid (its b). Where the third
year was judged, Williams' test says whether the two predictions correlate differently with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from pyramidion.analysis.answer import Answer, Cell, Point, Scatter, Table, count, listed
from pyramidion.analysis.assessors import (
    ALL_PEERS,
    AUTO,
    PYRAMID,
    Authors,
    Given,
    Peers,
    given_scores,
    kinds_of,
    peer_sets,
    topic_sets,
)
from pyramidion.analysis.consistency import consistency
from pyramidion.analysis.features import Features, Key, features_of
from pyramidion.analysis.inputs import Floats
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.stats.correlation import Correlation, Kind, correlation, row_correlations, williams
from pyramidion.stats.regression import Line, canonical, non_negative, robust
from pyramidion.study import Score, ScoreTable, Signature, Study

FITS = ("robust", "non-negative", "canonical")
MOST_FEATURES = 10
LARGEST = 1e100
"""Squares of larger features overflow."""
KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")
SAME = 1e-9
"""Models whose correlations differ by less are equally good, like all fits of one feature; the first is chosen."""
ALPHA = "alpha"
CRITERIA = (ALPHA, AUTO)


class Predicted(NamedTuple):
    """A system's mean in the third year, as predicted and as scored by people; None if nobody did."""

    system: str
    predicted: float
    gold: float | None


@dataclass(frozen=True)
class Trained:
    """The chosen model and how it does on the third year.

    ``excluded`` are the assessors left out of training, the worst by ``criterion``. ``year3`` holds, for each set of
    peers, the correlations with what people said, and ``p`` whether they differ from those with nobody left out;
    both are empty where nobody judged the third year. ``scores`` are the predictions for its summaries.
    """

    excluded: tuple[str, ...]
    fit: str
    features: tuple[str, ...]
    weights: tuple[float, ...]
    year2: float
    year3: Mapping[str, tuple[Correlation, ...]]
    candidates: int
    predicted: tuple[Predicted, ...]
    scores: Mapping[Key, float] = field(repr=False)
    criterion: str = ""
    p: Mapping[str, float | None] = field(default_factory=dict)

    def r(self, kind: str = "pearson", peers: str = ALL_PEERS) -> float | None:
        return next((found.r for found in self.year3.get(peers, ()) if found.kind == kind), None)

    @property
    def measure(self) -> str:
        """The name of its predictions: predicted, or predicted-without-1-by-alpha."""
        left_out = f"-without-{len(self.excluded)}-by-{self.criterion}" if self.excluded else ""
        return f"predicted{left_out}"


@dataclass(frozen=True)
class _Year:
    """One year's summaries: features x (rows by columns), targets by kind, and the system of each row."""

    x: Floats
    y: dict[str, Floats]
    system: np.ndarray
    systems: tuple[str, ...]
    keys: tuple[Key, ...]

    def means(self, values: Floats) -> Floats:
        size = len(self.systems)
        return np.asarray(np.bincount(self.system, values, size) / np.bincount(self.system, minlength=size))


def trained_metric(
    studies: Mapping[str, Study],
    *,
    target: str = PYRAMID,
    features: Mapping[str, ScoreTable] | None = None,
    names: Sequence[str] | None = None,
    files: Mapping[str, str] | None = None,
    exclude: Sequence[int] = (1,),
    exclude_by: Sequence[str] = CRITERIA,
    topics: str | None = None,
    peers: Peers = "both",
    human: Sequence[str] = (),
    pyramid: str | None = None,
    lenient: bool = False,
) -> Answer[tuple[Trained, ...]]:
    """Train on the first two of three years and predict the third; then without the ``exclude`` worst assessors.

    ``features`` are tables by year (``files`` names their sources) instead of the built-in features; ``names`` choose
    among both. ``topics``, ``peers`` and ``human`` are as in ``consistency``; the predictions are evaluated on those
    peers.
    """
    if len(studies) != 3:
        raise UsageError(f"a trained metric needs three years (studies), not {len(studies)}")
    for criterion in exclude_by:
        check_choice("criterion", criterion, CRITERIA)
    held, notes = topic_sets(studies, topics)
    first, second, third = held
    sets, remarks = peer_sets({third: held[third]}, peers, human)
    scores = given_scores(held, pyramid=pyramid)
    check_choice("target", target, kinds_of([s for s in scores if s.year in (first, second)]))
    columns = features_of(held, features, names, most=MOST_FEATURES, files=files)
    given = {year: _targets(scores, year, target) for year in held}
    everything = {
        **given,
        third: {(p.topic, p.system) for p in held[third].peers} or given[third] or _rows(columns, third),
    }
    for year, keys in everything.items():
        notes += columns.require(year, keys, lenient=lenient)
    last = _features(columns, third, sorted(everything[third]))
    trained = _Training(columns, scores, target, (first, second), last, sets, third)
    result = [trained.without("", ())]
    training = {year: held[year] for year in (first, second)}
    for criterion, out in _left_out(training, scores, target, exclude, exclude_by, pyramid, notes):
        result.append(trained.without(criterion, out, result[0]))
    made = Signature.of(
        "trained-metric",
        target=target,
        fits=FITS,
        features=len(columns.names),
        chosen="year-2-pearson",
        topics=topics or "all",
        peers="+".join(sets),
    )
    return Answer(
        "trained-metric",
        _sentence(result, target),
        tuple(_tables(result, target)),
        made,
        tuple(result),
        tuple(_figures(result, target)),
        (*notes, *remarks, *_unjudged(given[third], everything[third], target)),
    )


def predicted_scores(answer: Answer[tuple[Trained, ...]]) -> ScoreTable:
    """The predictions for the third year as a score table: a measure for each training."""
    scores = [
        Score(topic, system, trained.measure, value)
        for trained in answer.result
        for (topic, system), value in sorted(trained.scores.items())
    ]
    whole = answer.result[0]
    made = replace(
        answer.signature,
        choices=(*answer.signature.choices, ("fit", whole.fit), ("on", "+".join(whole.features))),
    )
    return ScoreTable.of_summaries(scores, made, answer.notes)


def _targets(scores: Sequence[Given], year: str, target: str) -> set[Key]:
    return {(s.topic, s.system) for s in scores if s.year == year and s.kind == target}


def _rows(columns: Features, year: str) -> set[Key]:
    """Where a year has no texts at all, its summaries are those with features."""
    return {key for name in columns.names for key in columns.columns[year][name]}


def _left_out(
    training: Mapping[str, Study],
    scores: Sequence[Given],
    target: str,
    exclude: Sequence[int],
    criteria: Sequence[str],
    pyramid: str | None,
    notes: list[Problem],
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The worst assessors of the two years people judged, by alpha and, for pyramid scores, by autoPyramid."""
    wanted = sorted({k for k in exclude if k})
    if not wanted:
        return
    found = consistency(training, pyramid=pyramid, exclude=(), resamples=0).result
    everybody = {s.assessor for s in scores if s.kind == target and s.year in training}
    for criterion in criteria:
        if criterion == AUTO and target != PYRAMID:
            continue
        worst = found.worst().get(AUTO if criterion == AUTO else target, [])
        for k in wanted:
            if k <= len(worst) and everybody - set(worst[:k]):
                yield criterion, tuple(worst[:k])
                continue
            what = f"{k} cannot be left out: {criterion} ranks {count(len(worst), 'assessor')}, and one must remain"
            notes.append(Problem("assessors", what, "warning"))


def _features(columns: Features, year: str, keys: Sequence[Key]) -> _Year:
    """Rows are the summaries that have every feature."""
    rows = {key: row for key in keys if (row := columns.row(year, key)) is not None}
    systems = sorted({system for _, system in rows})
    if len(systems) < 3:
        raise UsageError(f"{year}: {count(len(systems), 'system')} with features; at least 3 are needed")
    x = np.array(list(rows.values()), dtype=np.float64)
    if (large := np.abs(x).max(axis=0) > LARGEST).any():
        raise UsageError(
            f"{year}: feature {columns.names[int(large.argmax())]!r} has values beyond {LARGEST:g}; rescale it"
        )
    return _Year(x, {}, np.array([systems.index(system) for _, system in rows]), tuple(systems), tuple(rows))


def _judged(year: _Year, scores: Sequence[Given], name: str, target: str, without: frozenset[str]) -> _Year:
    """The rows of a year with a target by an assessor who is kept, and other kinds of score that all of them have."""
    held: dict[str, dict[Key, list[float]]] = {}
    for s in scores:
        if s.year == name and s.assessor not in without:
            held.setdefault(s.kind, {}).setdefault((s.topic, s.system), []).append(s.value)
    kept = [row for row, key in enumerate(year.keys) if key in held.get(target, {})]
    keys = tuple(year.keys[row] for row in kept)
    others = [kind for kind in held if kind != target and all(key in held[kind] for key in keys)]
    systems = sorted({system for _, system in keys})
    return _Year(
        year.x[kept],
        {kind: np.array([np.mean(held[kind][key]) for key in keys]) for kind in (target, *sorted(others)) if keys},
        np.array([systems.index(system) for _, system in keys], dtype=np.int64),
        tuple(systems),
        keys,
    )


@dataclass(frozen=True)
class _Training:
    """What is trained on, and the year that is predicted."""

    columns: Features
    scores: Sequence[Given]
    target: str
    years: tuple[str, str]
    last: _Year
    sets: Mapping[str, Authors]
    third: str

    def without(self, criterion: str, excluded: tuple[str, ...], whole: Trained | None = None) -> Trained:
        """Train without some assessors; ``whole`` is what training with all of them gave."""
        one, two = (self._training_year(year, frozenset(excluded)) for year in self.years)
        subset, fit, r, candidates = _choose(one, two, len(self.columns.names), self.target)
        model = _fit(two, subset, fit, self.target)
        values = model.predict(self.last.x[:, subset])
        scores = dict(zip(self.last.keys, map(float, values), strict=True))
        judged = _judged(self.last, self.scores, self.third, self.target, frozenset())
        gold = (
            dict(zip(judged.systems, judged.means(judged.y[self.target]).tolist(), strict=True)) if judged.keys else {}
        )
        year3, p = self._compared(judged, scores, gold, whole)
        means = zip(self.last.systems, map(float, self.last.means(values)), strict=True)
        return Trained(
            excluded,
            fit,
            tuple(self.columns.names[i] for i in subset),
            tuple(map(float, model.weights)),
            r,
            year3,
            candidates,
            tuple(Predicted(system, mean, gold.get(system)) for system, mean in means),
            scores,
            criterion,
            p,
        )

    def _training_year(self, year: str, without: frozenset[str]) -> _Year:
        keys = sorted(_targets(self.scores, year, self.target))
        found = _judged(_features(self.columns, year, keys), self.scores, year, self.target, without)
        if len(found.systems) < 3:
            what = f"{count(len(found.systems), 'system')} with features and {self.target} scores"
            raise UsageError(f"{year}: {what}; at least 3 are needed")
        return found

    def _compared(
        self, judged: _Year, scores: Mapping[Key, float], gold: Mapping[str, float], whole: Trained | None
    ) -> tuple[dict[str, tuple[Correlation, ...]], dict[str, float | None]]:
        """Correlations with what people said, over the summaries they judged, with and without human peers."""
        year3: dict[str, tuple[Correlation, ...]] = {}
        p: dict[str, float | None] = {}
        if not judged.keys:
            return year3, p
        mine = judged.means(np.array([scores[key] for key in judged.keys]))
        before = judged.means(np.array([whole.scores[key] for key in judged.keys])) if whole else None
        for name, out in self.sets.items():
            kept = [i for i, system in enumerate(judged.systems) if (self.third, system) not in out]
            truth = np.array([gold[judged.systems[i]] for i in kept])
            year3[name] = tuple(correlation(mine[kept], truth, kind) for kind in KINDS)
            if before is not None:
                p[name] = williams(mine[kept], before[kept], truth).p
        return year3, p


def _choose(one: _Year, two: _Year, features: int, target: str) -> tuple[tuple[int, ...], str, float, int]:
    """The subset and fit that, fitted on the first year, predict the systems of the second best."""
    subsets = list(chain.from_iterable(combinations(range(features), n) for n in range(1, features + 1)))
    candidates = [(subset, fit) for subset in subsets for fit in FITS]
    truth = two.means(two.y[target])
    predicted = np.array(
        [two.means(_fit(one, subset, fit, target).predict(two.x[:, subset])) for subset, fit in candidates]
    )
    r = row_correlations(predicted, truth)
    if np.isnan(r).all():
        raise UsageError(f"no model can be chosen: in the second year {target} is constant, or every prediction is")
    best = int(np.flatnonzero(r >= np.nanmax(r) - SAME)[0])
    return *candidates[best], float(r[best]), len(candidates)


def _fit(year: _Year, subset: Sequence[int], fit: str, target: str) -> Line:
    """Features are fitted in units of their spread, so that none is lost for being measured in millions."""
    x, y = year.x[:, subset], year.y[target]
    spread = x.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    line = _line(x / spread, y, year, fit, target)
    return Line(np.asarray(line.weights / spread), line.intercept)


def _line(x: Floats, y: Floats, year: _Year, fit: str, target: str) -> Line:
    if fit == "robust":
        return robust(x, y)
    if fit == "non-negative":
        return non_negative(x, y)
    others = [values for kind, values in year.y.items() if kind != target]
    return canonical(x, y, np.column_stack(others) if others else None)


# -- how people see it ---------------------------------------------------------------------------------------------


def _shown(r: float | None) -> str:
    return "undefined" if r is None else f"{r:.3f}"


def _sentence(result: Sequence[Trained], target: str) -> str:
    whole = result[0]
    text = (
        f"Of {whole.candidates:,} models, {whole.fit} on {listed(list(whole.features))} predicts {target} of year 2 "
        f"best (r = {whole.year2:.3f})"
    )
    if not whole.year3:
        best = max(whole.predicted, key=lambda p: p.predicted)
        number = count(len(whole.predicted), "system")
        return f"{text}; in year 3, which nobody judged, {best.system} is predicted to be the best of {number}."
    peers = next(iter(whole.year3))
    text += f"; on year 3 r = {_shown(whole.r(peers=peers))}"
    for less in result[1:]:
        text += f", {_shown(less.r(peers=peers))} trained without {listed(list(less.excluded))} ({less.criterion})"
    return text + "."


def _unjudged(given: set[Key], everything: set[Key], target: str) -> Iterator[Problem]:
    lacking = len(everything - given)
    if given and lacking:
        what = f"have no {target} score; they are predicted, but do not count in the correlations"
        yield Problem(f"year 3, {lacking} of {len(everything)} summaries", what, "warning")


def _tables(result: Sequence[Trained], target: str) -> Iterator[Table]:
    several = any(len(t.year3) > 1 for t in result)
    rows: list[tuple[Cell, ...]] = []
    for t in result:
        model = (", ".join(t.excluded) or "nobody", t.criterion or "-", t.fit, ", ".join(t.features), t.year2)
        for peers, found in t.year3.items():
            scope = (peers,) if several else ()
            rows.append((*model, *scope, *(each.r for each in found), t.p.get(peers)))
        if not t.year3:
            rows.append(model)
    columns = ("left out", "by", "fit", "features", "year 2", *(("peers",) if several else ()))
    judged = (*KINDS, "p, Williams") if result[0].year3 else ()
    yield Table("Trained metric on the third year", (*columns, *judged), tuple(rows))
    measures = [t.measure for t in result]
    means = [{p.system: p for p in t.predicted} for t in result]
    order = sorted(result[0].predicted, key=lambda p: (-p.predicted, p.system))
    gold = (target,) if result[0].year3 else ()
    ranking = tuple(
        (rank, p.system, *(held[p.system].predicted for held in means), *((p.gold,) if gold else ()))
        for rank, p in enumerate(order, 1)
    )
    yield Table("Systems of the third year as predicted", ("rank", "system", *measures, *gold), ranking)


def _figures(result: Sequence[Trained], target: str) -> Iterator[Scatter]:
    for t in result:
        points = tuple(Point(p.system, p.predicted, p.gold) for p in t.predicted if p.gold is not None)
        title = f"Trained without {', '.join(t.excluded)} ({t.criterion})" if t.excluded else "Trained on all assessors"
        if points:
            yield Scatter(f"{title}, year 3", "predicted", target, points)
