"""A peer that is itself a reference is scored, and explained, by the pyramid of the other references."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.analysis import pyramid_size
from pyramidion.report.collect import findings
from pyramidion.report.feedback import grade_columns, grade_rows, writer_page
from pyramidion.scoring.choice import choose
from pyramidion.scoring.explain import explain
from pyramidion.scoring.unit_vectors import unit_vectors
from pyramidion.study import UNMATCHED, ContentUnit, Contributor, Judge, Judgment, Judgments, Pyramid, Span

TEXTS = {"A": "one two three", "B": "one two four five", "C": "one five"}
UNITS = {"u1": ("one", "ABC"), "u2": ("two", "AB"), "u3": ("three", "A"), "u4": ("four", "B"), "u5": ("five", "BC")}
PEERS = {"A": "one  two\nthree", "s": "one five six"}
SAID = {"A": {"u1", "u2", "u3"}, "s": {"u1", "u5"}}


def study(kind: str = "expert", references: str = "ABC") -> pyr.Study:
    """Weights 3, 2, 1, 1, 2; without A's contributions 2, 1, -, 1, 2."""
    texts = {name: TEXTS[name] for name in references}

    def contributors(label: str, who: str) -> tuple[Contributor, ...]:
        spans = {name: texts[name].index(label) for name in who if name in texts}
        return tuple(Contributor(name, (Span(at, at + len(label)),)) for name, at in spans.items())

    made = [ContentUnit(id, label, contributors(label, who)) for id, (label, who) in UNITS.items()]
    units = tuple(unit for unit in made if unit.contributors)
    judgments = [
        Judgment("t", system, "j", float(unit.id in SAID[system]), unit=unit.id, evidence=mention)
        for system in PEERS
        for unit in units
        for at in [PEERS[system].find(unit.label)]
        for mention in [((Span(at, at + len(unit.label)),),) if unit.id in SAID[system] else ()]
    ]
    judgments += [Judgment("t", system, "j", float(system == "s"), aspect=UNMATCHED) for system in PEERS]
    return pyr.Study(
        topics=(pyr.Topic("t"),),
        summaries=(
            *(pyr.Summary("t", name, text, "reference") for name, text in texts.items()),
            *(pyr.Summary("t", name, text) for name, text in PEERS.items()),
        ),
        pyramids=(Pyramid("t", tuple(references), units, kind),),
        judges=(Judge("j", kind),),  # type: ignore[arg-type]
        judgments=Judgments(judgments),
    )


def test_pyramid_scores_by_hand() -> None:
    table = pyr.score(study(), "pyramid", measures=["modified", "original", "precision", "recall", "raw"])
    found = {(s, m): table.value(s, m, "t") for s in PEERS for m in table.measures}
    # A by the pyramid of B and C: D = 2 + 1; X_a = 6 / 2 and X = 3, since u3 is content that no other has; Max(3) = 5.
    assert [found["A", m] for m in table.measures] == pytest.approx([3 / 5, 3 / 5, 2 / 3, 2 / 4, 3])
    # s by all three: D = 3 + 2; X_a = 9 / 3 and X = 3; Max(3) = 7.
    assert [found["s", m] for m in table.measures] == pytest.approx([5 / 7, 5 / 7, 2 / 3, 2 / 5, 5])
    assert [str(note) for note in table.notes] == [
        "human peers: 1 peer is itself a reference (A on t is A), so it is scored against the others only"
    ]


def test_lite_counts_what_others_wrote() -> None:
    table = pyr.score(study("crowd"), "lite")
    assert (table.value("A", "lite", "t"), table.value("s", "lite", "t")) == (2 / 4, 2 / 5)
    assert [note.where for note in table.notes] == ["human peers"]


def test_shuffled_rows_give_the_same() -> None:
    held = study()
    turned = replace(held, summaries=held.summaries[::-1], judgments=Judgments(list(held.judgments)[::-1]))
    assert pyr.score(turned, "pyramid").scores == pyr.score(held, "pyramid").scores


def test_a_pyramid_made_from_others_is_taken_whole() -> None:
    held = study()
    [pyramid] = held.pyramids
    other = replace(held, pyramids=(pyramid.restricted_to("BC"),))
    other = replace(other, judgments=Judgments(j for j in held.judgments if j.unit != "u3"))
    table = pyr.score(other, "pyramid", measures=["modified"])
    assert table.value("A", "modified", "t") == pytest.approx(3 / 5)
    assert not table.notes


def test_the_only_reference_has_no_score() -> None:
    alone = study(references="A")
    table = pyr.score(alone, "pyramid", measures=["modified", "raw"])
    assert [table.value("A", measure) for measure in table.measures] == [None, None]
    assert table.value("s", "modified") == pytest.approx(1 / 3)
    assert any("has no other, so it has no score" in note.what for note in table.notes)
    with pytest.raises(pyr.UsageError, match="only reference"):
        explain(alone, "t", "A")


@pytest.mark.parametrize("kind", ["expert", "crowd"])
def test_an_explanation_adds_up_to_the_score(kind: str) -> None:
    found = explain(study(kind), "t", "A")
    assert found.own == "A"
    assert [unit.id for unit in found.expressed] == ["u1", "u2"]
    assert {unit.id: unit.weight for unit in found.missed} == {"u4": 1, "u5": 2}
    if kind == "expert":
        assert found.weight == 3 == sum(unit.weight for unit in found.expressed)
        assert found.measures["modified"] == pytest.approx(3 / 5)
        assert found.unmatched == 1
    else:
        assert found.measures["lite"] == 2 / 4
    assert explain(study(kind), "t", "s").own == ""


def test_show_says_it(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    pyr.save(study(), path)
    done = run("show", path, "--topic", "t", "--system", "A")
    assert "This is reference A itself, so it is compared only with the other references." in done.stdout
    assert "modified 0.6000" in done.stdout
    held = json.loads(run("show", path, "--topic", "t", "--system", "A", "--json").stdout)
    assert held["own_reference"] == "A"
    assert [(unit["id"], unit["weight"]) for unit in held["expressed"]] == [("u1", 2), ("u2", 1)]


def test_report_and_feedback_show_what_it_is_compared_with() -> None:
    found = findings(study(), resamples=20)
    [human] = [s for s in found.summaries if s.peer.system == "A"]
    assert human.own == "A"
    [topic] = found.topics
    assert {unit.id: unit.weight for unit in human.pyramid.units} == {"u1": 2, "u2": 1, "u4": 1, "u5": 2}
    assert {unit.id for unit in human.expressed} == {"u1", "u2"}
    assert human.quotes == ["three"]
    page = writer_page(found, topic, human)
    assert (
        "Your summary expresses 1 of the 2 main ideas of the reference summaries. Of all 4 ideas it expresses 2."
        in page
    )
    assert "itself one of the reference summaries" in page
    assert "Content score: 0.60" in page
    rows = {row[0]: row for row in grade_rows(found, found.summaries)}
    first = grade_columns(found).index("ideas")
    ideas = {name: tuple(row[first : first + 4]) for name, row in rows.items()}  # of which main, each with its total
    assert ideas == {"A": (2, 4, 1, 2), "s": (2, 5, 1, 1)}


def test_tests_on_units_and_sizes_leave_it_out() -> None:
    vectors = unit_vectors(choose(study(), kind="expert", pyramid=None, judges=None))
    assert ("t", "u3") not in vectors["A"]
    assert ("t", "u3") in vectors["s"]
    held = study()
    again = replace(
        held,
        summaries=(*held.summaries, pyr.Summary("t", "x", "two two")),
        judgments=Judgments([*held.judgments, *(replace(j, system="x") for j in held.judgments if j.system == "s")]),
    )
    sizes = pyramid_size(again, held_out="peers")
    assert sizes.result.topics[0].summaries == ("s", "x")
    assert any("is itself a reference" in note.what for note in sizes.notes)
