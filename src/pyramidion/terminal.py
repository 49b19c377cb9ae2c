"""Tables for terminals of any width: a table that is too wide goes on below, and no number or name is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

GAP = 3
"""Blanks that a column of the drawn table takes besides its widest cell."""

LEAST_TEXT = 16
"""A column of text gets no narrower than this, or than its longest cell; its cells go over several lines instead."""


def printable(text: str) -> str:
    """Names come from files: what is not printable must not reach a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def is_numeric(text: str) -> bool:
    return text.strip("-+.<%$€£ ").replace(".", "").replace(",", "").replace("e-", "").isdigit()


@dataclass(frozen=True)
class TerminalTable:
    """Rows under headings. The first ``naming`` columns say what a row is about: every part of a wide table has them.

    Columns of numbers are set to the right and never broken.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    caption: str = ""
    naming: int = 1

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        for number, places in enumerate(self._parts(options.max_width)):
            yield self._drawn(places, "" if number else self.title)
        if self.caption:
            yield Text(printable(self.caption), style="dim", overflow="fold")

    def _numbers(self, place: int) -> bool:
        cells = [row[place] for row in self.rows if row[place] not in {"", "-"}]
        return bool(cells) and all(map(is_numeric, cells))

    def _head(self, place: int) -> str:
        """A long heading over numbers goes over several lines, broken at hyphens and blanks where it has some."""
        head = printable(self.heads[place])
        if not self._numbers(place):
            return head
        longest = max(map(len, head.replace("-", "- ").split()), default=0)
        room = 12 if "-" in head else LEAST_TEXT
        return "\n".join(wrap(head, max(room, min(longest, LEAST_TEXT), self._widest(place))))

    def _widest(self, place: int) -> int:
        return max((cell_len(row[place]) for row in self.rows), default=0)

    def _width(self, place: int) -> int:
        head = max(map(cell_len, self._head(place).split("\n")))
        widest = self._widest(place)
        return max(head, widest) if self._numbers(place) else min(max(head, widest), LEAST_TEXT)

    def _parts(self, width: int) -> list[list[int]]:
        """Which columns stand side by side: as many as fit, each time after those that name the rows."""
        naming = list(range(self.naming))
        used = first = sum(self._width(place) + GAP for place in naming) + 1
        parts = [naming]
        for place in range(self.naming, len(self.heads)):
            needed = self._width(place) + GAP
            if used + needed > width and len(parts[-1]) > self.naming:
                parts.append(list(naming))
                used = first
            parts[-1] = [*parts[-1], place]
            used += needed
        return parts

    def _drawn(self, places: Sequence[int], title: str) -> RenderableType:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        drawn = Table(
            title=Text(printable(title)) if title else None,
            title_justify="left",
            title_style="",
            box=SIMPLE_HEAD,
        )
        for place in places:
            number = self._numbers(place)
            justify = "right" if number else "left"
            drawn.add_column(Text(self._head(place)), justify=justify, no_wrap=number, overflow="fold")  # type: ignore[arg-type]
        for row in self.rows:
            drawn.add_row(*(Text(printable(row[place])) for place in places))
        return drawn
