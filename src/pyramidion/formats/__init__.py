"""Read, check, convert and save studies in every layout people have. A format only parses and writes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import as_file
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from pyramidion import plugins
from pyramidion.errors import InputError, Problem, Problems, UsageError
from pyramidion.study import UNMATCHED, Column, Study

_SQLITE = b"SQLite format 3\x00"

Reader = Callable[[Any, Problems], Study]
Writer = Callable[[Study, Path, Problems], None]


@dataclass(frozen=True)
class Format:
    """A file format. Readers add what is wrong to the problems and continue; writers write to the given path.

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
    """One warning for each part of the study that the target format cannot hold."""
    return [
        Problem(target.name, f"cannot hold {part}; {count} left out", "warning")
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


# -- which format ------------------------------------------------------------------------------------------------


def get(name: str) -> Format:
    format = plugins.load("formats", name)
    assert isinstance(format, Format)
    return format


def all_formats() -> list[Format]:
    """Every format that can be loaded: a broken plugin must not break the others."""
    loaded = []
    for name in plugins.names("formats"):
        with suppress(UsageError):
            loaded.append(get(name))
    return loaded


def detect(path: Path) -> Format:
    """The one format that recognises a path; raises an error if none or several do."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    fitting = [candidate for candidate in all_formats() if candidate.recognises(path)]
    if len(fitting) == 1:
        return fitting[0]
    known = ", ".join(plugins.names("formats"))
    if not fitting:
        raise UsageError(f"{path} is in no known format; {_suggestion(path)}name one of {known} with --from")
    raise UsageError(f"{path} could be {' or '.join(f.name for f in fitting)}; say which with --from")


def _suggestion(path: Path) -> str:
    """What somebody who gives a folder most likely wants: results of ours, or texts of their own."""
    if not path.is_dir():
        return ""
    if (path / "study.jsonl").is_file():
        return f"did you mean {path / 'study.jsonl'}? Otherwise "
    return (
        "texts belong in topics/<topic>/references/<author>.txt and topics/<topic>/peers/<system>.txt, or in "
        "references/<topic>.txt and <system>/<topic>.txt, or, with one line per topic, in references.txt and "
        "<system>.txt; for anything else "
    )


# -- studies -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """A study as it was read, the format it was in, and all its problems."""

    study: Study
    format: str
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def inspect(path: str | Path, *, format: str | None = None) -> Loaded:
    """Read a study and list every problem with it, without stopping at any."""
    problems = Problems()
    if is_url(path):
        reader = get("database")
    else:
        path = Path(path)
        if not path.exists():
            raise UsageError(f"{path} does not exist")
        reader = get(format) if format else detect(path)
    try:
        study = reader.read(path, problems)
    except OSError as error:
        raise UsageError(f"{error.filename or path} cannot be read: {error.strerror or error}") from error
    problems.extend(study.problems())
    return Loaded(study, reader.name, tuple(problems))


def load(path: str | Path, *, format: str | None = None, lenient: bool = False) -> Study:
    """Read a study in any known format; raises InputError with every problem unless ``lenient``."""
    loaded = inspect(path, format=format)
    if loaded.errors and not lenient:
        raise InputError(loaded.errors)
    return replace(loaded.study, notes=loaded.problems)


def with_judge_called(study: Study, name: str) -> Study:
    """The study with its only judge under another name: files of two annotators both say "annotator"."""
    if len(study.judges) != 1:
        held = ", ".join(judge.id for judge in study.judges) or "none"
        raise UsageError(f"the judge can be renamed only if there is exactly one; this study has: {held}")
    judgments = study.judgments.with_columns(judge=Column.repeat(name, len(study.judgments)))
    return replace(study, judges=(replace(study.judges[0], id=name),), judgments=judgments)


def save(study: Study, path: str | Path, *, format: str | None = None) -> tuple[Problem, ...]:
    """Write a study in a format, or the one that the path suggests; returns what it could not hold."""
    target = get(format or guess_format(Path(path)))
    if target.write is None:
        raise UsageError(f"format {target.name} can be read but not written")
    problems = Problems()
    problems.extend(losses(study, target))
    try:
        target.write(study, Path(path), problems)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    except UsageError as error:
        raise UsageError("\n".join([str(error), *map(str, problems)][:20])) from None
    return tuple(problems)


def guess_format(path: Path) -> str:
    """The format a target path suggests: by its suffix, otherwise a folder of text."""
    suffixes = {".jsonl": "jsonl", ".ndjson": "jsonl", ".pyr": "ducview", ".pan": "ducview", ".csv": "mturk"}
    suffix = path.suffix.lower()
    if suffix in suffixes:
        return suffixes[suffix]
    if suffix:
        raise UsageError(f"no format is known for {path.name}; name one with --to")
    return "folder"


def example() -> Study:
    """The bundled example: four invented news topics, six summarizers, every kind of judgment."""
    with as_file(package_files("pyramidion") / "data" / "example.jsonl") as path:
        return load(path, format="jsonl")
