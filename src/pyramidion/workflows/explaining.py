"""What every summary of a study says and misses, all at once: units, votes, evidence, unmatched content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from pyramidion.analysis.findings import Expressed, Piece, ShownSummary, ShownTopic, ShownUnit, Votes, Wording
from pyramidion.errors import Problems, UsageError, check_choice
from pyramidion.methods.aggregate import majority, questions
from pyramidion.methods.choice import Choice, choose
from pyramidion.methods.columns import is_in, take, values
from pyramidion.methods.explain import Explanation
from pyramidion.methods.lite import at_most_once
from pyramidion.methods.pyramid import peer_scores
from pyramidion.methods.screening import MINIMUM, Screening, screen
from pyramidion.model import UNMATCHED, Judgments, Study, Summary
from pyramidion.model.judgments import PRESENT, JudgeKind, Mention, times
from pyramidion.model.pyramids import ContentUnit, Pyramid
from pyramidion.workflows.evaluate import AUTO, auto_pyramid, fitting_method, score

KINDS: dict[str, JudgeKind] = {"pyramid": "expert", "lite": "crowd", AUTO: "model"}
"""Methods that judge units, and the kind of judges they look at by default."""

MIN_AGREEMENT = MINIMUM
Key = tuple[str, str]


@dataclass(frozen=True)
class UnitsFound:
    """What was found in every summary: units by id and how often, votes, and evidence."""

    choice: Choice | None = None
    expressed: dict[Key, dict[str, int]] = field(default_factory=dict)
    votes: dict[Key, dict[str, tuple[int, int]]] = field(default_factory=dict)
    unmatched: dict[Key, int | None] = field(default_factory=dict)
    weight: dict[Key, float] = field(default_factory=dict)
    evidence: dict[Key, dict[str, tuple[Mention, ...]]] = field(default_factory=dict)
    outside: dict[Key, tuple[Mention, ...]] = field(default_factory=dict)
    workers: Screening | None = None


def units_found(study: Study, method: str, pyramid: str | None, judges: str | None) -> UnitsFound:
    """Judgments by the main method; where it has no units (ratings, ROUGE), pyramids are shown without them."""
    choice = chosen(study, method, pyramid, judges)
    weight: dict[Key, float] = {}
    if method in {"pyramid", AUTO}:
        scores = {(topic, system): found for topic, system, found in peer_scores(choice, Problems())}
        expressed = {
            key: {unit: times(value) for unit, value in found.expressed.items()} for key, found in scores.items()
        }
        unmatched = {key: found.unmatched for key, found in scores.items()}
        weight = {key: found.raw for key, found in scores.items()}
        held = choice.on_units
        workers = None
    elif method == "lite":
        workers = screen(choice.on_units, minimum=MIN_AGREEMENT)
        held = workers.kept
        expressed, unmatched = _by_majority(held), {}
    else:
        return UnitsFound(choice)
    outside = take(choice.on_aspects, is_in(choice.on_aspects.aspect, {UNMATCHED}))
    return UnitsFound(
        choice,
        expressed,
        _votes(held),
        unmatched,
        weight,
        _evidence(held, expressed),
        _outside(outside),
        workers,
    )


def chosen(study: Study, method: str, pyramid: str | None, judges: str | None) -> Choice:
    """The pyramid and the judges that a method looks at."""
    if method == AUTO:
        pyramid, judges = pyramid or auto_pyramid(study) or AUTO, judges or AUTO
    return choose(study, kind=KINDS.get(method, "expert"), pyramid=pyramid, judges=judges)


def shown_pyramid(study: Study, topic: str, *, method: str | None = None, pyramid: str | None = None) -> Pyramid:
    """The pyramid of a topic that summaries are explained by."""
    _check_method(method)
    given = {} if pyramid is None else {"pyramid": pyramid}
    return _of_topic(chosen(study, method or fitting_method(study, given), pyramid, None), topic)


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
) -> Explanation:
    """Why a summary scores as it does, by the method that fits the study or another one that judges units."""
    _check_method(method)
    peer = study.summary(topic, system)
    if peer is None:
        here = ", ".join(sorted(p.system for p in study.peers if p.topic == topic))
        raise UsageError(f"topic {topic} has no system {system!r}; it has: {here or 'none'}")
    given = {name: value for name, value in (("pyramid", pyramid), ("judges", judges)) if value is not None}
    method = method or fitting_method(study, given)
    found = units_found(study, method, pyramid, judges)
    assert found.choice is not None
    key, held = (topic, system), _of_topic(found.choice, topic)
    if key not in found.expressed:
        raise UsageError(f"topic {topic}, system {system}: nobody judged it against pyramid {found.choice.pyramid}")
    table = score(study, method, **given)
    return Explanation(
        peer,
        replace(held, units=_judged_units(held, found)),
        found.expressed[key],
        found.evidence.get(key, {}),
        {measure: table.per_summary(measure).get(key) for measure in table.measures},
        found.unmatched.get(key),
        found.weight.get(key),
    )


def _by_majority(judgments: Judgments) -> dict[Key, dict[str, int]]:
    found: dict[Key, dict[str, int]] = {}
    for judgment in majority(at_most_once(judgments)):
        if judgment.value is not None:
            found.setdefault((judgment.topic, judgment.system), {})[judgment.unit] = times(judgment.value)
    return found


def _votes(judgments: Judgments) -> dict[Key, dict[str, tuple[int, int]]]:
    """Where several judges answered."""
    asked = questions(judgments)
    value = values(judgments)
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


def _outside(judgments: Judgments) -> dict[Key, tuple[Mention, ...]]:
    found: dict[Key, tuple[Mention, ...]] = {}
    for row, mentions in sorted(judgments.evidence.items()):
        key = judgments.topic[row], judgments.system[row]
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
    heaviest_first = sorted(_judged_units(pyramid, judged), key=lambda unit: -unit.weight)
    units = tuple(_unit(unit, references) for unit in heaviest_first)
    return ShownTopic(id, title, description, texts, units, max((unit.weight for unit in units), default=0))


def _judged_units(pyramid: Pyramid, judged: UnitsFound) -> tuple[ContentUnit, ...]:
    """Of a crowd's pyramid only what was sampled for judging."""
    return pyramid.sampled if judged.workers else pyramid.units


def _unit(unit: ContentUnit, references: Mapping[str, str]) -> ShownUnit:
    wordings = tuple(
        Wording(c.reference, " … ".join(span.of(references.get(c.reference, "")) for span in c.spans))
        for c in unit.contributors
    )
    return ShownUnit(unit.id, unit.label, unit.weight, wordings)


def shown_summaries(study: Study, judged: UnitsFound, topics: tuple[ShownTopic, ...]) -> Iterable[ShownSummary]:
    places = {topic.id: {unit.id: place for place, unit in enumerate(topic.units)} for topic in topics}
    for peer in study.peers:
        if peer.topic in places:
            yield _summary(peer, judged, places[peer.topic])


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
    found = (expressed or {}).items()
    return ShownSummary(
        peer.topic,
        peer.system,
        pieces(peer.text, marks),
        expressed is not None,
        tuple(sorted(Expressed(places[unit], often) for unit, often in found if often > 0 and unit in places)),
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
