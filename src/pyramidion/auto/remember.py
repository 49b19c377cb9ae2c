"""An encoder that remembers, so that a sentence is encoded once though segmenter and similarity both ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyramidion.auto.encoder import Encoded, Encoder


class RememberingEncoder(Encoder):
    """What was encoded since the last `forget` is not encoded again. The layers, six times as large, are not kept."""

    def __init__(self, threads: int | None = None) -> None:
        super().__init__(threads)
        self._known: dict[str, Encoded] = {}

    def forget(self) -> None:
        self._known.clear()

    def encode(self, texts: Iterable[str], *, layers: bool = False) -> Iterator[Encoded]:
        texts = list(texts)
        if layers:
            for text, encoded in zip(texts, super().encode(texts, layers=True), strict=True):
                if text not in self._known:  # a copy: a view would keep the layers alive
                    self._known[text] = replace(encoded, vectors=encoded.vectors.copy(), layers=None)
                yield encoded
            return
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(new, super().encode(new), strict=True))
        yield from (self._known[text] for text in texts)
