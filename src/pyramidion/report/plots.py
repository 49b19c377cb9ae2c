"""Figures of an answer as SVG, PDF or PNG, in the size of a paper's column. matplotlib is an extra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyramidion.analysis.answer import (
    Answer,
    Bars,
    Contour,
    Estimate,
    Figure,
    Heatmap,
    Intervals,
    Lines,
    Scatter,
    Tiers,
)
from pyramidion.errors import MissingExtraError, UsageError
from pyramidion.report.collect import Findings
from pyramidion.report.tables import file_name, numbered
from pyramidion.terminal import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

SUFFIXES = (".svg", ".pdf", ".png")
PAPER_SUFFIXES = (".svg", ".pdf")
WIDTH = 4.2
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, which colour-blind people can tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_NAMES = 40
"""More points than this are drawn without their names."""

STYLE = {
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "svg.fonttype": "none",  # text stays text: searchable, and small
    "svg.hashsalt": "pyramidion",  # the same figure is the same file
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a system may be called $x$
}


def plot(answer: Answer[Any], path: str | Path) -> list[Path]:
    """Draw every figure of an answer; the first gets the given name. Returns where they are."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{target}: plots can be written to {', '.join(SUFFIXES)}")
    if not answer.figures:
        raise UsageError(f"the question {answer.question} has nothing to plot")
    written = []
    for number, figure in enumerate(answer.figures, 1):
        file = numbered(target, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        save(figure, file)
        written.append(file)
    return written


def write_figures(findings: Findings, folder: str | Path) -> list[Path]:
    """Draw every figure of a report into a folder, as SVG and PDF; files of the same name are replaced."""
    need_plots()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [
        (target / f"{file_name(name)}{suffix}", figure)
        for name, figure in _report_figures(findings)
        for suffix in PAPER_SUFFIXES
    ]
    for path, figure in paths:
        save(figure, path)
    return [path for path, _ in paths]


def _report_figures(findings: Findings) -> Iterator[tuple[str, Figure]]:
    for scored in findings.scored:
        for kind, figure in zip(("ranking", "map"), scored.ranking.figures, strict=False):
            yield f"{kind}-{scored.method}", figure
    for answer in findings.agreements:
        for kind, figure in zip(("judges", "judge-pairs"), answer.figures, strict=False):
            yield f"{kind}-{answer.result.measure.replace(' ', '-')}", figure
    if findings.correlations:
        first, *scatters = findings.correlations.figures
        yield "correlations", first
        for scatter in scatters:
            yield f"scatter-{getattr(scatter, 'x', scatter.title)}", scatter
    for topic in findings.topics:
        if topic.units:
            yield f"pyramid-{topic.id}", findings.pyramid_figure(topic)


def save(figure: Figure, path: Path) -> None:
    """Draw one figure into a file."""
    matplotlib = _matplotlib()
    kind = path.suffix.lower().lstrip(".")
    # No date, so that the same data gives the same bytes.
    stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with matplotlib.rc_context({**STYLE, "axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        draw(figure).savefig(path, dpi=200, metadata=stamp)


def draw(figure: Figure) -> Drawing:
    """One figure as a matplotlib Figure, without touching any global state."""
    _matplotlib()
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(WIDTH, _height(figure)), layout="constrained")
    axes = drawing.subplots()
    axes.set_title(printable(figure.title), loc="left", wrap=True)
    if isinstance(figure, Lines):
        _lines(axes, figure)
    elif isinstance(figure, Scatter):
        _scatter(axes, figure)
    elif isinstance(figure, Intervals):
        _intervals(axes, figure)
    elif isinstance(figure, Bars):
        _bars(axes, figure)
    elif isinstance(figure, Contour):
        _contour(drawing, axes, figure)
    elif isinstance(figure, Tiers):
        _tiers(drawing, axes, figure)
    else:
        _heatmap(drawing, axes, figure)
    return drawing


def need_plots() -> None:
    """Check early that the extra is installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("A plot", "plots")


def _matplotlib() -> Any:
    need_plots()
    import matplotlib

    return matplotlib


def _height(figure: Figure) -> float:
    if isinstance(figure, Intervals):
        return max(1.6, 0.8 + 0.19 * len(figure.rows))
    if isinstance(figure, Heatmap):
        return max(2.6, 1.0 + 0.19 * len(figure.rows))
    if isinstance(figure, Tiers):
        return 0.9 + 0.28 * max(len(figure.tiers), 2)
    return 3.0


def _lines(axes: Axes, figure: Lines) -> None:
    for number, series in enumerate(figure.series):
        y = _gaps(series.y)
        marker = MARKERS[number % len(MARKERS)] if len(y) <= 15 else ""
        axes.plot(series.x, y, marker=marker, label=printable(series.name))
        if series.low and series.high:
            axes.fill_between(series.x, _gaps(series.low), _gaps(series.high), alpha=0.15, linewidth=0)
    if figure.mark is not None:
        axes.axvline(figure.mark, color="0.5", linestyle="--", linewidth=0.8)
    if figure.target is not None:
        axes.axhline(figure.target, color="0.5", linestyle="--", linewidth=0.8)
    places = sorted({x for series in figure.series for x in series.x})
    if _few_and_apart(places):
        axes.set_xticks(places)
    axes.set_xlabel(printable(figure.x))
    axes.set_ylabel(printable(figure.y))
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    if any(series.name for series in figure.series):
        axes.legend(ncols=1 + (len(figure.series) > 6))


def _few_and_apart(places: Sequence[float]) -> bool:
    """Whether every place can have its own tick: whole numbers whose labels do not run into each other."""
    whole = all(float(place).is_integer() for place in places)
    least = 0.04 * (places[-1] - places[0]) if places else 0.0
    return whole and len(places) <= 12 and all(b - a >= least for a, b in pairwise(places))


def _gaps(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _scatter(axes: Axes, figure: Scatter) -> None:
    axes.scatter([p.x for p in figure.points], [p.y for p in figure.points], s=14, zorder=3)
    if len(figure.points) <= MOST_NAMES:
        for point in figure.points:
            axes.annotate(
                printable(point.name),
                (point.x, point.y),
                textcoords="offset points",
                xytext=(4, 2),
                fontsize=6.5,
                color="0.3",
            )
    if figure.diagonal and figure.points:
        ends = [min(min(p.x, p.y) for p in figure.points), max(max(p.x, p.y) for p in figure.points)]
        axes.plot(ends, ends, color="0.5", linestyle="--", linewidth=0.8)
    axes.set_xlabel(printable(figure.x))
    axes.set_ylabel(printable(figure.y))
    axes.margins(0.12)
    axes.grid(color="0.92", linewidth=0.6)


def _intervals(axes: Axes, figure: Intervals) -> None:
    for place, row in enumerate(figure.rows):
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [place, place], color=COLOURS[0], linewidth=1.6, alpha=0.6)
        if row.value is not None:
            axes.plot([row.value], [place], "o", color=COLOURS[0])
            if row.label:
                at = row.high if row.high is not None else row.value
                axes.annotate(
                    row.label, (at, place), textcoords="offset points", xytext=(6, -2.5), fontsize=6.5, color="0.3"
                )
    if figure.mark is not None:
        axes.axvline(figure.mark, color="0.5", linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(figure.rows)), [_row_name(row) for row in figure.rows])
    axes.set_ylim(len(figure.rows) - 0.5, -0.5)  # the first row on top
    axes.set_xlabel(printable(figure.x))
    axes.margins(x=0.08)
    axes.grid(axis="x", color="0.9", linewidth=0.6)


def _row_name(row: Estimate) -> str:
    return printable(row.name if row.value is not None else f"{row.name} (undefined)")


def _bars(axes: Axes, figure: Bars) -> None:
    rows = [row for row in figure.rows if row.value is not None]
    axes.bar(range(len(rows)), [row.value or 0.0 for row in rows], color=COLOURS[0], width=0.7)
    for place, row in enumerate(rows):
        if row.low is not None and row.high is not None:
            axes.plot([place, place], [row.low, row.high], color="0.2", linewidth=1.0)
    axes.axhline(0, color="0.2", linewidth=0.8)
    axes.set_xlim(-0.7, max(len(rows), 6) - 0.3)  # few bars stay slim
    turned = 45 if max((len(row.name) for row in rows), default=0) * len(rows) > 50 else 0
    axes.set_xticks(
        range(len(rows)), [printable(row.name) for row in rows], rotation=turned, ha="right" if turned else "center"
    )
    axes.set_ylabel(figure.y)
    axes.grid(axis="y", color="0.9", linewidth=0.6)


def _heatmap(drawing: Drawing, axes: Axes, figure: Heatmap) -> None:
    values = [_gaps(row) for row in figure.values]
    image = axes.imshow(values, cmap="cividis", vmin=figure.low, vmax=figure.high, aspect="auto")
    axes.set_xticks(range(len(figure.columns)), list(map(printable, figure.columns)), rotation=90)
    axes.set_yticks(range(len(figure.rows)), list(map(printable, figure.rows)))
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    if len(figure.columns) <= 12:
        middle = (figure.low + figure.high) / 2
        for i, row in enumerate(figure.values):
            for j, value in enumerate(row):
                if value is not None:
                    colour = "black" if value > middle else "white"
                    axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=6, color=colour)
    drawing.colorbar(image, ax=axes, label=figure.label, shrink=0.8)


def _contour(drawing: Drawing, axes: Axes, figure: Contour) -> None:
    """Filled between ten heights, with a dot wherever there is a value: between dots nothing was measured."""
    import numpy as np

    heights = np.ma.masked_invalid([_gaps(row) for row in figure.values])
    low, high = float(heights.min()), float(heights.max())
    if high - low < 1e-9:
        low, high = low - 0.005, high + 0.005
    area = axes.contourf(figure.xs, figure.ys, heights, levels=np.linspace(low, high, 11), cmap="cividis")
    x, y = np.meshgrid(figure.xs, figure.ys)
    known = ~np.ma.getmaskarray(heights)
    axes.scatter(x[known], y[known], s=2, color="white", linewidths=0)
    if figure.mark is not None:
        axes.plot([figure.mark.x], [figure.mark.y], "X", color=COLOURS[1], markersize=7, clip_on=False)
    axes.set_xlabel(printable(figure.x))
    axes.set_ylabel(printable(figure.y))
    drawing.colorbar(area, ax=axes, label=printable(figure.label), format="%.3f")


def _tiers(drawing: Drawing, axes: Axes, figure: Tiers) -> None:
    """Blocks centred in rows. Each unit is one block wide, so a tier's width is its number of units."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.patches import Rectangle

    colour = colormaps["cividis"]
    for row, tier in enumerate(figure.tiers):
        start = -len(tier.shares) / 2
        for place, share in enumerate(sorted(tier.shares, reverse=True)):
            axes.add_patch(Rectangle((start + place + 0.05, row + 0.06), 0.9, 0.88, color=colour(share), linewidth=0))
    widest = max((len(tier.shares) for tier in figure.tiers), default=1)
    axes.set_xlim(-widest / 2 - 0.2, widest / 2 + 0.2)
    axes.set_ylim(len(figure.tiers), 0)
    axes.set_xticks([])
    axes.set_yticks([row + 0.5 for row in range(len(figure.tiers))], [str(tier.weight) for tier in figure.tiers])
    axes.set_ylabel("weight")
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    drawing.colorbar(ScalarMappable(cmap=colour), ax=axes, label=printable(figure.label), shrink=0.9)
