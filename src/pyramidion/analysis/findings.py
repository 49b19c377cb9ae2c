"""Everything a report or feedback shows about a study, as data. How it is drawn is the business of ``report``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from pyramidion.analysis.agreement import Agreement
from pyramidion.analysis.answer import Answer, count
from pyramidion.analysis.correlate import Correlations
from pyramidion.analysis.figures import Tier, Tiers
from pyramidion.analysis.ranking import Ranking
from pyramidion.errors import Problem
from pyramidion.methods.screening import WorkerAgreement
from pyramidion.model import ScoreTable


class Wording(NamedTuple):
    """What one reference says."""

    reference: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownUnit:
    id: str
    label: str
    weight: int
    wordings: tuple[Wording, ...]


@dataclass(frozen=True, slots=True)
class ShownTopic:
    """``units`` go from the top tier down; both are empty where the topic has no pyramid."""

    id: str
    title: str
    description: str
    references: tuple[Wording, ...]
    units: tuple[ShownUnit, ...]
    tiers: int


class Piece(NamedTuple):
    """A part of a summary: the units it helps to express, as places in the topic's list of units."""

    text: str
    units: tuple[int, ...] = ()
    unmatched: bool = False


class Expressed(NamedTuple):
    """A unit, how often it is expressed, and the part of its weight that counts: below 1 where a model found a part."""

    unit: int
    times: int
    degree: float = 1.0


class Votes(NamedTuple):
    """How many of those who answered said that the unit is there."""

    unit: int
    yes: int
    of: int


class ByAnnotator(NamedTuple):
    """What a summary scores by one of several annotations."""

    name: str
    value: float | None


@dataclass(frozen=True, slots=True)
class ShownSummary:
    """``judged`` says which units somebody judged; ``unmatched`` is None where nobody counted.

    With several ``annotators`` the score is the mean of theirs, ``expressed`` has what any of them found, and ``votes``
    how many did.

    ``own`` is the reference that a human peer is; ``weights`` are then those of the topic's units without its own
    contribution, None for units that nobody else contributes to.
    """

    topic: str
    system: str
    pieces: tuple[Piece, ...]
    judged: bool
    expressed: tuple[Expressed, ...] = ()
    votes: tuple[Votes, ...] = ()
    unmatched: float | None = None
    unmatched_quotes: tuple[str, ...] = ()
    annotators: tuple[ByAnnotator, ...] = ()
    own: str = ""
    weights: tuple[int | None, ...] = ()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def marked(self) -> bool:
        """Whether somebody marked where units are expressed."""
        return any(piece.units for piece in self.pieces)


def compared(topic: ShownTopic, summary: ShownSummary) -> tuple[ShownTopic, ShownSummary]:
    """A topic as a summary is compared with it: for a human peer, what the other references say and how they weigh it.

    Of anybody else it is the topic itself. Places of units are renumbered, heaviest first.
    """
    if not summary.own:
        return topic, summary
    kept = [(place, weight) for place, weight in enumerate(summary.weights) if weight is not None]
    kept.sort(key=lambda each: -each[1])
    units = tuple(
        replace(unit, weight=weight, wordings=tuple(w for w in unit.wordings if w.reference != summary.own))
        for unit, weight in ((topic.units[place], weight) for place, weight in kept)
    )
    new = {place: number for number, (place, _) in enumerate(kept)}
    return replace(topic, units=units, tiers=max((unit.weight for unit in units), default=0)), replace(
        summary,
        pieces=tuple(
            piece._replace(units=tuple(sorted(new[place] for place in piece.units))) for piece in summary.pieces
        ),
        expressed=tuple(sorted(each._replace(unit=new[each.unit]) for each in summary.expressed)),
        votes=tuple(sorted(each._replace(unit=new[each.unit]) for each in summary.votes)),
    )


@dataclass(frozen=True)
class Scored:
    """One method's scores, ranked by one of its measures."""

    method: str
    measure: str
    table: ScoreTable
    ranking: Answer[Ranking]


class Fact(NamedTuple):
    name: str
    value: str


@dataclass(frozen=True)
class Findings:
    """What was evaluated, how, and what came out. ``main`` is what pyramids and summaries are shown by.

    ``title`` is the study's own, or empty.
    """

    title: str
    facts: tuple[Fact, ...]
    protocol: tuple[Fact, ...]
    scored: tuple[Scored, ...]
    topics: tuple[ShownTopic, ...]
    summaries: tuple[ShownSummary, ...]
    agreements: tuple[Answer[Agreement], ...] = ()
    workers: tuple[WorkerAgreement, ...] = ()
    correlations: Answer[Correlations] | None = None
    notes: tuple[Problem, ...] = ()

    def heading(self, who: str) -> str:
        """The study's title, or how many there are: "6 systems on 4 topics"."""
        return self.title or f"{count(len(self.systems), who)} on {count(len(self.topics), 'topic')}"

    @property
    def main(self) -> Scored:
        return self.scored[0]

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """From best to worst by the main measure; systems without a score last."""
        ranked = [s.system for s in self.main.ranking.result.systems]
        held = set(ranked)
        return (*ranked, *sorted({s.system for s in self.summaries} - held))

    @cached_property
    def main_scores(self) -> Mapping[tuple[str, str], float | None]:
        """The main measure of every summary, by topic and system."""
        return self.main.table.per_summary(self.main.measure)

    def summaries_of(self, topic: str) -> tuple[ShownSummary, ...]:
        return self._by_topic.get(topic, ())

    @cached_property
    def _by_topic(self) -> Mapping[str, tuple[ShownSummary, ...]]:
        found: dict[str, list[ShownSummary]] = {}
        for summary in self.summaries:
            found.setdefault(summary.topic, []).append(summary)
        return {topic: tuple(held) for topic, held in found.items()}

    def pyramid_figure(self, topic: ShownTopic) -> Tiers:
        """A topic's pyramid; a unit's share is that of the judged summaries which express it."""
        judged = [summary for summary in self.summaries_of(topic.id) if summary.judged]
        times = Counter(found.unit for summary in judged for found in summary.expressed)
        tiers: dict[int, list[float]] = {}
        for place, unit in enumerate(topic.units):
            tiers.setdefault(unit.weight, []).append(times[place] / len(judged) if judged else 0.0)
        shown = tuple(Tier(weight, tuple(shares)) for weight, shares in tiers.items())
        return Tiers(f"Pyramid of {topic.id}", "share of summaries", shown)

    def answers(self) -> tuple[Answer[Any], ...]:
        """Every analysis in the order of the report, for figures and tables of papers."""
        held: list[Answer[Any]] = [scored.ranking for scored in self.scored]
        held += self.agreements
        return (*held, *([self.correlations] if self.correlations else []))
