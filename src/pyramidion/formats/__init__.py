"""Formats: parse and write only. ``detect`` finds out what a path holds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from pyramidion import plugins
from pyramidion.errors import UsageError
from pyramidion.formats.base import Format, is_database, is_url, losses, parts

__all__ = ["Format", "all_formats", "detect", "get", "is_database", "is_url", "losses", "parts"]


def get(name: str) -> Format:
    found = plugins.load("formats", name)
    assert isinstance(found, Format)
    return found


def all_formats() -> list[Format]:
    """Every format that can be loaded: a broken plugin must not take the others with it."""
    found = []
    for name in plugins.names("formats"):
        with suppress(UsageError):
            found.append(get(name))
    return found


def detect(path: Path) -> Format:
    """The one format that recognises a path; says so where none or several do."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    found = [candidate for candidate in all_formats() if candidate.recognises(path)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(plugins.names("formats"))
    if not found:
        raise UsageError(f"{path} is in no format I recognise; {_likely(path)}name one of {known} with --from")
    raise UsageError(f"{path} could be {' or '.join(f.name for f in found)}; say which with --from")


def _likely(path: Path) -> str:
    """What somebody who gives a folder most likely wants: results of ours, or texts of their own."""
    if not path.is_dir():
        return ""
    if (path / "study.jsonl").is_file():
        return f"did you mean {path / 'study.jsonl'}? Else "
    return (
        "texts belong into topics/<topic>/references/<author>.txt and topics/<topic>/peers/<system>.txt in it, or into "
        "references/<topic>.txt and <system>/<topic>.txt, or, one line a topic, into references.txt and <system>.txt; "
        "for anything else "
    )
