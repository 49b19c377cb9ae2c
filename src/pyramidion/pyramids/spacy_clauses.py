"""Cut sentences into clauses by the parse of a spaCy pipeline (extra `spacy`), also in other languages than English.

Gao et al. 2019, section 4.1, over dependencies: every finite verb heads a clause, which has the words below the verb
except those of other clauses. A clause without a subject of its own gets that of the clause it depends on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyramidion.encoder.sentences import Clause, SegmentedText, Sentence
from pyramidion.errors import UsageError, needs_extra
from pyramidion.study.texts import Span

_SUBJECTS = ("nsubj", "nsubjpass", "nsubj:pass", "csubj", "csubjpass", "sb", "expl")
_AUXILIARIES = ("aux", "auxpass", "aux:pass", "cop")
_FINITE_TAGS = ("VBD", "VBP", "VBZ", "MD")
MIN_WORDS = 3


class SpacySegmenter:
    """Any installed pipeline with a parser, by name, or one that is loaded already."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = _load(pipeline) if isinstance(pipeline, str) else pipeline

    def segment(self, texts: Sequence[str]) -> list[SegmentedText]:
        return [
            SegmentedText(text, tuple(_sentence(text, sentence) for sentence in doc.sents if sentence.text.strip()))
            for text, doc in zip(texts, self._pipeline.pipe(texts), strict=True)
        ]


def _load(name: str) -> Any:
    with needs_extra(f"segmenter spacy:{name}", "spacy"):
        import spacy
    try:
        return spacy.load(name)
    except OSError:
        raise UsageError(f"spaCy has no pipeline {name!r} here; python -m spacy download {name}") from None


def _sentence(text: str, sentence: Any) -> Sentence:
    words = [token for token in sentence if not token.is_space]
    span = Span(words[0].idx, words[-1].idx + len(words[-1].text))
    whole = (Clause((span,), span.of(text)),)
    clauses = tuple(_clauses(text, words))
    return Sentence(span, (whole, clauses) if len(clauses) > 1 else (whole,))


def _clauses(text: str, words: list[Any]) -> Iterator[Clause]:
    """In the order of the text; a clause of two words or fewer stays with the one above it."""
    heads = {token.i for token in words if _heads_a_clause(token)}
    above = {token.i: _clause_of(token, heads) for token in words}
    for head in sorted(heads):
        if sum(above_it == head for above_it in above.values()) < MIN_WORDS:
            heads.discard(head)
    above = {token.i: _clause_of(token, heads) for token in words}
    by_head: dict[int, list[Any]] = {}
    for token in words:
        by_head.setdefault(above[token.i], []).append(token)
    for head, mine in by_head.items():
        attached = [] if _subject(mine) else _subject(by_head.get(_clause_above(mine, head, above), []))
        spans = tuple(_spans(sorted({*mine, *attached}, key=lambda token: token.i)))
        yield Clause(spans, " ".join(span.of(text) for span in spans))


def _heads_a_clause(token: Any) -> bool:
    """A finite verb, or one whose auxiliary or copula is finite."""
    finite = any(_is_finite(word) for word in (token, *(c for c in token.children if c.dep_ in _AUXILIARIES)))
    return finite and token.dep_ not in _AUXILIARIES


def _is_finite(token: Any) -> bool:
    return token.tag_ in _FINITE_TAGS or "Fin" in token.morph.get("VerbForm")


def _clause_of(token: Any, heads: set[int]) -> int:
    """The nearest head at or above a word; the sentence's root where there is none."""
    while token.i not in heads and token.head.i != token.i:
        token = token.head
    return int(token.i)


def _clause_above(words: list[Any], head: int, above: dict[int, int]) -> int:
    [token] = [word for word in words if word.i == head] or words[:1]
    return above.get(token.head.i, head)


def _subject(words: list[Any]) -> list[Any]:
    """The words of the first subject in a clause."""
    inside = {word.i for word in words}
    for word in words:
        if word.dep_ in _SUBJECTS:
            return [token for token in word.subtree if token.i in inside]
    return []


def _spans(words: list[Any]) -> Iterator[Span]:
    """Runs of neighbouring words."""
    first = last = words[0]
    for word in words[1:]:
        if word.i != last.i + 1:
            yield Span(first.idx, last.idx + len(last.text))
            first = word
        last = word
    yield Span(first.idx, last.idx + len(last.text))
