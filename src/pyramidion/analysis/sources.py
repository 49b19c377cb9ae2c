"""Read the input of analyses: a study, a table of judgments or a score table, whichever a path contains."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyramidion import formats, plugins
from pyramidion.analysis.answer import Answer
from pyramidion.analysis.differences import Differences, differences
from pyramidion.analysis.inputs import shares_judgments
from pyramidion.errors import InputError, UsageError
from pyramidion.formats import load
from pyramidion.formats.score_tables import read_scores
from pyramidion.scoring.choice import judged_units
from pyramidion.scoring.litepyramids import Compat
from pyramidion.scoring.methods import fitting_methods, score
from pyramidion.study import ScoreTable, Study

Source = Study | ScoreTable

MOST_FOR_ROUGE = 20_000
"""For more summaries ROUGE takes minutes: 1 to 2 ms each, with four references of 250 words."""


def read_source(
    path: str | Path,
    *,
    format: str | None = None,
    lenient: bool = False,
    columns: formats.NamedColumns = None,
    tell: Callable[[str], object] | None = None,
) -> Source:
    """A study in any known format, or a score table in any known layout."""
    if format is not None or columns or formats.is_url(path):
        return load(path, format=format, lenient=lenient, columns=columns, tell=tell)
    path = Path(path)
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if path.is_dir() or any(known.recognises(path) for known in formats.all_formats()):
        return load(path, lenient=lenient, tell=tell)
    return read_scores(path, lenient=lenient)


def as_study(source: Source, where: str) -> Study:
    if isinstance(source, Study):
        return source
    raise UsageError(f"{where} is a score table; this question needs judgments, so give a study")


def score_tables(sources: Iterable[tuple[str, Source]], *, compat: Compat | None = None) -> dict[str, ScoreTable]:
    """Score tables by name. A study is scored by every method that applies to it, and by each model's judgments.

    With ``compat`` it must be one that the method lite can score, as a released script did.
    """
    sources = list(sources)
    if compat is not None and all(isinstance(source, ScoreTable) for _, source in sources):
        raise UsageError("a score table says itself how it was made; compat needs a study")
    found: dict[str, ScoreTable] = {}
    for name, source in sources:
        tables = {name: source} if isinstance(source, ScoreTable) else _of_study(source, compat)
        for label, table in tables.items():
            taken = label in found
            found[f"{name}-{label}" if taken and label != name else f"{label}-{len(found)}" if taken else label] = table
    return found


def _of_study(study: Study, compat: Compat | None) -> dict[str, ScoreTable]:
    chosen = {} if compat is None else {"lite": score(study, "lite", compat=compat)}
    tables = chosen | scored_by_all(study, known=chosen)
    return tables | scored_by_models(study, tables)


def scored_by_models(study: Study, known: Mapping[str, ScoreTable]) -> dict[str, ScoreTable]:
    """The study's scores by the saved judgments of each model, on each pyramid it judged, by the method that fits
    it. Measures are named after the judge: ``align:modified``. Models whose judgments a ``known`` table already uses
    are left out: they are not separate metrics."""
    found: dict[str, ScoreTable] = {}
    for judge in sorted(study.judges_of("model")):
        mine = study.judgments.take(study.judgments.judge.is_in({judge}))
        named = {name: {p.topic: p for p in study.pyramids if p.name == name} for name in study.pyramid_names}
        judged = [name for name, pyramids in named.items() if len(judged_units(mine, pyramids))]
        for pyramid in judged:
            method = fitting_methods(study, pyramid)[0]
            choices: dict[str, Any] = {"aggregate": "mean", "min_agreement": None} if method == "lite" else {}
            try:
                table = score(study, method, pyramid=pyramid, judges=judge, **choices)
            except (UsageError, InputError):
                continue  # what cannot be scored is no metric, and must not take the others with it
            if not any(shares_judgments(table.signature, other.signature) for other in known.values()):
                label = judge if len(judged) == 1 else f"{judge}@{pyramid}"
                found[label] = _renamed(table, label)
    return {label: table for label, table in found.items() if table.scores}


def _renamed(table: ScoreTable, label: str) -> ScoreTable:
    """Measures that have values, with a label in front."""
    held = {score.measure for score in table if score.value is not None}
    scores = (s._replace(measure=f"{label}:{s.measure}") for s in table if s.measure in held)
    order = tuple(f"{label}:{measure}" for measure in table.measures if measure in held)
    return replace(table, scores=tuple(scores), order=order)


def rouge_tables(studies: Mapping[str, Study]) -> dict[str, ScoreTable]:
    """ROUGE of every study that has references."""
    return {
        name: score(study, "rouge", measures=["rouge-2-recall"]) for name, study in studies.items() if study.references
    }


def scored_by_all(study: Study, *, known: Collection[str] = (), quick: bool = False) -> dict[str, ScoreTable]:
    """The study's scores by each method that can score it and is not yet ``known``, the best-fitting first. Raises
    an error if none can. ``quick`` leaves ROUGE out if it would take minutes and there is anything else."""
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
    """The changes in scores and ranks; between two studies also in judgments, units and texts."""
    studies = (first, second) if isinstance(first, Study) and isinstance(second, Study) else None
    tables = (
        {source.signature.method: source} if isinstance(source, ScoreTable) else scored_by_all(source, quick=True)
        for source in (first, second)
    )
    return differences(*tables, studies=studies, measure=measure)
