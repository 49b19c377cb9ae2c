"""The embedded encoder: all-MiniLM-L6-v2 in 8 bits, run by onnxruntime on a plain CPU.

Wang et al. 2020 (MiniLM); sentence-transformers' all-MiniLM-L6-v2 (Apache-2.0). `models/build_encoder.py` makes the
file; docs/adr/0016 says what the 8 bits cost. A text's vectors never depend on what else is in its batch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import as_file, files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder import Recent
from pyramidion.encoder.encodings import EncodingCache, encoding_cache
from pyramidion.encoder.wordpiece import WordPiece, Words
from pyramidion.study.texts import Span

Floats = NDArray[np.float32]

WINDOW = 254
"""Pieces encoded at once, besides the two that mark start and end: what the encoder was trained with. Longer texts are
encoded window by window; nothing is cut off."""
TOKENS_PER_BATCH = 512
"""Small enough for a core's cache: larger batches are slower."""
CHUNK, CHARACTERS = 512, 65_536
"""Texts read ahead to be sorted by length, and about as many characters; every layer of a quarter as many."""
KEPT = 2048
"""Texts whose vectors are cached, so that a text that is segmented and then aligned is encoded once."""
PROBE = "Some 1,250 émigrés, it's said, unquestionably crossed the Øresund (by ferry) before Ms. O'Neill's speech."
"""What an encoder makes of this tells whether it computes as another did, down to the last bit."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as words: their positions, pieces and vectors in context, and the vector of the whole text. ``layers``
    holds every layer's vectors side by side for the segmenter, on request."""

    spans: Sequence[Span]
    pieces: Sequence[tuple[int, ...]]
    vectors: Floats
    sentence: Floats
    layers: Floats | None = None


class _Window(NamedTuple):
    """Words of a text that are encoded at once; ``size`` counts pieces."""

    text: str
    first: int
    last: int
    size: int


class _Chunk(NamedTuple):
    """Some texts: what is known of them, what is new, and the batches that the threads are working on."""

    texts: list[str]
    made: dict[str, Encoded]
    new: dict[str, Words]
    under_way: list[tuple[list[_Window], Future[list[Floats]]]]


class Encoder:
    """Encodes texts in batches of similar length, one batch per thread; by default as many as there are cores."""

    def __init__(self, threads: int | None = None) -> None:
        self._session = session()
        self._wordpiece = wordpiece()
        self._threads = ThreadPoolExecutor(threads or os.cpu_count(), "encoder")
        self._recent: Recent[Encoded] = Recent(KEPT)
        self._disk: EncodingCache | None = encoding_cache(made_by)

    def encode(self, texts: Iterable[str], *, layers: bool = False) -> Iterator[Encoded]:
        """Each text's words and vectors, in order; equal texts near each other are encoded once. The threads are one
        chunk ahead of what is taken."""
        begun: _Chunk | None = None
        made: dict[str, Encoded] = {}
        for chunk in chain(_chunks(texts, 4 if layers else 1), [None]):
            following = self._begin(chunk, layers, begun.new if begun else {}) if chunk else None
            if begun is not None:
                made = self._end(begun, layers, made)
                yield from (made[text] for text in begun.texts)
            begun = following

    def _begin(self, texts: list[str], layers: bool, under_way: Container[str]) -> _Chunk:
        """Look up what is known, and let the threads encode the rest."""
        made = {} if layers else self._recent.get(texts)
        cut = {
            text: self._wordpiece.words(text)
            for text in dict.fromkeys(texts)
            if text not in made and text not in under_way
        }
        if not layers and self._disk is not None:
            keys = {text: key_of(words) for text, words in cut.items()}
            held = self._disk.get(set(keys.values()))
            read = {text: _from_bytes(cut[text], held[key]) for text, key in keys.items() if key in held}
            self._recent.keep(read)
            made |= read
        new = {text: words for text, words in cut.items() if text not in made}
        windows = [_Window(text, *window) for text, words in new.items() for window in _windows(words)]
        # Longest first, so that at the end no thread waits long for another.
        windows.sort(key=lambda window: window.size, reverse=True)
        batches = list(_batches(windows))
        rows = [[_pieces(new[text], first, last) for text, first, last, _ in batch] for batch in batches]
        outputs = [self._threads.submit(self._run, each, layers=layers) for each in rows]
        return _Chunk(texts, made, new, list(zip(batches, outputs, strict=True)))

    def _end(self, chunk: _Chunk, layers: bool, before: Mapping[str, Encoded]) -> dict[str, Encoded]:
        """All texts of a chunk; some were under way with the one before it."""
        parts: dict[str, list[tuple[int, Floats]]] = {}
        for batch, outputs in chunk.under_way:
            for window, tokens in zip(batch, outputs.result(), strict=True):
                parts.setdefault(window.text, []).append((window.first, tokens))
        new = {text: _joined(words, parts[text], layers) for text, words in chunk.new.items()}
        # A copy of the vectors: a view would keep the layers alive.
        copies = {text: replace(each, vectors=each.vectors.copy(), layers=None) for text, each in new.items()}
        self._recent.keep(copies)
        if self._disk is not None:
            self._disk.put({key_of(each): _as_bytes(each) for each in copies.values()})
        return {text: before[text] for text in chunk.texts if text in before} | chunk.made | new

    def _run(self, rows: list[list[int]], *, layers: bool) -> list[Floats]:
        """The vectors of every piece, with those that mark start and end."""
        tokens: Floats = self._session.run(["layers" if layers else "tokens"], _inputs(rows))[0]
        return [tokens[row, : len(pieces) + 2] for row, pieces in enumerate(rows)]


def _inputs(rows: list[list[int]]) -> dict[str, NDArray[np.int64]]:
    ids = np.zeros((len(rows), max(map(len, rows)) + 2), np.int64)
    mask = np.zeros_like(ids)
    for row, pieces in enumerate(rows):
        ids[row, : len(pieces) + 2] = [wordpiece().start, *pieces, wordpiece().end]
        mask[row, : len(pieces) + 2] = 1
    return {"ids": ids, "mask": mask}


def _windows(words: Words) -> Iterator[tuple[int, int, int]]:
    """First and last (exclusive) word of each window, and its pieces with those that mark start and end; an empty text
    has one, without words."""
    first, size = 0, 0
    for place, pieces in enumerate(words.pieces):
        if size + len(pieces) > WINDOW and place > first:
            yield first, place, size + 2
            first, size = place, 0
        size += len(pieces)
    yield first, len(words.pieces), size + 2


def _pieces(words: Words, first: int, last: int) -> list[int]:
    return [piece for pieces in words.pieces[first:last] for piece in pieces]


def _chunks(texts: Iterable[str], parts: int) -> Iterator[list[str]]:
    chunk: list[str] = []
    characters = 0
    for text in texts:
        chunk.append(text)
        characters += len(text)
        if len(chunk) >= CHUNK // parts or characters >= CHARACTERS // parts:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def _batches(windows: list[_Window]) -> Iterator[list[_Window]]:
    """From the longest to the shortest; all windows of a batch are as long as its first, with what fills them up."""
    batch: list[_Window] = []
    for window in windows:
        if batch and batch[0].size * (len(batch) + 1) > TOKENS_PER_BATCH:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def _joined(words: Words, parts: list[tuple[int, Floats]], layers: bool) -> Encoded:
    """One text of its windows: a word's vector is the mean of its pieces', the text's the mean of all."""
    parts.sort(key=lambda part: part[0])
    tokens = np.concatenate([part for _, part in parts])
    inner = np.concatenate([part[1:-1] for _, part in parts])
    width = inner.shape[1]
    if words.pieces:
        starts = np.cumsum([0, *map(len, words.pieces[:-1])])
        inner = np.add.reduceat(inner, starts) / np.array([len(p) for p in words.pieces], np.float32)[:, None]
    last = slice(width - HIDDEN, width)  # the last layer comes last
    return Encoded(words.spans, words.pieces, inner[:, last], _unit(tokens[:, last].mean(0)), inner if layers else None)


HIDDEN = 384


def key_of(words: Words | Encoded) -> str:
    """All that vectors depend on besides the encoder: equal pieces of equal words have equal vectors."""
    return str(list(words.pieces))


def _as_bytes(encoded: Encoded) -> bytes:
    return np.vstack([encoded.vectors, encoded.sentence]).tobytes()


def _from_bytes(words: Words, held: bytes) -> Encoded:
    rows = np.frombuffer(held, np.float32).reshape(len(words.spans) + 1, HIDDEN)
    return Encoded(words.spans, words.pieces, rows[:-1], rows[-1])


def _unit(vector: Floats) -> Floats:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


@cache
def wordpiece() -> WordPiece:
    """The encoder's tokeniser."""
    vocabulary = json.loads(files("pyramidion.data").joinpath("tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return WordPiece(vocabulary)


@cache
def made_by() -> bytes:
    """Names all that vectors depend on besides a text's pieces: the model, and how this machine computes with it, which
    differs in the last bits between processors and versions of onnxruntime."""
    digest = sha256(files("pyramidion.data").joinpath("encoder.onnx").read_bytes())
    digest.update(str(WINDOW).encode())
    words = wordpiece().words(PROBE)
    run = session().run(["tokens"], _inputs([_pieces(words, 0, len(words.pieces))]))
    digest.update(_as_bytes(_joined(words, [(0, run[0][0])], layers=False)))
    return digest.digest()


@cache
def session() -> Any:
    """Of the shipped model."""
    with as_file(files("pyramidion.data").joinpath("encoder.onnx")) as path:
        return session_of(path)


def session_of(model: Path, threads: int = 1) -> Any:
    """One thread per run: onnxruntime's own threads wait in loops and starve each other on a busy machine (0: one per
    core). Products are exact: on processors without VNNI, sums of two would otherwise be cut off at 16 bits, and scores
    would differ in the third digit."""
    import onnxruntime  # slow to import, so only when it is needed

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
