"""Embedders by name; the one over the network against a real server."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.judges.chat_server import Answer, ChatServer

from pyramidion.encoder.minilm import Encoder
from pyramidion.errors import MissingExtraError, UsageError
from pyramidion.pyramids.embedders import ATTEMPTS, TEXTS_PER_REQUEST, OpenAIEmbedder, embedder


def test_the_embedded_encoder_gives_unit_vectors_and_knows_what_is_alike() -> None:
    embed = embedder("minilm", Encoder())
    vectors = embed(["The river rose.", "The water of the river went up.", "Cats like fish."])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2]
    assert len(embed([])) == 0


@pytest.mark.parametrize("name", ["glove", "minilm:x", "wtmf", "st:", "openai"])
def test_wrong_names_list_the_right_ones(name: str) -> None:
    with pytest.raises(UsageError, match="unknown embedder"):
        embedder(name, Encoder())


def vectors(body: dict[str, Any]) -> Answer:
    """A vector for each text, given back in another order."""
    rows = [{"index": i, "embedding": [3.0 * len(text), 4.0 * len(text)]} for i, text in enumerate(body["input"])]
    return Answer(200, json.dumps({"data": rows[::-1]}))


def asking(server: ChatServer, monkeypatch: pytest.MonkeyPatch, waits: list[float] | None = None) -> OpenAIEmbedder:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    return OpenAIEmbedder("small", wait=(waits if waits is not None else []).append)


def test_a_server_is_asked_in_parts_and_its_answers_put_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(otherwise=vectors) as server:
        found = asking(server, monkeypatch)(["text"] * (TEXTS_PER_REQUEST + 1))
    assert [(each["path"], each["model"], len(each["input"])) for each in server.asked] == [
        ("/v1/embeddings", "small", TEXTS_PER_REQUEST),
        ("/v1/embeddings", "small", 1),
    ]
    assert server.headers[0]["Authorization"] == "Bearer secret"
    assert found == pytest.approx(np.tile([0.6, 0.8], (TEXTS_PER_REQUEST + 1, 1)))


def test_a_busy_server_is_asked_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    with ChatServer([lambda _: Answer(429, ""), lambda _: Answer(503, "")], otherwise=vectors) as server:
        assert asking(server, monkeypatch, waits)(["a"]).shape == (1, 2)
    assert waits == [1, 2]


@pytest.mark.parametrize(
    ("reply", "requests", "message"),
    [
        (Answer(401, "bad key"), 1, "HTTP 401: bad key"),
        (Answer(500, ""), ATTEMPTS, "HTTP 500"),
        (Answer(200, '{"data": []}'), 1, "0 vectors for 1 texts"),
        (Answer(200, "hello"), 1, "not a list of vectors"),
    ],
)
def test_what_a_server_says_instead_of_vectors_is_reported(
    reply: Answer, requests: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer(otherwise=lambda _: reply) as server:
        embed = asking(server, monkeypatch)
        with pytest.raises(UsageError, match=message):
            embed(["a"])
    assert len(server.asked) == requests


def test_no_server_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer() as server:
        pass
    with pytest.raises(UsageError, match="returned no vectors"):
        asking(server, monkeypatch)(["a"])


def test_sentence_transformers_are_used_where_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pyramidion-eval\[sentence-transformers\]"):
        embedder("st:some-model", Encoder())
    fake = ModuleType("sentence_transformers")
    fake.SentenceTransformer = lambda name: SimpleNamespace(  # type: ignore[attr-defined]
        encode=lambda texts, show_progress_bar: np.full((len(texts), 2), len(name))
    )
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    assert embedder("st:some-model", Encoder())(["a"]) == pytest.approx(np.full((1, 2), 0.5**0.5))
