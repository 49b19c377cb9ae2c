"""Two annotations of the same peers."""

from __future__ import annotations

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis import reliability
from pyramidion.model import (
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
from pyramidion.stats.alpha import alpha

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


def test_one_annotator_is_not_enough(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="annotated by annotator only"):
        reliability(example)
    with pytest.raises(pyr.UsageError, match="no peer was annotated twice"):
        reliability(annotated({"ann": {"x": FIRST["x"]}, "bob": {"y": SECOND["y"]}}))
