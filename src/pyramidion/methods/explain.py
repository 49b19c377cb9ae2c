"""Why a summary has its score: which units it expresses, where, and what it misses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyramidion.errors import Problems, UsageError
from pyramidion.methods.choice import Choice, choose
from pyramidion.methods.columns import is_in, take
from pyramidion.methods.pyramid import PeerScore, peer_scores
from pyramidion.model import ContentUnit, Judgments, Pyramid, Study, Summary
from pyramidion.model.judgments import JudgeKind, Mention


@dataclass(frozen=True)
class Explanation:
    """One peer summary against one pyramid. ``evidence`` says where each expressed unit stands in the text."""

    peer: Summary
    pyramid: Pyramid
    score: PeerScore
    evidence: dict[str, tuple[Mention, ...]]

    @property
    def expressed(self) -> tuple[ContentUnit, ...]:
        """Expressed units, the heaviest first."""
        return self._units(True)

    @property
    def missed(self) -> tuple[ContentUnit, ...]:
        """Units that are not expressed, the heaviest first."""
        return self._units(False)

    def _units(self, wanted: bool) -> tuple[ContentUnit, ...]:
        found = [u for u in self.pyramid.units if (self.score.expressed.get(u.id, 0) > 0) == wanted]
        return tuple(sorted(found, key=lambda unit: -unit.weight))

    def weight_at(self) -> list[int]:
        """For each character of the summary, the weight of the heaviest unit it helps to express, or 0."""
        weights = [0] * len(self.peer.text)
        for unit in self.pyramid.units:
            for span in (span for mention in self.evidence.get(unit.id, ()) for span in mention):
                for place in range(*span):
                    weights[place] = max(weights[place], unit.weight)
        return weights


def explain(
    study: Study, topic: str, system: str, *, pyramid: str | None = None, judges: str | None = None
) -> Explanation:
    """Explain one peer summary by the judgments on a pyramid (the expert one by default)."""
    choice = choose_for(study, pyramid=pyramid, judges=judges)
    peer = study.summary(topic, system)
    if peer is None:
        here = ", ".join(sorted(p.system for p in study.peers if p.topic == topic))
        raise UsageError(f"topic {topic} has no system {system!r}; it has: {here or 'none'}")
    found = pyramid_of(choice, topic)
    choice = replace(
        choice,
        pyramids={topic: found},
        on_units=_about(choice.on_units, peer),
        on_aspects=_about(choice.on_aspects, peer),
    )
    for _, _, score in peer_scores(choice, Problems()):
        return Explanation(peer, found, score, _evidence(choice, score))
    raise UsageError(f"topic {topic}, system {system}: nobody judged it against pyramid {choice.pyramid}")


def choose_for(study: Study, *, pyramid: str | None, judges: str | None) -> Choice:
    kind: JudgeKind = "crowd" if pyramid == "crowd" else "expert"
    return choose(study, kind=kind, pyramid=pyramid, judges=judges)


def pyramid_of(choice: Choice, topic: str) -> Pyramid:
    if topic not in choice.pyramids:
        raise UsageError(f"topic {topic} has no pyramid called {choice.pyramid!r}")
    return choice.pyramids[topic]


def _about(judgments: Judgments, peer: Summary) -> Judgments:
    return take(judgments, is_in(judgments.topic, {peer.topic}) & is_in(judgments.system, {peer.system}))


def _evidence(choice: Choice, score: PeerScore) -> dict[str, tuple[Mention, ...]]:
    """The mentions any judge marked for a unit that counts as expressed, each once."""
    found: dict[str, tuple[Mention, ...]] = {}
    for row, mentions in sorted(choice.on_units.evidence.items()):
        unit = choice.on_units.unit[row]
        if score.expressed.get(unit, 0) > 0:
            found[unit] = tuple(dict.fromkeys([*found.get(unit, ()), *mentions]))
    return found
