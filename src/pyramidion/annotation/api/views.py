"""What the annotation pages see: annotations, their states, events and scores as plain objects.

Spans are [start, end] and count Unicode code points; weights are derived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from typing import Any

from pyramidion.analysis.pyramid_pairs import UnitPair
from pyramidion.annotation.commands import Mark, Match, PeerAnnotation, describe
from pyramidion.annotation.comparison import MatchPair
from pyramidion.annotation.desk import Proposal, may_change, peer_score
from pyramidion.annotation.events import StoredAnnotation
from pyramidion.annotation.log import Annotation, Event, command_object
from pyramidion.annotation.suggestions import LikelyMatch, UnitSuggestions
from pyramidion.scoring.pyramid import PeerScore, mean_units_per_reference
from pyramidion.store.accounts import Account
from pyramidion.study import ContentUnit, Pyramid, Span, Study

EDITORS = ("manager", "expert")


def may_edit(stored: StoredAnnotation, account: Account) -> bool:
    return account.role in EDITORS and may_change(stored, account.name)


def topics(study: Study) -> list[dict[str, Any]]:
    """What there is to annotate, and whose judgments of units an annotation can start from."""
    judgments, experts = study.judgments, study.judges_of("expert")
    on_units = judgments.take(~judgments.unit.is_in({""}))
    judged = set(zip(on_units.topic, on_units.judge, strict=True))
    return [
        {
            "id": topic.id,
            "title": topic.title,
            "references": [summary.system for summary in study.references if summary.topic == topic.id],
            "systems": [summary.system for summary in study.peers if summary.topic == topic.id],
            "pyramids": [pyramid.name for pyramid in study.pyramids if pyramid.topic == topic.id],
            "judges": sorted(judge for of, judge in judged if of == topic.id and judge in experts),
        }
        for topic in study.topics
    ]


def head(stored: StoredAnnotation) -> dict[str, Any]:
    return with_url(asdict(stored))


def with_url(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "url": f"/annotate/{row['id']}"}


def event(found: Event) -> dict[str, Any]:
    return {
        "number": found.number,
        "author": found.author,
        "says": describe(found.command),
        "at": found.at,
        "command": command_object(found.command),
    }


def events(found: Iterable[Event]) -> list[dict[str, Any]]:
    return [event(one) for one in found]


def state(stored: StoredAnnotation, found: Annotation, account: Account, pyramid_version: int | None) -> dict[str, Any]:
    """An annotation as it stands for whoever looks at it."""
    peer = found.state if isinstance(found.state, PeerAnnotation) else None
    pyramid = found.subject.pyramid if isinstance(found.state, PeerAnnotation) else found.state
    assert pyramid is not None
    undoable, redoable = found.undoable(account.name), found.redoable(account.name)
    return {
        "annotation": head(stored),
        "version": found.version,
        "pyramid_version": pyramid_version,
        "may_edit": may_edit(stored, account),
        "texts": [{"name": name, "text": text} for name, text in found.subject.texts.items()],
        "pyramid": _pyramid(pyramid),
        "peer": None if peer is None else _peer(peer, pyramid),
        "score": None if peer is None else score(peer_score(peer, pyramid)),
        "undo": None if undoable is None else describe(undoable.command),
        "redo": None if redoable is None else describe(redoable.command),
    }


def _pyramid(pyramid: Pyramid) -> dict[str, Any]:
    return {
        "name": pyramid.name,
        "references": list(pyramid.references),
        "units": [unit_object(unit) for unit in pyramid.units],
    }


def unit_object(unit: ContentUnit) -> dict[str, Any]:
    return {
        "id": unit.id,
        "label": unit.label,
        "comment": unit.comment,
        "weight": unit.weight,
        "contributors": [{"reference": c.reference, "spans": c.spans} for c in unit.contributors],
    }


def _peer(peer: PeerAnnotation, pyramid: Pyramid) -> dict[str, Any]:
    return {
        "matches": [_mention(match) for match in peer.matches],
        "marks": [_mention(mark) for mark in peer.marks],
        "lost": [match.id for match in peer.lost(pyramid)],
    }


def _mention(mention: Match | Mark) -> dict[str, Any]:
    unit = {"unit": mention.unit} if isinstance(mention, Match) else {}
    return {"id": mention.id, **unit, "spans": mention.spans}


def score(found: PeerScore) -> dict[str, Any]:
    """The scores, null where undefined, and what they are made of (Nenkova et al. 2007, section 3)."""
    size, expected = found.size or 0, mean_units_per_reference(found.pyramid)
    best, usual = found.max_weight(size), found.max_weight(expected)
    parts = [
        ("original", found.original, f"{found.raw} of {best}, the most that {_units(size)} can weigh"),
        ("modified", found.modified, f"{found.raw} of {usual}, the most that {_units(expected)} can weigh"),
        ("comprehensive", found.comprehensive, "the harmonic mean of original and modified"),
        ("precision", found.precision, f"{found.matched} of {_units(size)} in the summary are in the pyramid"),
        ("recall", found.recall, f"{found.matched} of {_units(len(found.pyramid.units))} in the pyramid are expressed"),
    ]
    return {
        **{name: value for name, value, _ in parts},
        "parts": [{"name": name, "value": value, "text": text} for name, value, text in parts],
        "observed": found.raw,
        "maximum": {"original": best, "modified": usual},
        "counts": {
            "matched": found.matched,
            "repeated": found.repeated,
            "unmatched": found.unmatched,
            "size": size,
            "expected": expected,
            "units": len(found.pyramid.units),
        },
    }


def _units(number: int) -> str:
    return f"{number} unit" if number == 1 else f"{number} units"


def rows(found: Sequence[UnitPair] | Sequence[MatchPair]) -> list[dict[str, Any]]:
    """Two annotations side by side, disagreements first."""
    return [_units_row(pair) if isinstance(pair, UnitPair) else _matches_row(pair) for pair in found]


def _units_row(pair: UnitPair) -> dict[str, Any]:
    return {
        "first": None if pair.first is None else unit_object(pair.first),
        "second": None if pair.second is None else unit_object(pair.second),
        "shared": pair.shared,
        "same": pair.same,
        "differing": list(pair.differing),
    }


def _matches_row(pair: MatchPair) -> dict[str, Any]:
    return {
        "unit": pair.unit,
        "first": [_mention(mention) for mention in pair.first],
        "second": [_mention(mention) for mention in pair.second],
        "shared": pair.shared,
        "same": pair.same,
        "differing": [],
    }


def words(text: str, spans: Iterable[Span]) -> str:
    """The words of some spans, as a person reads them."""
    return " … ".join(span.of(text) for span in spans)


def unit_suggestions(found: UnitSuggestions, annotation: Annotation) -> dict[str, Any]:
    texts = annotation.subject.texts
    return {
        "contributors": [{**c._asdict(), "text": words(texts[c.reference], c.spans)} for c in found.contributors],
        "same": [other._asdict() for other in found.same],
    }


def peer_suggestions(
    proposals: Iterable[Proposal], likely: Iterable[LikelyMatch], annotation: Annotation
) -> dict[str, Any]:
    [text] = annotation.subject.texts.values()
    return {
        "proposals": [
            {"unit": p.unit, "spans": p.spans, "text": words(text, p.spans), "source": "autoannotate"}
            for p in proposals
        ],
        "likely": [{**match._asdict(), "text": words(text, match.spans)} for match in likely],
    }


# ----------------------------------------------------------------------
# An annotation on paper: its tiers, the words of every unit, and the texts with what is used of them.


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
        return _peer_on_paper(found, found.state, found.subject.pyramid, references)
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


def _peer_on_paper(found: Annotation, peer: PeerAnnotation, pyramid: Pyramid, references: Mapping[str, str]) -> View:
    ((system, text),) = found.subject.texts.items()
    mentions: dict[str, list[Words]] = {}
    for match in peer.matches:
        said = mentions.setdefault(match.unit, [])
        said.append(Words(f"mention {len(said) + 1}", words(text, match.spans)))
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
        leftover=tuple(words(text, mark.spans) for mark in peer.marks),
        score=score(peer_score(peer, pyramid)),
    )


def _tiers(units: Iterable[ContentUnit], texts: Mapping[str, str]) -> tuple[Tier, ...]:
    ordered = sorted(units, key=lambda unit: -unit.weight)
    return tuple(
        Tier(f"Weight {weight}", tuple(_unit(unit, texts) for unit in tier))
        for weight, tier in groupby(ordered, key=lambda unit: unit.weight)
    )


def _unit(unit: ContentUnit, texts: Mapping[str, str]) -> PrintedUnit:
    told = tuple(Words(c.reference, words(texts.get(c.reference, ""), c.spans)) for c in unit.contributors)
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
