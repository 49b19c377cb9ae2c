"""Two annotations of the same peers."""

from __future__ import annotations

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis import reliability
from pyramidion.stats.alpha import alpha
from pyramidion.study import (
    UNMATCHED,
    ContentUnit,
    Contributor,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Study,
    Summary,
    Topic,
)

WEIGHTS = {"u1": 3, "u2": 2, "u3": 1, "u4": 1}


def annotated(counts: dict[str, dict[str, list[int]]]) -> Study:
    """``counts[judge][system]`` says how often each of the four units is found."""
    units = tuple(
        ContentUnit(unit, unit, tuple(Contributor(ref) for ref in "ABC"[:weight])) for unit, weight in WEIGHTS.items()
    )
    judgments = []
    for judge, peers in counts.items():
        for system, found in peers.items():
            judgments += [Judgment("t", system, judge, n, unit=unit) for unit, n in zip(WEIGHTS, found, strict=True)]
            judgments.append(Judgment("t", system, judge, 1, aspect=UNMATCHED))
    systems = sorted({system for peers in counts.values() for system in peers})
    return Study(
        topics=(Topic("t"),),
        summaries=tuple(Summary("t", system, "text") for system in systems),
        pyramids=(Pyramid("t", ("A", "B", "C"), units),),
        judges=tuple(Judge(name, "expert") for name in counts),
        judgments=Judgments(judgments),
    )


FIRST = {"x": [1, 1, 0, 0], "y": [1, 0, 2, 0], "z": [0, 0, 0, 1]}
SECOND = {"x": [1, 0, 0, 0], "y": [1, 0, 3, 0], "z": [0, 0, 0, 1]}


def test_alpha_and_scores_by_hand() -> None:
    found = reliability(annotated({"ann": FIRST, "bob": SECOND})).result.overall()[0]
    items = np.repeat(np.arange(12), 2)
    counts = [
        n for a, b in zip(FIRST.values(), SECOND.values(), strict=True) for pair in zip(a, b, strict=True) for n in pair
    ]
    assert found.nominal.value == pytest.approx(alpha(items, counts).value)
    assert found.dice.value == pytest.approx(alpha(items, counts, distance="dice").value)
    # 7 contributors over 3 references: X_a = 2 and Max = 5. ann: 5/5, 4/5, 1/5; bob: 3/5, 4/5, 1/5.
    score = found.score("modified")
    assert score.mean_difference == pytest.approx(0.4 / 3)
    assert score.r == pytest.approx(np.corrcoef([1, 0.8, 0.2], [0.6, 0.8, 0.2])[0, 1])
    assert found.score("original").peers == 3


def test_two_studies_are_two_annotations() -> None:
    one = reliability(annotated({"ann": FIRST, "bob": SECOND})).result.overall()[0]
    two = reliability(annotated({"ann": FIRST}), annotated({"ann": SECOND})).result.overall()[0]
    assert (two.nominal.value, two.scores) == (one.nominal.value, one.scores)
    assert (two.first, two.second) == ("first", "second")


def test_the_same_annotation_twice_is_perfect() -> None:
    answer = reliability(annotated({"ann": FIRST, "bob": FIRST}))
    found = answer.result.overall()[0]
    assert found.dice.value == 1.0
    assert found.score("modified").mean_difference == 0.0
    assert "below the 0.06" in answer.sentence


def doubly_annotated(seed: int, careless: str = "") -> Study:
    """Three annotators of the same six peers of two topics; who is careless finds units at random."""
    rng = np.random.default_rng(seed)
    units = tuple(ContentUnit(f"u{n}", "", (Contributor("A"),)) for n in range(12))
    judgments = []
    for topic in ("t1", "t2"):
        for peer in "pqrstv":
            truth = rng.random(12) < 0.4
            for judge in ("ann", "bob", "cat"):
                wrong = rng.random(12) < (0.5 if judge == careless else 0.05)
                judgments += [
                    Judgment(topic, peer, judge, float(a != b), unit=unit.id)
                    for unit, a, b in zip(units, truth, wrong, strict=True)
                ]
    return Study(
        topics=(Topic("t1"), Topic("t2")),
        summaries=tuple(Summary(topic, peer, "text") for topic in ("t1", "t2") for peer in "pqrstv"),
        pyramids=tuple(Pyramid(topic, ("A",), units) for topic in ("t1", "t2")),
        judges=tuple(Judge(name, "expert") for name in ("ann", "bob", "cat")),
        judgments=Judgments(judgments),
    )


def test_variance_of_agreement_over_annotators_topics_peers_and_units() -> None:
    # Nenkova et al. 2007, section 4.1.2: agreement by annotator pair, set and peer. Against statsmodels.
    import pandas
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    study = doubly_annotated(1, careless="cat")
    found = {part.agreement: part for part in reliability(study, resamples=0).result.variance}
    assert list(found) == ["alpha per peer, nominal", "alpha per peer, Dice", "Dice per unit"]
    values = {(j.judge, j.topic, j.system, j.unit): j.value or 0.0 for j in study.judgments}
    rows = []
    for one, other in (("ann", "bob"), ("ann", "cat"), ("bob", "cat")):
        for topic in ("t1", "t2"):
            for peer in "pqrstv":
                both = [(values[one, topic, peer, f"u{n}"], values[other, topic, peer, f"u{n}"]) for n in range(12)]
                agree = alpha(np.repeat(np.arange(12), 2), np.array(both).ravel()).value
                rows.append({"pair": one + other, "topic": topic, "peer": peer, "y": agree})
    frame = pandas.DataFrame(rows)
    expected = anova_lm(ols("y ~ C(pair) + C(topic) + C(peer)", frame).fit(), typ=2)
    nominal = found["alpha per peer, nominal"]
    assert nominal.values == 36
    for effect, term in zip(nominal.effects, ("C(pair)", "C(topic)", "C(peer)"), strict=True):
        assert effect.f == pytest.approx(expected.loc[term, "F"], rel=1e-9)
        assert effect.p == pytest.approx(expected.loc[term, "PR(>F)"], rel=1e-7)
    by_unit = {effect.factor: effect for effect in found["Dice per unit"].effects}
    assert (by_unit["unit"].levels, by_unit["annotators"].levels) == (24, 3)
    assert by_unit["annotators"].p is not None
    assert by_unit["annotators"].p < 1e-6  # whoever annotates with cat agrees less


def test_where_annotators_are_alike_agreement_does_not_depend_on_them() -> None:
    answer = reliability(doubly_annotated(2), resamples=0)
    effects = {(part.agreement, e.factor): e.p for part in answer.result.variance for e in part.effects}
    assert (effects["Dice per unit", "annotators"] or 0.0) > 0.05
    assert answer.tables[-1].title == "Analysis of variance of agreement"
    assert answer.tables[-1].columns[-2:] == ("p", "share")


def test_one_pair_on_one_topic_leaves_peers_and_units() -> None:
    found = reliability(annotated({"ann": FIRST, "bob": SECOND}), resamples=0).result.variance
    assert [[e.factor for e in part.effects] for part in found] == [["peer"], ["peer"], ["peer", "unit"]]
    assert found[0].effects[0].f is None  # one alpha per peer: nothing is left to test against


def test_one_annotator_is_not_enough(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="annotated only by annotator"):
        reliability(example)
    with pytest.raises(pyr.UsageError, match="no peer was annotated twice"):
        reliability(annotated({"ann": {"x": FIRST["x"]}, "bob": {"y": SECOND["y"]}}))
