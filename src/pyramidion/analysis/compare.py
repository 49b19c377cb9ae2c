"""Head-to-head votes: are they consistent, and which ranking do they give? Gillick and Liu 2010, section 3.

Cycles among the votes of one judge, and of the majority; a Bradley-Terry ranking (methods/pairwise) with percentile
intervals from a bootstrap over ballots, a ballot being what one judge said about one topic: votes of one ballot belong
together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Table, count, listed
from pyramidion.analysis.figures import Estimate, Heatmap, Intervals
from pyramidion.errors import Problem, UsageError
from pyramidion.methods.choice import judge_ids
from pyramidion.methods.pairwise import (
    PRIOR,
    PreferenceMatrix,
    Violations,
    Vote,
    preference_matrix,
    strengths_of,
    transitivity_violations,
)
from pyramidion.model import Signature, Study
from pyramidion.stats.intervals import Interval, percentile_interval


@dataclass(frozen=True, slots=True)
class Strength:
    """``strength`` is on a log scale around 0: a system that is 1 above another wins 73% of the votes."""

    rank: int
    system: str
    strength: float
    interval: Interval | None
    share: float
    votes: int


@dataclass(frozen=True)
class Comparison:
    votes: int
    ties: int
    judges: int
    violations: Violations
    matrix: PreferenceMatrix
    ranking: tuple[Strength, ...]


def votes_of(study: Study, *, aspect: str | None = None, judges: str | None = None) -> tuple[Vote, ...]:
    """The head-to-head judgments of a study: value 1 prefers the first summary, 0 the other, 0.5 neither."""
    ids = judge_ids(study, judges or "all")
    votes = []
    for j in study.judgments:
        if not j.other or j.value is None or j.judge not in ids or (aspect is not None and j.aspect != aspect):
            continue
        winner = None if j.value == 0.5 else j.system if j.value > 0.5 else j.other
        votes.append(Vote(j.topic, j.system, j.other, j.judge, winner))
    return tuple(votes)


def compare(
    study: Study,
    *,
    aspect: str | None = None,
    judges: str | None = None,
    prior: float = PRIOR,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Answer[Comparison]:
    """Rank systems by head-to-head votes and say how consistent the votes are."""
    votes = votes_of(study, aspect=aspect, judges=judges)
    if not votes:
        raise UsageError("the study has no head-to-head votes (judgments with a second summary)")
    matrix = preference_matrix(votes)
    wins = np.array(matrix.wins)
    strengths = np.log(strengths_of(wins, prior=prior))
    rng = np.random.default_rng(seed)
    drawn = _resampled(votes, matrix, prior, resamples, rng)
    order = sorted(range(len(strengths)), key=lambda i: (-round(float(strengths[i]), 9), matrix.systems[i]))
    ranking = tuple(
        Strength(
            place,
            matrix.systems[i],
            float(strengths[i]),
            percentile_interval(drawn[:, i], confidence) if len(drawn) else None,
            float(wins[i].sum() / (wins[i].sum() + wins[:, i].sum())),
            round(wins[i].sum() + wins[:, i].sum()),
        )
        for place, i in enumerate(order, 1)
    )
    ties = sum(vote.winner is None for vote in votes)
    judged = len({vote.judge for vote in votes})
    result = Comparison(len(votes), ties, judged, transitivity_violations(votes), matrix, ranking)
    made = Signature.of(
        "compare", model="bradley-terry", prior=prior, interval="percentile", resamples=resamples, seed=seed
    )
    notes = tuple(_never_compared(matrix))
    return Answer("compare", _sentence(result), _tables(result), made, result, _figures(result), notes)


def _resampled(
    votes: tuple[Vote, ...], matrix: PreferenceMatrix, prior: float, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Log strengths in each resample of ballots."""
    place = {system: i for i, system in enumerate(matrix.systems)}
    ballot = {key: i for i, key in enumerate(sorted({(vote.topic, vote.judge) for vote in votes}))}
    size = len(place)
    wins = np.zeros((len(ballot), size * size))
    for vote in votes:
        i, j, row = place[vote.first], place[vote.second], ballot[vote.topic, vote.judge]
        first = 0.5 if vote.winner is None else float(vote.winner == vote.first)
        wins[row, i * size + j] += first
        wins[row, j * size + i] += 1 - first
    if len(ballot) < 2 or prior <= 0:
        return np.zeros((0, size))
    weights = rng.multinomial(len(ballot), np.full(len(ballot), 1 / len(ballot)), size=resamples)
    drawn = (weights @ wins).reshape(resamples, size, size)
    return np.array([np.log(strengths_of(one, prior=prior)) for one in drawn]).reshape(resamples, size)


def _never_compared(matrix: PreferenceMatrix) -> list[Problem]:
    systems = matrix.systems
    apart = [f"{a} and {b}" for i, a in enumerate(systems) for b in systems[i + 1 :] if matrix.share(a, b) is None]
    if not apart:
        return []
    return [
        Problem(count(len(apart), "pair"), f"of systems never compared head to head: {listed(apart, 3)}", "warning")
    ]


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Comparison) -> str:
    best, cycles = result.ranking[0], result.violations.by_judge
    text = (
        f"{best.system} is strongest: it wins {best.share:.0%} of its {count(best.votes, 'vote')} "
        f"({count(result.votes, 'vote')} by {count(result.judges, 'judge')} in all)."
    )
    if cycles.share is None:
        return text + " No judge compared three systems with each other, so nobody could contradict themselves."
    return (
        text + f" Judges contradict themselves in {len(cycles.found)} of {count(cycles.triples, 'triple')} of systems."
    )


def _tables(result: Comparison) -> tuple[Table, ...]:
    ranking = Table(
        "Bradley-Terry ranking",
        ("rank", "system", "strength", "low", "high", "share won", "votes"),
        tuple(
            (
                s.rank,
                s.system,
                s.strength,
                s.interval.low if s.interval else None,
                s.interval.high if s.interval else None,
                s.share,
                s.votes,
            )
            for s in result.ranking
        ),
        "strength: log scale; a system 1 above another is expected to win 73% of their votes.",
    )
    by_judge, by_majority = result.violations.by_judge, result.violations.by_majority
    cycles = Table(
        "Votes that go in a circle",
        ("whose votes", "circles", "triples", "share"),
        (
            ("one judge on one topic", len(by_judge.found), by_judge.triples, by_judge.share),
            ("the majority", len(by_majority.found), by_majority.triples, by_majority.share),
        ),
    )
    systems = result.matrix.systems
    shares = Table(
        "Share of votes for the row's system against the column's",
        ("system", *systems),
        tuple((a, *(None if a == b else result.matrix.share(a, b) for b in systems)) for a in systems),
    )
    return ranking, cycles, shares


def _figures(result: Comparison) -> tuple[Intervals, Heatmap]:
    rows = tuple(
        Estimate(s.system, s.strength, s.interval.low if s.interval else None, s.interval.high if s.interval else None)
        for s in result.ranking
    )
    names = tuple(s.system for s in result.ranking)
    values = tuple(tuple(None if a == b else result.matrix.share(a, b) for b in names) for a in names)
    return (
        Intervals("Bradley-Terry strength", "strength (log scale)", rows, mark=0.0),
        Heatmap("Share of votes for the row's system", "share", names, names, values),
    )
