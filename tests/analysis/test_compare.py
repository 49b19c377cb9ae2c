"""Head-to-head votes: circles, strengths and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis import compare
from pyramidion.analysis.compare import Vote, bradley_terry
from pyramidion.study import Judge, Judgment, Judgments, Study

STRENGTH = {"a": 1.0, "b": 0.3, "c": -0.3, "d": -1.0}


def voted(rng: np.random.Generator, topics: int = 8, judges: int = 4) -> Study:
    judgments = [
        Judgment(
            f"t{t}",
            x,
            f"j{j}",
            float(rng.random() < 1 / (1 + np.exp(STRENGTH[y] - STRENGTH[x]))),
            aspect="better",
            other=y,
        )
        for t in range(topics)
        for j in range(judges)
        for x in STRENGTH
        for y in STRENGTH
        if x < y
    ]
    return Study(judges=tuple(Judge(f"j{j}") for j in range(judges)), judgments=Judgments(judgments))


def test_strengths_are_those_of_the_model() -> None:
    study = voted(np.random.default_rng(0))
    found = {s.system: s.strength for s in compare(study, resamples=0).result.ranking}
    votes = [Vote(j.topic, j.system, j.other, j.judge, j.system if j.value else j.other) for j in study.judgments]
    assert found == pytest.approx({name: float(np.log(v)) for name, v in bradley_terry(votes).items()})


@pytest.mark.slow
def test_intervals_cover_the_true_strengths() -> None:
    rng = np.random.default_rng(1)
    covered = total = 0
    for _ in range(60):
        for s in compare(voted(rng), resamples=200).result.ranking:
            assert s.interval is not None
            covered += s.interval.low <= STRENGTH[s.system] <= s.interval.high
            total += 1
    # Four strengths of one study hang together, so the error is about that of 60 to 240 trials.
    assert covered / total == pytest.approx(0.94, abs=0.05)


def test_a_judge_who_goes_in_circles_is_found() -> None:
    circle = [("x", "y"), ("y", "z"), ("z", "x")]
    judgments = [Judgment("t", a, "j", 1, aspect="better", other=b) for a, b in circle]
    answer = compare(Study(judges=(Judge("j"),), judgments=Judgments(judgments)))
    assert len(answer.result.violations.by_judge.found) == 1
    assert "contradict themselves in 1 of 1 triple" in answer.sentence
    assert [s.strength for s in answer.result.ranking] == pytest.approx([0, 0, 0], abs=1e-9)


def test_no_votes_is_said(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="no head-to-head votes"):
        compare(example)
