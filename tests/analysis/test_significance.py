"""Which systems differ, from score tables, units and ratings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis import significance, tukey, unit_significance
from pyramidion.study import Aspect, Judge, Judgment, Judgments, Score, ScoreTable, Signature, Study


def table(cells: np.ndarray) -> ScoreTable:
    scores = [
        Score(f"t{t}", f"s{s}", "m", None if np.isnan(value) else float(value))
        for t, row in enumerate(cells)
        for s, value in enumerate(row)
    ]
    return ScoreTable.of_summaries(scores, Signature.of("test"))


def spread(topics: int = 20, gap: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.normal(size=(topics, 1)) + gap * np.arange(4) + 0.5 * rng.normal(size=(topics, 4))


@pytest.mark.parametrize("test", ["permutation", "bootstrap", "wilcoxon"])
def test_clear_differences_are_found_and_ranked(test: str) -> None:
    found = significance(table(spread()), test=test).result  # type: ignore[arg-type]
    assert [r.system for r in found.ranking] == ["s3", "s2", "s1", "s0"]
    assert [r.rightmost for r in found.ranking] == [None, "s3", "s2", "s1"]
    assert [r.group for r in found.ranking] == ["a", "b", "c", "d"]
    assert len(found.significant) == 6


def test_equal_systems_do_not_differ() -> None:
    answer = significance(table(np.tile(np.arange(10.0)[:, None], 3)))
    assert not answer.result.significant
    assert {pair.p for pair in answer.result.pairs} == {1.0}
    assert [r.group for r in answer.result.ranking] == ["a", "a", "a"]
    assert answer.sentence.endswith("s0 is best, but not significantly better than s1, s2.")


def test_holm_is_applied_and_can_be_left_out() -> None:
    cells = table(spread(gap=0.2))
    corrected = significance(cells, test="wilcoxon").result
    plain = significance(cells, test="wilcoxon", correction="none").result
    assert all(a.raw_p == b.p for a, b in zip(corrected.pairs, plain.pairs, strict=True))
    assert sum(pair.p or 0 for pair in corrected.pairs) > sum(pair.p or 0 for pair in plain.pairs)


def test_too_few_topics_are_not_taken_for_no_difference() -> None:
    answer = significance(table(spread(topics=4)))
    assert any("4 topics: no permutation test can be significant: p is at least 0.125" in str(n) for n in answer.notes)


def test_a_pair_without_common_topics_is_untested() -> None:
    cells = spread(topics=6)
    cells[:3, 0] = np.nan
    cells[3:, 1] = np.nan
    answer = significance(table(cells))
    assert answer.result.untested == 1
    assert any("s1 and s0" in str(note) for note in answer.notes)


def test_one_system_or_one_topic_is_refused() -> None:
    with pytest.raises(pyr.UsageError, match="at least 2 systems"):
        significance(table(spread()[:, :1]))
    with pytest.raises(pyr.UsageError, match="at least 2 topics"):
        significance(table(spread()[:1]))


def test_units_of_the_example_equal_the_single_comparison(example: pyr.Study) -> None:
    found = unit_significance(example, correction="none").result
    single = pyr.compare_units(example, "extract", "lead")
    pair = next(p for p in found.pairs if {p.better, p.worse} == {"extract", "lead"})
    assert pair.p == pytest.approx(next(t.p for t in single.tests if t.name == "mcnemar"))
    assert pair.difference == pytest.approx(single.tests[0].difference)


def test_the_signature_names_the_judges_that_were_taken(example: pyr.Study) -> None:
    assert "judges:expert" in str(unit_significance(example).signature)
    by_model = replace(example, judges=tuple(replace(judge, kind="model") for judge in example.judges))
    answer = unit_significance(by_model, pyramid="expert")
    assert "judges:all" in str(answer.signature)
    assert any("no judge of kind expert judged it" in str(note) for note in answer.notes)


def test_too_few_topics_are_told_what_helps() -> None:
    [note] = significance(table(spread()[:4])).notes
    assert "4 topics: no permutation test can be significant" in str(note)
    assert "--units" in str(note)
    assert "--test tukey" in str(note)


def ratings(linked: bool) -> Study:
    """Two judges, three systems; judge B likes everything more and, if not linked, sees other systems than A."""
    rng = np.random.default_rng(0)
    seen = {"A": ("x", "y"), "B": ("y", "z") if linked else ("z", "w")}
    judgments = [
        Judgment(f"t{t}", system, judge, 1 + 4 * (judge == "B") + (system == "y") + rng.integers(0, 2), aspect="q")
        for judge, systems in seen.items()
        for system in systems
        for t in range(8)
    ]
    return Study(judges=(Judge("A"), Judge("B")), judgments=Judgments(judgments), aspects=(Aspect("q", 1, 10),))


def test_tukey_takes_the_judges_leniency_out() -> None:
    plain = tukey(ratings(True), factors=()).result
    adjusted = tukey(ratings(True)).result
    assert plain.ranking[0].system == "z"  # only the lenient judge saw it
    assert adjusted.ranking[0].system == "y"


def test_tukey_says_what_cannot_be_compared() -> None:
    answer = tukey(ratings(False))
    assert answer.result.untested == 4
    assert any("could not be tested" in str(note) for note in answer.notes)
    assert any("rank-deficient" in str(note) for note in answer.notes)


def test_tukey_needs_ratings_or_scores(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="no ratings"):
        tukey(Study())
    with pytest.raises(pyr.UsageError, match="unknown factor 'colour'"):
        tukey(example, factors=("colour",))
    with pytest.raises(pyr.UsageError, match="'beauty'; known values are: overall"):
        tukey(example, measure="beauty")


def ladder(systems: int, topics: int = 50) -> ScoreTable:
    """Clearly different systems: means from 0 to .98, standard deviation .05."""
    rng = np.random.default_rng(0)
    return table(np.linspace(0, 0.98, systems) + rng.normal(0, 0.05, (topics, systems)))


@pytest.mark.parametrize("test", ["permutation", "bootstrap", "wilcoxon"])
def test_many_systems_do_not_make_differences_vanish(test: str) -> None:
    # 528 pairs; neighbours are .03 apart, .6 sd of a difference, so some of those 32 pairs may be missed, no others.
    found = significance(ladder(33), test=test).result  # type: ignore[arg-type]
    assert len(found.significant) >= 528 - 32
    assert min(pair.raw_p or 1 for pair in found.pairs) < 1e-7
    more = significance(ladder(60, 40), test=test).result  # type: ignore[arg-type]
    assert len(more.significant) >= 0.9 * len(more.pairs)


def test_pairs_near_the_level_are_drawn_again() -> None:
    # The first of these rows whose exact p (2^20 patterns, counted) is within 2% of .05.
    rng = np.random.default_rng(0)
    signs = np.array(np.meshgrid(*[[1.0, -1.0]] * 10)).reshape(10, -1)
    while True:
        row = rng.normal(0.45, 1, 20)
        left, right = np.sort(row[:10] @ signs), row[10:] @ signs
        exact = 2 * (len(left) - np.searchsorted(left, abs(row.sum()) - 1e-9 - right)).sum() / 2**20
        if abs(exact - 0.05) < 0.001:
            break
    cells = table(np.column_stack([row, np.zeros(20)]))
    drawn = [significance(cells, seed=seed).result.pairs[0].p or 0 for seed in range(12)]
    assert drawn == pytest.approx([exact] * 12, rel=0.03)  # 2,000 draws alone leave a standard error of 3%
    assert {p < 0.05 for p in drawn} == {exact < 0.05}


def test_the_correction_can_put_the_level_out_of_reach() -> None:
    # 9 topics: p is at least 2/2^9 = .0039; with 6 pairs that can be found, with 28 it cannot.
    assert significance(table(spread(topics=9, gap=5.0))).result.significant
    answer = significance(ladder(8, 9))
    assert not answer.result.significant
    said = "9 topics: no permutation test can be significant: p is at least 0.00391 before the correction for 28 pairs"
    assert any(said in str(note) for note in answer.notes)


def test_pairs_that_differ_on_few_topics_are_named() -> None:
    cells = np.tile(np.arange(12.0)[:, None], (1, 3))
    cells[:4, 1] += 1.0  # differs from the others on four topics: p is at least 1/8
    cells[:, 2] += np.linspace(1, 2, 12)
    answer = significance(table(cells))
    assert [{pair.better, pair.worse} for pair in answer.result.level_out_of_reach] == [{"s0", "s1"}]
    assert any("differ on too few topics to be significant" in str(note) for note in answer.notes)


def test_units_can_be_restricted_to_topics_and_systems(example: pyr.Study) -> None:
    topic = example.topics[0].id
    units = len(next(p for p in example.pyramids if p.topic == topic and p.name == "expert").units)
    found = unit_significance(example, topics=[topic], systems=["extract", "l*"]).result
    assert [(pair.n, {pair.better, pair.worse}) for pair in found.pairs] == [(units, {"extract", "lead"})]
    single = pyr.compare_units(example, "extract", "lead", topics=[topic])
    assert single.both + single.only_first + single.only_second + single.neither == units
    assert found.pairs[0].p == pytest.approx(single.tests[0].p)
    with pytest.raises(pyr.UsageError, match="no judged topic matches 'moon'"):
        unit_significance(example, topics=["moon"])
    with pytest.raises(pyr.UsageError, match="unknown judged topic 'moon'"):
        pyr.compare_units(example, "extract", "lead", topics=["moon"])


def test_tukey_can_be_restricted_to_topics(example: pyr.Study) -> None:
    scores = pyr.score(example, "pyramid")
    some = [topic.id for topic in example.topics[:3]]
    kept = ScoreTable.of_summaries([s for s in scores if s.topic in some], scores.signature)
    assert tukey(scores, topics=some).result == tukey(kept).result
    assert tukey(example, measure="overall", topics=some).result != tukey(example, measure="overall").result
