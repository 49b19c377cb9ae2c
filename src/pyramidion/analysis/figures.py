"""What a figure shows, as data. How it is drawn is the business of ``pyramidion.report``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Series:
    """One line; ``low`` and ``high`` make a band around it. None leaves a gap."""

    name: str
    x: tuple[float, ...]
    y: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Lines:
    """Curves over a number; ``mark`` and ``target`` are places on the x-axis and the y-axis worth a dashed line."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]
    mark: float | None = None
    target: float | None = None


@dataclass(frozen=True)
class Point:
    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Scatter:
    """One point a system (or summary); ``diagonal`` draws where the two would be equal."""

    title: str
    x: str
    y: str
    points: tuple[Point, ...]
    diagonal: bool = False


@dataclass(frozen=True)
class Estimate:
    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    label: str = ""


@dataclass(frozen=True)
class Intervals:
    """Values with their intervals, one a row, in the order given; ``mark`` is a value worth a dashed line."""

    title: str
    x: str
    rows: tuple[Estimate, ...]
    mark: float | None = None


@dataclass(frozen=True)
class Bars:
    """One bar a name; a bar may go below 0."""

    title: str
    y: str
    rows: tuple[Estimate, ...]


@dataclass(frozen=True)
class Heatmap:
    """A matrix with a colour for each number; None stays blank."""

    title: str
    label: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class Contour:
    """Heights over two numbers: ``values`` has a row for each of ``ys`` and a column for each of ``xs``, both rising.
    None leaves a hole; ``mark`` is a place worth a cross."""

    title: str
    x: str
    y: str
    label: str
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    values: tuple[tuple[float | None, ...], ...]
    mark: Point | None = None


class Tier(NamedTuple):
    """Units of one weight: for each, a share from 0 to 1 that its colour shows."""

    weight: int
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Tiers:
    """A pyramid, from the top tier down, a block a unit; ``label`` says what the shares are."""

    title: str
    label: str
    tiers: tuple[Tier, ...]


Figure = Lines | Scatter | Intervals | Bars | Heatmap | Contour | Tiers
