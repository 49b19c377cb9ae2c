"""A study database as a format: every command that reads a study reads a running campaign's file as it stands."""

from __future__ import annotations

from pathlib import Path

from pyramidion.errors import MissingExtraError, Problems
from pyramidion.formats.base import Format, parts
from pyramidion.model import Study

_HEADER = b"SQLite format 3\x00"


def recognises(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def is_url(place: str | Path) -> bool:
    return isinstance(place, str) and place.startswith(("postgresql:", "postgresql+", "postgres:", "sqlite:"))


def read(place: str | Path, problems: Problems) -> Study:
    """The study with everything its campaigns have collected; excluded workers are left out and reported."""
    try:
        from pyramidion.workflows.campaign import Desk
    except ImportError:
        raise MissingExtraError("A study database", "server") from None
    desk = Desk.open(place)
    try:
        study = desk.study()
    finally:
        desk.database.close()
    problems.extend(study.notes)
    return study


FORMAT = Format(
    name="database",
    title="a study database made by `pyramidion init`, with the answers of its campaigns (extra `server`)",
    recognises=recognises,
    read=read,
    holds=frozenset(parts(Study())),
)
