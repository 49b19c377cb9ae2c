"""A metric trained on human scores, with and without noisy assessors. Owczarzak et al. 2012, section 5 and Table 5.

After CLASSY (Rankel et al. 2011): every subset of features with each of three fits (robust regression, non-negative
least squares, canonical correlation) is fitted on the first year; the one that predicts the second year best is
fitted anew on the second and predicts the third. All of it again without the least consistent assessors of those years.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from pyramidion.analysis.answer import Answer, Table, count, listed
from pyramidion.analysis.assessors import PYRAMID, Given, given_scores, kinds_of
from pyramidion.analysis.consistency import consistency
from pyramidion.analysis.features import summary_features
from pyramidion.analysis.figures import Point, Scatter
from pyramidion.analysis.inputs import Floats
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.model import ScoreTable, Signature, Study
from pyramidion.stats.correlation import Correlation, Kind, correlation, row_correlations
from pyramidion.stats.regression import Line, canonical, non_negative, robust

FITS = ("robust", "non-negative", "canonical")
MOST_FEATURES = 10
KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")


class Predicted(NamedTuple):
    """A system's mean in the third year, as predicted and as people scored it."""

    system: str
    predicted: float
    gold: float


@dataclass(frozen=True)
class Trained:
    """The chosen model and how it does on the third year. ``excluded`` are the assessors left out of training."""

    excluded: tuple[str, ...]
    fit: str
    features: tuple[str, ...]
    weights: tuple[float, ...]
    year2: float
    year3: tuple[Correlation, ...]
    candidates: int
    predicted: tuple[Predicted, ...]

    def r(self, kind: str = "pearson") -> float | None:
        return next(found.r for found in self.year3 if found.kind == kind)


@dataclass(frozen=True)
class _Year:
    """One year's summaries: features x (rows by columns), targets by kind, and the system of each row."""

    x: Floats
    y: dict[str, Floats]
    system: np.ndarray
    systems: tuple[str, ...]

    def means(self, values: Floats) -> Floats:
        size = len(self.systems)
        return np.asarray(np.bincount(self.system, values, size) / np.bincount(self.system, minlength=size))


def trained_metric(
    studies: Mapping[str, Study],
    *,
    target: str = PYRAMID,
    features: Mapping[str, ScoreTable] | None = None,
    exclude: Sequence[int] = (1,),
    pyramid: str | None = None,
) -> Answer[tuple[Trained, ...]]:
    """Train on the first two of three years, test on the third; then without the ``exclude`` worst assessors."""
    if len(studies) != 3:
        raise UsageError(f"a trained metric needs three years (studies), not {len(studies)}")
    tables = features or {year: summary_features(study) for year, study in studies.items()}
    scores = given_scores(studies, pyramid=pyramid)
    check_choice("target", target, kinds_of(scores))
    names = tuple(sorted(set.intersection(*(set(tables[year].measures) for year in studies))))
    if not 1 <= len(names) <= MOST_FEATURES:
        raise UsageError(
            f"the years share {len(names)} features; every subset is tried, so it must be 1 to {MOST_FEATURES}"
        )
    first, second, _ = studies
    training = {year: study for year, study in studies.items() if year in (first, second)}
    worst = consistency(training, pyramid=pyramid).result.ranking(target)[::-1]
    found: list[Trained] = []
    notes: list[Problem] = []
    for k in (0, *exclude):
        out = tuple(worst[:k])
        if len(out) < k:
            what = f"{k} cannot be left out: consistency on identical summaries ranks {count(len(worst), 'assessor')}"
            notes.append(Problem("assessors", what, "warning"))
            continue
        years = [
            _year(tables[year], scores, year, target, names, frozenset() if place == 2 else frozenset(out))
            for place, year in enumerate(studies)
        ]
        found.append(_train(years, names, target, out))
    made = Signature.of("trained-metric", target=target, fits=FITS, features=len(names), chosen="year-2-pearson")
    result = tuple(found)
    return Answer(
        "trained-metric",
        _sentence(result, target),
        _tables(result),
        made,
        result,
        tuple(_figures(result, target)),
        tuple(notes),
    )


def _year(
    table: ScoreTable, scores: Sequence[Given], year: str, target: str, names: Sequence[str], without: frozenset[str]
) -> _Year:
    """Rows are the summaries that have every feature and a target by an assessor who is kept."""
    columns = [table.per_summary(name) for name in names]
    held: dict[str, dict[tuple[str, str], list[float]]] = {}
    for s in scores:
        if s.year == year and s.assessor not in without:
            held.setdefault(s.kind, {}).setdefault((s.topic, s.system), []).append(s.value)
    complete = [key for key in held.get(target, {}) if all(column.get(key) is not None for column in columns)]
    rows = sorted(complete)
    systems = sorted({system for _, system in rows})
    if len(systems) < 3:
        raise UsageError(
            f"{year}: {count(len(systems), 'system')} with features and {target} scores; at least 3 are needed"
        )
    others = [kind for kind in held if kind != target and all(key in held[kind] for key in rows)]
    return _Year(
        np.array([[column[key] for column in columns] for key in rows], dtype=np.float64),
        {kind: np.array([np.mean(held[kind][key]) for key in rows]) for kind in (target, *sorted(others))},
        np.array([systems.index(system) for _, system in rows]),
        tuple(systems),
    )


def _train(years: Sequence[_Year], names: Sequence[str], target: str, excluded: tuple[str, ...]) -> Trained:
    one, two, three = years
    subsets = list(chain.from_iterable(combinations(range(len(names)), n) for n in range(1, len(names) + 1)))
    candidates = [(subset, fit) for subset in subsets for fit in FITS]
    truth = two.means(two.y[target])
    predicted = np.array(
        [two.means(_fit(one, subset, fit, target).predict(two.x[:, subset])) for subset, fit in candidates]
    )
    r = row_correlations(predicted, truth)
    if np.isnan(r).all():
        raise UsageError(f"no model can be chosen: on the second year {target} or every prediction is constant")
    best = int(np.nanargmax(r))
    subset, fit = candidates[best]
    model = _fit(two, subset, fit, target)
    last, gold = three.means(model.predict(three.x[:, subset])), three.means(three.y[target])
    return Trained(
        excluded,
        fit,
        tuple(names[i] for i in subset),
        tuple(map(float, model.weights)),
        float(r[best]),
        tuple(correlation(last, gold, kind) for kind in KINDS),
        len(candidates),
        tuple(Predicted(*row) for row in zip(three.systems, map(float, last), map(float, gold), strict=True)),
    )


def _fit(year: _Year, subset: Sequence[int], fit: str, target: str) -> Line:
    x, y = year.x[:, subset], year.y[target]
    if fit == "robust":
        return robust(x, y)
    if fit == "non-negative":
        return non_negative(x, y)
    others = [values for kind, values in year.y.items() if kind != target]
    return canonical(x, y, np.column_stack(others) if others else None)


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Sequence[Trained], target: str) -> str:
    whole = result[0]
    r = whole.r()
    text = (
        f"Of {whole.candidates:,} models, {whole.fit} on {listed(list(whole.features))} predicts {target} of year 2 "
        f"best; on year 3 r = {'undefined' if r is None else f'{r:.3f}'}"
    )
    for less in result[1:]:
        after = less.r()
        text += f", {'undefined' if after is None else f'{after:.3f}'} trained without {listed(list(less.excluded))}"
    return text + "."


def _tables(result: Sequence[Trained]) -> tuple[Table, ...]:
    rows = tuple(
        (", ".join(t.excluded) or "nobody", t.fit, ", ".join(t.features), t.year2, *(found.r for found in t.year3))
        for t in result
    )
    return (Table("Trained metric on the third year", ("left out", "fit", "features", "year 2", *KINDS), rows),)


def _figures(result: Sequence[Trained], target: str) -> Iterator[Scatter]:
    for t in result:
        points = tuple(Point(system, predicted, gold) for system, predicted, gold in t.predicted)
        title = f"Trained without {', '.join(t.excluded)}" if t.excluded else "Trained on all assessors"
        yield Scatter(f"{title}, year 3", "predicted", target, points)
