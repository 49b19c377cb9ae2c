"""Scores by what the model `AUTO` judged: Gao et al. 2019, section 4.6.

Their names for measures of the Pyramid method (`pyramid`): coverage is modified, quality is original. X is the number
of content units in the peer: those it expresses, at least in part, and those that match nothing. (The released code
takes the arithmetic mean of both as comprehensive, and clips both at 1.) Ours is extent, the mean of coverage and of
how much the peer says of the references' words: clauses hold several facts, and a unit that is said by half is lost to
coverage. A matcher knows nothing about words; with one, extent is coverage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pyramidion.errors import check_choice
from pyramidion.scoring import pyramid as by_pyramid
from pyramidion.scoring.choice import AUTO, Choice, own_references
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.study import UNMATCHED, Judgments, Pyramid, Score, ScoreTable, Signature, Study

MEASURES = ("extent", "coverage", "quality", "comprehensive", "raw")
"""Tables are ranked by the first; raw sums say little across topics, so they come last."""


def check_measures(measures: Sequence[str] | None) -> None:
    for name in measures or ():
        check_choice("auto measure", name, MEASURES)


def peer_scores(pyramid: Pyramid, judgments: Judgments, own: Mapping[str, str]) -> dict[str, PeerScore]:
    """The score of each peer of a topic that the model judged, by system; ``own`` is the reference that a peer is."""
    on_units, on_aspects = (judgments.take(~column.is_in({""})) for column in (judgments.unit, judgments.aspect))
    same = {(pyramid.topic, system): reference for system, reference in own.items()}
    choice = Choice(pyramid.name, {pyramid.topic: pyramid}, AUTO, on_units, on_aspects, own=same)
    # A pyramid without weight has no judged units; what is outside of it was counted all the same.
    counted = ((j.system, int(j.value or 0)) for j in on_aspects if j.aspect == UNMATCHED)
    scores = {who: PeerScore(choice.pyramid_for(pyramid.topic, who), {}, outside) for who, outside in counted}
    for (_, system), score in by_pyramid.scores_by(choice, frozenset({AUTO})):
        scores[system] = replace(score, expressed={unit: float(value) for unit, value in score.expressed.items()})
    return scores


def values(score: PeerScore | None) -> Iterator[tuple[str, float | None]]:
    """Each measure; all undefined for a peer that could not be scored because it is the only reference."""
    return ((name, by_pyramid.MEASURES[name](score) if score else None) for name in MEASURES)


def score(
    study: Study, *, measures: Sequence[str] | None = None, pyramid: str | None = None, judges: str | None = None
) -> ScoreTable:
    """Score by the judgments that a study has, whoever made them and by whatever choices."""
    check_measures(measures)
    table = by_pyramid.score(study, measures=measures or MEASURES, pyramid=pyramid, judges=judges)
    signature = Signature(AUTO, (*table.signature.choices, ("choices", "kept")))
    return _with_lone_references(study, replace(table, signature=signature))


def _with_lone_references(study: Study, table: ScoreTable) -> ScoreTable:
    """With an undefined score for each peer that is a reference, where the pyramid of the others has no unit."""
    name = dict(table.signature.choices)["pyramid"]
    pyramids: Mapping[str, Pyramid] = {p.topic: p for p in study.pyramids if p.name == name}
    scores = [score for score in table if score.topic is not None]
    scored = {(score.topic, score.system) for score in scores}
    lone = [
        (topic, system)
        for (topic, system), own in own_references(study).items()
        if (topic, system) not in scored and topic in pyramids and not pyramids[topic].without(own).units
    ]
    if not lone:
        return table
    scores += [Score(topic, system, measure, None) for topic, system in lone for measure in table.measures]
    return ScoreTable.of_summaries(scores, table.signature, table.notes)
