"""From a study to why its summaries have their scores (`explanation`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pyramidion.errors import Problems, UsageError, check_choice
from pyramidion.scoring.aggregate import questions
from pyramidion.scoring.choice import Choice, Weights, choose
from pyramidion.scoring.explanation import Explanation, OneAnnotation, Votes
from pyramidion.scoring.lite import VoteChoices, take_vote
from pyramidion.scoring.litepyramids import Compat
from pyramidion.scoring.methods import check_choices, fitting_method, score
from pyramidion.scoring.pyramid import MEASURES, AnnotatedPeer, Annotators, PeerScore, peer_scores
from pyramidion.scoring.screening import Screening
from pyramidion.study import UNMATCHED, Judge, Judgments, Pyramid, ScoreTable, Study, Summary
from pyramidion.study.judgments import NOT_FOUND, PRESENT, VERDICTS, JudgeKind, Mention, Verdict, listed

KINDS: dict[str, JudgeKind] = {"pyramid": "expert", "lite": "crowd", "auto": "model"}
"""Methods that judge units, and the kind of judges they look at by default."""

Key = tuple[str, str]


@dataclass(frozen=True)
class UnitJudgments:
    """What the judges of a method say about the units of a study, by topic and system: all that explanations need.

    Where several annotated a summary and the mean of their scores counts, a unit is expressed if any of them finds it.
    ``judges`` are those whose judgments count, and those who corrected them. ``peers`` are scored by the Pyramid
    method; ``screening`` is what a crowd's judgments went through, and ``shares`` are the units on which its vote is
    undecided: in what share of its counts they are present.
    """

    choice: Choice | None = None
    judges: tuple[Judge, ...] = ()
    verdicts: Mapping[Key, Mapping[str, Verdict]] = field(default_factory=dict)
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
                judged=key in self.times,
                verdicts=self.verdicts.get(key, {}),
                times=self.times.get(key, {}),
                evidence=self.evidence.get(key, {}),
                outside=self.outside.get(key, ()),
                unmatched=scored.unmatched if scored else None,
                weight=(scored.value("raw") or 0.0) if scored else None,
                degrees=scored.degrees() if scored else self.shares.get(key, {}),
                votes=self.votes.get(key, {}),
                annotators=_annotations(scored, table.measures) if scored and len(scored.by) > 1 else {},
                own=self.choice.own.get(key, "") if self.choice else "",
                corrected=self.corrected(key),
                signature=table.signature,
            )

    def corrected(self, key: Key) -> dict[str, Verdict]:
        """The units of a summary whose verdict was corrected, with what it was before."""
        before = self.choice.corrected.get(key, {}) if self.choice else {}
        reader = _reader(self.judges)
        return {unit: reader("").verdict(value) for unit, value in before.items()}


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
    counted = counted_judges(study, choice)
    reader = _reader(counted)
    if method in {"pyramid", "auto"}:
        scored = peer_scores(choice, Problems(), annotators=annotators or "mean")
        peers = {(peer.topic, peer.system): peer for peer in scored}
        judgments = choice.counted(choice.on_units)
        times = {key: _counts(peer) for key, peer in peers.items()}
        verdicts = {key: _verdicts(peer, reader) for key, peer in peers.items()}
    elif method == "lite":
        vote = take_vote(study, choice, VoteChoices(compat=compat))
        choice, screening, judgments = vote.choice, vote.screening, vote.cast
        times, shares, verdicts = vote.expressed(), vote.shares(), vote.verdicts(reader("crowd"))
    else:
        return UnitJudgments(choice, counted)
    several = {key: peer.votes() for key, peer in peers.items() if len(peer.by) > 1}
    votes = _votes(judgments) | {key: {unit: Votes(*v) for unit, v in units.items()} for key, units in several.items()}
    evidence = _evidence(judgments, verdicts)
    outside = _outside(choice)
    return UnitJudgments(choice, counted, verdicts, times, votes, evidence, outside, peers, screening, shares)


def counted_judges(study: Study, choice: Choice) -> tuple[Judge, ...]:
    """Those whose judgments count, then those who corrected them."""
    known = {judge.id: judge for judge in study.judges}
    names = [*choice.on_units.judge.present_names(), *choice.correctors]
    return tuple(known.get(name, Judge(name)) for name in names)


Reader = Callable[[str], Judge]


def _reader(judges: Iterable[Judge]) -> Reader:
    """By whose bounds the values of an annotation, by its name, are read: those of its only judge, or else a person's,
    since what several say is what most of them say."""
    known = {judge.id: judge for judge in judges if not judge.corrects}
    return lambda name: next(iter(known.values())) if len(known) == 1 else known.get(name, Judge(name))


def _verdicts(peer: AnnotatedPeer, reader: Reader) -> dict[str, Verdict]:
    """The best verdict that any annotation has on each unit."""
    best: dict[str, Verdict] = {}
    for name, annotation in peer.by.items():
        judge = reader(name)
        for unit, value in annotation.expressed.items():
            best[unit] = min(judge.verdict(value), best.get(unit, NOT_FOUND), key=VERDICTS.index)
    return best


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


def _evidence(judgments: Judgments, verdicts: Mapping[Key, Mapping[str, Verdict]]) -> dict[Key, dict[str, Any]]:
    """The mentions any judge marked for a unit that is expressed, or perhaps, each once."""
    evidence: dict[Key, dict[str, tuple[Mention, ...]]] = {}
    for row, mentions in sorted(judgments.evidence.items()):
        key, unit = (judgments.topic[row], judgments.system[row]), judgments.unit[row]
        if verdicts.get(key, {}).get(unit, NOT_FOUND) != NOT_FOUND:
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


def explaining_choice(
    study: Study,
    *,
    method: str | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    weights: Weights | None = None,
) -> Choice:
    """The pyramid and the judges that summaries are explained by."""
    method, _ = _method(study, method, {"pyramid": pyramid, "judges": judges, "weights": weights})
    return _choose(study, method, pyramid, judges, weights)


def explaining_pyramid(
    study: Study, topic: str, *, method: str | None = None, pyramid: str | None = None, weights: Weights | None = None
) -> Pyramid:
    """The pyramid of a topic that summaries are explained by."""
    return _pyramid_of(explaining_choice(study, method=method, pyramid=pyramid, weights=weights), topic)


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
