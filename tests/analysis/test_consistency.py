"""Assessors: identical summaries, autoPyramid differences, what leaving out the worst does, the trained metric."""

from __future__ import annotations

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis import consistency, trained_metric
from pyramidion.analysis.consistency import identical_summaries
from pyramidion.stats.alpha import alpha
from pyramidion.study import Aspect, Judge, Judgment, Judgments, Score, ScoreTable, Signature, Study, Summary, Topic

NOISE = {"steady": 0.2, "fair": 1.0, "wild": 3.0}


def year(seed: int, topics: int = 15, systems: int = 10) -> tuple[Study, ScoreTable]:
    """Three assessors share the topics; systems 0 and 1 send in the same text; a metric follows the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=systems)
    truth[1] = truth[0]
    judgments, summaries, scores = [], [], []
    for t in range(topics):
        assessor = list(NOISE)[t % 3]
        today = truth + rng.normal(size=systems)  # how well each does on this topic
        today[1] = today[0]
        for s in range(systems):
            quality = 5 + today[s]
            judgments.append(
                Judgment(
                    f"t{t}", f"s{s}", assessor, round(quality + NOISE[assessor] * rng.normal(), 2), aspect="overall"
                )
            )
            summaries.append(Summary(f"t{t}", f"s{s}", f"text  {max(s, 1)}" if s else "text 1 "))
            scores.append(Score(f"t{t}", f"s{s}", "metric", float(quality + 0.5 * rng.normal())))
            scores.append(Score(f"t{t}", f"s{s}", "junk", float(rng.normal())))
    study = Study(
        topics=tuple(Topic(f"t{t}") for t in range(topics)),
        summaries=tuple(summaries),
        judges=tuple(Judge(name, "expert") for name in NOISE),
        judgments=Judgments(judgments),
        aspects=(Aspect("overall", -20, 30),),
    )
    return study, ScoreTable.of_summaries(scores, Signature.of("test"))


def test_identical_summaries_ignore_whitespace() -> None:
    study, _ = year(0)
    assert identical_summaries(study) == tuple((f"t{t}", ("s0", "s1")) for t in sorted(range(15), key=str))


def test_assessors_are_ranked_by_their_noise() -> None:
    study, _ = year(0, topics=60)
    found = consistency(study).result
    assert found.ranking("overall") == ["steady", "fair", "wild"]
    gaps = {a.assessor: a.difference for a in found.assessors}
    # Two draws of the same normal noise differ by 2 / sqrt(pi) of its spread on average.
    assert gaps == pytest.approx({name: 2 / np.sqrt(np.pi) * noise for name, noise in NOISE.items()}, rel=0.35)


def test_alpha_is_that_of_the_pairs() -> None:
    study, _ = year(3)
    found = next(a for a in consistency(study).result.assessors if a.assessor == "wild")
    pairs = [(j.topic, j.value) for j in study.judgments if j.judge == "wild" and j.system in ("s0", "s1")]
    topics = [topic for topic, _ in pairs]
    expected = alpha(np.unique(topics, return_inverse=True)[1], [v for _, v in pairs], distance="ordinal")  # type: ignore[misc]
    assert (found.alpha, found.groups) == (pytest.approx(expected.value), 5)


def test_leaving_out_the_worst_helps_the_metric_on_summaries() -> None:
    study, metric = year(1, topics=30)
    result = consistency(study, metric, kinds=("pearson",)).result
    by = {(e.level, e.metric, e.k): e for e in result.exclusions}
    assert by["ranking", "", 1].excluded == ("wild",)
    assert (by["ranking", "", 1].r or 0) > 0.8
    summary = by["summary", "metric", 1]
    assert summary.r is not None
    assert summary.before is not None
    assert summary.r > summary.before
    # By hand: the mean over the two kept assessors of the correlation over their summaries.
    cells = metric.per_summary("metric")
    each = []
    for name in ("steady", "fair"):
        held = [(j.value, cells[j.topic, j.system]) for j in study.judgments if j.judge == name]
        each.append(np.corrcoef(np.array(held, dtype=float).T)[0, 1])
    assert summary.r == pytest.approx(np.mean(each))


def test_years_are_joined_by_assessor() -> None:
    one, two = (year(seed)[0] for seed in (4, 5))
    together = consistency({"2010": one, "2011": two}).result
    assert together.identical == 30
    assert next(a for a in together.assessors if a.assessor == "wild").groups == 10


def test_auto_pyramid_of_the_example(example: pyr.Study) -> None:
    answer = consistency(example)
    (auto,) = answer.result.auto
    assert auto.assessor == "annotator"
    assert len(auto.topics) == 4
    assert auto.difference == pytest.approx(np.mean([gap for _, gap in auto.topics]))
    assert any("no topic has two identical ones" in str(note) for note in answer.notes)


def test_a_missed_repetition_lowers_manual_below_auto() -> None:
    # x and y say the same sentence; the annotator marked it in x only. auto finds it in y: manual - auto = -1 there.
    text = "The dam broke."
    units = (pyr.ContentUnit("u", "The dam broke", (pyr.Contributor("A"),)),)
    judgments = [
        Judgment("t", "x", "ann", 1, unit="u", evidence=((pyr.Span(0, 13),),)),
        Judgment("t", "y", "ann", 0, unit="u"),
    ]
    study = Study(
        topics=(Topic("t"),),
        summaries=(Summary("t", "x", text), Summary("t", "y", f"Reports say: {text}")),
        pyramids=(pyr.Pyramid("t", ("A",), units),),
        judges=(Judge("ann", "expert"),),
        judgments=Judgments(judgments),
    )
    (auto,) = consistency(study).result.auto
    assert {system: gap for _, system, gap in auto.summaries} == {"x": 1.0, "y": -1.0}


def test_nobody_to_rank_is_said() -> None:
    with pytest.raises(pyr.UsageError, match="nobody annotated a pyramid"):
        consistency(Study())


def three_years() -> tuple[dict[str, Study], dict[str, ScoreTable]]:
    made = {str(2009 + i): year(20 + i, topics=24) for i in range(3)}
    return {y: study for y, (study, _) in made.items()}, {y: table for y, (_, table) in made.items()}


def test_the_trained_metric_takes_the_useful_feature() -> None:
    studies, features = three_years()
    answer = trained_metric(studies, target="overall", features=features, exclude=(1, 2))
    whole, less, least = answer.result
    assert "metric" in whole.features
    assert whole.candidates == 9
    assert (whole.r() or 0) > 0.9
    assert (less.excluded, least.excluded) == (("wild",), ("wild", "fair"))
    assert "trained without wild" in answer.sentence


def test_the_trained_metric_never_sees_the_third_year() -> None:
    studies, features = three_years()
    first = trained_metric(studies, target="overall", features=features).result[0]
    other = {**studies, "2011": year(99, topics=24)[0]}
    second = trained_metric(other, target="overall", features={**features, "2011": year(99, topics=24)[1]}).result[0]
    assert (first.fit, first.features, first.weights) == (second.fit, second.features, second.weights)


def test_a_trained_metric_needs_three_years() -> None:
    studies, features = three_years()
    with pytest.raises(pyr.UsageError, match="three years"):
        trained_metric({"2009": studies["2009"]}, target="overall", features=features)
    with pytest.raises(pyr.UsageError, match="unknown target 'pyramid'; known values are: overall"):
        trained_metric(studies, features=features)
