"""Why a summary has its score: which units it expresses, where, and what it misses."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from pyramidion.model import ContentUnit, Pyramid, Summary
from pyramidion.model.judgments import Mention


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
