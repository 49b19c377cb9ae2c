"""How commands print: results on stdout, everything else on stderr, and text from files cannot control the terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.text import Text

from pyramidion.cli.waiting import LONG, Work, duration, lines, moving

if TYPE_CHECKING:
    from pyramidion.errors import Problem

MOST_PROBLEMS = 30
CHUNKS = 4096
"""Pieces of JSON that are printed together."""
_spinning: list[Console] = []
"""The consoles of lines that move at present."""
T = TypeVar("T")


def plain(text: str) -> str:
    """Text from a file, with control characters made visible: a summary must not control a terminal."""
    if text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code = ord(character)
    if character == "\n" or character.isprintable():
        return character
    if code < 0x20:
        return " " if character in "\t\r" else chr(0x2400 + code)
    # C1 controls and the marks that reorder text; joiners inside emoji are harmless
    return "\ufffd" if 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 else character


_PASSWORDS = (
    re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:/+[^\s:@/]*:)\S*(?=@)"),
    re.compile(r"(\b\w*pass\w*=)[^\s&'\"]+", re.IGNORECASE),
)


def without_passwords(text: str) -> str:
    """A message in which a URL may be quoted, without the password that may be in it."""
    for pattern in _PASSWORDS:
        text = pattern.sub(r"\1***", text)
    return text


def shown(place: str) -> str:
    """Where a study is, for messages."""
    return plain(without_passwords(place))


def cell(text: str, style: str = "") -> Text:
    """A table cell or line that is taken literally: no markup, no escapes."""
    return Text(plain(text), style=style)


@dataclass(frozen=True)
class Output:
    """Where a command writes. With ``json`` stdout holds one JSON document; ``quiet`` drops everything but results."""

    json: bool = False
    quiet: bool = False

    @property
    def out(self) -> Console:
        people = sys.stdout.isatty()
        # A file gets tables as wide as they are; a terminal's are folded. Texts are never markup.
        return Console(
            file=sys.stdout, highlight=False, markup=False, soft_wrap=not people, width=None if people else 500
        )

    @property
    def err(self) -> Console:
        """Where remarks go. While a line moves, that is its own console, which prints them above."""
        return _spinning[-1] if _spinning else self._new_err()

    def _new_err(self) -> Console:
        return Console(file=sys.stderr, highlight=False, markup=False, soft_wrap=True)

    def result(self, data: Any) -> None:
        """The JSON result; a no-op without --json."""
        if self.json:
            chunks = json.JSONEncoder(ensure_ascii=False, indent=1).iterencode(data)
            while some := "".join(islice(chunks, CHUNKS)):  # all of a large table's would take more than the table
                sys.stdout.write(some)
            sys.stdout.write("\n")

    def show(self, *things: Any) -> None:
        """Something for people; silent with --json or --quiet."""
        if not self.json and not self.quiet:
            self.out.print(*things)

    def say(self, text: str) -> None:
        """Print a remark on stderr."""
        if not self.quiet:
            self.err.print(cell(text))

    def problems(self, problems: Sequence[Problem], most: int | None = MOST_PROBLEMS) -> None:
        """Print problems, errors first, those that are alike as one; a long list is cut if it accompanies a result."""
        from pyramidion.errors import group_alike

        ordered = sorted(group_alike(problems), key=lambda problem: problem.severity != "error")
        for problem in ordered[:most]:
            style = "red" if problem.severity == "error" else "yellow"
            self.err.print(Text.assemble((f"{problem.severity}: ", style), shown(str(problem))))
        if most is not None and len(ordered) > most:
            self.err.print(f"... and {len(ordered) - most} more (all with --json)")

    def warn(self, problems: Sequence[Problem]) -> None:
        """Print warnings: with --json they are part of the result, with --quiet only errors are printed."""
        if not self.json:
            self.problems([p for p in problems if p.severity == "error"] if self.quiet else problems)

    @contextmanager
    def busy(self, what: str, total: int | None = None) -> Iterator[Work]:
        """Say on stderr what is being done, how far it is if a total is known, and afterwards how long it took."""
        work = Work(shown(what), total)
        if self.quiet:
            yield work
            return
        console = self._new_err()
        with moving(work, console) if sys.stderr.isatty() else lines(work, console):
            _spinning.append(console)
            try:
                yield work
            finally:
                _spinning.remove(console)
        if work.seconds >= LONG:
            self.say(f"{work.whole}: done in {duration(work.seconds)}.")

    def track(self, items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
        """Iterate over the items and say how far that is."""
        with self.busy(what, len(items) if total is None and isinstance(items, Sized) else total) as work:
            for item in items:
                yield item
                work.advance()

    @contextmanager
    def progress(self, total: int, what: str) -> Iterator[Callable[[int], None]]:
        """Say how far something is that advances by hand."""
        with self.busy(what, total) as work:
            yield work.advance


def counted(count: int, things: str) -> str:
    return f"{count} {things.removesuffix('s') if count == 1 else things}"


def held(counts: Mapping[str, int]) -> str:
    """What a study holds, in words: 4 topics, 1 judge."""
    return ", ".join(counted(count, name) for name, count in counts.items() if count)


def as_json(problems: Iterable[Problem]) -> list[dict[str, str]]:
    return [problem.as_dict() for problem in problems]
