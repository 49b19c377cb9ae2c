"""Verdicts of a metric and of the gold on pairs of systems."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

import pyramidion as pyr
from pyramidion.analysis import metric_accuracy
from pyramidion.study import Score, ScoreTable, Signature


def table(**cells: np.ndarray) -> ScoreTable:
    scores = [
        Score(f"t{t}", f"s{s}", name, float(value))
        for name, array in cells.items()
        for t, row in enumerate(array)
        for s, value in enumerate(row)
    ]
    return ScoreTable.of_summaries(scores, Signature.of("test"))


def noisy(seed: int = 0, topics: int = 20) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = np.linspace(0, 2, 6)
    return {name: truth + spread * rng.normal(size=(topics, 6)) for name, spread in (("gold", 1.0), ("metric", 2.0))}


def verdict(a: np.ndarray, b: np.ndarray) -> int:
    test = stats.wilcoxon(a - b)
    ranks = stats.rankdata(np.abs(a - b)) * np.sign(a - b)
    return int(np.sign(ranks.sum())) if test.pvalue < 0.05 else 0


def test_accuracy_by_hand_with_scipys_test() -> None:
    cells = noisy()
    found = metric_accuracy(table(**cells), gold="gold").result.of("metric")
    pairs = [
        (verdict(cells["gold"][:, i], cells["gold"][:, j]), verdict(cells["metric"][:, i], cells["metric"][:, j]))
        for i, j in combinations(range(6), 2)
    ]
    assert found.accuracy == pytest.approx(np.mean([a == b for a, b in pairs]))
    assert found.missed == sum(a != 0 and b == 0 for a, b in pairs)
    assert found.invented == sum(a == 0 and b != 0 for a, b in pairs)


def test_the_gold_agrees_with_itself_and_its_opposite_reverses() -> None:
    cells = noisy()
    data = table(gold=cells["gold"], same=2 * cells["gold"] + 1, opposite=-cells["gold"])
    with pytest.raises(
        pyr.UsageError, match="every other measure comes from the judgments or numbers of 'gold' itself"
    ):
        metric_accuracy(data, gold="gold")
    answer = metric_accuracy(data, gold="gold", metrics=["same", "opposite"])
    found = answer.result
    assert "so equal conclusions say nothing about it" in answer.sentence
    assert answer.tables[0].column("dependent") == [True, True]
    assert (found.of("same").accuracy, found.of("same").mean, found.of("same").sd) == (1.0, 1.0, 0.0)
    assert found.of("opposite").reversed == found.gold_differences > 0


def test_the_papers_share_of_topics_is_drawn() -> None:
    assert metric_accuracy(table(**noisy(topics=46)), gold="gold").result.subset == 41


def test_few_topics_are_refused_or_explained() -> None:
    with pytest.raises(pyr.UsageError, match="3 topics"):
        metric_accuracy(table(**noisy(topics=2)), gold="gold")
    answer = metric_accuracy(table(**noisy(topics=5)), gold="gold")
    assert any("no Wilcoxon test on 4 topics" in str(note) for note in answer.notes)
    assert answer.sentence.startswith("gold finds no difference in any of 15 pairs")
    with pytest.raises(pyr.UsageError, match="2 to 20 topics, not 21"):
        metric_accuracy(table(**noisy()), gold="gold", subset=21)


def test_metrics_that_do_equally_well_are_all_named() -> None:
    cells = noisy()
    near = cells["gold"] + 1e-6 * cells["metric"]
    answer = metric_accuracy(table(gold=cells["gold"], a=near, b=near, c=cells["metric"]), gold="gold")
    assert answer.sentence.startswith("a, b each draw the same conclusion as gold on 100.0% of 15 pairs")


def test_means_of_systems_alone_have_no_verdicts() -> None:
    cells = noisy()
    full = table(**cells)
    bare = ScoreTable(tuple(score for score in full if score.topic is None), full.signature)
    named = {"gold": table(gold=cells["gold"]), "metric": bare}
    with pytest.raises(pyr.UsageError, match="verdicts need scores by topic; these have only system means: metric"):
        metric_accuracy(named, gold="gold:gold", metrics=["metric"])
    both = metric_accuracy(
        {**named, "other": table(other=cells["metric"])}, gold="gold:gold", metrics=["metric", "other"]
    )
    assert [m.metric for m in both.result.metrics] == ["other"]
    assert "metric: no scores by topic, so no verdicts; left out" in map(str, both.notes)
