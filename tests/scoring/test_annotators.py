"""Several annotators of one summary: each is scored, the score is the mean, and what is shown adds up to it."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import run

import pyramidion as pyr
from pyramidion import analysis
from pyramidion.report.collect import findings
from pyramidion.scoring.explain import explain
from pyramidion.scoring.pyramid import mean_units_per_reference
from pyramidion.study import UNMATCHED, Judge, Judgment, Judgments, Span, Study

NAMES = ("A", "B", "C", "D")
WEIGHTS = (4, 3, 2, 1)
UNITS = tuple(
    pyr.ContentUnit(f"u{weight}", f"unit {weight}", tuple(map(pyr.Contributor, NAMES[:weight]))) for weight in WEIGHTS
)
JUDGES = (
    Judge("ann", "expert"),
    Judge("ben", "expert"),
    Judge("w1", "crowd"),
    Judge("w2", "crowd"),
    Judge("m", "model"),
)


def said(judge: str, units: str, unmatched: int | None = None, system: str = "x", topic: str = "t") -> list[Judgment]:
    """A judge's answers on all units: those named by their weights are there."""
    found = [Judgment(topic, system, judge, float(str(w) in units), unit=f"u{w}") for w in WEIGHTS]
    counted = [] if unmatched is None else [Judgment(topic, system, judge, float(unmatched), aspect=UNMATCHED)]
    return [*found, *counted]


def study_of(*judgments: list[Judgment], topics: tuple[str, ...] = ("t",)) -> Study:
    held = [judgment for each in judgments for judgment in each]
    used = {judgment.judge for judgment in held}
    systems = sorted({(judgment.topic, judgment.system) for judgment in held})
    return Study(
        topics=tuple(map(pyr.Topic, topics)),
        summaries=tuple(pyr.Summary(topic, system, "One two three four.") for topic, system in systems),
        pyramids=tuple(pyr.Pyramid(topic, NAMES, UNITS) for topic in topics),
        judges=tuple(judge for judge in JUDGES if judge.id in used),
        judgments=Judgments(held),
    )


# D is 7 for ann and 5 for ben; X_a = floor(10/4 + .5) = 3 and Max(3) = 9. Ann's X is 3, ben's 4: Max(4) = 10.
# Joined unit by unit only u4 would be left: 4/9, less than either says.
TWO = study_of(said("ann", "43", unmatched=1), said("ben", "41", unmatched=2))


def test_the_score_is_the_mean_of_the_annotators_scores() -> None:
    table = pyr.score(TWO, "pyramid")
    assert table.value("x", "modified") == (7 / 9 + 5 / 9) / 2
    assert table.value("x", "original") == (7 / 9 + 5 / 10) / 2
    assert table.value("x", "recall") == 2 / 4
    assert "|annotators:mean|" in str(table.signature)
    assert "join" not in str(table.signature)
    notes = [str(note) for note in table.notes]
    assert notes == [
        "annotators ann, ben: 1 of 1 summaries have several annotations: modified 0.778 by ann, 0.556 by ben; "
        "the score is their mean, 0.667"
    ]
    for name, value in (("ann", 7 / 9), ("ben", 5 / 9)):
        alone = pyr.score(TWO, "pyramid", judges=name)
        assert alone.value("x", "modified") == value
        assert not alone.notes


def test_a_consensus_is_made_when_asked_and_says_so() -> None:
    table = pyr.score(TWO, "pyramid", annotators="consensus")
    assert table.value("x", "modified") == 4 / 9
    assert "|annotators:consensus|" in str(table.signature)
    assert [str(note) for note in table.notes] == [
        "annotators ann, ben: 1 of 1 summaries have several annotations: modified 0.778 by ann, 0.556 by ben; "
        "they are joined unit by unit (what most annotators say; of two counts the lower), which gives 0.444"
    ]
    with pytest.raises(pyr.UsageError, match="mean, consensus"):
        pyr.score(TWO, "pyramid", annotators="majority")


def test_who_annotated_only_some_summaries_counts_only_there() -> None:
    study = study_of(said("ann", "43", 0), said("ben", "41", 0), said("ben", "4", 0, system="y"))
    table = pyr.score(study, "pyramid", measures=["modified"])
    assert table.per_summary("modified") == {("t", "x"): (7 / 9 + 5 / 9) / 2, ("t", "y"): 4 / 9}
    assert "1 of 2 summaries have several annotations: modified 0.778 by ann, 0.556 by ben" in str(table.notes[0])
    apart = study_of(said("ann", "43", 0), said("ben", "4", 0, topic="t2"), topics=("t", "t2"))
    table = pyr.score(apart, "pyramid", measures=["modified"])
    assert table.per_summary("modified") == {("t", "x"): 7 / 9, ("t2", "x"): 4 / 9}
    assert [str(note) for note in table.notes] == [
        "annotators ann, ben: no two of them annotated the same summary; every score rests on one annotator"
    ]


def test_how_far_annotators_differ_is_said_over_summaries() -> None:
    study = study_of(*(said(judge, "4", 0, system="y") for judge in ("ann", "ben")), [*TWO.judgments])
    [note] = pyr.score(study, "pyramid").notes
    assert str(note).endswith("the score is their mean, 0.556. They differ by 0.111 on average, at most by 0.222")


def test_an_annotator_whose_answers_are_all_missing_did_not_annotate() -> None:
    missing = [replace(judgment, value=None) for judgment in said("ben", "")]
    table = pyr.score(study_of(said("ann", "43", 0), missing), "pyramid")
    assert table.value("x", "modified") == 7 / 9
    assert not table.notes


def test_units_an_annotator_left_out_are_reported_by_name() -> None:
    table = pyr.score(study_of(said("ann", "43", 0), said("ben", "41", 0)[1:]), "pyramid")
    assert table.value("x", "modified") == (7 / 9 + 1 / 9) / 2
    where = "topic t, system x, annotator ben"
    assert f"{where}: 1 of 4 units were not judged and count as not expressed" in map(str, table.notes)


def test_unmatched_content_that_only_one_counted() -> None:
    table = pyr.score(study_of(said("ann", "43", 1), said("ben", "41")), "pyramid", measures=["original", "modified"])
    assert table.value("x", "original") == 7 / 9
    what = "not every annotator counted unmatched content; original are by those who did"
    assert f"1 summaries: {what}" in map(str, table.notes)


def test_a_crowd_is_joined_by_majority() -> None:
    """Each worker sees a part: their answers make one annotation together, and a tie is absent."""
    crowd = study_of(said("w1", "43"), said("w2", "41"))
    table = pyr.score(crowd, "pyramid", judges="crowd", measures=["modified"])
    assert table.value("x", "modified") == 4 / 9
    assert str(table.signature).split("|v:")[0].endswith("clip:no|workers:majority")
    assert not table.notes
    mixed = study_of(said("w1", "43"), said("w2", "41"), said("ann", "43"))
    table = pyr.score(mixed, "pyramid", judges="people", measures=["modified"])
    assert table.value("x", "modified") == (7 / 9 + 4 / 9) / 2
    assert "annotators:mean|workers:majority" in str(table.signature)
    assert "modified 0.778 by ann, 0.444 by crowd" in str(table.notes[0])


def test_models_that_are_joined_when_asked_are_averaged_too() -> None:
    half = [replace(judgment, value=0.5) for judgment in said("m", "")]
    table = pyr.score(study_of(said("ann", "4321"), half), "pyramid", judges="all", measures=["raw"])
    assert table.value("x", "raw") == (10 + 5) / 2


ANSWERS = st.lists(
    st.tuples(
        st.sampled_from(["ann", "ben", "w1", "w2", "m"]), st.sampled_from("xy"), st.sets(st.sampled_from("4321"))
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda answer: answer[:2],
)


@given(ANSWERS, st.randoms(use_true_random=False), st.sampled_from(["mean", "consensus"]))
def test_the_order_of_rows_changes_nothing_and_no_mean_is_below_all(
    answers: list[tuple[str, str, set[str]]], rng: random.Random, how: str
) -> None:
    study = study_of(*(said(judge, "".join(units), 1, system) for judge, system, units in answers))
    table = pyr.score(study, "pyramid", judges="all", annotators=how)
    rows = list(study.judgments)
    rng.shuffle(rows)
    shuffled = pyr.score(replace(study, judgments=Judgments(rows)), "pyramid", judges="all", annotators=how)
    assert (shuffled.scores, shuffled.signature, shuffled.notes) == (table.scores, table.signature, table.notes)
    for (topic, system), value in table.per_summary("modified").items():
        mine = [judge for judge, of, _ in answers if of == system and judge in {"ann", "ben", "m"}]
        alone = [pyr.score(study, "pyramid", judges=judge).per_summary("modified")[topic, system] for judge in mine]
        if how == "mean" and len(mine) == sum(of == system for _, of, _ in answers):
            assert value == pytest.approx(sum(alone) / len(alone))
            assert min(alone) <= value <= max(alone)


# -- what is shown adds up to the score ----------------------------------------------------------------------


def marked() -> Study:
    """The same two, with evidence for what they found."""
    rows = [replace(j, evidence=((Span(0, 3),),)) if j.value and j.unit else j for j in TWO.judgments]
    return replace(TWO, judgments=Judgments(rows))


def test_an_explanation_lists_what_any_annotator_found_and_who() -> None:
    found = explain(marked(), "t", "x")
    assert [unit.id for unit in found.expressed] == ["u4", "u3", "u1"]
    assert {unit.id: found.found_by(unit.id) for unit in found.expressed} == {
        "u4": ("ann", "ben"),
        "u3": ("ann",),
        "u1": ("ben",),
    }
    share = sum(unit.weight * len(found.found_by(unit.id)) / len(found.annotators) for unit in found.expressed)
    best = found.pyramid.best_weights()[mean_units_per_reference(found.pyramid)]
    assert share == found.weight == 6
    assert found.measures["modified"] == pytest.approx(6 / best)
    assert found.unmatched == 1.5
    assert found.annotators["ann"].measures["modified"] == 7 / 9
    assert found.annotators["ben"].weight == 5
    assert "(3) unit 3 (1 of 2 annotators)" in found._repr_html_()
    assert not explain(marked(), "t", "x", judges="ann").annotators
    consensus = explain(marked(), "t", "x", annotators="consensus")
    assert [unit.id for unit in consensus.expressed] == ["u4"]
    assert consensus.weight == 4
    assert not consensus.annotators


def test_the_command_shows_both(tmp_path: Path) -> None:
    pyr.save(marked(), tmp_path / "two.jsonl")
    done = run("show", tmp_path / "two.jsonl", "--system", "x", COLUMNS="200")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "modified 0.6667, original 0.6389: the mean of 2 annotators" in lines
    assert "  ann: modified 0.7778, original 0.7778: weight 7, 2 units matched, 0 repeated, unmatched 1" in lines
    assert "  ben: modified 0.5556, original 0.5000: weight 5, 2 units matched, 0 repeated, unmatched 2" in lines
    assert any("unit 3  1 of 2: ann" in line for line in lines)
    shown = json.loads(run("show", tmp_path / "two.jsonl", "--system", "x", "--json").stdout)
    assert {name: each["modified"] for name, each in shown["annotators"].items()} == {"ann": 7 / 9, "ben": 5 / 9}
    assert [unit["annotators"] for unit in shown["expressed"]] == [["ann", "ben"], ["ann"], ["ben"]]
    asked = ("--annotators", "consensus", "--measure", "modified", "--json")
    table = json.loads(run("score", tmp_path / "two.jsonl", *asked).stdout)
    assert {s["value"] for s in table["scores"]} == {4 / 9}
    assert "annotators:consensus" in table["signature"]


def test_reports_and_feedback_show_both(tmp_path: Path) -> None:
    found = findings(marked())
    [summary] = found.summaries
    assert {name: by.measures["modified"] for name, by in summary.annotators.items()} == {"ann": 7 / 9, "ben": 5 / 9}
    topic = found.topics[0]
    votes = summary.votes
    assert votes == {"u4": (2, 2), "u3": (1, 2), "u1": (1, 2), "u2": (0, 2)}
    expressed = {unit.id for unit in summary.expressed}
    assert expressed == {unit for unit, (yes, _) in votes.items() if yes}
    score = found.main_scores["t", "x"]
    assert score is not None
    assert sum(unit.weight * votes[unit.id][0] / votes[unit.id][1] for unit in topic.units) == pytest.approx(score * 9)
    pyr.save(marked(), tmp_path / "two.jsonl")
    assert run("feedback", tmp_path / "two.jsonl", "-o", tmp_path / "pages").returncode == 0
    [page] = (tmp_path / "pages" / "writers").rglob("*.html")
    text = page.read_text()
    assert "Of all 4 ideas it expresses 3." in text
    assert "On 2 of them the annotators disagree." in text
    assert "the mean of 2 annotators&#x27; scores, 0.78 and 0.56." in text.replace("'", "&#x27;").replace(
        "&#39;", "&#x27;"
    )
    assert "ann" not in text.replace("annotators", "")  # writers are not told who


def test_one_annotator_is_shown_as_before() -> None:
    [summary] = findings(TWO, judges="ann").summaries
    assert not summary.annotators
    assert not summary.votes
    assert summary.unmatched == 1


# -- analyses that start from the same annotations -----------------------------------------------------------


def test_the_full_pyramid_of_a_size_study_gives_the_scores() -> None:
    study = study_of([*TWO.judgments], said("ann", "4", 0, system="y"))
    [held] = analysis.pyramid_size(study).result.topics
    table = pyr.score(study, "pyramid").per_summary("modified")
    assert dict(zip(held.summaries, held.full.tolist(), strict=True)) == pytest.approx(
        {system: value for (_, system), value in table.items()}
    )


def test_sub_pyramids_count_contributors() -> None:
    """One unit has two contributors from A, so that it weighs 2 in the pyramid of A alone."""
    double = pyr.ContentUnit("u4", "", (pyr.Contributor("A"), pyr.Contributor("A"), pyr.Contributor("B")))
    others = tuple(pyr.ContentUnit(f"u{n}", "", (pyr.Contributor("A"),)) for n in (3, 2, 1))
    pyramid = pyr.Pyramid("t", ("A", "B"), (double, *others))
    assert [unit.weight for unit in pyramid.restricted_to({"A"}).units] == [2, 1, 1, 1]
    study = replace(study_of(said("ann", "4", 0), said("ann", "31", 0, system="y")), pyramids=(pyramid,))
    [held] = analysis.pyramid_size(study).result.topics
    alone = replace(study, pyramids=(pyramid.restricted_to({"A"}),))
    found = pyr.score(alone, "pyramid").per_summary("modified")
    assert found == {("t", "x"): 2 / 5, ("t", "y"): 2 / 5}  # X_a = 5, so all units together are the best
    assert held.scores[:, 0].tolist() == pytest.approx(list(found.values()))
