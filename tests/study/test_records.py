"""A study as plain objects: nothing is lost on the way there and back, and what cannot be used is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.study import Assignment, Judgment, Judgments, Study, Task
from pyramidion.study.records import BadRecordError, Codec, Collector, to_records


def read(*records: dict[str, Any]) -> Study:
    collector = Collector()
    for record in records:
        assert collector.add(record) == []
    return collector.study()


@given(studies())
def test_there_and_back_through_json_loses_nothing(study: Study) -> None:
    assert read(*json.loads(json.dumps(list(to_records(study))))) == study


def test_order_does_not_matter_to_the_reader(example: pyr.Study) -> None:
    assert read(*reversed(list(to_records(example)))).counts() == example.counts()


def test_the_reader_leaves_its_records_alone() -> None:
    record = {"type": "pyramid", "topic": "t", "references": ["A"], "units": [{"id": "u", "label": "x"}]}
    before = json.dumps(record)
    read(record)
    assert json.dumps(record) == before


def test_what_is_empty_is_not_written_and_reads_back_as_empty() -> None:
    study = Study(topics=(pyr.Topic("t"),), tasks=(Task("k", "t"),), assignments=(Assignment("k", "j"),))
    assert list(to_records(study)) == [
        {"type": "study", "version": 1},
        {"type": "topic", "id": "t"},
        {"type": "task", "id": "k", "topic": "t"},
        {"type": "assignment", "task": "k", "judge": "j"},
    ]
    assert read(*to_records(study)) == study


def test_rare_fields_are_written_and_read() -> None:
    unit = pyr.ContentUnit("u", "label", (pyr.Contributor("A", (pyr.Span(0, 1),)),), "w1", "g", "why?")
    study = Study(
        title="A study",
        topics=(pyr.Topic("t"),),
        pyramids=(pyr.Pyramid("t", ("A",), (unit,), "crowd"),),
        tasks=(Task("k", "t", "x", kind="compare", other="y", references=("A", "B")),),
        assignments=(Assignment("k", "j", seconds=12.0),),
        judgments=Judgments([Judgment("t", "x", "j", 0.5, aspect="better", task="k", other="y")]),
    )
    records = {record["type"]: record for record in to_records(study)}
    assert records["task"] == {
        "type": "task",
        "id": "k",
        "topic": "t",
        "system": "x",
        "kind": "compare",
        "other": "y",
        "references": ["A", "B"],
    }
    assert records["pyramid"]["units"] == [
        {
            "id": "u",
            "label": "label",
            "contributors": [{"reference": "A", "spans": [[0, 1]]}],
            "author": "w1",
            "group": "g",
            "comment": "why?",
        }
    ]
    assert repr(records["assignment"]["seconds"]) == "12"  # whole numbers are written as such
    assert read(*to_records(study)) == study


def test_unknown_fields_are_handed_back() -> None:
    collector = Collector()
    assert collector.add({"type": "topic", "id": "t", "colour": "red", "title": "x"}) == ["colour"]
    judgment = {"type": "judgment", "topic": "t", "system": "s", "judge": "j", "value": 1, "unit": "u", "mood": "good"}
    assert collector.add(judgment) == ["mood"]
    assert list(collector.study().judgments) == [Judgment("t", "s", "j", 1, unit="u")]


JUDGMENT = {"type": "judgment", "topic": "t", "system": "s", "judge": "j", "value": 1, "unit": "u"}
PYRAMID = {"type": "pyramid", "topic": "t", "references": ["A"], "units": []}
TASK = {"type": "task", "id": "k", "topic": "t"}
KINDS = "study, topic, summary, pyramid, judge, aspect, task, assignment, judgment"
SPAN = "field 'units[0].contributors[0].spans[0]'"
LONG = ["a text that is longer than anybody would like to read in a message"]


def with_spans(spans: object) -> dict[str, Any]:
    return {**PYRAMID, "units": [{"id": "u", "label": "", "contributors": [{"reference": "A", "spans": spans}]}]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({}, f"unknown type None; known values are: {KINDS}"),
        ({"type": ["topic"]}, f"unknown type ['topic']; known values are: {KINDS}"),
        ({"type": "topic"}, "field 'id' is missing"),
        ({"type": "topic", "id": None}, "field 'id' is null"),
        ({"type": "topic", "id": LONG}, "field 'id' must be text, not [\"a text that is longer than anybody wou"),
        ({"type": "topic", "id": "t", "documents": {}}, "field 'documents' must be a list, not {}"),
        ({"type": "topic", "id": "t", "documents": ["d"]}, "field 'documents[0]' must be an object, not \"d\""),
        ({"type": "study", "version": 2}, "version 2 of this format is not supported; this release reads version 1"),
        ({**PYRAMID, "references": ["A", 1]}, "field 'references[1]' must be text, not 1"),
        (with_spans("0-3"), "field 'units[0].contributors[0].spans' must be a list, not \"0-3\""),
        (with_spans([[0]]), f"{SPAN} must be [start, end], not [0]"),
        (with_spans([[-1, 3]]), f"{SPAN} must be [start, end], not [-1, 3]"),
        (with_spans([[0, True]]), f"{SPAN} must be [start, end], not [0, true]"),
        (with_spans(["ab"]), f'{SPAN} must be [start, end], not "ab"'),
        (
            {"type": "judge", "id": "j", "kind": "robot"},
            "field 'kind' must be one of expert, crowd, model, not 'robot'",
        ),
        ({**TASK, "kind": "guess"}, "field 'kind' must be one of write, judge, rate, compare, not 'guess'"),
        ({"type": "aspect", "id": "a", "low": 1}, "field 'high' is missing"),
        ({"type": "aspect", "id": "a", "low": 1, "high": None}, "field 'high' must be a number, not null"),
        ({"type": "aspect", "id": "a", "low": None, "high": 1}, "field 'low' must be a number, not null"),
        ({**JUDGMENT, "value": "1"}, "field 'value' must be a number or null, not \"1\""),
        ({**JUDGMENT, "value": True}, "field 'value' must be a number or null, not true"),
        ({**JUDGMENT, "value": 1e300}, "field 'value' must be a number or null, not 1e+300"),
        ({**JUDGMENT, "value": -(10**400)}, f"field 'value' must be a number or null, not -1{'0' * 38}"),
        ({**JUDGMENT, "unit": 3}, "field 'unit' must be text, not 3"),
        ({key: JUDGMENT[key] for key in JUDGMENT if key != "topic"}, "field 'topic' is missing"),
        (
            {key: JUDGMENT[key] for key in JUDGMENT if key != "value"},
            "field 'value' is missing (null means unanswered)",
        ),
        ({**JUDGMENT, "evidence": [3]}, "field 'evidence[0]' must be a list, not 3"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(record: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRecordError) as caught:
        Collector().add(record)
    assert str(caught.value) == message


def test_a_title_is_text() -> None:
    with pytest.raises(BadRecordError, match="field 'title' must be text, not 3"):
        Collector().add({"type": "study", "title": 3})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "this must be an object, not []"),
        ({"reference": "A", "colour": "red"}, "field 'colour' is unknown; there are: reference, spans"),
        ({"spans": []}, "field 'reference' is missing"),
    ],
)
def test_a_strict_codec_refuses_what_it_does_not_know(value: object, message: str) -> None:
    with pytest.raises(BadRecordError) as caught:
        Codec(strict=True).decode(pyr.Contributor, value)
    assert str(caught.value) == message


def test_a_strict_codec_wants_every_list_without_a_default() -> None:
    with pytest.raises(BadRecordError, match="field 'references' is missing"):
        Codec(strict=True).decode(pyr.Pyramid, {"topic": "t", "units": []})


def test_a_study_has_one_title() -> None:
    collector = Collector()
    collector.add({"type": "study", "title": "One"})
    collector.add({"type": "study", "title": "Two"})
    with pytest.raises(BadRecordError, match="more than one record of type 'study'"):
        collector.study()
