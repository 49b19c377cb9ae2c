"""BERT's lower-case WordPiece tokenisation: Devlin et al. 2019; Wu et al. 2016, section 4.1.

Ours rather than the `tokenizers` package, which brings a dozen packages for talking to a model hub (docs/adr/0017). It
gives the same ids, which the tests check, and keeps what alignment needs: whole words, with their place in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pyramidion.study.texts import Span

MAX_LETTERS = 100
"""Longer words are unknown."""
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_TEXT = re.compile(r"[\t\n\r\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class Words:
    """The words and signs of a text, where each is, and its pieces' ids."""

    spans: Sequence[Span]
    pieces: Sequence[tuple[int, ...]]


class WordPiece:
    """Text to words and vocabulary ids. ``vocabulary`` maps pieces to ids; continuations start with ##."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self.unknown, self.start, self.end = (vocabulary[name] for name in ("[UNK]", "[CLS]", "[SEP]"))
        self._pieces = lru_cache(maxsize=200_000)(self._cut)

    def words(self, text: str) -> Words:
        if _ASCII_TEXT.fullmatch(text):
            spans = [Span(*match.span()) for match in _ASCII_WORD.finditer(text)]
            return Words(spans, [self._pieces(text[start:end].lower()) for start, end in spans])
        words = _words(text)
        return Words([span for span, _ in words], [self._pieces(word) for _, word in words])

    def _cut(self, word: str) -> tuple[int, ...]:
        """Greedy, longest piece first."""
        if len(word) > MAX_LETTERS:
            return (self.unknown,)
        pieces, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                if (id := self._vocabulary.get(mark + word[start:end])) is not None:
                    break
            else:
                return (self.unknown,)
            pieces.append(id)
            start = end
        return tuple(pieces)


def _words(text: str) -> list[tuple[Span, str]]:
    """Words with their lower-case form without accents; signs and ideographs are words of their own."""
    words: list[tuple[Span, str]] = []
    start, end, letters = 0, 0, ""
    for place, character in enumerate(text):
        for kind, plain in _plain(character):
            if kind != "letter" and letters:
                words.append((Span(start, end), letters))
                letters = ""
            if kind == "sign":
                words.append((Span(place, place + 1), plain))
            elif kind == "letter":
                start = start if letters else place
                end, letters = place + 1, letters + plain
    return [*words, (Span(start, end), letters)] if letters else words


@lru_cache(maxsize=50_000)
def _plain(character: str) -> tuple[tuple[str, str], ...]:
    """What a character becomes: nothing, or letters, signs and spaces."""
    category = unicodedata.category(character)
    if character in "\t\n\r" or category == "Zs":
        return (("space", ""),)
    if character in "\0\ufffd" or category in ("Cc", "Cf", "Co"):
        return ()
    if _is_ideograph(character):
        return (("sign", unicodedata.normalize("NFD", character)),)
    decomposed = (c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn")
    return tuple(("sign" if _is_sign(c) else "letter", c) for c in "".join(decomposed).lower())


def _is_sign(character: str) -> bool:
    ascii_sign = character.isascii() and character.isprintable() and not character.isalnum() and character != " "
    return ascii_sign or unicodedata.category(character).startswith("P")


_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def _is_ideograph(character: str) -> bool:
    return any(low <= ord(character) <= high for low, high in _IDEOGRAPHS)
