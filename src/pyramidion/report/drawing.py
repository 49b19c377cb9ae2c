"""How each kind of figure is drawn. It stays readable with 50 systems or 100 topics, and dark means more in all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING

from pyramidion.analysis.answer import Bars, Contour, Estimate, Figure, Heatmap, Intervals, Lines, Scatter, Tiers
from pyramidion.report.labels import LINE, SMALL, one_in, short_names, write_names
from pyramidion.terminal import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure as Drawing

WIDTH, WIDE = 4.2, 7.2
"""A paper's column and its page, in inches."""
TALLEST = 8.0
ROW = 0.19
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, which colour-blind people can tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STROKES = ("-", "--", ":", "-.")
RAMP = ("#e9f0ec", "#b0d4ca", "#70b1a3", "#236c61", "#04261f")
"""From light to dark: more is darker, on paper as on the report's pages, whose colours these are."""
MOST_POINTS = 60
"""More points than this are drawn without names: they are summaries, and the shape of the cloud matters."""
MOST_INSIDE = 6
"""A legend of more lines is below the plot, not in it."""


def draw(figure: Figure) -> Drawing:
    """One figure as a matplotlib Figure, without touching any global state."""
    from matplotlib.figure import Figure as Drawing

    wide = isinstance(figure, Heatmap) and len(figure.columns) > 20
    drawing = Drawing(figsize=(WIDE if wide else WIDTH, 3.0), layout="constrained")
    title = fill(printable(figure.title), 100 if wide else 58)
    drawing.suptitle(title, x=0.01, ha="left", fontsize=9)
    above = 0.17 * title.count("\n")
    if isinstance(figure, Lines):
        height = _lines(drawing, figure)
    elif isinstance(figure, Scatter):
        height = _scatter(drawing, figure)
    elif isinstance(figure, Intervals):
        height = _intervals(drawing, figure)
    elif isinstance(figure, Bars):
        height = _bars(drawing, figure)
    elif isinstance(figure, Contour):
        height = _contour(drawing, figure)
    elif isinstance(figure, Tiers):
        height = _tiers(drawing, figure)
    else:
        height = _heatmap(drawing, figure)
    drawing.set_figheight(height + above)
    return drawing


def _axis(text: str) -> str:
    return fill(printable(text), 48)


def _gaps(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _ramp() -> LinearSegmentedColormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("pyramidion", RAMP)


# -- curves --------------------------------------------------------------------------------------------------------


def _lines(drawing: Drawing, figure: Lines) -> float:
    axes = drawing.subplots()
    names = short_names([series.name for series in figure.series])
    for number, (series, name) in enumerate(zip(figure.series, names, strict=True)):
        y = _gaps(series.y)
        marker = MARKERS[number % len(MARKERS)] if len(y) <= 15 else ""
        stroke = STROKES[number // len(COLOURS) % len(STROKES)]
        axes.plot(series.x, y, marker=marker, linestyle=stroke, label=name)
        if series.low and series.high:
            axes.fill_between(series.x, _gaps(series.low), _gaps(series.high), alpha=0.15, linewidth=0)
    if figure.mark is not None:
        axes.axvline(figure.mark, color="0.5", linestyle="--", linewidth=0.8)
    if figure.target is not None:
        axes.axhline(figure.target, color="0.5", linestyle="--", linewidth=0.8)
    places = sorted({x for series in figure.series for x in series.x})
    if _few_and_apart(places):
        axes.set_xticks(places)
    axes.set_xlabel(_axis(figure.x))
    axes.set_ylabel(_axis(figure.y))
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    if not any(names):
        return 3.0
    if len(names) <= MOST_INSIDE:
        axes.legend()
        return 3.0
    drawing.legend(loc="outside lower left", ncols=2, fontsize=SMALL)
    return 3.0 + 1.25 * LINE * math.ceil(len(names) / 2)


def _few_and_apart(places: Sequence[float]) -> bool:
    """Whether every place can have its own tick: whole numbers whose labels do not run into each other."""
    whole = all(float(place).is_integer() for place in places)
    least = 0.04 * (places[-1] - places[0]) if places else 0.0
    return whole and len(places) <= 12 and all(b - a >= least for a, b in pairwise(places))


# -- points --------------------------------------------------------------------------------------------------------


def _scatter(drawing: Drawing, figure: Scatter) -> float:
    """Names beside their points; where they do not all fit, numbers in the order of the y-axis, and a key below."""
    axes = drawing.subplots()
    _cloud(axes, figure)
    points = sorted(figure.points, key=lambda point: -point.y)
    if len(points) > MOST_POINTS:
        return 3.0
    places = [(point.x, point.y) for point in points]
    names = short_names([point.name for point in points])
    if write_names(drawing, axes, places, names, far=False):
        return 3.0
    axes.remove()
    lines = math.ceil(len(points) / 2)
    drawing.set_figheight(3.0 + LINE * lines)
    axes, key = drawing.subplots(2, 1, height_ratios=(2.9, LINE * lines))
    _cloud(axes, figure)
    key.axis("off")
    for number, name in enumerate(names):
        place = (number // lines / 2, 1 - number % lines / lines)
        key.text(*place, f"{number + 1}  {name}", fontsize=SMALL, va="top", transform=key.transAxes)
    write_names(drawing, axes, places, [str(number + 1) for number in range(len(points))], far=True)
    return 3.0 + LINE * lines


def _cloud(axes: Axes, figure: Scatter) -> None:
    many = len(figure.points) > MOST_POINTS
    axes.scatter(
        [p.x for p in figure.points],
        [p.y for p in figure.points],
        s=6 if many else 14,
        alpha=0.5 if many else 1,
        linewidths=0,
        zorder=3,
    )
    if figure.diagonal and figure.points:
        ends = [min(min(p.x, p.y) for p in figure.points), max(max(p.x, p.y) for p in figure.points)]
        axes.plot(ends, ends, color="0.5", linestyle="--", linewidth=0.8)
    axes.set_xlabel(_axis(figure.x))
    axes.set_ylabel(_axis(figure.y))
    axes.margins(0.12)
    axes.grid(color="0.92", linewidth=0.6)


# -- rows ----------------------------------------------------------------------------------------------------------


def _row_names(axes: Axes, names: Sequence[str], most: float = TALLEST) -> float:
    """Name the rows, the first on top, as many of them as fit; returns the height of all rows."""
    size = min(ROW, most / max(len(names), 1))
    step = one_in(size)
    shown = [*enumerate(short_names(names))][::step]
    axes.set_yticks([place for place, _ in shown], [name for _, name in shown], fontsize=8 if size == ROW else SMALL)
    axes.set_ylim(len(names) - 0.5, -0.5)
    if step > 1:
        axes.set_ylabel(f"one in {step} is named", fontsize=SMALL)
    return size * len(names)


def _intervals(drawing: Drawing, figure: Intervals) -> float:
    axes = drawing.subplots()
    tall = _row_names(axes, [_row_name(row) for row in figure.rows])
    crowded = tall < 0.9 * ROW * len(figure.rows)
    for place, row in enumerate(figure.rows):
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [place, place], color=COLOURS[0], linewidth=1.6, alpha=0.6)
        if row.value is not None:
            axes.plot([row.value], [place], "o", color=COLOURS[0], markersize=2.5 if crowded else 4)
            if row.label and one_in(tall / len(figure.rows)) == 1:
                _beside(axes, row, place)
    if figure.mark is not None:
        axes.axvline(figure.mark, color="0.5", linestyle="--", linewidth=0.8)
    axes.set_xlabel(_axis(figure.x))
    axes.margins(x=0.08)
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    return max(1.6, 0.8 + tall)


def _beside(axes: Axes, row: Estimate, place: int) -> None:
    at = row.high if row.high is not None else row.value
    axes.annotate(
        printable(row.label),
        (float(at or 0.0), place),
        textcoords="offset points",
        xytext=(6, -2.5),
        fontsize=SMALL,
        color="0.3",
    )


def _row_name(row: Estimate) -> str:
    return printable(row.name if row.value is not None else f"{row.name} (undefined)")


def _bars(drawing: Drawing, figure: Bars) -> float:
    """Upright while names fit side by side, otherwise rows."""
    axes = drawing.subplots()
    rows = [row for row in figure.rows if row.value is not None]
    values, names = [row.value or 0.0 for row in rows], [printable(row.name) for row in rows]
    upright = sum(len(name) + 2 for name in names) <= 50
    places = range(len(rows))
    (axes.bar if upright else axes.barh)(places, values, 0.7, color=COLOURS[0])
    for place, row in enumerate(rows):
        if row.low is not None and row.high is not None:
            ends, here = [row.low, row.high], [place, place]
            axes.plot(*((here, ends) if upright else (ends, here)), color="0.2", linewidth=1.0)
    if upright:
        axes.axhline(0, color="0.2", linewidth=0.8)
        axes.set_xlim(-0.7, max(len(rows), 6) - 0.3)  # few bars stay slim
        axes.set_xticks(places, names)
        axes.set_ylabel(_axis(figure.y))
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        return 3.0
    axes.axvline(0, color="0.2", linewidth=0.8)
    axes.set_xlabel(_axis(figure.y))
    axes.locator_params(axis="x", nbins=5)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    return max(1.6, 0.8 + _row_names(axes, names))


# -- areas ---------------------------------------------------------------------------------------------------------


def _heatmap(drawing: Drawing, figure: Heatmap) -> float:
    """Where rows and columns are the same, columns have the numbers of the rows: names would not fit twice."""
    axes = drawing.subplots()
    image = axes.imshow(
        [_gaps(row) for row in figure.values], cmap=_ramp(), vmin=figure.low, vmax=figure.high, aspect="auto"
    )
    numbered = figure.rows == figure.columns and len(figure.rows) > 6
    rows = short_names(figure.rows, 22)
    tall = _row_names(axes, [f"{name}  {n}" for n, name in enumerate(rows, 1)] if numbered else rows)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    drawing.colorbar(image, ax=axes, label=_axis(figure.label), shrink=0.8)
    columns = [str(n) for n, _ in enumerate(rows, 1)] if numbered else short_names(figure.columns, 18)
    height = max(2.6, 0.7 + tall + (LINE if numbered else 0.065 * max(map(len, columns), default=0)))
    drawing.set_figheight(height)
    drawing.draw_without_rendering()  # now it is known how wide a column is
    across = axes.get_window_extent().width / drawing.dpi / max(len(columns), 1)
    step = one_in(across, 0.15 if numbered else LINE)
    shown = [*enumerate(columns)][::step]
    turned = 0 if numbered else 90
    axes.set_xticks([at for at, _ in shown], [name for _, name in shown], rotation=turned, fontsize=SMALL)
    if step > 1 and not numbered:
        axes.set_xlabel(f"one in {step} is named", fontsize=SMALL)
    if across >= 0.25 and one_in(tall / max(len(rows), 1)) == 1:
        _numbers(axes, figure)
    return height


def _numbers(axes: Axes, figure: Heatmap) -> None:
    span = figure.high - figure.low or 1.0
    for i, row in enumerate(figure.values):
        for j, value in enumerate(row):
            if value is not None:
                colour = "white" if (value - figure.low) / span > 0.6 else "black"
                axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=6, color=colour)


def _contour(drawing: Drawing, figure: Contour) -> float:
    """Filled between ten heights, with a dot wherever there is a value: between dots nothing was measured."""
    import numpy as np

    axes = drawing.subplots()
    heights = np.ma.masked_invalid([_gaps(row) for row in figure.values])
    low, high = float(heights.min()), float(heights.max())
    if high - low < 1e-9:
        low, high = low - 0.005, high + 0.005
    area = axes.contourf(figure.xs, figure.ys, heights, levels=np.linspace(low, high, 11), cmap=_ramp())
    x, y = np.meshgrid(figure.xs, figure.ys)
    known = ~np.ma.getmaskarray(heights)
    axes.scatter(x[known], y[known], s=2, color="0.3", linewidths=0)
    if figure.mark is not None:
        axes.plot([figure.mark.x], [figure.mark.y], "X", color=COLOURS[1], markersize=7, clip_on=False)
    axes.set_xlabel(_axis(figure.x))
    axes.set_ylabel(_axis(figure.y))
    drawing.colorbar(area, ax=axes, label=_axis(figure.label), format="%.3f")
    return 3.0


def _tiers(drawing: Drawing, figure: Tiers) -> float:
    """Blocks centred in rows. Each unit is one block wide, so a tier's width is its number of units."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.patches import Rectangle

    axes = drawing.subplots()
    colour = _ramp()
    for row, tier in enumerate(figure.tiers):
        start = -len(tier.shares) / 2
        for place, share in enumerate(sorted(tier.shares, reverse=True)):
            corner = (start + place + 0.05, row + 0.06)
            axes.add_patch(Rectangle(corner, 0.9, 0.88, facecolor=colour(share), edgecolor="0.6", linewidth=0.4))
    widest = max((len(tier.shares) for tier in figure.tiers), default=1)
    axes.set_xlim(-widest / 2 - 0.2, widest / 2 + 0.2)
    axes.set_ylim(len(figure.tiers), 0)
    axes.set_xticks([])
    size = min(0.28, TALLEST / max(len(figure.tiers), 1))
    shown = [*enumerate(figure.tiers)][:: one_in(size)]
    axes.set_yticks([row + 0.5 for row, _ in shown], [str(tier.weight) for _, tier in shown])
    axes.set_ylabel("weight")
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    drawing.colorbar(ScalarMappable(cmap=colour), ax=axes, label=_axis(figure.label), shrink=0.9)
    return 0.9 + size * max(len(figure.tiers), 2)
