"""A study with the annotations of autoannotate: who is annotated, by what, and what is left out."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.annotation.autoannotation import autoannotate_study
from pyramidion.judges.autoannotate import autoannotate
from pyramidion.scoring.choice import choose
from pyramidion.study import Judge, Judgment, Judgments, Span, Study, Summary, Topic

SENTENCE = "The dam broke."
UNITS = tuple(pyr.ContentUnit(id, id, (pyr.Contributor("A"),)) for id in ("dam", "rain"))


def small() -> Study:
    """In topic t, x is annotated with evidence, y without, and z not at all; in topic u nobody marked anything."""
    texts = {"x": SENTENCE, "y": f"Reports say:  the DAM\nbroke. {SENTENCE}", "z": "It rained. the dam broke!"}
    summaries = [Summary(topic, system, text) for topic in ("t", "u") for system, text in texts.items()]
    judgments = [
        Judgment("t", "x", "ann", 1, unit="dam", evidence=((Span(0, 13),),)),
        Judgment("t", "x", "ann", 0, unit="rain"),
        Judgment("t", "y", "ann", 0, unit="dam"),
        Judgment("t", "y", "ann", 0, unit="rain"),
        Judgment("u", "x", "ann", 1, unit="dam"),
    ]
    return Study(
        topics=(Topic("t"), Topic("u")),
        summaries=tuple(summaries),
        pyramids=tuple(pyr.Pyramid(topic, ("A",), UNITS) for topic in ("t", "u")),
        judges=(Judge("ann", "expert"),),
        judgments=Judgments(judgments),
    )


def marks(study: Study, judge: str = "autoannotate") -> dict[tuple[str, str, str], float | None]:
    return {(j.topic, j.system, j.unit): j.value for j in study.judgments if j.judge == judge}


def test_all_summaries_are_annotated_on_all_units_by_hand() -> None:
    made = autoannotate_study(small())
    # x has nothing to learn from (only x itself was marked), nor has topic u; y and z say that the dam broke.
    assert marks(made.study) == {
        ("t", "y", "dam"): 1,
        ("t", "y", "rain"): 0,
        ("t", "z", "dam"): 1,
        ("t", "z", "rain"): 0,
    }
    assert (made.summaries, made.judgments, made.found, made.learned_from) == (2, 4, 2, ("ann",))
    assert json.dumps(made.found) == "2"  # a plain number, not one of numpy's
    assert [str(note) for note in made.notes] == [
        "topic t: no other summary has evidence, so not annotated: x",
        "topic u: no other summary has evidence, so not annotated: x, y, z",
    ]
    hits = {
        j.system: j.evidence[0][0].of(small().summary("t", j.system).text)
        for j in made.study.judgments
        if j.judge == "autoannotate" and j.value
    }  # type: ignore[union-attr]
    assert hits == {"y": "the DAM\nbroke", "z": "the dam broke"}
    assert made.study.judges_of("model") == {"autoannotate"}
    assert not [problem for problem in made.study.problems() if problem.severity == "error"]


def test_only_missing_leaves_annotated_summaries_alone() -> None:
    made = autoannotate_study(small(), only_missing=True, judge="dam finder")
    assert set(marks(made.study, "dam finder")) == {("t", "z", "dam"), ("t", "z", "rain")}


def test_what_was_found_before_teaches_nothing_and_is_replaced() -> None:
    once = autoannotate_study(small()).study
    twice = autoannotate_study(once).study
    assert marks(once) == marks(twice)
    assert len(once.judgments) == len(twice.judgments)


def test_nothing_to_learn_from_is_said(example: pyr.Study) -> None:
    bare = replace(small(), judgments=Judgments([replace(j, evidence=()) for j in small().judgments]))
    with pytest.raises(pyr.UsageError, match=r"no marked words .* pyramid 'expert' \(it was annotated by ann\)"):
        autoannotate_study(bare)
    with pytest.raises(pyr.UsageError, match="annotated by nobody"):
        autoannotate_study(replace(bare, judgments=Judgments()))
    with pytest.raises(pyr.UsageError, match="no pyramid"):
        autoannotate_study(Study())
    with pytest.raises(pyr.UsageError, match="pyramid 'crowd'"):
        autoannotate_study(example, pyramid="crowd")
    with pytest.raises(pyr.UsageError, match="already annotated"):
        autoannotate_study(example, only_missing=True)


def test_a_person_is_not_overwritten() -> None:
    with pytest.raises(pyr.UsageError, match="a judge 'ann' of kind expert"):
        autoannotate_study(small(), judge="ann")
    with pytest.raises(pyr.UsageError, match="not a name for a judge"):
        autoannotate_study(small(), judge=" ")


def test_on_the_example_it_is_the_autopyramid_of_the_consistency_analysis(example: pyr.Study) -> None:
    made = autoannotate_study(example)
    manual = choose(example, kind="expert", pyramid=None, judges=None).on_units
    assert marks(made.study) == {(j.topic, j.system, j.unit): j.value for j in autoannotate(example, manual)}
    auto = pyr.score(made.study, "pyramid", judges="autoannotate", measures=["modified"])
    by_people = pyr.score(made.study, "pyramid", measures=["modified"])
    gaps = [by_people.value(s, "modified", t) - auto.value(s, "modified", t) for t, s in auto.per_summary("modified")]  # type: ignore[operator]
    assert sum(gaps) / len(gaps) == pytest.approx(0.245, abs=5e-4)  # what `analyze consistency` reports
    assert by_people == pyr.score(example, "pyramid", measures=["modified"])
