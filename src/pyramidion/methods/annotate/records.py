"""Events as JSON objects and back: what the store keeps and what a page sends. Reading refuses what is not exact."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from pyramidion.methods.annotate.commands import COMMANDS, Command, Mark, Match
from pyramidion.methods.annotate.log import Event
from pyramidion.methods.annotate.subject import RefusedError
from pyramidion.model import ContentUnit, Contributor, Span


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


# -- writing -------------------------------------------------------------------------------------------------


def _object(thing: Any) -> dict[str, Any]:
    """The fields that say something; what is left out reads back as its default."""
    given = {field.name: (getattr(thing, field.name), field.default) for field in fields(thing)}
    return {name: _plain(value) for name, (value, default) in given.items() if default is MISSING or value != default}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):  # a span is one too, and becomes [start, end]
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int) else _object(value)


# -- reading -------------------------------------------------------------------------------------------------


def _read(kind: type[Any], given: Any, where: str) -> Any:
    values = dict(_is(given, dict, where))
    known = {field.name: field for field in fields(kind)}
    if unknown := sorted(values.keys() - known.keys()):
        raise RefusedError(f"{where}: field {unknown[0]!r} is unknown; there are: {', '.join(known)}")
    for name, field in known.items():
        if name not in values and field.default is MISSING:
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
