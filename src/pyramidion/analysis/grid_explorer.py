"""Many settings of the automatic pyramid on the same texts: Gao et al. 2019, appendix B.

Texts are cut and encoded once for all settings, and a graph is made once for each threshold. Each setting then only
partitions the graph and judges its units; settings that lead to the same pyramid share that too. Scores are those of
`Evaluator` with the same choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyramidion.encoder.sentences import Segment, SegmentedText, Segmenter
from pyramidion.errors import Problem
from pyramidion.evaluation import Evaluator
from pyramidion.jobs import TopicJob
from pyramidion.judges.contributors import PEERS_AT_ONCE, ContributorJudge, peer_contents
from pyramidion.judges.matching import WeightedUnits
from pyramidion.pyramids.build import build
from pyramidion.pyramids.choices import Choices
from pyramidion.pyramids.graph import PERCENTILE, SimilarityGraph
from pyramidion.scoring import auto
from pyramidion.scoring.pyramid import PeerScore
from pyramidion.study import ContentUnit, Contributor, Judgments, Pyramid

Doubles = NDArray[np.float64]
PARTS = ("segmenter", "similarity", "embedder", "partitioner", "matcher")
NUMBERS = ("percentile", "alpha", "beta", "top_k", "threshold")
VARIED = (*PARTS, *NUMBERS)
"""The choices that may differ between settings: which parts are used, and their numbers."""


def shared_choices(choices: Choices) -> Choices:
    """The choices that settings must share to be explored together: everything but the numbers and the partitioner."""
    unsaid: dict[str, Any] = dict.fromkeys(NUMBERS)
    return replace(choices, **unsaid | {"percentile": PERCENTILE, "partitioner": Choices.partitioner})


Scores = dict[str, list[float | None]]
"""By system the values of `auto.MEASURES`."""


class SettingScores(NamedTuple):
    """The peers of a topic under one setting, and the notes on its pyramid."""

    choices: Choices
    scores: Scores
    notes: tuple[Problem, ...]


class Peers(NamedTuple):
    """Peers by system, and how similar their clauses are to every clause of the references, for a matcher."""

    texts: dict[str, SegmentedText]
    similarity: Doubles


class GridExplorer:
    """Scores the peers of a topic under many settings, which have these `shared_choices` in common."""

    def __init__(self, choices: Choices, *, threads: int | None = None) -> None:
        self.choices, self._evaluator = choices, Evaluator(choices, threads=threads)

    def explore(self, job: TopicJob, settings: Iterable[Choices]) -> Iterator[SettingScores]:
        """The scores of every setting; those with the same percentile come together."""
        builder = self._evaluator.builder
        references = dict(zip(job.references, builder.segmenter.segment(list(job.references.values())), strict=True))
        topic = _Topic(job, references, _once(builder.within), self._scoring(job, references))
        for choices in sorted(settings, key=lambda choices: choices.percentile):
            yield topic.score(choices)

    def _scoring(self, job: TopicJob, references: Mapping[str, SegmentedText]) -> Scoring:
        judge = self._evaluator.judge
        if isinstance(judge, ContributorJudge):
            return _Matched(job, references, judge, self._evaluator.builder.segmenter).score
        return lambda pyramid, _: auto.peer_scores(pyramid, Judgments(self._evaluator.judged(job, pyramid)), job.own)


Within = Callable[[list[SegmentedText]], Doubles]
"""How similar all clauses of some texts are to one another."""


def _once(within: Within) -> Within:
    """The answer to the first call, whatever the others ask: a pyramid is built of the same clauses by all settings."""
    known: list[Doubles] = []

    def similarity(texts: list[SegmentedText]) -> Doubles:
        if not known:
            known.append(within(texts))
        return known[0]

    return similarity


Scoring = Callable[[Pyramid, Choices], Mapping[str, PeerScore]]
"""The score of each peer of a topic by a pyramid, by system."""


def _every_clause(topic: str, texts: Mapping[str, SegmentedText]) -> Pyramid:
    """Not a pyramid that covers anything: each clause of each segmentation is a unit of its own."""
    clauses = [Contributor(id, tuple(sorted(clause.spans))) for id, text in texts.items() for clause in text.clauses()]
    units = (ContentUnit(str(number), "", (clause,)) for number, clause in enumerate(dict.fromkeys(clauses)))
    return Pyramid(topic, tuple(texts), tuple(units))


class _Topic:
    """What all settings have in common for one topic."""

    def __init__(
        self, job: TopicJob, references: Mapping[str, SegmentedText], within: Within, scoring: Scoring
    ) -> None:
        self._job, self._references, self._within, self._scoring = job, references, within, scoring
        self._graph: SimilarityGraph | None = None
        self._asked: tuple[float, float | None] | None = None
        self._known: dict[object, Scores] = {}

    def score(self, choices: Choices) -> SettingScores:
        built = build(
            self._job.topic,
            self._references,
            self._within,
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

    def _scores(self, pyramid: Pyramid, choices: Choices) -> Scores:
        scores = self._scoring(pyramid, choices)
        return {system: [value for _, value in auto.values(scores.get(system))] for system in self._job.peers}


class _Matched:
    """Scores by a matcher. Peers are compared once with every clause of the references: whatever the pyramid is, its
    contributors are among them."""

    def __init__(
        self,
        job: TopicJob,
        references: Mapping[str, SegmentedText],
        judge: ContributorJudge,
        segmenter: Segmenter,
    ) -> None:
        self._job = job
        clauses = _every_clause(job.topic, references)
        prepared = judge.prepare(clauses, job.references)
        order = np.argsort(prepared.units.unit_of)
        self._column = {unit.contributors[0]: column for column, unit in enumerate(clauses.units)}
        texts: list[SegmentedText] = []
        parts = [np.zeros((0, len(clauses.units)))]
        source = iter(job.peers.values())
        while some := list(islice(source, PEERS_AT_ONCE)):
            peers = segmenter.segment(some)
            texts += peers
            parts.append(judge.compare(prepared, peers)[:, order])
        self._peers = Peers(dict(zip(job.peers, texts, strict=True)), np.concatenate(parts))
        ends = np.cumsum([0, *(len(peer.clauses()) for peer in texts)]).tolist()
        self._clauses = dict(zip(job.peers, (range(*pair) for pair in pairwise(ends)), strict=True))

    def score(self, pyramid: Pyramid, choices: Choices) -> dict[str, PeerScore]:
        scores: dict[str, PeerScore] = {}
        for own, peers in self._job.peers_by_own_reference().items():
            others = pyramid.without(own) if own else pyramid
            if others.units:
                scores |= self._group_scores(others, list(peers), choices)
        return scores

    def _group_scores(
        self, pyramid: Pyramid, systems: Sequence[str], choices: Choices
    ) -> Iterator[tuple[str, PeerScore]]:
        columns = [self._column[contributor] for unit in pyramid.units for contributor in unit.contributors]
        unit_of = [number for number, unit in enumerate(pyramid.units) for _ in unit.contributors]
        units = WeightedUnits.of([unit.weight for unit in pyramid.units], unit_of)
        rows = [row for system in systems for row in self._clauses[system]]
        match = choices.match()
        assert match is not None
        similarity = self._peers.similarity[np.ix_(rows, columns)]
        contents = peer_contents(units, [self._peers.texts[system] for system in systems], similarity, match)
        for system, content in zip(systems, contents, strict=True):
            expressed = {unit.id: degree for unit, degree in zip(pyramid.units, content.degrees, strict=True)}
            yield system, PeerScore(pyramid, expressed, len(content.outside))
