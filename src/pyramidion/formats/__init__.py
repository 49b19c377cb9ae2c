"""Read, check, convert and save studies in every layout people have. A format only parses and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.resources import as_file
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from pyramidion import plugins
from pyramidion.errors import InputError, Problem, Problems, UsageError
from pyramidion.formats.archives import is_archive, unpacked
from pyramidion.formats.columns import JUDGMENTS, Columns, column_names, matching, parse_columns, with_plain_columns
from pyramidion.formats.layouts import explain
from pyramidion.formats.rows import first_row, is_table
from pyramidion.study import UNMATCHED, Column, Study

NamedColumns = str | Sequence[str] | Mapping[str, str | Sequence[str]] | None
"""Columns as a caller names them: see `columns.parse_columns`."""

_SQLITE = b"SQLite format 3\x00"

Reader = Callable[..., Study]
"""Called with a path and problems, and with the caller's `Columns` where the format is read by columns."""
Writer = Callable[[Study, Path, Problems], None]


@dataclass(frozen=True)
class Format:
    """A file format. Readers add what is wrong to the problems and continue; writers write to the given path.

    ``holds`` names the parts of a study that survive a round trip (keys of ``parts``); everything else is
    reported as lost by whoever converts. With ``by_columns`` it is a table, whose columns a caller may name:
    ``recognises`` and ``read`` take them last.
    """

    name: str
    title: str
    recognises: Callable[..., bool]
    read: Reader
    write: Writer | None = None
    holds: frozenset[str] = frozenset()
    by_columns: bool = False


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


def detect(path: Path, columns: Columns | None = None) -> Format:
    """The one format that recognises a path; raises an error if none or several do. Named ``columns`` are those of a
    table."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if columns:
        tables = [candidate for candidate in all_formats() if candidate.by_columns]
        fitting = [candidate for candidate in tables if candidate.recognises(path, columns)]
        if not fitting and (path.is_dir() or not is_table(path)):
            raise UsageError(f"{path} is not a table, so --columns has no effect")
        return fitting[0] if fitting else _table_format([*first_row(path)], columns)
    fitting = [candidate for candidate in all_formats() if candidate.recognises(path)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise UsageError(explain(path))
    raise UsageError(f"{path} could be {' or '.join(f.name for f in fitting)}; say which with --from")


# -- studies -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """A study as it was read, the format it was in, what it was taken for where that is a guess, and all its
    problems."""

    study: Study
    format: str
    problems: tuple[Problem, ...]
    recognised: str = ""

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity == "error")


def inspect(source: Any, *, format: str | None = None, columns: NamedColumns = None) -> Loaded:
    """Read a study and list every problem with it, without stopping at any. The source is a path (an archive too), the
    URL of a database, or a table in memory: a data frame, an Arrow table, a `datasets` object, rows or columns."""
    if isinstance(source, str | Path) and not is_url(source) and is_archive(Path(source)):
        with unpacked(Path(source)) as place, addressed_inside(place):
            return with_addresses_inside(inspect(place, format=format, columns=columns), place)
    problems = Problems()
    named = parse_columns(columns)
    source = with_plain_columns(source)
    reader = _reader(source, format, named)
    if named and not reader.by_columns:
        raise UsageError(f"{source} is in the format {reader.name}, which is not a table, so --columns has no effect")
    place = Path(source) if isinstance(source, str) and not is_url(source) else source
    try:
        study = reader.read(place, problems, named) if reader.by_columns else reader.read(place, problems)
    except OSError as error:
        raise UsageError(f"{error.filename or source} cannot be read: {error.strerror or error}") from error
    problems.extend(study.problems())
    return Loaded(study, reader.name, tuple(problems), problems.recognised)


def with_addresses_inside(loaded: Loaded, place: Path) -> Loaded:
    """What was read from a place that nobody knows, such as an unpacked archive, with addresses inside it."""
    problems = tuple(
        replace(one, where=_inside(one.where, place), what=_inside(one.what, place)) for one in loaded.problems
    )
    return replace(loaded, problems=problems, recognised=_inside(loaded.recognised, place))


@contextmanager
def addressed_inside(place: Path) -> Iterator[None]:
    """The same for what is refused."""
    try:
        yield
    except UsageError as error:
        raise UsageError(_inside(str(error), place)) from None


def _inside(text: str, place: Path) -> str:
    return text.replace(f"{place}/", "").replace(str(place), place.name)


def _reader(source: Any, format: str | None, columns: Columns) -> Format:
    if isinstance(source, str | Path):
        if is_url(source):
            return get("database")
        if not Path(source).exists():
            raise UsageError(f"{source} does not exist")
        return get(format) if format else detect(Path(source), columns)
    names = column_names(source)
    if not names and (hasattr(source, "columns") or (isinstance(source, list | dict) and not source)):
        raise UsageError("the table has no rows")
    if not names:
        raise UsageError(f"a study is read from a path or a table, not from {type(source).__name__}")
    return get(format) if format else _table_format(names, columns)


def _table_format(names: Sequence[str], columns: Columns) -> Format:
    """What a table with these columns is meant to be."""
    return get("judgments" if "judge" in columns or matching(names, JUDGMENTS["judge"]) else "table")


def load(
    source: Any,
    *,
    format: str | None = None,
    lenient: bool = False,
    columns: NamedColumns = None,
    tell: Callable[[str], object] | None = None,
) -> Study:
    """Read a study in any known format; raises InputError with every problem unless ``lenient``.

    The source is a path, or a table in memory: a pandas or polars frame, an Arrow table, a Hugging Face `datasets`
    object, a list of dicts or a dict of lists. ``columns`` names the columns of a table where they are not recognised:
    ``{"summary": "pred", "reference": "gold"}``. ``tell`` is called with what a table or folder was taken for.
    """
    loaded = inspect(source, format=format, columns=columns)
    if tell is not None and loaded.recognised:
        tell(loaded.recognised)
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
    target = get(format or guess_format(Path(path), study))
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


def guess_format(path: Path, study: Study | None = None) -> str:
    """The format a target path suggests: by its suffix, otherwise a folder of text. A .csv is a table if the study has
    summaries and nothing that only MTurk's files hold; a .parquet is one of nothing but texts, or a whole study."""
    texts_alone = study is not None and study.peers and not study.pyramids and not study.tasks
    suffixes = {
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".pyr": "ducview",
        ".pan": "ducview",
        ".csv": "table" if texts_alone else "mturk",
        ".parquet": "table" if texts_alone and study and not len(study.judgments) else "parquet",
    } | dict.fromkeys((".tsv", ".json"), "table")
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
