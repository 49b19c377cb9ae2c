"""The native format holds everything, and every bad line is named."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.errors import Problems
from pyramidion.formats import jsonl
from pyramidion.study.records import to_records

SCHEMA = json.loads((Path(jsonl.__file__).parent / "study.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@given(studies())
def test_there_and_back_loses_nothing(tmp_path_factory: pytest.TempPathFactory, study: pyr.Study) -> None:
    path = tmp_path_factory.mktemp("jsonl") / "study.jsonl"
    problems = Problems()
    jsonl.write(study, path, problems)
    assert jsonl.read(path, problems) == study
    assert not list(problems)
    for line in path.read_bytes().split(b"\n")[:-1]:
        VALIDATOR.validate(json.loads(line))


def test_the_example_obeys_the_schema(example: pyr.Study) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for line in list(to_records(example))[:400]:
        VALIDATOR.validate(json.loads(json.dumps(line)))


GOOD = '{"type": "topic", "id": "t"}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ('{"type": "tpic"}', "unknown type 'tpic'; known values are: study, topic"),
        ('{"type": "topic"}', "field 'id' is missing"),
        ('{"type": "topic", "id": 3}', "field 'id' must be text, not 3"),
        ('{"type": "topic", "id": "\\ud800"}', "surrogate"),
        ('{"type": "study", "version": 9}', "version 9"),
        ('{"type": "summary", "topic": "t", "system": "s", "text": "", "role": "judge"}', "reference, peer"),
        ('{"type": "judgment", "topic": "t", "system": "s", "judge": "j", "unit": "u"}', "'value' is missing"),
        ('{"type": "judgment", "topic": "t", "system": "s", "judge": "j", "unit": "u", "value": NaN}', "NaN is not"),
        ('{"type": "judgment", "topic": "t", "system": "s", "judge": "j", "unit": "u", "value": true}', "a number"),
        (
            '{"type": "judgment", "topic": "t", "system": "s", "judge": "j", "unit": "u", "value": 1e999}',
            "must be a number",
        ),
        ('{"type": "judgment", "topic": "t", "system": "s", "judge": "j", "value": 1}', "either a unit or an aspect"),
        (
            '{"type": "pyramid", "topic": "t", "references": ["A"], "units": [{"id": "u", "label": "", '
            '"contributors": [{"reference": "A", "spans": [[3]]}]}]}',
            "[start, end]",
        ),
        ('{"type": "pyramid", "topic": "t", "references": "A", "units": []}', "'references' must be a list"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_every_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "study.jsonl"
    path.write_text(f"{GOOD}\n{line}\n")
    problems = Problems()
    study = jsonl.read(path, problems)
    assert [topic.id for topic in study.topics][:1] == ["t"]
    assert [p.where for p in problems.errors] == [f"{path}, line 2"]
    assert message in problems.errors[0].what


def test_unknown_fields_are_reported_not_dropped_silently(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    path.write_text('{"type": "topic", "id": "t", "titel": "x"}\n')
    problems = Problems()
    jsonl.read(path, problems)
    assert [str(p) for p in problems.warnings] == [f"{path}, line 1: unknown field 'titel' is ignored"]


def test_a_hundred_megabyte_line_is_refused_without_reading_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "study.jsonl"
    with path.open("wb") as file:
        file.write(GOOD.encode() + b'\n{"type": "topic", "id": "')
        for _ in range(100):
            file.write(b"x" * 2**20)
        file.write(b'"}\n' + b'{"type": "topic", "id": "last"}\n')
    problems = Problems()
    study = jsonl.read(path, problems)
    assert [topic.id for topic in study.topics] == ["t", "last"]
    assert [str(p) for p in problems] == [f"{path}, line 2: is longer than 32 MiB"]
