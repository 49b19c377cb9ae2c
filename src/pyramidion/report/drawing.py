"""Small pictures as inline SVG: an interval in a table's cell, a scatter plot, a pyramid as tiers.

Places across are percentages, so pictures fit any width; colours are classes of the page's style.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pyramidion.analysis.answer import Scatter, Tiers
from pyramidion.report.markup import Markup, element

STEPS = 10
"""Colour steps of a heat map, from h0 to h9."""

MOST_BLOCKS = 36
"""A tier with more units is drawn as one bar."""


@dataclass(frozen=True)
class Scale:
    """From numbers to percentages, with some room at both ends."""

    low: float
    high: float

    def at(self, value: float) -> str:
        return f"{self.place(value):.2f}%"

    def place(self, value: float) -> float:
        span = self.high - self.low or 1.0
        return 2 + 96 * (min(max(value, self.low), self.high) - self.low) / span

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers across the scale."""
        span = self.high - self.low or 1.0
        raw = span / max(most - 1, 1)
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [round(n * step, 10) for n in range(first, math.floor(self.high / step + 1e-9) + 1)]


def nice_scale(low: float, high: float) -> Scale:
    """A scale that ends at a round number above everything shown."""
    if high <= low:
        high = low + 1.0
    rough = Scale(low, high).ticks(5)
    step = rough[1] - rough[0] if len(rough) > 1 else high - low
    return Scale(
        math.floor(low / step + 1e-9) * step if low < 0 else 0.0, round(math.ceil(high / step - 1e-9) * step, 10)
    )


def axis(scale: Scale) -> Markup:
    """The numbers above a column of intervals. Every second one is minor: a phone has no room for it."""
    numbers = [
        element(
            "text",
            f"{tick:g}",
            x=scale.at(tick),
            y="12",
            text_anchor=_anchor(scale.place(tick)),
            class_="tick minor" if place % 2 else "tick",
        )
        for place, tick in enumerate(scale.ticks())
    ]
    return element("svg", numbers, class_="axis", width="100%", height="16", aria_hidden="true")


def _anchor(place: float) -> str:
    return "start" if place < 6 else "end" if place > 94 else "middle"


def interval(
    scale: Scale, value: float | None, low: float | None = None, high: float | None = None, mark: float | None = None
) -> Markup:
    """A dot on its interval. The numbers stand beside it in the table, so it is hidden from screen readers."""
    parts: list[Markup] = [
        element("line", x1=scale.at(tick), x2=scale.at(tick), y1="0", y2="100%", class_="grid")
        for tick in scale.ticks()
    ]
    if mark is not None:
        parts.append(element("line", x1=scale.at(mark), x2=scale.at(mark), y1="0", y2="100%", class_="mark"))
    if value is not None:
        zero, at = sorted((scale.place(max(scale.low, 0.0)), scale.place(value)))
        parts.append(element("rect", x=f"{zero:.2f}%", width=f"{at - zero:.2f}%", y="8", height="10", class_="bar"))
        if low is not None and high is not None:
            parts.append(element("line", x1=scale.at(low), x2=scale.at(high), y1="13", y2="13", class_="whisker"))
        parts.append(element("circle", cx=scale.at(value), cy="13", r="4.5", class_="dot"))
    return element("svg", parts, class_="interval", width="100%", height="26", aria_hidden="true")


def heat_step(value: float, low: float, high: float) -> int:
    span = high - low or 1.0
    return min(int(STEPS * (value - low) / span), STEPS - 1)


def scatter(figure: Scatter, says: str) -> Markup:
    """One point a system, with its name on hover; ``says`` is the text alternative."""
    width, height, left, bottom = 300, 220, 44, 34
    x = _span(point.x for point in figure.points)
    y = _span(point.y for point in figure.points)

    def across(value: float) -> float:
        return left + (width - left - 12) * (value - x.low) / (x.high - x.low)

    def up(value: float) -> float:
        return height - bottom - (height - bottom - 10) * (value - y.low) / (y.high - y.low)

    def line(x1: float, y1: float, x2: float, y2: float) -> Markup:
        return element("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}", class_="grid")

    def number(value: float, x: float, y: float, anchor: str) -> Markup:
        return element("text", f"{value:g}", x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_="tick")

    return element(
        "svg",
        [line(across(t), 10, across(t), height - bottom) for t in x.ticks(4)],
        [line(left, up(t), width - 12, up(t)) for t in y.ticks(4)],
        [number(t, across(t), height - bottom + 14, "middle") for t in x.ticks(4)],
        [number(t, left - 6, up(t) + 3.5, "end") for t in y.ticks(4)],
        [
            element(
                "circle",
                element("title", f"{point.name}: {point.x:.3f}, {point.y:.3f}"),
                cx=f"{across(point.x):.1f}",
                cy=f"{up(point.y):.1f}",
                r="5",
                class_="point",
            )
            for point in figure.points
        ],
        element("text", figure.x, x=width - 12, y=height - 4, text_anchor="end", class_="label"),
        element("text", figure.y, x=left + 5, y="19", class_="label"),
        viewBox=f"0 0 {width} {height}",
        class_="scatter",
        role="img",
        aria_label=says,
    )


def _span(values: Iterable[float]) -> Scale:
    held = list(values) or [0.0, 1.0]
    low, high = min(held), max(held)
    room = (high - low or abs(high) or 1.0) * 0.08
    return Scale(min(low - room, 0.0) if low >= 0 and low < (high - low) else low - room, high + room)


def pyramid(figure: Tiers, says: str) -> Markup:
    """Tiers from the top down, a block a unit; a block's colour is the share (0 to 1) of summaries that express it."""
    tiers = figure.tiers
    widest = max((min(len(shares), MOST_BLOCKS) for _, shares in tiers), default=1)
    size, gap, height = 10.0, 2.0, 12.0
    width = widest * (size + gap) - gap
    parts: list[Markup] = []
    for row, (_, shares) in enumerate(tiers):
        y = row * (height + gap)
        if len(shares) > MOST_BLOCKS:
            step = heat_step(sum(shares) / len(shares), 0, 1)
            parts.append(
                element("rect", x="0", y=f"{y:g}", width=f"{width:g}", height=f"{height:g}", class_=f"f{step}")
            )
            continue
        start = (width - (len(shares) * (size + gap) - gap)) / 2
        for place, share in enumerate(sorted(shares, reverse=True)):
            x = start + place * (size + gap)
            step = heat_step(share, 0, 1)
            parts.append(
                element("rect", x=f"{x:g}", y=f"{y:g}", width=f"{size:g}", height=f"{height:g}", class_=f"f{step}")
            )
    total = max(len(tiers) * (height + gap) - gap, 1)
    return element("svg", parts, viewBox=f"0 0 {width:g} {total:g}", class_="tiers", role="img", aria_label=says)
