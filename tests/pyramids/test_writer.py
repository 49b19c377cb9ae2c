"""A chat model writes units: what it is asked, where units come from, the crowd's filters and sampling."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.judges.chat_server import Answer, ChatServer, chat, honest, question
from tests.judges.endpoints import llama_cpp

import pyramidion as pyr
from pyramidion.errors import PyramidionError, UsageError
from pyramidion.judging import judge_study, write_units
from pyramidion.pyramids.statements import pool_units
from pyramidion.pyramids.writer import SYSTEM, LlmWriter, WrittenStatement, parse_statements
from pyramidion.study import ContentUnit, Contributor, Judge, Judgment

FERRY = "The harbour ferry was cancelled on Monday after its engine failed. About 300 passengers took buses instead."
STORM = "A storm closed the northern harbour on Sunday. Two boats sank near the old lighthouse."
STUDY = pyr.Study(
    topics=(pyr.Topic("t1"), pyr.Topic("t2"), pyr.Topic("t3")),
    summaries=(
        pyr.Summary("t1", "B", FERRY, "reference"),
        pyr.Summary("t1", "A", STORM, "reference"),
        pyr.Summary("t2", "A", STORM, "reference"),
        pyr.Summary("t2", "C", "...", "reference"),
        pyr.Summary("t1", "x", "The ferry stood still."),
    ),
)
Make = Callable[..., LlmWriter]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(server: ChatServer, **options: Any) -> LlmWriter:
        slept: list[float] = []
        own = {"sleep": slept.append, "clock": lambda: sum(slept)}
        return LlmWriter("some-model", base_url=server.url, cache=tmp_path / "replies.sqlite", **own, **options)

    return made


def test_a_model_writes_a_pyramid_for_each_topic(make: Make) -> None:
    with ChatServer() as server:
        writer = make(server, price=(1.0, 10.0))
        assert writer.estimate([{"B": FERRY, "A": STORM}, {"A": STORM}]).requests == 2
        assert server.asked == []
        study = write_units(STUDY, writer)
    assert study.problems() == []
    pyramid = study.pyramid("t1", "llm")
    assert pyramid is not None
    assert pyramid.references == ("A", "B")
    assert [(unit.id, unit.label, unit.author) for unit in pyramid.units] == [
        ("llm-001", "A storm closed the northern harbour on Sunday.", "llm:some-model"),
        ("llm-002", "Two boats sank near the old lighthouse.", "llm:some-model"),
        ("llm-003", "The harbour ferry was cancelled on Monday after its engine failed.", "llm:some-model"),
        ("llm-004", "About 300 passengers took buses instead.", "llm:some-model"),
    ]
    texts = {"A": STORM, "B": FERRY}
    for unit in pyramid.units:
        (contributor,) = unit.contributors
        (span,) = contributor.spans
        assert span.of(texts[contributor.reference]) == unit.label.rstrip(".")
    assert study.pyramid("t3", "llm") is None
    said = {str(note) for note in study.notes}
    assert "topic t3: has no references, so no pyramid can be built" in said
    assert "topic t2, reference C: is empty and is left out" in said
    (judge,) = study.judges
    assert (judge.id, judge.kind) == ("llm:some-model", "model")
    assert judge.note.startswith("wrote pyramid llm: endpoint 127.0.0.1")
    assert judge.note.endswith("; 2 requests, 200 tokens in and 20 out, $0.0004")
    assert [request["messages"][0]["content"] for request in server.asked] == [
        SYSTEM
    ] * 2  # the same text is asked about once
    assert "4 to 20 words" in SYSTEM


def test_filters_and_sampling_are_those_of_the_crowd(make: Make) -> None:
    texts = [f"Fact number {i} is about harbour {i * 7} and city {i * 3}." for i in range(12)]
    texts += ["Too short.", f"Long {'word ' * 30}.", "One sentence. Another sentence is here.", texts[0]]

    def busy(_: dict[str, Any]) -> Answer:
        return chat(json.dumps({"statements": [{"statement": text, "source": ""} for text in texts]}))

    with ChatServer(otherwise=busy) as server:
        study = write_units(STUDY, make(server, statements=20, units_per_topic=6, units_per_task=4, seed=5))
    rng = np.random.default_rng(5)
    for topic, references in (("t1", ("A", "B")), ("t2", ("A",))):
        units = [
            ContentUnit(f"llm-{n:03}", " ".join(text.split()), (Contributor(reference),), author="llm:some-model")
            for n, (reference, text) in enumerate(((r, t) for r in references for t in texts), 1)
        ]
        expected = pool_units(topic, references, units, name="llm", units_per_topic=6, units_per_task=4, rng=rng)
        assert study.pyramid(topic, "llm") == expected.pyramid
        assert len(expected.pyramid.sampled) == 6
        assert {unit.group for unit in expected.pyramid.sampled} == {"1", "2"}
        assert set(expected.notes) <= set(study.notes)
    dropped = [note.what for note in study.notes if note.where == "topic t2, statement llm-013"]
    assert dropped == ["dropped: 2 words, fewer than 4"]


def test_units_are_written_once_and_what_was_refused_is_asked_again(make: Make) -> None:
    def shy(body: dict[str, Any]) -> Answer:
        return chat(None, refusal="No.") if "storm" in question(body)["text"] else honest(body)

    with ChatServer(otherwise=shy) as server:
        study = write_units(STUDY, make(server))
        assert "topic t1, reference A: llm:some-model wrote no units: the model refuses (No.)" in map(str, study.notes)
        assert study.pyramid("t2", "llm") is None
        assert {unit.contributors[0].reference for unit in study.pyramids[0].units} == {"B"}
        asked = len(server.asked)
        write_units(STUDY, make(server))
        assert {question(body)["text"] for body in server.asked[asked:]} == {STORM}
    with ChatServer() as server:
        first = write_units(STUDY, make(server))
        again = make(server)
        assert (again.estimate([{"A": STORM, "B": FERRY}]).known, len(server.asked)) == (2, 2)
        assert write_units(STUDY, again).pyramids == first.pyramids
        assert len(server.asked) == 2
        assert (again.usage.requests, again.earlier.requests) == (0, 2)


def test_a_model_that_writes_nothing_is_an_error(make: Make) -> None:
    with (
        ChatServer(otherwise=lambda _: chat("I will not.")) as server,
        pytest.raises(PyramidionError, match="wrote no units: no usable reply in 5 tries"),
    ):
        write_units(STUDY, make(server))


def test_a_reference_that_is_too_long_is_read_in_halves(make: Make) -> None:
    long = " ".join(f"Ship {i} sank in the northern harbour." for i in range(40))
    overflow = llama_cpp(0)

    def small(body: dict[str, Any]) -> Answer:
        return overflow(body) if len(question(body)["text"].split()) > 150 else honest(body)

    study = pyr.Study((pyr.Topic("t"),), (pyr.Summary("t", "A", long, "reference"),))
    with ChatServer(otherwise=small) as server:
        (pyramid,) = write_units(study, make(server)).pyramids
    numbers = [int(unit.label.split()[1]) for unit in pyramid.units]
    assert numbers == [0, 1, 2, 3, 20, 21, 22, 23]


def test_written_again_judgments_stay_only_with_units_that_kept_their_words(make: Make) -> None:
    with ChatServer() as server:
        study = write_units(STUDY, make(server))
        judged = judge_study(replace(study, judges=(*study.judges, Judge("w1"))), "lexical", pyramid="llm").study
        by_worker = pyr.Judgments([Judgment("t1", "x", "w1", 1.0, unit="llm-003")])
        judged = replace(judged, judgments=judged.judgments + by_worker)

        def changed(body: dict[str, Any]) -> Answer:
            return chat(
                json.loads(honest(body).body)["choices"][0]["message"]["content"].replace("cancelled", "stopped")
            )

        with ChatServer(otherwise=changed) as other:
            again = write_units(judged, make(other))
    left = {judgment.unit for judgment in again.judgments}
    assert left == {"llm-001", "llm-002", "llm-004"}
    assert again.problems() == []
    assert len([judge for judge in again.judges if judge.id == "llm:some-model"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"statements": [{"statement": "A ferry stopped.", "source": "b"}]}',
        '```json\n{"statements": [{"statement": "A ferry stopped.", "source": "b"},]}\n```',
        '[{"statement": " A ferry\\nstopped. ", "source": "b"}]',
        '<think>[1]</think> Here: {"facts": [{"statement": "A ferry stopped.", "source": "b"}]} [1]',
    ],
)
def test_what_models_put_around_statements_is_understood(text: str) -> None:
    assert parse_statements(text) == [WrittenStatement("A ferry stopped.", "b")]


def test_a_list_of_texts_has_no_sources() -> None:
    (found,) = parse_statements('{"statements": ["A ferry stopped."]}')
    assert found.place("Look: a ferry stopped. Then") == pyr.Span(6, 21)
    assert found.place("Nothing.") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Sorry.", "it holds no JSON"),
        ('{"statements": []}', 'it has no list of "statements"'),
        ('{"statements": [3]}', "statement 1 is not a sentence"),
        ('{"statements": ["a", "  "]}', "statement 2 is not a sentence"),
        (json.dumps({"statements": ["word " * 200]}), "statement 1 is not a sentence"),
    ],
)
def test_what_is_not_a_list_of_sentences_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_statements(text)


def test_bad_choices_are_refused(tmp_path: Path) -> None:
    for options in ({"statements": 0}, {"units_per_topic": 0}, {"units_per_task": 0}):
        with pytest.raises(UsageError, match="1"):
            LlmWriter("m", cache=tmp_path / "c", base_url="http://127.0.0.1:9", **options)  # type: ignore[arg-type]
