"""Scores by who gave them: every assessor's pyramid scores and ratings, as one long list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pyramidion.analysis.ratings import rated_aspects
from pyramidion.errors import Problems, UsageError
from pyramidion.methods.choice import choose
from pyramidion.methods.columns import is_in, present_names, take
from pyramidion.methods.pyramid import peer_scores
from pyramidion.model import Study

PYRAMID = "pyramid"


@dataclass(frozen=True, slots=True)
class Given:
    """One assessor's score of one summary. ``year`` names the study it comes from."""

    kind: str
    year: str
    assessor: str
    topic: str
    system: str
    value: float


Studies = Study | Mapping[str, Study]


def by_year(studies: Studies) -> Mapping[str, Study]:
    return {"": studies} if isinstance(studies, Study) else studies


def given_scores(studies: Studies, *, pyramid: str | None = None) -> tuple[Given, ...]:
    """Modified pyramid scores from each assessor's own annotation, and every rating."""
    found = [score for year, study in by_year(studies).items() for score in _of_study(year, study, pyramid)]
    if not found:
        raise UsageError("no assessor annotated a pyramid or rated anything")
    return tuple(found)


def _of_study(year: str, study: Study, pyramid: str | None) -> Iterator[Given]:
    for assessor in annotators(study, pyramid):
        choice = choose(study, kind="expert", pyramid=pyramid, judges=assessor)
        for topic, system, score in peer_scores(choice, Problems()):
            if score.modified is not None:
                yield Given(PYRAMID, year, assessor, topic, system, score.modified)
    judgments = study.judgments
    for aspect in rated_aspects(study):
        rated = take(judgments, is_in(judgments.aspect, {aspect}) & is_in(judgments.other, {""}))
        for j in sorted(rated, key=lambda j: (j.judge, j.topic, j.system, j.value or 0.0)):
            if j.value is not None:
                yield Given(aspect, year, j.judge, j.topic, j.system, j.value)


def annotators(study: Study, pyramid: str | None = None) -> Sequence[str]:
    """Who annotated peers against the expert pyramid."""
    if not study.pyramids or (pyramid is None and "expert" not in study.pyramid_names):
        return ()
    choice = choose(study, kind="expert", pyramid=pyramid, judges=None)
    return present_names(choice.on_units.judge)


def kinds_of(scores: Sequence[Given]) -> list[str]:
    return list(dict.fromkeys(score.kind for score in scores))


Cells = dict[tuple[str, str, str], float]


def cells_of(scores: Sequence[Given], kind: str, without: frozenset[str] = frozenset()) -> Cells:
    """The mean score of each summary (year, topic, system) over the assessors that are kept."""
    held: dict[tuple[str, str, str], list[float]] = {}
    for score in scores:
        if score.kind == kind and score.assessor not in without:
            held.setdefault((score.year, score.topic, score.system), []).append(score.value)
    return {key: float(np.mean(values)) for key, values in held.items()}


def system_means(cells: Cells) -> dict[str, float]:
    """Each system's mean over its summaries. Systems of different years are different ones."""
    held: dict[str, list[float]] = {}
    for (year, _, system), value in cells.items():
        held.setdefault(f"{year}/{system}" if year else system, []).append(value)
    return {system: float(np.mean(values)) for system, values in held.items()}
