"""Why a summary has its score: which units it expresses, where, and what it misses.

`show` prints an `Explanation`, the report packs it, feedback and notebooks render it: what they show adds up to the
same score. `ideal_content` is what the best summaries of a topic say.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from pyramidion.errors import Problems, UsageError, check_choice
from pyramidion.scoring.aggregate import questions
from pyramidion.scoring.choice import Choice, Weights, choose
from pyramidion.scoring.lite import VoteChoices, take_vote
from pyramidion.scoring.litepyramids import Compat
from pyramidion.scoring.methods import check_choices, fitting_method, score
from pyramidion.scoring.pyramid import MEASURES, AnnotatedPeer, Annotators, PeerScore, peer_scores
from pyramidion.scoring.screening import Screening
from pyramidion.study import UNMATCHED, ContentUnit, Judgments, Pyramid, ScoreTable, Signature, Study, Summary
from pyramidion.study.judgments import PRESENT, JudgeKind, Mention, listed

KINDS: dict[str, JudgeKind] = {"pyramid": "expert", "lite": "crowd", "auto": "model"}
"""Methods that judge units, and the kind of judges they look at by default."""

Key = tuple[str, str]


class Piece(NamedTuple):
    """A stretch of a summary: the ids of the units it helps to express, and whether it is marked as in no unit."""

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
    """One peer summary against one pyramid: how often it expresses each unit, where, and what it scores.

    ``judged`` is False where nobody said which units it expresses. ``unmatched`` is how many of its content units are
    not in the pyramid, None where nobody counted; ``outside`` is where they are. ``weight`` is what its units weigh
    together, by degrees where they have them; None where weights do not count. ``degrees`` has the units that a model
    finds in part. ``votes`` has the units that several judges answered. Where several annotated it and the mean of
    their scores counts, ``annotators`` has what each says: units are expressed that any of them finds, and
    ``unmatched`` and ``weight`` are means. ``own`` is the reference that a human peer is: ``pyramid`` is then that of
    the other references.
    """

    peer: Summary
    pyramid: Pyramid
    measures: Mapping[str, float | None]
    judged: bool = True
    times: Mapping[str, int] = field(default_factory=dict)
    evidence: Mapping[str, tuple[Mention, ...]] = field(default_factory=dict)
    outside: tuple[Mention, ...] = ()
    unmatched: float | None = None
    weight: float | None = None
    degrees: Mapping[str, float] = field(default_factory=dict)
    votes: Mapping[str, Votes] = field(default_factory=dict)
    annotators: Mapping[str, OneAnnotation] = field(default_factory=dict)
    own: str = ""
    signature: Signature | None = None

    def degree(self, unit: str) -> float:
        """The part of an expressed unit's weight that counts."""
        return self.degrees.get(unit, 1.0)

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
        return self._units(True)

    @cached_property
    def missed(self) -> tuple[ContentUnit, ...]:
        """Units that are not expressed, the heaviest first."""
        return self._units(False)

    def _units(self, expressed: bool) -> tuple[ContentUnit, ...]:
        units = (unit for unit in self.pyramid.units if (self.times.get(unit.id, 0) > 0) == expressed)
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
        return [" … ".join(span.of(self.peer.text) for span in mention) for mention in self.outside]

    def weighted_text(self) -> Iterator[tuple[str, int]]:
        """The text in stretches of the same weight: that of the heaviest unit a stretch helps to express, or 0."""
        weights = {unit.id: unit.weight for unit in self.pyramid.units}
        for weight, pieces in groupby(
            self.pieces, key=lambda piece: max((weights[id] for id in piece.units), default=0)
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
            for what, units in (("expressed", self.expressed), ("missed", self.missed))
        )
        about = f"<p>{html.escape(self.about)}</p>" if self.own else ""
        return f"<b>{html.escape(title)}</b>{about}<p dir='auto' style='white-space:pre-wrap'>{marked}</p>{lists}"

    def _remarks(self, unit: str) -> str:
        part = f" (in part: {self.degrees[unit]:.2f})" if unit in self.degrees else ""
        by = len(self.found_by(unit))
        return part + (f" ({by} of {len(self.annotators)} annotators)" if by else "")


def _tinted(text: str, share: float) -> str:
    """Words that express a unit: the heavier, the stronger. The tint is transparent, so that it fits any theme."""
    if not share:
        return html.escape(text)
    return f"<span style='background:rgba(0,150,130,{0.12 + 0.38 * share:.2f})'>{html.escape(text)}</span>"


# -- from a study to explanations ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnitJudgments:
    """What the judges of a method say about the units of a study, by topic and system: all that explanations need.

    Where several annotated a summary and the mean of their scores counts, a unit is expressed if any of them finds it.
    ``peers`` are scored by the Pyramid method; ``screening`` is what a crowd's judgments went through, and ``shares``
    are the units on which its vote is undecided: in what share of its counts they are present.
    """

    choice: Choice | None = None
    times: Mapping[Key, Mapping[str, int]] = field(default_factory=dict)
    votes: Mapping[Key, Mapping[str, Votes]] = field(default_factory=dict)
    evidence: Mapping[Key, Mapping[str, tuple[Mention, ...]]] = field(default_factory=dict)
    outside: Mapping[Key, tuple[Mention, ...]] = field(default_factory=dict)
    peers: Mapping[Key, AnnotatedPeer] = field(default_factory=dict)
    screening: Screening | None = None
    shares: Mapping[Key, Mapping[str, float]] = field(default_factory=dict)

    def pyramid(self, topic: str, system: str = "") -> Pyramid:
        """The units that count for a peer, none where the topic has no pyramid; of a crowd's those sampled only."""
        whole = self.choice.pyramids.get(topic) if self.choice else None
        if self.choice is None or whole is None:
            return Pyramid(topic, (), ())
        pyramid = self.choice.pyramid_for(topic, system)
        if self.screening is None:
            return pyramid
        sampled = {unit.id for unit in whole.sampled}
        return replace(pyramid, units=tuple(unit for unit in pyramid.units if unit.id in sampled))

    def explanations(self, peers: Iterable[Summary], table: ScoreTable) -> Iterator[Explanation]:
        """Why these peers score as they do in a table."""
        measured = {measure: table.per_summary(measure) for measure in table.measures}
        for peer in peers:
            key = peer.topic, peer.system
            scored = self.peers.get(key)
            yield Explanation(
                peer,
                self.pyramid(*key),
                {measure: values.get(key) for measure, values in measured.items()},
                key in self.times,
                self.times.get(key, {}),
                self.evidence.get(key, {}),
                self.outside.get(key, ()),
                scored.unmatched if scored else None,
                (scored.value("raw") or 0.0) if scored else None,
                scored.degrees() if scored else self.shares.get(key, {}),
                self.votes.get(key, {}),
                _annotations(scored, table.measures) if scored and len(scored.by) > 1 else {},
                self.choice.own.get(key, "") if self.choice else "",
                table.signature,
            )


def _annotations(peer: AnnotatedPeer, measures: Iterable[str]) -> dict[str, OneAnnotation]:
    def by_one(score: PeerScore) -> OneAnnotation:
        measured = {measure: MEASURES[measure](score) for measure in measures}
        return OneAnnotation(_counts(score), measured, score.unmatched, score.raw)

    return {name: by_one(score) for name, score in peer.by.items()}


def _counts(score: PeerScore | AnnotatedPeer) -> dict[str, int]:
    return {unit: listed(value) for unit, value in score.expressed.items()}


def unit_judgments(
    study: Study,
    method: str,
    *,
    pyramid: str | None = None,
    judges: str | None = None,
    weights: Weights | None = None,
    annotators: Annotators | None = None,
    compat: Compat | None = None,
) -> UnitJudgments:
    """What a method's judges say; of a method without units (ratings, ROUGE) there are pyramids and no judgments."""
    choice = _choose(study, method, pyramid, judges, weights)
    screening, peers, shares = None, {}, {}
    if method in {"pyramid", "auto"}:
        scored = peer_scores(choice, Problems(), annotators=annotators or "mean")
        peers = {(peer.topic, peer.system): peer for peer in scored}
        judgments = choice.counted(choice.on_units)
        expressed = {key: _counts(peer) for key, peer in peers.items()}
    elif method == "lite":
        vote = take_vote(study, choice, VoteChoices(compat=compat))
        choice, screening, judgments = vote.choice, vote.screening, vote.cast
        expressed, shares = vote.expressed(), vote.shares()
    else:
        return UnitJudgments(choice)
    several = {key: peer.votes() for key, peer in peers.items() if len(peer.by) > 1}
    votes = _votes(judgments) | {key: {unit: Votes(*v) for unit, v in units.items()} for key, units in several.items()}
    evidence = _evidence(judgments, expressed)
    return UnitJudgments(choice, expressed, votes, evidence, _outside(choice), peers, screening, shares)


def _choose(study: Study, method: str, pyramid: str | None, judges: str | None, weights: Weights | None) -> Choice:
    """The pyramid and the judges that a method looks at."""
    kind = KINDS.get(method, "expert")
    return choose(study, kind=kind, pyramid=pyramid, judges=judges, weights=weights or "contributors")


def _votes(judgments: Judgments) -> dict[Key, dict[str, Votes]]:
    """Where several judges answered."""
    asked = questions(judgments)
    value = judgments.value
    answered = ~np.isnan(value)
    of = np.bincount(asked.of_row[answered], minlength=len(asked))
    yes = np.bincount(asked.of_row[answered & (value >= PRESENT)], minlength=len(asked))
    votes: dict[Key, dict[str, Votes]] = {}
    for number in np.flatnonzero(of > 1).tolist():
        row = int(asked.first[number])
        key = judgments.topic[row], judgments.system[row]
        votes.setdefault(key, {})[judgments.unit[row]] = Votes(int(yes[number]), int(of[number]))
    return votes


def _evidence(judgments: Judgments, expressed: Mapping[Key, Mapping[str, int]]) -> dict[Key, dict[str, Any]]:
    """The mentions any judge marked for a unit that counts as expressed, each once."""
    evidence: dict[Key, dict[str, tuple[Mention, ...]]] = {}
    for row, mentions in sorted(judgments.evidence.items()):
        key, unit = (judgments.topic[row], judgments.system[row]), judgments.unit[row]
        if expressed.get(key, {}).get(unit, 0) > 0:
            of_peer = evidence.setdefault(key, {})
            of_peer[unit] = tuple(dict.fromkeys([*of_peer.get(unit, ()), *mentions]))
    return evidence


def _outside(choice: Choice) -> dict[Key, tuple[Mention, ...]]:
    """The mentions of content in no unit; for a human peer also of what no other reference says."""
    unmatched = choice.on_aspects.take(choice.on_aspects.aspect.is_in({UNMATCHED}))
    outside: dict[Key, tuple[Mention, ...]] = {}
    for judgments in (unmatched, choice.on_units if choice.own else Judgments()):
        for row, mentions in sorted(judgments.evidence.items()):
            key = judgments.topic[row], judgments.system[row]
            if not judgments.unit[row] or judgments.unit[row] in choice.left_out(*key):
                outside[key] = tuple(dict.fromkeys([*outside.get(key, ()), *mentions]))
    return outside


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
    compat: Compat | None = None,
) -> Explanation:
    """Why a summary scores as it does, by the method that fits the study or another one that judges units."""
    chosen = {"pyramid": pyramid, "judges": judges, "weights": weights, "annotators": annotators, "compat": compat}
    method, given = _method(study, method, chosen)
    peer = study.summary(topic, system)
    if peer is None:
        systems = ", ".join(sorted(p.system for p in study.peers if p.topic == topic))
        raise UsageError(f"topic {topic} has no system {system!r}; it has: {systems or 'none'}")
    judged = unit_judgments(study, method, **given)
    assert judged.choice is not None
    where, key = f"topic {topic}, system {system}", (topic, system)
    if not _pyramid_of(judged.choice, topic, system).units and key in judged.choice.own:
        raise UsageError(f"{where}: it is the topic's only reference, so there is nothing to compare it with")
    if key not in judged.times:
        raise UsageError(f"{where}: nobody judged it against pyramid {judged.choice.pyramid}")
    [explanation] = judged.explanations([peer], score(study, method, **given))
    return explanation


def explaining_pyramid(
    study: Study, topic: str, *, method: str | None = None, pyramid: str | None = None, weights: Weights | None = None
) -> Pyramid:
    """The pyramid of a topic that summaries are explained by."""
    method, _ = _method(study, method, {"pyramid": pyramid, "weights": weights})
    return _pyramid_of(_choose(study, method, pyramid, None, weights), topic)


def _method(study: Study, method: str | None, choices: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method that explains, and the choices given, which it must know."""
    if method is not None:
        check_choice("method that judges units", method, KINDS)
    given = {name: value for name, value in choices.items() if value is not None}
    method = method or fitting_method(study, given)
    check_choices(method, given)
    return method, given


def _pyramid_of(choice: Choice, topic: str, system: str = "") -> Pyramid:
    if topic not in choice.pyramids:
        raise UsageError(f"topic {topic} has no pyramid called {choice.pyramid!r}")
    return choice.pyramid_for(topic, system)


# -- ideal content -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class IdealContent:
    """The best summaries with ``size`` units: all of ``required``, and ``chosen`` of the ``free`` units of one tier.

    Nenkova et al. 2007, section 2 and Figure 1: a summary is as informative as X units can be if it takes units from
    the top tier down. Every choice from the last tier it reaches is equally good: with two units in the top tier and
    four in the next, there are six best summaries of four units. ``weight`` is Max(size). A pyramid with fewer units
    than asked for (``asked``) has one best summary: all of them.
    """

    asked: int
    weight: int
    required: tuple[ContentUnit, ...]
    free: tuple[ContentUnit, ...]
    chosen: int

    @property
    def size(self) -> int:
        return len(self.required) + self.chosen

    @property
    def number(self) -> int:
        """How many equally good sets of units there are."""
        return math.comb(len(self.free), self.chosen)

    def sets(self) -> Iterator[tuple[ContentUnit, ...]]:
        """Iterate over all sets; there may be very many."""
        for some in combinations(self.free, self.chosen):
            yield (*self.required, *some)


def ideal_content(pyramid: Pyramid, units: int) -> IdealContent:
    """The best that a summary with this many units can say."""
    if units < 0:
        raise UsageError(f"the number of units cannot be {units}")
    best = pyramid.best_weights()
    required: list[ContentUnit] = []
    for tier in pyramid.tiers.values():
        left = units - len(required)
        if left < len(tier):
            return IdealContent(units, best[units], tuple(required), tier if left else (), left)
        required += tier
    return IdealContent(units, best[-1], tuple(required), (), 0)
