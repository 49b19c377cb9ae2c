"""Annotations and their events as the database keeps them: append-only, numbered without gaps, whoever writes at the
same moment. Events and commands are JSON objects there and in requests; reading refuses what is not exact.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from pyramidion.annotation.commands import COMMANDS, Command, Mark, Match, RefusedError
from pyramidion.annotation.log import Event
from pyramidion.errors import PyramidionError, UnknownError, UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study import ContentUnit, Contributor, Span

Kind = Literal["pyramid", "peer"]
LARGEST_ID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class StoredAnnotation:
    """Who annotates what. ``pyramid_id`` is the annotation whose pyramid a peer is matched to, else ``pyramid``."""

    id: int
    topic: str
    kind: str
    system: str
    name: str
    owner: str
    shared: bool
    pyramid: str = ""
    pyramid_id: int | None = None
    sources: tuple[str, ...] = ()
    stored: int | None = None
    """The version that was put into the study last."""


class Activity(NamedTuple):
    """How many events an annotation has, and when the last one was."""

    changes: int = 0
    last: float | None = None


class BehindError(PyramidionError):
    """Somebody else appended an event first, or the number leaves a gap."""


class Annotations:
    """``clock`` is replaced in tests."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.clock = clock

    def add(
        self,
        topic: str,
        kind: Kind,
        *,
        name: str,
        owner: str,
        system: str = "",
        shared: bool = False,
        pyramid: str = "",
        pyramid_id: int | None = None,
        sources: Sequence[str] = (),
        events: Sequence[Event] = (),
    ) -> StoredAnnotation:
        """Begin an annotation, with its first events; the name is free for this text, or UsageError."""
        check_choice("kind", kind, get_args(Kind))
        what = {"topic": topic, "kind": kind, "system": system, "name": name}
        how = {"owner": owner, "shared": shared, "pyramid": pyramid, "pyramid_id": pyramid_id}
        try:
            with self._database.write() as connection:
                row = insert(schema.annotation_heads).values(**what, **how, sources=list(sources), created=self.clock())
                id = connection.execute(row.returning(schema.annotation_heads.c.id)).scalar_one()
                for event in events:
                    connection.execute(insert(schema.annotation_events).values(_row(id, event)))
        except IntegrityError:
            if self.find(topic, kind, name=name, system=system) is None:
                raise
            text = f"peer {system}" if system else "the pyramid"
            raise UsageError(f"topic {topic}: {text} has an annotation called {name!r} already") from None
        return StoredAnnotation(id=id, **what, **how, sources=tuple(sources))  # type: ignore[arg-type]

    def get(self, id: int) -> StoredAnnotation:
        possible = 1 <= id <= LARGEST_ID  # databases fail at other numbers
        row = self._database.first(select(schema.annotation_heads).filter_by(id=id), {}) if possible else None
        if row is None:
            raise UnknownError(f"there is no annotation {id}")
        return _annotation(row)

    def find(self, topic: str, kind: Kind, *, name: str, system: str = "") -> StoredAnnotation | None:
        query = select(schema.annotation_heads).filter_by(topic=topic, kind=kind, system=system, name=name)
        row = self._database.first(query, {})
        return None if row is None else _annotation(row)

    def all(self, **only: str) -> list[StoredAnnotation]:
        """Annotations in the order they were begun; ``topic="t"``, ``kind="peer"`` and the like choose some."""
        query = select(schema.annotation_heads).filter_by(**only).order_by(schema.annotation_heads.c.id)
        with self._database.read() as connection:
            return [_annotation(row) for row in connection.execute(query).all()]

    def activity(self) -> dict[int, Activity]:
        """How much was done in every annotation that has events."""
        e = schema.annotation_events.c
        query = select(e.annotation_id, func.count(), func.max(e.at)).group_by(e.annotation_id)
        with self._database.read() as connection:
            return {id: Activity(changes, last) for id, changes, last in connection.execute(query).all()}

    def version(self, id: int) -> int:
        """How many events an annotation has."""
        with self._database.read() as connection:
            return _version(connection, id)

    def since(self, id: int, version: int = 0) -> list[Event]:
        """The events from a version on, in order: all of them, or what is new to whoever has seen that version."""
        e = schema.annotation_events.c
        query = select(e.body).where(e.annotation_id == id, e.number >= version).order_by(e.number)
        with self._database.read() as connection:
            return [read_event(body) for body in connection.execute(query).scalars()]

    def append(self, id: int, event: Event) -> None:
        """Add the next event. Its number is the version its author has seen; BehindError where others were first."""
        try:
            with self._database.write() as connection:
                if event.number != _version(connection, id):
                    raise BehindError(f"annotation {id} has no event {event.number} to come next")
                connection.execute(insert(schema.annotation_events).values(_row(id, event)))
        except IntegrityError:  # on PostgreSQL somebody may take the number between the look and the write
            self.get(id)
            raise BehindError(f"annotation {id} has an event {event.number} already") from None

    def mark_stored(self, id: int, version: int) -> None:
        """The study has this version of an annotation now."""
        heads = schema.annotation_heads
        with self._database.write() as connection:
            connection.execute(update(heads).where(heads.c.id == id).values(stored=version))


def _version(connection: Connection, id: int) -> int:
    query = select(func.max(schema.annotation_events.c.number)).filter_by(annotation_id=id)
    last = connection.execute(query).scalar()
    return 0 if last is None else int(last) + 1


def _row(id: int, event: Event) -> dict[str, Any]:
    number = event.number
    return {"annotation_id": id, "number": number, "author": event.author, "at": event.at, "body": event_object(event)}


def _annotation(row: Row[Any]) -> StoredAnnotation:
    parts = {part.name: getattr(row, part.name) for part in fields(StoredAnnotation)}
    return StoredAnnotation(**{**parts, "sources": tuple(row.sources)})


# -- JSON ----------------------------------------------------------------------------------------------------


def _name(command: type) -> str:
    return re.sub(r"(?<=.)([A-Z])", r"_\1", command.__name__).lower()


NAMES: dict[str, type[Command]] = {_name(command): command for command in COMMANDS}
"""``add_unit``, ``rename_unit``, ...: the ``type`` of a command's object."""


def command_object(command: Command) -> dict[str, Any]:
    return {"type": _name(type(command)), **_object(command)}


def event_object(event: Event) -> dict[str, Any]:
    return {
        "number": event.number,
        "author": event.author,
        "command": command_object(event.command),
        "base": event.base,
        "touches": [list(thing) for thing in event.touches],
        "at": event.at,
    }


def read_command(value: Any) -> Command:
    """A command from its object; RefusedError says what is wrong with it."""
    given = dict(_is(value, dict, "a command"))
    name = given.pop("type", None)
    if not isinstance(name, str) or name not in NAMES:
        raise RefusedError(f"command {name!r} is unknown; there are: {', '.join(NAMES)}")
    made: Command = _read(NAMES[name], given, name)
    return made


def read_event(value: Any) -> Event:
    given = _is(value, dict, "an event")
    touches = tuple(_texts(thing, "touches") for thing in _is(given["touches"], list, "touches"))
    command = read_command(given["command"])
    return Event(given["number"], given["author"], command, given["base"], touches, given["at"])


def _object(thing: Any) -> dict[str, Any]:
    """The fields that say something; what is left out reads back as its default."""
    given = {field.name: (getattr(thing, field.name), field.default) for field in fields(thing)}
    return {name: _plain(value) for name, (value, default) in given.items() if default is MISSING or value != default}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):  # a span is one too, and becomes [start, end]
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int) else _object(value)


def _read(kind: type[Any], given: Any, where: str) -> Any:
    values = dict(_is(given, dict, where))
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(values.keys() - known.keys()):
        raise RefusedError(f"{where}: field {unknown[0]!r} is unknown; there are: {', '.join(known)}")
    for name, part in known.items():
        if name not in values and part.default is MISSING:
            raise RefusedError(f"{where}: field {name!r} is missing")
    return kind(**{name: _reader(name)(value, f"{where}, {name}") for name, value in values.items()})


def _reader(field: str) -> Callable[[Any, str], Any]:
    return _READERS.get(field, _text)


def _is(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        shown = {"dict": "an object", "list": "a list", "str": "a text"}
        raise RefusedError(f"{where} must be {shown[kind.__name__]}, not {repr(value)[:40]}")
    return value


def _text(value: Any, where: str) -> str:
    text: str = _is(value, str, where)
    return text


def _texts(value: Any, where: str) -> tuple[str, ...]:
    return tuple(_text(item, where) for item in _is(value, list, where))


def _spans(value: Any, where: str) -> tuple[Span, ...]:
    spans = _is(value, list, where)
    for span in spans:
        if not (isinstance(span, list) and len(span) == 2 and all(type(place) is int for place in span)):
            raise RefusedError(f"{where}: a span must be [start, end], not {repr(span)[:40]}")
    return tuple(Span(start, end) for start, end in spans)


def _target(value: Any, where: str) -> int:
    if type(value) is not int:
        raise RefusedError(f"{where} must be a number, not {repr(value)[:40]}")
    return value


def _several(kind: type) -> Callable[[Any, str], tuple[Any, ...]]:
    return lambda value, where: tuple(_read(kind, item, where) for item in _is(value, list, where))


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "spans": _spans,
    "references": _texts,
    "units": _texts,
    "contributors": _several(Contributor),
    "content": _several(ContentUnit),
    "matches": _several(Match),
    "marks": _several(Mark),
    "target": _target,
}
"""How a field is read, by its name; the others are texts."""
