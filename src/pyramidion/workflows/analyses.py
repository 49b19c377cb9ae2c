"""What analyses start from: a study, a table of judgments or a score table, whichever a path holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pyramidion import formats
from pyramidion.errors import InputError, UsageError
from pyramidion.formats.judgment_tables import read_judgments, recognises
from pyramidion.formats.score_tables import read_scores
from pyramidion.model import ScoreTable, Study
from pyramidion.workflows import database
from pyramidion.workflows.evaluate import fitting_methods, score
from pyramidion.workflows.studies import load

Source = Study | ScoreTable


def read_source(path: str | Path, *, format: str | None = None, lenient: bool = False) -> Source:
    """A study in any known format, a long table of judgments, or a score table in any known layout."""
    if format is not None or database.is_url(path):
        return load(path, format=format, lenient=lenient)
    path = Path(path)
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if any(known.recognises(path) for known in formats.all_formats()):
        return load(path, lenient=lenient)
    if recognises(path):
        return read_judgments(path, lenient=lenient)
    if path.is_dir():
        formats.detect(path)  # says what a folder may hold
    return read_scores(path, lenient=lenient)


def as_study(source: Source, where: str) -> Study:
    if isinstance(source, Study):
        return source
    raise UsageError(f"{where} is a score table; this question is about judgments, so it needs a study")


def score_tables(sources: Iterable[tuple[str, Source]]) -> dict[str, ScoreTable]:
    """Score tables by name. A study is scored by every method that applies to it."""
    found: dict[str, ScoreTable] = {}
    for name, source in sources:
        tables = {name: source} if isinstance(source, ScoreTable) else scored_by_all(source)
        for label, table in tables.items():
            taken = label in found
            found[f"{name}-{label}" if taken and label != name else f"{label}-{len(found)}" if taken else label] = table
    return found


def rouge_tables(studies: Mapping[str, Study], measure: str = "rouge-2-recall") -> dict[str, ScoreTable]:
    """ROUGE of every study that has references."""
    return {name: score(study, "rouge", measures=[measure]) for name, study in studies.items() if study.references}


def scored_by_all(study: Study) -> dict[str, ScoreTable]:
    """The study's scores by each method that can score it, the fitting one first; an error where none can."""
    found: dict[str, ScoreTable] = {}
    reasons: list[str] = []
    for method in fitting_methods(study):
        try:
            found[method] = score(study, method)
        except (UsageError, InputError) as error:
            reasons.append(f"{method}: {str(error).splitlines()[0]}")
    if not found:
        raise UsageError("the study cannot be scored by any method\n" + "\n".join(reasons))
    return found
