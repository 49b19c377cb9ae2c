"""Topics, the documents to be summarised, and summaries: references by people, peers by systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

Role = Literal["reference", "peer"]


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of a text, counted in Unicode code points."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def fits(self, text: str) -> bool:
        return 0 <= self.start < self.end <= len(text)


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same characters in text order, where pieces that overlap or touch are one."""
    made: list[Span] = []
    for span in sorted(spans):
        if made and span.start <= made[-1].end:
            made[-1] = Span(made[-1].start, max(made[-1].end, span.end))
        else:
            made.append(span)
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Document:
    """One source text of a topic."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """What is to be summarised: one document or a set of them, with an optional statement of the need."""

    id: str
    title: str = ""
    description: str = ""
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A text about a topic. Topic, role and system identify it.

    ``system`` names who wrote it: the system of a peer, the author of a reference. ``source`` keeps the name
    the text had where it came from (a file name, a NIST id); it never identifies anything.
    """

    topic: str
    system: str
    text: str
    role: Role = "peer"
    source: str = ""
