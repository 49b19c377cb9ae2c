"""What alignment sees of a text: its words with their vectors in context, stems, rarity, and what kind each is.

Rarity needs no corpus and never looks at the texts under evaluation: the encoder's vocabulary is sorted by frequency,
so by Zipf's law a word's position in it replaces a count (log of the rank; a word that had to be cut into pieces counts
as rarer than its rarest piece).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.minilm import HIDDEN, Encoded, Encoder, Floats
from pyramidion.encoder.sentences import sentence_spans, stem
from pyramidion.study.texts import Span

FIRST_WORD = 1996
"""The vocabulary's id of "the"; before it come signs and single characters."""
RARER = 3
"""How much further down the list a word counts that had to be cut into pieces."""

_TO_TEN = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_TEENS = ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_COUNTED = zip([*_TO_TEN, *_TEENS, *_TENS], [*range(2, 20), *range(20, 100, 10)], strict=True)
NUMBERS = {word: str(number) for word, number in _COUNTED}
"""Numbers in words. "One" is left out: it is a pronoun too often."""


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """The words of a text (signs left out), one row each; ``sentence`` numbers the sentence each is in."""

    vectors: Floats
    stems: NDArray[np.int64]
    rarity: Floats
    number: NDArray[np.bool_]
    spans: Sequence[Span]
    sentence: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.spans)

    def only(self, places: Sequence[int]) -> Bag:
        """Some of the words."""
        rows = list(places)
        return Bag(
            self.vectors[rows],
            self.stems[rows],
            self.rarity[rows],
            self.number[rows],
            [self.spans[row] for row in rows],
            self.sentence[rows],
        )


def bags(texts: Iterable[str], encoder: Encoder) -> Iterator[Bag]:
    """Each text's words; sentences are encoded one by one, so equal sentences of different texts cost nothing."""
    texts = list(texts)
    spans = [sentence_spans(text) for text in texts]
    encoded = encoder.encode(span.of(text) for text, sentences in zip(texts, spans, strict=True) for span in sentences)
    for text, sentences in zip(texts, spans, strict=True):
        yield bag(text, [(span, next(encoded)) for span in sentences])


def bag(text: str, sentences: Sequence[tuple[Span, Encoded]]) -> Bag:
    """Put the words of a text's encoded sentences together."""
    vectors: list[Floats] = [np.zeros((0, HIDDEN), np.float32)]
    kinds: list[_Kind] = []
    rare: list[float] = []
    spans: list[Span] = []
    counts: list[int] = []
    for sentence, words in sentences:
        kept = []
        for place, (start, end) in enumerate(words.spans):
            span = Span(sentence.start + start, sentence.start + end)
            if (kind := _kind(text[span.start : span.end])) is not None:
                kept.append(place)
                kinds.append(kind)
                rare.append(rarity(words.pieces[place]))
                spans.append(span)
        vectors.append(words.vectors[kept])
        counts.append(len(kept))
    return Bag(
        np.concatenate(vectors),
        np.array([kind.stem for kind in kinds], np.int64),
        np.array(rare, np.float32),
        np.array([kind.number for kind in kinds], bool),
        spans,
        np.repeat(np.arange(len(counts), dtype=np.intp), counts),
    )


class _Kind(NamedTuple):
    """What a word tells by itself."""

    stem: int
    number: bool


@lru_cache(maxsize=200_000)
def _kind(shown: str) -> _Kind | None:
    """None for a sign."""
    word = shown.lower()
    return _Kind(stem_code(word), any(map(str.isdigit, word))) if is_word(shown) else None


_LETTER = re.compile(r"[^\W_]")


def is_word(text: str) -> bool:
    return bool(_LETTER.search(text))


@lru_cache(maxsize=200_000)
def stem_code(word: str) -> int:
    """Words with the same stem have the same code, and so have a number's digits and its word."""
    return crc32(stem(NUMBERS.get(word, word)).encode())


@lru_cache(maxsize=200_000)
def rarity(pieces: tuple[int, ...]) -> float:
    """How rare a word is, by the place of its pieces in the vocabulary."""
    rank = max(max(pieces) - FIRST_WORD, 1) * (RARER if len(pieces) > 1 else 1)
    return float(np.log1p(rank))
