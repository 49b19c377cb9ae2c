"""Figures stay readable at real size: no text over another text or outside the picture, and dark means more."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure as Drawing
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from pyramidion.analysis.answer import (
    Bars,
    Contour,
    Estimate,
    Figure,
    Heatmap,
    Intervals,
    Lines,
    Point,
    Scatter,
    Series,
    Tier,
    Tiers,
)
from pyramidion.report.drawing import RAMP, draw
from pyramidion.report.labels import short_names
from pyramidion.report.plots import STYLE

NAMES = ("abs_semsim_out", "ext_pnbert_out_bert_lstm_pn_rl", "abs_ptr_generator_output_pointer_gen_cov", "T5", "lead")
TOPICS = tuple(f"cnndm{1000 + 37 * n}" for n in range(100))


def systems(count: int) -> tuple[str, ...]:
    return tuple(f"{NAMES[n % 5]}{n}" for n in range(count))


def matrix(rows: tuple[str, ...], columns: tuple[str, ...], low: float = 0.0) -> Heatmap:
    values = np.random.default_rng(3).uniform(low, 1, (len(rows), len(columns)))
    return Heatmap("modified of every summary", "modified", rows, columns, tuple(map(tuple, values.tolist())), low)


def figures(count: int) -> dict[str, Figure]:
    """Every kind of figure, with so many systems whose scores are as close as real ones."""
    rng, names = np.random.default_rng(count), systems(count)
    values = np.sort(rng.normal(0.45, 0.06, count))[::-1].tolist()
    near = [value + rng.normal(0, 0.02) for value in values]
    points = tuple(Point(name, x, y) for name, x, y in zip(names, near, values, strict=True))
    rows = tuple(Estimate(name, v, v - 0.05, v + 0.05, "abcdef") for name, v in zip(names, values, strict=True))
    x = tuple(map(float, range(1, 20)))
    return {
        "intervals": Intervals("Systems by modified", "modified", rows),
        "scatter": Scatter("rouge-su4-recall and modified, one point per system", "rouge", "modified", points),
        "diagonal": Scatter("Two runs", "first run", "second run", points, diagonal=True),
        "bars": Bars("Manual minus autoPyramid score by assessor", "difference", rows),
        "pairs": matrix(names, names, -1.0),
        "map": matrix(names, TOPICS),
        "few topics": matrix(names, TOPICS[:4]),
        "lines": Lines(
            "Score by pyramid size", "n", "score", tuple(Series(n, x, tuple(v / 20 for v in x)) for n in names)
        ),
    }


BY_TOPIC: dict[str, Figure] = {
    "rows": Intervals("Agreement by topic", "alpha", tuple(Estimate(t, n / 100) for n, t in enumerate(TOPICS))),
    "bars by topic": Bars("By topic", "difference", tuple(Estimate(t, n - 50.0) for n, t in enumerate(TOPICS))),
    "tiers": Tiers("Pyramid", "share of summaries", tuple(Tier(w, (0.5,) * (90 - w)) for w in range(80, 0, -1))),
    "contour": Contour("Grid", "x", "y", "r", (0.0, 1.0), (0.0, 1.0), ((0.1, 0.2), (0.3, 0.4)), Point("", 0.5, 0.5)),
}
ALL = {f"{name} {count}": figure for count in (25, 50) for name, figure in figures(count).items()} | BY_TOPIC


def texts(drawing: Drawing) -> list[tuple[str, Bbox]]:
    """What can be read, and where it is. Axes hold ticks that they do not draw, so whoever draws is listened to."""
    drawn: list[Text] = []

    class Listening(RendererAgg):
        def draw_text(self, *given: Any, mtext: Text | None = None, **more: Any) -> None:
            if mtext is not None and mtext not in drawn:
                drawn.append(mtext)

    canvas = FigureCanvasAgg(drawing)
    width, height = canvas.get_width_height()
    renderer = Listening(width, height, drawing.dpi)
    drawing.draw(renderer)
    return [(each.get_text(), Text.get_window_extent(each, renderer)) for each in drawn if each.get_text().strip()]


@pytest.mark.parametrize("name", ALL)
def test_no_text_covers_another_or_is_cut_off(name: str) -> None:
    with rc_context(STYLE):
        drawing = draw(ALL[name])
        found = texts(drawing)
    whole = drawing.bbox
    outside = [
        text for text, box in found if box.x0 < -1 or box.y0 < -1 or box.x1 > whole.x1 + 1 or box.y1 > whole.y1 + 1
    ]
    assert outside == []
    shrunk = [(text, Bbox.from_extents(box.x0 + 0.5, box.y0 + 1, box.x1 - 0.5, box.y1 - 1)) for text, box in found]
    assert [(a, b) for (a, one), (b, other) in combinations(shrunk, 2) if one.overlaps(other)] == []
    assert drawing.get_figheight() <= 9.5  # a page
    assert drawing.axes[0].get_window_extent().width > 0.3 * whole.width


def test_every_system_of_a_scatter_plot_can_be_identified() -> None:
    """25 names do not fit beside their points: each is in the key under its number."""
    with rc_context(STYLE):
        found = [text for text, _ in texts(draw(figures(25)["scatter"]))]
    assert {str(n) for n in range(1, 26)} <= set(found)
    assert [text.split()[0] for text in found if text.split()[0].isdigit() and "  " in text] == list(
        map(str, range(1, 26))
    )
    with rc_context(STYLE):
        few = [text for text, _ in texts(draw(Scatter("a", "x", "y", (Point("one", 0, 0), Point("two", 1, 1)))))]
    assert {"one", "two"} <= set(few)


def test_long_names_keep_both_ends_and_stay_apart() -> None:
    long = ["a" * 30 + "1", "a" * 30 + "2", "b" * 20 + "x" + "b" * 20, "b" * 20 + "y" + "b" * 20, "short"]
    cut = short_names(long)
    assert len(set(cut)) == 5
    assert cut[0].endswith("1")
    assert cut[4] == "short"
    assert max(map(len, cut)) <= 30


def test_dark_means_more() -> None:
    lightness = [float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722))) for colour in RAMP]
    assert lightness == sorted(lightness, reverse=True)
    for figure in (figures(6)["pairs"], BY_TOPIC["tiers"], BY_TOPIC["contour"]):
        ramps = [axes.collections or axes.images for axes in draw(figure).axes]
        [colours] = {
            tuple(each.get_cmap()([0.0, 1.0]).ravel())
            for part in ramps
            for each in part
            if each.get_array() is not None
        }
        assert sum(colours[:3]) > sum(colours[4:7])
