"""Which parameters of a metric matter, and what is gained by choosing them? Gao et al. 2019, table 1 and appendix B.

Every setting of a grid has a correlation with the gold, at summary level (the mean over topics, as in the paper) and at
system level. Table 5 of the paper: for each parameter a one-way analysis of variance of those correlations, with one
value per setting and the parameter's levels as groups. Figure 8: the correlation over two parameters as a contour plot.
Table 1, of embedders, is a grid whose only parameter is a name. A setting that does not use a parameter is in none of
its groups. Intervals are those of `correlate`, over other topics.

Settings are not a sample of anything and their correlations rest on the same summaries, so p describes the grid and
does not test a claim; the share of variance says the same more plainly. And the best setting was chosen by the very
figure it is reported with. So every topic is also left out once: the setting that is best on the other topics scores
it, and those scores are correlated with the gold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pyramidion.analysis.answer import Answer
from pyramidion.analysis.correlate import interval
from pyramidion.analysis.grid_answer import (
    LEVELS,
    Both,
    GridSearch,
    LeftOut,
    LevelMean,
    ParameterEffect,
    ScoredSetting,
    figures,
    is_number,
    remarks,
    sentence,
    shown,
    tables,
)
from pyramidion.analysis.inputs import Floats, column_means
from pyramidion.analysis.settings import AgainstGold, ScoredSettings, Value, against
from pyramidion.errors import UsageError, check_choice
from pyramidion.stats.anova import OneWay, one_way
from pyramidion.stats.correlation import Kind, correlation, row_correlations
from pyramidion.stats.intervals import Interval
from pyramidion.study import ScoreTable, Signature

KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")
_EQUAL = 1e-9


def grid_search(
    scored: ScoredSettings,
    gold: ScoreTable,
    *,
    gold_measure: str | None = None,
    by: str = "summary",
    kind: Kind = "pearson",
    axes: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Answer[GridSearch]:
    """Correlate every setting with the gold. ``by`` is the level at which settings are chosen, ``axes`` the two
    parameters to plot (by default those that explain most); ``resamples`` of topics give each correlation its
    interval."""
    check_search({name: scored.levels(name) for name in scored.parameters}, by=by, kind=kind, axes=axes)
    scored = scored.in_order()
    data = against(scored, gold, gold_measure)
    by = "system" if data.target is None else by
    result = _searched(scored, data, by, kind, resamples, seed)
    signature = Signature.of(
        "grid",
        gold=data.gold,
        measure=scored.measure,
        by=by,
        kind=kind,
        **{
            name: "/".join(shown(level).replace("|", "/") for level in scored.levels(name))
            for name in scored.parameters
        },
        **scored.fixed,
        interval="percentile",
        resamples=resamples,
        seed=seed,
    )
    return Answer(
        "grid",
        sentence(scored, result),
        tables(scored, result),
        signature,
        result,
        figures(scored, result, axes),
        (*data.notes, *remarks(result)),
    )


def check_search(levels: Mapping[str, Sequence[Value]], *, by: str, kind: str, axes: Sequence[str] | None) -> None:
    """Check the question against these parameters and their values, before anything is scored."""
    varied = [name for name, values in levels.items() if len(set(values)) > 1]
    if not varied:
        raise UsageError("there is only one setting; give at least two values for some parameter")
    check_choice("level", by, LEVELS)
    check_choice("correlation", kind, KINDS)
    for name in axes or ():
        check_choice("varied parameter", name, varied)
        if not all(map(is_number, levels[name])):
            raise UsageError(f"the axes of a contour plot must be numbers, but the values of {name} are names")
    if axes is not None and (len(axes), len(set(axes))) != (2, 2):
        raise UsageError("a contour plot needs two different parameters as axes")


def _searched(scored: ScoredSettings, data: AgainstGold, by: str, kind: Kind, resamples: int, seed: int) -> GridSearch:
    each, systems = data.by_topic(kind), data.of_systems(kind)
    summaries = column_means(each.T)  # over topics, for each setting
    r = {"summary": summaries, "system": systems}
    if np.isnan(r[by]).all():
        raise UsageError(f"no setting has a defined {by}-level correlation with {data.gold}: one side does not vary")
    settings = tuple(
        ScoredSetting(
            setting,
            Both(_known(summaries[i]), _known(systems[i])),
            int(np.isnan(each[i]).sum()),
            _interval(data, i, "summary", kind, resamples, seed),
            _interval(data, i, "system", kind, resamples, seed),
        )
        for i, setting in enumerate(scored.settings)
    )
    best = _best(r[by])
    effects = [
        ParameterEffect(name, level, _effect(scored, name, r[level])) for level in LEVELS for name in scored.varied
    ]
    left_out, honest = _leave_out(scored, data, by, kind)
    return GridSearch(
        data.gold,
        scored.measure,
        kind,
        by,
        scored.parameters,
        len(data.topics),
        len(data.systems),
        settings,
        tuple(effects),
        tuple(_level_means(scored, r)),
        settings[best],
        int((r[by] > r[by][best] - _EQUAL).sum()),
        next((found for found in settings if found.setting == scored.default), None),
        Both(_mean(summaries), _mean(systems)),
        left_out,
        honest,
    )


def _interval(data: AgainstGold, setting: int, level: str, kind: Kind, resamples: int, seed: int) -> Interval | None:
    if data.target is None or len(data.topics) < 2 or not resamples:
        return None
    return interval(data.scores[setting], data.target, level, kind, False, resamples, seed)


def _effect(scored: ScoredSettings, parameter: str, r: Floats) -> OneWay:
    """The settings that have the parameter, grouped by its value."""
    values = [setting[scored.parameters.index(parameter)] for setting in scored.settings]
    levels = scored.levels(parameter)
    has_it = np.array([value is not None for value in values])
    return one_way(r[has_it], [levels.index(value) for value in values if value is not None])


def _best(r: Floats) -> int:
    """The first of the best; rounding errors make no setting better."""
    return int(np.flatnonzero(r > np.nanmax(r) - _EQUAL)[0])


def _level_means(scored: ScoredSettings, r: dict[str, Floats]) -> list[LevelMean]:
    found = []
    for name in scored.varied:
        place = scored.parameters.index(name)
        for level in scored.levels(name):
            here = np.array([setting[place] == level for setting in scored.settings])
            mean = Both(_mean(r["summary"][here]), _mean(r["system"][here]))
            found.append(LevelMean(name, level, int(here.sum()), mean))
    return found


def _leave_out(
    scored: ScoredSettings, data: AgainstGold, by: str, kind: Kind
) -> tuple[tuple[LeftOut, ...], Both | None]:
    """Every topic scored by the setting that is best on the other topics."""
    if data.target is None or len(data.topics) < 2:
        return (), None
    rows, found = [], []
    for place, topic in enumerate(data.topics):
        others = data.without(place)
        r = column_means(others.by_topic(kind).T) if by == "summary" else others.of_systems(kind)
        if np.isnan(r).all():
            continue
        best = _best(r)
        row = data.scores[best, place]
        rows.append(place)
        inside = correlation(row, data.target[place], kind).r
        found.append((LeftOut(topic, scored.settings[best], _known(r[best]), inside), row))
    if not found:
        return (), None
    scores, target = np.stack([row for _, row in found]), data.target[rows]
    honest = Both(
        _mean(row_correlations(scores, target, kind)), correlation(column_means(scores), column_means(target), kind).r
    )
    return tuple(left for left, _ in found), honest


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None
