"""Lightweight Pyramids: Shapira et al. 2019, section 3, from raw judgments to system scores.

Screen out noisy workers, let the remaining ones vote on each unit, and score a summary by the share of judged units
that are present. A system's score is the mean over its topics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import numpy as np

from pyramidion import plugins
from pyramidion.errors import Problem, Problems, UsageError, check_choice
from pyramidion.scoring.aggregate import Aggregator, Tie
from pyramidion.scoring.choice import Choice, choose, unscored
from pyramidion.scoring.screening import Agreement, Screening, screen
from pyramidion.stats.rounding import rounded_beside
from pyramidion.study import Judgments, Score, ScoreTable, Signature, Study
from pyramidion.study.judgments import group

MEASURES = ("lite",)


def score(
    study: Study,
    *,
    measures: Sequence[str] | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    aggregate: str = "majority",
    tie: Tie = "absent",
    min_agreement: float | None = 0.5,
    rounds: int = 1,
    agreement: Agreement = "positional",
    seed: int = 0,
) -> ScoreTable:
    """Score peers by crowd judgments. ``min_agreement=None`` keeps every worker."""
    for name in measures or ():
        check_choice("lite measure", name, MEASURES)
    if min_agreement is not None and not 0 <= min_agreement <= 1:
        raise UsageError(f"min_agreement must be between 0 and 1, not {min_agreement}")
    if rounds < 1:
        raise UsageError(f"rounds must be at least 1, not {rounds}")
    choice = choose(study, kind="crowd", pyramid=pyramid, judges=judges)
    problems = Problems()
    problems.extend((*choice.notes, *choice.human_peers()))
    judgments = choice.on_units
    if min_agreement is not None:
        screening = screen(judgments, minimum=min_agreement, rounds=rounds, agreement=agreement)
        problems.extend(_screening_notes(screening, min_agreement))
        judgments = screening.kept
    check_choice("tie", tie, get_args(Tie))
    aggregator: Aggregator = plugins.load("aggregators", aggregate)
    present = choice.counted(aggregator(at_most_once(judgments), tie=tie, seed=seed))
    scores = list(share_present(present))
    problems.extend(_unjudged_units(choice, present))
    problems.extend(unscored(study, scores))
    screened = "none" if min_agreement is None else f"{agreement}<{min_agreement:g}x{rounds}"
    signature = Signature.of("lite", **choice.signed, screen=screened, aggregate=aggregate, tie=tie, seed=seed)
    return ScoreTable.of_summaries(scores, signature, problems)


def at_most_once(judgments: Judgments) -> Judgments:
    """A unit expressed twice is present once."""
    value = judgments.value
    return judgments.with_columns(value=np.minimum(value, 1.0)) if (value > 1).any() else judgments


def share_present(aggregated: Judgments) -> Iterator[Score]:
    """Present units / judged units of every summary; a summary without any judged unit has no score.

    Fractional values (means, probabilities) count fractionally.
    """
    value = aggregated.value
    judged = ~np.isnan(value)
    summaries = group(aggregated.topic.ranks(), aggregated.system.ranks())
    count = np.bincount(summaries.of_row[judged], minlength=len(summaries))
    total = np.bincount(summaries.of_row[judged], weights=value[judged], minlength=len(summaries))
    for row, present, units in zip(summaries.first.tolist(), total.tolist(), count.tolist(), strict=True):
        yield Score(aggregated.topic[row], aggregated.system[row], "lite", present / units if units else None)


def _screening_notes(screening: Screening, minimum: float) -> Iterator[Problem]:
    for worker in screening.workers:
        if worker.excluded:
            share = rounded_beside(worker.agreement or 0.0, minimum, digits=3)
            what = f"excluded in round {worker.round}: agreement {share} over {worker.pairs} pairs is below {minimum:g}"
            yield Problem(f"judge {worker.judge}", what, "warning")
        elif worker.agreement is None and len(screening.workers) > 1:
            yield Problem(
                f"judge {worker.judge}", "kept without a check: shares no task with another worker", "warning"
            )


def _unjudged_units(choice: Choice, present: Judgments) -> Iterator[Problem]:
    """Units that should have been judged for a summary and have no remaining answer."""
    expected = {topic: {unit.id for unit in pyramid.sampled} for topic, pyramid in choice.pyramids.items()}
    units = group(present.topic.ranks(), present.unit.ranks())
    wanted = np.array([present.unit[row] in expected[present.topic[row]] for row in units.first.tolist()], dtype=bool)
    summaries = group(present.topic.ranks(), present.system.ranks())
    judged = ~np.isnan(present.value) & (wanted[units.of_row] if len(units) else True)
    count = np.bincount(summaries.of_row[judged], minlength=len(summaries))
    rows = np.flatnonzero(judged)
    rows = rows[np.argsort(summaries.of_row[rows], kind="stable")]
    ends = np.cumsum(count)
    for number, row in enumerate(summaries.first.tolist()):
        topic, system = present.topic[row], present.system[row]
        wanted_here = expected[topic] - choice.left_out(topic, system)
        if count[number] < len(wanted_here):
            answered = rows[ends[number] - count[number] : ends[number]].tolist()
            missing = sorted(wanted_here - {present.unit[row] for row in answered})
            some = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
            what = f"{len(missing)} units without judgment: {some}"
            yield Problem(f"topic {topic}, system {system}", what, "warning")
