"""What the analyses must find in published data.

Skipped, and said so, where the data may not be part of this repository and is not beside the checkout.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.analysis import agreement, correlate, significance, tukey
from pyramidion.analysis.sources import read_source

TOPICS = ("D407", "D632", "D654", "D393", "D391", "D400", "D366", "D422", "D683", "D376")
"""The DUC 2005 topics of Shapira et al. 2019."""
AUTOMATIC = ("[0-9]*",)


@pytest.fixture
def manual(real_data: Path) -> pyr.ScoreTable:
    return pyr.read_scores(real_data / "litepyramids-2005" / "2005ManualScoresAvg.csv")


@pytest.fixture
def likert(real_data: Path) -> pyr.Study:
    study = read_source(real_data / "likert-coherence" / "likert_coherence_cnn_dm.csv")
    assert isinstance(study, pyr.Study)
    return study


def test_duc_2005_pyramid_and_responsiveness(manual: pyr.ScoreTable) -> None:
    found = correlate(manual, gold="pyramid", systems=AUTOMATIC, topics=TOPICS, resamples=0).result
    assert (found.systems, found.topics) == (25, 10)
    assert found.of("responsiveness").r == pytest.approx(0.8120, abs=5e-5)
    assert found.of("responsiveness", kind="spearman").r == pytest.approx(0.7673, abs=5e-5)


def test_duc_2005_pyramid_and_rouge(manual: pyr.ScoreTable, real_data: Path) -> None:
    rouge = pyr.read_scores(real_data / "litepyramids-2005" / "2005RougeScoresAvg.csv")
    choices = {"systems": AUTOMATIC, "means": "given", "levels": ["system"], "kinds": ["pearson"], "resamples": 0}
    found = correlate([manual, rouge], gold="pyramid", metrics=["ROUGE-2 recall", "ROUGE-SU4 recall"], **choices)
    assert found.result.of("ROUGE-2 recall").r == pytest.approx(0.861, abs=5e-4)
    assert found.result.of("ROUGE-SU4 recall").r == pytest.approx(0.835, abs=5e-4)
    peers = [system for system in manual.systems if system.isdigit()]
    between = correlate(rouge, gold="ROUGE-2 recall", metrics=["ROUGE-SU4 recall"], **{**choices, "systems": peers})
    assert between.result.of("ROUGE-SU4 recall").r == pytest.approx(0.982, abs=5e-4)


def test_duc_2005_one_way_tukey(manual: pyr.ScoreTable) -> None:
    found = tukey(manual, measure="pyramid", factors=(), systems=AUTOMATIC).result
    assert (len(found.significant), len(found.pairs)) == (4, 300)
    paired = significance(manual, measure="pyramid", systems=AUTOMATIC, test="wilcoxon").result
    assert len(paired.significant) > 4  # topics differ much, so pairing them finds more


def test_likert_coherence(likert: pyr.Study) -> None:
    found = agreement(likert).result
    assert (len(found.judges), len(found.topics)) == (60, 100)
    by_factor = {part.factor: part.r2 for part in found.explained}
    assert by_factor == pytest.approx({"judge": 0.252, "topic": 0.126, "system": 0.113}, abs=5e-4)
    # One answer per item, 200 removals: judges explain more than topics. Of the first answers alone they explain .180
    # and .292, which turns the conclusion of Gillick and Liu's Table 4 around.
    single = {part.factor: part.r2_single for part in found.explained}
    assert single == pytest.approx({"judge": 0.313, "topic": 0.229, "system": 0.116}, abs=3e-3)
    for part in found.explained:
        assert part.single is not None
        assert part.single.low < single[part.factor] < part.single.high
    assert [d.pairs for d in found.differences] == [294, 489, 328, 218, 117, 45, 9]
    assert found.judge_means == (pytest.approx(2.04), pytest.approx(6.72))
    assert found.pair_difference == pytest.approx(1.70, abs=5e-3)


def test_likert_coherence_tukey(likert: pyr.Study) -> None:
    answer = tukey(likert)
    assert (len(answer.result.significant), len(answer.result.pairs)) == (9, 10)
    assert any("rank-deficient" in str(note) for note in answer.notes)


def test_qapyramid_alpha(qapyramid: Path) -> None:
    study = read_source(qapyramid)
    assert isinstance(study, pyr.Study)
    found = agreement(study, resamples=200).result
    assert found.alpha.value == pytest.approx(0.648, abs=5e-4)
    assert found.alpha.interval is not None
    assert found.alpha.interval.low < 0.648 < found.alpha.interval.high
    assert len(found.judges) == 16
