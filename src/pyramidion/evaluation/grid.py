"""Many settings of the automatic pyramid on the same texts: Gao et al. 2019, appendix B.

Texts are cut, encoded and compared once for all settings, and a graph is made once for each threshold. What is left for
a setting is to partition the graph and to look up how far its units are expressed; settings that lead to the same
pyramid share that, too. Scores are those of `Evaluator` with the same choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.segments import Segment, SegmentedText
from pyramidion.errors import Problem
from pyramidion.evaluation.choices import Choices
from pyramidion.evaluation.evaluator import PEERS_AT_ONCE, Evaluator
from pyramidion.evaluation.scores import NO_SCORES, PeerScores, peer_scores
from pyramidion.judges.matching import WeightedUnits
from pyramidion.judges.peers import aligned, matched
from pyramidion.pyramids.build import build
from pyramidion.pyramids.graph import PERCENTILE, SimilarityGraph
from pyramidion.study import ContentUnit, Contributor, Pyramid
from pyramidion.study.judgments import Mention

Doubles = NDArray[np.float64]
PARTS = ("segmenter", "similarity", "embedder", "partitioner", "matcher")
NUMBERS = ("percentile", "alpha", "beta", "top_k", "threshold")
VARIED = (*PARTS, *NUMBERS)
"""The choices that may differ between settings: which parts are used, and their numbers."""


def shared_choices(choices: Choices) -> Choices:
    """What settings must agree in to be explored together: everything but the numbers and the partitioner."""
    unsaid: dict[str, Any] = dict.fromkeys(NUMBERS)
    return replace(choices, **unsaid | {"percentile": PERCENTILE, "partitioner": Choices.partitioner})


class SettingScores(NamedTuple):
    """The peers of a topic under one setting, in their order, and what there is to say about its pyramid."""

    choices: Choices
    scores: tuple[PeerScores, ...]
    notes: tuple[Problem, ...]


class GridEvaluator(Evaluator):
    """Scores the peers of a topic under many settings, which have their `shared_choices` in common with its own."""

    def explore(
        self,
        topic: str,
        references: Mapping[str, str],
        peers: Sequence[str],
        settings: Iterable[Choices],
        *,
        own: Mapping[int, str] | None = None,
    ) -> Iterator[SettingScores]:
        """The scores of every setting; those with the same percentile come together.

        ``own`` names, by number, the peers that are references: each is scored against the others."""
        texts = dict(zip(references, self._segmenter.segment(list(references.values())), strict=True))
        said = [texts[id] for id in sorted(texts) if texts[id].sentences]
        clauses = _every_clause(topic, texts)
        shared = _Shared(
            topic,
            texts,
            self._within(said) if said else np.zeros((0, 0)),
            {unit.contributors[0]: column for column, unit in enumerate(clauses.units)},
            self._compared(clauses, references, peers),
            own or {},
        )
        for choices in sorted(settings, key=lambda choices: choices.percentile):
            yield shared.score(choices)

    def _compared(self, clauses: Pyramid, references: Mapping[str, str], peers: Sequence[str]) -> _Peers:
        prepared = self.prepare(clauses, references)
        texts: list[SegmentedText] = []
        found = [np.zeros((0, len(clauses.units)))]
        evidence: list[Callable[[int, int], Mention]] = []
        order = np.argsort(prepared.units.unit_of)
        for first in range(0, len(peers), PEERS_AT_ONCE):
            some = self._segmenter.segment(peers[first : first + PEERS_AT_ONCE])
            texts += some
            if self._match is None:
                bags = [bag for text in prepared.contributors for bag in text.clauses]
                whole = self._alignment.prepare([SegmentedText(peer.text) for peer in some])
                alignment = self._alignment.expressed(bags, whole)
                similarity = alignment.mean().T
                evidence.append(alignment.evidence)
            else:
                similarity = self._similarity.between(self._similarity.prepare(some), prepared.contributors)
            found.append(similarity[:, order])
        where = cache(lambda column, peer: evidence[peer // PEERS_AT_ONCE](int(order[column]), peer % PEERS_AT_ONCE))
        return _Peers(texts, np.concatenate(found), where)


def _every_clause(topic: str, texts: Mapping[str, SegmentedText]) -> Pyramid:
    """No pyramid that covers anything: each clause of each segmentation is a unit of its own."""
    clauses = [Contributor(id, tuple(sorted(clause.spans))) for id, text in texts.items() for clause in text.clauses()]
    units = (ContentUnit(str(number), "", (clause,)) for number, clause in enumerate(dict.fromkeys(clauses)))
    return Pyramid(topic, tuple(texts), tuple(units))


class _Peers(NamedTuple):
    """Peers, how similar each of them (each of their clauses, where a matcher judges) is to every clause of the
    references, and where in a peer such a clause is said."""

    texts: list[SegmentedText]
    similarity: Doubles
    evidence: Callable[[int, int], Mention]


class _Shared:
    """What all settings have in common for one topic; ``column`` says where a contributor is among all clauses."""

    def __init__(
        self,
        topic: str,
        texts: Mapping[str, SegmentedText],
        within: Doubles,
        column: Mapping[Contributor, int],
        peers: _Peers,
        own: Mapping[int, str],
    ) -> None:
        self._topic, self._texts, self._within, self._column, self._peers = topic, texts, within, column, peers
        self._groups = _by_own_reference(len(peers.texts), own)
        ends = np.cumsum([0, *(len(peer.clauses()) for peer in peers.texts)]).tolist()
        self._rows = [range(*pair) for pair in pairwise(ends)]
        self._graph: SimilarityGraph | None = None
        self._asked: tuple[float, float | None] | None = None
        self._known: dict[object, tuple[PeerScores, ...]] = {}

    def score(self, choices: Choices) -> SettingScores:
        built = build(
            self._topic,
            self._texts,
            lambda _: self._within,
            graph=partial(self._joined, choices),
            partition=choices.partition(),
        )
        key = (built.pyramid.units, choices.top_k, choices.threshold)
        if key not in self._known:
            self._known[key] = self._scores(built.pyramid, choices)
        return SettingScores(choices, self._known[key], built.notes)

    def _joined(self, choices: Choices, segments: tuple[Segment, ...], similarity: Doubles) -> SimilarityGraph:
        """The graph of a threshold; only the last is kept, as cliques may be many."""
        asked = (choices.percentile, choices.floor)
        if self._graph is None or self._asked != asked:
            self._graph = None  # the old one goes before the new one comes
            self._graph = SimilarityGraph.of(segments, similarity, percentile=choices.percentile, floor=choices.floor)
            self._asked = asked
        return self._graph

    def _scores(self, pyramid: Pyramid, choices: Choices) -> tuple[PeerScores, ...]:
        found: dict[int, PeerScores] = {}
        for own, group in self._groups.items():
            held = pyramid.without(own) if own else pyramid
            scores = self._group_scores(held, group, choices) if held.units else repeat(NO_SCORES, len(group))
            found.update(zip(group, scores, strict=True))
        return tuple(found[number] for number in sorted(found))

    def _group_scores(self, pyramid: Pyramid, group: Sequence[int], choices: Choices) -> Iterator[PeerScores]:
        columns = [self._column[contributor] for unit in pyramid.units for contributor in unit.contributors]
        unit_of = [number for number, unit in enumerate(pyramid.units) for _ in unit.contributors]
        units = WeightedUnits.of([unit.weight for unit in pyramid.units], unit_of)
        texts = [self._peers.texts[number] for number in group]
        match = choices.match()
        if match is None:
            shares = self._peers.similarity[np.ix_(group, columns)].T
            judged = aligned(units, texts, shares, lambda row, peer: self._peers.evidence(columns[row], group[peer]))
        else:
            rows = [row for number in group for row in self._rows[number]]
            judged = matched(units, texts, self._peers.similarity[np.ix_(rows, columns)], match)
        for each in judged:
            yield peer_scores(pyramid, each.degrees, each.unmatched)


def _by_own_reference(peers: int, own: Mapping[int, str]) -> dict[str, list[int]]:
    """Peers by the reference they are, and by nothing where they are none."""
    groups: dict[str, list[int]] = {}
    for number in range(peers):
        groups.setdefault(own.get(number, ""), []).append(number)
    return groups
