"""Judges and what they said. An expert, a crowd worker and a model are all judges.

A judgment answers one question about one peer summary: "how often is this unit expressed?" (0, 1, 2, ... or a
degree or probability) or "how do you rate this aspect?". An unanswered question is a judgment whose value is None.

``Judgments`` holds many of them as columns, because campaigns have millions: every aggregator takes one and
returns one. Columns are standard-library arrays, which numpy reads without copying.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from pyramidion.study.texts import Span

JudgeKind = Literal["expert", "crowd", "model"]
Mention = tuple[Span, ...]

UNMATCHED = "unmatched"
"""The aspect that counts content units of a peer which no unit of the pyramid expresses."""

PRESENT = 0.5
"""The value from which a unit counts as expressed where a yes or no is wanted: half a probability, and every count."""

PARTLY = 0.2
"""The degree or probability from which a unit counts as expressed at least in part: it is listed, and adds to D what it
is worth. Texts on another subject stay below: in the off-topic summaries of the bundled example 4 of 124 units reach
it, and 17 reach .15 (docs/explanation/automatic.md has the scores by other values)."""


def degree(value: float) -> float:
    """The part of a unit's weight that a value adds to D: nothing below `PARTLY`, and never more than all of it."""
    return min(value, 1) if value >= PARTLY else 0


def listed(value: float) -> int:
    """How often a value says that a unit is expressed, at least in part; whatever has a mention adds to D."""
    return int(value) if value >= 1 else int(value >= PARTLY)


def times(value: float) -> int:
    """How often a value says that a unit is expressed: a count as it is, a probability or degree once or not at all."""
    return int(value) if value >= 1 else int(value >= PRESENT)


@dataclass(frozen=True, slots=True)
class Judge:
    id: str
    kind: JudgeKind = "crowd"


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


class Column:
    """A column of names: distinct names once, and a code per row."""

    __slots__ = ("codes", "names")

    def __init__(self, names: Sequence[str], codes: array[int]) -> None:
        self.names = tuple(names)
        self.codes = codes

    def __getitem__(self, row: int) -> str:
        return self.names[self.codes[row]]

    def __iter__(self) -> Iterator[str]:
        names = self.names
        return (names[code] for code in self.codes)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Sequence[int]) -> Column:
        codes = self.codes
        return Column(self.names, array("i", [codes[row] for row in rows]))


class _ColumnBuilder:
    __slots__ = ("codes", "index")

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.codes = array("i")

    def append(self, name: str) -> None:
        self.codes.append(self.index.setdefault(name, len(self.index)))

    def build(self) -> Column:
        return Column(tuple(self.index), self.codes)


class Judgments(Sequence[Judgment]):
    """An immutable sequence of judgments, kept as columns. ``value`` is NaN where unanswered."""

    __slots__ = ("aspect", "evidence", "judge", "other", "system", "task", "topic", "unit", "value")

    def __init__(self, judgments: Iterable[Judgment] = ()) -> None:
        builder = JudgmentsBuilder()
        for judgment in judgments:
            builder.add(judgment)
        built = builder.build()
        for name in self.__slots__:
            setattr(self, name, getattr(built, name))

    topic: Column
    system: Column
    unit: Column
    aspect: Column
    judge: Column
    task: Column
    other: Column
    value: array[float]
    evidence: dict[int, tuple[Mention, ...]]

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
        value: array[float],
        other: Column | None = None,
        evidence: dict[int, tuple[Mention, ...]] | None = None,
    ) -> Judgments:
        """Build from columns of equal length, without copying."""
        made = cls.__new__(cls)
        made.topic, made.system, made.unit, made.aspect = topic, system, unit, aspect
        made.judge, made.task, made.value, made.evidence = judge, task, value, evidence or {}
        made.other = other or Column(("",), array("i", bytes(4 * len(value))))
        return made

    def take(self, rows: Sequence[int]) -> Judgments:
        """The judgments of these rows, in this order."""
        value, evidence = self.value, self.evidence
        return self.with_columns(
            **{name: column.take(rows) for name, column in self.named_columns().items()},
            value=array("d", [value[row] for row in rows]),
            evidence={new: evidence[old] for new, old in enumerate(rows) if old in evidence} if evidence else {},
        )

    def named_columns(self) -> dict[str, Column]:
        """The columns that hold names."""
        return {name: getattr(self, name) for name in self.__slots__ if name not in {"value", "evidence"}}

    def with_columns(self, **changed: Any) -> Judgments:
        """The same judgments with some columns changed."""
        return Judgments.of_columns(**{name: getattr(self, name) for name in self.__slots__} | changed)

    def __len__(self) -> int:
        return len(self.value)

    @overload
    def __getitem__(self, index: int) -> Judgment: ...
    @overload
    def __getitem__(self, index: slice) -> Judgments: ...
    def __getitem__(self, index: int | slice) -> Judgment | Judgments:
        if isinstance(index, slice):
            return self.take(range(*index.indices(len(self))))
        row = range(len(self))[index]
        value = self.value[row]
        return Judgment(
            topic=self.topic[row],
            system=self.system[row],
            judge=self.judge[row],
            value=None if math.isnan(value) else value,
            unit=self.unit[row],
            aspect=self.aspect[row],
            task=self.task[row],
            evidence=self.evidence.get(row, ()),
            other=self.other[row],
        )

    def __add__(self, other: Iterable[Judgment]) -> Judgments:
        return Judgments([*self, *other])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Judgments) and list(self) == list(other)

    def __repr__(self) -> str:
        return f"<Judgments: {len(self)} by {len(self.judge.names)} judges>"


class JudgmentsBuilder:
    """Collects judgments row by row; readers use it to avoid a million intermediate objects."""

    __slots__ = ("_aspect", "_evidence", "_judge", "_other", "_system", "_task", "_topic", "_unit", "_value")

    def __init__(self) -> None:
        self._topic, self._system, self._unit = _ColumnBuilder(), _ColumnBuilder(), _ColumnBuilder()
        self._aspect, self._judge, self._task = _ColumnBuilder(), _ColumnBuilder(), _ColumnBuilder()
        self._other, self._value = _ColumnBuilder(), array("d")
        self._evidence: dict[int, tuple[Mention, ...]] = {}

    def add(self, judgment: Judgment) -> None:
        if bool(judgment.unit) == bool(judgment.aspect):
            raise ValueError("a judgment answers either a unit or an aspect")
        if judgment.value is not None and not math.isfinite(judgment.value):
            raise ValueError(f"{judgment.value} is not a judgment; leave it out with None")
        if judgment.evidence:
            self._evidence[len(self._value)] = judgment.evidence
        self._topic.append(judgment.topic)
        self._system.append(judgment.system)
        self._unit.append(judgment.unit)
        self._aspect.append(judgment.aspect)
        self._judge.append(judgment.judge)
        self._task.append(judgment.task)
        self._other.append(judgment.other)
        self._value.append(math.nan if judgment.value is None else judgment.value)

    def build(self) -> Judgments:
        return Judgments.of_columns(
            topic=self._topic.build(),
            system=self._system.build(),
            unit=self._unit.build(),
            aspect=self._aspect.build(),
            judge=self._judge.build(),
            task=self._task.build(),
            other=self._other.build(),
            value=self._value,
            evidence=self._evidence,
        )
