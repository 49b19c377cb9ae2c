"""Topics, the documents to be summarised, and summaries: references by people, peers by systems."""

from __future__ import annotations

import html
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, NamedTuple

Role = Literal["reference", "peer"]


class Span(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of a text, counted in Unicode code points."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def fits(self, text: str) -> bool:
        return 0 <= self.start < self.end <= len(text)


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same characters in text order, with overlapping or touching pieces joined."""
    made: list[Span] = []
    for span in sorted(spans):
        if made and span.start <= made[-1].end:
            made[-1] = Span(made[-1].start, max(made[-1].end, span.end))
        else:
            made.append(span)
    return tuple(made)


@dataclass(frozen=True, slots=True)
class Document:
    """One source text of a topic."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Topic:
    """What is to be summarised: one document or a set of them, with an optional statement of the need."""

    id: str
    title: str = ""
    description: str = ""
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """A text about a topic. Topic, role and system identify it.

    ``system`` names who wrote it: the system of a peer, the author of a reference. ``source`` keeps the text's original
    name (a file name, a NIST id); it never identifies anything.
    """

    topic: str
    system: str
    text: str
    role: Role = "peer"
    source: str = ""


# ----------------------------------------------------------------------
# Pyramids: content units and the reference text that contributes to them.
#
# Nenkova, Passonneau and McKeown 2007, section 2. Weights and tiers are derived, never stored. A unit's weight is the
# number of its contributors. A reference contributes once to a unit, and our editor and builders see to it; in a few
# files of DUCView one contributes twice, and the official scores of DUC 2006 and 2007 count both. ``strict()`` counts
# references instead. A crowd pyramid (Shapira et al. 2019) is a pyramid whose units were not merged: each has one
# contributor, without spans.


@dataclass(frozen=True, slots=True)
class Contributor:
    """The words of one reference that express a unit; several spans when they are discontinuous.

    Without spans, the unit was written from this reference without marking words.
    """

    reference: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class ContentUnit:
    """One fact, with a label in someone's words.

    ``author`` is who wrote it (crowd units), ``group`` the judging task it was sampled into; both may be empty.
    """

    id: str
    label: str
    contributors: tuple[Contributor, ...] = ()
    author: str = ""
    group: str = ""
    comment: str = ""

    @property
    def references(self) -> frozenset[str]:
        return frozenset(contributor.reference for contributor in self.contributors)

    @property
    def weight(self) -> int:
        """How many contributors the unit has."""
        return len(self.contributors)

    def strict(self) -> ContentUnit:
        """The unit with one contributor per reference: the words of several are joined."""
        if len(self.references) == self.weight:
            return self
        spans: dict[str, tuple[Span, ...]] = {}
        for contributor in self.contributors:
            spans[contributor.reference] = union(spans.get(contributor.reference, ()) + contributor.spans)
        return replace(self, contributors=tuple(Contributor(*item) for item in spans.items()))


@dataclass(frozen=True, slots=True)
class Pyramid:
    """The content units of one topic. A topic may have several pyramids, told apart by name."""

    topic: str
    references: tuple[str, ...]
    units: tuple[ContentUnit, ...]
    name: str = "expert"

    @property
    def tiers(self) -> dict[int, tuple[ContentUnit, ...]]:
        """Units by weight, from the top tier (every reference) down; empty tiers are left out."""
        weights = sorted({unit.weight for unit in self.units}, reverse=True)
        return {weight: tuple(unit for unit in self.units if unit.weight == weight) for weight in weights}

    @property
    def contributor_count(self) -> int:
        """The total of unit weights."""
        return sum(unit.weight for unit in self.units)

    @property
    def sampled(self) -> tuple[ContentUnit, ...]:
        """The units chosen for judging: those with a group, or all if none has one."""
        return tuple(unit for unit in self.units if unit.group) or self.units

    def best_weights(self) -> list[int]:
        """``best_weights()[x]`` is Max(x): the greatest total weight x distinct units can have."""
        return [0, *accumulate(sorted((unit.weight for unit in self.units), reverse=True))]

    def strict(self) -> Pyramid:
        """The pyramid in which a unit's weight is its number of references, however often one of them contributes."""
        return replace(self, units=tuple(unit.strict() for unit in self.units))

    def restricted_to(self, references: Collection[str]) -> Pyramid:
        """The pyramid of these references alone, without other contributors and the units left empty."""
        units = (
            replace(unit, contributors=tuple(c for c in unit.contributors if c.reference in references))
            for unit in self.units
        )
        return replace(
            self,
            references=tuple(reference for reference in self.references if reference in references),
            units=tuple(unit for unit in units if unit.contributors),
        )

    def without(self, reference: str) -> Pyramid:
        """The pyramid that the other references alone would have given."""
        return self.restricted_to(set(self.references) - {reference})

    def _repr_html_(self) -> str:
        """What a notebook shows: tiers from the top down. Every text is escaped."""
        rows = "".join(
            f"<tr><th style='vertical-align:top'>{weight}</th><td style='text-align:left'>"
            + "".join(f"<div dir='auto'>{html.escape(unit.label or unit.id)}</div>" for unit in units)
            + "</td></tr>"
            for weight, units in self.tiers.items()
        )
        about = f"{self.topic}: pyramid {self.name}, {len(self.references)} references, {len(self.units)} units"
        return (
            f"<table><caption>{html.escape(about)}</caption><thead><tr><th>weight</th>"
            f"<th style='text-align:left'>units</th></tr></thead><tbody>{rows}</tbody></table>"
        )
