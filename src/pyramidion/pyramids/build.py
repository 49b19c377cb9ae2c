"""From references to a pyramid like a person's, and from any pyramid to the clauses that peers are compared with.

A unit's label is its most central contributor, the one most similar to the others on average, of those that can be read
without what stands before them. Units are numbered from the heaviest and most attractive down, and nothing depends on
the order of references, so ids are stable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.segments import Clause, Segment, SegmentedText, Sentence
from pyramidion.errors import InputError, Problem
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition import Partition, Unit
from pyramidion.study import ContentUnit, Contributor, Pyramid
from pyramidion.study.texts import Span

Doubles = NDArray[np.float64]
Joined = Callable[[tuple[Segment, ...], Doubles], SimilarityGraph]
NAME = "auto"
"""What pyramids made here are called."""
LEANING = re.compile(
    "(after|although|as|at|because|before|by|despite|for|from|how|if|in|of|on|since|so|than|that|though|to|unless|until|"
    "what|when|where|whether|which|while|who|whom|whose|why|with|without) ",
    re.IGNORECASE,
)
"""Beginnings of clauses that readers would ask about: "which will cost 310 million dollars"."""


def unit_id(name: str, number: int | str) -> str:
    return f"{name}-{number}"


def is_built(pyramid: Pyramid) -> bool:
    """Whether a pyramid called `NAME` was built here, and perhaps corrected since, rather than brought by the data."""
    return pyramid.name == NAME and any(unit.id.startswith(unit_id(NAME, "")) for unit in pyramid.units)


@dataclass(frozen=True)
class BuiltPyramid:
    """A pyramid, the similarity from which segments were joined, and what there is to say about it."""

    pyramid: Pyramid
    threshold: float
    notes: tuple[Problem, ...] = ()


def build(
    topic: str,
    references: Mapping[str, SegmentedText],
    similarity: Callable[[list[SegmentedText]], Doubles],
    *,
    graph: Joined,
    partition: Callable[[SimilarityGraph], Partition],
    name: str = NAME,
) -> BuiltPyramid:
    """The pyramid of a topic. ``similarity`` compares all clauses of some texts with one another.

    A reference without words says nothing and is left out, with a note.
    """
    said = {id: references[id] for id in sorted(references) if references[id].sentences}
    where = f"topic {topic}"
    if not said:
        what = "its references are empty" if references else "has no references"
        raise InputError(Problem(where, f"{what}, so there is nothing to build a pyramid from"))
    segments = tuple(segment for id, text in said.items() for segment in text.segments(id))
    joined = graph(segments, similarity(list(said.values())))
    found = partition(joined)
    labels = _Labels(joined)
    units = tuple(
        ContentUnit(unit_id(name, number), labels.label(unit), _contributors(unit, segments))
        for number, unit in enumerate(found.units, 1)
    )
    notes = [Problem(f"{where}, reference {id}", "is empty and left out", "warning") for id in references.keys() - said]
    notes += [Problem(where, note, "warning") for note in found.notes]
    return BuiltPyramid(Pyramid(topic, tuple(said), units, name), joined.threshold, tuple(sorted(notes, key=str)))


def _contributors(unit: Unit, segments: tuple[Segment, ...]) -> tuple[Contributor, ...]:
    members = sorted((segments[member] for member in unit.members), key=lambda segment: segment.id)
    return tuple(Contributor(segment.id.summary, tuple(sorted(segment.spans))) for segment in members)


class _Labels:
    """Finds the segment that says best what a unit is about; of equals the one that comes first in the graph."""

    def __init__(self, graph: SimilarityGraph) -> None:
        self._graph = graph
        self._node = {int(segment): node for node, segment in enumerate(graph.order)}

    def label(self, unit: Unit) -> str:
        nodes = sorted(self._node[member] for member in unit.members)
        near = self._graph.similarity[np.ix_(nodes, nodes)]
        mean = (near.sum(axis=1) - np.diag(near)).round(6)
        alone = [reads_alone(self._graph.nodes[node]) for node in nodes]
        best = nodes[int(np.lexsort((-mean, np.logical_not(alone)))[0])]
        words = " ".join(self._graph.nodes[best].text.split())
        words = words.strip(" ,;:") or words
        return words[0].upper() + words[1:]


def reads_alone(segment: Segment) -> bool:
    """Whether it is a whole sentence, or at least does not lean on what stands before it."""
    return segment.id.segmentation == 0 or not LEANING.match(segment.text)


class Contributors(NamedTuple):
    """What peers are compared with: texts whose clauses are contributors, and the unit (by number) of each clause."""

    texts: list[SegmentedText]
    unit_of: list[int]


def contributors_of(pyramid: Pyramid, references: Mapping[str, str]) -> Contributors:
    """The contributors of any pyramid, an expert's or a crowd's as well.

    Words that nobody marked in a reference we have cannot be compared; then the unit's label stands for them.
    """
    marked: dict[str, list[tuple[int, Clause]]] = {}
    labels: dict[int, str] = {}
    for number, unit in enumerate(pyramid.units):
        for contributor in unit.contributors:
            text = references.get(contributor.reference, "")
            spans = tuple(span for span in sorted(contributor.spans) if span.fits(text))
            if spans:
                clause = Clause(spans, " ".join(span.of(text) for span in spans))
                marked.setdefault(contributor.reference, []).append((number, clause))
            else:
                labels[number] = unit.label
    texts = [_of_clauses(references[id], [clause for _, clause in found]) for id, found in marked.items()]
    texts += [_of_clauses(label, [Clause((Span(0, len(label)),), label)]) for label in labels.values()]
    return Contributors(texts, [number for found in marked.values() for number, _ in found] + list(labels))


def _of_clauses(text: str, clauses: list[Clause]) -> SegmentedText:
    """A text that is known by some clauses of it; for what follows each is a sentence that cannot be cut."""
    return SegmentedText(
        text, tuple(Sentence(Span(clause.spans[0].start, clause.spans[-1].end), ((clause,),)) for clause in clauses)
    )
