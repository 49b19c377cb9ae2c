"""Statements cut from a text as a hasty crowd would: one clause each, with the subject of its sentence before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

MIN_WORDS, MAX_WORDS = 4, 20
MAX_CHARACTERS = 500
WINDOW = 8

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE = re.compile(r",?\s+(?:and|but|while|because|although)\s+|,\s+(?:which|who)\s+")
_OPENING = re.compile(r"\A(?:and|but|so|also|however|moreover|meanwhile|then)\b,?\s+", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:The|An?|This|These|His|Her|Its|Their)\s+\w+|[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*")
_OWN_SUBJECT = re.compile(r"[A-Z\d]|(?:the|an?|this|these|no|some|many|his|her|its|their|he|she|it|they|there)\b")


class Cutter:
    """Cuts statements from one text; everything it gives is short enough for the server."""

    def __init__(self, text: str, rng: np.random.Generator) -> None:
        self._sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
        self._rng = rng

    def statements(self, count: int) -> list[str]:
        """So many different statements, spread over the text and in its order."""
        written = self._some(_distinct(self._pieces()), count)
        if len(written) < count:
            more = _distinct([*written, *self._windows()])[len(written) :]
            written += self._some(more, count - len(written))
        # A text may be too short for so many: what is left to say is that nothing is left.
        return written + [f"Nothing more is said in place {place}." for place in range(len(written) + 1, count + 1)]

    def _some(self, pieces: list[str], count: int) -> list[str]:
        return [pieces[i] for i in sorted(self._rng.permutation(len(pieces))[:count])]

    def too_long(self) -> str:
        """Two sentences and more in one statement, as workers are told not to write."""
        start = int(self._rng.integers(max(len(self._sentences) - 2, 0) + 1))
        return " ".join(self._sentences[start : start + 3])[:MAX_CHARACTERS].strip() or "Nothing is said. Nothing."

    def _pieces(self) -> Iterator[str]:
        for sentence in self._sentences:
            clauses = _CLAUSE.split(_OPENING.sub("", sentence.strip(), count=1))
            subject = _SUBJECT.match(clauses[0])
            for place, clause in enumerate(clauses):
                alone = place == 0 or _OWN_SUBJECT.match(clause) or subject is None
                statement = clause if alone or subject is None else f"{subject[0]} {clause}"
                if MIN_WORDS <= len(statement.split()) <= MAX_WORDS:
                    yield _finished(statement)

    def _windows(self) -> Iterator[str]:
        """Pieces of sentences, wherever they begin: bad statements, but statements."""
        for words in map(str.split, self._sentences):
            for start in range(max(len(words) - WINDOW, 0) + 1):
                yield _finished(" ".join(words[start : start + WINDOW]))


def _finished(statement: str) -> str:
    plain = statement.strip(" ,;:.!?\t\n")[: MAX_CHARACTERS - 1].strip()
    return f"{plain[:1].upper()}{plain[1:]}." if plain else ""


def _distinct(statements: Iterator[str] | list[str]) -> list[str]:
    """The first of those with the same words, without empty ones."""
    found: dict[frozenset[str], str] = {}
    for statement in statements:
        if statement.strip(" ."):
            found.setdefault(frozenset(re.findall(r"\w+", statement.casefold())), statement)
    return list(found.values())
