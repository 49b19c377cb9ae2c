"""Why a summary has its score: which units it expresses, where, and what it misses."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from pyramidion.study import ContentUnit, Pyramid, Summary
from pyramidion.study.judgments import Mention


@dataclass(frozen=True)
class OneAnnotation:
    """What one of several annotators says of a summary, and what it would score by that alone."""

    times: Mapping[str, int]
    measures: Mapping[str, float | None]
    unmatched: int | None
    weight: float


@dataclass(frozen=True)
class Explanation:
    """One peer summary against one pyramid: how often it expresses each unit, where, and what it scores.

    ``unmatched`` is how many of its content units are not in the pyramid; None where nobody counted. ``weight`` is what
    its units weigh together, by degrees where they have them; None where weights do not count. Where several annotated
    it and the mean of their scores counts, ``annotators`` has what each says: units are expressed that any of them
    finds, and ``unmatched`` and ``weight`` are means. ``own`` is the reference that a human peer is: ``pyramid`` is
    then that of the other references. ``degrees`` has the units that a model finds in part: ``weight`` is the sum of
    weight x degree over what is expressed.
    """

    peer: Summary
    pyramid: Pyramid
    times: Mapping[str, int]
    evidence: Mapping[str, tuple[Mention, ...]]
    measures: Mapping[str, float | None]
    unmatched: float | None = None
    weight: float | None = None
    annotators: Mapping[str, OneAnnotation] = field(default_factory=dict)
    own: str = ""
    degrees: Mapping[str, float] = field(default_factory=dict)

    def degree(self, unit: str) -> float:
        """The part of an expressed unit's weight that counts."""
        return self.degrees.get(unit, 1.0)

    @property
    def about(self) -> str:
        """What has to be said about a human peer; empty for anybody else."""
        return (
            f"It is reference {self.own} itself, so it is compared with the other references only." if self.own else ""
        )

    def found_by(self, unit: str) -> tuple[str, ...]:
        """Which of several annotators find a unit."""
        return tuple(name for name, said in self.annotators.items() if said.times.get(unit, 0) > 0)

    @property
    def expressed(self) -> tuple[ContentUnit, ...]:
        """Expressed units, the heaviest first."""
        return self._units(True)

    @property
    def missed(self) -> tuple[ContentUnit, ...]:
        """Units that are not expressed, the heaviest first."""
        return self._units(False)

    def _units(self, wanted: bool) -> tuple[ContentUnit, ...]:
        found = [u for u in self.pyramid.units if (self.times.get(u.id, 0) > 0) == wanted]
        return tuple(sorted(found, key=lambda unit: -unit.weight))

    def weight_at(self) -> list[int]:
        """For each character of the summary, the weight of the heaviest unit it helps to express, or 0."""
        weights = [0] * len(self.peer.text)
        for unit in self.pyramid.units:
            for span in (span for mention in self.evidence.get(unit.id, ()) for span in mention):
                for place in range(*span):
                    weights[place] = max(weights[place], unit.weight)
        return weights

    def _repr_html_(self) -> str:
        """What a notebook shows: the text with matched words marked, then what is there and what is missing."""
        tiers = max((unit.weight for unit in self.pyramid.units), default=0) or 1  # units may all weigh nothing
        marked = "".join(
            _marked("".join(character for character, _ in run), weight / tiers)
            for weight, run in groupby(zip(self.peer.text, self.weight_at(), strict=True), key=lambda place: place[1])
        )
        measure, value = next(iter(self.measures.items()))
        score = "undefined" if value is None else f"{value:.3f}"
        title = f"{self.peer.topic}, {self.peer.system}: {measure} {score}"
        lists = "".join(
            f"<details><summary>{len(units)} units {what}</summary><ul>"
            + "".join(
                f"<li dir='auto'>({unit.weight}) {html.escape(unit.label or unit.id)}{self._remarks(unit.id)}</li>"
                for unit in units
            )
            + "</ul></details>"
            for what, units in (("expressed", self.expressed), ("missed", self.missed))
        )
        about = f"<p>{html.escape(self.about)}</p>" if self.own else ""
        return f"<b>{html.escape(title)}</b>{about}<p dir='auto' style='white-space:pre-wrap'>{marked}</p>{lists}"

    def _remarks(self, unit: str) -> str:
        found = self.found_by(unit)
        part = f" (in part: {self.degrees[unit]:.2f})" if unit in self.degrees else ""
        return part + (f" ({len(found)} of {len(self.annotators)} annotators)" if found else "")


def _marked(text: str, share: float) -> str:
    """Words that express a unit: the heavier, the stronger. The tint is transparent, so that it fits any theme."""
    if not share:
        return html.escape(text)
    return f"<span style='background:rgba(0,150,130,{0.12 + 0.38 * share:.2f})'>{html.escape(text)}</span>"


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
