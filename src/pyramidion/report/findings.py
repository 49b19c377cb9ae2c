"""Everything a report or feedback shows about a study, as data. How it is drawn is the business of ``report``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from pyramidion.analysis.agreement import Agreement
from pyramidion.analysis.answer import Answer, Tier, Tiers, count
from pyramidion.analysis.correlate import Correlations
from pyramidion.analysis.ranking import Ranking
from pyramidion.errors import Problem
from pyramidion.scoring.explain import ShownSummary, ShownTopic
from pyramidion.scoring.screening import WorkerAgreement
from pyramidion.study import ScoreTable


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
