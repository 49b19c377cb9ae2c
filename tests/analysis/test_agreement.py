"""Agreement of judges: what the parts add up to, and what unanimous or single-judge data gets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.analysis import agreement
from pyramidion.stats.alpha import alpha
from pyramidion.stats.tukey import r_squared
from pyramidion.study import Aspect, Judge, Judgment, Judgments, Study


def rated(values: np.ndarray, aspect: str = "q") -> Study:
    """Topics x judges ratings of one system; NaN is no answer."""
    judgments = [
        Judgment(f"t{t}", "s", f"j{j}", None if np.isnan(v) else float(v), aspect=aspect)
        for t, row in enumerate(values)
        for j, v in enumerate(row)
    ]
    judges = tuple(Judge(f"j{j}") for j in range(values.shape[1]))
    return Study(judges=judges, judgments=Judgments(judgments), aspects=(Aspect(aspect, 0, 10),))


def test_the_example_names_its_bad_workers(example: pyr.Study) -> None:
    answer = agreement(example)
    by_alpha = sorted(answer.result.judges, key=lambda j: j.alpha or 0.0)
    assert [judge.judge for judge in by_alpha[:2]] == ["worker8", "worker7"]
    assert "worker8" in answer.sentence
    assert {name for name, _ in answer.result.topics} == {topic.id for topic in example.topics}


@pytest.mark.parametrize("distance", ["nominal", "ordinal", "interval", "dice"])
@given(seed=st.integers(0, 1000))
def test_judges_alphas_add_up_to_the_whole(distance: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (12, 4)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    if np.isnan(values).all():
        return
    found = agreement(rated(values), distance=distance, resamples=0).result  # type: ignore[arg-type]
    if found.alpha.value is None:
        assert all(judge.alpha is None for judge in found.judges)
        return
    # An answer to an item with m answers has weight 1, shared out over its m - 1 pairs.
    paired = (~np.isnan(values)) & ((~np.isnan(values)).sum(axis=1) > 1)[:, None]
    weight = paired.sum(axis=0)
    parts = [judge.alpha for judge in found.judges]
    named = {judge.judge: judge.alpha for judge in found.judges}
    total = sum(weight[j] * (named.get(f"j{j}") or 0.0) for j in range(4)) / weight.sum()
    assert len(parts) <= 4
    assert total == pytest.approx(found.alpha.value, abs=1e-9)


def test_every_two_judges_equal_alpha_on_their_items() -> None:
    values = np.random.default_rng(2).integers(0, 3, (20, 3)).astype(float)
    found = agreement(rated(values), distance="interval").result
    assert len(found.pairs) == 3
    for first, second, pair in found.pairs:
        both = values[:, [int(first[1]), int(second[1])]]
        assert pair.value == pytest.approx(alpha(np.repeat(np.arange(20), 2), both.ravel(), distance="interval").value)


def test_unanimous_ratings_have_no_alpha() -> None:
    answer = agreement(rated(np.full((5, 3), 4.0)))
    assert answer.result.alpha.value is None
    assert answer.result.unanimous == 1.0
    assert "all answers are the same" in answer.sentence
    assert all(part.r2 is None for part in answer.result.explained)


def test_a_single_judge_has_no_alpha_but_a_mean() -> None:
    answer = agreement(rated(np.array([[1.0], [2.0], [5.0]])))
    assert answer.result.alpha.value is None
    assert "no item was answered by two judges" in answer.sentence
    assert answer.result.judges[0].mean == pytest.approx(8 / 3)
    assert answer.result.pair_difference is None


def test_pair_differences_and_spreads_by_hand() -> None:
    # Items (1, 3), (2, 2), (5, 9): differences 2, 0, 4; judge means 8/3 and 14/3.
    found = agreement(rated(np.array([[1.0, 3.0], [2.0, 2.0], [5.0, 9.0]]))).result
    assert found.pair_difference == pytest.approx(2)
    assert found.pair_difference_sd == pytest.approx(2)
    assert found.judge_means == (pytest.approx(8 / 3), pytest.approx(14 / 3))
    assert found.judge_mean_sd == pytest.approx(np.sqrt(2))
    assert found.explained[0].r2 == pytest.approx(r_squared([1, 3, 2, 2, 5, 9], [0, 1, 0, 1, 0, 1]))


def test_one_answer_per_item_is_the_mean_over_removals_and_not_the_first_row() -> None:
    # Items with the answers (1, 3) and (2, 2) of judges j0 and j1. Two answers of one judge leave the judge nothing to
    # explain, two of different judges leave all of it: both are equally likely. The first rows alone are both j0's.
    found = agreement(rated(np.array([[1.0, 3.0], [2.0, 2.0]])), resamples=0, removals=4000, seed=3).result.explained[0]
    assert found.r2_single == pytest.approx(0.5, abs=0.03)
    assert found.single is not None
    assert (found.single.low, found.single.high, found.single.resamples) == (0.0, 1.0, 4000)


def test_removals_in_which_nothing_varies_are_left_out() -> None:
    found = agreement(
        rated(np.array([[1.0, 3.0], [1.0, 3.0], [1.0, 3.0]])), resamples=0, removals=4000
    ).result.explained
    assert found[0].r2_single == pytest.approx(1)
    assert found[0].single is not None
    assert found[0].single.undefined == pytest.approx(1000, abs=100)  # all three 1, or all three 3


def test_removals_are_drawn_by_name_and_recorded() -> None:
    rng = np.random.default_rng(5)
    study = rated(rng.integers(1, 8, (30, 4)).astype(float))
    rows = list(study.judgments)
    rng.shuffle(rows)  # type: ignore[arg-type]
    answer = agreement(study, resamples=0)
    assert agreement(replace(study, judgments=Judgments(rows)), resamples=0) == answer
    assert "|removals:200|" in str(answer.signature)
    assert "|removals:7|" in str(agreement(study, resamples=0, removals=7).signature)
    with pytest.raises(pyr.UsageError, match="removals must be at least 1, not 0"):
        agreement(study, removals=0)


def test_without_redundant_answers_nothing_is_removed() -> None:
    judged = agreement(rated(np.array([[1.0, np.nan], [np.nan, 4.0], [2.0, np.nan]])), resamples=0).result.explained
    for part in judged:
        assert part.r2_single == pytest.approx(part.r2)
        assert part.single is not None
        assert part.single.low == part.single.high == pytest.approx(part.r2)


def test_differences_between_two_judges_are_counted() -> None:
    # Gillick and Liu 2010, Table 2. Items (1, 3), (2, 2), (5, 9): one difference of 0, 2 and 4 each, none of 1 and 3.
    study = rated(np.array([[1.0, 3.0], [2.0, 2.0], [5.0, 9.0]]))
    answer = agreement(study)
    assert [(d.low, d.pairs) for d in answer.result.differences] == [(0, 1), (1, 0), (2, 1), (3, 0), (4, 1)]
    (table,) = (t for t in answer.tables if t.title == "Differences between two judges of the same summary")
    assert table.rows[2] == ("2", 1, pytest.approx(1 / 3))
    # Three judges make three pairs of answers.
    assert [d.pairs for d in agreement(rated(np.array([[1.0, 2.0, 4.0]]))).result.differences] == [0, 1, 1, 1]


def test_differences_on_finer_scales() -> None:
    halves = agreement(rated(np.array([[1.0, 2.5], [3.0, 3.5], [2.0, 2.5]]))).result.differences
    assert [(d.low, d.high, d.pairs) for d in halves] == [(0.5, 0.5, 2), (1.5, 1.5, 1)]
    fine = agreement(rated(np.random.default_rng(1).random((60, 2)))).result.differences
    assert len(fine) == 10
    assert sum(d.pairs for d in fine) == 60


def test_differences_are_those_of_ratings_only(example: pyr.Study) -> None:
    assert agreement(example).result.differences == ()
    assert agreement(example, aspect="overall").result.differences


def test_nothing_to_agree_on_is_said() -> None:
    with pytest.raises(pyr.UsageError, match="no judgments"):
        agreement(Study())
    with pytest.raises(pyr.UsageError, match="no answers"):
        agreement(rated(np.full((2, 2), np.nan)))
