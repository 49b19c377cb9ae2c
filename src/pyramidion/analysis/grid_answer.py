"""The result of a grid search, as a sentence, tables, figures and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyramidion.analysis.answer import (
    Cell,
    Contour,
    Estimate,
    Figure,
    Intervals,
    Lines,
    Point,
    Series,
    Table,
    count,
    p_text,
)
from pyramidion.analysis.settings import ScoredSettings, Setting, Value
from pyramidion.errors import Problem
from pyramidion.stats.anova import OneWay
from pyramidion.stats.intervals import Interval

LEVELS = ("summary", "system")
MOST_ROWS = 40
"""More settings than this are not drawn one by one."""


@dataclass(frozen=True, slots=True)
class Both:
    """A correlation at each level; None where it is undefined."""

    summary: float | None
    system: float | None

    def at(self, level: str) -> float | None:
        return self.summary if level == "summary" else self.system


@dataclass(frozen=True, slots=True)
class ScoredSetting:
    """One setting; ``undefined`` counts topics without a correlation, which the summary level leaves out. The intervals
    are over other topics; None where there is nothing to draw from."""

    setting: Setting
    r: Both
    undefined: int
    summary: Interval | None = None
    system: Interval | None = None


@dataclass(frozen=True, slots=True)
class ParameterEffect:
    """The analysis of variance of one parameter at one level."""

    parameter: str
    level: str
    anova: OneWay


@dataclass(frozen=True, slots=True)
class LevelMean:
    """All settings that share one value of a parameter: their mean correlations."""

    parameter: str
    value: float | str
    settings: int
    mean: Both


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A topic, the setting chosen on the others, its correlation there (at the level used for choosing) and on the
    topic."""

    topic: str
    chosen: Setting
    inside: float | None
    r: float | None


@dataclass(frozen=True)
class GridSearch:
    """``best`` is the first of ``ties`` equally good settings. ``honest`` is the correlation when every topic is
    scored by a setting chosen without it; None if no topic can be left out."""

    gold: str
    measure: str
    kind: str
    by: str
    parameters: tuple[str, ...]
    topics: int
    systems: int
    settings: tuple[ScoredSetting, ...]
    effects: tuple[ParameterEffect, ...]
    means: tuple[LevelMean, ...]
    best: ScoredSetting
    ties: int
    default: ScoredSetting | None
    average: Both
    left_out: tuple[LeftOut, ...]
    honest: Both | None

    def of(self, *values: Value) -> ScoredSetting:
        return next(found for found in self.settings if found.setting == values)

    def effect(self, parameter: str, level: str | None = None) -> OneWay:
        return next(e.anova for e in self.effects if (e.parameter, e.level) == (parameter, level or self.by))


# -- how people see it ---------------------------------------------------------------------------------------------


def tables(scored: ScoredSettings, result: GridSearch) -> tuple[Table, ...]:
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
            "share: of the variance over the grid. Settings are not a random sample: p describes only this grid.",
        ),
        Table(
            f"Mean {named} by value of a parameter",
            ("parameter", "value", *LEVELS, "settings"),
            tuple((m.parameter, shown(m.value), m.mean.summary, m.mean.system, m.settings) for m in result.means),
        ),
        *([_left_out_table(result)] if result.left_out else []),
        Table(
            f"{named.capitalize()} of every setting, best first",
            (*scored.parameters, "summary", "low", "high", "system", "system low", "system high", "undefined"),
            tuple(
                (*_cells(s.setting), s.r.summary, *_ends(s.summary), s.r.system, *_ends(s.system), s.undefined)
                for s in ranked
            ),
            "low and high: interval over other topics. undefined: topics on which a side does not vary, left out of "
            "the summary level.",
        ),
    )


def _choosing(result: GridSearch) -> Table:
    rows: list[tuple[Cell, ...]] = [("the best setting of all topics", *_pair(result.best.r))]
    if result.honest is not None:
        rows.append(("the best setting of the other topics, on each topic", *_pair(result.honest)))
    if result.default is not None:
        rows.append(("the default setting", *_pair(result.default.r)))
    rows.append(("the mean over all settings", *_pair(result.average)))
    note = "The first line is too good: the setting was chosen by it."
    return Table(f"Result of choosing at {result.by} level: {_title(result)}", ("setting", *LEVELS), tuple(rows), note)


def _left_out_table(result: GridSearch) -> Table:
    return Table(
        "Every topic left out once",
        ("topic", *result.parameters, "on the others", "on the topic"),
        tuple((left.topic, *_cells(left.chosen), left.inside, left.r) for left in result.left_out),
        f"The setting is the best one for the other topics at {result.by} level.",
    )


def _title(result: GridSearch) -> str:
    return f"{result.kind} correlation of {result.measure} with {result.gold}"


def is_number(value: Value) -> bool:
    return isinstance(value, int | float)


def shown(value: Value) -> str:
    """A value of a parameter as people write it."""
    return value if isinstance(value, str) else "-" if value is None else f"{value:g}"


def _cells(setting: Setting) -> tuple[str | None, ...]:
    return tuple(None if value is None else shown(value) for value in setting)


def _ends(found: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found.low, found.high)


def _pair(r: Both) -> tuple[float | None, float | None]:
    return r.summary, r.system


def _named(parameters: Sequence[str], setting: Setting) -> str:
    pairs = zip(parameters, setting, strict=True)
    return ", ".join(f"{name} {shown(value)}" for name, value in pairs if value is not None)


def sentence(scored: ScoredSettings, result: GridSearch) -> str:
    also = f" (tied with {count(result.ties - 1, 'other')})" if result.ties > 1 else ""
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
    if not most.anova.within:  # one setting for each value: there is nothing else that could matter
        return " ".join(parts)
    parts.append(
        f"{most.parameter.capitalize()} matters most: it explains {most.anova.share:.0%} of the variance between "
        f"settings ({p_text(most.anova.p)})."
    )
    return " ".join(parts)


def _beside(result: GridSearch) -> str:
    """Say in words what to compare the best figure with."""
    default = None if result.default is None else result.default.r
    others = {
        "when every topic is scored by the best setting of the others": result.honest,
        "with the defaults": default,
    }
    said = [f"{what} it is {r:.3f}" for what, both in others.items() if both and (r := both.at(result.by)) is not None]
    return "It was chosen by that figure" + (f"; {', '.join(said)}." if said else ".")


def remarks(result: GridSearch) -> list[Problem]:
    what = f"was chosen on the {count(result.topics, 'topic')} it is scored on, so its figure is too good; "
    if result.honest is not None:
        what += (
            "report the figure for which every topic is scored by the best setting of the others, or score other topics"
        )
    else:
        what += "no topic can be left out here, so score other topics with it"
    notes = [Problem("the best setting", what, "warning")]
    gone = sum(found.r.at(result.by) is None for found in result.settings)
    if gone:
        what = (
            f"have no {result.by}-level correlation, because one side is constant; they are left out of means and "
            "variances"
        )
        notes.append(Problem(count(gone, "setting"), what, "warning"))
    return notes


def figures(scored: ScoredSettings, result: GridSearch, axes: Sequence[str] | None) -> tuple[Figure, ...]:
    """The figures; the level used for choosing comes first."""
    levels = [level for level in (result.by, *LEVELS) if any(s.r.at(level) is not None for s in result.settings)]
    drawn = list(dict.fromkeys(levels))
    numbers = [name for name in scored.varied if all(map(is_number, scored.levels(name)))]
    names = [name for name in scored.varied if name not in numbers]
    rows = tuple(_by_setting(scored, result, level) for level in drawn) if names else ()
    if not numbers:
        return rows
    if len(numbers) == 1:
        return (_curve(result, numbers[0], drawn), *rows)
    x, y = axes or _most(result, scored, numbers)
    return (*(_contour(scored, result, x, y, level) for level in drawn), *rows)


def _by_setting(scored: ScoredSettings, result: GridSearch, level: str) -> Intervals:
    """Every setting with its interval, the best first."""
    places = [scored.parameters.index(name) for name in scored.varied]
    ranked = sorted(result.settings, key=lambda s: (s.r.at(level) is None, -(s.r.at(level) or 0.0)))
    rows = tuple(
        Estimate(
            ", ".join(shown(s.setting[place]) for place in places if s.setting[place] is not None),
            s.r.at(level),
            *_ends(s.summary if level == "summary" else s.system),
        )
        for s in ranked[:MOST_ROWS]
    )
    return Intervals(f"{_figure_title(result)}, {level} level", f"{result.kind} correlation", rows)


def _most(result: GridSearch, scored: ScoredSettings, numbers: Sequence[str]) -> tuple[str, str]:
    """The two parameters that explain most; the one with fewer levels lies on the x-axis."""
    share = {e.parameter: e.anova.share or 0.0 for e in result.effects if e.level == result.by}
    two = sorted(numbers, key=lambda name: -share[name])[:2]
    x, y = sorted(two, key=lambda name: (len(scored.levels(name)), name))
    return x, y


def _curve(result: GridSearch, parameter: str, levels: Sequence[str]) -> Lines:
    means = [m for m in result.means if m.parameter == parameter]
    x = tuple(float(m.value) for m in means)
    series = tuple(Series(f"{level} level", x, tuple(m.mean.at(level) for m in means)) for level in levels)
    return Lines(_figure_title(result), parameter, f"{result.kind} correlation", series)


def _contour(scored: ScoredSettings, result: GridSearch, x: str, y: str, level: str) -> Contour:
    """Each height is the mean over all settings of the other parameters."""
    column, row = scored.parameters.index(x), scored.parameters.index(y)
    xs, ys = scored.levels(x), scored.levels(y)
    cells: dict[tuple[float, float], list[float]] = {}
    for found in result.settings:
        left, up = found.setting[column], found.setting[row]
        if (r := found.r.at(level)) is not None and isinstance(left, int | float) and isinstance(up, int | float):
            cells.setdefault((left, up), []).append(r)
    heights = tuple(
        tuple(float(np.mean(cells[at])) if (at := (left, up)) in cells else None for left in xs) for up in ys
    )
    peak = max(cells, key=lambda at: (round(float(np.mean(cells[at])), 9), -xs.index(at[0]), -ys.index(at[1])))
    mark = Point("best", *peak)
    title = f"{_figure_title(result)}, {level} level"
    return Contour(title, x, y, f"{result.kind} correlation", tuple(xs), tuple(ys), heights, mark)


def _figure_title(result: GridSearch) -> str:
    return f"{result.measure} and {result.gold}"
