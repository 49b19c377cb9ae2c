"""Judges against experts: known bias and scale come out, and adjusting helps where it can."""

from __future__ import annotations

import numpy as np
import pytest

import pyramidion as pyr
from pyramidion.analysis import calibrate
from pyramidion.study import Aspect, Judge, Judgment, Judgments, Score, ScoreTable, Signature, Study


def crowd(noise: float = 0.3, items: int = 40, experts: bool = True) -> tuple[Study, np.ndarray]:
    """A harsh judge with a narrow scale, and a fair one; experts know the truth."""
    rng = np.random.default_rng(4)
    truth = rng.uniform(2, 9, items)
    seen = {"harsh": 1 + 0.5 * truth, "fair": truth, **({"expert": truth} if experts else {})}
    judgments = [
        Judgment(f"t{i}", "s", judge, float(v + (0 if judge == "expert" else noise * rng.normal())), aspect="q")
        for judge, values in seen.items()
        for i, v in enumerate(values)
    ]
    judges = tuple(Judge(name, "expert" if name == "expert" else "crowd") for name in seen)
    return Study(judges=judges, judgments=Judgments(judgments), aspects=(Aspect("q", -5, 15),)), truth


def test_bias_and_scale_come_out() -> None:
    study, truth = crowd(noise=0.0)
    found = {judge.judge: judge for judge in calibrate(study).result.judges}
    assert set(found) == {"harsh", "fair"}
    assert found["harsh"].bias == pytest.approx(np.mean(1 - 0.5 * truth))
    assert found["harsh"].scale == pytest.approx(0.5)
    assert found["harsh"].r == pytest.approx(1.0)
    assert (found["fair"].bias, found["fair"].error) == (pytest.approx(0), pytest.approx(0))


def test_adjusted_scores_undo_the_judges() -> None:
    study, truth = crowd(noise=0.0)
    adjusted = calibrate(study).result.adjusted
    assert [adjusted.value("s", "q", f"t{i}") for i in range(40)] == pytest.approx(truth.tolist())


def test_the_error_with_items_left_out_by_refitting() -> None:
    study, truth = crowd()
    found = next(judge for judge in calibrate(study).result.judges if judge.judge == "harsh")
    own = np.array([j.value for j in study.judgments if j.judge == "harsh"])
    missed = []
    for out in range(len(own)):
        rest = np.arange(len(own)) != out
        slope, intercept = np.polyfit(own[rest], truth[rest], 1)
        missed.append(abs(truth[out] - slope * own[out] - intercept))
    assert found.adjusted_error == pytest.approx(np.mean(missed))
    assert found.error is not None
    assert found.adjusted_error < found.error / 2


def test_a_table_of_expert_scores_serves_as_well() -> None:
    study, truth = crowd()
    gold = ScoreTable.of_summaries(
        [Score(f"t{i}", "s", "q", float(v)) for i, v in enumerate(truth)], Signature.of("gold")
    )
    without, _ = crowd(experts=False)
    inside, outside = calibrate(study).result, calibrate(without, gold).result
    assert [j.bias for j in inside.judges] == pytest.approx([j.bias for j in outside.judges])


def test_few_shared_items_only_shift() -> None:
    study, _ = crowd(items=3)
    answer = calibrate(study)
    assert all(judge.slope == 1.0 for judge in answer.result.judges)
    assert any("only 3 summaries" in str(note) for note in answer.notes)


def test_who_the_experts_are_must_be_clear(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="every judge of overall is one of the experts"):
        calibrate(example)
    with pytest.raises(pyr.UsageError, match="nobody among model rated overall"):
        calibrate(example, experts="model")
    assert calibrate(example, experts="rater1").result.judges[0].judge == "rater2"
