"""What every summary of a study says and misses, all at once: units, votes, evidence, unmatched content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from pyramidion.errors import Problems, UsageError, check_choice
from pyramidion.scoring.aggregate import majority, questions
from pyramidion.scoring.choice import Choice, Weights, choose
from pyramidion.scoring.explain import (
    ByAnnotator,
    Explanation,
    Expressed,
    OneAnnotation,
    Piece,
    ShownSummary,
    ShownTopic,
    ShownUnit,
    Votes,
    Wording,
)
from pyramidion.scoring.lite import at_most_once
from pyramidion.scoring.methods import AUTO, auto_pyramid, check_choices, fitting_method, score
from pyramidion.scoring.pyramid import MEASURES, AnnotatedPeer, Annotators, PeerScore, peer_scores
from pyramidion.scoring.screening import MINIMUM, Screening, screen
from pyramidion.study import UNMATCHED, Judgments, Study, Summary
from pyramidion.study.judgments import PRESENT, JudgeKind, Mention, listed, times
from pyramidion.study.units import ContentUnit, Pyramid

KINDS: dict[str, JudgeKind] = {"pyramid": "expert", "lite": "crowd", AUTO: "model"}
"""Methods that judge units, and the kind of judges they look at by default."""

MIN_AGREEMENT = MINIMUM
Key = tuple[str, str]


@dataclass(frozen=True)
class UnitsFound:
    """What was found in every summary: units by id and how often, votes, and evidence.

    Where several annotated a summary (``annotated``) and the mean of their scores counts, a unit is expressed if any of
    them finds it: its votes say in which part it counts.
    ``degrees`` says, of units that a model finds in part, in which part they count.
    """

    choice: Choice | None = None
    expressed: dict[Key, dict[str, int]] = field(default_factory=dict)
    votes: dict[Key, dict[str, tuple[int, int]]] = field(default_factory=dict)
    unmatched: dict[Key, float | None] = field(default_factory=dict)
    weight: dict[Key, float] = field(default_factory=dict)
    evidence: dict[Key, dict[str, tuple[Mention, ...]]] = field(default_factory=dict)
    outside: dict[Key, tuple[Mention, ...]] = field(default_factory=dict)
    workers: Screening | None = None
    annotated: dict[Key, AnnotatedPeer] = field(default_factory=dict)
    degrees: dict[Key, dict[str, float]] = field(default_factory=dict)


def units_found(
    study: Study,
    method: str,
    pyramid: str | None,
    judges: str | None,
    *,
    weights: Weights = "contributors",
    annotators: Annotators = "mean",
) -> UnitsFound:
    """Judgments by the main method; where it has no units (ratings, ROUGE), pyramids are shown without them."""
    choice = chosen(study, method, pyramid, judges, weights)
    weight: dict[Key, float] = {}
    several: dict[Key, AnnotatedPeer] = {}
    degrees: dict[Key, dict[str, float]] = {}
    if method in {"pyramid", AUTO}:
        peers = peer_scores(choice, Problems(), annotators=annotators)
        scores = {(peer.topic, peer.system): peer for peer in peers}
        expressed = {
            key: {unit: listed(value) for unit, value in found.expressed.items()} for key, found in scores.items()
        }
        degrees = {key: found.degrees() for key, found in scores.items()}
        unmatched = {key: found.unmatched for key, found in scores.items()}
        weight = {key: found.value("raw") or 0.0 for key, found in scores.items()}
        several = {key: found for key, found in scores.items() if len(found.by) > 1}
        held = choice.counted(choice.on_units)
        workers = None
    elif method == "lite":
        workers = screen(choice.on_units, minimum=MIN_AGREEMENT)
        held = choice.counted(workers.kept)
        expressed, unmatched = _by_majority(held), {}
    else:
        return UnitsFound(choice)
    outside = choice.on_aspects.take(choice.on_aspects.aspect.is_in({UNMATCHED}))
    return UnitsFound(
        choice,
        expressed,
        _votes(held) | {key: found.votes() for key, found in several.items()},
        unmatched,
        weight,
        _evidence(held, expressed),
        _outside(choice, outside),
        workers,
        several,
        degrees,
    )


def chosen(
    study: Study, method: str, pyramid: str | None, judges: str | None, weights: Weights = "contributors"
) -> Choice:
    """The pyramid and the judges that a method looks at."""
    if method == AUTO:
        pyramid, judges = pyramid or auto_pyramid(study) or AUTO, judges or AUTO
    return choose(study, kind=KINDS.get(method, "expert"), pyramid=pyramid, judges=judges, weights=weights)


def shown_pyramid(
    study: Study, topic: str, *, method: str | None = None, pyramid: str | None = None, weights: Weights | None = None
) -> Pyramid:
    """The pyramid of a topic that summaries are explained by."""
    _check_method(method)
    given = {name: value for name, value in (("pyramid", pyramid), ("weights", weights)) if value is not None}
    method = method or fitting_method(study, given)
    check_choices(method, given)
    return _of_topic(chosen(study, method, pyramid, None, weights or "contributors"), topic)


def _check_method(method: str | None) -> None:
    if method is not None:
        check_choice("method that judges units", method, KINDS)


def _of_topic(choice: Choice, topic: str) -> Pyramid:
    if topic not in choice.pyramids:
        raise UsageError(f"topic {topic} has no pyramid called {choice.pyramid!r}")
    return choice.pyramids[topic]


def explain(
    study: Study,
    topic: str,
    system: str,
    *,
    method: str | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    weights: Weights | None = None,
    annotators: Annotators | None = None,
) -> Explanation:
    """Why a summary scores as it does, by the method that fits the study or another one that judges units."""
    _check_method(method)
    peer = study.summary(topic, system)
    if peer is None:
        here = ", ".join(sorted(p.system for p in study.peers if p.topic == topic))
        raise UsageError(f"topic {topic} has no system {system!r}; it has: {here or 'none'}")
    named = {"pyramid": pyramid, "judges": judges, "weights": weights, "annotators": annotators}
    given: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    method = method or fitting_method(study, given)
    check_choices(method, given)
    counting, joining = weights or "contributors", annotators or "mean"
    found = units_found(study, method, pyramid, judges, weights=counting, annotators=joining)
    assert found.choice is not None
    _of_topic(found.choice, topic)
    key, held = (topic, system), found.choice.pyramid_for(topic, system)
    if not held.units and key in found.choice.own:
        raise UsageError(
            f"topic {topic}, system {system}: it is the topic's only reference; nothing to compare it with"
        )
    if key not in found.expressed:
        raise UsageError(f"topic {topic}, system {system}: nobody judged it against pyramid {found.choice.pyramid}")
    table = score(study, method, **given)
    return Explanation(
        peer,
        replace(held, units=_judged_units(found, topic, system)),
        found.expressed[key],
        found.evidence.get(key, {}),
        {measure: table.per_summary(measure).get(key) for measure in table.measures},
        found.unmatched.get(key),
        found.weight.get(key),
        {} if key not in found.annotated else _each(found.annotated[key], table.measures),
        found.choice.own.get(key, ""),
        found.degrees.get(key, {}),
    )


def _each(peer: AnnotatedPeer, measures: Iterable[str]) -> dict[str, OneAnnotation]:
    """What each annotator says of a summary, and what that alone would score."""

    def made(score: PeerScore) -> OneAnnotation:
        counts = {unit: listed(value) for unit, value in score.expressed.items()}
        return OneAnnotation(counts, {name: MEASURES[name](score) for name in measures}, score.unmatched, score.raw)

    return {name: made(score) for name, score in peer.by.items()}


def _by_majority(judgments: Judgments) -> dict[Key, dict[str, int]]:
    found: dict[Key, dict[str, int]] = {}
    for judgment in majority(at_most_once(judgments)):
        if judgment.value is not None:
            found.setdefault((judgment.topic, judgment.system), {})[judgment.unit] = times(judgment.value)
    return found


def _votes(judgments: Judgments) -> dict[Key, dict[str, tuple[int, int]]]:
    """Where several judges answered."""
    asked = questions(judgments)
    value = judgments.value
    answered = ~np.isnan(value)
    of = np.bincount(asked.of_row[answered], minlength=len(asked))
    yes = np.bincount(asked.of_row[answered & (value >= PRESENT)], minlength=len(asked))
    found: dict[Key, dict[str, tuple[int, int]]] = {}
    for number in np.flatnonzero(of > 1).tolist():
        row = int(asked.first[number])
        key = judgments.topic[row], judgments.system[row]
        found.setdefault(key, {})[judgments.unit[row]] = int(yes[number]), int(of[number])
    return found


def _evidence(judgments: Judgments, expressed: dict[Key, dict[str, int]]) -> dict[Key, dict[str, tuple[Mention, ...]]]:
    """The mentions any judge marked for a unit that counts as expressed, each once."""
    found: dict[Key, dict[str, tuple[Mention, ...]]] = {}
    for row, mentions in sorted(judgments.evidence.items()):
        key, unit = (judgments.topic[row], judgments.system[row]), judgments.unit[row]
        if expressed.get(key, {}).get(unit, 0) > 0:
            held = found.setdefault(key, {})
            held[unit] = tuple(dict.fromkeys([*held.get(unit, ()), *mentions]))
    return found


def _outside(choice: Choice, judgments: Judgments) -> dict[Key, tuple[Mention, ...]]:
    """The mentions of content in no unit; for a human peer also of what no other reference says."""
    found: dict[Key, tuple[Mention, ...]] = {}
    for held in (judgments, choice.on_units if choice.own else Judgments()):
        for row, mentions in sorted(held.evidence.items()):
            key = held.topic[row], held.system[row]
            if not held.unit[row] or held.unit[row] in choice.left_out(*key):
                found[key] = tuple(dict.fromkeys([*found.get(key, ()), *mentions]))
    return found


def shown_topic(study: Study, id: str, judged: UnitsFound) -> ShownTopic:
    topic = study.topic(id)
    pyramid = judged.choice.pyramids.get(id) if judged.choice else None
    references = {s.system: s.text for s in study.references if s.topic == id}
    texts = tuple(Wording(name, text) for name, text in references.items())
    title, description = (topic.title, topic.description) if topic else ("", "")
    if pyramid is None:
        return ShownTopic(id, title, description, texts, (), 0)
    heaviest_first = sorted(_judged_units(judged, id), key=lambda unit: -unit.weight)
    units = tuple(_unit(unit, references) for unit in heaviest_first)
    return ShownTopic(id, title, description, texts, units, max((unit.weight for unit in units), default=0))


def _judged_units(judged: UnitsFound, topic: str, system: str = "") -> tuple[ContentUnit, ...]:
    """The units that count for a peer; of a crowd's pyramid only what was sampled for judging."""
    assert judged.choice is not None
    pyramid = judged.choice.pyramids[topic]
    asked = {unit.id for unit in (pyramid.sampled if judged.workers else pyramid.units)}
    return tuple(unit for unit in judged.choice.pyramid_for(topic, system).units if unit.id in asked)


def _unit(unit: ContentUnit, references: Mapping[str, str]) -> ShownUnit:
    wordings = tuple(
        Wording(c.reference, " … ".join(span.of(references.get(c.reference, "")) for span in c.spans))
        for c in unit.contributors
    )
    return ShownUnit(unit.id, unit.label, unit.weight, wordings)


def shown_summaries(
    study: Study, judged: UnitsFound, topics: tuple[ShownTopic, ...], measure: str = "modified"
) -> Iterable[ShownSummary]:
    """Every summary of these topics; ``measure`` is what annotators are compared by."""
    places = {topic.id: {unit.id: place for place, unit in enumerate(topic.units)} for topic in topics}
    own = judged.choice.own if judged.choice else {}
    for peer in study.peers:
        if peer.topic in places:
            shown = _summary(peer, judged, places[peer.topic])
            key = peer.topic, peer.system
            by = judged.annotated[key].by.items() if key in judged.annotated else ()
            shown = replace(shown, annotators=tuple(ByAnnotator(name, MEASURES[measure](found)) for name, found in by))
            yield (
                replace(shown, own=own[key], weights=_weights(judged, key, places[peer.topic])) if key in own else shown
            )


def _weights(judged: UnitsFound, key: Key, places: Mapping[str, int]) -> tuple[int | None, ...]:
    """What each shown unit weighs for a human peer, without its own contribution."""
    weights = {unit.id: unit.weight for unit in _judged_units(judged, *key)}
    return tuple(weights.get(unit) for unit in places)


def _summary(peer: Summary, judged: UnitsFound, places: dict[str, int]) -> ShownSummary:
    key = peer.topic, peer.system
    expressed = judged.expressed.get(key)
    marks = [
        (span.start, span.end, places[unit])
        for unit, mentions in judged.evidence.get(key, {}).items()
        if unit in places
        for mention in mentions
        for span in mention
    ]
    outside = judged.outside.get(key, ())
    marks += [(span.start, span.end, -1) for mention in outside for span in mention]
    found, degrees = (expressed or {}).items(), judged.degrees.get(key, {})
    return ShownSummary(
        peer.topic,
        peer.system,
        pieces(peer.text, marks),
        expressed is not None,
        tuple(
            sorted(
                Expressed(places[unit], often, degrees.get(unit, 1.0))
                for unit, often in found
                if often > 0 and unit in places
            )
        ),
        tuple(
            sorted(Votes(places[unit], *counts) for unit, counts in judged.votes.get(key, {}).items() if unit in places)
        ),
        judged.unmatched.get(key),
        tuple(" … ".join(span.of(peer.text) for span in mention) for mention in outside),
    )


def pieces(text: str, marks: Iterable[tuple[int, int, int]]) -> tuple[Piece, ...]:
    """A text cut wherever a mark begins or ends. A mark is a start, an end and a unit's place; -1 is unmatched."""
    held = sorted({(max(start, 0), min(end, len(text)), unit) for start, end, unit in marks})
    cuts = sorted({0, len(text), *(cut for start, end, _ in held for cut in (start, end))})
    found = []
    for start, end in pairwise(cuts):
        here = [unit for first, last, unit in held if first <= start and end <= last]
        found.append(Piece(text[start:end], tuple(sorted({u for u in here if u >= 0})), -1 in here))
    return tuple(found)
