"""Unit by unit: the paired comparison of two systems, and why a summary has its score."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.scoring.explain import explain
from pyramidion.scoring.explanation import Explanation, Piece
from pyramidion.scoring.pyramid import mean_units_per_reference
from pyramidion.study import ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Span, Study, Summary, Topic


def test_two_systems_on_the_same_units(example: pyr.Study) -> None:
    found = pyr.compare_units(example, "paraphrase", "offtopic")
    units = sum(len(p.units) for p in example.pyramids if p.name == "expert")
    assert found.both == found.only_second == 0
    assert found.only_first + found.neither == units
    # All disagreements go one way: McNemar's exact p is 2 / 2^n.
    assert found.tests[0].p == pytest.approx(2 / 2**found.only_first)
    lines = str(found).splitlines()
    assert lines[0] == (
        f"paraphrase and offtopic on 135 units: both 0, only paraphrase {found.only_first}, only offtopic 0, "
        f"neither {found.neither}"
    )
    assert [line.split()[:3] for line in lines[1:]] == [
        [name, "difference", f"{found.only_first / 135:+.3f}"] for name in ("mcnemar", "wilcoxon", "permutation")
    ]
    crowd = pyr.compare_units(example, "paraphrase", "extract", kind="crowd", pyramid="crowd")
    assert crowd.both + crowd.only_first + crowd.only_second + crowd.neither == 128


def test_comparison_says_what_is_missing(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="'nobody' has no judged units; these have: extract"):
        pyr.compare_units(example, "paraphrase", "nobody")


def test_an_explanation_adds_up(example: pyr.Study) -> None:
    found = explain(example, "reef-nursery", "extract")
    best = found.pyramid.best_weights()[mean_units_per_reference(found.pyramid)]
    assert sum(unit.weight for unit in found.expressed) == found.measures["modified"] * best
    assert len(found.expressed) + len(found.missed) == len(found.pyramid.units)
    weights = [unit.weight for unit in found.missed]
    assert weights == sorted(weights, reverse=True)
    marked = {i for i, weight in enumerate(weights_of(found)) if weight}
    assert marked == {
        i for mentions in found.evidence.values() for mention in mentions for span in mention for i in range(*span)
    }
    assert set(found.evidence) == {unit.id for unit in found.expressed}


def weights_of(explanation: Explanation) -> list[int]:
    """The weight of each character."""
    return [weight for text, weight in explanation.weighted_text() for _ in text]


def test_pieces_are_cut_where_mentions_begin_and_end() -> None:
    marked = {"u": ((Span(1, 4),),), "v": ((Span(3, 5),), (Span(3, 5),)), "elsewhere": ((Span(0, 6),),)}
    units = tuple(ContentUnit(id, id, BOTH) for id in "uv")
    empty = Explanation(Summary("t", "x", ""), Pyramid("t", ("A", "B"), units), {})
    assert empty.pieces == ()
    whole = replace(empty, peer=Summary("t", "x", "abcdef"), evidence=marked, outside=((Span(3, 4),),))
    assert whole.pieces == (
        Piece("a"),
        Piece("bc", ("u",)),
        Piece("d", ("u", "v"), True),
        Piece("e", ("v",)),
        Piece("f"),
    )
    assert whole.quotes == ["d"]


def test_what_a_crowd_found_is_explained_as_it_is_scored(example: pyr.Study) -> None:
    """Screened and by majority."""
    found = explain(example, "reef-nursery", "extract", pyramid="crowd")
    lite = pyr.score(example, "lite").per_summary("lite")["reef-nursery", "extract"]
    assert found.measures == {"lite": lite}
    assert len(found.expressed) / len(found.pyramid.units) == pytest.approx(lite)


def test_explaining_what_is_not_there(example: pyr.Study) -> None:
    with pytest.raises(pyr.UsageError, match="it has: extract, lead"):
        explain(example, "reef-nursery", "gpt")
    without = replace(example, pyramids=example.pyramids[2:])  # the first topic's two pyramids are gone
    with pytest.raises(pyr.UsageError, match="no pyramid called 'expert'"):
        explain(without, example.topics[0].id, "extract")


TEXT = "The bridge closed."
BOTH = (Contributor("A"), Contributor("B"))
UNITS = (ContentUnit("1", "old", BOTH[:1]), ContentUnit("2", "closed <b>", BOTH), ContentUnit("3", "", BOTH[1:]))
CLOSED, THE, RED = (Span(4, 17),), (Span(0, 3),), (Span(0, 6),)
SMALL = Study(
    topics=(Topic("t"),),
    summaries=(Summary("t", "x", TEXT), Summary("t", "y", "")),
    pyramids=(Pyramid("t", ("A", "B"), UNITS),),
    judges=(Judge("ann", "expert"), Judge("ben", "expert")),
    judgments=Judgments(
        [
            Judgment("t", "x", "ann", 1, unit="1", evidence=(THE,)),
            Judgment("t", "x", "ann", 1, unit="2", evidence=(CLOSED,)),
            Judgment("t", "x", "ann", 1, unit="3", evidence=(RED,)),  # ben says no: in a consensus it is absent
            Judgment("t", "x", "ben", 1, unit="1", evidence=(THE,)),
            Judgment("t", "x", "ben", 1, unit="2"),
            Judgment("t", "x", "ben", 0, unit="3"),
        ]
    ),
)


def test_only_mentions_of_expressed_units_are_shown_each_once() -> None:
    found = explain(SMALL, "t", "x", annotators="consensus")
    assert [unit.id for unit in found.expressed] == ["2", "1"]
    assert [unit.id for unit in found.missed] == ["3"]
    assert found.evidence == {"1": (THE,), "2": (CLOSED,)}
    assert weights_of(found) == [1] * 3 + [0] + [2] * 13 + [0]


def test_a_character_of_two_units_weighs_as_the_heavier() -> None:
    over = Judgment("t", "y", "ann", 1, unit="2", evidence=((Span(1, 3),),))
    under = replace(over, unit="1", evidence=((Span(0, 4),),))
    study = replace(SMALL, summaries=(Summary("t", "y", "abcd"),), judgments=Judgments([over, under]))
    assert weights_of(explain(study, "t", "y")) == [1, 2, 2, 1]


def test_a_notebook_shows_the_text_with_what_it_expresses() -> None:
    # The reader's weights are 2 + 1; two references have 4 contributors, so X_a = 2 and the best two units weigh 3.
    page = explain(SMALL, "t", "x", annotators="consensus")._repr_html_()
    assert "<b>t, x: modified 1.000</b>" in page
    # Weight 2 of 2 has the full tint .12 + .38, weight 1 half of the range.
    assert (
        "<span style='background:rgba(0,150,130,0.31)'>The</span> "
        "<span style='background:rgba(0,150,130,0.50)'>bridge closed</span>."
    ) in page
    assert "2 units expressed</summary><ul><li dir='auto'>(2) closed &lt;b&gt;</li><li dir='auto'>(1) old</li>" in page
    assert "1 units not found</summary><ul><li dir='auto'>(1) 3</li></ul>" in page


def test_a_pyramid_without_weight_can_be_shown() -> None:
    bare = tuple(replace(unit, contributors=()) for unit in UNITS)
    study = replace(SMALL, pyramids=(Pyramid("t", ("A", "B"), bare),))
    page = explain(study, "t", "x")._repr_html_()
    assert "<b>t, x: modified undefined</b>" in page
    assert f">{TEXT}</p>" in page  # no unit weighs anything, so nothing is tinted


def test_a_summary_nobody_judged_is_not_explained() -> None:
    with pytest.raises(pyr.UsageError, match="topic t, system y: nobody judged it against pyramid expert"):
        explain(SMALL, "t", "y")


def test_unanswered_units_are_compared_with_nothing() -> None:
    asked = [Judgment("t", "y", "ann", value, unit=unit) for unit, value in (("1", 1), ("2", None))]
    study = replace(SMALL, judgments=SMALL.judgments + asked)
    found = pyr.compare_units(study, "x", "y")
    assert (found.both, found.only_first, found.only_second, found.neither) == (1, 0, 0, 0)
    unasked = replace(
        SMALL, judgments=Judgments([*SMALL.judgments[:1], asked[0], replace(asked[1], unit="1", judge="ben")])
    )
    assert pyr.compare_units(unasked, "x", "y").both == 1  # one who did not answer does not outvote one who did
    apart = replace(SMALL, judgments=Judgments([*SMALL.judgments[:1], replace(asked[0], unit="2")]))
    with pytest.raises(pyr.UsageError, match="'x' and 'y' have no judged units in common"):
        pyr.compare_units(apart, "x", "y")


def test_the_only_pyramid_is_taken_whatever_its_name() -> None:
    study = replace(SMALL, pyramids=(replace(SMALL.pyramids[0], name="mine"),))
    assert "pyramid:mine" in str(pyr.score(study, "pyramid").signature)


def test_people_and_models_are_never_mixed_unasked() -> None:
    # No expert judged: the workers' answers count, not the model's; where only models and nobody else judged, theirs.
    judges = (Judge("ann", "crowd"), Judge("ben", "model"))
    study = replace(SMALL, judges=judges, judgments=Judgments(j for j in SMALL.judgments if j.unit == "3"))
    table = pyr.score(study, "pyramid", measures=["raw"])
    assert "judges:crowd" in str(table.signature)
    assert table.value("x", "raw") == 1  # ann says yes, ben no
    assert "pyramid expert: no judge of kind expert judged it, so the judgments of all workers are used" in map(
        str, table.notes
    )
    alone = replace(study, judgments=Judgments(j for j in study.judgments if j.judge == "ben"))
    table = pyr.score(alone, "pyramid", measures=["raw"])
    assert "judges:all" in str(table.signature)
    assert table.value("x", "raw") == 0
    assert "pyramid expert: no judge of kind expert judged it, so the judgments of all judges are used" in map(
        str, table.notes
    )
