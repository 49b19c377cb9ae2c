"""Which parameters of a metric matter, and what is gained by choosing them? Gao et al. 2019, appendix B.

Every setting of a grid has a correlation with the gold, at summary level (the mean over topics, as in the paper) and at
system level. Table 5 of the paper: for each parameter a one-way analysis of variance of those correlations, one value a
setting, groups being the parameter's levels. Figure 8: the correlation over two parameters as a contour plot.

Settings are no sample of anything and their correlations rest on the same summaries, so p is a description of the grid
rather than a test of a claim; the share of variance says the same without pretending. And the best setting was chosen
by the figure it is praised with. So every topic is also left out once: the setting that is best on the other topics
scores it, and those scores are correlated with the gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyramidion.analysis.answer import Answer, Cell, Table, count, p_text
from pyramidion.analysis.figures import Contour, Figure, Lines, Point, Series
from pyramidion.analysis.inputs import Floats, column_means
from pyramidion.analysis.settings import AgainstGold, ScoredSettings, Setting, against
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.model import ScoreTable, Signature
from pyramidion.stats.anova import OneWay, one_way
from pyramidion.stats.correlation import Kind, correlation, row_correlations

LEVELS = ("summary", "system")
KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class Both:
    """A correlation at each level; None where it is undefined."""

    summary: float | None
    system: float | None

    def at(self, level: str) -> float | None:
        return self.summary if level == "summary" else self.system


@dataclass(frozen=True, slots=True)
class ScoredSetting:
    """One setting; ``undefined`` counts topics without a correlation, which the summary level leaves out."""

    setting: Setting
    r: Both
    undefined: int


@dataclass(frozen=True, slots=True)
class Effect:
    """The analysis of variance of one parameter at one level."""

    parameter: str
    level: str
    anova: OneWay


@dataclass(frozen=True, slots=True)
class LevelMean:
    """All settings that share one value of a parameter: their mean correlations."""

    parameter: str
    value: float
    settings: int
    mean: Both


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A topic, the setting chosen on the others, its correlation there (at the level chosen by) and on the topic."""

    topic: str
    chosen: Setting
    inside: float | None
    r: float | None


@dataclass(frozen=True)
class GridSearch:
    """``best`` is the first of ``ties`` equally good settings. ``honest`` is what topics get from settings that were
    chosen without them; None where nothing can be left out."""

    gold: str
    measure: str
    kind: str
    by: str
    parameters: tuple[str, ...]
    topics: int
    systems: int
    settings: tuple[ScoredSetting, ...]
    effects: tuple[Effect, ...]
    means: tuple[LevelMean, ...]
    best: ScoredSetting
    ties: int
    default: ScoredSetting | None
    average: Both
    left_out: tuple[LeftOut, ...]
    honest: Both | None

    def of(self, *values: float) -> ScoredSetting:
        return next(found for found in self.settings if found.setting == values)

    def effect(self, parameter: str, level: str | None = None) -> OneWay:
        return next(e.anova for e in self.effects if (e.parameter, e.level) == (parameter, level or self.by))


def grid_search(
    scored: ScoredSettings,
    gold: ScoreTable,
    *,
    gold_measure: str | None = None,
    by: str = "summary",
    kind: Kind = "pearson",
    axes: Sequence[str] | None = None,
) -> Answer[GridSearch]:
    """Correlate every setting with the gold. ``by`` is the level settings are chosen by, ``axes`` the two parameters
    to plot (by default those that explain most)."""
    check_search(scored.varied, by=by, kind=kind, axes=axes)
    scored = scored.in_order()
    data = against(scored, gold, gold_measure)
    by = "system" if data.target is None else by
    result = _searched(scored, data, by, kind)
    signature = Signature.of(
        "grid",
        gold=data.gold,
        measure=scored.measure,
        by=by,
        kind=kind,
        **{name: "/".join(f"{level:g}" for level in scored.levels(name)) for name in scored.parameters},
        **scored.fixed,
    )
    figures = _figures(scored, result, axes)
    notes = (*data.notes, *_remarks(result))
    return Answer("grid", _sentence(scored, result), _tables(scored, result), signature, result, figures, notes)


def check_search(varied: Sequence[str], *, by: str, kind: str, axes: Sequence[str] | None) -> None:
    """Refuse what cannot be asked about these parameters, before anything is scored."""
    if not varied:
        raise UsageError("there is one setting only; give a parameter at least two values")
    check_choice("level", by, LEVELS)
    check_choice("correlation", kind, KINDS)
    for name in axes or ():
        check_choice("varied parameter", name, varied)
    if axes is not None and (len(axes), len(set(axes))) != (2, 2):
        raise UsageError("a contour plot has two different parameters as axes")


def _searched(scored: ScoredSettings, data: AgainstGold, by: str, kind: Kind) -> GridSearch:
    each, systems = data.by_topic(kind), data.of_systems(kind)
    summaries = column_means(each.T)  # over topics, for each setting
    r = {"summary": summaries, "system": systems}
    if np.isnan(r[by]).all():
        raise UsageError(f"no setting has a defined {by}-level correlation with {data.gold}: one side does not vary")
    settings = tuple(
        ScoredSetting(setting, Both(_known(a), _known(b)), int(np.isnan(row).sum()))
        for setting, a, b, row in zip(scored.settings, summaries, systems, each, strict=True)
    )
    best = _best(r[by])
    effects = [
        Effect(name, level, one_way(r[level], [s[scored.parameters.index(name)] for s in scored.settings]))
        for level in LEVELS
        for name in scored.varied
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


def _best(r: Floats) -> int:
    """The first of the best; rounding errors make no setting better."""
    return int(np.flatnonzero(r > np.nanmax(r) - _EQUAL)[0])


def _level_means(scored: ScoredSettings, r: dict[str, Floats]) -> list[LevelMean]:
    found = []
    for name in scored.varied:
        values = np.array([setting[scored.parameters.index(name)] for setting in scored.settings])
        for level in scored.levels(name):
            here = values == level
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


# -- how people see it ---------------------------------------------------------------------------------------------


def _tables(scored: ScoredSettings, result: GridSearch) -> tuple[Table, ...]:
    ranked = sorted(result.settings, key=lambda s: (s.r.at(result.by) is None, -(s.r.at(result.by) or 0.0)))
    named = _title(result)
    return (
        _choosing(result),
        Table(
            f"One-way analysis of variance of {named} over {count(len(result.settings), 'setting')}",
            ("parameter", "level", "F", "DF", "DF within", "p", "share"),
            tuple(
                (e.parameter, e.level, e.anova.f, e.anova.between, e.anova.within, e.anova.p, e.anova.share)
                for e in result.effects
            ),
            "share: of the variance over the grid. Settings are no random sample: p describes the grid.",
        ),
        Table(
            f"Mean {named} by value of a parameter",
            ("parameter", "value", *LEVELS, "settings"),
            tuple((m.parameter, f"{m.value:g}", m.mean.summary, m.mean.system, m.settings) for m in result.means),
        ),
        *([_left_out_table(result)] if result.left_out else []),
        Table(
            f"{named.capitalize()} of every setting, best first",
            (*scored.parameters, *LEVELS, "undefined"),
            tuple((*_shown(s.setting), s.r.summary, s.r.system, s.undefined) for s in ranked),
            "undefined: topics on which a side does not vary, left out of the summary level.",
        ),
    )


def _choosing(result: GridSearch) -> Table:
    rows: list[tuple[Cell, ...]] = [("the best setting of all topics", *_pair(result.best.r))]
    if result.honest is not None:
        rows.append(("the best setting of the other topics, on each topic", *_pair(result.honest)))
    if result.default is not None:
        rows.append(("the default setting", *_pair(result.default.r)))
    rows.append(("all settings on average", *_pair(result.average)))
    note = "The first line flatters: the setting was chosen by it."
    return Table(f"What choosing by {result.by} level gives: {_title(result)}", ("setting", *LEVELS), tuple(rows), note)


def _left_out_table(result: GridSearch) -> Table:
    return Table(
        "Every topic left out once",
        ("topic", *result.parameters, "on the others", "on the topic"),
        tuple((left.topic, *_shown(left.chosen), left.inside, left.r) for left in result.left_out),
        f"The setting is the best of the other topics by the {result.by} level.",
    )


def _title(result: GridSearch) -> str:
    return f"{result.kind} correlation of {result.measure} with {result.gold}"


def _shown(setting: Setting) -> tuple[str, ...]:
    return tuple(f"{value:g}" for value in setting)


def _pair(r: Both) -> tuple[float | None, float | None]:
    return r.summary, r.system


def _named(parameters: Sequence[str], setting: Setting) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in zip(parameters, setting, strict=True))


def _sentence(scored: ScoredSettings, result: GridSearch) -> str:
    also = f" (and {count(result.ties - 1, 'other')} just as well)" if result.ties > 1 else ""
    about = f"{count(result.systems, 'system')}, {count(result.topics, 'topic')}"
    parts = [
        f"Of {count(len(result.settings), 'setting')}, {_named(scored.parameters, result.best.setting)}{also} agrees "
        f"best with {result.gold} at {result.by} level: {result.kind} {result.best.r.at(result.by):.3f} ({about}).",
        _beside(result),
    ]
    effects = [e for e in result.effects if e.level == result.by and e.anova.share is not None]
    if not effects:
        return " ".join([*parts, "No parameter makes any difference."])
    most = max(effects, key=lambda e: e.anova.share or 0.0)
    parts.append(
        f"{most.parameter.capitalize()} matters most: it explains {most.anova.share:.0%} of the variance between "
        f"settings ({p_text(most.anova.p)})."
    )
    return " ".join(parts)


def _beside(result: GridSearch) -> str:
    """What the best figure is to be held against, in words."""
    default = None if result.default is None else result.default.r
    others = {"where every topic has the best setting of the others": result.honest, "with the defaults": default}
    said = [f"{what} it is {r:.3f}" for what, both in others.items() if both and (r := both.at(result.by)) is not None]
    return "It was chosen by that figure" + (f"; {', '.join(said)}." if said else ".")


def _remarks(result: GridSearch) -> list[Problem]:
    what = f"was chosen on the {count(result.topics, 'topic')} it is scored on, so its figure is too good; "
    if result.honest is not None:
        what += "report the one where every topic has the best setting of the others, or score other topics"
    else:
        what += "there is nothing to leave out here, so score other topics with it"
    notes = [Problem("the best setting", what, "warning")]
    gone = sum(found.r.at(result.by) is None for found in result.settings)
    if gone:
        what = f"have no {result.by}-level correlation, one side being constant; left out of means and variances"
        notes.append(Problem(count(gone, "setting"), what, "warning"))
    return notes


def _figures(scored: ScoredSettings, result: GridSearch, axes: Sequence[str] | None) -> tuple[Figure, ...]:
    """The level that was chosen by comes first."""
    levels = [level for level in (result.by, *LEVELS) if any(s.r.at(level) is not None for s in result.settings)]
    shown = list(dict.fromkeys(levels))
    if len(scored.varied) == 1:
        return (_curve(result, scored.varied[0], shown),)
    x, y = axes or _most(result, scored)
    return tuple(_contour(scored, result, x, y, level) for level in shown)


def _most(result: GridSearch, scored: ScoredSettings) -> tuple[str, str]:
    """The two parameters that explain most; the one with fewer levels lies on the x-axis."""
    share = {e.parameter: e.anova.share or 0.0 for e in result.effects if e.level == result.by}
    two = sorted(scored.varied, key=lambda name: -share[name])[:2]
    x, y = sorted(two, key=lambda name: (len(scored.levels(name)), name))
    return x, y


def _curve(result: GridSearch, parameter: str, levels: Sequence[str]) -> Lines:
    means = [m for m in result.means if m.parameter == parameter]
    x = tuple(m.value for m in means)
    series = tuple(Series(f"{level} level", x, tuple(m.mean.at(level) for m in means)) for level in levels)
    return Lines(_figure_title(result), parameter, f"{result.kind} correlation", series)


def _contour(scored: ScoredSettings, result: GridSearch, x: str, y: str, level: str) -> Contour:
    """Each height is the mean over all settings of the other parameters."""
    column, row = scored.parameters.index(x), scored.parameters.index(y)
    xs, ys = scored.levels(x), scored.levels(y)
    cells: dict[Setting, list[float]] = {}
    for found in result.settings:
        if (r := found.r.at(level)) is not None:
            cells.setdefault((found.setting[column], found.setting[row]), []).append(r)
    heights = tuple(
        tuple(float(np.mean(cells[at])) if (at := (left, up)) in cells else None for left in xs) for up in ys
    )
    peak = max(cells, key=lambda at: (round(float(np.mean(cells[at])), 9), -xs.index(at[0]), -ys.index(at[1])))
    mark = Point("best", *peak)
    title = f"{_figure_title(result)}, {level} level"
    return Contour(title, x, y, f"{result.kind} correlation", tuple(xs), tuple(ys), heights, mark)


def _figure_title(result: GridSearch) -> str:
    return f"{result.measure} and {result.gold}"
