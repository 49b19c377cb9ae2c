"""Two studies, two score tables, or one of each: what changed from the first to the second."""

from __future__ import annotations

from pyramidion.analysis.answer import Answer
from pyramidion.analysis.differences import Differences
from pyramidion.analysis.differences import differences as compare
from pyramidion.model import ScoreTable, Study
from pyramidion.workflows.analyses import Source
from pyramidion.workflows.reporting import quick_scores


def differences(first: Source, second: Source, *, measure: str | None = None) -> Answer[Differences]:
    """Scores and ranks of what both have; between two studies judgments, units and texts as well."""
    studies = (first, second) if isinstance(first, Study) and isinstance(second, Study) else None
    return compare(_tables(first), _tables(second), studies=studies, measure=measure)


def _tables(source: Source) -> dict[str, ScoreTable]:
    if isinstance(source, ScoreTable):
        return {source.signature.method: source}
    return quick_scores(source)
