"""Stability: sub-pyramids against the scoring method itself, curves against plain re-scoring, runs by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import crowds

import pyramidion as pyr
from pyramidion.analysis import drop_topics, pyramid_size, rerun, resampling
from pyramidion.analysis.inputs import column_means
from pyramidion.analysis.votes import unit_votes
from pyramidion.methods import lite, pyramid
from pyramidion.methods.columns import take
from pyramidion.model import Score, ScoreTable, Signature


@pytest.mark.parametrize("measure", ["modified", "original"])
def test_every_sub_pyramid_scores_as_the_method_does(example: pyr.Study, measure: str) -> None:
    held = pyramid_size(example, measure=measure).result.topics[0]  # type: ignore[arg-type]
    base = example.pyramid(held.topic, "expert")
    assert base is not None
    subsets = [c for n in range(1, 5) for c in combinations(base.references, n)]
    assert held.scores.shape == (6, len(subsets))
    for place, references in enumerate(subsets):
        smaller = base.restricted_to(references)
        gone = {unit.id for unit in base.units} - {unit.id for unit in smaller.units}
        table = pyramid.score(_less(example, smaller, gone), measures=[measure])
        expected = [table.value(system, measure, held.topic) for system in held.summaries]
        assert held.scores[:, place] == pytest.approx(expected)


def _less(study: pyr.Study, smaller: pyr.Pyramid, gone: set[str]) -> pyr.Study:
    """The study with a smaller pyramid; mentions of units it lost become unmatched content."""
    judgments = []
    lost: dict[str, float] = {}
    for j in study.judgments:
        if j.topic == smaller.topic and j.unit in gone:
            lost[j.system] = lost.get(j.system, 0) + (j.value or 0)
        else:
            judgments.append(j)
    judgments = [
        replace(j, value=(j.value or 0) + lost.get(j.system, 0))
        if j.topic == smaller.topic and j.aspect == "unmatched"
        else j
        for j in judgments
    ]
    return replace(study, pyramids=(smaller,), judgments=pyr.Judgments(judgments))


def test_sizes_narrow_and_all_references_make_no_error(example: pyr.Study) -> None:
    found = pyramid_size(example).result
    assert [row.pyramids for row in found.rows] == [16, 24, 16, 4]  # 4 topics x 4, 6, 4, 1
    ranges = [row.range or 0.0 for row in found.rows]
    assert ranges == sorted(ranges, reverse=True)
    last = found.rows[-1]
    assert (last.e1, last.e2, last.e3, last.spearman, last.range) == (0, 0, 0, 1, 0)


def test_errors_by_hand() -> None:
    # Two references, units u (both), v (A), w (B). With both: weights 2 1 1, X_a = 2, Max = 3.
    # x expresses u (2/3), y v and w (2/3): the same. By A alone: weights 1 1, X_a = 2, Max 2: x 1/2, y 1/2; by B too.
    # z expresses nothing: 0. x and z differ with both and by either alone.
    study = _small({"x": "u", "y": "vw", "z": ""})
    found = pyramid_size(study).result
    one, both = found.rows
    assert (one.e1, one.e2, one.e3) == (0, 0, 0)
    # Now y expresses v only: 1/3 with both, so x and y differ, but 1/2 and 1/2 by A alone (E1), 1/2 and 0 by B alone.
    found = pyramid_size(_small({"x": "u", "y": "v", "z": ""})).result
    one, both = found.rows
    # Three pairs, two pyramids of one reference: 6 comparisons. x-y by A is E1; y-z by B is 0 and 0, E1 as well.
    assert one.e1 == pytest.approx(2 / 6)
    assert (one.e2, one.e3, both.e1) == (0, 0, 0)


def _small(expressed: dict[str, str]) -> pyr.Study:
    told = {"u": "AB", "v": "A", "w": "B"}
    units = tuple(pyr.ContentUnit(u, u, tuple(pyr.Contributor(r) for r in refs)) for u, refs in told.items())
    return pyr.Study(
        topics=(pyr.Topic("t"),),
        summaries=tuple(pyr.Summary("t", s, "text") for s in expressed),
        pyramids=(pyr.Pyramid("t", ("A", "B"), units),),
        judges=(pyr.Judge("e", "expert"),),
        judgments=pyr.Judgments(
            [pyr.Judgment("t", s, "e", float(u in held), unit=u) for s, held in expressed.items() for u in told]
        ),
    )


def test_references_are_never_scored_by_themselves(example: pyr.Study) -> None:
    held = pyramid_size(example, held_out="references").result.topics[0]
    assert held.scores.shape[0] == 4
    assert int(held.sizes.max()) == 3
    assert (~np.isnan(held.scores)).sum(axis=1).tolist() == [7, 7, 7, 7]  # subsets of the three others


def test_a_study_without_pairs_is_refused() -> None:
    with pytest.raises(pyr.UsageError, match="no topic has two scored summaries"):
        pyramid_size(_small({"x": "u"}))


def test_everything_is_the_lite_score(example: pyr.Study) -> None:
    votes = unit_votes(example)
    table = lite.score(example)
    ours = dict(zip(votes.systems, column_means(votes.summary_scores()), strict=True))
    assert ours == pytest.approx(table.per_system("lite"))
    rng = np.random.default_rng(0)
    for draw in (votes.with_units, votes.with_topics, votes.with_workers):
        assert draw(rng)[-1] == pytest.approx(list(ours.values()))


@given(crowds())
def test_votes_equal_lite_on_any_crowd(study: pyr.Study) -> None:
    if not len(study.judgments) or all(j.value is None for j in study.judgments):
        return
    votes = unit_votes(study, min_agreement=None)
    table = lite.score(study, min_agreement=None)
    ours = column_means(votes.summary_scores())
    for system, value in zip(votes.systems, ours, strict=True):
        assert (table.value(system, "lite") or 0.0) == pytest.approx(np.nan_to_num(value))


def test_fewer_workers_are_a_draw_of_workers(example: pyr.Study) -> None:
    """One worker a task: the score must be that of re-scoring with one worker drawn from each task."""
    votes = unit_votes(example)
    singles = np.array([votes.with_workers(np.random.default_rng(seed))[0] for seed in range(200)])
    expected = np.nanmean(np.where(np.isnan(votes.answers), np.nan, votes.answers), axis=3)  # a random worker's mean
    per_summary = np.nanmean(expected, axis=2)
    assert singles.mean(axis=0) == pytest.approx(np.nanmean(per_summary, axis=0), abs=0.01)


def test_curves_rise_to_the_full_correlation(example: pyr.Study) -> None:
    gold = pyr.score(example, "pyramid")
    answer = resampling(example, gold, repetitions=30)
    for over, size in (("units", 32), ("topics", 4), ("workers", 5)):
        curve = answer.result.curve(over)
        assert len(curve) == size
        assert (curve[0].mean or 0) < (curve[-1].mean or 0) + 1e-9
        assert (curve[-1].sd or 0.0) == pytest.approx(0, abs=1e-9)
    assert resampling(example, gold, repetitions=30).result == answer.result
    assert resampling(example, gold, repetitions=30, seed=1).result != answer.result


def test_the_full_evaluation_correlates_with_itself(example: pyr.Study) -> None:
    answer = resampling(example, over=("topics",), repetitions=5)
    assert answer.result.curve("topics")[-1].mean == pytest.approx(1.0)


def table(values: dict[str, float]) -> ScoreTable:
    return ScoreTable.of_summaries([Score("t", s, "m", v) for s, v in values.items()], Signature.of("test"))


def test_relative_change_by_hand() -> None:
    # .5 to .6 is 20%, .4 to .3 is 25%, 0 has no relative change: mean 22.5%.
    answer = rerun(table({"a": 0.5, "b": 0.4, "c": 0.0}), table({"a": 0.6, "b": 0.3, "c": 0.1}))
    assert answer.result.mean_change == pytest.approx(0.225)
    assert any("scored 0 first: c" in str(note) for note in answer.notes)


def test_the_topic_of_least_agreement_is_dropped(example: pyr.Study) -> None:
    gold = pyr.score(example, "pyramid")
    answer = drop_topics(example, gold, share=0.25)
    assert answer.result.dropped == (answer.result.topics[0][0],)
    kept = np.array([topic != answer.result.dropped[0] for topic in example.judgments.topic])
    left = replace(example, judgments=take(example.judgments, kept))
    scores = lite.score(left, min_agreement=0.0).per_system("lite")  # workers were screened on all topics
    assert answer.result.after[0].n == len(scores)
    with pytest.raises(pyr.UsageError, match="nothing is dropped"):
        drop_topics(example, gold, share=0.01)
