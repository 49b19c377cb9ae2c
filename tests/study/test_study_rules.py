"""A study says everything that does not fit together, each with its address."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.study import Aspect, Assignment, Document, Judgment, Judgments, Study, Task

SOUND = Study(
    topics=(pyr.Topic("t"),),
    summaries=(pyr.Summary("t", "A", "A reference.", "reference"), pyr.Summary("t", "x", "A peer.")),
    pyramids=(pyr.Pyramid("t", ("A",), (pyr.ContentUnit("u", "label", (pyr.Contributor("A", (pyr.Span(0, 11),)),)),)),),
    judges=(pyr.Judge("ann", "expert"),),
    judgments=Judgments([Judgment("t", "x", "ann", 1, unit="u")]),
    aspects=(Aspect("overall", 1, 10),),
)


def said(study: Study) -> list[str]:
    return [str(problem) for problem in study.problems()]


@given(studies())
def test_sound_studies_have_no_errors(study: Study) -> None:
    assert [p for p in study.problems() if p.severity == "error"] == []


def pyramid(unit: pyr.ContentUnit, references: tuple[str, ...] = ("A",)) -> tuple[pyr.Pyramid, ...]:
    return (pyr.Pyramid("t", references, (unit,)),)


def contributor(reference: str, *spans: tuple[int, int]) -> pyr.Contributor:
    return pyr.Contributor(reference, tuple(pyr.Span(*span) for span in spans))


CASES = {
    "topic t: appears 2 times": {"topics": (pyr.Topic("t"), pyr.Topic("t"))},
    "topic ' t': an id must not be empty": {"topics": (pyr.Topic("t"), pyr.Topic(" t"))},
    "topic 'a\\nb': an id": {"topics": (pyr.Topic("t"), pyr.Topic("a\nb"))},
    "topic t, document d: appears 2 times": {"topics": (pyr.Topic("t", documents=(Document("d", ""),) * 2),)},
    "topic t, peer x: appears 2 times": {"summaries": (*SOUND.summaries, SOUND.summaries[1])},
    "peer y: belongs to unknown topic 'z'": {"summaries": (*SOUND.summaries, pyr.Summary("z", "y", ""))},
    "topic t, pyramid expert: appears 2 times": {"pyramids": SOUND.pyramids * 2},
    "topic t, unit u: appears 2 times": {"pyramids": (*SOUND.pyramids, replace(SOUND.pyramids[0], name="crowd"))},
    "pyramid expert: belongs to unknown topic 'z'": {"pyramids": (replace(SOUND.pyramids[0], topic="z"),)},
    "topic t, unit u, contributor 1: span 0-99 exceeds reference t.A (12 characters)": {
        "pyramids": pyramid(pyr.ContentUnit("u", "", (contributor("A", (0, 99)),)))
    },
    "topic t, unit u, contributor 1: span 5-5 exceeds": {
        "pyramids": pyramid(pyr.ContentUnit("u", "", (contributor("A", (5, 5)),)))
    },
    "topic t, unit u, contributor 1: reference 'B' is not one of the pyramid's": {
        "pyramids": pyramid(pyr.ContentUnit("u", "", (contributor("B"),)))
    },
    "topic t, unit u, contributor 1: has spans, but the text of reference 'B' is missing": {
        "pyramids": pyramid(pyr.ContentUnit("u", "", (contributor("B", (0, 1)),)), ("A", "B"))
    },
    "topic t, unit u: has 2 contributors from 1 reference (2 from A); its weight is 2": {
        "pyramids": pyramid(pyr.ContentUnit("u", "", (contributor("A"), contributor("A"))))
    },
    "topic t, pyramid expert: 1 of 1 units have no contributor": {"pyramids": pyramid(pyr.ContentUnit("u", ""))},
    "topic t, pyramid expert, reference Z: is not one of the topic's references": {
        "pyramids": (replace(SOUND.pyramids[0], references=("A", "Z")),)
    },
    "topic t, pyramid expert, reference A: appears 2 times": {
        "pyramids": (replace(SOUND.pyramids[0], references=("A", "A")),)
    },
    "judge ann: has judgments but is not declared": {"judges": ()},
    "aspect overall: its scale runs from 5 to 1; low must be below high": {"aspects": (Aspect("overall", 5, 1),)},
    "task k: no peer 'y' in topic 't'": {"tasks": (Task("k", "t", "y"),)},
    "task k: no reference 'B' in topic 't'": {"tasks": (Task("k", "t", references=("A", "B")),)},
    "task k: topic 't' has no unit 'v'": {"tasks": (Task("k", "t", "x", ("v",)),)},
    "assignment k/ann: unknown task 'k'": {"assignments": (Assignment("k", "ann"),)},
    "assignment 7: unknown judge 'bob'": {
        "tasks": (Task("k", "t", "x"),),
        "assignments": (Assignment("k", "bob", "7"),),
    },
    "assignment of task k to judge ann: appears 2 times": {
        "tasks": (Task("k", "t", "x"),),
        "assignments": (Assignment("k", "ann"),) * 2,
    },
}


@pytest.mark.parametrize("message", CASES)
def test_each_rule(message: str) -> None:
    assert SOUND.problems() == []
    assert any(message in line for line in said(replace(SOUND, **CASES[message])))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("judgment", "message"),
    [
        (Judgment("z", "x", "ann", 1, unit="u"), "judgments on system x: unknown topic 'z'"),
        (Judgment("t", "y", "ann", 1, unit="u"), "topic t: judgments on unknown system 'y'"),
        (Judgment("t", "x", "ann", 1, unit="v"), "topic t: judgments on unknown unit 'v'"),
        (Judgment("t", "x", "ann", 1, aspect="style"), "aspect style: has judgments but is not declared"),
        (Judgment("t", "x", "ann", 11, aspect="overall"), "value 11 is outside the scale (1 to 10)"),
        (Judgment("t", "x", "ann", -1, aspect="unmatched"), "value -1 is outside the scale (0 or more)"),
        (Judgment("t", "x", "ann", 1, unit="u", task="k"), "task k: has judgments but is not declared"),
        (
            Judgment("t", "x", "ann", 1, aspect="unmatched", evidence=((pyr.Span(3, 80),),)),
            "topic t, system x, aspect unmatched, judge ann: span 3-80 exceeds peer t.x (7 characters)",
        ),
        (Judgment("t", "x", "ann", 0, unit="u"), "topic t, system x, unit u, judge ann: is judged twice"),
    ],
)
def test_each_rule_of_judgments(judgment: Judgment, message: str) -> None:
    study = replace(SOUND, judgments=Judgments([*SOUND.judgments, judgment]))
    assert any(message in line for line in said(study))


def test_evidence_in_an_unknown_summary_is_said_once() -> None:
    stray = Judgment("t", "y", "ann", 1, unit="u", evidence=((pyr.Span(0, 99),),))
    study = replace(SOUND, judgments=Judgments([*SOUND.judgments, stray]))
    assert said(study) == ["topic t: judgments on unknown system 'y' (no such peer summary)"]


def test_topics_without_references_are_counted() -> None:
    peers = tuple(pyr.Summary(f"t{n}", "x", "A peer.") for n in range(6))
    study = Study(topics=tuple(pyr.Topic(f"t{n}") for n in range(6)), summaries=peers)
    assert said(study) == [
        "references: there are none: the summaries can be judged by people, but no method can score them without"
    ]
    some = replace(study, summaries=(*peers, pyr.Summary("t3", "A", "A reference.", "reference")))
    assert said(some) == ["references: 5 of 6 topics have no reference or only an empty one: t0, t1, t2, ..."]
    units = tuple(pyr.Pyramid(f"t{n}", (), (), "crowd") for n in range(6))
    assert said(replace(some, pyramids=units)) == []
    rated = Judgments([Judgment("t1", "x", "w", 3, aspect="overall")])
    judged = {"judges": (pyr.Judge("w"),), "judgments": rated, "aspects": (Aspect("overall", 1, 10),)}
    assert said(replace(study, **judged)) == []
