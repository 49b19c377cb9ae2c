"""Screening, aggregation and lite scores through their public interfaces, crowd-kit's models included."""

from __future__ import annotations

import random
import sys

import pytest

import pyramidion as pyr
from pyramidion import plugins
from pyramidion.methods.aggregate import majority
from pyramidion.model import Judgment, Judgments

TRUTH = {f"u{i:02}": i % 3 == 0 for i in range(60)}


def crowd(adversaries: int) -> Judgments:
    """Five mostly right workers and some who always say the opposite."""
    rng = random.Random(1)
    careful = [
        Judgment("t", "s", f"w{w}", float(truth != (rng.random() < 0.1)), unit=unit)
        for w in range(5)
        for unit, truth in TRUTH.items()
    ]
    liars = [
        Judgment("t", "s", f"liar{w}", float(not truth), unit=unit)
        for w in range(adversaries)
        for unit, truth in TRUTH.items()
    ]
    return Judgments(careful + liars)


def right(judgments: Judgments) -> float:
    return sum((j.value == 1) == TRUTH[j.unit] for j in judgments) / len(TRUTH)


@pytest.mark.parametrize("name", ["dawid-skene", "mace", "glad"])
def test_models_of_crowd_kit_see_through_liars(name: str) -> None:
    aggregate = plugins.load("aggregators", name)
    judgments = crowd(adversaries=4)
    found = aggregate(judgments, tie="absent", seed=0)
    assert len(found) == len(TRUTH)
    assert set(found.judge) == {name}
    assert right(found) >= max(0.95, right(majority(judgments)))
    again = aggregate(Judgments(random.Random(2).sample(list(judgments), len(judgments))), tie="absent", seed=0)
    assert list(again) == list(found)


@pytest.mark.parametrize("name", ["majority", "mean", "dawid-skene", "mace", "glad"])
def test_unanswered_questions_stay_missing_in_every_aggregator(name: str) -> None:
    judgments = Judgments([*crowd(0), Judgment("t", "s", "w0", None, unit="zz")])
    found = plugins.load("aggregators", name)(judgments, tie="absent", seed=0)
    assert {j.unit: j.value for j in found}["zz"] is None
    assert plugins.load("aggregators", name)(Judgments(), tie="absent", seed=0) == Judgments()


@pytest.mark.parametrize("name", ["dawid-skene", "mace", "glad"])
def test_without_crowd_kit_the_error_names_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)  # how Python spells "cannot be imported"
    with pytest.raises(pyr.MissingExtraError, match=r"pip install 'pyramidion\[crowd\]'"):
        plugins.load("aggregators", name)(crowd(0), tie="absent", seed=0)


def test_aggregated_judgments_score_like_any_others(example: pyr.Study) -> None:
    table = pyr.score(example, "lite", aggregate="dawid-skene", min_agreement=None)
    assert next(system for system, _ in table.ranking("lite")) == "paraphrase"


def test_every_excluded_worker_is_named_with_the_reason(example: pyr.Study) -> None:
    notes = [str(note) for note in pyr.score(example, "lite").notes]
    assert notes == [
        "judge worker7: excluded in round 1: agreement 0.369 over 76 pairs is below 0.5",
        "judge worker8: excluded in round 1: agreement 0.150 over 76 pairs is below 0.5",
    ]


def test_excluding_everybody_leaves_no_score_and_says_so() -> None:
    units = (pyr.ContentUnit("u", "", (pyr.Contributor("A"),)),)
    study = pyr.Study(
        topics=(pyr.Topic("t"),),
        summaries=(pyr.Summary("t", "s", ""),),
        pyramids=(pyr.Pyramid("t", ("A",), units, "crowd"),),
        judges=(pyr.Judge("a"), pyr.Judge("b")),
        judgments=Judgments([Judgment("t", "s", "a", 0, unit="u"), Judgment("t", "s", "b", 1, unit="u")]),
    )
    with pytest.raises(pyr.InputError) as caught:
        pyr.score(study, "lite")
    assert "no summary could be scored" in str(caught.value)
    assert "judge a: excluded in round 1" in str(caught.value)


def test_only_judgments_on_the_chosen_pyramid_count(example: pyr.Study) -> None:
    by_expert = pyr.score(example, "lite", pyramid="expert")
    assert "judges:all" in str(by_expert.signature)  # no crowd worker judged the expert pyramid
    assert by_expert.value("offtopic", "lite") == 0.0
    assert by_expert.value("paraphrase", "lite") == pytest.approx(
        pyr.score(example, "pyramid").value("paraphrase", "recall")
    )
