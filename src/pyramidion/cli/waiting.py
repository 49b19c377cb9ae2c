"""What a command says while it works: what it does, how far it is, and how long it takes.

A terminal gets a line that moves and goes away. A log, where nothing can move, gets a line once something takes long,
and more of them at growing distances. Afterwards both say how long it took.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

VARIABLE, DEFAULT = "PYRAMIDION_SAY_AFTER", 10


def _long() -> float:
    given = os.environ.get(VARIABLE, "")
    return float(given) if given.isdigit() else float(DEFAULT)


LONG = _long()
"""Seconds after which work is worth a line that stays. Most commands are done by then."""
LONGEST_SILENCE = 60.0


class Work:
    """One piece of work under way. Its total may be unknown, and what it does may change."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.whole, self.step, self.total, self.done = what, what, total, 0
        self._began = time.monotonic()

    def advance(self, number: int = 1) -> None:
        self.done += number

    def now(self, what: str) -> None:
        """Say what is being done now."""
        self.step = what

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def far(self) -> str:
        return f"{self.done:,} of {self.total:,}" if self.total and self.done else ""

    @property
    def times(self) -> str:
        spent = f"{duration(self.seconds)} so far"
        if not self.total or not self.done:
            return spent
        return f"{spent}, about {duration(self.seconds * (self.total - self.done) / self.done)} left"

    def __str__(self) -> str:
        """Judging by align: 1,200 of 5,000, 40 s so far, about 2 min left"""
        return f"{self.step}: {', '.join(filter(None, (self.far, self.times)))}"


def duration(seconds: float) -> str:
    """40 s, 2 min 5 s, 1 h 20 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, seconds = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


@contextmanager
def moving(work: Work, console: Console) -> Iterator[None]:
    """A line on a terminal, until the work is done."""
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.spinner import Spinner
    from rich.table import Table
    from rich.text import Text

    spinner = Spinner("dots", style="green")

    def line() -> Table:
        words = Text(", ".join(filter(None, (work.far, work.times))), style="dim", no_wrap=True)
        room = console.width - len(words) - 4
        wide = work.total and room > 45
        step = Text(work.step)
        step.truncate(max(room - (17 if wide else 0), 8), overflow="ellipsis")
        grid = Table.grid(padding=(0, 1))
        grid.add_row(spinner, step, *([ProgressBar(work.total, work.done, width=16)] if wide else []), words)
        return grid

    with Live(get_renderable=line, console=console, transient=True, refresh_per_second=8):
        yield


@contextmanager
def lines(work: Work, console: Console) -> Iterator[None]:
    """Lines for a log while the work takes long."""
    over = Event()

    def tell() -> None:
        silence = LONG
        while not over.wait(silence):
            console.print(str(work))
            silence = min(2 * silence, LONGEST_SILENCE)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
