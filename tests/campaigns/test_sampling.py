"""Parts of units drawn at random: every unit once, probabilities as recorded, more where a model is unsure."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.campaigns.judged_studies import MODEL, judged_study

import pyramidion as pyr
from pyramidion.campaigns.sampling import Limit, Part, draw_parts, neyman, shares_of, strata_of, tasks_of
from pyramidion.stats.combining import LEAST_PARTS
from pyramidion.study import Judgments, Settings, Study


def drawn(study: Study, seed: int = 0, **chosen: Any) -> tuple[Part, ...]:
    settings = Settings.for_kind("judge", model=MODEL, seed=seed, **chosen)
    return draw_parts(study, {p.topic: p for p in study.pyramids}, MODEL, settings, np.random.default_rng(seed))


def by_stratum(parts: tuple[Part, ...]) -> dict[str, list[Part]]:
    found: dict[str, list[Part]] = defaultdict(list)
    for part in parts:
        found[part.stratum].append(part)
    return found


@st.composite
def designs(draw: st.DrawFn) -> tuple[Study, dict[str, Any]]:
    sizes = draw(st.lists(st.integers(1, 40), min_size=1, max_size=30))
    if sum(sizes) < LEAST_PARTS:
        sizes.append(LEAST_PARTS)
    systems = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    shape = (sum(sizes), systems)
    sure = draw(st.sampled_from([rng.random(shape), rng.beta(0.1, 0.1, shape), np.full(shape, 0.5), np.zeros(shape)]))
    least = LEAST_PARTS / sum(sizes)
    chosen = {
        "share": draw(st.floats(min(1.0, least + 1e-6), 1.0)),
        "until": draw(st.sampled_from(["", "top", "width=0.05"])),
        "looks": draw(st.integers(1, 12)),
        "units_per_task": draw(st.integers(1, 20)),
        "minutes_per_summary": draw(st.sampled_from([0.0, 0.5, 5.0])),
        "seed": draw(st.integers(0, 5)),
    }
    return judged_study(sizes, systems, sure), chosen


@given(designs())
def test_every_unit_is_in_one_part_and_places_are_complete(design: tuple[Study, dict[str, Any]]) -> None:
    study, chosen = design
    parts = drawn(study, **chosen)
    units = Counter((part.topic, unit) for part in parts for unit in part.units)
    assert units == {(p.topic, unit.id): 1 for p in study.pyramids for unit in p.units}
    assert all(len(part.units) <= chosen["units_per_task"] for part in parts)
    for members in by_stratum(parts).values():
        assert sorted(part.place for part in members) == list(range(1, len(members) + 1))
        assert {part.places for part in members} == {len(members)}


@given(designs())
def test_what_is_asked_grows_from_round_to_round_in_every_stratum(design: tuple[Study, dict[str, Any]]) -> None:
    study, chosen = design
    parts = drawn(study, **chosen)
    strata = by_stratum(parts)
    assert len(strata) <= 4
    rounds = max(part.round for part in parts)
    assert rounds <= (chosen["looks"] if chosen["until"] else 1)
    asked = {number: [part for part in parts if 1 <= part.round <= number] for number in range(1, rounds + 1)}
    assert len(asked[1]) >= LEAST_PARTS
    assert shares_of(parts) == tuple(len(held) / len(parts) for held in asked.values())
    assert all(len(asked[number]) > len(asked[number - 1]) for number in range(2, rounds + 1))
    for members in strata.values():
        order = [part.round or rounds + 1 for part in sorted(members, key=lambda part: part.place)]
        assert order == sorted(order)  # a prefix at every round
        assert order.count(1) >= min(2, len(members))
    # To be expected over draws, the share is not exceeded.
    length = {name: sum(len(part.units) for part in members) / len(members) for name, members in strata.items()}
    expected = sum(sum(part.round > 0 for part in members) * length[name] for name, members in strata.items())
    assert expected <= chosen["share"] * sum(len(p.units) for p in study.pyramids) + 1e-3


@given(designs())
def test_no_part_is_asked_with_much_less_than_the_even_probability(design: tuple[Study, dict[str, Any]]) -> None:
    study, chosen = design
    strata = strata_of(drawn(study, **chosen))
    even = sum(stratum.asked for stratum in strata) / sum(stratum.parts for stratum in strata)
    assert all(stratum.asked >= 2 for stratum in strata)
    # Half of it, as units; parts of a stratum may be up to twice as long as those of another.
    assert all(stratum.probability >= even / 4 for stratum in strata)


def test_each_part_is_asked_as_often_as_its_recorded_probability_says() -> None:
    study = judged_study([4, 7, 5, 9, 3, 8, 6, 5], 3)
    draws = 1500
    asked: Counter[tuple[str, frozenset[str]]] = Counter()
    first: Counter[tuple[str, frozenset[str]]] = Counter()
    probability: dict[tuple[str, frozenset[str]], tuple[float, float]] = {}
    for seed in range(draws):
        parts = drawn(study, seed, share=0.6, until="top")
        after = {name: (sum(p.round == 1 for p in m), len(m)) for name, m in by_stratum(parts).items()}
        last = {stratum.name: stratum.probability for stratum in strata_of(parts)}
        for part in parts:
            key = (part.topic, frozenset(part.units))
            known = probability.setdefault(key, (after[part.stratum][0] / after[part.stratum][1], last[part.stratum]))
            assert known[1] == last[part.stratum]  # the same at every draw
            first[key] += part.round == 1
            asked[key] += part.round > 0
    assert len({round(p, 6) for _, p in probability.values()}) > 1
    for key, expected in probability.items():
        for number, p in zip((first[key], asked[key]), expected, strict=True):
            assert abs(number / draws - p) < 4.5 * np.sqrt(max(p * (1 - p), 1e-9) / draws)


def test_two_parts_of_a_stratum_are_asked_together_as_in_simple_sampling() -> None:
    study = judged_study([1] * 40, 2, np.full((40, 2), 0.5))  # one part each, all alike: what is drawn is the order
    draws, number = 1200, Counter[int]()
    strata = strata_of(drawn(study, share=0.5))
    for seed in range(draws):
        parts = {part.topic: part for part in drawn(study, seed, share=0.5)}
        first, second = parts["t00"], parts["t01"]
        assert first.stratum == second.stratum == "1"
        number[(first.round > 0) + (second.round > 0)] += 1
    n, size = strata[0].asked, strata[0].parts
    both = n * (n - 1) / (size * (size - 1))
    assert abs(number[2] / draws - both) < 4.5 * np.sqrt(both * (1 - both) / draws)


def test_more_is_asked_where_the_model_is_unsure() -> None:
    # Of 200 topics of one unit half are rather sure (p = .1) and half open (p = .5): standard deviations .3 and .5.
    p = np.repeat([[0.1], [0.5]], 100, axis=0).repeat(4, axis=1)
    parts = drawn(judged_study([1] * 200, 4, p), share=0.25)
    asked = Counter(part.topic >= "t100" for part in parts if part.round)
    assert asked[True] + asked[False] == 50
    assert asked[True] / asked[False] == pytest.approx(0.5 / 0.3, rel=0.2)


@pytest.mark.parametrize(
    ("sd", "length", "units", "expected"),
    [
        ((1, 3), (1, 1), 12, [6, 6]),  # 30 x 1 and 10 x 3
        ((1, 9), (1, 1), 12, [5, 7]),  # would be 3 and 9, but half of 12 / 40 of 30 parts is 4.5
        ((1, 9), (1, 1), 30, [20, 10]),  # a stratum that is asked in full leaves the rest to the other
        ((1, 3), (1, 4), 30, [8, 5]),  # half of 30 / 70 is 7 parts of 1 unit; 5 parts of 4 units; then 8
        ((0, 0), (1, 1), 12, [9, 3]),  # a model that claims to know everything: all alike
        ((1, 3), (1, 1), 3, None),  # two of each stratum are more
    ],
)
def test_neyman_allocation_by_hand(
    sd: tuple[float, float], length: tuple[float, float], units: float, expected: list[int] | None
) -> None:
    found = neyman(np.array([30, 10]), np.array(sd, float), np.array(length, float), Limit(units, 40))
    assert (found if found is None else found.tolist()) == expected


def test_reading_decides_how_many_units_a_task_has() -> None:
    study = judged_study([40] * 30, 5)
    minutes = (0.0, 0.5, 2.0, 8.0)
    sizes = [
        np.mean([len(part.units) for part in drawn(study, minutes_per_summary=m, units_per_task=40)]) for m in minutes
    ]
    # Units of a topic are alike a little (.1): the best size is about sqrt(9 x reading / judging) where all are alike.
    assert sizes[0] == 1
    assert sizes[1] == pytest.approx(np.sqrt(9 * 0.5 / 0.15), abs=2)
    assert sizes == sorted(sizes)
    assert sizes[3] > 12


def test_small_topics_are_parts_of_their_own() -> None:
    parts = drawn(judged_study([3] * 120, 4), minutes_per_summary=5.0)
    assert {len(part.units) for part in parts} == {3}


def test_a_seed_gives_the_same_parts_whatever_the_order_of_rows() -> None:
    study = judged_study([5, 8, 13, 2, 9, 11], 4)
    rows = list(study.judgments)
    random.Random(3).shuffle(rows)
    turned = replace(
        study,
        topics=study.topics[::-1],
        summaries=study.summaries[::-1],
        pyramids=tuple(replace(p, units=p.units[::-1]) for p in study.pyramids[::-1]),
        judgments=Judgments(rows),
    )
    assert drawn(study, 5, share=0.6, until="ranking") == drawn(turned, 5, share=0.6, until="ranking")
    assert drawn(study, 5, share=0.6) != drawn(study, 6, share=0.6)


def test_units_that_were_sampled_before_are_all_that_can_be_asked() -> None:
    study = judged_study([20] * 4, 3)
    chosen = {f"u{number}" for number in range(0, 20, 2)}
    grouped = replace(
        study,
        pyramids=tuple(
            replace(p, units=tuple(replace(u, group="1" if u.id in chosen else "") for u in p.units))
            for p in study.pyramids
        ),
    )
    assert {unit for part in drawn(grouped, share=0.5) for unit in part.units} == chosen


def test_a_task_for_every_system_that_has_a_summary() -> None:
    study = judged_study([6] * 6, 3)
    lacking = replace(study, summaries=tuple(s for s in study.summaries if (s.topic, s.system) != ("t0", "s01")))
    parts = drawn(lacking, share=0.8)
    tasks = list(tasks_of(parts, lacking))
    expected = {(p.topic, s, p.units, p.stratum, p.place, p.places) for p in parts for s in ("s00", "s01", "s02")}
    expected = {key for key in expected if key[:2] != ("t0", "s01")}
    assert {(t.topic, t.system, t.units, t.stratum, t.place, t.places) for t in tasks} == expected
    assert len(tasks) == len(expected)
    assert {task.system for task in tasks_of(parts, lacking, ["s02"])} == {"s02"}


def test_too_small_a_share_names_the_smallest_that_works() -> None:
    study = judged_study([10] * 10, 2)
    with pytest.raises(pyr.UsageError, match=r"a share of 0.1 of 100 units .* smallest share that works is 0.2$"):
        drawn(study, share=0.1)
    assert sum(part.round > 0 for part in drawn(study, share=0.2)) == 20
    with pytest.raises(pyr.UsageError, match="only 8 units"):
        drawn(judged_study([4, 4], 2), share=1.0)


def test_too_small_a_budget_names_the_smallest_that_works() -> None:
    study = judged_study([10] * 10, 2)
    for until in ("", "top"):
        with pytest.raises(pyr.UsageError, match=r"budget of 5 .* the smallest that works is 24$"):
            drawn(study, share=0.5, budget=5, until=until)
        assert sum(part.round == 1 for part in drawn(study, share=0.5, budget=24, until=until)) == 20


def test_a_thousand_tiny_topics_and_fifty_systems() -> None:
    parts = drawn(judged_study([3] * 1000, 50), until="top")
    assert sum(len(part.units) for part in parts) == 3000
    assert all(part.round for part in parts)
    assert len(strata_of(parts)) == 4
    assert max(part.round for part in parts) == 8
