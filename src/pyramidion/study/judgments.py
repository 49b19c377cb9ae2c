"""Judges and what they said. An expert, a crowd worker and a model are all judges.

A judgment answers one question about one peer summary: "how often is this unit expressed?" (0, 1, 2, ... or a
degree or probability) or "how do you rate this aspect?". An unanswered question is a judgment whose value is None.

``Judgments`` holds many of them as numpy columns, because campaigns have millions: every aggregator takes one and
returns one. Adding, taking and grouping rows cost one pass. Groups come out in the order of their names, so results do
not depend on the order in which judgments arrived.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, eq
from typing import Any, Literal, TypeVar, get_args, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyramidion.study.texts import Span

JudgeKind = Literal["expert", "crowd", "model"]
Verdict = Literal["expressed", "perhaps", "not found"]
"""What a person reads instead of a value."""
Mention = tuple[Span, ...]
Codes = NDArray[np.int64]
K = TypeVar("K", bound=Hashable)

SIMULATED = "simulated-"
"""How the id of a simulated worker begins, so that every format and table that has ids has the mark too."""

UNMATCHED = "unmatched"
"""The aspect that counts content units of a peer that are not in the pyramid."""

COVERED = "covered"
"""The aspect that says how much of the references' words a peer says, from 0 to 1: what a model knows besides units."""

NO_RATING = frozenset({"", UNMATCHED, COVERED})
"""Aspects that nobody rated."""

PRESENT = 0.5
"""The lowest value at which a unit counts as expressed if a yes or no is needed: a probability of one half, and
every count."""

PARTLY = 0.2
"""The lowest degree or probability at which a unit counts as expressed at least in part: it is listed, and adds its
share to D. Texts on another subject stay below it: in the off-topic summaries of the bundled example 4 of 124 units
reach it, and 17 reach .15 (docs/explanation/automatic.md has the scores by other values)."""


def degree(value: float) -> float:
    """The part of a unit's weight that a value adds to D: 0 below `PARTLY`, and never more than 1."""
    return min(value, 1) if value >= PARTLY else 0


def listed(value: float) -> int:
    """The number of mentions a value stands for, counting units expressed in part; every mention adds to D."""
    return int(value) if value >= 1 else int(value >= PARTLY)


def times(value: float) -> int:
    """How often a value says that a unit is expressed: a count unchanged, a probability or degree as 1 or 0."""
    return int(value) if value >= 1 else int(value >= PRESENT)


EXPRESSED, PERHAPS, NOT_FOUND = VERDICTS = get_args(Verdict)


def verdict(value: float, expressed: float = PRESENT, perhaps: float = PRESENT) -> Verdict:
    """A value in words, by the bounds of whoever gave it. What is 0 is not found, whatever the bounds."""
    if value <= 0 or value < perhaps:
        return "not found"
    return "expressed" if value >= expressed else "perhaps"


@dataclass(frozen=True, slots=True)
class Judge:
    """``note`` is how a model was asked and what that took; it may be empty, and does not make another judge.

    ``expressed`` and ``perhaps`` are the lowest values that read "expressed" and "perhaps" (`verdict`). They are the
    same for people, who never say "perhaps". A judge who ``corrects`` another has looked at what that one said: what
    is corrected replaces the other's judgments on the same units of the same summaries, wherever those count.

    A ``simulated`` judge is not a person: a rehearsal made up the answers. Whoever's id begins with `SIMULATED` is one,
    whatever the format could hold.
    """

    id: str
    kind: JudgeKind = "crowd"
    note: str = field(default="", compare=False)
    expressed: float = PRESENT
    perhaps: float = PRESENT
    corrects: str = ""
    simulated: bool = False

    def __post_init__(self) -> None:
        if self.id.startswith(SIMULATED):
            object.__setattr__(self, "simulated", True)

    def verdict(self, value: float) -> Verdict:
        return verdict(value, self.expressed, self.perhaps)


@dataclass(frozen=True, slots=True)
class Aspect:
    """A question about a summary as a whole, answered on a scale from low to high."""

    id: str
    low: float
    high: float
    title: str = ""


@dataclass(frozen=True, slots=True)
class Judgment:
    """One answer. Exactly one of ``unit`` and ``aspect`` is set.

    ``evidence`` holds one entry per mention, each made of one or more spans of the peer summary. ``other`` is the
    second summary of a head-to-head comparison: value 1 prefers ``system``, 0 ``other``, 0.5 neither.
    """

    topic: str
    system: str
    judge: str
    value: float | None
    unit: str = ""
    aspect: str = ""
    task: str = ""
    evidence: tuple[Mention, ...] = ()
    other: str = ""


def _frozen(values: ArrayLike, dtype: type[np.generic]) -> NDArray[Any]:
    """An array that cannot be changed through this view of it; copied only where the type differs."""
    view = np.asarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view


class Column:
    """A column of names: a table of names, and for each row its place in the table. The table may hold unused names."""

    __slots__ = ("codes", "names")

    def __init__(self, names: Iterable[str], codes: ArrayLike) -> None:
        self.names = tuple(names)
        self.codes: NDArray[np.int32] = _frozen(codes, np.int32)

    @classmethod
    def repeat(cls, name: str, rows: int) -> Column:
        """The same name in every row."""
        return cls((name,), np.zeros(rows, dtype=np.int32))

    def __getitem__(self, row: int) -> str:
        return self.names[int(self.codes[row])]

    def __iter__(self) -> Iterator[str]:
        return map(self.names.__getitem__, self.codes.tolist())

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def join(cls, parts: Sequence[Column]) -> Column:
        """The rows of several columns, one after the other."""
        if all(part.names == parts[0].names for part in parts[1:]):
            return cls(parts[0].names, np.concatenate([part.codes for part in parts]))
        place = _Numbered[str]()
        moved = [np.array([place[name] for name in part.names], np.int32)[part.codes] for part in parts]
        return cls(place, np.concatenate(moved))

    def rename(self, new_name: Callable[[str], str]) -> Column:
        """The same rows under new names. Two that get the same one are one from then on."""
        place = _Numbered[str]()
        new = [place[new_name(name)] for name in self.names]
        return Column(place, self.codes if len(place) == len(new) else np.array(new, np.int32)[self.codes])

    def compact(self) -> Column:
        """The same rows with a table of the names they have, each once, in alphabetical order."""
        if len(self.names) > len(self.codes):  # few rows of a long column
            present, codes = np.unique(self.codes, return_inverse=True)
            return Column([self.names[code] for code in present.tolist()], codes).compact()
        used = np.flatnonzero(np.bincount(self.codes))
        names = [self.names[code] for code in used.tolist()]
        place = {name: number for number, name in enumerate(sorted(set(names)))}
        new = np.zeros(len(self.names), np.int32)
        new[used] = [place[name] for name in names]
        return Column(place, new[self.codes])

    def take(self, rows: Codes) -> Column:
        return Column(self.names, self.codes[rows])

    def ranks(self) -> Codes:
        """The code of each row, renumbered by the alphabetical order of names."""
        if all(map(str.__lt__, self.names, self.names[1:])):
            return self.codes.astype(np.int64)
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return rank[self.codes]

    def present_names(self) -> list[str]:
        """The names that some row has, sorted."""
        return sorted(self.names[code] for code in np.flatnonzero(np.bincount(self.codes)).tolist())

    def is_in(self, names: Collection[str]) -> NDArray[np.bool_]:
        """Which rows have one of these names."""
        return np.array([name in names for name in self.names], dtype=bool)[self.codes]


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows grouped by equal codes: ``of_row[i]`` is the group of row i, ``first[g]`` the first row of group g."""

    of_row: Codes
    first: Codes

    def __len__(self) -> int:
        return len(self.first)


def group(*columns: Codes) -> Groups:
    """Group rows that agree in all columns; groups are sorted by the first column, then the second, and so on."""
    key = columns[0]
    for column in columns[1:]:
        width = int(column.max()) + 1 if len(column) else 1
        if len(key) and (int(key.max()) + 1) * width >= 2**62:  # compress before the product overflows
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        key = key * width + column
    span = int(key.max()) + 1 if len(key) else 0
    if span <= 8 * len(key) + 1024:  # dense keys: counting beats sorting
        first_of_key = np.full(span, -1, dtype=np.int64)
        first_of_key[key[::-1]] = np.arange(len(key) - 1, -1, -1)
        used = first_of_key >= 0
        number = np.cumsum(used) - 1
        return Groups(number[key], first_of_key[used])
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return Groups(inverse.astype(np.int64), first.astype(np.int64))


NAMED = ("topic", "system", "judge", "unit", "aspect", "task", "other")
"""The columns that hold names."""


class Judgments(Sequence[Judgment]):
    """An immutable sequence of judgments, stored as columns. ``value`` is NaN if unanswered."""

    __slots__ = (*NAMED, "evidence", "value")

    topic: Column
    system: Column
    judge: Column
    unit: Column
    aspect: Column
    task: Column
    other: Column
    value: NDArray[np.float64]
    evidence: dict[int, tuple[Mention, ...]]

    def __init__(self, judgments: Iterable[Judgment] = ()) -> None:
        builder = JudgmentsBuilder()
        for judgment in judgments:
            builder.add(judgment)
        built = builder.build()
        for name in self.__slots__:
            setattr(self, name, getattr(built, name))

    @classmethod
    def of_columns(
        cls,
        *,
        topic: Column,
        system: Column,
        unit: Column,
        aspect: Column,
        judge: Column,
        task: Column,
        value: ArrayLike,
        other: Column | None = None,
        evidence: dict[int, tuple[Mention, ...]] | None = None,
    ) -> Judgments:
        """Build from columns of equal length, without copying."""
        made = cls.__new__(cls)
        made.topic, made.system, made.judge, made.task = topic, system, judge, task
        made.unit, made.aspect, made.evidence = unit, aspect, evidence or {}
        made.value = _frozen(value, np.float64)
        made.other = other or Column.repeat("", len(made.value))
        return made

    @classmethod
    def join(cls, parts: Sequence[Judgments]) -> Judgments:
        """The judgments of several, one after the other, in one pass."""
        if not parts:
            return cls()
        firsts = np.cumsum([0, *map(len, parts)]).tolist()
        return cls.of_columns(
            **{name: Column.join([getattr(part, name) for part in parts]) for name in NAMED},
            value=np.concatenate([part.value for part in parts]),
            evidence={
                first + row: mentions
                for first, part in zip(firsts, parts, strict=False)
                for row, mentions in part.evidence.items()
            },
        )

    def with_columns(self, **changed: Any) -> Judgments:
        """The same judgments with some columns changed."""
        return Judgments.of_columns(**{name: getattr(self, name) for name in self.__slots__} | changed)

    def take(self, rows: ArrayLike) -> Judgments:
        """The judgments of these rows, given as numbers, in this order, or as a mask."""
        index = np.asarray(rows)
        if index.dtype == bool:
            if index.all():
                return self
            index = np.flatnonzero(index)
        index = index.astype(np.int64)
        evidence = self._evidence_of(index)
        named = {name: getattr(self, name).take(index) for name in NAMED}
        return self.with_columns(**named, value=self.value[index], evidence=evidence)

    def _evidence_of(self, rows: Codes) -> dict[int, tuple[Mention, ...]]:
        """The evidence of these rows, by their place among them. A few rows of many are looked up one by one."""
        if len(rows) < len(self.evidence):
            return {at: self.evidence[row] for at, row in enumerate(rows.tolist()) if row in self.evidence}
        has_some = np.zeros(len(self), dtype=bool)
        has_some[list(self.evidence)] = True
        places = np.flatnonzero(has_some[rows])
        return dict(zip(places.tolist(), map(self.evidence.__getitem__, rows[places].tolist()), strict=True))

    def are_in(self, others: Judgments) -> NDArray[np.bool_]:
        """Which of these judgments are, unchanged, among the others."""
        both = Judgments.join((others, self))
        place = _Numbered[tuple[Mention, ...]]({(): 0})
        evidence = np.zeros(len(both), dtype=np.int64)
        evidence[list(both.evidence)] = [place[mentions] for mentions in both.evidence.values()]
        value = np.unique(both.value, return_inverse=True)[1]
        rows = group(*(getattr(both, name).ranks() for name in NAMED), value, evidence).of_row
        known = np.zeros(len(both), dtype=bool)
        known[rows[: len(others)]] = True
        return known[rows[len(others) :]]

    def as_judged_by(self, judge: str, rows: Codes, value: NDArray[np.float64]) -> Judgments:
        """One judgment per row, with new values, all by one judge (an aggregate of many) and of no task."""
        alone = {"judge": Column.repeat(judge, len(rows)), "task": Column.repeat("", len(rows))}
        return self.take(rows).with_columns(**alone, value=value, evidence={})

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Judgment]:
        evidence = self.evidence
        columns = (getattr(self, name) for name in NAMED)
        rows = enumerate(zip(self.value.tolist(), *columns, strict=True))
        for row, (value, topic, system, judge, unit, aspect, task, other) in rows:
            answer = None if math.isnan(value) else value
            yield Judgment(topic, system, judge, answer, unit, aspect, task, evidence.get(row, ()), other)

    @overload
    def __getitem__(self, index: int) -> Judgment: ...
    @overload
    def __getitem__(self, index: slice) -> Judgments: ...
    def __getitem__(self, index: int | slice) -> Judgment | Judgments:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        return next(iter(self.take([range(len(self))[index]])))

    def __add__(self, other: Iterable[Judgment]) -> Judgments:
        return Judgments.join((self, other if isinstance(other, Judgments) else Judgments(other)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Judgments) and len(self) == len(other) and all(map(eq, self, other))

    def __repr__(self) -> str:
        return f"<Judgments: {len(self)} by {len(self.judge.present_names())} judges>"


class JudgmentsBuilder:
    """Collects judgments row by row and keeps few of them as objects: readers have millions."""

    __slots__ = ("_codes", "_evidence", "_names", "_rows", "_value")

    def __init__(self) -> None:
        self._rows: list[Judgment] = []
        self._names = {name: _Numbered[str]() for name in NAMED}
        self._codes = {name: array("i") for name in NAMED}
        self._value = array("d")
        self._evidence: dict[int, tuple[Mention, ...]] = {}

    def add(self, judgment: Judgment) -> None:
        if bool(judgment.unit) == bool(judgment.aspect):
            raise ValueError("a judgment must be about either a unit or an aspect")
        if judgment.value is not None and not math.isfinite(judgment.value):
            raise ValueError(f"{judgment.value} is not a number; use None for an unanswered question")
        self._rows.append(judgment)
        if len(self._rows) == 4096:
            self._to_columns()

    def _to_columns(self) -> None:
        for name, codes in self._codes.items():
            codes.extend(map(self._names[name].__getitem__, map(attrgetter(name), self._rows)))
        first = len(self._value)
        self._evidence |= {row: j.evidence for row, j in enumerate(self._rows, first) if j.evidence}
        self._value.extend(math.nan if j.value is None else j.value for j in self._rows)
        self._rows.clear()

    def build(self) -> Judgments:
        self._to_columns()
        columns = {name: Column(self._names[name], codes) for name, codes in self._codes.items()}
        return Judgments.of_columns(**columns, value=self._value, evidence=self._evidence)


class _Numbered(dict[K, int]):
    """Numbers things in the order in which they are first asked for."""

    def __missing__(self, thing: K) -> int:
        return self.setdefault(thing, len(self))
