"""Embedders by name. The network one is tested against httpx's own fake of a server."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace

import httpx
import numpy as np
import pytest

from pyramidion.auto.embed import ATTEMPTS, TEXTS_PER_REQUEST, OpenAIEmbedder, embedder
from pyramidion.auto.encoder import Encoder
from pyramidion.errors import MissingExtraError, UsageError


def test_the_embedded_encoder_gives_unit_vectors_and_knows_what_is_alike() -> None:
    embed = embedder("minilm", Encoder())
    vectors = embed(["The river rose.", "The water of the river went up.", "Cats like fish."])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2]
    assert len(embed([])) == 0


@pytest.mark.parametrize("name", ["glove", "minilm:x", "wtmf", "st:", "openai"])
def test_wrong_names_list_the_right_ones(name: str) -> None:
    with pytest.raises(UsageError, match="there are"):
        embedder(name, Encoder())


def asking(handler, waits: list[float] | None = None) -> OpenAIEmbedder:  # type: ignore[no-untyped-def]
    client = httpx.Client(base_url="https://vectors.test/v1", transport=httpx.MockTransport(handler))
    return OpenAIEmbedder("small", client=client, wait=(waits if waits is not None else []).append)


def answer(request: httpx.Request) -> httpx.Response:
    texts = json.loads(request.content)["input"]
    rows = [{"index": i, "embedding": [3.0 * len(text), 4.0 * len(text)]} for i, text in enumerate(texts)]
    return httpx.Response(200, json={"data": rows[::-1]})


def test_a_server_is_asked_in_parts_and_its_answers_put_in_order() -> None:
    asked: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answer(request)

    vectors = asking(handler)(["text"] * (TEXTS_PER_REQUEST + 1))
    assert len(asked) == 2
    assert str(asked[0].url) == "https://vectors.test/v1/embeddings"
    assert json.loads(asked[0].content)["model"] == "small"
    assert vectors == pytest.approx(np.tile([0.6, 0.8], (TEXTS_PER_REQUEST + 1, 1)))


def test_a_busy_server_is_asked_again_after_a_while() -> None:
    replies = iter([httpx.Response(429), httpx.Response(503)])
    waits: list[float] = []
    vectors = asking(lambda request: next(replies, None) or answer(request), waits)(["a"])
    assert vectors.shape == (1, 2)
    assert waits == [1, 2]


@pytest.mark.parametrize(
    ("reply", "requests", "message"),
    [
        (httpx.Response(401, text="bad key"), 1, "HTTP 401: bad key"),
        (httpx.Response(500), ATTEMPTS, "HTTP 500"),
        (httpx.Response(200, json={"data": []}), 1, "0 vectors for 1 texts"),
        (httpx.Response(200, text="hello"), 1, "no list of vectors"),
    ],
)
def test_what_a_server_says_instead_of_vectors_is_reported(reply: httpx.Response, requests: int, message: str) -> None:
    asked: list[int] = []

    def handler(_request: httpx.Request) -> httpx.Response:
        asked.append(1)
        return reply

    with pytest.raises(UsageError, match=message):
        asking(handler)(["a"])
    assert len(asked) == requests


def test_the_key_and_the_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v2")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    made = OpenAIEmbedder("small")
    assert str(made._client.base_url) == "http://localhost:9/v2/"
    assert made._client.headers["authorization"] == "Bearer secret"


def test_sentence_transformers_are_used_where_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"pyramidion\[sentence-transformers\]"):
        embedder("st:some-model", Encoder())
    fake = ModuleType("sentence_transformers")
    fake.SentenceTransformer = lambda name: SimpleNamespace(  # type: ignore[attr-defined]
        encode=lambda texts, show_progress_bar: np.full((len(texts), 2), len(name))
    )
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    assert embedder("st:some-model", Encoder())(["a"]) == pytest.approx(np.full((1, 2), 0.5**0.5))
