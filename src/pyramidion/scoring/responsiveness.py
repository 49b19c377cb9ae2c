"""Responsiveness: people rate a whole summary on a scale. Gillick and Liu 2010, section 3.

A summary's score on an aspect is the mean of its ratings; a system's is the mean over its topics.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyramidion.errors import Problems, UsageError, check_choice
from pyramidion.scoring.aggregate import mean
from pyramidion.scoring.choice import default_raters, judge_ids, unscored
from pyramidion.study import Score, ScoreTable, Signature, Study
from pyramidion.study.judgments import NO_RATING


def score(study: Study, *, measures: Sequence[str] | None = None, judges: str | None = None) -> ScoreTable:
    """The mean rating of every summary, one measure per aspect."""
    ratings = study.judgments.take(study.judgments.other.is_in({""}) & ~study.judgments.aspect.is_in(NO_RATING))
    judges = judges or default_raters(study, ratings)
    judgments = ratings.take(ratings.judge.is_in(judge_ids(study, judges)))
    rated = list(judgments.aspect.present_names())
    known = [aspect.id for aspect in study.aspects if aspect.id in rated]
    aspects = list(measures or known or rated)
    if not rated:
        raise UsageError("the study has no ratings")
    for aspect in aspects:
        check_choice("rated aspect", aspect, rated)
    means = mean(judgments.take(judgments.aspect.is_in(set(aspects))))
    values = {(j.aspect, j.topic, j.system): j.value for j in means}
    summaries = sorted({(topic, system) for _, topic, system in values})
    scores = [
        Score(topic, system, aspect, values.get((aspect, topic, system)))
        for topic, system in summaries
        for aspect in aspects
    ]
    problems = Problems()
    problems.extend(unscored(study, scores))
    return ScoreTable.of_summaries(scores, Signature.of("responsiveness", judges=judges, average="mean"), problems)
