"""A study as plain objects and back: what a line of the JSON Lines format or a row of the store holds.

``Codec`` turns dataclasses into objects for JSON and back, checked, with the address of what does not fit.
``to_records`` gives one object per thing, whose ``type`` says what it is; ``Collector`` takes them in any order and
makes the study. The published schema is formats/study.schema.json.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from pyramidion.study.judgments import Aspect, Judge, Judgment, JudgmentsBuilder
from pyramidion.study.study import Study
from pyramidion.study.tasks import Assignment, Task
from pyramidion.study.texts import ContentUnit, Pyramid, Span, Summary, Topic

VERSION = 1
LARGEST = 1e300
"""Numbers beyond this are not measurements, and whole ones do not fit into a float."""
LONGEST = 2**32
"""Where a text ends at the latest."""

T = TypeVar("T")
Names = Mapping[type, tuple[str, ...]]


class BadRecordError(ValueError):
    """A record that cannot be used; says which field and why."""


class _Misfit(Exception):  # noqa: N818 - it becomes a BadRecordError, once the address is known
    def __init__(self, what: str, *address: str | int) -> None:
        self.what = what
        self.address = list(address)

    def __str__(self) -> str:
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.address)
        return f"field {path.removeprefix('.')!r} {self.what}" if path else f"this {self.what}"


class _Part(NamedTuple):
    """One field of a dataclass: how it is read and written, and what it is where it is left out."""

    name: str
    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    default: Any
    left_out: Any
    missing: str


class Codec:
    """Dataclasses of texts, numbers, choices, spans, lists and dataclasses to JSON and back.

    A field with its default value is left out, unless ``written`` lists it, and reads back as the default. A missing
    list is empty. Fields that ``required`` lists must be there although they have a default; ``order`` is the order of
    fields in an object, where it is not that of the class. A ``strict`` codec refuses missing lists and unknown fields.
    """

    def __init__(
        self, *, order: Names | None = None, written: Names | None = None, required: Names | None = None, strict: bool
    ) -> None:
        self._order, self._written, self._required, self._strict = order or {}, written or {}, required or {}, strict
        self._of = cache(self._make)
        self._parts: Callable[[Any], tuple[_Part, ...]] = cache(self._make_parts)

    def encode(self, thing: Any) -> dict[str, Any]:
        given = ((part, getattr(thing, part.name)) for part in self._parts(type(thing)))
        return {part.name: part.write(value) for part, value in given if value != part.left_out}

    def decode(self, kind: type[T], value: Any) -> T:
        """What the object describes; BadRecordError says what is wrong with it."""
        try:
            return self._object(kind, value)
        except _Misfit as misfit:
            raise BadRecordError(str(misfit)) from None

    def _object(self, kind: type[T], value: Any) -> T:
        if type(value) is not dict:
            raise _Misfit(f"must be an object, not {_excerpt(value)}")
        parts = self._parts(kind)
        known = {}
        for part in parts:
            if part.name in value:
                try:
                    known[part.name] = part.read(value[part.name])
                except _Misfit as misfit:
                    misfit.address.insert(0, part.name)
                    raise
            elif part.default is MISSING:
                raise _Misfit(part.missing, part.name)
            else:
                known[part.name] = part.default
        if self._strict and (unknown := sorted(value.keys() - known.keys())):
            raise _Misfit(f"is unknown; there are: {', '.join(part.name for part in parts)}", unknown[0])
        return kind(**known)

    def _make_parts(self, kind: Any) -> tuple[_Part, ...]:
        hints, by_name = get_type_hints(kind), {field.name: field for field in fields(kind)}
        made = []
        for name in self._order.get(kind, tuple(by_name)):
            hint, default = hints[name], by_name[name].default
            left_out = MISSING if name in self._written.get(kind, ()) else default
            if get_origin(hint) is tuple and default is MISSING and not self._strict:
                default = ()
            elif name in self._required.get(kind, ()):
                default = MISSING
            missing = "is missing" + " (null means unanswered)" * (type(None) in get_args(hint))
            made.append(_Part(name, *self._of(hint), default, left_out, missing))
        return tuple(made)

    def _make(self, hint: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
        """How values of a type are read and written."""
        if hint is str:
            return _read_text, _same
        if hint is bool:
            return _read_flag, _same
        if hint is int:
            return _read_integer, _same
        if hint in (float, float | None):
            return _read_number if hint is float else _read_number_or_null, _short
        if hint is Span:
            return _read_span, list
        if get_origin(hint) is Literal:
            return _choice_reader(get_args(hint)), _same
        if get_origin(hint) is tuple:
            read, write = self._of(get_args(hint)[0])
            return _list_reader(read), lambda values: [write(value) for value in values]
        return lambda value: self._object(hint, value), self.encode


def _same(value: Any) -> Any:
    return value


def _short(value: float | None) -> float | int | None:
    return int(value) if value is not None and float(value).is_integer() else value


def _excerpt(value: Any) -> str:
    return json.dumps(value)[:40]


def _read_text(value: Any) -> str:
    if type(value) is not str:
        raise _Misfit("is null" if value is None else f"must be text, not {_excerpt(value)}")
    return value


def _read_flag(value: Any) -> bool:
    if type(value) is not bool:
        raise _Misfit(f"must be true or false, not {_excerpt(value)}")
    return value


def _read_integer(value: Any) -> int:
    if type(value) is not int:
        raise _Misfit(f"must be a whole number, not {_excerpt(value)}")
    return value


def _read_number(value: Any, wanted: str = "a number") -> float:
    if type(value) not in (int, float) or not abs(value) < LARGEST:
        raise _Misfit(f"must be {wanted}, not {_excerpt(value)}")
    return float(value)


def _read_number_or_null(value: Any) -> float | None:
    return None if value is None else _read_number(value, "a number or null")


def _read_span(value: Any) -> Span:
    if not (
        type(value) is list and len(value) == 2 and all(type(place) is int and 0 <= place < LONGEST for place in value)
    ):
        raise _Misfit(f"must be [start, end], not {_excerpt(value)}")
    return Span(*value)


def _choice_reader(allowed: tuple[str, ...]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if _read_text(value) not in allowed:
            raise _Misfit(f"must be one of {', '.join(allowed)}, not {value!r}")
        return value

    return read


def _list_reader(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def read_list(values: Any) -> tuple[Any, ...]:
        if type(values) is not list:
            raise _Misfit(f"must be a list, not {_excerpt(values)}")
        made = []
        for place, value in enumerate(values):
            try:
                made.append(read(value))
            except _Misfit as misfit:
                misfit.address.insert(0, place)
                raise
        return tuple(made)

    return read_list


# -- the records of a study ----------------------------------------------------------------------------------

CODEC = Codec(
    order={
        Summary: ("topic", "role", "system", "text", "source"),
        Pyramid: ("topic", "name", "references", "units"),
        Judgment: ("topic", "system", "other", "unit", "aspect", "judge", "value", "task", "evidence"),
    },
    written={Summary: ("role",), Pyramid: ("name",), ContentUnit: ("contributors",), Judge: ("kind",)},
    required={Summary: ("role",), Judge: ("kind",)},
    strict=False,
)

KINDS: dict[str, tuple[Any, str]] = {
    "topic": (Topic, "topics"),
    "summary": (Summary, "summaries"),
    "pyramid": (Pyramid, "pyramids"),
    "judge": (Judge, "judges"),
    "aspect": (Aspect, "aspects"),
    "task": (Task, "tasks"),
    "assignment": (Assignment, "assignments"),
    "judgment": (Judgment, "judgments"),
}
"""The class of a record by its ``type``, and the part of a study that holds it, in reading order."""


class Collector:
    """Takes records one by one and makes a study of them."""

    def __init__(self) -> None:
        self._titles: list[str] = []
        self._parts: dict[str, list[Any]] = {part: [] for _, part in KINDS.values() if part != "judgments"}
        self._judgments = JudgmentsBuilder()  # a million of these: not kept as objects

    def add(self, record: dict[str, Any]) -> list[str]:
        """Take in one record; returns the names of unknown fields."""
        name = record.get("type")
        if name == "study":
            self._titles.append(_title(record))
            return [field for field in record if field not in {"type", "version", "title"}]
        if not isinstance(name, str) or name not in KINDS:
            raise BadRecordError(f"unknown type {name!r}; known values are: {', '.join(['study', *KINDS])}")
        kind, part = KINDS[name]
        thing = CODEC.decode(kind, record)
        (self._judgments.add if kind is Judgment else self._parts[part].append)(thing)
        return [field for field in record if field != "type" and field not in kind.__dataclass_fields__]

    def study(self) -> Study:
        if len(self._titles) > 1:
            raise BadRecordError("there is more than one record of type 'study'")
        parts = {part: tuple(things) for part, things in self._parts.items()}
        return Study(**parts, judgments=self._judgments.build(), title="".join(self._titles))


def _title(record: dict[str, Any]) -> str:
    if (version := record.get("version", VERSION)) != VERSION:
        raise BadRecordError(
            f"version {version!r} of this format is not supported; this release reads version {VERSION}"
        )
    try:
        return _read_text(record.get("title", ""))
    except _Misfit as misfit:
        raise BadRecordError(f"field 'title' {misfit.what}") from None


def to_records(study: Study) -> Iterator[dict[str, Any]]:
    """The objects of a study in reading order: what is referred to comes before what refers to it."""
    yield {"type": "study", "version": VERSION, **({"title": study.title} if study.title else {})}
    for name, (_, part) in KINDS.items():
        for thing in getattr(study, part):
            yield {"type": name, **CODEC.encode(thing)}
