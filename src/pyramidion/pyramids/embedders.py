"""Embedders by name: texts in, one vector of unit length for each out. For `similarity.Cosine`.

minilm the embedded encoder wtmf:FILE a WTMF model trained by `pyramidion auto train-wtmf`, as in Gao et al. 2019
st:NAME any sentence-transformers model that is installed here (extra `sentence-transformers`) openai:MODEL any server
that speaks OpenAI's embeddings interface (extra `openai`): OPENAI_BASE_URL gives the address, OPENAI_API_KEY the key
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyramidion import remote
from pyramidion.encoder.minilm import Encoder
from pyramidion.errors import UsageError, check_choice, needs_extra
from pyramidion.pyramids.similarity import Embedder

Doubles = NDArray[np.float64]
DEFAULT = "minilm"
OPENAI = "https://api.openai.com/v1"
TEXTS_PER_REQUEST = 256
ATTEMPTS = 4


def embedder(name: str, encoder: Encoder) -> Embedder:
    """The embedder of a name such as ``minilm`` or ``wtmf:model.npz``."""
    kind, _, which = name.partition(":")
    check_choice("embedder", kind, ("minilm", "wtmf", "st", "openai"))
    if bool(which) == (kind == "minilm"):
        raise UsageError(f"embedder {name!r}: there are minilm, wtmf:FILE, st:NAME and openai:MODEL")
    if kind == "wtmf":
        return _wtmf(which)
    if kind == "st":
        return _sentence_transformer(which)
    return OpenAIEmbedder(which) if kind == "openai" else _minilm(encoder)


def _minilm(encoder: Encoder) -> Embedder:
    def embed(texts: Sequence[str]) -> Doubles:
        return _unit([encoded.sentence for encoded in encoder.encode(texts)])

    return embed


def _wtmf(file: str) -> Embedder:
    from pyramidion.pyramids.wtmf import WtmfModel

    if not Path(file).is_file():
        raise UsageError(f"{file} does not exist; train a model with `pyramidion auto train-wtmf`")
    return WtmfModel.load(Path(file)).embed


def _sentence_transformer(name: str) -> Embedder:
    with needs_extra(f"embedder st:{name}", "sentence-transformers"):
        from sentence_transformers import SentenceTransformer
    model = SentenceTransformer(name)

    def embed(texts: Sequence[str]) -> Doubles:
        return _unit(model.encode(list(texts), show_progress_bar=False)) if texts else np.zeros((0, 1))

    return embed


class OpenAIEmbedder:
    """Asks a server, a few hundred texts at a time; waits and tries again if it is busy."""

    def __init__(self, model: str, *, wait: Callable[[float], None] = time.sleep) -> None:
        with needs_extra(f"embedder openai:{model}", "openai"):
            import httpx
        self._httpx, self._model, self._wait = httpx, model, wait
        key = os.environ.get("OPENAI_API_KEY", "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        base = os.environ.get("OPENAI_BASE_URL") or OPENAI
        self._client = httpx.Client(base_url=base, headers=headers, timeout=60)

    def __call__(self, texts: Sequence[str]) -> Doubles:
        rows = [row for part in _parts(texts) for row in self._ask(part)]
        return _unit(rows) if rows else np.zeros((0, 1))

    def _ask(self, texts: list[str]) -> list[list[float]]:
        body = {"model": self._model, "input": texts}
        try:
            answer = remote.ask(lambda: self._client.post("embeddings", json=body), tries=ATTEMPTS, sleep=self._wait)
            if answer.status_code < 400:
                return self._rows(answer, len(texts))
            problem = f"HTTP {answer.status_code}: {answer.text[:200]}"
        except self._httpx.TransportError as error:
            problem = str(error) or type(error).__name__
        raise UsageError(f"embedder openai:{self._model}: {self._client.base_url} returned no vectors ({problem})")

    def _rows(self, answer: Any, wanted: int) -> list[list[float]]:
        try:
            rows = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
            vectors = [row["embedding"] for row in rows]
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f"embedder openai:{self._model}: the server's answer is not a list of vectors") from error
        if len(vectors) != wanted:
            raise UsageError(f"embedder openai:{self._model}: {len(vectors)} vectors for {wanted} texts")
        return vectors


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), TEXTS_PER_REQUEST):
        yield list(texts[start : start + TEXTS_PER_REQUEST])


def _unit(rows: Any) -> Doubles:
    """Rows of unit length; a row of zeros stays one."""
    vectors = np.asarray(rows, np.float64)
    if not vectors.size:
        return np.zeros((0, 1))
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0))
