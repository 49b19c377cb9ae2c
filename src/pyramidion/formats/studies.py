"""Load, check, convert and save studies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path

from pyramidion import formats
from pyramidion.errors import InputError, Problem, Problems, UsageError
from pyramidion.study import Column, Study


@dataclass(frozen=True)
class Loaded:
    """A study as it was read, the format it was in, and everything found wrong with it."""

    study: Study
    format: str
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def inspect(path: str | Path, *, format: str | None = None) -> Loaded:
    """Read a study and list every problem with it, without stopping at any."""
    problems = Problems()
    if formats.is_url(path):
        reader = formats.get("database")
    else:
        path = Path(path)
        if not path.exists():
            raise UsageError(f"{path} does not exist")
        reader = formats.get(format) if format else formats.detect(path)
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
    """The study with its only judge under another name: files of two annotators say "annotator" both."""
    if len(study.judges) != 1:
        held = ", ".join(judge.id for judge in study.judges) or "none"
        raise UsageError(f"only a study with one judge can have it renamed; judges here: {held}")
    judgments = study.judgments.with_columns(judge=Column.repeat(name, len(study.judgments)))
    return replace(study, judges=(replace(study.judges[0], id=name),), judgments=judgments)


def save(study: Study, path: str | Path, *, format: str | None = None) -> tuple[Problem, ...]:
    """Write a study in a format, or the one that the path suggests; returns what it could not hold."""
    target = formats.get(format or guess_format(Path(path)))
    if target.write is None:
        raise UsageError(f"format {target.name} can be read but not written")
    problems = Problems()
    problems.extend(formats.losses(study, target))
    try:
        target.write(study, Path(path), problems)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    except UsageError as error:
        raise UsageError("\n".join([str(error), *map(str, problems)][:20])) from None
    return tuple(problems)


def guess_format(path: Path) -> str:
    """The format a target path suggests: by its suffix, else a folder of text."""
    suffixes = {".jsonl": "jsonl", ".ndjson": "jsonl", ".pyr": "ducview", ".pan": "ducview", ".csv": "mturk"}
    suffix = path.suffix.lower()
    if suffix in suffixes:
        return suffixes[suffix]
    if suffix:
        raise UsageError(f"no format is known for {path.name}; name one with --to")
    return "folder"


def example() -> Study:
    """The bundled example: four invented news topics, six summarizers, every kind of judgment."""
    with as_file(files("pyramidion") / "data" / "example.jsonl") as path:
        return load(path, format="jsonl")
