"""Annotations and their events as the database keeps them: append-only and numbered without gaps, even with
concurrent writers. Events and commands are JSON objects there and in requests; reading refuses what is not exact."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, get_args

from sqlalchemy import Connection, Row, case, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from pyramidion.annotation.commands import COMMANDS, Command, RefusedError
from pyramidion.annotation.log import Event
from pyramidion.errors import PyramidionError, UnknownError, UsageError, check_choice
from pyramidion.store import schema
from pyramidion.store.database import Database
from pyramidion.study.records import BadRecordError, Codec

Kind = Literal["pyramid", "peer"]
LARGEST_ID = 2**31 - 1


@dataclass(frozen=True, slots=True)
class StoredAnnotation:
    """Who annotates what. ``pyramid_id`` is the annotation whose pyramid a peer is matched to; otherwise ``pyramid``
    names one of the study."""

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
    adjudicates: tuple[int, ...] = ()
    """The two annotations that this one settles; it began as a copy of the first."""


PAUSE = 300
"""Seconds without a change after which somebody is taken to have left the desk: this time is not counted as work."""


class Activity(NamedTuple):
    """How many events an annotation has, when the last one was, and how long it was worked on: from its beginning
    through all its changes, without pauses."""

    changes: int = 0
    last: float | None = None
    seconds: float = 0


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
        adjudicates: Sequence[int] = (),
        events: Sequence[Event] = (),
    ) -> StoredAnnotation:
        """Begin an annotation with its first events; UsageError if the name is taken for this text."""
        check_choice("kind", kind, get_args(Kind))
        what = {"topic": topic, "kind": kind, "system": system, "name": name}
        how = {"owner": owner, "shared": shared, "pyramid": pyramid, "pyramid_id": pyramid_id}
        try:
            with self._database.write() as connection:
                lists = {"sources": list(sources), "adjudicates": list(adjudicates)}
                row = insert(schema.annotation_heads).values(**what, **how, **lists, created=self.clock())
                id = connection.execute(row.returning(schema.annotation_heads.c.id)).scalar_one()
                for event in events:
                    connection.execute(insert(schema.annotation_events).values(_row(id, event)))
        except IntegrityError:
            if self.find(topic, kind, name=name, system=system) is None:
                raise
            text = f"peer {system}" if system else "the pyramid"
            raise UsageError(f"topic {topic}: {text} already has an annotation called {name!r}") from None
        lists = {"sources": tuple(sources), "adjudicates": tuple(adjudicates)}
        return StoredAnnotation(id=id, **what, **how, **lists)  # type: ignore[arg-type]

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
        """Annotations in the order they were begun; filter with ``topic="t"``, ``kind="peer"`` and so on."""
        query = select(schema.annotation_heads).filter_by(**only).order_by(schema.annotation_heads.c.id)
        with self._database.read() as connection:
            return [_annotation(row) for row in connection.execute(query).all()]

    def activity(self) -> dict[int, Activity]:
        """The activity in every annotation that has events."""
        e, h = schema.annotation_events.c, schema.annotation_heads.c
        before = func.coalesce(func.lag(e.at).over(partition_by=e.annotation_id, order_by=e.number), h.created)
        gaps = select(e.annotation_id, e.at, (e.at - before).label("gap")).join_from(
            schema.annotation_events, schema.annotation_heads, e.annotation_id == h.id
        )
        g = gaps.subquery().c
        worked = func.sum(case((g.gap.between(0, PAUSE), g.gap), else_=0.0))
        query = select(g.annotation_id, func.count(), func.max(g.at), worked).group_by(g.annotation_id)
        with self._database.read() as connection:
            return {id: Activity(*activity) for id, *activity in connection.execute(query).all()}

    def version(self, id: int) -> int:
        """How many events an annotation has."""
        with self._database.read() as connection:
            return _version(connection, id)

    def since(self, id: int, version: int = 0) -> list[Event]:
        """The events from a version on, in order: all of them, or those added since that version."""
        e = schema.annotation_events.c
        query = select(e.body).where(e.annotation_id == id, e.number >= version).order_by(e.number)
        with self._database.read() as connection:
            return [read_event(body) for body in connection.execute(query).scalars()]

    def append(self, id: int, event: Event) -> None:
        """Add the next event. Its number is the version its author has seen; BehindError if others were first."""
        try:
            with self._database.write() as connection:
                if event.number != _version(connection, id):
                    raise BehindError(f"annotation {id} has no event {event.number} to come next")
                connection.execute(insert(schema.annotation_events).values(_row(id, event)))
        except IntegrityError:  # on PostgreSQL somebody may take the number between the look and the write
            self.get(id)
            raise BehindError(f"annotation {id} already has an event {event.number}") from None

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
    return StoredAnnotation(**{**parts, "sources": tuple(row.sources), "adjudicates": tuple(row.adjudicates or ())})


# -- JSON ----------------------------------------------------------------------------------------------------

_CODEC = Codec(strict=True)
NAMES: dict[str, type[Command]] = {
    re.sub(r"(?<=.)([A-Z])", r"_\1", command.__name__).lower(): command for command in COMMANDS
}
"""``add_unit``, ``rename_unit``, ...: the ``type`` of a command's object."""
_TYPES = {command: name for name, command in NAMES.items()}


def command_object(command: Command) -> dict[str, Any]:
    return {"type": _TYPES[type(command)], **_CODEC.encode(command)}


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
    if not isinstance(value, dict):
        raise RefusedError(f"a command must be an object, not {repr(value)[:40]}")
    name = value.get("type")
    if not isinstance(name, str) or name not in NAMES:
        raise RefusedError(f"unknown command {name!r}; known values are: {', '.join(NAMES)}")
    try:
        return _CODEC.decode(NAMES[name], {field: part for field, part in value.items() if field != "type"})
    except BadRecordError as error:
        raise RefusedError(f"{name}: {error}") from None


def read_event(value: dict[str, Any]) -> Event:
    touches = tuple(tuple(thing) for thing in value["touches"])
    command = read_command(value["command"])
    return Event(value["number"], value["author"], command, value["base"], touches, value["at"])
