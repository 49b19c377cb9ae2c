"""A chat model as a judge: what is asked, how answers are read, what happens when there is none."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judges.chat_server import Answer, ChatServer, chat, honest, judged, question
from tests.judges.endpoints import error, llama_cpp, ollama, vllm

import pyramidion as pyr
from pyramidion.errors import PyramidionError, UsageError
from pyramidion.judges import Questions, Verdicts, make_judge
from pyramidion.judges.llm import SCHEMA, SYSTEM, LlmJudge, Reply, parse
from pyramidion.judging import judge_study
from pyramidion.remote.session import HOPELESS, TRIES
from pyramidion.study import Span

UNITS = ["Police arrested 12 protesters.", "The march had been banned.", "The company raised its dividend."]
SUMMARIES = ["Police arrested 12 protesters in the capital. The march had been banned.", "", "It rained."]
Ask = Callable[..., LlmJudge]


def only(judge: LlmJudge, units: list[str], summaries: list[str]) -> Verdicts:
    (verdicts,) = judge.judge([Questions(units, summaries)])
    return verdicts


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def ask(tmp_path: Path, slept: list[float]) -> Ask:
    """A judge whose clock is moved on by sleeping alone."""

    def made(server: ChatServer, url: str = "", model: str = "some-model", **options: Any) -> LlmJudge:
        cache = tmp_path / "replies.sqlite"
        own = {"sleep": slept.append, "clock": lambda: sum(slept)}
        return LlmJudge(model, base_url=url or server.url, cache=cache, **own, **options)

    return made


def test_llm_asks_for_the_units_of_a_summary_at_once(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    with ChatServer() as server:
        found = only(ask(server), UNITS, SUMMARIES)
    assert found.probability.tolist() == [[0.1, 0, 0.1], [0.9, 0, 0.1], [0.1, 0, 0.1]]
    assert [span.of(SUMMARIES[0]) for span in found.evidence(1, 0)] == [UNITS[1]]
    assert found.evidence(0, 0) == ()
    assert len(server.asked) == 2  # nothing is asked about an empty summary
    for request, headers in zip(server.asked, server.headers, strict=True):
        assert request["path"] == "/v1/chat/completions"
        assert (request["model"], request["temperature"], request["stream"]) == ("some-model", 0, False)
        assert "seed" not in request
        assert headers["Authorization"] == "Bearer not-a-real-key"


def test_units_are_cut_into_requests_of_a_batch_and_keep_their_order(ask: Ask) -> None:
    units = [f"Fact {i}." for i in range(60)]
    for batch, requests in ((25, 3), (7, 9), (60, 1)):
        with ChatServer() as server:
            found = only(ask(server, batch=batch), units, [" ".join(units[::2])])
            assert len(server.asked) == requests
        assert (found.probability[:, 0] > 0.5).tolist() == [i % 2 == 0 for i in range(60)]


def test_llm_estimates_before_and_never_asks_twice(ask: Ask) -> None:
    asked = [Questions(UNITS, SUMMARIES)]
    with ChatServer() as server:
        judge = ask(server)
        before = judge.estimate(asked)
        assert (before.requests, before.known, len(server.asked)) == (2, 0, 0)
        assert before.cost(1.0, 2.0) == pytest.approx((before.tokens_in + 2 * before.tokens_out) / 1e6)
        first = only(judge, asked[0].units, asked[0].summaries).probability
        again = ask(server)
        assert again.estimate(asked).requests == 0
        np.testing.assert_array_equal(only(again, asked[0].units, asked[0].summaries).probability, first)
        assert len(server.asked) == 2
    assert (judge.usage.requests, judge.usage.tokens_in, judge.usage.tokens_out) == (2, 200, 20)
    assert judge.usage.cost(1.0, 10.0) == pytest.approx(400 / 1e6)
    assert (again.usage.requests, again.earlier) == (0, judge.usage)


def test_the_choices_are_sent_and_are_part_of_the_key_and_of_the_signature(ask: Ask, tmp_path: Path) -> None:
    prompt = tmp_path / "mine.txt"
    prompt.write_text("Judge as I say.")
    with ChatServer() as server:
        for options in ({}, {"temperature": 0.7}, {"seed": 3}, {"prompt": prompt}, {"temperature": 0.7, "seed": 3}):
            only(ask(server, **options), UNITS, SUMMARIES[:1])
        assert len(server.asked) == 5
        assert [request.get("seed") for request in server.asked] == [None, None, 3, None, 3]
        assert [request["temperature"] for request in server.asked] == [0, 0.7, 0, 0, 0.7]
        assert [request["messages"][0]["content"] for request in server.asked][3] == "Judge as I say."
        digest = hashlib.sha256(b"Judge as I say.").hexdigest()[:8]
        assert ask(server, prompt=prompt, seed=0, batch=3).choices == {"seed": 0, "prompt": digest, "batch": 3}
        assert ask(server).choices == {}


def test_replies_that_an_earlier_version_has_cached_are_found(ask: Ask, tmp_path: Path) -> None:
    """The key and the table as they were: a hash of the address, the model and the messages."""
    body = {"summary": SUMMARIES[0], "statements": [{"statement": 1, "text": UNITS[0]}]}
    user = {"role": "user", "content": json.dumps(body, ensure_ascii=False, indent=1)}
    with ChatServer() as server:
        key = hashlib.sha256(
            json.dumps([server.url, "some-model", [{"role": "system", "content": SYSTEM}, user]]).encode()
        ).hexdigest()
        with sqlite3.connect(tmp_path / "replies.sqlite") as database:
            database.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, text TEXT NOT NULL)")
            reply = '```json\n{"answers": [{"statement": 1, "probability": 0.25}]}\n```'
            database.execute("INSERT INTO replies VALUES (?, ?)", (key, reply))
        judge = ask(server)
        assert only(judge, UNITS[:1], SUMMARIES[:1]).probability.tolist() == [[0.25]]
        assert server.asked == []
        assert judge.earlier.unreported == 1


def test_malformed_answers_are_sent_back_with_the_reason(ask: Ask) -> None:
    bad = [lambda _: chat("I think so.", usage=(5, 1)), lambda _: chat('{"answers": []}', usage=(5, 1))]
    with ChatServer(bad) as server:
        judge = ask(server)
        found = only(judge, UNITS, SUMMARIES[:1])
    assert found.probability[1, 0] == 0.9
    assert "0 answers to 3 statements" in server.asked[2]["messages"][-1]["content"]
    assert len(server.asked[2]["messages"]) == 4
    assert (judge.usage.requests, judge.usage.tokens_in, judge.usage.tokens_out) == (3, 110, 12)


REFUSALS: dict[str, Answer] = {
    "said": chat("I'm sorry, but I cannot help with that."),
    "refusal": chat(None, refusal="I cannot judge this."),
    "filter": chat("", finish="content_filter"),
    "azure": error(400, code="content_filter", message="The response was filtered", param="prompt"),
    "openrouter": error(403, code=403, message="Your input was flagged", metadata={"reasons": ["violence"]}),
    "in a success": Answer(200, json.dumps({"error": {"message": "Provider refused"}})),
    "odd": error(400, message="no"),
    "half": chat('{"answers": [{"statement": 1, "probability": "n/a"}, {"statement": 2}]}'),
    "empty": chat(""),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
def test_a_refusal_is_missing_and_the_run_goes_on(refusal: Answer, ask: Ask) -> None:
    def picky(body: dict[str, Any]) -> Answer:
        return refusal if "violent" in question(body)["summary"] else honest(body)

    asked = [Questions(UNITS[:2], [SUMMARIES[0], "A violent march.", "It rained."]), Questions(UNITS[:1], ["Rain."])]
    with ChatServer(otherwise=picky) as server:
        first, second = ask(server).judge(asked)
        assert np.isnan(first.probability[:, 1]).all()
        assert not np.isnan(first.probability[:, [0, 2]]).any()
        assert second.probability.tolist() == [[0.1]]
        assert set(first.missing) == {(0, 1), (1, 1)}
        assert all(first.missing.values())
        assert first.evidence(0, 1) == ()
        count = len(server.asked)
        list(ask(server).judge(asked))
        assert {question(body)["summary"] for body in server.asked[count:]} == {"A violent march."}  # asked again


def test_what_can_be_used_of_an_incomplete_answer_is_used(ask: Ask) -> None:
    def lazy(_: dict[str, Any]) -> Answer:
        return chat('{"answers": [{"statement": 3, "probability": 0.3}, {"statement": 1, "probability": "10%"}]}')

    with ChatServer(otherwise=lazy) as server:
        found = only(ask(server), UNITS, SUMMARIES[:1])
    assert found.probability[0, 0] == pytest.approx(0.1)
    assert found.probability[2, 0] == pytest.approx(0.3)
    assert isnan(found.probability[1, 0])
    assert "there is none to 2" in found.missing[1, 0]
    assert len(server.asked) == TRIES


def test_missing_judgments_are_named_and_kept_as_missing(ask: Ask) -> None:
    study = pyr.example()

    def picky(body: dict[str, Any]) -> Answer:
        return REFUSALS["refusal"] if question(body)["summary"] == refused.text else honest(body)

    refused = next(peer for peer in study.peers if peer.system == "vague")
    units = [unit.id for unit in study.pyramid(refused.topic, "crowd").sampled]  # type: ignore[union-attr]
    with ChatServer(otherwise=picky) as server:
        judged_study = judge_study(study, ask(server))
    mine = [j for j in judged_study.study.judgments if j.judge == "llm:some-model"]
    assert {(j.topic, j.system, j.unit) for j in mine if j.value is None} == {
        (refused.topic, "vague", unit) for unit in units
    }
    assert judged_study.table.value("vague", "lite", refused.topic) is None
    notes = [note for note in judged_study.table.notes if note.where == f"topic {refused.topic}, system vague"]
    assert [note.what for note in notes] == [
        f"llm:some-model gave no usable answer to units {', '.join(units)}: the model refuses (I cannot judge this.)"
    ]
    (judge,) = [judge for judge in judged_study.study.judges if judge.kind == "model"]
    assert judge.note.startswith("judged pyramid crowd: endpoint 127.0.0.1")
    assert "; 48 requests, 4,600 tokens in and 460 out (tokens of 2 were not reported)" in judge.note


def test_a_model_that_never_answers_is_an_error_and_is_not_asked_for_ever(ask: Ask) -> None:
    with ChatServer(otherwise=lambda _: chat("no")) as server:
        with pytest.raises(PyramidionError, match="gave no usable answer at all: no usable reply in 5 tries"):
            only(ask(server), UNITS, SUMMARIES[:1])
        many = [Questions([f"Fact {i}."], ["Text."]) for i in range(200)]
        with pytest.raises(PyramidionError, match=f"none of the first {HOPELESS} requests"):
            list(ask(server).judge(many))
        assert len(server.asked) < 30 * TRIES


# -- waiting ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "20ms"}, 360.0),
        (
            {
                "x-ratelimit-remaining-requests": "12",
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "1.5s",
            },
            1.5,
        ),
        ({"Retry-After": "soon"}, 1.0),
        ({}, 1.0),
    ],
)
def test_llm_waits_as_long_as_it_is_told(headers: dict[str, str], seconds: float, ask: Ask, slept: list[float]) -> None:
    with ChatServer([lambda _: Answer(429, "slow down", headers), lambda _: Answer(503, "later")]) as server:
        found = only(ask(server), UNITS, SUMMARIES[:1])
    assert found.probability[1, 0] == 0.9
    assert slept == pytest.approx([seconds, 2.0])


def test_an_answer_that_uses_up_a_limit_holds_the_next_request(ask: Ask, slept: list[float]) -> None:
    limits = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "3s"}
    with ChatServer([lambda body: honest(body)._replace(headers=limits)]) as server:
        only(ask(server, concurrency=1), UNITS, [SUMMARIES[0], "It rained."])
    assert slept == [3.0]


def test_llm_does_not_wait_for_hours(ask: Ask, slept: list[float]) -> None:
    with (
        ChatServer([lambda _: Answer(429, "quota", {"Retry-After": "7200"})]) as server,
        pytest.raises(PyramidionError, match="asks to wait 7,200 seconds; run again then"),
    ):
        only(ask(server), UNITS, SUMMARIES[:1])
    assert slept == []


def test_requests_of_several_topics_are_under_way_at_once(ask: Ask) -> None:
    together = threading.Barrier(5)

    def patient(body: dict[str, Any]) -> Answer:
        together.wait(timeout=60)
        return honest(body)

    with ChatServer(otherwise=patient) as server:
        topics = [Questions([f"Fact {i}."], [f"Fact {i}. More."]) for i in range(10)]
        found = [verdicts.probability[0, 0] for verdicts in ask(server, concurrency=5).judge(topics)]
    assert found == [0.9] * 10


def test_llm_says_when_nobody_is_there(ask: Ask, slept: list[float]) -> None:
    with ChatServer() as server:
        judge = ask(server)
    with pytest.raises(PyramidionError, match=r"gave no reply in 5 tries.*run again to continue"):
        only(judge, UNITS, SUMMARIES[:1])
    assert slept == [1.0, 2.0, 4.0, 8.0]


def test_llm_reports_a_wrong_key_at_once(ask: Ask, slept: list[float]) -> None:
    with (
        ChatServer([lambda _: Answer(401, "bad key")]) as server,
        pytest.raises(UsageError, match=r"refuses \(status 401: bad key\)"),
    ):
        only(ask(server), UNITS, SUMMARIES[:1])
    assert slept == []


def test_llm_goes_on_where_it_was_interrupted(ask: Ask) -> None:
    topics = [Questions([f"Fact {i}."], [f"Fact {i}. More."]) for i in range(6)]
    with ChatServer([honest, honest, honest, lambda _: Answer(401, "expired")]) as server:
        with pytest.raises(UsageError, match="expired"):
            list(ask(server, concurrency=1).judge(topics))
        assert len(server.asked) <= 5
        found = [verdicts.probability[0, 0] for verdicts in ask(server).judge(topics)]
        assert found == [0.9] * 6
        asked = [question(body)["summary"] for body in server.asked]
    assert [asked.count(f"Fact {i}. More.") for i in (0, 1, 2, 3)] == [1, 1, 1, 2]


def test_an_endpoint_that_is_no_chat_is_told_apart(ask: Ask) -> None:
    for body in ("<html>", "[]", '{"choices": []}', '{"choices": [{"message": "hello"}]}', "3"):
        with (
            ChatServer([lambda _, body=body: Answer(200, body)]) as server,  # type: ignore[misc]
            pytest.raises(PyramidionError, match="does not speak the chat protocol"),
        ):
            only(ask(server), UNITS, SUMMARIES[:1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1}, "between 0 and 2"),
        ({"temperature": float("nan")}, "between 0 and 2"),
        ({"concurrency": 0}, "concurrency must be between 1"),
        ({"batch": 0}, "a batch must have between 1"),
        ({"prompt": "no/such/file"}, "no/such/file cannot be read"),
        ({"price": (1.0, -1.0)}, "two numbers from 0 on"),
        ({"base_url": "localhost:8000"}, "is not an address such as"),
        ({"nonsense": 1}, "judge llm has no option 'nonsense'"),
    ],
)
def test_bad_choices_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        make_judge("llm:m", {"cache": tmp_path / "c", **options})


# -- endpoints -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_v1", [True, False], ids=["v1", "bare"])
@pytest.mark.parametrize(
    ("endpoint", "formats", "reported"),
    [
        (llama_cpp(), ["json_schema", "json_schema"], True),
        (llama_cpp(old=True), ["json_schema", "json_object", "json_object"], True),
        (vllm(), ["json_schema", "json_schema"], True),
        (ollama(), ["json_schema", "json_schema"], False),
    ],
    ids=["llama.cpp", "old llama.cpp", "vllm", "ollama"],
)
def test_local_servers(endpoint: Any, formats: list[str], reported: bool, with_v1: bool, ask: Ask) -> None:
    with ChatServer(otherwise=endpoint) as server:
        url = server.url if with_v1 else server.url.removesuffix("/v1")
        judge = ask(server, url=url, concurrency=1)
        found = only(judge, UNITS, [SUMMARIES[0], "It rained."])
    assert found.probability[:, 0].tolist() == [0.1, 0.9, 0.1]
    assert not found.missing
    answered = [body for body in server.asked if with_v1 or "/v1/" in body["path"] or endpoint.__qualname__[0] == "l"]
    assert [body["response_format"]["type"] for body in answered] == formats
    assert (judge.usage.tokens_in > 0) == reported
    assert judge.usage.unreported == (0 if reported else 2)


def test_the_schema_is_the_form_that_is_read(ask: Ask) -> None:
    with ChatServer() as server:
        only(ask(server), UNITS, SUMMARIES[:1])
        only(ask(server, schema=False, seed=1), UNITS, SUMMARIES[:1])
    held = server.asked[0]["response_format"]["json_schema"]
    assert (held["schema"], held["strict"]) == (SCHEMA, True)
    assert "response_format" not in server.asked[1]
    entry = SCHEMA["properties"]["answers"]["items"]  # type: ignore[index]
    assert set(entry["required"]) == set(entry["properties"]) == {"statement", "probability", "evidence"}


def test_an_endpoint_without_structured_output_is_asked_once_for_it(ask: Ask) -> None:
    def plain(body: dict[str, Any]) -> Answer:
        return error(422, message="response_format is not supported") if "response_format" in body else honest(body)

    with ChatServer(otherwise=plain) as server:
        only(ask(server, concurrency=1), UNITS, [SUMMARIES[0], "It rained.", "It snowed."])
    assert ["response_format" in body for body in server.asked] == [True, True, False, False, False]


@pytest.mark.parametrize("endpoint", [llama_cpp(260), vllm(260)], ids=["llama.cpp", "vllm"])
def test_a_request_that_is_too_long_is_split(endpoint: Any, ask: Ask) -> None:
    units = [f"Fact {i} is one of many in this text." for i in range(20)]
    with ChatServer(otherwise=endpoint) as server:
        judge = ask(server)
        found = only(judge, units, [" ".join(units[:2])])
        assert (found.probability[:, 0] > 0.5).tolist() == [i < 2 for i in range(20)]
        sent = len(server.asked)
        assert sent > 3
        again = ask(server)
        assert again.estimate([Questions(units, [" ".join(units[:2])])]).requests == 0
        assert only(again, units, [" ".join(units[:2])]).probability.tolist() == found.probability.tolist()
        assert len(server.asked) == sent
        assert again.earlier.tokens_in == judge.usage.tokens_in > 0


def test_a_summary_that_is_too_long_by_itself_is_missing(ask: Ask) -> None:
    with ChatServer(otherwise=llama_cpp(260)) as server:
        found = only(ask(server), UNITS[:2], ["word " * 400, "It rained."])
    assert np.isnan(found.probability[:, 0]).all()
    assert not np.isnan(found.probability[:, 1]).any()
    assert "too long for the model" in found.missing[0, 0]


def test_a_reply_that_is_cut_off_is_asked_for_in_halves(ask: Ask) -> None:
    def short(body: dict[str, Any]) -> Answer:
        whole = judged(body)
        return chat(whole[:150], finish="length") if len(whole) > 150 else chat(whole)

    with ChatServer(otherwise=short) as server:
        found = only(ask(server), UNITS, SUMMARIES[:1])
    assert found.probability[:, 0].tolist() == [0.1, 0.9, 0.1]


@pytest.mark.parametrize("endpoint", [vllm(), ollama()], ids=["vllm", "ollama"])
def test_a_model_that_is_not_there_is_named(endpoint: Any, ask: Ask) -> None:
    with ChatServer(otherwise=endpoint) as server:
        for url in (server.url, server.url.removesuffix("/v1")):
            with pytest.raises(UsageError, match=r"status 404: .*other"):
                only(ask(server, url=url, model="other"), UNITS, SUMMARIES[:1])


# -- reading an answer -----------------------------------------------------------------------------------------------

GOOD = '{"answers": [{"statement": 1, "probability": 0.75, "evidence": "b c"}]}'
SPOKEN = [
    GOOD,
    f"```json\n{GOOD}\n```",
    f"```\n{GOOD}\n```\nLet me know if that helps! :-)",
    f"Sure! Here's what you've asked for [as JSON]:\n\n```JSON\n{GOOD}\n```",
    f"<think>Maybe {GOOD.replace('0.75', '0.1')}? No.</think>{GOOD}",
    f"Maybe {GOOD.replace('0.75', '0.1')}? No.\n</think>\n{GOOD}",
    f"First I thought {GOOD.replace('0.75', '0.1')}. The final answer is: {GOOD}",
    '{"answers": [{"statement": 1, "probability": 0.75, "evidence": "b c",},],}',
    '{"answers": [{"statement": 1, "probability": 0.75, // quite sure\n "evidence": "b c", // here\n}]}',
    "{'answers': [{'statement': 1, 'probability': 0.75, 'evidence': 'b c'}]}",
    "{“answers”: [{“statement”: 1, “probability”: .75, “evidence”: “b c”}]}",
    '[{"statement": 1, "probability": 0.75, "evidence": "b c"}]',
    '{"statement": 1, "probability": 0.75, "evidence": "b c"}',
    '{"probability": 0.75, "evidence": "b c"}',
    '{"answer": {"statement": 1, "probability": 0.75, "evidence": "b c"}}',
    '{"1": {"probability": 0.75, "evidence": "b c"}}',
    '{"results": [{"statement": "Statement 1", "probability": "75%", "evidence": ["b c", "d"]}]}',
    '{"answers": [{"statement": "1", "probability": "0.75", "evidence": "b c", "reason": "it says so"}]}',
    '{"answers": [{"statement": 1.0, "probability": 0.75, "evidence": "b c"}]}',
    f"<|channel|>analysis<|message|>We need JSON.<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}",
]


@pytest.mark.parametrize("text", SPOKEN)
def test_what_models_put_around_an_answer_is_understood(text: str) -> None:
    assert parse(text, 1) == [Reply(0.75, "b c")]


def test_the_usual_form_may_come_in_any_order_or_line_by_line() -> None:
    entries = [{"statement": n, "probability": n / 10} for n in (2, 3, 1)]
    for text in (json.dumps({"answers": entries}), "\n".join(map(json.dumps, entries)), json.dumps(entries)):
        assert [reply.probability for reply in parse(text, 3)] == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("I cannot do that.", r'it holds no JSON \("I cannot do that."\)'),
        ("", "it is empty"),
        ("<think>perhaps " + GOOD, "it holds no JSON"),
        (f"<think>{GOOD}</think> I would rather not say.", "it holds no JSON"),
        ("[]", "0 answers to 1 statements"),
        ('{"answers": [0.75]}', "0 answers to 1 statements"),
        ('{"answers": [{"statement": 2, "probability": 0.5}]}', "entry 1 is not about a statement from 1 to 1"),
        ('{"answers": [{"statement": 0, "probability": 0.5}]}', "entry 1 is not about a statement from 1 to 1"),
        ('{"answers": [{"statement": 1, "probability": 0.5}, {"statement": 1, "probability": 0.4}]}', "several"),
        ('{"answers": [{"statement": 1, "probability": 1.5}]}', "not a number from 0 to 1"),
        ('{"answers": [{"statement": 1, "probability": 75}]}', "not a number from 0 to 1"),
        ('{"answers": [{"statement": 1, "probability": true}]}', "not a number from 0 to 1"),
        ('{"answers": [{"statement": 1, "probability": "yes"}]}', "not a number from 0 to 1"),
        ('{"answers": [{"statement": 1, "probability": "%"}]}', "not a number from 0 to 1"),
        ('{"answers": [{"statement": 1, "probability": null}]}', "not a number from 0 to 1"),
        ('{"answers": [{"statement": 1, "probability": 1e999}]}', "not a number from 0 to 1"),
        ('{"answers": [{"statement": 1, "probability": NaN}]}', "it holds no JSON|0 answers"),
        ('{"answers": [{"probability": 0.5}, {"probability": 0.5}]}', "2 answers to 1 statements"),
    ],
)
def test_what_an_answer_says_is_read_strictly(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text, 1)


PROBABILITIES = st.lists(st.floats(0, 1).map(lambda value: round(value, 6)), min_size=1, max_size=8)
TALK = st.text(st.characters(exclude_characters="[]{}<|", codec="utf-8"), max_size=40)


@given(PROBABILITIES, TALK, TALK, st.sampled_from(["", "json", "JSON"]), st.booleans(), st.text(max_size=30))
def test_any_answer_survives_what_is_put_around_it(
    values: list[float], before: str, after: str, language: str, comma: bool, quoted: str
) -> None:
    entries = [{"statement": n, "probability": value, "evidence": quoted} for n, value in enumerate(values, 1)]
    text = json.dumps({"answers": entries}, indent=1)
    text = text.replace("\n ]", ",\n ]") if comma else text
    spoken = f"<think>{before} {{}} </think>\n{before}\n```{language}\n{text}\n```\n{after}"
    assert parse(spoken, len(values)) == [Reply(value, quoted) for value in values]


@given(st.one_of(st.text(max_size=200), st.text("[]{}\"',:.01ae \\/n\n", max_size=200)))
def test_no_reply_crashes_the_parser(text: str) -> None:
    with suppress(ValueError):
        assert len(parse(text, 1)) == 1


@pytest.mark.parametrize(
    "text", ["[" * 10**5, '{"a":' * 10**5, "'" * 10**5, '"' * 99_999, "[1," * 10**5, "{//" * 10**5]
)
def test_a_hostile_reply_takes_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|0 answers"):
        parse(text, 1)


def test_quotes_are_located() -> None:
    (reply,) = parse('{"answers": [{"statement": 1, "probability": 1, "evidence": "b c"}]}', 1)
    assert reply.mention("a b c") == (Span(2, 5),)
    assert reply.mention("A B\n C.") == (Span(2, 6),)
    assert reply.mention("nothing like it") == ()
    assert Reply(1, '"it\'s – late."').mention("So it’s - late") == (Span(3, 14),)


def test_the_documented_prompt_is_the_one_that_is_sent(ask: Ask) -> None:
    page = (Path(__file__).parents[2] / "docs" / "howto" / "judge.md").read_text("utf-8")
    quoted = " ".join(line.removeprefix(">") for line in page.splitlines() if line.startswith(">"))
    assert " ".join(SYSTEM.split()) in " ".join(quoted.split())
    with ChatServer() as server:
        only(ask(server), UNITS, SUMMARIES[:1])
    assert server.asked[0]["messages"][0]["content"] == SYSTEM
    assert json.loads(server.asked[0]["messages"][1]["content"])["statements"][0]["text"] == UNITS[0]
