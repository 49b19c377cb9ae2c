"""What the annotation pages see: annotations, their states, events and scores as plain objects.

Spans are [start, end] and count Unicode code points; weights are derived.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple

from pyramidion.analysis.pyramid_pairs import UnitPair
from pyramidion.annotation.commands import Mark, Match, PeerAnnotation, describe
from pyramidion.annotation.comparison import MatchPair, differing_fields
from pyramidion.annotation.desk import Proposal, may_change, peer_score
from pyramidion.annotation.events import Activity, StoredAnnotation, command_object
from pyramidion.annotation.log import Annotation, Event
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


def side(stored: StoredAnnotation, annotation: Annotation) -> dict[str, Any]:
    """One of two annotations that are compared, with the scores that a peer has by it."""
    state, pyramid = annotation.state, annotation.subject.pyramid
    scored = score(peer_score(state, pyramid)) if isinstance(state, PeerAnnotation) and pyramid else None
    return {**head(stored), "score": scored}


def third(stored: StoredAnnotation, account: Account) -> dict[str, Any]:
    return {**head(stored), "may_edit": may_edit(stored, account)}


def round_row(system: str, mine: StoredAnnotation | None, activity: Mapping[int, Activity]) -> dict[str, Any]:
    """A summary of the topic, its annotation if one is begun, and how long it was worked on."""
    if mine is None:
        return {"system": system, "id": None, "url": None, **Activity()._asdict()}
    return {
        "system": system,
        "id": mine.id,
        "url": f"/annotate/{mine.id}",
        **activity.get(mine.id, Activity())._asdict(),
    }


def event(accepted: Event) -> dict[str, Any]:
    return {
        "number": accepted.number,
        "author": accepted.author,
        "says": describe(accepted.command),
        "at": accepted.at,
        "command": command_object(accepted.command),
    }


def events(accepted: Iterable[Event]) -> list[dict[str, Any]]:
    return [event(one) for one in accepted]


def texts(by_name: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "text": text} for name, text in by_name.items()]


def state(
    stored: StoredAnnotation, annotation: Annotation, account: Account, pyramid_version: int | None
) -> dict[str, Any]:
    """An annotation as it is now, for whoever looks at it."""
    peer = annotation.state if isinstance(annotation.state, PeerAnnotation) else None
    pyramid = annotation.subject.pyramid if isinstance(annotation.state, PeerAnnotation) else annotation.state
    assert pyramid is not None
    undoable, redoable = annotation.undoable(account.name), annotation.redoable(account.name)
    return {
        "annotation": head(stored),
        "version": annotation.version,
        "pyramid_version": pyramid_version,
        "may_edit": may_edit(stored, account),
        "texts": texts(annotation.subject.texts),
        "pyramid": {
            "name": pyramid.name,
            "references": list(pyramid.references),
            "units": [unit_object(unit) for unit in pyramid.units],
        },
        "peer": None if peer is None else _peer(peer, pyramid),
        "score": None if peer is None else score(peer_score(peer, pyramid)),
        "starts_with": None if annotation.start_event is None else describe(annotation.start_event.command),
        "decided": [[each.first, each.second] for each in annotation.decided],
        "undo": None if undoable is None else describe(undoable.command),
        "redo": None if redoable is None else describe(redoable.command),
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


def score(peer: PeerScore) -> dict[str, Any]:
    """The scores, null where undefined, and what they are made of (Nenkova et al. 2007, section 3)."""
    size, expected = peer.size or 0, mean_units_per_reference(peer.pyramid)
    best, usual = peer.max_weight(size), peer.max_weight(expected)
    parts = [
        ("original", peer.original, f"{peer.raw} of {best}, the greatest weight of {_units(size)}"),
        ("modified", peer.modified, f"{peer.raw} of {usual}, the greatest weight of {_units(expected)}"),
        ("comprehensive", peer.comprehensive, "the harmonic mean of original and modified"),
        ("precision", peer.precision, f"{peer.matched} of {_units(size)} in the summary are in the pyramid"),
        ("recall", peer.recall, f"{peer.matched} of {_units(len(peer.pyramid.units))} in the pyramid are expressed"),
    ]
    return {
        **{name: value for name, value, _ in parts},
        "parts": [{"name": name, "value": value, "text": text} for name, value, text in parts],
        "observed": peer.raw,
        "maximum": {"original": best, "modified": usual},
        "counts": {
            "matched": peer.matched,
            "repeated": peer.repeated,
            "unmatched": peer.unmatched,
            "size": size,
            "expected": expected,
            "units": len(peer.pyramid.units),
        },
    }


def _units(number: int) -> str:
    return f"{number} unit" if number == 1 else f"{number} units"


def rows(pairs: Sequence[UnitPair] | Sequence[MatchPair]) -> list[dict[str, Any]]:
    """Two annotations side by side, disagreements first."""
    made = [_units_row(pair) if isinstance(pair, UnitPair) else _matches_row(pair) for pair in pairs]
    return sorted(made, key=lambda row: row["same"])  # stable: differences in labels alone come after all others


def _units_row(pair: UnitPair) -> dict[str, Any]:
    fields = differing_fields(pair)
    return {
        "first": None if pair.first is None else unit_object(pair.first),
        "second": None if pair.second is None else unit_object(pair.second),
        "shared": pair.shared,
        "same": pair.same and not fields,
        "differing": list(pair.differing),
        "fields": list(fields),
    }


def _matches_row(pair: MatchPair) -> dict[str, Any]:
    return {
        "unit": pair.unit,
        "first": [_mention(mention) for mention in pair.first],
        "second": [_mention(mention) for mention in pair.second],
        "shared": pair.shared,
        "same": pair.same,
        "differing": [],
        "fields": [],
    }


def words(text: str, spans: Iterable[Span]) -> str:
    """The words of some spans, as a person reads them."""
    return " … ".join(span.of(text) for span in spans)


def unit_suggestions(suggested: UnitSuggestions, by_name: Mapping[str, str]) -> dict[str, Any]:
    return {
        "contributors": [{**c._asdict(), "text": words(by_name[c.reference], c.spans)} for c in suggested.contributors],
        "same": [other._asdict() for other in suggested.same],
    }


def peer_suggestions(proposals: Iterable[Proposal], likely: Iterable[LikelyMatch], text: str) -> dict[str, Any]:
    return {
        "proposals": [
            {"unit": p.unit, "spans": p.spans, "text": words(text, p.spans), "source": "autoannotate"}
            for p in proposals
        ],
        "likely": [{**match._asdict(), "text": words(text, match.spans)} for match in likely],
    }


# ----------------------------------------------------------------------
# An annotation on paper: its tiers, the words of every unit, and the texts with what is used of them.


class Quote(NamedTuple):
    """Words of a reference, or of one mention in the summary; ``name`` says of which."""

    name: str
    text: str


class PrintedUnit(NamedTuple):
    id: str
    label: str
    comment: str
    words: tuple[Quote, ...]


class PrintedTier(NamedTuple):
    title: str
    units: tuple[PrintedUnit, ...]


class Stretch(NamedTuple):
    """A stretch of a text, and how many units use it."""

    text: str
    times: int


class PrintedText(NamedTuple):
    name: str
    pieces: tuple[Stretch, ...]


class Printout(NamedTuple):
    version: int
    units: int
    references: int
    tiers: tuple[PrintedTier, ...]
    texts: tuple[PrintedText, ...]
    leftover: tuple[str, ...] = ()
    score: dict[str, Any] | None = None


def printout(annotation: Annotation, references: Mapping[str, str]) -> Printout:
    if isinstance(annotation.state, PeerAnnotation):
        assert annotation.subject.pyramid is not None
        return _peer_printout(annotation, annotation.state, annotation.subject.pyramid, references)
    pyramid = annotation.state
    used = {
        name: [c.spans for u in pyramid.units for c in u.contributors if c.reference == name] for name in references
    }
    return Printout(
        version=annotation.version,
        units=len(pyramid.units),
        references=len(pyramid.references),
        tiers=_tiers(pyramid.units, references),
        texts=tuple(PrintedText(name, stretches(text, used[name])) for name, text in references.items()),
    )


def _peer_printout(
    annotation: Annotation, peer: PeerAnnotation, pyramid: Pyramid, references: Mapping[str, str]
) -> Printout:
    ((system, text),) = annotation.subject.texts.items()
    mentions: dict[str, list[Quote]] = {}
    for match in peer.matches:
        quotes = mentions.setdefault(match.unit, [])
        quotes.append(Quote(f"mention {len(quotes) + 1}", words(text, match.spans)))
    present = tuple(
        PrintedUnit(unit.id, f"{unit.label} ({unit.weight})", unit.comment, tuple(mentions[unit.id]))
        for unit in sorted(pyramid.units, key=lambda unit: -unit.weight)
        if unit.id in mentions
    )
    absent = [unit for unit in pyramid.units if unit.id not in mentions]
    return Printout(
        version=annotation.version,
        units=len(pyramid.units),
        references=len(pyramid.references),
        tiers=(*([PrintedTier("In the summary", present)] if present else []), *_tiers(absent, references)),
        texts=(PrintedText(system, stretches(text, [match.spans for match in peer.matches])),),
        leftover=tuple(words(text, mark.spans) for mark in peer.marks),
        score=score(peer_score(peer, pyramid)),
    )


def _tiers(units: Iterable[ContentUnit], references: Mapping[str, str]) -> tuple[PrintedTier, ...]:
    ordered = sorted(units, key=lambda unit: -unit.weight)
    return tuple(
        PrintedTier(f"Weight {weight}", tuple(_printed_unit(unit, references) for unit in tier))
        for weight, tier in groupby(ordered, key=lambda unit: unit.weight)
    )


def _printed_unit(unit: ContentUnit, references: Mapping[str, str]) -> PrintedUnit:
    quotes = (Quote(c.reference, words(references.get(c.reference, ""), c.spans)) for c in unit.contributors)
    return PrintedUnit(unit.id, unit.label, unit.comment, tuple(quotes))


def stretches(text: str, used: Iterable[Iterable[Span]]) -> tuple[Stretch, ...]:
    """A text cut wherever the number of units that use it changes."""
    change: Counter[int] = Counter()
    for spans in used:
        for span in spans:
            change[span.start] += 1
            change[span.end] -= 1
    edges = sorted({0, len(text), *change})
    times = accumulate(change[edge] for edge in edges)
    return tuple(Stretch(text[start:end], count) for (start, end), count in zip(pairwise(edges), times, strict=False))
