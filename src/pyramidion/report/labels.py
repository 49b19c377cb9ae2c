"""Names in a figure that never run into each other: cut in the middle, thinned, or numbers with a key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pyramidion.terminal import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

SMALL = 6.5
LINE = 0.125
"""Inches from one line of small text to the next."""
LONGEST = 28
_DIRECTIONS = tuple(
    (math.cos(turn * math.pi / 6), math.sin(turn * math.pi / 6)) for turn in (1, 0, 11, 2, 10, 5, 6, 7, 4, 8, 3, 9)
)
_NEAR, _FAR = (4.0, 6.0), (4.0, 6.0, 9.0, 13.0, 18.0, 24.0, 31.0, 39.0)


class Box(NamedTuple):
    """A rectangle in points."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: Box) -> bool:
        return self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high

    def is_within(self, other: Box) -> bool:
        return (
            self.left >= other.left and self.right <= other.right and self.low >= other.low and self.high <= other.high
        )


def short_names(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Long names cut in the middle, since systems often differ at either end; names that then look alike get their
    number in the list as well."""
    cut = [_cut(printable(name), longest) for name in names]
    return [name if cut.count(name) == 1 or name in names else f"{name} {n}" for n, name in enumerate(cut, 1)]


def _cut(name: str, longest: int) -> str:
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[: longest - 1 - half]}…{name[-half:]}"


def one_in(size: float, needed: float = LINE) -> int:
    """Of how many neighbours, each so many inches from the next, one can have its name."""
    return max(1, math.ceil(needed / size - 1e-9)) if size > 0 else 1


def write_names(
    drawing: Drawing, axes: Axes, places: Sequence[tuple[float, float]], names: Sequence[str], *, far: bool
) -> bool:
    """Write a name beside each point, where it covers neither a point nor another name. Writes nothing and says False
    if there is no such place for one of them. With ``far`` a name may be further away, with a line to its point."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.font_manager import FontProperties

    canvas: Any = FigureCanvasAgg(drawing)
    renderer = canvas.get_renderer()
    drawing.draw_without_rendering()  # the layout must be settled before anything is measured
    scale = 72 / drawing.dpi
    at = [tuple(float(each) * scale for each in axes.transData.transform(place)) for place in places]
    window = axes.get_window_extent()
    room = Box(*(edge * scale for edge in (window.x0, window.y0, window.x1, window.y1)))
    sizes = [renderer.get_text_width_height_descent(name, FontProperties(size=SMALL), False) for name in names]
    taken = [Box(x - 2.6, y - 2.6, x + 2.6, y + 2.6) for x, y in at]
    chosen: list[tuple[float, float, float]] = []
    for (x, y), (width, height, _) in zip(at, sizes, strict=True):
        found = _place(x, y, width * scale, height * scale, room, taken, _FAR if far else _NEAR)
        if found is None:
            return False
        chosen.append(found)
    for name, place, (right, up, distance) in zip(names, places, chosen, strict=True):
        line = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
        axes.annotate(
            name,
            place,
            textcoords="offset points",
            xytext=(right, up),
            fontsize=SMALL,
            color="0.25",
            va="bottom",
            arrowprops=line if distance > _NEAR[-1] else None,
        ).set_in_layout(False)
    return True


def _place(
    x: float, y: float, width: float, height: float, room: Box, taken: list[Box], distances: Sequence[float]
) -> tuple[float, float, float] | None:
    """The nearest free place for a text: how far its lower left corner is from the point, and the distance."""
    for distance in distances:
        for across, up in _DIRECTIONS:
            left = distance * across - (0 if across > 0.1 else width if across < -0.1 else width / 2)
            low = distance * up - (0 if up > 0.6 else height if up < -0.6 else height / 2)
            box = Box(x + left - 0.6, y + low - 0.6, x + left + width + 0.6, y + low + height + 0.6)
            if box.is_within(room) and not any(box.meets(other) for other in taken):
                taken.append(box)
                return left, low, distance
    return None
