"""Which method a study is scored by where nobody names one: that of the people who judged it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.judging import judge_study
from pyramidion.scoring.methods import fitting_method, fitting_methods
from pyramidion.study import UNMATCHED, Judge, Judgment, Judgments, Study


def judged_by(*kinds: str) -> Study:
    """The example with its judgments on units cut down to those of some kinds of judges, and without ratings."""
    whole = pyr.example()
    known = {judge.id for judge in whole.judges if judge.kind in kinds}
    return replace(whole, judgments=Judgments(j for j in whole.judgments if j.judge in known and not j.aspect))


@pytest.mark.parametrize(
    ("kinds", "best"),
    [(("expert", "crowd"), "pyramid"), (("expert",), "pyramid"), (("crowd",), "lite"), ((), "rouge")],
)
def test_units_are_for_the_method_of_those_who_judged_them(kinds: tuple[str, ...], best: str) -> None:
    study = judged_by(*kinds)
    assert fitting_methods(study)[0] == best
    assert sorted(fitting_methods(study)) == ["lite", "pyramid", "responsiveness", "rouge"]
    assert pyr.score(study).signature == pyr.score(study, best).signature


def test_ratings_go_before_words_but_votes_are_no_ratings() -> None:
    whole = pyr.example()
    rated = Judgments(j for j in whole.judgments if j.aspect and j.aspect != UNMATCHED)
    assert fitting_methods(replace(whole, judgments=rated))[0] == "responsiveness"
    vote = Judgment("museum-theft", "lead", "v", 1.0, aspect="preference", other="vague")
    voted = replace(whole, judges=(Judge("v", "crowd"),), judgments=Judgments([vote]))
    assert fitting_methods(voted)[0] == "rouge"


def test_a_choice_that_only_one_method_has_decides() -> None:
    study = pyr.example()
    assert fitting_method(study, {"clip": True}) == "pyramid"
    assert fitting_method(study, {"tie": "present"}) == "lite"
    assert fitting_method(study, {"stem": True}) == "rouge"
    assert pyr.score(study, tie="present").signature == pyr.score(study, "lite", tie="present").signature


@pytest.mark.parametrize(("pyramid", "best"), [("crowd", "lite"), ("expert", "pyramid")])
def test_what_a_model_judged_is_scored_without_further_words(pyramid: str, best: str) -> None:
    """The crowd's units all weigh 1; the experts' have weights, of which a probability counts in part."""
    bare = replace(pyr.example(), judges=(), judgments=Judgments())
    found = judge_study(bare, pyramid=pyramid)
    table = pyr.score(found.study)
    assert table.signature.method == best
    assert dict(table.signature.choices)["pyramid"] == pyramid
    if best == "lite":
        assert table.per_system("lite") == pytest.approx(found.table.per_system("lite"))


def test_a_pyramid_that_is_named_is_scored_by_the_method_of_its_judges() -> None:
    table = pyr.score(pyr.example(), pyramid="crowd")
    assert table.per_system("lite") == pyr.score(pyr.example(), "lite").per_system("lite")
