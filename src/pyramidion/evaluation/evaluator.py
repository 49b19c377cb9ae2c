"""The parts put together: references in, pyramid out; peers in, judged peers out, some hundred at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from pyramidion import plugins
from pyramidion.encoder.minilm import Encoder
from pyramidion.encoder.segments import SegmentedText, Segmenter
from pyramidion.evaluation.choices import ALIGN, SPACY, Choices
from pyramidion.evaluation.scores import PeerScores, peer_scores
from pyramidion.judges.matching import WeightedUnits
from pyramidion.judges.peers import JudgedPeer, aligned, matched, outside
from pyramidion.pyramids.build import NAME, BuiltPyramid, build, contributors_of
from pyramidion.pyramids.embedders import embedder
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.similarity import Alignment, Cosine
from pyramidion.pyramids.spacy_clauses import SpacySegmenter
from pyramidion.study import Pyramid

PEERS_AT_ONCE = 128
"""Enough to fill batches with sentences of equal length. The vectors of more are never held."""


@dataclass(frozen=True, eq=False)
class PreparedPyramid:
    """A pyramid with its contributors encoded, once for all peers. Units without weight are left out."""

    pyramid: Pyramid
    units: WeightedUnits
    contributors: list[Any]


class ScoredPeer(NamedTuple):
    system: str
    judged: JudgedPeer
    scores: PeerScores


class Evaluator:
    """Builds pyramids and judges peers by some choices. The encoder takes as many threads as there are cores."""

    def __init__(self, choices: Choices | None = None, *, threads: int | None = None) -> None:
        self.choices = choices or Choices()
        self._encoder = Encoder(threads)
        self._segmenter = self._chosen_segmenter()
        self._alignment = Alignment(self._encoder)
        self._similarity: Any = self._alignment
        if self.choices.similarity != ALIGN:
            self._similarity = Cosine(embedder(self.choices.embedder, self._encoder))
        self._partition, self._match = self.choices.partition(), self.choices.match()

    def _chosen_segmenter(self) -> Segmenter:
        name = self.choices.segmenter
        if name.startswith(SPACY):
            return SpacySegmenter(name.removeprefix(SPACY))
        made: Segmenter = plugins.load("segmenters", name)(self._encoder)
        return made

    def build(self, topic: str, references: Mapping[str, str], *, name: str = NAME) -> BuiltPyramid:
        """A pyramid from the references of a topic, given by name."""
        segmented = dict(zip(references, self._segmenter.segment(list(references.values())), strict=True))
        graph = partial(SimilarityGraph.of, percentile=self.choices.percentile, floor=self.choices.floor)
        return build(topic, segmented, self._within, graph=graph, partition=self._partition, name=name)

    def _within(self, texts: list[SegmentedText]) -> Any:
        prepared = self._similarity.prepare(texts)
        return self._similarity.between(prepared, prepared)

    def prepare(self, pyramid: Pyramid, references: Mapping[str, str]) -> PreparedPyramid:
        """Encode a pyramid's contributors, given the texts of its references."""
        pyramid = replace(pyramid, units=tuple(unit for unit in pyramid.units if unit.weight))
        found = contributors_of(pyramid, references)
        units = WeightedUnits.of([unit.weight for unit in pyramid.units], found.unit_of)
        reader = self._alignment if self._match is None else self._similarity
        return PreparedPyramid(pyramid, units, reader.prepare(found.texts))

    def score(self, prepared: PreparedPyramid, peers: Iterable[tuple[str, str]]) -> Iterator[ScoredPeer]:
        """Judge and score peers, given by system and text, in order."""
        source = iter(peers)
        while chunk := list(islice(source, PEERS_AT_ONCE)):
            judged = self._judge(prepared, self._segmenter.segment([text for _, text in chunk]))
            for (system, _), found in zip(chunk, judged, strict=True):
                yield ScoredPeer(system, found, peer_scores(prepared.pyramid, found.degrees, found.unmatched))

    def _judge(self, prepared: PreparedPyramid, peers: list[SegmentedText]) -> Iterable[JudgedPeer]:
        if not len(prepared.units.weights):
            return [JudgedPeer((), (), outside(peer, ())) for peer in peers]
        if self._match is None:
            clauses = [clause for text in prepared.contributors for clause in text.clauses]
            whole = self._alignment.prepare([SegmentedText(peer.text) for peer in peers])  # their clauses do not matter
            alignment = self._alignment.expressed(clauses, whole)
            return aligned(prepared.units, peers, alignment.mean(), alignment.evidence)
        similarity = self._similarity.between(self._similarity.prepare(peers), prepared.contributors)
        return matched(prepared.units, peers, similarity, self._match)
