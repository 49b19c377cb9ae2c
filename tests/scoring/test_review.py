"""Cases that once gave wrong scores, each by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.scoring.screening import screen
from pyramidion.study import UNMATCHED, Aspect, Judge, Judgment, Judgments, Study


def answers(judge: str, task: str, pattern: str) -> list[Judgment]:
    return [Judgment("t", "s", judge, int(c), unit=f"{task}{i}", task=task) for i, c in enumerate(pattern)]


@pytest.mark.parametrize("first", ["z0", "a0"])
def test_a_mean_of_exactly_one_half_is_not_below_it_whatever_the_names(first: str) -> None:
    # m shares 2/6, 0/4, 4/4 and 2/3 with four partners: the mean is exactly 1/2, in any order of summation.
    partners = {first: ("111111", "110000"), "z1": ("1111", "0000"), "z2": ("1111", "1111"), "z3": ("111", "110")}
    judged = [
        judgment
        for task, (partner, (mine, theirs)) in zip("abcd", partners.items(), strict=True)
        for judgment in answers("m", task, mine) + answers(partner, task, theirs)
    ]
    found = {worker.judge: worker for worker in screen(Judgments(judged)).workers}
    assert found["m"].agreement == 0.5
    assert not found["m"].excluded


def test_one_big_task_does_not_disturb_the_small_ones() -> None:
    big = [Judgment("t", "s", f"w{i}", i % 2, unit="q", task="big") for i in range(60)]
    small = answers("w0", "x", "1100") + answers("w1", "x", "1110")
    found = {worker.judge: worker for worker in screen(Judgments(big + small)).workers}
    # w0: 59 pairs in the big task, 29 of them agree; 1 pair in the small one, 3 of 4 agree.
    assert found["w0"].pairs == 60
    assert found["w0"].agreement == pytest.approx((29 + 0.75) / 60)


def test_a_judge_twice_in_a_cell_is_no_pair_with_themselves() -> None:
    twice = [*answers("a", "k", "1"), *answers("a", "k", "1"), *answers("b", "k", "0")]
    assert {w.judge: w.agreement for w in screen(Judgments(twice)).workers} == {"a": 0.0, "b": 0.0}


def study(*judgments: Judgment) -> Study:
    def unit(name: str) -> tuple[pyr.ContentUnit, ...]:
        return (pyr.ContentUnit(name, "", (pyr.Contributor("A"),)),)

    return Study(
        topics=(pyr.Topic("t"), pyr.Topic("t2")),
        summaries=tuple(pyr.Summary(t, s, "text") for t in ("t", "t2") for s in ("a", "b")),
        pyramids=(pyr.Pyramid("t", ("A",), unit("e"), "expert"), pyr.Pyramid("t", ("A",), unit("m"), "auto")),
        judges=(Judge("eve", "expert"), Judge("model", "model")),
        judgments=Judgments(judgments),
        aspects=(Aspect("overall", 0, 10),),
    )


def test_unmatched_content_is_counted_by_those_who_judged_this_pyramid() -> None:
    judged = study(
        Judgment("t", "a", "eve", 1, unit="e"),
        Judgment("t", "a", "eve", 0, aspect=UNMATCHED),
        Judgment("t", "a", "model", 1, unit="m"),
        Judgment("t", "a", "model", 3, aspect=UNMATCHED),
    )
    assert pyr.score(judged, "pyramid", pyramid="auto").value("a", "precision") == 1 / 4
    assert pyr.score(judged, "pyramid", pyramid="expert").value("a", "precision") == 1.0


def test_comparisons_are_no_ratings() -> None:
    judged = study(
        Judgment("t", "a", "eve", 9, aspect="overall"),
        Judgment("t", "a", "eve", 0, aspect="overall", other="b"),
    )
    assert pyr.score(judged, "responsiveness").value("a", "overall") == 9.0


def test_means_over_different_topics_are_never_silent() -> None:
    judged = study(
        Judgment("t", "a", "eve", 9, aspect="overall"),
        Judgment("t2", "a", "eve", 1, aspect="overall"),
        Judgment("t", "b", "eve", 9, aspect="overall"),
        Judgment("t2", "b", "eve", None, aspect="overall"),
    )
    notes = [str(note) for note in pyr.score(judged, "responsiveness").notes]
    assert notes == ["topic t2: overall is undefined for: b"]


def test_references_with_hardly_a_unit_set_no_standard() -> None:
    # Three references, one unit of weight 1: X_a = floor(1/3 + 1/2) = 0, so modified is undefined for everybody.
    unit = pyr.ContentUnit("u", "", (pyr.Contributor("A"),))
    judged = replace(
        study(Judgment("t", "a", "eve", 1, unit="u"), Judgment("t", "b", "eve", 0, unit="u")),
        pyramids=(pyr.Pyramid("t", ("A", "B", "C"), (unit,)),),
    )
    table = pyr.score(judged, "pyramid")
    assert (table.value("a", "modified", "t"), table.value("b", "modified", "t")) == (None, None)


def test_one_vote_a_judge() -> None:
    twice = study(Judgment("t", "a", "eve", 1, unit="e", task="k1"), Judgment("t", "a", "eve", 1, unit="e", task="k2"))
    assert any("judged twice by the same judge" in problem.what for problem in twice.problems())


def test_a_unit_counted_twice_is_present_once_in_a_mean() -> None:
    judged = study(Judgment("t", "a", "eve", 2, unit="e"), Judgment("t", "a", "model", 0, unit="e"))
    table = pyr.score(judged, "lite", pyramid="expert", aggregate="mean", judges="all", min_agreement=None)
    assert table.value("a", "lite") == 0.5
