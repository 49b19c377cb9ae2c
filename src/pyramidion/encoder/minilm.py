"""The embedded encoder: all-MiniLM-L6-v2 in 8 bits, run by onnxruntime on a plain CPU.

Wang et al. 2020 (MiniLM); sentence-transformers' all-MiniLM-L6-v2 (Apache-2.0). `models/build_encoder.py` makes the
file; docs/adr/0016 says what the 8 bits cost. A text's vectors never depend on what else is in its batch.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import as_file, files
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder import Recent
from pyramidion.encoder.wordpiece import WordPiece, Words
from pyramidion.study.texts import Span

Floats = NDArray[np.float32]

WINDOW = 254
"""Pieces encoded at once, besides the two that mark start and end: what the encoder was trained with. Longer texts are
encoded window by window; nothing is cut off."""
TOKENS_PER_BATCH = 512
"""Small enough for a core's cache: larger batches are slower."""
CHUNK = 128
"""Texts read ahead to be sorted by length."""
KEPT = 2048
"""Texts whose vectors are cached, so that a text that is segmented and then aligned is encoded once."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as words: their positions, pieces and vectors in context, and the vector of the whole text. ``layers``
    holds every layer's vectors side by side for the segmenter, on request."""

    spans: Sequence[Span]
    pieces: Sequence[tuple[int, ...]]
    vectors: Floats
    sentence: Floats
    layers: Floats | None = None


class Encoder:
    """Encodes texts in batches of similar length, one batch per thread; by default as many as there are cores."""

    def __init__(self, threads: int | None = None) -> None:
        self._session = _session()
        self._wordpiece = wordpiece()
        self._threads = ThreadPoolExecutor(threads or os.cpu_count(), "encoder")
        self._recent: Recent[Encoded] = Recent(KEPT)

    def encode(self, texts: Iterable[str], *, layers: bool = False) -> Iterator[Encoded]:
        """Each text's words and vectors, in order; equal texts near each other are encoded once."""
        source = iter(texts)
        while chunk := list(islice(source, CHUNK)):
            known = self._recent.get(chunk)
            made = {} if layers else dict(known)
            new = [text for text in dict.fromkeys(chunk) if text not in made]
            made.update(zip(new, self._encode(new, layers), strict=True))
            # A copy of the vectors: a view would keep the layers alive.
            copies = {
                text: replace(each, vectors=each.vectors.copy(), layers=None)
                for text, each in made.items()
                if text not in known
            }
            self._recent.keep(copies)
            yield from (made[text] for text in chunk)

    def _encode(self, texts: list[str], layers: bool) -> list[Encoded]:
        cut = [self._wordpiece.words(text) for text in texts]
        windows = [(number, first, last) for number, words in enumerate(cut) for first, last in _windows(words)]
        windows.sort(key=lambda window: window[2] - window[1])
        batches = list(_batches(windows, cut))
        rows = ([_pieces(cut[number], first, last) for number, first, last in batch] for batch in batches)
        parts: dict[int, list[tuple[int, Floats]]] = {}
        for batch, outputs in zip(batches, self._threads.map(partial(self._run, layers=layers), rows), strict=True):
            for (number, first, _), tokens in zip(batch, outputs, strict=True):
                parts.setdefault(number, []).append((first, tokens))
        return [_joined(words, parts[number], layers) for number, words in enumerate(cut)]

    def _run(self, rows: list[list[int]], *, layers: bool) -> list[Floats]:
        """The vectors of every piece, with those that mark start and end."""
        longest = max(map(len, rows)) + 2
        ids = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros_like(ids)
        for row, pieces in enumerate(rows):
            ids[row, : len(pieces) + 2] = [self._wordpiece.start, *pieces, self._wordpiece.end]
            mask[row, : len(pieces) + 2] = 1
        tokens: Floats = self._session.run(["layers" if layers else "tokens"], {"ids": ids, "mask": mask})[0]
        return [tokens[row, : len(pieces) + 2] for row, pieces in enumerate(rows)]


def _windows(words: Words) -> Iterator[tuple[int, int]]:
    """First and last (exclusive) word of each window; an empty text has one, without words."""
    first, size = 0, 0
    for place, pieces in enumerate(words.pieces):
        if size + len(pieces) > WINDOW and place > first:
            yield first, place
            first, size = place, 0
        size += len(pieces)
    yield first, len(words.pieces)


def _pieces(words: Words, first: int, last: int) -> list[int]:
    return [piece for pieces in words.pieces[first:last] for piece in pieces]


def _batches(windows: list[tuple[int, int, int]], cut: list[Words]) -> Iterator[list[tuple[int, int, int]]]:
    batch: list[tuple[int, int, int]] = []
    longest = 0
    for number, first, last in windows:
        size = sum(map(len, cut[number].pieces[first:last])) + 2
        if batch and max(longest, size) * (len(batch) + 1) > TOKENS_PER_BATCH:
            yield batch
            batch, longest = [], 0
        batch.append((number, first, last))
        longest = max(longest, size)
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


def _unit(vector: Floats) -> Floats:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


@cache
def wordpiece() -> WordPiece:
    """The encoder's tokeniser."""
    vocabulary = json.loads(files("pyramidion.data").joinpath("tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return WordPiece(vocabulary)


@cache
def _session() -> Any:
    """One thread per run: onnxruntime's own threads wait in loops and starve each other on a busy machine."""
    import onnxruntime  # slow to import, so only when it is needed

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    with as_file(files("pyramidion.data").joinpath("encoder.onnx")) as path:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
