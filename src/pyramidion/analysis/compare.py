"""Head-to-head votes: are they consistent, and which ranking do they give? Gillick and Liu 2010, section 3.

Cycles among the votes of one judge, and of the majority; a Bradley-Terry ranking with percentile intervals from a
bootstrap over ballots, a ballot being what one judge said about one topic: votes of one ballot depend on each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Estimate, Heatmap, Intervals, Table, count, listed
from pyramidion.errors import InputError, Problem, PyramidionError, UsageError
from pyramidion.scoring.choice import judge_ids
from pyramidion.stats.intervals import Interval, percentile_interval
from pyramidion.study import Signature, Study

# ----------------------------------------------------------------------
# Head-to-head comparisons: which of two summaries is better? Gillick and Liu 2010, section 3.
#
# They gave the design up because many votes were not transitive: one worker preferred y to x, z to y, and x to z.
# ``transitivity_violations`` counts such cycles; ``bradley_terry`` makes one ranking of all votes, cycles or not.
#
# In Bradley and Terry's model system i beats j with probability s_i / (s_i + s_j). The strengths are the most likely
# ones given the votes, as in Hunter 2004 (MM algorithms for generalized Bradley-Terry models). We deviate thrice:
# - a tie is half a win for each (Hunter follows Rao and Kupper, who model ties with one more parameter);
# - every system has ``prior`` more wins and as many more losses, spread evenly over the others. Without it, a system
#   that never lost would be infinitely strong. For two systems half a win each is Jeffreys' prior. Systems that no
#   chain of votes links are comparable only through it;
# - the same maximum is reached by the iteration of Newman 2023 (Efficient computation of rankings from pairwise
#   comparisons): where votes are nearly unanimous, the MM algorithm needs more than 100,000 rounds, Newman's some 100.

PRIOR = 0.5
TOLERANCE = 1e-12
MAX_ROUNDS = 10_000


@dataclass(frozen=True, slots=True)
class Vote:
    """One judge's preference between the summaries of two systems on a topic; ``winner`` None is a tie."""

    topic: str
    first: str
    second: str
    judge: str
    winner: str | None


@dataclass(frozen=True, slots=True)
class PreferenceMatrix:
    """``wins[i][j]`` is how often system i was preferred to system j; a tie is half a win for each."""

    systems: tuple[str, ...]
    wins: tuple[tuple[float, ...], ...]

    def share(self, system: str, other: str) -> float | None:
        """The share of votes for one system against another; None where nobody compared the two."""
        for name in (system, other):
            if name not in self.systems:
                raise UsageError(f"there is no vote on system {name!r}")
        i, j = self.systems.index(system), self.systems.index(other)
        votes = self.wins[i][j] + self.wins[j][i]
        return self.wins[i][j] / votes if votes else None


@dataclass(frozen=True, slots=True)
class Cycle:
    """Each of the systems is preferred to the next, and the last to the first."""

    systems: tuple[str, str, str]
    topic: str = ""
    judge: str = ""


@dataclass(frozen=True, slots=True)
class Cycles:
    """The cycles among ``triples``: sets of three systems with a preference between any two."""

    found: tuple[Cycle, ...]
    triples: int

    @property
    def share(self) -> float | None:
        return len(self.found) / self.triples if self.triples else None


@dataclass(frozen=True, slots=True)
class Violations:
    """Cycles within the votes of one judge on one topic, and of the majority over all judges and topics."""

    by_judge: Cycles
    by_majority: Cycles


def preference_matrix(votes: Iterable[Vote]) -> PreferenceMatrix:
    """How often each system was preferred to each other one, systems in the order of names."""
    return _matrix(_checked(votes))


def _matrix(votes: Iterable[Vote]) -> PreferenceMatrix:
    counts: dict[tuple[str, str], float] = defaultdict(float)
    for vote in votes:
        for system, other in ((vote.first, vote.second), (vote.second, vote.first)):
            counts[system, other] += 0.5 if vote.winner is None else float(vote.winner == system)
    systems = tuple(sorted({system for system, _ in counts}))
    return PreferenceMatrix(systems, tuple(tuple(counts.get((i, j), 0.0) for j in systems) for i in systems))


def _checked(votes: Iterable[Vote]) -> list[Vote]:
    found = list(votes)
    if problems := [problem for vote in found for problem in _problems(vote)]:
        raise InputError(problems)
    return found


def _problems(vote: Vote) -> Iterator[Problem]:
    where = f"topic {vote.topic}, judge {vote.judge}, {vote.first} against {vote.second}"
    if vote.first == vote.second:
        yield Problem(where, "a system cannot be compared with itself")
    elif vote.winner not in {vote.first, vote.second, None}:
        yield Problem(where, f"the winner {vote.winner!r} is neither of the two")


def transitivity_violations(votes: Iterable[Vote]) -> Violations:
    """Cycles of three. Ties and equal numbers of votes are not preferences and make no cycle."""
    found = _checked(votes)
    cast: dict[tuple[str, str], list[Vote]] = defaultdict(list)
    for vote in found:
        cast[vote.topic, vote.judge].append(vote)
    by_judge = [_cycles(_matrix(cast[key]), *key) for key in sorted(cast)]
    every = tuple(cycle for cycles in by_judge for cycle in cycles.found)
    return Violations(Cycles(every, sum(cycles.triples for cycles in by_judge)), _cycles(_matrix(found)))


def _cycles(matrix: PreferenceMatrix, topic: str = "", judge: str = "") -> Cycles:
    systems = range(len(matrix.systems))
    better = [[matrix.wins[i][j] > matrix.wins[j][i] for j in systems] for i in systems]
    found, triples = [], 0
    for a, b, c in combinations(systems, 3):
        if all(better[i][j] or better[j][i] for i, j in ((a, b), (b, c), (a, c))):
            triples += 1
            for i, j, k in ((a, b, c), (a, c, b)):
                if better[i][j] and better[j][k] and better[k][i]:
                    found.append(Cycle((matrix.systems[i], matrix.systems[j], matrix.systems[k]), topic, judge))
    return Cycles(tuple(found), triples)


def bradley_terry(votes: Iterable[Vote], *, prior: float = PRIOR) -> dict[str, float]:
    """The strength of each system, the strongest first. Their geometric mean is 1; only ratios mean anything."""
    if not 0 <= prior < float("inf"):
        raise UsageError(f"the prior must be 0 or more votes, not {prior}")
    matrix = preference_matrix(votes)
    if not matrix.systems:
        return {}
    strengths = dict(zip(matrix.systems, strengths_of(np.array(matrix.wins), prior=prior).tolist(), strict=True))
    # Equal strengths differ by rounding errors only; their order is that of names.
    return dict(sorted(strengths.items(), key=lambda item: (-float(f"{item[1]:.9g}"), item[0])))


def strengths_of(wins: NDArray[np.float64], *, prior: float = PRIOR) -> NDArray[np.float64]:
    """Strengths from a matrix of wins, in its order: what a bootstrap calls again and again."""
    wins = wins + prior / (len(wins) - 1) * ~np.eye(len(wins), dtype=bool)
    if not _linked(wins):
        raise UsageError(
            "without a prior, a chain of wins must lead from every system to every other; here some systems "
            "only won, only lost, or were never compared with the rest"
        )
    return _most_likely(wins)


def _linked(wins: NDArray[np.float64]) -> bool:
    """Ford's condition: following wins, every system is reached from every other one."""
    reached = (wins > 0) | np.eye(len(wins), dtype=bool)
    for middle in range(len(wins)):
        reached |= reached[:, middle, None] & reached[None, middle]
    return bool(reached.all())


def _most_likely(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Strengths by which every system is expected to win as often as it did."""
    votes, won = wins + wins.T, wins.sum(axis=1)
    strengths = np.ones(len(wins))
    for _ in range(MAX_ROUNDS):
        expected = (votes * strengths[:, None] / (strengths[:, None] + strengths)).sum(axis=1)
        if np.abs(won - expected).max() <= TOLERANCE * won.max():
            return strengths
        for i in range(len(wins)):  # one after the other: all at once may swing for ever
            both = strengths[i] + strengths
            strengths[i] = (wins[i] * strengths / both).sum() / (wins[:, i] / both).sum()
        strengths /= np.exp(np.log(strengths).mean())
    raise PyramidionError(f"the strengths did not converge in {MAX_ROUNDS:,} rounds; try a larger prior")


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
    return [Problem(count(len(apart), "pair"), f"systems never compared head to head: {listed(apart, 3)}", "warning")]


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Comparison) -> str:
    best, cycles = result.ranking[0], result.violations.by_judge
    text = (
        f"{best.system} is strongest: it wins {best.share:.0%} of its {count(best.votes, 'vote')} "
        f"({count(result.votes, 'vote')} by {count(result.judges, 'judge')} in all)."
    )
    if cycles.share is None:
        return text + " No judge compared three systems with each other, so there was nothing to contradict."
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
        "Circular votes",
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
