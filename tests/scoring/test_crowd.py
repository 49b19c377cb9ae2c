"""Screening, aggregation and lite scores through their public interfaces, crowd-kit's models included."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion import plugins
from pyramidion.errors import MissingExtraError
from pyramidion.scoring.aggregate import majority, wawa
from pyramidion.study import Judgment, Judgments

TRUTH = {f"u{i:02}": i % 3 == 0 for i in range(40)}


def crowd(adversaries: int, *, careful: int = 5, wrong: float = 1.0) -> Judgments:
    """Some mostly right workers and some who say the opposite, always or as often as given."""
    rng = random.Random(1)
    errors = {f"w{w}": 0.1 for w in range(careful)} | {f"liar{w}": wrong for w in range(adversaries)}
    return Judgments(
        Judgment("t", "s", worker, float(truth != (rng.random() < error)), unit=unit)
        for worker, error in errors.items()
        for unit, truth in TRUTH.items()
    )


def right(judgments: Iterable[Judgment]) -> float:
    return sum((j.value == 1) == TRUTH[j.unit] for j in judgments) / len(TRUTH)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dawid-skene", "mace", "glad"])
def test_models_of_crowd_kit_see_through_liars(name: str) -> None:
    aggregate = plugins.load("aggregators", name)
    judgments = Judgments([*crowd(adversaries=4), Judgment("t", "s", "w0", None, unit="zz")])
    *found, unanswered = aggregate(judgments, tie="absent", seed=0)
    assert (unanswered.unit, unanswered.value) == ("zz", None)
    assert len(found) == len(TRUTH)
    assert {judgment.judge for judgment in found} == {name}
    assert right(found) >= max(0.95, right(majority(crowd(adversaries=4))))
    again = aggregate(Judgments(random.Random(2).sample(list(judgments), len(judgments))), tie="absent", seed=0)
    assert list(again) == [*found, unanswered]


def test_dawid_and_skene_go_on_until_nothing_moves() -> None:
    # Four who are wrong in 70% against three who are wrong in 10%: a few rounds are not enough to tell who is who.
    judgments = crowd(4, careful=3, wrong=0.7)
    assert right(majority(judgments)) < 0.8
    assert right(plugins.load("aggregators", "dawid-skene")(judgments, tie="absent", seed=0)) == 1


def answers(**by_worker: str) -> Judgments:
    """One answer per unit and worker: 1 present, 0 absent, a dot for none."""
    return Judgments(
        Judgment("t", "s", worker, None if value == "." else float(value), unit=f"u{place}")
        for worker, row in by_worker.items()
        for place, value in enumerate(row)
    )


def shown(judgments: Iterable[Judgment]) -> str:
    return "".join("." if j.value is None else f"{j.value:g}" for j in judgments)


def test_wawa_by_hand() -> None:
    # The majority of a, b and c is 1, 1, 0, 0, 0; on u5 c and d tie. a and b agree with it on 5 of 5 units.
    judgments = answers(a="11000.", b="11000.", c="000111", d="...000")
    assert shown(majority(judgments)) == "110000"
    assert shown(majority(judgments, tie="present")) == "110001"
    # With ties present c agrees on u2 and u5 (2 of 6), d on u3 and u4 (2 of 3): on u5 2/3 for absent outweigh 1/3.
    assert shown(wawa(judgments, tie="present")) == "110000"
    # An answer nobody gave is missing and counts for nobody's skill.
    assert shown(wawa(answers(a="1.", b="1.", c="0."))) == "1."


def test_wawa_weighs_two_poor_workers_below_a_good_one() -> None:
    # a, b, e agree on u0 to u5 (5 voters, 3 of them right): a, b and e have skill 6/6 there, c and d 0/6.
    # On u6 a says 1, c and d say 0: the majority is 0, so a has 6/7, c and d 1/7 each, and 6/7 > 2/7.
    judgments = answers(a="1111111", b="111111.", e="111111.", c="0000000", d="0000000")
    assert shown(majority(judgments)) == "1111110"
    assert shown(wawa(judgments)) == "1111111"
    assert {j.judge for j in wawa(judgments)} == {"wawa"}


def test_equal_skills_are_a_tie() -> None:
    tied = answers(a="10", b="10", c="10", d="01", e="01", f="01")
    assert (shown(wawa(tied)), shown(wawa(tied, tie="present"))) == ("00", "11")


def test_the_lite_signature_names_wawa(example: pyr.Study) -> None:
    table = pyr.score(example, "lite", aggregate="wawa", min_agreement=None)
    assert "|aggregate:wawa|" in str(table.signature)
    # Wawa sees through the two careless workers that screening would exclude.
    assert table.per_system("lite") != pyr.score(example, "lite", min_agreement=None).per_system("lite")


@pytest.mark.parametrize("name", ["majority", "mean", "wawa", "dawid-skene", "mace", "glad"])
def test_unanswered_questions_stay_missing_in_every_aggregator(name: str) -> None:
    aggregate = plugins.load("aggregators", name)
    (found,) = aggregate(Judgments([Judgment("t", "s", "w0", None, unit="zz")]), tie="absent", seed=0)
    assert found == Judgment("t", "s", name, None, unit="zz")
    assert aggregate(Judgments(), tie="absent", seed=0) == Judgments()


@pytest.mark.parametrize("name", ["dawid-skene", "mace", "glad"])
def test_without_crowd_kit_the_error_names_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)  # how Python spells "cannot be imported"
    with pytest.raises(MissingExtraError, match=r"pip install 'pyramidion-eval\[crowd\]'"):
        plugins.load("aggregators", name)(crowd(0), tie="absent", seed=0)


def test_aggregated_judgments_score_like_any_others(example: pyr.Study) -> None:
    table = pyr.score(example, "lite", aggregate="dawid-skene", min_agreement=None)
    assert next(system for system, _ in table.ranking("lite")) == "paraphrase"


def test_an_agreement_just_below_the_minimum_is_not_rounded_up_to_it() -> None:
    # w1 agrees with the other on 1,249 of 2,500 units: 0.4996.
    units = tuple(pyr.ContentUnit(f"u{n}", "", (pyr.Contributor("A"),)) for n in range(2500))
    judgments = [Judgment("t", "s", "w0", 1.0, unit=unit.id) for unit in units]
    judgments += [Judgment("t", "s", "w1", float(n < 1249), unit=unit.id) for n, unit in enumerate(units)]
    study = pyr.Study(
        topics=(pyr.Topic("t"),),
        summaries=(pyr.Summary("t", "s", "text"),),
        pyramids=(pyr.Pyramid("t", ("A",), units, "crowd"),),
        judges=(pyr.Judge("w0"), pyr.Judge("w1")),
        judgments=Judgments(judgments),
    )
    with pytest.raises(pyr.InputError, match=r"agreement 0\.4996 over 1 pairs is below 0\.5"):
        pyr.score(study, "lite")


def test_every_excluded_worker_is_named_with_the_reason(example: pyr.Study) -> None:
    notes = [str(note) for note in pyr.score(example, "lite").notes]
    assert notes == [
        "judge worker7: excluded in round 1: agreement 0.369 over 76 pairs is below 0.5",
        "judge worker8: excluded in round 1: agreement 0.150 over 76 pairs is below 0.5",
    ]


def test_a_worker_is_unchecked_only_beside_others(example: pyr.Study) -> None:
    others = [judgment for judgment in example.judgments if judgment.judge in {"worker1", "worker2"}]
    alone = replace(example, judgments=Judgments(j for j in others if j.judge == "worker1"))
    assert not [note for note in pyr.score(alone, "lite").notes if "without a check" in note.what]
    apart = replace(example, judgments=Judgments(j for j in others if (j.judge == "worker1") == (j.system == "lead")))
    notes = [str(note) for note in pyr.score(apart, "lite").notes if "without a check" in note.what]
    assert notes == [
        f"judge {name}: kept without a check: shares no task with another worker" for name in ("worker1", "worker2")
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
