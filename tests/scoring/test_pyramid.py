"""The pyramid method on whole studies: choosing judges, joining annotators, what is undefined."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.study import UNMATCHED, Judge, Judgment, Judgments, Study


def small(*judgments: Judgment) -> Study:
    units = tuple(pyr.ContentUnit(f"u{i}", "", (pyr.Contributor("A"), pyr.Contributor("B"))[:i]) for i in (1, 2))
    return Study(
        topics=(pyr.Topic("t"),),
        summaries=(pyr.Summary("t", "x", "text"), pyr.Summary("t", "y", "text")),
        pyramids=(pyr.Pyramid("t", ("A", "B"), units),),
        judges=(Judge("ann", "expert"), Judge("bob", "expert"), Judge("carl", "expert"), Judge("m", "model")),
        judgments=Judgments(judgments),
    )


def unit(judge: str, name: str, value: float | None, system: str = "x") -> Judgment:
    return Judgment("t", system, judge, value, unit=name)


def test_a_consensus_is_what_most_annotators_say_with_ties_to_absent() -> None:
    # u1: 1 1 0 -> 1; u2: 1 0 -> tie -> 0. D = 1; X_a = floor(3/2 + .5) = 2, Max(2) = 3.
    study = small(
        unit("ann", "u1", 1), unit("bob", "u1", 1), unit("carl", "u1", 0), unit("ann", "u2", 1), unit("bob", "u2", 0)
    )
    table = pyr.score(study, "pyramid", measures=["modified"], annotators="consensus")
    assert table.value("x", "modified") == 1 / 3
    assert "annotators:consensus" in str(table.signature)
    # Each alone: D = 3, 1 and 0, of 3.
    assert pyr.score(study, "pyramid", measures=["modified"]).value("x", "modified") == pytest.approx(4 / 9)


def test_one_judge_or_kind_can_be_chosen() -> None:
    study = small(unit("ann", "u1", 1), unit("ann", "u2", 1), unit("m", "u1", 0), unit("m", "u2", 0))
    assert pyr.score(study, "pyramid").value("x", "modified") == 1.0
    assert pyr.score(study, "pyramid", judges="model").value("x", "modified") == 0.0
    assert pyr.score(study, "pyramid", judges="ann").value("x", "modified") == 1.0
    with pytest.raises(pyr.UsageError, match="'zoe'"):
        pyr.score(study, "pyramid", judges="zoe")


def test_without_experts_all_judges_count() -> None:
    study = small(unit("m", "u2", 1), unit("m", "u1", 0))
    table = pyr.score(study, "pyramid")
    assert table.value("x", "modified") == 2 / 3
    assert "judges:all" in str(table.signature)


def test_uncounted_unmatched_content_makes_precision_undefined_and_says_so() -> None:
    table = pyr.score(small(unit("ann", "u1", 1), unit("ann", "u2", 0)), "pyramid")
    assert table.value("x", "original") is None
    assert table.value("x", "precision") is None
    assert any("unmatched content was not counted" in note.what for note in table.notes)
    counted = small(unit("ann", "u1", 1), unit("ann", "u2", 0), Judgment("t", "x", "ann", 1, aspect=UNMATCHED))
    assert pyr.score(counted, "pyramid").value("x", "original") == 1 / 3  # D = 1, X = 2, Max(2) = 3


def test_unjudged_units_and_summaries_are_reported() -> None:
    notes = [str(note) for note in pyr.score(small(unit("ann", "u2", 1), unit("ann", "u1", None)), "pyramid").notes]
    assert "topic t, system x: 1 of 2 units were not judged and count as not expressed" in notes
    assert "topic t: not scored, nothing to score them by: y" in notes


def test_a_value_above_one_is_a_count() -> None:
    with pytest.raises(pyr.InputError, match=r"topic t, system x: value 1\.5 is neither a count nor a degree"):
        pyr.score(small(unit("ann", "u1", 1.5)), "pyramid")


def test_degrees_count_in_part_and_from_a_fifth_on() -> None:
    """Weights 4, 3, 2, 1 of 4 references: D = 4 x 0.75 + 3 x 0.2 = 3.6; 2 x 0.1999 is below a fifth and adds nothing.
    Two units are matched, none unmatched, so X = 2 and Max(2) = 7; X_a = 10/4, rounded to 3, and Max(3) = 9."""
    names = ("A", "B", "C", "D")
    units = tuple(
        pyr.ContentUnit(f"u{n}", "", tuple(pyr.Contributor(name) for name in names[:weight]))
        for n, weight in enumerate((4, 3, 2, 1))
    )
    found = PeerScore(pyr.Pyramid("t", names, units), {"u0": 0.75, "u1": 0.2, "u2": 0.1999}, 0)
    assert (found.raw, found.matched, found.repeated, found.size) == pytest.approx((3.6, 2, 0, 2))
    assert (found.original, found.modified) == pytest.approx((3.6 / 7, 3.6 / 9))
    assert PeerScore(pyr.Pyramid("t", names, units), {"u0": 2.0}, 0).raw == 4  # twice is not more


def test_unknown_names_list_the_known_ones(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="modified"):
        pyr.score(example, "pyramid", measures=["f1"])
    with pytest.raises(pyr.UsageError, match="half-up"):
        pyr.score(example, "pyramid", rounding="up")
    with pytest.raises(pyr.UsageError, match="crowd, expert"):
        pyr.score(example, "pyramid", pyramid="gold")
    with pytest.raises(pyr.UsageError, match="lite, pyramid, responsiveness, rouge"):
        pyr.score(example, "bleu")
    with pytest.raises(pyr.UsageError, match="tie"):
        pyr.score(example, "pyramid", tie="absent")
    with pytest.raises(pyr.UsageError, match="no pyramid"):
        pyr.score(Study(), "pyramid")
    several = replace(
        small(), pyramids=(*small().pyramids, pyr.Pyramid("t", (), (), "a"), pyr.Pyramid("t", (), (), "b"))
    )
    with pytest.raises(pyr.UsageError, match="a, b"):
        pyr.score(replace(several, pyramids=several.pyramids[1:]), "pyramid")


def test_the_signature_names_every_choice(example: pyr.Study) -> None:
    signature = str(pyr.score(example, "pyramid", rounding="floor", clip=True).signature)
    assert signature.startswith(
        "pyramidion|method:pyramid|pyramid:expert|judges:expert|weights:contributors|xa:floor|clip:yes|"
        "annotators:mean|v:"
    )
    lite = str(pyr.score(example, "lite", rounds=2, aggregate="mean").signature)
    assert "screen:positional<0.5x2|aggregate:mean|tie:absent|seed:0" in lite


def test_models_are_not_joined_unasked() -> None:
    """The middle of two models' degrees would be the lower one, below what either of them says in sum."""
    held = small(unit("m", "u1", 0.75), unit("n", "u1", 0.25))
    held = replace(held, judges=(*held.judges, Judge("n", "model")))
    with pytest.raises(pyr.UsageError, match="only models judged it: m, n; choose one"):
        pyr.score(held, "pyramid")
    assert pyr.score(held, "pyramid", judges="m", measures=["raw"]).per_summary("raw") == {("t", "x"): 0.75}
