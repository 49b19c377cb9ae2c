"""Texts cut into sentences, and sentences into clause-like segments in one or more ways: Gao et al. 2019, section 4.1.

Segmentation 0 of a sentence is the sentence itself; every other segmentation has two or more segments. A pyramid or a
match uses exactly one segmentation of each sentence. What a segment is called follows from where it is, so a
segmenter knows texts only, and `SegmentedText.segments` gives the names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, get_args

from pyramidion.errors import check_choice
from pyramidion.study.texts import Span

Untouched = Literal["whole", "finest"]
MOST_WAYS = 8
"""Ways to cut a sentence, besides leaving it whole. Setting every subset of clauses apart would give twice as many for
each further clause, and on the bundled example no better scores than one clause at a time."""


class SentenceId(NamedTuple):
    """The sentence with this number (from 0) of a summary."""

    summary: str
    sentence: int


class SegmentId(NamedTuple):
    """One segment of one segmentation of one sentence of a summary, each counted from 0."""

    summary: str
    sentence: int
    segmentation: int
    segment: int

    @property
    def of_sentence(self) -> SentenceId:
        return SentenceId(self.summary, self.sentence)


@dataclass(frozen=True, slots=True)
class Clause:
    """Words that say one thing: their characters in the text, and the words as they are to be read.

    ``text`` may repeat a subject from elsewhere in the sentence, as in "He came and [he] saw".
    """

    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A clause with its address."""

    id: SegmentId
    spans: tuple[Span, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the ways to cut it; the first is the whole sentence."""

    span: Span
    segmentations: tuple[tuple[Clause, ...], ...]

    def __post_init__(self) -> None:
        sizes = [len(clauses) for clauses in self.segmentations]
        if not sizes or sizes[0] != 1 or min(sizes[1:], default=2) < 2:
            raise ValueError(
                f"sentence at {self.span.start}-{self.span.end}: segmentation 0 has one segment and every other two or "
                f"more, not {sizes}"
            )


@dataclass(frozen=True, slots=True)
class SegmentedText:
    """A text with its sentences in order. An empty text has none."""

    text: str
    sentences: tuple[Sentence, ...] = ()

    def clauses(self) -> list[Clause]:
        """Every clause of every segmentation: sentence by sentence, segmentation by segmentation."""
        return [clause for sentence in self.sentences for clauses in sentence.segmentations for clause in clauses]

    def segments(self, summary: str) -> list[Segment]:
        """The same clauses in the same order, with their addresses in the summary of this name."""
        return [
            Segment(SegmentId(summary, number, segmentation, place), clause.spans, clause.text)
            for number, sentence in enumerate(self.sentences)
            for segmentation, clauses in enumerate(sentence.segmentations)
            for place, clause in enumerate(clauses)
        ]


def left_over(counts: Sequence[int], untouched: Untouched) -> int:
    """Which segmentation a sentence has that nothing is matched with, given how many segments each one has.

    ``whole`` keeps the sentence in one piece; ``finest`` takes the (first) segmentation with the most segments.
    """
    check_choice("untouched", untouched, get_args(Untouched))
    return 0 if untouched == "whole" else max(range(len(counts)), key=lambda i: (counts[i], -i))


def one_apart(text: str, sentence: Span, clause: Clause) -> tuple[Clause, Clause]:
    """One clause by itself, and all other words of its sentence together, in their order: Gao et al. 2019, figure 3.

    The clause's last span has its own words; what comes before is a subject that it shares. "She says that it rains and
    that he stays" has "that it rains", and "She says and that he stays". Whichever starts first comes first.
    """
    own = clause.spans[-1]
    around = (_trimmed(text, sentence.start, own.start), _trimmed(text, own.end, sentence.end))
    others = tuple(span for span in around if span)
    rest = Clause(others, " ".join(span.of(text) for span in others))
    return (rest, clause) if others[0] < own else (clause, rest)


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """Without white space around it; None where nothing is left."""
    held = text[start:end]
    return Span(start + len(held) - len(held.lstrip()), start + len(held.rstrip())) if held.strip() else None


class Segmenter(Protocol):
    """Cuts many texts at once, so that sentences can be encoded in batches."""

    def segment(self, texts: Sequence[str]) -> list[SegmentedText]:
        """One result for each text, in the same order; spans are characters of that text."""
        ...
