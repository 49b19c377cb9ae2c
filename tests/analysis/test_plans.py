"""Plans: simulated power against theory, prices against the papers, and what a pilot gives."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

import pyramidion as pyr
from pyramidion.analysis import Answer, Assumptions, plan
from pyramidion.analysis.planning import PAPER, Design, Plan, efficient


def alike(**choices: float) -> Assumptions:
    """A world in which topics and units are alike, so that scores are binomial."""
    return Assumptions(systems=2, spread=0.0, topic_spread=0.0, unit_spread=0.0, interaction=0.0, **choices)  # type: ignore[arg-type]


def design(answer: Answer[Plan], topics: int, units: int, workers: int) -> Design:
    return next(d for d in answer.result.designs if (d.topics, d.units, d.workers) == (topics, units, workers))


def test_power_is_that_of_the_t_test() -> None:
    # Perfect workers, scores .35 and .45 over 32 units: a topic's difference has variance (.35 * .65 + .45 * .55) / 32.
    answer = plan(alike(accuracy=1.0, difference=0.1), campaigns=1500, topics=(10,), units=(32,), workers=(1,))
    assert answer.result.difference == pytest.approx(0.1, abs=1e-9)
    for topics in (10, 20):
        spread = np.sqrt((0.35 * 0.65 + 0.45 * 0.55) / 32)
        shift = 0.1 / spread * np.sqrt(topics)
        theory = stats.nct.sf(stats.t.isf(0.025, topics - 1), topics - 1, shift)
        assert design(answer, topics, 32, 1).power == pytest.approx(theory, abs=0.035)


def test_noisy_workers_shrink_the_difference_as_majorities_do() -> None:
    # Three workers who are right 3 times in 4: a majority is right with .75^3 + 3 .75^2 .25 = .84375.
    answer = plan(alike(accuracy=0.75, difference=0.1), campaigns=1500, topics=(20,), units=(32,), workers=(3,))
    right = 0.84375
    low, high = (p * right + (1 - p) * (1 - right) for p in (0.35, 0.45))
    shift = (high - low) / np.sqrt((low * (1 - low) + high * (1 - high)) / 32) * np.sqrt(20)
    theory = stats.nct.sf(stats.t.isf(0.025, 19), 19, shift)
    assert design(answer, 20, 32, 3).power == pytest.approx(theory, abs=0.035)


def test_equal_systems_are_separated_at_the_level_only() -> None:
    answer = plan(alike(accuracy=0.9, difference=1e-9), campaigns=2000, topics=(20,), units=(16,), workers=(3,))
    # Either direction is found with 2.5%; only the right one counts.
    assert design(answer, 20, 16, 3).power == pytest.approx(0.025, abs=0.012)


def test_prices_are_the_papers() -> None:
    # 22 systems x 20 topics x 2 tasks x 5 workers x $0.45 x 1.2 = $2,376, and 20 topics x $4.80 for writing.
    answer = plan(Assumptions(systems=22), campaigns=5, topics=(20,), units=(32,), workers=(5,))
    assert answer.result.paper.cost == Decimal("2376.00") + Decimal("96.00")


def test_more_of_everything_is_better_and_dearer() -> None:
    answer = plan(Assumptions(difference=0.1), campaigns=200, topics=(5, 40), units=(8, 48), workers=(1, 5))
    small, large = design(answer, 5, 8, 1), design(answer, 40, 48, 5)
    assert small.cost < large.cost
    assert (small.power or 0) < (large.power or 0)
    assert (small.pearson or 0) < (large.pearson or 0)


def test_the_recommended_design_is_the_cheapest_that_is_enough(example: pyr.Study) -> None:
    result = plan(example, campaigns=100).result
    assert result.recommended is not None
    enough = [d for d in result.designs if (d.power or 0) >= 0.8]
    assert result.recommended.cost == min(d.cost for d in enough)
    means = pyr.score(example, "lite").per_system("lite").values()
    gaps = sorted(a - b for a in means for b in means if a is not None and b is not None and a > b)
    assert result.difference == pytest.approx(float(np.median(gaps)))  # 15 pairs: the eighth
    assert (result.paper.topics, result.paper.units, result.paper.workers) == PAPER
    kept = efficient(result.designs)
    assert [d.cost for d in kept] == sorted(d.cost for d in kept)
    assert [d.power for d in kept] == sorted(d.power or 0 for d in kept)


def test_a_small_pilot_is_called_one(example: pyr.Study) -> None:
    answer = plan(example, campaigns=20, pair=("lead", "vague"))
    assert answer.result.pair == ("lead", "vague")
    assert any("only 4 topics" in str(note) for note in answer.notes)
    assert plan(example, campaigns=20, seed=5).result == plan(example, campaigns=20, seed=5).result


def test_impossible_wishes_are_refused(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="'nobody' is not in the pilot"):
        plan(example, pair=("lead", "nobody"))
    with pytest.raises(pyr.UsageError, match="numbers of topics are 1 or more, not 0"):
        plan(topics=(0,))
    with pytest.raises(pyr.UsageError, match="accuracy lies above"):
        Assumptions(accuracy=0.4)
    answer = plan(Assumptions(difference=0.001), campaigns=20, topics=(5,), units=(8,), workers=(1,))
    assert answer.result.recommended is None
    assert "none of the designs is enough" in answer.sentence
