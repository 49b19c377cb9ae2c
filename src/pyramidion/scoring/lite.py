"""Lightweight Pyramids: Shapira et al. 2019, section 3, from raw judgments to system scores.

Screen out noisy workers, let the remaining ones vote on each unit, and score a summary by the share of judged units
that are present. A system's score is the mean over its topics.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, get_args

import numpy as np

from pyramidion import plugins
from pyramidion.errors import Problem, Problems, UsageError, check_choice
from pyramidion.scoring.aggregate import Aggregator, Tie
from pyramidion.scoring.choice import Choice, choose, unscored
from pyramidion.scoring.litepyramids import (
    Compat,
    SequenceAgreement,
    majority_of_five,
    screen_and_forget,
    with_blanks_present,
)
from pyramidion.scoring.screening import MINIMUM, Screening, screen
from pyramidion.stats.rounding import rounded_beside
from pyramidion.study import Judge, Judgments, Score, ScoreTable, Signature, Study
from pyramidion.study.judgments import Verdict, group, times

MEASURES = ("lite",)
Agreement = Literal["positional", "sequence"]


def score(
    study: Study,
    *,
    measures: Sequence[str] | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    aggregate: str = "majority",
    tie: Tie = "absent",
    min_agreement: float | None = MINIMUM,
    rounds: int = 1,
    agreement: Agreement = "positional",
    seed: int = 0,
    compat: Compat | None = None,
) -> ScoreTable:
    """Score peers by crowd judgments. ``min_agreement=None`` keeps every worker.

    ``compat="litepyramids-2019"`` scores as the script that was released with the paper, see docs/reference/compat.md.
    """
    for name in measures or ():
        check_choice("lite measure", name, MEASURES)
    choices = VoteChoices(aggregate, tie, min_agreement, rounds, agreement, seed, compat)
    vote = take_vote(study, choose(study, kind="crowd", pyramid=pyramid, judges=judges), choices)
    choice, problems = vote.choice, Problems()
    problems.extend((*choice.notes, *choice.human_peers(), *choices.notes(), *_drawn_in_part(study, choice)))
    if vote.screening is not None:
        problems.extend(_screening_notes(vote.screening, min_agreement or 0.0))
    scores = list(share_present(vote.present))
    problems.extend(_unjudged_units(choice, vote.present))
    problems.extend(unscored(study, scores))
    return ScoreTable.of_summaries(scores, Signature.of("lite", **choice.signed, **choices.signed), problems)


@dataclass(frozen=True)
class VoteChoices:
    """How a crowd's answers become one: the choices of `score`, checked."""

    aggregate: str = "majority"
    tie: Tie = "absent"
    min_agreement: float | None = MINIMUM
    rounds: int = 1
    agreement: Agreement = "positional"
    seed: int = 0
    compat: Compat | None = None

    def __post_init__(self) -> None:
        if self.min_agreement is not None and not 0 <= self.min_agreement <= 1:
            raise UsageError(f"min_agreement must be between 0 and 1, not {self.min_agreement}")
        if self.rounds < 1:
            raise UsageError(f"rounds must be at least 1, not {self.rounds}")
        check_choice("agreement", self.agreement, get_args(Agreement))
        check_choice("tie", self.tie, get_args(Tie))
        if self.compat is None:
            return
        check_choice("compat", self.compat, get_args(Compat))
        for name in ("aggregate", "tie", "agreement", "seed"):
            if getattr(self, name) != VoteChoices.__dataclass_fields__[name].default:
                raise UsageError(f"compat {self.compat} has its own {name}; remove {name} or compat")

    @property
    def signed(self) -> dict[str, object]:
        """What a signature says about the choices."""
        agreement = "sequence" if self.compat else self.agreement
        screened = "none" if self.min_agreement is None else f"{agreement}<{self.min_agreement:g}x{self.rounds}"
        if self.compat:
            return {"compat": self.compat, "screen": screened, "aggregate": "majority-of-5", "tie": self.tie}
        return {"screen": screened, "aggregate": self.aggregate, "tie": self.tie, "seed": self.seed}

    def notes(self) -> Iterator[Problem]:
        if self.agreement == "sequence":
            what = "is deprecated, because it takes over a single step of the released script; use compat instead"
            yield Problem("agreement sequence", what, "warning")


@dataclass(frozen=True)
class CrowdVote:
    """``cast`` are the answers that count after screening, ``present`` is what they decide about each unit.

    A ``divided`` vote may have decided only in a share of its counts that a unit is present.
    """

    choice: Choice
    screening: Screening | None
    cast: Judgments
    present: Judgments
    divided: bool = False

    def expressed(self) -> dict[tuple[str, str], dict[str, int]]:
        """How often each unit is expressed, by topic and system; in a divided vote, whether it is in any count."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for judgment in self.present:
            if judgment.value is not None:
                number = ceil(judgment.value) if self.divided else times(judgment.value)
                found.setdefault((judgment.topic, judgment.system), {})[judgment.unit] = number
        return found

    def verdicts(self, judge: Judge) -> dict[tuple[str, str], dict[str, Verdict]]:
        """What a person reads about each unit, by the bounds of a judge; a divided vote finds what is in any count."""
        found: dict[tuple[str, str], dict[str, Verdict]] = {}
        for judgment in self.present:
            if judgment.value is not None:
                value = ceil(judgment.value) if self.divided else judgment.value
                found.setdefault((judgment.topic, judgment.system), {})[judgment.unit] = judge.verdict(value)
        return found

    def shares(self) -> dict[tuple[str, str], dict[str, float]]:
        """Where a divided vote is not unanimous: the share of counts in which a unit is present."""
        found: dict[tuple[str, str], dict[str, float]] = {}
        for judgment in self.present if self.divided else ():
            if judgment.value is not None and 0 < judgment.value < 1:
                found.setdefault((judgment.topic, judgment.system), {})[judgment.unit] = judgment.value
        return found


def take_vote(study: Study, choice: Choice, choices: VoteChoices) -> CrowdVote:
    """Screen the workers and let the remaining ones vote on each unit."""
    if choices.compat is not None:
        return _released_vote(study, choice, choices)
    screening, judgments = None, choice.on_units
    if choices.min_agreement is not None:
        measure = SequenceAgreement(study) if choices.agreement == "sequence" else None
        screening = screen(judgments, minimum=choices.min_agreement, rounds=choices.rounds, measure=measure)
        judgments = screening.kept
    aggregator: Aggregator = plugins.load("aggregators", choices.aggregate)
    present = aggregator(at_most_once(judgments), tie=choices.tie, seed=choices.seed)
    return CrowdVote(choice, screening, choice.counted(judgments), choice.counted(present))


def _released_vote(study: Study, choice: Choice, choices: VoteChoices) -> CrowdVote:
    """The same as the released script does it, which knows no references, and so no human peers."""
    screening, judgments = None, with_blanks_present(study, choice)
    if choices.min_agreement is not None:
        screening = screen_and_forget(study, judgments, minimum=choices.min_agreement, rounds=choices.rounds)
        judgments = screening.kept
    return CrowdVote(replace(choice, own={}), screening, judgments, majority_of_five(judgments), divided=True)


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


def _drawn_in_part(study: Study, choice: Choice) -> Iterator[Problem]:
    """Where a design drew what to ask, the units asked stand for all only if weighted by how likely they were drawn."""
    drawn = {(task.topic, unit) for task in study.tasks if task.stratum for unit in task.units}
    known = {(topic, unit.id) for topic, pyramid in choice.pyramids.items() for unit in pyramid.sampled}
    if drawn & known and known - drawn:
        what = (
            f"people were asked about {len(drawn & known):,} of {len(known):,}, drawn with probabilities that may "
            "differ; these scores are of the units asked. Scores of all units: pyramidion analyze combine"
        )
        yield Problem("units", what, "warning")


def _screening_notes(screening: Screening, minimum: float) -> Iterator[Problem]:
    for worker in screening.workers:
        if worker.judge in screening.forgotten:
            yield Problem(f"judge {worker.judge}", "excluded in an earlier round, and counted again", "warning")
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
