"""Java regular expressions that come with a file, matched in time linear in the text.

Such a pattern is hostile input: Python's ``re`` backtracks, and ``(a+)+$`` would hang it. This matcher follows all
states at once instead (Thompson 1968, CACM 11(6):419-422) and counts its steps. It supports the part of java.util.regex
that headers of summaries need and refuses the rest (look-around, back references, class intersections). Where it
deviates: ``^`` and ``$`` mean the ends of a line, the longest of the leftmost matches is taken, possessive quantifiers
are greedy ones, and nothing but an explicit newline matches across lines.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

CharTest = Callable[[str], bool]
PlaceTest = Callable[[str, str], bool]

MAX_PATTERN = 1000
MAX_DEPTH = 50
MAX_STATES = 5000
MAX_STEPS = 5_000_000
"""About two seconds; ten references of 250 words take about 30,000 steps."""


class PatternError(Exception):
    """A pattern that cannot be used; says why."""


# -- what a pattern is made of -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Char:
    accepts: CharTest


@dataclass(frozen=True)
class _Place:
    holds: PlaceTest


@dataclass(frozen=True)
class _Sequence:
    items: list[_Node]


@dataclass(frozen=True)
class _Choice:
    options: list[_Node]


@dataclass(frozen=True)
class _Repeat:
    item: _Node
    least: int
    most: int | None


_Node = _Char | _Place | _Sequence | _Choice | _Repeat


def _one_of(chars: str) -> CharTest:
    return frozenset(chars).__contains__


def _not(test: CharTest) -> CharTest:
    return lambda char: not test(char)


def _any_case(test: CharTest) -> CharTest:
    return lambda char: test(char) or test(char.lower()) or test(char.upper())


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


_SPACE = " \t\n\v\f\r"
_SETS: dict[str, CharTest] = {"d": _one_of(string.digits), "w": _is_word, "s": _one_of(_SPACE), "h": _one_of(" \t\xa0")}
_PROPERTIES: dict[str, CharTest] = {
    "Alpha": _one_of(string.ascii_letters),
    "Upper": _one_of(string.ascii_uppercase),
    "Lower": _one_of(string.ascii_lowercase),
    "Digit": _one_of(string.digits),
    "Alnum": _one_of(string.ascii_letters + string.digits),
    "Punct": _one_of(string.punctuation),
    "Space": _one_of(_SPACE),
    "Blank": _one_of(" \t"),
    "L": str.isalpha,
    "Lu": str.isupper,
    "Ll": str.islower,
    "N": str.isnumeric,
}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}


def _at_line_start(before: str, after: str) -> bool:
    return before in {"", "\n"}


def _at_line_end(before: str, after: str) -> bool:
    return after in {"", "\n", "\r"}


def _at_word_edge(before: str, after: str) -> bool:
    return _is_word(before) != _is_word(after)


_PLACES: dict[str, PlaceTest] = {
    "A": _at_line_start,
    "Z": _at_line_end,
    "z": _at_line_end,
    "b": _at_word_edge,
    "B": lambda before, after: not _at_word_edge(before, after),
}


# -- from text to tree ---------------------------------------------------------------------------------------


class _Parser:
    def __init__(self, source: str) -> None:
        self.rest = _without_quotes(source)
        self.depth = 0
        self.any_case = False

    def parse(self) -> _Node:
        node = self._choice()
        if self.rest:
            raise PatternError("a ')' has no '('")
        return node

    def _take(self, expression: str) -> re.Match[str] | None:
        match = re.compile(expression, re.DOTALL).match(self.rest)
        if match:
            self.rest = self.rest[match.end() :]
        return match

    def _choice(self) -> _Node:
        options = [self._sequence()]
        while self._take(r"\|"):
            options.append(self._sequence())
        return _Choice(options)

    def _sequence(self) -> _Node:
        items: list[_Node] = []
        while self.rest and self.rest[0] not in "|)":
            if flags := self._take(r"\(\?([imsu]+)\)"):
                self.any_case |= "i" in flags[1]
            else:
                items.append(self._repeat(self._atom()))
        return _Sequence(items)

    def _repeat(self, item: _Node) -> _Node:
        match = self._take(r"(?:([*+?])|\{(\d{1,4})(,?)(\d{0,4})\})[?+]?")
        if not match:
            return item
        sign, least, comma, most = match.groups()
        if sign:
            return _Repeat(item, int(sign == "+"), 1 if sign == "?" else None)
        if most and (not comma or int(most) < int(least)):
            raise PatternError(f"{match[0]!r} is not a number of times")
        return _Repeat(item, int(least), int(most) if most else None if comma else int(least))

    def _atom(self) -> _Node:
        if self._take(r"\((?:\?:|\?<[A-Za-z]\w*>|(?!\?))"):
            return self._group()
        if self._take(r"\["):
            return self._char(self._class())
        if self._take(r"\."):
            return _Char(_not(_one_of("\n\r\x85\u2028\u2029")))
        if place := self._take(r"[$^]|\\[AZzbB]"):
            return _Place({"^": _at_line_start, "$": _at_line_end}.get(place[0]) or _PLACES[place[0][1]])
        return self._char(self._escape() or _one_of(self._literal()))

    def _char(self, test: CharTest) -> _Node:
        return _Char(_any_case(test) if self.any_case else test)

    def _group(self) -> _Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise PatternError("is nested too deeply")
        node = self._choice()
        self.depth -= 1
        if not self._take(r"\)"):
            raise PatternError("a '(' is not closed")
        return node

    def _escape(self) -> CharTest | None:
        """A backslash that stands for a set of characters."""
        if match := self._take(r"\\([dwsh])"):
            return _SETS[match[1]]
        if match := self._take(r"\\([DWSH])"):
            return _not(_SETS[match[1].lower()])
        if match := self._take(r"\\(p|P)(?:\{(?:Is)?(\w+)\}|([LN]))"):
            name = match[2] or match[3]
            if name not in _PROPERTIES:
                raise PatternError(f"{match[0]} is not known here")
            return _PROPERTIES[name] if match[1] == "p" else _not(_PROPERTIES[name])
        return None

    def _literal(self) -> str:
        if match := self._take(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))"):
            return chr(int(match[1] or match[2], 16))
        if match := self._take(r"\\([tnrfae])"):
            return _CONTROLS[match[1]]
        if match := self._take(r"\\([^A-Za-z0-9])|([^\\*+?{(\[])"):
            return match[1] or match[2]
        raise PatternError(f"{self.rest[:3]!r} is not supported")

    def _class(self) -> CharTest:
        negated = bool(self._take(r"\^"))
        tests: list[CharTest] = []
        while not (tests and self._take(r"\]")):
            if not self.rest or self._take(r"\[|&&"):
                raise PatternError("a '[' is not closed, or contains another '[' or '&&'")
            tests.append(self._escape() or self._range())
        return lambda char: any(test(char) for test in tests) != negated

    def _range(self) -> CharTest:
        low = self._class_char()
        if not self._take(r"-(?=[^\]])"):
            return _one_of(low)
        high = self._class_char()
        if high < low:
            raise PatternError(f"the range {low}-{high} is empty")
        return lambda char: low <= char <= high

    def _class_char(self) -> str:
        match = self._take(r"[*+?{(]")
        return match[0] if match else self._literal()


def _without_quotes(source: str) -> str:
    r"""``\Q...\E`` written with a backslash before every character that needs one."""
    quoted = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
    return quoted.sub(lambda match: match[0] if match[1] is None else re.escape(match[1]), source)


# -- from tree to states, and through a text -----------------------------------------------------------------


class _States:
    """A state is a test and the states behind it; None as a test is passed without reading anything."""

    def __init__(self) -> None:
        self.tests: list[CharTest | None] = []
        self.places: list[PlaceTest | None] = []
        self.following: list[list[int]] = []
        self._left = MAX_STATES

    def add(self, node: _Node | None, following: list[int]) -> int:
        self.tests.append(node.accepts if isinstance(node, _Char) else None)
        self.places.append(node.holds if isinstance(node, _Place) else None)
        self.following.append(following)
        return len(self.tests) - 1

    def build(self, node: _Node, then: int) -> int:
        """Add the states of a node that leads to ``then``, and say where they begin."""
        self._left -= 1
        if self._left < 0:
            raise PatternError("is too large")
        match node:
            case _Sequence(items):
                for item in reversed(items):
                    then = self.build(item, then)
                return then
            case _Choice(options):
                return self.add(None, [self.build(option, then) for option in options])
            case _Repeat():
                return self._build_repeat(node, then)
            case _:
                return self.add(node, [then])

    def _build_repeat(self, node: _Repeat, then: int) -> int:
        if node.most is None:
            fork = self.add(None, [then])
            self.following[fork].append(self.build(node.item, fork))
            then = fork
        else:
            after = then
            for _ in range(node.most - node.least):
                then = self.add(None, [self.build(node.item, then), after])
        for _ in range(node.least):
            then = self.build(node.item, then)
        return then


class JavaPattern:
    """A compiled pattern. Raises ``PatternError`` where it cannot be used."""

    def __init__(self, source: str) -> None:
        if len(source) > MAX_PATTERN:
            raise PatternError(f"is longer than {MAX_PATTERN} characters")
        self._crosses_lines = "\n" in source or r"\n" in source
        self._states = _States()
        self._end = self._states.add(None, [])
        self._start = self._states.build(_Parser(source).parse(), self._end)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of every match that is not empty, from left to right."""
        self._steps = MAX_STEPS
        at = 0
        while match := self._next_match(text, at):
            yield match
            at = match[1]

    def _next_match(self, text: str, at: int) -> tuple[int, int] | None:
        best: tuple[int, int] | None = None
        reached: dict[int, int] = {}  # where the match that leads to a state began; earlier beginnings first
        while True:
            before, after = text[at - 1 : at] if at else "", text[at : at + 1]
            if best is None:
                reached.setdefault(self._start, at)
            active = self._closure(reached, before, after)
            start = active.get(self._end, at)
            if start < at and (best is None or start <= best[0]):
                best = (start, at)
            reached = self._step(active, after, best)
            if not after or (best and not reached):
                return best
            at += 1

    def _closure(self, reached: dict[int, int], before: str, after: str) -> dict[int, int]:
        """Everything that can be reached without reading a character."""
        active: dict[int, int] = {}
        for state, start in reached.items():
            waiting = [state]
            while waiting:
                state = waiting.pop()
                place = self._states.places[state]
                if state in active or (place and not place(before, after)):
                    continue
                active[state] = start
                if self._states.tests[state] is None:
                    waiting.extend(self._states.following[state])
        self._steps -= len(active)
        if self._steps < 0:
            raise PatternError("takes too long on this text")
        return active

    def _step(self, active: dict[int, int], char: str, best: tuple[int, int] | None) -> dict[int, int]:
        reached: dict[int, int] = {}
        if not char or (char == "\n" and not self._crosses_lines):
            return reached
        for state, start in active.items():
            test = self._states.tests[state]
            if test and (best is None or start <= best[0]) and test(char):
                reached.setdefault(self._states.following[state][0], start)
        return reached
