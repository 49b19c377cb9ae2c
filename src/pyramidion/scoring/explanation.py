"""Why one summary has its score: which units it expresses, which perhaps, where, and what is not found.

`show` prints an `Explanation`, the report packs it, feedback and notebooks render it: what they show adds up to the
same score. `explain` makes them of a study.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import NamedTuple

from pyramidion.study import ContentUnit, Pyramid, Signature, Summary
from pyramidion.study.judgments import EXPRESSED, NOT_FOUND, PERHAPS, VERDICTS, Mention, Verdict


class Piece(NamedTuple):
    """A stretch of a summary: the ids of the units it expresses, or perhaps does, and whether it is in no unit."""

    text: str
    units: tuple[str, ...] = ()
    unmatched: bool = False


class Votes(NamedTuple):
    """How many of those who answered said that a unit is there."""

    yes: int
    of: int


@dataclass(frozen=True)
class OneAnnotation:
    """What one of several annotators says about a summary, and its score by that annotator alone."""

    times: Mapping[str, int]
    measures: Mapping[str, float | None]
    unmatched: int | None
    weight: float


@dataclass(frozen=True)
class Explanation:
    """One peer summary against one pyramid: which units it expresses, which perhaps, where, and what it scores.

    ``judged`` is False where nobody said which units it expresses. ``verdicts`` has the units that were judged, in the
    words that a person reads; ``times`` is how often each adds to the score. ``unmatched`` is how many of its content
    units are not in the pyramid, None where nobody counted; ``outside`` is where they are. ``weight`` is what its units
    weigh together, by degrees where they have them; None where weights do not count. ``degrees`` has the units of which
    a part of the weight counts; ``corrected`` those whose verdict somebody corrected, with what it was before.
    ``votes`` has the units that several judges answered. Where several annotated it and the mean of their scores
    counts, ``annotators`` has what each says: units are expressed that any of them finds, and ``unmatched`` and
    ``weight`` are means. ``own`` is the reference that a human peer is: ``pyramid`` is then that of the other
    references.
    """

    peer: Summary
    pyramid: Pyramid
    measures: Mapping[str, float | None]
    judged: bool = True
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    times: Mapping[str, int] = field(default_factory=dict)
    evidence: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)
    outside: tuple[Mention, ...] = ()
    unmatched: float | None = None
    weight: float | None = None
    degrees: Mapping[str, float] = field(default_factory=dict)
    votes: Mapping[str, Votes] = field(default_factory=dict)
    annotators: Mapping[str, OneAnnotation] = field(default_factory=dict)
    own: str = ""
    corrected: Mapping[str, Verdict] = field(default_factory=dict)
    signature: Signature | None = None

    def verdict(self, unit: str) -> Verdict:
        """What a person reads about a unit."""
        return self.verdicts.get(unit, "not found")

    def degree(self, unit: str) -> float:
        """The part of a unit's weight that counts, whatever the verdict."""
        return self.degrees.get(unit, 1.0 if self.times.get(unit, 0) > 0 else 0.0)

    def words(self, unit: str) -> list[str]:
        """The words that express a unit, or perhaps do, mention by mention."""
        return self._quoted(self.evidence.get(unit, ()))

    @property
    def about(self) -> str:
        """A remark on a human peer; empty for other peers."""
        return self.own and f"This is reference {self.own} itself, so it is compared only with the other references."

    def found_by(self, unit: str) -> tuple[str, ...]:
        """Which of several annotators find a unit."""
        return tuple(name for name, annotation in self.annotators.items() if annotation.times.get(unit, 0) > 0)

    @cached_property
    def expressed(self) -> tuple[ContentUnit, ...]:
        """Expressed units, the heaviest first."""
        return self._units(EXPRESSED)

    @cached_property
    def perhaps(self) -> tuple[ContentUnit, ...]:
        """Units that are perhaps expressed, the heaviest first."""
        return self._units(PERHAPS)

    @cached_property
    def missed(self) -> tuple[ContentUnit, ...]:
        """Units that are not found, the heaviest first."""
        return self._units(NOT_FOUND)

    def _units(self, verdict: Verdict) -> tuple[ContentUnit, ...]:
        units = (unit for unit in self.pyramid.units if self.verdict(unit.id) == verdict)
        return tuple(sorted(units, key=lambda unit: -unit.weight))

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The text, cut wherever a mention begins or ends."""
        text = self.peer.text
        mentions = [(mention, unit.id) for unit in self.pyramid.units for mention in self.evidence.get(unit.id, ())]
        mentions += [(mention, "") for mention in self.outside]
        marks = [(max(span.start, 0), min(span.end, len(text)), id) for mention, id in mentions for span in mention]
        cuts = sorted({0, len(text), *(cut for start, end, _ in marks for cut in (start, end))})
        pieces = []
        for start, end in pairwise(cuts):
            here = dict.fromkeys(id for first, last, id in marks if first <= start and end <= last)
            pieces.append(Piece(text[start:end], tuple(id for id in here if id), "" in here))
        return tuple(pieces)

    @property
    def quotes(self) -> list[str]:
        """The words of what is in no unit."""
        return self._quoted(self.outside)

    def _quoted(self, mentions: Iterable[Mention]) -> list[str]:
        return [" … ".join(span.of(self.peer.text) for span in mention) for mention in mentions]

    def weighted_text(self) -> Iterator[tuple[str, int]]:
        """The text in stretches of the same weight: that of the heaviest unit a stretch helps to express, or 0."""
        weights = {unit.id: unit.weight for unit in self.expressed}
        for weight, pieces in groupby(
            self.pieces, key=lambda piece: max((weights.get(id, 0) for id in piece.units), default=0)
        ):
            yield "".join(piece.text for piece in pieces), weight

    def _repr_html_(self) -> str:
        """What a notebook shows: the text with matched words marked, then what is there and what is missing."""
        tiers = max((unit.weight for unit in self.pyramid.units), default=0) or 1  # units may all weigh nothing
        marked = "".join(_tinted(text, weight / tiers) for text, weight in self.weighted_text())
        measure, value = next(iter(self.measures.items()))
        number = "undefined" if value is None else f"{value:.3f}"
        title = f"{self.peer.topic}, {self.peer.system}: {measure} {number}"
        lists = "".join(
            f"<details><summary>{len(units)} units {what}</summary><ul>"
            + "".join(
                f"<li dir='auto'>({unit.weight}) {html.escape(unit.label or unit.id)}{self._remarks(unit.id)}</li>"
                for unit in units
            )
            + "</ul></details>"
            for what, units in zip(VERDICTS, (self.expressed, self.perhaps, self.missed), strict=True)
            if units or what != PERHAPS
        )
        about = f"<p>{html.escape(self.about)}</p>" if self.own else ""
        return f"<b>{html.escape(title)}</b>{about}<p dir='auto' style='white-space:pre-wrap'>{marked}</p>{lists}"

    def _remarks(self, unit: str) -> str:
        degree = f" (degree {self.degrees[unit]:.2f})" if unit in self.degrees else ""
        by = len(self.found_by(unit))
        corrected = " (corrected)" if unit in self.corrected else ""
        return degree + (f" ({by} of {len(self.annotators)} annotators)" if by else "") + corrected


def _tinted(text: str, share: float) -> str:
    """Words that express a unit: the heavier, the stronger. The tint is transparent, so that it fits any theme."""
    if not share:
        return html.escape(text)
    return f"<span style='background:rgba(0,150,130,{0.12 + 0.38 * share:.2f})'>{html.escape(text)}</span>"
