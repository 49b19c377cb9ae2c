"""An annotation on paper: its tiers, the words of every unit, and the texts with what is used of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from pyramidion.methods.annotate import Annotation, PeerAnnotation
from pyramidion.model import ContentUnit, Pyramid, Span
from pyramidion.web import annotate_views as views
from pyramidion.workflows.annotate import peer_score


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a text, or of one mention in the summary; ``name`` says of which."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class PrintedUnit:
    id: str
    label: str
    comment: str
    words: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Tier:
    title: str
    units: tuple[PrintedUnit, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text, and how many units use it."""

    text: str
    times: int


@dataclass(frozen=True, slots=True)
class PrintedText:
    name: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class View:
    version: int
    units: int
    references: int
    tiers: tuple[Tier, ...]
    texts: tuple[PrintedText, ...]
    leftover: tuple[str, ...] = ()
    score: dict[str, Any] | None = None


def printed(found: Annotation, references: Mapping[str, str]) -> View:
    if isinstance(found.state, PeerAnnotation):
        assert found.subject.pyramid is not None
        return _peer(found, found.state, found.subject.pyramid, references)
    pyramid = found.state
    used = {
        name: [c.spans for u in pyramid.units for c in u.contributors if c.reference == name] for name in references
    }
    return View(
        version=found.version,
        units=len(pyramid.units),
        references=len(pyramid.references),
        tiers=_tiers(pyramid.units, references),
        texts=tuple(PrintedText(name, pieces(text, used[name])) for name, text in references.items()),
    )


def _peer(found: Annotation, peer: PeerAnnotation, pyramid: Pyramid, references: Mapping[str, str]) -> View:
    ((system, text),) = found.subject.texts.items()
    mentions: dict[str, list[Words]] = {}
    for match in peer.matches:
        said = mentions.setdefault(match.unit, [])
        said.append(Words(f"mention {len(said) + 1}", views.words(text, match.spans)))
    there = tuple(
        PrintedUnit(unit.id, f"{unit.label} ({unit.weight})", unit.comment, tuple(mentions[unit.id]))
        for unit in sorted(pyramid.units, key=lambda unit: -unit.weight)
        if unit.id in mentions
    )
    absent = [unit for unit in pyramid.units if unit.id not in mentions]
    return View(
        version=found.version,
        units=len(pyramid.units),
        references=len(pyramid.references),
        tiers=(*([Tier("In the summary", there)] if there else []), *_tiers(absent, references)),
        texts=(PrintedText(system, pieces(text, [match.spans for match in peer.matches])),),
        leftover=tuple(views.words(text, mark.spans) for mark in peer.marks),
        score=views.score(peer_score(peer, pyramid)),
    )


def _tiers(units: Iterable[ContentUnit], texts: Mapping[str, str]) -> tuple[Tier, ...]:
    ordered = sorted(units, key=lambda unit: -unit.weight)
    return tuple(
        Tier(f"Weight {weight}", tuple(_unit(unit, texts) for unit in tier))
        for weight, tier in groupby(ordered, key=lambda unit: unit.weight)
    )


def _unit(unit: ContentUnit, texts: Mapping[str, str]) -> PrintedUnit:
    told = tuple(Words(c.reference, views.words(texts.get(c.reference, ""), c.spans)) for c in unit.contributors)
    return PrintedUnit(unit.id, unit.label, unit.comment, told)


def pieces(text: str, used: Iterable[Iterable[Span]]) -> tuple[Piece, ...]:
    """A text cut wherever the number of units that use it changes."""
    change: Counter[int] = Counter()
    for spans in used:
        for span in spans:
            change[span.start] += 1
            change[span.end] -= 1
    found: list[Piece] = []
    edges = sorted({0, len(text), *change})
    times = 0
    for start, end in pairwise(edges):
        times += change[start]
        found.append(Piece(text[start:end], times))
    return tuple(found)
