"""From references to a pyramid like a person's.

A unit's label is its most central contributor, the one most similar to the others on average, of those that read alone
and name what they are about (`labels`). Sentences without content are not units. Units are numbered from the heaviest
and most attractive down, and nothing depends on the order of references, so ids are stable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyramidion import plugins
from pyramidion.encoder.minilm import Encoder
from pyramidion.encoder.sentences import RememberingSegmenter, Segment, SegmentedText, Segmenter, is_foreign
from pyramidion.errors import InputError, Problem
from pyramidion.pyramids.choices import ALIGN, SPACY, Choices
from pyramidion.pyramids.embedders import embedder
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.labels import has_content, label_faults, label_of, leans, names_subject
from pyramidion.pyramids.partition import Partition, Unit
from pyramidion.pyramids.similarity import AlignSimilarity, CosineSimilarity
from pyramidion.pyramids.spacy_clauses import SpacySegmenter
from pyramidion.study import ContentUnit, Contributor, Pyramid, Study

Doubles = NDArray[np.float64]
Joined = Callable[[tuple[Segment, ...], Doubles], SimilarityGraph]
NAME = "auto"
"""The name of pyramids built here."""
TEXTS_KEPT = 512
"""Texts whose clauses are remembered: those of several small topics, which are cut together."""


def unit_id(name: str, number: int | str) -> str:
    return f"{name}-{number}"


def is_built(pyramid: Pyramid) -> bool:
    """Whether a pyramid called `NAME` was built here, and perhaps corrected since, rather than read from the data."""
    return pyramid.name == NAME and any(unit.id.startswith(unit_id(NAME, "")) for unit in pyramid.units)


@dataclass(frozen=True)
class BuiltPyramid:
    """A pyramid, the similarity from which segments were joined, and notes on it."""

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
    said = {id: _with_content(references[id]) for id in sorted(references) if references[id].sentences}
    where = f"topic {topic}"
    if not said:
        what = "its references are empty" if references else "has no references"
        raise InputError(Problem(where, f"{what}, so no pyramid can be built"))
    segments = tuple(segment for id, text in said.items() for segment in text.segments(id))
    joined = graph(segments, similarity(list(said.values())))
    partitioned = partition(joined)
    labels = _Labels(joined)
    units = tuple(
        ContentUnit(unit_id(name, number), labels.label(unit), _contributors(unit, segments))
        for number, unit in enumerate(partitioned.units, 1)
    )
    notes = [
        Problem(f"{where}, reference {id}", "is empty and is left out", "warning") for id in references.keys() - said
    ]
    notes += [Problem(where, note, "warning") for note in partitioned.notes]
    notes += [note for id, text in said.items() for note in _left_out(f"{where}, reference {id}", references[id], text)]
    return BuiltPyramid(Pyramid(topic, tuple(said), units, name), joined.threshold, tuple(sorted(notes, key=str)))


def _contributors(unit: Unit, segments: tuple[Segment, ...]) -> tuple[Contributor, ...]:
    members = sorted((segments[member] for member in unit.members), key=lambda segment: segment.id)
    return tuple(Contributor(segment.id.summary, tuple(sorted(segment.spans))) for segment in members)


def _with_content(reference: SegmentedText) -> SegmentedText:
    """Without sentences that say nothing by themselves; the words of a reference that has no others stay."""
    kept = tuple(sentence for sentence in reference.sentences if has_content(sentence.span.of(reference.text)))
    return replace(reference, sentences=kept or reference.sentences)


def _left_out(where: str, whole: SegmentedText, kept: SegmentedText) -> Iterator[Problem]:
    said = [sentence.span.of(whole.text) for sentence in whole.sentences if sentence not in kept.sentences]
    if said:
        what = "1 sentence says nothing" if len(said) == 1 else f"{len(said)} sentences say nothing"
        yield Problem(where, f"{what} by itself, so no unit is made of that: {' '.join(said[0].split())!r}", "warning")


class _Labels:
    """Finds the segment that says best what a unit is about; of equals the one that comes first in the graph."""

    def __init__(self, graph: SimilarityGraph) -> None:
        self._graph = graph
        self._node = {int(segment): node for node, segment in enumerate(graph.order)}

    def label(self, unit: Unit) -> str:
        nodes = sorted(self._node[member] for member in unit.members)
        near = self._graph.similarity[np.ix_(nodes, nodes)]
        mean = (near.sum(axis=1) - np.diag(near)).round(6)
        labels = [label_of(self._graph.nodes[node].text) for node in nodes]
        worse = [_hard_to_read(label, self._graph.nodes[node]) for label, node in zip(labels, nodes, strict=True)]
        return labels[int(np.lexsort((-mean, worse))[0])]


def _hard_to_read(label: str, segment: Segment) -> int:
    """How much speaks against a label: it does not read alone, or does not name what it is about."""
    is_clause = segment.id.segmentation > 0
    return 2 * bool(label_faults(label) or (is_clause and leans(label))) + (not names_subject(label))


class Builder:
    """Builds pyramids by some choices. The encoder takes as many threads as there are cores."""

    def __init__(self, choices: Choices, *, threads: int | None = None) -> None:
        self.choices = choices
        self.encoder = Encoder(threads)
        self.segmenter = RememberingSegmenter(_segmenter(choices.segmenter, self.encoder), TEXTS_KEPT)
        self.similarity: Any = AlignSimilarity(self.encoder)
        if choices.similarity != ALIGN:
            self.similarity = CosineSimilarity(embedder(choices.embedder, self.encoder))
        self._partition = choices.partition()

    def build(self, topic: str, references: Mapping[str, str], *, name: str = NAME) -> BuiltPyramid:
        """A pyramid from the references of a topic, given by name."""
        segmented = dict(zip(references, self.segmenter.segment(list(references.values())), strict=True))
        graph = partial(SimilarityGraph.of, percentile=self.choices.percentile, floor=self.choices.floor)
        return build(topic, segmented, self.within, graph=graph, partition=self._partition, name=name)

    def within(self, texts: list[SegmentedText]) -> Doubles:
        """How similar all clauses of some texts are to one another."""
        prepared = self.similarity.prepare(texts)
        similarity: Doubles = self.similarity.between(prepared, prepared)
        return similarity


def _segmenter(name: str, encoder: Encoder) -> Segmenter:
    if name.startswith(SPACY):
        return SpacySegmenter(name.removeprefix(SPACY))
    segmenter: Segmenter = plugins.load("segmenters", name)(encoder)
    return segmenter


# -- studies ------------------------------------------------------------------------------------------------------


def set_aside(study: Study, built: Iterable[Pyramid]) -> tuple[Study, list[Problem]]:
    """The study with pyramids renamed that came with the data under a name that was built now, and a note on them."""
    new = {(pyramid.topic, pyramid.name): pyramid for pyramid in built}
    held = {(p.topic, p.name): p for p in study.pyramids if (p.topic, p.name) in new}
    # Units are known by their ids, so two pyramids of a study cannot both have one: a shared id tells our own.
    theirs = {key for key, p in held.items() if not {u.id for u in p.units} & {u.id for u in new[key].units}}
    if not theirs:
        return study, []
    [name] = {name for _, name in theirs}
    names = (f"{name}-given" if number == 1 else f"{name}-given-{number}" for number in count(1))
    kept = next(other for other in names if other not in study.pyramid_names)
    what = f"came with the study; it is kept as {kept}, and a new one was built from the references"
    note = Problem(f"pyramid {name} of {len(theirs)} topics", what, "warning")
    pyramids = (replace(p, name=kept) if (p.topic, p.name) in theirs else p for p in study.pyramids)
    return replace(study, pyramids=tuple(pyramids)), [note]


def foreign_texts(study: Study) -> list[Problem]:
    """One warning for all texts mostly in other letters than the segmenter and the encoder were trained on."""
    strange = [s for s in study.summaries if is_foreign(s.text)]
    if not strange:
        return []
    first = f"{strange[0].role} {strange[0].system} of topic {strange[0].topic}"
    what = (
        f"mostly not in Latin letters (the first is {first}); segmenter and encoder know English, so clauses and "
        "similarities are less reliable"
    )
    return [Problem(f"{len(strange)} of {len(study.summaries)} texts", what, "warning")]
