"""Head-to-head votes: matrices, cycles and strengths by hand, then on simulated voters."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.analysis.compare import (
    Cycle,
    Cycles,
    Vote,
    bradley_terry,
    preference_matrix,
    strengths_of,
    transitivity_violations,
)
from pyramidion.errors import InputError, PyramidionError, UsageError


def vote(better: str, worse: str, judge: str = "j", topic: str = "t", *, tie: bool = False) -> Vote:
    return Vote(topic, worse, better, judge, None if tie else better)


def test_preferences_are_counted_with_half_a_win_for_a_tie() -> None:
    matrix = preference_matrix(
        [vote("b", "a"), vote("b", "a"), vote("a", "b"), vote("a", "b", tie=True), vote("c", "a")]
    )
    assert matrix.systems == ("a", "b", "c")
    assert matrix.wins == ((0, 1.5, 0), (2.5, 0, 0), (1, 0, 0))
    assert matrix.share("b", "a") == 2.5 / 4
    assert matrix.share("a", "b") == 1.5 / 4
    assert matrix.share("b", "c") is None
    with pytest.raises(UsageError, match="no vote on system 'z'"):
        matrix.share("a", "z")
    assert preference_matrix([]).systems == ()


def test_the_cycle_of_the_paper() -> None:
    # Gillick and Liu 2010, section 3: a single worker prefers y to x and z to y, but also x to z.
    found = transitivity_violations([vote("y", "x"), vote("z", "y"), vote("x", "z")])
    assert found.by_judge == Cycles((Cycle(("x", "z", "y"), "t", "j"),), 1)
    assert found.by_majority == Cycles((Cycle(("x", "z", "y")),), 1)
    assert found.by_judge.share == 1.0


def test_votes_of_two_judges_or_on_two_topics_make_no_cycle_of_one_judge() -> None:
    other_judge = transitivity_violations([vote("y", "x"), vote("z", "y"), vote("x", "z", "k")])
    other_topic = transitivity_violations([vote("y", "x"), vote("z", "y"), vote("x", "z", topic="u")])
    for found in (other_judge, other_topic):
        assert found.by_judge == Cycles((), 0)
        assert found.by_judge.share is None
        assert len(found.by_majority.found) == 1


def test_consistent_judges_can_make_a_cyclic_majority() -> None:
    # Condorcet's paradox: xyz, yzx and zxy. x beats y in 2 of 3, y beats z in 2 of 3, z beats x in 2 of 3.
    rankings = {"j1": "xyz", "j2": "yzx", "j3": "zxy"}
    votes = [vote(order[i], order[j], judge) for judge, order in rankings.items() for i, j in ((0, 1), (1, 2), (0, 2))]
    found = transitivity_violations(votes)
    assert found.by_judge == Cycles((), 3)
    assert found.by_majority == Cycles((Cycle(("x", "y", "z")),), 1)


def test_ties_make_no_cycle() -> None:
    assert transitivity_violations([vote("y", "x"), vote("z", "y"), vote("x", "z", tie=True)]).by_judge.triples == 0
    balanced = [vote("y", "x"), vote("z", "y"), vote("x", "z"), vote("z", "x")]
    assert transitivity_violations(balanced).by_judge == Cycles((), 0)


def test_every_triple_is_looked_at() -> None:
    # d loses to everyone: of the triples xyz, xyd, xzd and yzd only the first is a cycle.
    votes = [vote("x", "y"), vote("y", "z"), vote("z", "x"), *(vote(system, "d") for system in "xyz")]
    found = transitivity_violations(votes).by_judge
    assert (len(found.found), found.triples, found.share) == (1, 4, 0.25)


def test_strengths_of_two_systems_by_hand() -> None:
    votes = [vote("a", "b")] * 3 + [vote("b", "a")]
    # Most likely s_a / (s_a + s_b) = 3/4, so the ratio is 3; with geometric mean 1: sqrt(3) and 1 / sqrt(3).
    assert bradley_terry(votes, prior=0) == pytest.approx({"a": 3**0.5, "b": 3**-0.5})
    # Half a win more for each: 3.5 / 1.5.
    found = bradley_terry(votes)
    assert found["a"] / found["b"] == pytest.approx(3.5 / 1.5)
    # A tie is half a win for each: 3.5 to 1.5 again.
    tied = bradley_terry([*votes, vote("a", "b", tie=True)], prior=0)
    assert tied["a"] / tied["b"] == pytest.approx(3.5 / 1.5)


def test_strengths_of_three_systems_by_hand() -> None:
    # a:b = 2:1, b:c = 2:1, a:c = 4:1 fit strengths 4, 2, 1 exactly, whose geometric mean is 2.
    votes = [vote("a", "b")] * 2 + [vote("b", "a")] + [vote("b", "c")] * 2 + [vote("c", "b")]
    votes += [vote("a", "c")] * 4 + [vote("c", "a")]
    found = bradley_terry(votes, prior=0)
    assert found == pytest.approx({"a": 2.0, "b": 1.0, "c": 0.5})
    assert list(found) == ["a", "b", "c"]


def test_a_cycle_makes_all_equal_and_names_decide_the_order() -> None:
    found = bradley_terry([vote("y", "x"), vote("z", "y"), vote("x", "z")])
    assert found == pytest.approx({"x": 1.0, "y": 1.0, "z": 1.0})
    assert list(found) == ["x", "y", "z"]


def test_an_unbeaten_system_stays_finite() -> None:
    # 10 wins to 0 and half a win each: 10.5 / 0.5 = 21.
    found = bradley_terry([vote("a", "b")] * 10)
    assert found["a"] / found["b"] == pytest.approx(21)
    unanimous = [vote(f"s{i}", f"s{j}") for i in range(8) for j in range(i + 1, 8)] * 100
    assert list(bradley_terry(unanimous)) == [f"s{i}" for i in range(8)]
    assert all(np.isfinite(list(bradley_terry(unanimous).values())))


@pytest.mark.parametrize(
    "votes",
    [
        [vote("a", "b")],
        [vote("a", "b"), vote("b", "a"), vote("c", "d"), vote("d", "c")],
    ],
)
def test_without_a_prior_some_strengths_do_not_exist(votes: list[Vote]) -> None:
    with pytest.raises(UsageError, match="without a prior"):
        bradley_terry(votes, prior=0)
    assert len(bradley_terry(votes)) == len({v.first for v in votes} | {v.second for v in votes})


def test_bad_votes_are_refused_with_their_address() -> None:
    bad = [Vote("t", "a", "a", "j", "a"), Vote("t", "a", "b", "j", "c")]
    for function in (preference_matrix, transitivity_violations, bradley_terry):
        with pytest.raises(InputError) as caught:
            function(bad)
        assert [str(problem) for problem in caught.value.problems] == [
            "topic t, judge j, a against a: a system cannot be compared with itself",
            "topic t, judge j, a against b: the winner 'c' is neither of the two",
        ]
    for prior in (-1, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="prior"):
            bradley_terry([], prior=prior)
    assert bradley_terry([]) == {}


@given(seed=st.integers(0, 999), size=st.integers(2, 6))
def test_strengths_recover_the_order_of_simulated_systems(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"s{i}" for i in rng.permutation(size)]
    true = {name: 3.0**-rank for rank, name in enumerate(names)}  # neighbours win 75 : 25
    votes = []
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            wins = int(rng.binomial(1000, true[a] / (true[a] + true[b])))
            votes += [vote(a, b)] * wins + [vote(b, a)] * (1000 - wins)
    found = bradley_terry(votes)
    assert list(found) == names
    assert np.prod(list(found.values())) == pytest.approx(1)
    for a, b in pairwise(names):
        assert found[a] / found[b] == pytest.approx(3, rel=0.4)  # 4.6 standard errors or more


def test_strengths_that_do_not_settle_are_never_returned() -> None:
    # Two pairs of rivals with 100,000 votes each, and three votes between the pairs: every round moves them by a hair.
    wins = np.array([[0, 1e5, 1, 0], [1e5, 0, 0, 0], [2, 0, 0, 1e5], [0, 0, 1e5, 0]])
    with pytest.raises(PyramidionError, match="did not converge in 10,000 rounds; try a larger prior"):
        strengths_of(wins, prior=0)
    # With 100 votes each they settle: rivals are equal, and the second pair won two of three.
    assert strengths_of(np.minimum(wins, 100), prior=0) == pytest.approx([0.5**0.5, 0.5**0.5, 2**0.5, 2**0.5])


systems = st.sampled_from("abcd")
any_votes = st.lists(
    st.tuples(systems, systems, st.sampled_from("jk"), st.booleans()).filter(lambda v: v[0] != v[1]), max_size=20
).map(lambda found: [vote(a, b, judge, tie=tie) for a, b, judge, tie in found])


@given(votes=any_votes, seed=st.integers(0, 99))
def test_the_order_of_votes_never_matters(votes: list[Vote], seed: int) -> None:
    mixed = random.Random(seed).sample(votes, len(votes))
    swapped = [Vote(v.topic, v.second, v.first, v.judge, v.winner) for v in mixed]
    assert preference_matrix(swapped) == preference_matrix(votes)
    assert transitivity_violations(swapped) == transitivity_violations(votes)
    assert bradley_terry(swapped) == bradley_terry(votes)


@given(votes=any_votes)
def test_a_win_is_expected_as_often_as_it_happened(votes: list[Vote]) -> None:
    # The condition that makes strengths the most likely ones, with half a win and half a loss spread over the others.
    found = bradley_terry(votes)
    matrix = preference_matrix(votes)
    n = len(matrix.systems)
    for i, system in enumerate(matrix.systems):
        pairs = [
            (matrix.wins[i][j] + matrix.wins[j][i] + 1 / (n - 1), found[system] / (found[system] + found[other]))
            for j, other in enumerate(matrix.systems)
            if i != j
        ]
        assert sum(count * chance for count, chance in pairs) == pytest.approx(sum(matrix.wins[i]) + 0.5)


@given(votes=any_votes)
def test_one_more_win_never_makes_weaker(votes: list[Vote]) -> None:
    votes = [*votes, vote("a", "b")]
    before, after = bradley_terry(votes), bradley_terry([*votes, vote("a", "b")])
    assert after["a"] / after["b"] > before["a"] / before["b"]


@given(votes=any_votes)
def test_violations_count_no_triple_twice(votes: list[Vote]) -> None:
    found = transitivity_violations(votes)
    for cycles in (found.by_judge, found.by_majority):
        assert len({(c.topic, c.judge, frozenset(c.systems)) for c in cycles.found}) == len(cycles.found)
        assert len(cycles.found) <= cycles.triples
