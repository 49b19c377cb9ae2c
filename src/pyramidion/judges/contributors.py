"""The judge ``auto`` with a matcher: does a peer say what the contributors of a unit say, in one of its segments?

A matcher (`matching`) finds each unit once, by one segment, or not at all; content is unmatched where a segment
expresses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any, NamedTuple

import numpy as np

from pyramidion.encoder.sentences import Clause, SegmentedText, Segmenter, Sentence, left_over
from pyramidion.judges import Doubles
from pyramidion.judges.matching import PeerMatch, WeightedUnits
from pyramidion.study import UNMATCHED, Judgment, Judgments, Pyramid
from pyramidion.study.judgments import Mention
from pyramidion.study.texts import Span

DECIMALS = 4
"""Decimals of a degree, so that stored degrees give the same scores as computed ones."""
PEERS_AT_ONCE = 128
"""Enough to fill batches with sentences of equal length. The vectors of more texts are never held in memory."""

Finder = Callable[..., PeerMatch]
"""A matcher with its choices made."""
Tell = Callable[[str, Mapping[str, float]], object]
"""Hears of each peer when it is judged: its system, and by unit how similar the segment is that a matcher found."""


@dataclass(frozen=True, eq=False)
class PreparedPyramid:
    """A pyramid with its contributors encoded, once for all peers. Units without weight are left out."""

    pyramid: Pyramid
    units: WeightedUnits
    contributors: list[Any]


class PeerContent(NamedTuple):
    """What a peer expresses: the degree of each unit, by number of the unit where and how similar, and the clauses that
    express none."""

    degrees: Sequence[float]
    mentions: Mapping[int, Mention]
    outside: tuple[Mention, ...]
    similarity: Mapping[int, float]


class ContributorJudge:
    """Judges texts by what the contributors of a pyramid's units say.

    ``similarity`` (`pyramids.similarity`) compares clauses.
    """

    def __init__(self, name: str, segmenter: Segmenter, similarity: Any, match: Finder) -> None:
        self.name, self._segmenter, self._similarity, self._match = name, segmenter, similarity, match
        self._last: tuple[Pyramid, Mapping[str, str], PreparedPyramid] | None = None

    def judge(
        self,
        pyramid: Pyramid,
        texts: Mapping[str, str],
        references: Mapping[str, str],
        *,
        tell: Tell = lambda _system, _similarity: None,
    ) -> Judgments:
        """The degree of each unit, with where it is; and how much of a text is not in the pyramid, and what."""
        prepared = self.prepare(pyramid, references)
        units = prepared.pyramid.units
        rows: list[Judgment] = []
        for system, content in self._contents(prepared, texts):
            for number, (unit, degree) in enumerate(zip(units, content.degrees, strict=True)):
                evidence = (mention,) if (mention := content.mentions.get(number)) else ()
                rows.append(Judgment(pyramid.topic, system, self.name, degree, unit=unit.id, evidence=evidence))
            outside = content.outside
            rows.append(
                Judgment(pyramid.topic, system, self.name, float(len(outside)), aspect=UNMATCHED, evidence=outside)
            )
            tell(system, {units[number].id: value for number, value in content.similarity.items()})
        return Judgments(rows)

    def prepare(self, pyramid: Pyramid, references: Mapping[str, str]) -> PreparedPyramid:
        """Encode a pyramid's contributors; the last pyramid is remembered, so that texts may come in several calls."""
        if self._last is None or self._last[0] is not pyramid or self._last[1] != references:
            weighted = replace(pyramid, units=tuple(unit for unit in pyramid.units if unit.weight))
            said = contributors_of(weighted, references)
            units = WeightedUnits.of([unit.weight for unit in weighted.units], said.unit_of)
            self._last = pyramid, references, PreparedPyramid(weighted, units, self._similarity.prepare(said.texts))
        return self._last[2]

    def _contents(self, prepared: PreparedPyramid, texts: Mapping[str, str]) -> Iterator[tuple[str, PeerContent]]:
        source = iter(texts.items())
        while some := dict(islice(source, PEERS_AT_ONCE)):
            peers = self._segmenter.segment(list(some.values()))
            if len(prepared.units.weights):
                contents = peer_contents(prepared.units, peers, self.compare(prepared, peers), self._match)
            else:
                contents = iter([PeerContent((), {}, outside(peer, ()), {}) for peer in peers])
            yield from zip(some, contents, strict=True)

    def compare(self, prepared: PreparedPyramid, peers: Sequence[SegmentedText]) -> Doubles:
        """How similar the clauses of peers are to every contributor."""
        similarity: Doubles = self._similarity.between(self._similarity.prepare(peers), prepared.contributors)
        return similarity


def outside(peer: SegmentedText, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """The clauses, every sentence cut as finely as possible, of which no mention has a character."""
    marked = np.zeros(len(peer.text) + 1, dtype=bool)
    for start, end in (span for mention in mentions for span in mention):
        marked[start:end] = True
    clauses = (clause for sentence in peer.sentences for clause in sentence.segmentations[_finest(sentence)])
    return tuple(clause.spans for clause in clauses if not any(marked[slice(*span)].any() for span in clause.spans))


def _finest(sentence: Sentence) -> int:
    return left_over([len(clauses) for clauses in sentence.segmentations], "finest")


def peer_contents(
    units: WeightedUnits, peers: Sequence[SegmentedText], similarity: Doubles, match: Finder
) -> Iterator[PeerContent]:
    """What each peer expresses, given how similar its clauses are to every contributor (in the order of
    ``unit_of``)."""
    first = 0
    for peer in peers:
        clauses = peer.clauses()
        matched = match(units, peer, similarity[first : first + len(clauses)])
        first += len(clauses)
        degrees = [0.0] * len(units.weights)
        for each in matched.matches:
            degrees[each.unit] = 1.0
        used = {each.segment for each in matched.matches}
        free = (clauses[segment].spans for segment in _segments(peer, matched.segmentations) if segment not in used)
        yield PeerContent(
            degrees,
            {each.unit: clauses[each.segment].spans for each in matched.matches},
            tuple(free),
            {each.unit: each.similarity for each in matched.matches},
        )


def _segments(peer: SegmentedText, chosen: Sequence[int]) -> Iterator[int]:
    """The numbers among all clauses of a peer of those that the chosen segmentations consist of."""
    first = 0
    for sentence, segmentation in zip(peer.sentences, chosen, strict=True):
        ends = list(accumulate(map(len, sentence.segmentations), initial=first))
        yield from range(ends[segmentation], ends[segmentation + 1])
        first = ends[-1]


class Contributors(NamedTuple):
    """What peers are compared with: texts whose clauses are contributors, and the unit (by number) of each clause."""

    texts: list[SegmentedText]
    unit_of: list[int]


def contributors_of(pyramid: Pyramid, references: Mapping[str, str]) -> Contributors:
    """The contributors of any pyramid, an expert's or a crowd's as well.

    Where nobody marked words, or the reference is not here, there is nothing to compare; the unit's label stands in.
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
    texts = [_of_clauses(references[id], [clause for _, clause in said]) for id, said in marked.items()]
    texts += [_of_clauses(label, [Clause((Span(0, len(label)),), label)]) for label in labels.values()]
    return Contributors(texts, [number for said in marked.values() for number, _ in said] + list(labels))


def _of_clauses(text: str, clauses: list[Clause]) -> SegmentedText:
    """A text that is known by some clauses of it; for what follows each is a sentence that cannot be cut."""
    return SegmentedText(
        text, tuple(Sentence(Span(clause.spans[0].start, clause.spans[-1].end), ((clause,),)) for clause in clauses)
    )
