"""What analyses start from: a study, a table of judgments or a score table, whichever a path holds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from pyramidion import formats, plugins
from pyramidion.analysis.answer import Answer
from pyramidion.analysis.differences import Differences, differences
from pyramidion.errors import InputError, UsageError
from pyramidion.formats.judgment_tables import read_judgments, recognises
from pyramidion.formats.score_tables import read_scores
from pyramidion.model import ScoreTable, Study
from pyramidion.workflows import database
from pyramidion.workflows.evaluate import fitting_methods, score
from pyramidion.workflows.studies import load

Source = Study | ScoreTable

MOST_FOR_ROUGE = 500
"""Of more summaries ROUGE takes minutes: about 0.1 s each."""


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


def rouge_tables(studies: Mapping[str, Study]) -> dict[str, ScoreTable]:
    """ROUGE of every study that has references."""
    return {
        name: score(study, "rouge", measures=["rouge-2-recall"]) for name, study in studies.items() if study.references
    }


def scored_by_all(study: Study, *, known: Collection[str] = (), quick: bool = False) -> dict[str, ScoreTable]:
    """The study's scores by each method that can score it and is not ``known`` already, the fitting one first.

    An error where none can. ``quick`` leaves ROUGE out where that would take minutes, if there is anything else.
    """
    found: dict[str, ScoreTable] = {}
    reasons: list[str] = []
    for method in fitting_methods(study):
        slow = quick and method == "rouge" and len(study.peers) > MOST_FOR_ROUGE
        if method in known or (slow and (found or known)):
            continue
        try:
            found[method] = score(study, method)
        except Exception as error:
            if method not in plugins.added("methods") and not isinstance(error, UsageError | InputError):
                raise  # a mistake of ours; one of a plugin must not take the other methods with it
            reasons.append(f"{method}: {str(error).splitlines()[0]}")
    if not found and not known:
        raise UsageError("the study cannot be scored by any method\n" + "\n".join(reasons))
    return found


def changes(first: Source, second: Source, *, measure: str | None = None) -> Answer[Differences]:
    """Scores and ranks of what both have; between two studies judgments, units and texts as well."""
    studies = (first, second) if isinstance(first, Study) and isinstance(second, Study) else None
    tables = (
        {source.signature.method: source} if isinstance(source, ScoreTable) else scored_by_all(source, quick=True)
        for source in (first, second)
    )
    return differences(*tables, studies=studies, measure=measure)
