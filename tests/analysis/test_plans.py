"""Plans: simulated power against theory, prices against the papers, and what a pilot gives."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import pyramidion as pyr
from pyramidion.analysis import Answer, Assumptions, Prices, plan
from pyramidion.analysis.planning import PAPER, Design, DesignPlan, efficient
from pyramidion.analysis.simulation import from_assumptions, outcome
from pyramidion.analysis.sources import as_study, read_source


def alike(**choices: float) -> Assumptions:
    """A world in which topics and units are alike, so that scores are binomial."""
    return Assumptions(systems=2, spread=0.0, topic_spread=0.0, unit_spread=0.0, interaction=0.0, **choices)  # type: ignore[arg-type]


def design(answer: Answer[DesignPlan], topics: int, units: int, workers: int) -> Design:
    return next(d for d in answer.result.designs if (d.topics, d.units, d.workers) == (topics, units, workers))


def test_power_is_that_of_the_t_test() -> None:
    # Perfect workers, scores .35 and .45 over 32 units: a topic's difference has variance (.35 * .65 + .45 * .55) / 32.
    answer = plan(alike(accuracy=1.0, difference=0.1), campaigns=3000, topics=(10, 20), units=(32,), workers=(1,))
    assert answer.result.difference == pytest.approx(0.1, abs=1e-9)
    for topics in (10, 20):
        spread = np.sqrt((0.35 * 0.65 + 0.45 * 0.55) / 32)
        shift = 0.1 / spread * np.sqrt(topics)
        theory = stats.nct.sf(stats.t.isf(0.025, topics - 1), topics - 1, shift)
        assert design(answer, topics, 32, 1).power == pytest.approx(theory, abs=0.025)


def test_noisy_workers_shrink_the_difference_as_majorities_do() -> None:
    # Three workers who are right 3 times in 4: a majority is right with .75^3 + 3 .75^2 .25 = .84375.
    answer = plan(alike(accuracy=0.75, difference=0.1), campaigns=3000, topics=(20,), units=(32,), workers=(3,))
    right = 0.84375
    low, high = (p * right + (1 - p) * (1 - right) for p in (0.35, 0.45))
    shift = (high - low) / np.sqrt((low * (1 - low) + high * (1 - high)) / 32) * np.sqrt(20)
    theory = stats.nct.sf(stats.t.isf(0.025, 19), 19, shift)
    assert design(answer, 20, 32, 3).power == pytest.approx(theory, abs=0.025)


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
    first, last = answer.result.curve[0], answer.result.curve[-1]
    assert (first.pearson or 0) < (last.pearson or 0)
    assert (first.separated or 0) < (last.separated or 0)


def test_topics_are_added_until_the_power_is_reached() -> None:
    # The noncentral t distribution says how many topics scores of .35 and .40 over 16 units take; a simulated power of
    # .8 is within .015 of the true one, which is less than 4% of the topics.
    answer = plan(alike(accuracy=1.0, difference=0.05), campaigns=3000, units=(16,), workers=(1,))
    spread = np.sqrt((0.35 * 0.65 + 0.40 * 0.60) / 16)
    numbers = np.arange(6, 300)
    theory = stats.nct.sf(stats.t.isf(0.025, numbers - 1), numbers - 1, 0.05 / spread * np.sqrt(numbers))
    needed = int(numbers[theory >= 0.8][0])
    assert needed > 40
    recommended = answer.result.recommended
    assert recommended is not None
    assert recommended.topics == pytest.approx(needed, rel=0.05)
    assert recommended.reaches(0.8)
    fewer = plan(
        alike(accuracy=1.0, difference=0.05),
        campaigns=3000,
        topics=[recommended.topics - 1],
        units=(16,),
        workers=(1,),
    )
    assert (fewer.result.designs[0].power or 0) < 0.8  # the search did not go too far


def test_all_systems_and_the_pair_alone_are_the_same_simulation() -> None:
    """With two systems the power over all pairs is that of the pair, though units and votes are drawn one by one."""
    given = Assumptions(systems=2, difference=0.1, spread=0.0)
    world = from_assumptions(given, np.random.default_rng(0))
    many = [outcome(world, 20, 24, 3, campaigns=100, level=0.05, rng=np.random.default_rng(seed)) for seed in range(30)]
    together = np.mean([one.separated or 0.0 for one in many])
    alone = design(plan(given, topics=(20,), units=(24,), workers=(3,), campaigns=4000), 20, 24, 3).power
    assert together == pytest.approx(alone, abs=0.035)


@pytest.mark.slow
def test_the_default_finds_a_design() -> None:
    answer = plan()
    best = answer.result.recommended
    assert best is not None
    assert best.topics > 40
    assert best.reaches(0.8)
    assert f"{best.name} is the cheapest" in answer.sentence
    assert not answer.result.limit


def test_the_recommended_design_is_the_cheapest_that_is_enough(example: pyr.Study) -> None:
    result = plan(example, campaigns=200, pair=("lead", "vague")).result
    assert result.recommended is not None
    assert result.recommended.cost == min(d.cost for d in result.designs if d.reaches(0.8))
    # No design of any size that costs less is enough: checked by trying all of those that might be.
    topics = range(6, result.recommended.topics + 40)
    everything = plan(example, campaigns=200, pair=("lead", "vague"), topics=topics).result
    assert not [d for d in everything.designs if d.cost < result.recommended.cost and d.reaches(0.8)]


def test_the_typical_pair_differs_as_much_as_the_median(example: pyr.Study) -> None:
    result = plan(example, campaigns=20).result
    means = pyr.score(example, "lite").per_system("lite").values()
    gaps = sorted(a - b for a in means for b in means if a is not None and b is not None and a > b)
    assert result.difference == pytest.approx(float(np.median(gaps)))  # 15 pairs: the eighth


@pytest.mark.parametrize(
    "given",
    [{"units": (16,)}, {"units": (20,), "workers": (2,)}, {"topics": (7, 25)}, {"topics": (9,), "workers": (4,)}],
)
def test_what_is_fixed_is_kept(example: pyr.Study, given: dict[str, tuple[int, ...]]) -> None:
    """The paper's 32 units were once recommended to whoever asked for 16."""
    for pilot in (example, Assumptions(difference=0.1)):
        result = plan(pilot, campaigns=50, **given).result  # type: ignore[arg-type]
        shown = [*result.designs, *result.curve, *([result.recommended] if result.recommended else [])]
        assert shown
        for name, values in given.items():
            assert {getattr(d, name) for d in shown} <= set(values)
        assert (result.paper.topics, result.paper.units, result.paper.workers) == PAPER


def test_the_power_of_a_design_does_not_depend_on_what_else_is_tried() -> None:
    many = plan(Assumptions(), campaigns=100, topics=(10, 70, 90))
    alone = plan(Assumptions(), campaigns=100, topics=(70,), units=(32,), workers=(3,))
    assert design(many, 70, 32, 3).power == design(alone, 70, 32, 3).power
    assert design(many, 90, 32, 3) == design(plan(Assumptions(), campaigns=100, topics=(90,)), 90, 32, 3)


def test_power_rises_with_cost_along_the_curve() -> None:
    answer = plan(campaigns=300)
    curve, best = answer.result.curve, answer.result.recommended
    assert best in curve
    assert len(curve) >= 8
    assert [d.cost for d in curve] == sorted({d.cost for d in curve})
    assert [d.power for d in curve] == sorted({d.power or 0 for d in curve})
    assert curve[-1].cost > (best.cost if best else 0)  # what more money would buy
    assert efficient(curve) == list(curve)
    figure = answer.figures[0]
    assert figure.series[0].x == tuple(float(d.cost) for d in curve)  # type: ignore[union-attr]
    assert figure.series[0].y == tuple(d.power for d in curve)  # type: ignore[union-attr]
    assert figure.target == 0.8  # type: ignore[union-attr]
    assert figure.mark == float(best.cost if best else 0)  # type: ignore[union-attr]
    assert answer.tables[0].column("power") == [d.power for d in curve]


def test_the_limit_that_forbids_is_named() -> None:
    hard = Assumptions(difference=0.01)
    limited = plan(hard, campaigns=50, max_topics=30)
    assert limited.result.recommended is None
    assert limited.result.limit == "the limit of 30 topics"
    assert "no design is enough within the limit of 30 topics. The best is 30 topics x " in limited.sentence
    assert max(d.topics for d in limited.result.designs) == 30
    poor = plan(hard, campaigns=50, budget="200")
    assert poor.result.limit == "the budget of $200.00"
    assert all(d.cost <= 200 for d in (*poor.result.designs, *poor.result.curve))
    both = plan(hard, campaigns=50, budget=450, max_topics=30)
    assert both.result.limit == "the limit of 30 topics and the budget of $450.00"
    fixed = plan(hard, campaigns=50, topics=(5, 8), workers=(3,))
    assert fixed.result.limit == "5 or 8 topics (given), 16, 32, 48 or 64 units (searched), 3 workers (given)"
    with pytest.raises(pyr.UsageError, match=r"budget of \$10.00 does not pay for the smallest design, 6 topics x 16"):
        plan(hard, budget=10)
    with pytest.raises(pyr.UsageError, match="budget must be 0 or more, not 'much'"):
        plan(hard, budget="much")


def test_a_budget_that_is_enough_changes_nothing() -> None:
    free, paid = plan(campaigns=20), plan(campaigns=20, budget=1_000_000)
    assert free.result.recommended == paid.result.recommended
    best = free.result.recommended
    assert best is not None
    assert plan(campaigns=20, budget=best.cost).result.recommended == best
    assert plan(campaigns=20, budget=best.cost - Decimal("0.01")).result.recommended is None


def test_equal_systems_are_not_searched_for(example: pyr.Study) -> None:
    """Judgments of one system are those of another: no number of topics helps, and the answer says so at once."""
    twins = [replace(j, system="twin") for j in example.judgments if j.system == "lead"]
    summaries = [replace(s, system="twin") for s in example.peers if s.system == "lead"]
    pilot = replace(
        example,
        summaries=(*example.summaries, *summaries),
        judgments=pyr.Judgments([*example.judgments, *twins]),
        tasks=(),
        assignments=(),
    )
    answer = plan(pilot, campaigns=20, pair=("lead", "twin"))
    assert answer.result.recommended is None
    assert answer.result.designs == ()
    assert "Lead and twin have the same true score, so no number of topics tells them apart." in answer.sentence
    assert any("is 0" in str(note) for note in answer.notes)
    assert plan(Assumptions(difference=0), campaigns=20).result.designs == ()
    assert str(answer)


def test_workers_who_would_turn_the_pair_round() -> None:
    # x: three workers of five find one unit of two (.5); y: two of five find each (0): y's single votes are as many.
    votes = {"x": ("11100", "00000"), "y": ("11000", "11000")}
    judgments = [
        pyr.Judgment(f"t{topic}", system, f"w{worker}", float(found), unit=f"u{unit}", task=f"{topic}{system}")
        for topic in range(8)
        for system, units in votes.items()
        for unit, answers in enumerate(units)
        for worker, found in enumerate(answers)
    ]
    units = tuple(pyr.ContentUnit(f"u{n}", f"u{n}", (pyr.Contributor("A"),)) for n in range(2))
    pilot = pyr.Study(
        topics=tuple(pyr.Topic(f"t{n}") for n in range(8)),
        summaries=tuple(pyr.Summary(f"t{n}", s, "text") for n in range(8) for s in votes),
        pyramids=tuple(pyr.Pyramid(f"t{n}", ("A",), units, "crowd") for n in range(8)),
        judges=tuple(pyr.Judge(f"w{n}") for n in range(5)),
        judgments=pyr.Judgments(judgments),
    )
    answer = plan(pilot, workers=(1,), campaigns=50)
    assert answer.result.pair == ("x", "y")
    assert answer.result.difference == 0.5
    assert "workers drawn from the pilot would not find it better, so no number of topics" in answer.sentence


def test_rows_in_another_order_give_the_same_plan(example: pyr.Study) -> None:
    rows = list(example.judgments)
    order = np.random.default_rng(3).permutation(len(rows))
    shuffled = replace(
        example,
        judgments=pyr.Judgments([rows[place] for place in order]),
        pyramids=example.pyramids[::-1],
        summaries=example.summaries[::-1],
        topics=example.topics[::-1],
        judges=example.judges[::-1],
    )
    assert plan(shuffled, campaigns=60).result == plan(example, campaigns=60).result


def test_seeds_are_all_that_chance_depends_on(example: pyr.Study) -> None:
    answer = plan(example, campaigns=20, pair=("lead", "vague"))
    assert answer.result.pair == ("lead", "vague")
    assert any("only 4 topics" in str(note) for note in answer.notes)
    assert plan(example, campaigns=20, seed=5).result == plan(example, campaigns=20, seed=5).result
    assert plan(campaigns=20, seed=5).result != plan(campaigns=20, seed=6).result


def test_the_pilots_references_are_paid_for(example: pyr.Study) -> None:
    # 6 systems, 4 references: 6 x 20 x 2 x 5 x $0.54 = $648 for judging, 20 x 4 x 2 x $0.60 = $96 for writing.
    assert plan(example, campaigns=5).result.paper.cost == Decimal("744.00")
    one = replace(example, summaries=tuple(s for s in example.summaries if s.role == "peer" or s.system == "A"))
    assert plan(one, campaigns=5).result.paper.cost == Decimal("672.00")
    assert plan(one, campaigns=5, prices=Prices(references=4)).result.paper.cost == Decimal("744.00")
    # One reference gives 16 units: two writers with eight each.
    assert {d.units for d in plan(one, campaigns=5).result.designs} == {16}
    assert any("more than 1 reference give" in str(note) for note in plan(one, campaigns=5, units=(32,)).notes)


def test_impossible_wishes_are_refused(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="'nobody' is not in the pilot"):
        plan(example, pair=("lead", "nobody"))
    with pytest.raises(pyr.UsageError, match="names 'lead' twice"):
        plan(example, pair=("lead", "lead"))
    with pytest.raises(pyr.UsageError, match="numbers of topics must be from 1 to 10,000, not 0"):
        plan(topics=(0,))
    with pytest.raises(pyr.UsageError, match="numbers of units must be from 1 to 10,000, not none"):
        plan(units=())
    with pytest.raises(pyr.UsageError, match="limit of topics must be from 2 to 10,000, not 1,000,000"):
        plan(max_topics=1_000_000)
    with pytest.raises(pyr.UsageError, match=r"accuracy must be above 0.5 and at most 1, not 0.4"):
        Assumptions(accuracy=0.4)
    with pytest.raises(pyr.UsageError, match=r"the best system would score 1.11, 0.05 above the next"):
        Assumptions(mean=0.9)  # once both of the best were cut to .99, and could not be told apart
    with pytest.raises(pyr.UsageError, match="difference must be 0 or more"):
        Assumptions(difference=-0.1)
    one = plan(campaigns=5, topics=(1,), units=(16,), workers=(1,))
    assert one.result.designs[0].power is None  # no test with one topic
    assert "undefined power" in one.sentence


def test_a_pilot_of_real_size_has_an_answer(qapyramid: Path) -> None:
    has_an_answer(qapyramid)


def test_another_pilot_of_real_size_has_an_answer(real_data: Path) -> None:
    has_an_answer(real_data / "realsumm-half")


def has_an_answer(data: Path) -> None:
    answer = plan(as_study(read_source(data), str(data)), campaigns=200)
    best = answer.result.recommended
    assert best is not None
    assert best.topics > 40  # where the search once stopped
    assert best.reaches(0.8)
