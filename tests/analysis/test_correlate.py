"""Correlations of metrics with a gold measure, as a user asks for them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.analysis import correlate
from pyramidion.analysis.answer import Heatmap
from pyramidion.study import Score, ScoreTable, Signature


def table(cells: dict[str, np.ndarray], *, names: str = "s") -> ScoreTable:
    """A score table from topics x systems arrays; NaN is missing."""
    scores = [
        Score(f"t{t}", f"{names}{s}", measure, None if np.isnan(value) else float(value))
        for measure, array in cells.items()
        for t, row in enumerate(array)
        for s, value in enumerate(row)
    ]
    return ScoreTable.of_summaries(scores, Signature.of("test"))


def noisy(seed: int, topics: int = 12, systems: int = 10, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=systems)
    gold = truth + rng.normal(size=(topics, systems))
    return gold, truth + noise * rng.normal(size=(topics, systems))


def test_the_three_levels_by_numpy() -> None:
    gold, metric = noisy(1)
    found = correlate(table({"gold": gold, "metric": metric}), gold="gold", resamples=0).result
    assert found.of("metric").r == pytest.approx(np.corrcoef(gold.mean(0), metric.mean(0))[0, 1])
    each = [np.corrcoef(g, m)[0, 1] for g, m in zip(gold, metric, strict=True)]
    assert found.of("metric", "summary").r == pytest.approx(np.mean(each))
    assert found.of("metric", "pooled").r == pytest.approx(np.corrcoef(gold.ravel(), metric.ravel())[0, 1])


def test_a_constant_topic_is_counted_and_not_averaged() -> None:
    gold, metric = noisy(2, topics=4)
    metric[1] = 0.5
    answer = correlate(table({"gold": gold, "metric": metric}), gold="gold", resamples=0)
    found = answer.result.of("metric", "summary")
    rest = [np.corrcoef(gold[t], metric[t])[0, 1] for t in (0, 2, 3)]
    assert (found.r, found.n, found.undefined) == (pytest.approx(np.mean(rest)), 3, 1)
    assert any("1 topic without a correlation" in str(note) for note in answer.notes)


def test_a_constant_metric_is_undefined_and_said_so() -> None:
    gold, _ = noisy(3)
    answer = correlate(table({"gold": gold, "flat": np.ones_like(gold)}), gold="gold")
    assert answer.result.of("flat").r is None
    assert answer.sentence == "No metric has a defined correlation with gold (10 systems, 12 topics)."
    assert any("undefined" in str(note) for note in answer.notes)
    assert None in answer.tables[0].column("r")


def test_resamples_without_a_correlation_are_told_once_a_metric() -> None:
    """With three systems, drawing one three times leaves nothing that varies: on average 1 in 9 draws."""
    gold, metric = noisy(4, systems=3)
    [note] = correlate(table({"gold": gold, "metric": metric}), gold="gold").notes
    assert str(note).startswith("metric: intervals: in up to 1")
    assert str(note).endswith("of 1000 resamples a side does not vary; they are left out")


def test_missing_cells_are_named() -> None:
    gold, metric = noisy(4)
    metric[2, 3] = np.nan
    answer = correlate(table({"gold": gold, "metric": metric}), gold="gold", resamples=50)
    assert any("1 of 120 cells are missing: s3 on t2" in str(note) for note in answer.notes)
    assert answer.result.of("metric").r is not None


def test_tables_without_a_common_system_or_measure_are_refused() -> None:
    gold, metric = noisy(5)
    with pytest.raises(pyr.UsageError, match="no system in common"):
        correlate([table({"gold": gold}), table({"metric": metric}, names="other")], gold="gold")
    with pytest.raises(pyr.UsageError, match="'bold' is unknown; there are: gold, metric"):
        correlate(table({"gold": gold, "metric": metric}), gold="bold")
    with pytest.raises(pyr.UsageError, match="no measure to compare"):
        correlate(table({"gold": gold}), gold="gold")
    with pytest.raises(pyr.UsageError, match="at least 2 systems"):
        correlate(table({"gold": gold, "metric": metric}), gold="gold", systems=["s1"])


def test_measures_of_the_same_name_are_told_apart() -> None:
    gold, metric = noisy(6)
    found = correlate({"a": table({"score": gold}), "b": table({"score": metric})}, gold="a:score", resamples=0)
    assert [c.metric for c in found.result.correlations][:1] == ["b:score"]


def test_one_topic_has_no_interval_over_topics() -> None:
    gold, metric = noisy(7, topics=1)
    found = correlate(table({"gold": gold, "metric": metric}), gold="gold").result.of("metric")
    assert found.r is not None
    assert found.over_topics is None


def test_intervals_over_systems_and_topics_are_wider() -> None:
    gold, metric = noisy(8, topics=20, systems=20)
    found = correlate(table({"gold": gold, "metric": metric}), gold="gold").result.of("metric", "summary")
    assert found.over_topics is not None
    assert found.over_both is not None
    assert found.over_both.high - found.over_both.low > found.over_topics.high - found.over_topics.low


@pytest.mark.slow
def test_an_interval_covers_the_summary_level_truth() -> None:
    # Within a topic both measures are truth plus independent noise of the same size, so r tends to 1/2.
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        shared = rng.normal(size=(25, 60))  # fresh in every topic, so that topics are independent
        cells = {name: shared + rng.normal(size=(25, 60)) for name in ("gold", "metric")}
        interval = (
            correlate(table(cells), gold="gold", levels=["summary"], kinds=["pearson"], resamples=300)
            .result.correlations[0]
            .over_topics
        )
        assert interval is not None
        covered += interval.low <= 0.4967 <= interval.high  # the mean of r for 60 systems is rho (1 - (1 - rho^2) / 2n)
    assert covered / 200 == pytest.approx(0.93, abs=0.05)


@pytest.mark.slow
def test_the_permutation_test_holds_its_level() -> None:
    false = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=8)
        gold, a, b = (truth + rng.normal(size=(6, 8)) for _ in range(3))
        found = correlate(
            table({"gold": gold, "a": a, "b": b}),
            gold="gold",
            levels=["system"],
            kinds=["pearson"],
            resamples=0,
            permutations=199,
        ).result.differences[0]
        assert found.permutation is not None
        false.append(found.permutation < 0.05)
    assert np.mean(false) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


@given(seed=st.integers(0, 50))
def test_the_same_seed_gives_the_same_answer(seed: int) -> None:
    gold, metric = noisy(seed, topics=4, systems=5)
    data = table({"gold": gold, "metric": metric})
    first, second = (correlate(data, gold="gold", resamples=20, seed=seed) for _ in range(2))
    assert first.result == second.result
    assert str(first.signature) == str(second.signature)
    assert f"seed:{seed}" in str(first.signature)


def test_two_systems_are_warned_about() -> None:
    gold, metric = noisy(3, systems=2)
    found = correlate([table({"gold": gold, "metric": metric})], gold="gold")
    assert any(note.where == "s0 and s1" and "is always 1 or -1" in note.what for note in found.notes)
    gold, metric = noisy(3, systems=3)
    assert not any(
        "is always 1 or -1" in note.what for note in correlate([table({"gold": gold, "m": metric})], gold="gold").notes
    )


# -- the sentence is about what was asked --------------------------------------------------------------------------


def test_the_sentence_is_about_the_level_and_kind_asked_for() -> None:
    gold, metric = noisy(1)
    data = table({"gold": gold, "metric": metric})
    where = {
        "system": "on systems",
        "summary": "on the summaries of a topic",
        "pooled": "on all summaries together",
    }
    names = {"pearson": "Pearson r", "spearman": "Spearman rho", "kendall": "Kendall tau"}
    for level, said in where.items():
        for kind, name in names.items():
            answer = correlate(data, gold="gold", levels=[level], kinds=[kind], resamples=0)  # type: ignore[list-item]
            r = answer.result.of("metric", level, kind).r
            assert answer.sentence == f"metric agrees best with gold {said}: {name} = {r:.3f} (10 systems, 12 topics)."


def test_only_the_levels_asked_for_are_said_to_be_undefined() -> None:
    gold, metric = noisy(1)
    flat = table({"gold": gold, "flat": np.ones_like(gold)})
    answer = correlate(flat, gold="gold", levels=["pooled", "summary"], resamples=0)
    assert (
        answer.sentence
        == "No metric has a defined correlation with gold at pooled or summary level (10 systems, 12 topics)."
    )
    # The metric's system means are all equal, so that only the other levels have a correlation.
    held = table({"gold": gold, "metric": metric})
    equal = [s._replace(value=0.0) if s.topic is None and s.measure == "metric" else s for s in held]
    answer = correlate(ScoreTable(tuple(equal), held.signature), gold="gold", means="given", resamples=0)
    assert answer.result.of("metric").r is None
    assert answer.sentence.startswith("metric agrees best with gold on the summaries of a topic: Pearson r = ")


def test_differences_are_tested_only_where_systems_are_asked_about() -> None:
    gold, a = noisy(1)
    data = table({"gold": gold, "a": a, "b": noisy(2)[1]})
    assert correlate(data, gold="gold", levels=["system"], resamples=0, permutations=9).result.differences
    pooled = correlate(data, gold="gold", levels=["pooled"], resamples=0, permutations=9)
    assert not pooled.result.differences
    assert len(pooled.tables) == 1
    assert "Next is" not in pooled.sentence


def test_means_of_systems_alone_have_no_other_level() -> None:
    gold, metric = noisy(1)
    means = table({"metric": metric})
    bare = ScoreTable(tuple(score for score in means if score.topic is None), means.signature)
    answer = correlate({"a": table({"gold": gold}), "b": bare}, gold="gold", resamples=20)
    assert {c.level for c in answer.result.correlations} == {"system"}
    assert answer.result.of("metric").over_topics is None
    assert any(
        str(note) == "metric: no scores by topic, so no correlation at summary or pooled level" for note in answer.notes
    )
    nothing = correlate({"a": table({"gold": gold}), "b": bare}, gold="gold", levels=["pooled"])
    assert nothing.sentence == "No metric has a defined correlation with gold at pooled level (10 systems, 12 topics)."


# -- measures with each other --------------------------------------------------------------------------------------


def test_a_matrix_has_every_pair_at_every_level_and_kind() -> None:
    gold, a = noisy(1)
    cells = {"gold": gold, "a": a, "b": noisy(2)[1]}
    answer = correlate(
        table(cells), gold="gold", kinds=["pearson", "kendall"], resamples=0, permutations=0, matrix=True
    )
    assert [(m.level, m.kind) for m in answer.result.matrices] == [
        (level, kind) for level in ("system", "summary", "pooled") for kind in ("pearson", "kendall")
    ]
    for found in answer.result.matrices:
        assert found.measures == ("gold", "a", "b")
        for metric in ("a", "b"):
            assert found.of(metric, "gold") == answer.result.of(metric, found.level, found.kind).r
        assert [found.values[i][i] for i in range(3)] == [None] * 3
        assert found.of("a", "b") == found.of("b", "a")
    first = answer.result.matrices[0]
    assert first.of("a", "b") == pytest.approx(np.corrcoef(cells["a"].mean(0), cells["b"].mean(0))[0, 1])
    [drawn] = [t for t in answer.tables if t.title == "Measures with each other (pearson, system level)"]
    assert drawn.records()[2] == {
        "measure": "b",
        "no.": 3,
        "gold": first.of("b", "gold"),
        "a": first.of("b", "a"),
        "b": None,
    }
    assert any(isinstance(f, Heatmap) and f.values == first.values for f in answer.figures)
    assert not correlate(table(cells), gold="gold", resamples=0, permutations=0).result.matrices


def test_a_matrix_says_which_pairs_are_the_same_thing_twice() -> None:
    gold, a = noisy(1)
    held = table({"gold": gold, "a": a, "percent": 100 * a})
    answer = correlate(held, gold="gold", resamples=0, permutations=0, matrix=True)
    note = "matrix: 1 pair from the same judgments or numbers, so their correlation is not agreement: a with percent"
    assert note in map(str, answer.notes)
