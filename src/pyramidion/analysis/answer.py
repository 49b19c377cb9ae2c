"""The answer to a question: a sentence, labelled tables, figures, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

from pyramidion.errors import Problem
from pyramidion.study import Signature
from pyramidion.study.study import NOT_REAL

# ----------------------------------------------------------------------
# What a figure shows, as data. How it is drawn is the business of ``pyramidion.report``.


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
    """Curves over a number; ``mark`` and ``target`` are positions on the x-axis and the y-axis to mark with a dashed
    line."""

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
    """One point per system (or summary); ``diagonal`` draws the line on which both are equal."""

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
    """Values with their intervals, one per row, in the given order; ``mark`` is a value to mark with a dashed line."""

    title: str
    x: str
    rows: tuple[Estimate, ...]
    mark: float | None = None


@dataclass(frozen=True)
class Bars:
    """One bar per name; bars may be negative."""

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
    None leaves a hole; ``mark`` is a place to mark with a cross."""

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
    """A pyramid, from the top tier down, one block per unit; ``label`` says what the shares are."""

    title: str
    label: str
    tiers: tuple[Tier, ...]


Figure = Lines | Scatter | Intervals | Bars | Heatmap | Contour | Tiers


Cell = str | bool | int | float | Decimal | None
Result = TypeVar("Result")


@dataclass(frozen=True)
class Table:
    """Rows under named columns. A cell is text, a count, a number, money, or None if undefined. ``heads`` are
    shorter column names for people. The first ``naming`` columns identify a row."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    digits: int = 3
    heads: tuple[str, ...] = ()
    naming: int = 1

    @property
    def shown_heads(self) -> tuple[str, ...]:
        return self.heads or self.columns

    def column(self, name: str) -> list[Cell]:
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def plain_rows(self) -> list[list[str | float | None]]:
        """Every cell for programs: full precision, and money as a number."""
        return [[float(cell) if isinstance(cell, Decimal) else cell for cell in row] for row in self.rows]

    def records(self) -> list[dict[str, str | float | None]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.plain_rows()]

    def shown(self) -> list[list[str]]:
        """Every cell as people read it."""
        shows = [_show_p if _is_p(name) else show for name in self.columns]
        return [[how(cell, self.digits) for how, cell in zip(shows, row, strict=True)] for row in self.rows]

    def __str__(self) -> str:
        rows = [list(self.shown_heads), *self.shown()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.columns))]
        right = [is_number_column(self, i) for i in range(len(self.columns))]
        lines = [
            "  ".join(
                text.rjust(width) if to_right else text.ljust(width)
                for text, width, to_right in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in rows
        ]
        return "\n".join([self.title, *lines, *([self.note] if self.note else [])])


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """The answer to one question.

    ``result`` holds the named numbers for programs; ``tables`` and ``figures`` the same for people; ``notes`` say what
    was missing, undefined or left out.
    """

    question: str
    sentence: str
    tables: tuple[Table, ...]
    signature: Signature
    result: Result
    figures: tuple[Figure, ...] = ()
    notes: tuple[Problem, ...] = field(default=())

    def __str__(self) -> str:
        remarks = [f"! {note}" for note in self.notes[:10]]
        if len(self.notes) > 10:
            remarks.append(f"! ... and {len(self.notes) - 10} more notes")
        parts = [self.sentence, *map(str, self.tables), "\n".join([str(self.signature), *remarks])]
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"<Answer to {self.question}: {self.sentence}>"

    def as_simulated(self) -> Answer[Result]:
        """The same answer, with a mark on all that is shown or written of it: it rests on a rehearsal."""
        return replace(
            self,
            sentence=f"Simulated: {self.sentence}",
            tables=tuple(replace(table, title=f"{table.title} (simulated)") for table in self.tables),
            figures=tuple(replace(figure, title=f"{figure.title} (simulated)") for figure in self.figures),
            signature=self.signature.as_simulated(),
            notes=(Problem("SIMULATED", NOT_REAL, "warning"), *self.notes),
        )

    def as_json(self) -> dict[str, Any]:
        """One JSON object: what `--json` prints."""
        return {
            "question": self.question,
            "answer": self.sentence,
            "signature": str(self.signature),
            "tables": [
                {"title": table.title, "columns": list(table.columns), "rows": table.records(), "note": table.note}
                for table in self.tables
            ],
            "notes": [note.as_dict() for note in self.notes],
        }


def show(cell: Cell, digits: int = 3) -> str:
    """Format a number with the given number of decimals, a tiny one in scientific notation, and None as a dash."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else ""
    if isinstance(cell, Decimal):
        return f"{cell:,.2f}"
    if isinstance(cell, float):
        cell = 0.0 if abs(cell) <= 1e-12 else cell  # rounding errors have no sign
        if 0 < abs(cell) < 0.5 * 10**-digits:
            return f"{cell:.1g}"
        return f"{cell:.{digits}f}"
    return str(cell)


def _is_p(column: str) -> bool:
    return column == "p" or column.startswith("p, ") or column.endswith(" p")


def _show_p(cell: Cell, digits: int = 3) -> str:
    smallest = 10**-digits
    return f"<{smallest:.{digits}f}" if isinstance(cell, float) and cell < smallest / 2 else show(cell, digits)


def is_number_column(table: Table, place: int) -> bool:
    """Whether a column is right-aligned: everything in it is a number or undefined."""
    return bool(table.rows) and all(not isinstance(row[place], str | bool) for row in table.rows)


def p_text(p: float | None) -> str:
    """A p-value in a sentence."""
    if p is None:
        return "p undefined"
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)


def count(number: int, noun: str, plural: str = "") -> str:
    """1 topic, 2 topics, 1,000 topics."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    """Some names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
