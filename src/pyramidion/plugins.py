"""Find named parts (formats, methods, aggregators) through entry points.

The built-in parts are registered in pyproject.toml exactly as a third party's would be, so there is one
mechanism and nothing to special-case.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pyramidion.errors import UsageError, check_choice


@cache
def _registered(kind: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"pyramidion.{kind}")}


def names(kind: str) -> list[str]:
    """The registered names of a kind, e.g. ``names("formats")``."""
    return sorted(_registered(kind))


def added(kind: str) -> list[str]:
    """The names that other packages have registered."""
    return [name for name in names(kind) if not _registered(kind)[name].value.startswith("pyramidion.")]


def load(kind: str, name: str) -> Any:
    """Import and return the part registered under a name; an unknown name lists the known ones."""
    check_choice(kind.removesuffix("s"), name, names(kind))
    try:
        return _registered(kind)[name].load()
    except ImportError as error:
        raise UsageError(f"{kind.removesuffix('s')} {name} cannot be loaded: {error}") from error
