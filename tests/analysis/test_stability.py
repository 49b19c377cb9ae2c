"""Stability: sub-pyramids against the scoring method itself, curves against plain re-scoring, runs by hand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from scipy import stats
from tests.strategies import crowds

import pyramidion as pyr
from pyramidion.analysis import drop_topics, pyramid_size, rerun, resampling
from pyramidion.analysis.inputs import column_means
from pyramidion.analysis.votes import unit_votes
from pyramidion.scoring import lite, pyramid
from pyramidion.study import Score, ScoreTable, Signature


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


def _many_references(number: int, seed: int = 0) -> pyr.Study:
    """A topic with many references, whose content units are drawn at random; each reference is also annotated as a
    peer of another name, so that the method itself can score it."""
    rng = np.random.default_rng(seed)
    names = [f"R{n:02}" for n in range(number)]
    told = {f"u{n}": [name for name in names if rng.random() < rng.choice([0.15, 0.7])] for n in range(14)}
    told = {unit: said for unit, said in told.items() if said}
    units = tuple(pyr.ContentUnit(u, u, tuple(pyr.Contributor(r) for r in said)) for u, said in told.items())
    return pyr.Study(
        topics=(pyr.Topic("t"),),
        summaries=tuple(pyr.Summary("t", f"as-{name}", "text") for name in names),
        pyramids=(pyr.Pyramid("t", tuple(names), units),),
        judges=(pyr.Judge("e", "expert"),),
        judgments=pyr.Judgments(
            [pyr.Judgment("t", f"as-{r}", "e", float(r in said), unit=u) for r in names for u, said in told.items()]
        ),
    )


def _score(study: pyr.Study, references: Collection[str], reference: str) -> float | None:
    """The modified score of a reference by a pyramid of some others, by the scoring method."""
    smaller = study.pyramids[0].restricted_to(references)
    kept = {unit.id for unit in smaller.units}
    judgments = pyr.Judgments([j for j in study.judgments if j.unit in kept])
    table = pyramid.score(replace(study, pyramids=(smaller,), judgments=judgments), measures=["modified"])
    return table.value(f"as-{reference}", "modified", "t")


def test_the_papers_design_ranks_five_references_by_the_rest() -> None:
    """Nenkova et al. 2007, Table II: five of ten summaries at random, pyramids of all subsets of the other five, and
    the ranking by each compared with that by the pyramids of size nine."""
    study = _many_references(10)
    answer = pyramid_size(study, held_out="five", seed=4)
    (held,) = answer.result.topics
    assert [row.pyramids for row in answer.result.rows] == [5, 10, 10, 5, 1]
    assert [row.ranked for row in answer.result.rows] == [5] * 5
    assert len({*held.summaries, *held.references}) == 10
    names = set(study.pyramids[0].references)
    full = [_score(study, names - {name}, name) for name in held.summaries]
    assert held.full == pytest.approx(full)
    subsets = [some for n in range(1, 6) for some in combinations(held.references, n)]
    rank: dict[int, list[float]] = {}
    for place, some in enumerate(subsets):
        expected = [_score(study, some, name) for name in held.summaries]
        assert held.scores[:, place] == pytest.approx(expected)
        rank.setdefault(len(some), []).append(float(stats.spearmanr(expected, full).statistic))
    for row in answer.result.rows:
        assert row.spearman == pytest.approx(np.nanmean(rank[row.references]))
    assert not answer.notes  # nothing to warn of: five are ranked
    assert "|held:five|draws:1|" in str(answer.signature)


def test_five_are_drawn_by_the_seed_and_nothing_else() -> None:
    study = _many_references(8)
    base = study.pyramids[0]
    turned = replace(base, references=base.references[::-1], units=base.units[::-1])
    one, other = (pyramid_size(s, held_out="five", seed=1) for s in (study, replace(study, pyramids=(turned,))))
    assert one.result.topics[0].summaries == other.result.topics[0].summaries
    assert one.result.rows == other.result.rows
    chosen = {pyramid_size(study, held_out="five", seed=seed).result.topics[0].summaries for seed in range(8)}
    assert len(chosen) > 3
    several = pyramid_size(study, held_out="five", draws=6)
    assert [row.pyramids for row in several.result.rows] == [18, 18, 6]  # subsets of three, six times
    assert "1 topic:" in several.sentence


def test_sub_pyramids_that_are_drawn_do_not_depend_on_the_order_of_references() -> None:
    study = _many_references(7)
    base = study.pyramids[0]
    turned = replace(study, pyramids=(replace(base, references=base.references[::-1]),))
    for held_out in ("peers", "references", "five"):
        one, other = (pyramid_size(s, held_out=held_out, most=2).result.rows for s in (study, turned))  # type: ignore[arg-type]
        assert one == other


def test_rankings_of_fewer_than_five_are_warned_of(example: pyr.Study) -> None:
    assert not pyramid_size(example).notes  # six peers
    answer = pyramid_size(example, held_out="references")
    assert [row.ranked for row in answer.result.rows] == [3, 2, 1]
    # Two summaries are no ranking: every correlation would be 1 or -1.
    assert [row.spearman is None for row in answer.result.rows] == [False, True, True]
    assert any("pyramids of 1, 2, 3 references: rank as few as 1 held-out summary" in str(n) for n in answer.notes)
    few = pyramid_size(_small({"x": "u", "y": "v", "z": ""}))
    assert any("rank as few as 3 held-out summaries; the paper ranks 5" in str(note) for note in few.notes)


def test_too_few_references_for_five(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="no topic has the 6 references that holding five out takes"):
        pyramid_size(example, held_out="five")
    with pytest.raises(pyr.UsageError, match="drawn at least once, not 0 times"):
        pyramid_size(example, held_out="five", draws=0)


def test_score_ranges_by_hand() -> None:
    # By A alone: units u, v of weight 1, X_a = 2: x (u) 1/2, y (v) 1/2. By B alone: u, w: x 1/2, y 0. By both: weights
    # 2, 1, 1, Max(2) = 3: x 2/3, y 1/3.
    found = pyramid_size(_small({"x": "u", "y": "v"})).result
    assert [(r.summary, r.references, r.pyramids, r.least, r.mean, r.greatest) for r in found.ranges] == [
        ("x", 1, 2, 0.5, 0.5, 0.5),
        ("x", 2, 1, pytest.approx(2 / 3), pytest.approx(2 / 3), pytest.approx(2 / 3)),
        ("y", 1, 2, 0.0, 0.25, 0.5),
        ("y", 2, 1, pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(1 / 3)),
    ]


def test_every_summary_and_size_has_its_range(example: pyr.Study) -> None:
    answer = pyramid_size(example)
    table = answer.tables[1]
    assert len(table.rows) == 4 * 6 * 4  # topics x peers x sizes
    for row in table.records():
        assert row["minimum"] <= row["mean"] <= row["maximum"]  # type: ignore[operator]
    held = answer.result.topics[0]
    of_one = [r for r in answer.result.ranges if (r.topic, r.summary) == (held.topic, held.summaries[0])]
    assert [r.greatest for r in of_one][-1] == pytest.approx(held.full[0])


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
    left = replace(example, judgments=example.judgments.take(kept))
    scores = lite.score(left, min_agreement=0.0).per_system("lite")  # workers were screened on all topics
    assert answer.result.after[0].n == len(scores)
    with pytest.raises(pyr.UsageError, match="either no topic would be dropped"):
        drop_topics(example, gold, share=0.01)
