"""Scores of the same summaries under many settings of a metric, side by side with a gold measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pyramidion.analysis.answer import listed
from pyramidion.analysis.inputs import Floats, Measure, choose_measures, column_means, measures_of
from pyramidion.errors import Problem, UsageError
from pyramidion.stats.correlation import Kind, row_correlations
from pyramidion.study import ScoreTable

Value = float | str | None
Setting = tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class ScoredSettings:
    """``scores`` is settings x topics x systems, NaN where a summary is missing.

    A setting has a value for each of the ``parameters``: a number, a name, or None if the parameter has no effect with
    the others (a partitioner without it). ``default`` is the default setting, if it is among them; ``fixed`` names what
    all settings have in common.
    """

    measure: str
    parameters: tuple[str, ...]
    settings: tuple[Setting, ...]
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    scores: Floats
    default: Setting | None = None
    fixed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Problem, ...] = ()

    def __post_init__(self) -> None:
        shape = len(self.settings), len(self.topics), len(self.systems)
        if self.scores.shape != shape:
            raise UsageError(f"scores must be settings x topics x systems, {shape}, not {self.scores.shape}")
        if any(len(setting) != len(self.parameters) for setting in self.settings):
            raise UsageError(f"every setting has {len(self.parameters)} values: {', '.join(self.parameters)}")

    def in_order(self) -> ScoredSettings:
        """The same, with settings, topics and systems sorted, so that the order of ties is fixed."""
        settings = sorted(
            range(len(self.settings)), key=lambda place: [(v is not None, v or 0) for v in self.settings[place]]
        )
        topics = sorted(range(len(self.topics)), key=lambda place: self.topics[place])
        systems = sorted(range(len(self.systems)), key=lambda place: self.systems[place])
        return replace(
            self,
            settings=tuple(self.settings[place] for place in settings),
            topics=tuple(self.topics[place] for place in topics),
            systems=tuple(self.systems[place] for place in systems),
            scores=self.scores[np.ix_(settings, topics, systems)],
        )

    def levels(self, parameter: str) -> list[Any]:
        """The values of a parameter: numbers from low to high, names by the alphabet."""
        place = self.parameters.index(parameter)
        found: set[Any] = {setting[place] for setting in self.settings} - {None}
        return sorted(found)

    @property
    def varied(self) -> tuple[str, ...]:
        return tuple(name for name in self.parameters if len(self.levels(name)) > 1)


@dataclass(frozen=True, eq=False)
class AgainstGold:
    """Scores and gold over the topics and systems they share.

    ``target`` is topics x systems, or None where the gold has system means only; ``means`` are the gold's system means.
    """

    gold: str
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    scores: Floats
    target: Floats | None
    means: Floats
    notes: tuple[Problem, ...]

    def by_topic(self, kind: Kind) -> Floats:
        """Settings x topics: the correlation over the systems of a topic; NaN where it is undefined."""
        if self.target is None:
            return np.full(self.scores.shape[:2], np.nan)
        return row_correlations(self.scores, self.target, kind)

    def of_systems(self, kind: Kind) -> Floats:
        """For each setting the correlation of system means."""
        return row_correlations(column_means(self.scores), self.means, kind)

    def without(self, topic: int) -> AgainstGold:
        """The same without one topic."""
        assert self.target is not None
        kept = np.arange(len(self.topics)) != topic
        target = self.target[kept]
        names = tuple(name for name in self.topics if name != self.topics[topic])
        return replace(self, topics=names, scores=self.scores[:, kept], target=target, means=column_means(target))


def against(scored: ScoredSettings, gold: ScoreTable, measure: str | None = None) -> AgainstGold:
    """Align scores with a gold measure (by default the first). What only one side has is left out, with a note."""
    chosen = _gold_measure(gold, measure)
    cells, means = gold.per_summary(chosen.measure), gold.per_system(chosen.measure)
    held = {system for (_, system), value in cells.items() if value is not None}
    held |= {system for system, value in means.items() if value is not None}
    systems = [place for place, system in enumerate(scored.systems) if system in held]
    if len(systems) < 2:
        mine, theirs = listed(scored.systems), listed(sorted(held))
        raise UsageError(
            f"a correlation needs at least 2 systems; {chosen.name} scores {len(systems)} of those evaluated "
            f"(evaluated: {mine}; in the gold: {theirs or 'none'})"
        )
    names = tuple(scored.systems[place] for place in systems)
    notes = [*scored.notes, *_left_out("system", scored.systems, names, chosen.name)]
    if not cells:
        notes.append(
            Problem(chosen.name, "has no scores by topic, so nothing can be said about single topics", "warning")
        )
        given = np.array([_number(means.get(system)) for system in names])
        return AgainstGold(chosen.name, scored.topics, names, scored.scores[:, :, systems], None, given, tuple(notes))
    topics = [place for place, topic in enumerate(scored.topics) if any(found == topic for found, _ in cells)]
    shared = tuple(scored.topics[place] for place in topics)
    if not shared:
        theirs = listed(sorted({topic for topic, _ in cells}))
        raise UsageError(f"no topic in common (evaluated: {listed(scored.topics)}; in the gold: {theirs})")
    notes += _left_out("topic", scored.topics, shared, chosen.name)
    target = np.array([[_number(cells.get((topic, system))) for system in names] for topic in shared])
    scores = scored.scores[:, topics][:, :, systems]
    both = ~np.isnan(target) & ~np.isnan(scores).any(axis=0)
    if missing := int((~both).sum()):
        notes.append(Problem(f"{missing} of {both.size} summaries", "have no score or no gold; left out", "warning"))
    target, scores = np.where(both, target, np.nan), np.where(both, scores, np.nan)
    return AgainstGold(chosen.name, shared, names, scores, target, column_means(target), tuple(notes))


def _gold_measure(gold: ScoreTable, measure: str | None) -> Measure:
    known = measures_of(gold)
    if not known:
        raise UsageError("the gold has no scores")
    return choose_measures(known, [measure or known[0].name])[0]


def _left_out(noun: str, all_names: Sequence[str], kept: Sequence[str], gold: str) -> list[Problem]:
    gone = sorted(set(all_names) - set(kept))
    return [Problem(f"{noun}s {listed(gone)}", f"have no {gold}; left out", "warning")] if gone else []


def _number(value: float | None) -> float:
    return np.nan if value is None else value
