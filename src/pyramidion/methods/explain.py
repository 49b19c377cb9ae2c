"""Why a summary has its score: which units it expresses, where, and what it misses."""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from itertools import groupby

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

    def _repr_html_(self) -> str:
        """What a notebook shows: the text with matched words marked, then what is there and what is missing."""
        tiers = max((unit.weight for unit in self.pyramid.units), default=0) or 1  # units may all weigh nothing
        marked = "".join(
            _marked("".join(character for character, _ in run), weight / tiers)
            for weight, run in groupby(zip(self.peer.text, self.weight_at(), strict=True), key=lambda place: place[1])
        )
        score = "undefined" if self.score.modified is None else f"{self.score.modified:.3f}"
        title = f"{self.peer.topic}, {self.peer.system}: modified {score}"
        lists = "".join(
            f"<details><summary>{len(units)} units {what}</summary><ul>"
            + "".join(f"<li dir='auto'>({unit.weight}) {html.escape(unit.label or unit.id)}</li>" for unit in units)
            + "</ul></details>"
            for what, units in (("expressed", self.expressed), ("missed", self.missed))
        )
        return f"<b>{html.escape(title)}</b><p dir='auto' style='white-space:pre-wrap'>{marked}</p>{lists}"


def _marked(text: str, share: float) -> str:
    """Words that express a unit: the heavier, the stronger. The tint is transparent, so that it fits any theme."""
    if not share:
        return html.escape(text)
    return f"<span style='background:rgba(0,150,130,{0.12 + 0.38 * share:.2f})'>{html.escape(text)}</span>"


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
