"""What a format is: a name, a way to recognise it, a reader, a writer, and what it can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyramidion.errors import Problem, Problems
from pyramidion.study import UNMATCHED, Study

_SQLITE = b"SQLite format 3\x00"

Reader = Callable[[Any, Problems], Study]
Writer = Callable[[Study, Path, Problems], None]


@dataclass(frozen=True)
class Format:
    """A file format. Readers add what is wrong to the problems and go on; writers write where they are told.

    ``holds`` names the parts of a study that survive a round trip (keys of ``parts``); everything else is
    reported as lost by whoever converts.
    """

    name: str
    title: str
    recognises: Callable[[Path], bool]
    read: Reader
    write: Writer | None = None
    holds: frozenset[str] = frozenset()


def parts(study: Study) -> dict[str, int]:
    """How much of each kind of content a study has, in the vocabulary of ``Format.holds``."""
    units = [unit for pyramid in study.pyramids for unit in pyramid.units]
    judgments = study.judgments
    on_units = int((~judgments.unit.is_in({""})).sum())
    on_unmatched = int(judgments.aspect.is_in({UNMATCHED}).sum())
    return {
        "study title": int(bool(study.title)),
        "topic titles": sum(bool(topic.title or topic.description) for topic in study.topics),
        "documents": sum(len(topic.documents) for topic in study.topics),
        "references": len(study.references),
        "peers": len(study.peers),
        "source names": sum(bool(summary.source) for summary in study.summaries),
        "pyramids": len(study.pyramids),
        "contributor spans": sum(bool(c.spans) for unit in units for c in unit.contributors),
        "unit authors": sum(bool(unit.author) for unit in units),
        "unit groups": sum(bool(unit.group) for unit in units),
        "unit comments": sum(bool(unit.comment) for unit in units),
        "unit judgments": on_units,
        "unmatched counts": on_unmatched,
        "ratings": len(judgments) - on_units - on_unmatched,
        "evidence": len(judgments.evidence),
        "tasks": len(study.tasks),
        "assignments": len(study.assignments),
    }


def losses(study: Study, target: Format) -> list[Problem]:
    """One warning for each part of the study that the target format has no place for."""
    return [
        Problem(target.name, f"cannot hold {part}: {count} left out", "warning")
        for part, count in parts(study).items()
        if count and part not in target.holds
    ]


def is_url(place: str | Path) -> bool:
    return isinstance(place, str) and place.startswith(("postgresql:", "postgresql+", "postgres:", "sqlite:"))


def is_database(place: str | Path) -> bool:
    """Whether a study database is at this place: a URL, or a SQLite file."""
    if is_url(place):
        return True
    path = Path(place)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE
