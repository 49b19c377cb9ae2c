"""Which pyramid and which judges a method uses, if a study has several."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.study import Judgments, Pyramid, Score, Study
from pyramidion.study.judgments import Column, JudgeKind, group

# ----------------------------------------------------------------------
# Missing cells of a system-by-topic table are reported, never silently skipped.


def unscored(study: Study, scores: Sequence[Score]) -> Iterator[Problem]:
    """What is missing in a system-by-topic table, so that nobody compares means over different topics unawares."""
    have = {(score.topic, score.system) for score in scores}
    systems = sorted({system for _, system in have} | set(study.systems))
    for topic in sorted(topic.id for topic in study.topics):
        for why, wanted in (("nothing to score them by", True), ("no summary", False)):
            missing = [s for s in systems if (topic, s) not in have and bool(study.summary(topic, s)) == wanted]
            if missing:
                yield Problem(f"topic {topic}", f"not scored, {why}: {', '.join(missing)}", "warning")
    yield from _undefined_scores(scores)


def without_references(study: Study, topics: Collection[str], *, peers: bool = True) -> Iterator[Problem]:
    """Topics besides these with nothing to build a pyramid from; only such as have ``peers``, where these matter."""
    known = {summary.topic for summary in study.references}
    wanted = {summary.topic for summary in study.peers} if peers else {topic.id for topic in study.topics}
    for topic in study.topics:
        if topic.id in wanted.difference(topics):
            what = "its references are empty" if topic.id in known else "has no references"
            yield Problem(f"topic {topic.id}", f"{what}, so no pyramid can be built", "warning")


def _undefined_scores(scores: Sequence[Score]) -> Iterator[Problem]:
    """Note measures that are undefined for only some summaries, which the system means leave out."""
    for measure in dict.fromkeys(score.measure for score in scores):
        measured = [score for score in scores if score.measure == measure]
        undefined = [score for score in measured if score.value is None]
        if 0 < len(undefined) < len(measured):
            for topic in dict.fromkeys(str(score.topic) for score in undefined):
                systems = ", ".join(score.system for score in undefined if score.topic == topic)
                yield Problem(f"topic {topic}", f"{measure} is undefined for: {systems}", "warning")


def scored_by_others(own: Mapping[tuple[str, str], str], alone: Collection[str] = ()) -> Iterator[Problem]:
    """One note on all peers that are references themselves, and one on those whose topic has no other reference.

    ``own`` says which reference each such peer is, ``alone`` which topics have only one reference.
    """
    without = {key: name for key, name in own.items() if key[0] in alone}
    others = {key: name for key, name in own.items() if key[0] not in alone}
    for peers, one, several in (
        (others, "so it is scored against the others only", "so each is scored against the others only"),
        (
            without,
            "and its topic has no other, so it has no score",
            "and their topics have no other, so they have no score",
        ),
    ):
        if peers:
            listed = [f"{system} on {topic} is {name}" for (topic, system), name in sorted(peers.items())]
            some = "; ".join(listed[:3]) + ("; ..." if len(listed) > 3 else "")
            who = "1 peer is itself a reference" if len(peers) == 1 else f"{len(peers)} peers are references themselves"
            yield Problem("human peers", f"{who} ({some}), {one if len(peers) == 1 else several}", "warning")


# ----------------------------------------------------------------------
# Peers that are references: a human summary is scored against the other references, never against itself.


def own_references(study: Study) -> dict[tuple[str, str], str]:
    """For every peer that is a reference of its topic, by (topic, system): which reference it is.

    It is one if it has the same text and either the same name or an author all of whose texts are references, where
    there are any: a program that hits upon the words of a reference now and then is not a person. Texts are compared
    after joining runs of white space; texts without words match nothing. If several references have the text, the one
    with the peer's own name is used, otherwise the first by name.
    """
    references: dict[tuple[str, str], list[str]] = {}
    for reference in study.references:
        if any(map(str.isalnum, reference.text)):
            references.setdefault((reference.topic, " ".join(reference.text.split())), []).append(reference.system)
    same = {
        (peer.topic, peer.system): references.get((peer.topic, " ".join(peer.text.split())), [])
        for peer in study.peers
        if peer.text.strip()
    }
    compared = {topic for topic, _ in references}
    programs = {system for (topic, system), names in same.items() if topic in compared and not names}
    return {
        (topic, system): system if system in names else min(names)
        for (topic, system), names in same.items()
        if system in names or (names and system not in programs)
    }


AUTO = "auto"
"""The model that judges where nobody is named, and the pyramid that it builds."""

Weights = Literal["contributors", "references"]
"""What a unit's weight counts; they differ if one reference contributes to a unit twice."""

PEOPLE = "people"
"""All judges but models."""
TO_BE_JUDGED = ("crowd", "expert")
"""The pyramids whose units are looked for in new summaries, where a study has several: written for that, or by hand."""


@dataclass(frozen=True)
class Choice:
    """Pyramids by topic, the chosen judges' judgments on their units and on aspects, and a name for each choice.

    ``workers`` are the crowd's judges: each saw a part, so only together do they make an annotation.
    ``own`` names the reference that a human peer, by (topic, system), has contributed to its pyramid; ``kind`` is the
    kind of judge where ``judges`` is a single one's id. Who corrects a chosen judge (``correctors``) speaks under that
    one's name; ``corrected`` says what that one had said before, by (topic, system) and unit.
    """

    pyramid: str
    pyramids: dict[str, Pyramid]
    judges: str
    on_units: Judgments
    on_aspects: Judgments
    notes: tuple[Problem, ...] = ()
    workers: frozenset[str] = frozenset()
    own: Mapping[tuple[str, str], str] = field(default_factory=dict)
    kind: str = ""
    corrected: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    correctors: tuple[str, ...] = ()

    @property
    def signed(self) -> dict[str, str]:
        """What a signature says about the choice."""
        further = {"kind": self.kind, "corrected": "+".join(self.correctors)}
        return {"pyramid": self.pyramid, "judges": self.judges} | {name: held for name, held in further.items() if held}

    def left_out(self, topic: str, system: str) -> frozenset[str]:
        """The units to which only this peer itself contributes: they do not count for it."""
        own = self.own.get((topic, system))
        return (
            frozenset() if own is None else frozenset(u.id for u in self.pyramids[topic].units if u.references == {own})
        )

    def pyramid_for(self, topic: str, system: str) -> Pyramid:
        """The pyramid a peer is scored and explained by; for a human peer that of the other references."""
        pyramid, own = self.pyramids[topic], self.own.get((topic, system))
        if own is None:
            return pyramid
        others = pyramid.restricted_to([name for name in pyramid.references if name != own])
        bare = tuple(unit for unit in pyramid.units if not unit.contributors)
        return replace(others, units=(*others.units, *bare))

    def counted(self, judgments: Judgments) -> Judgments:
        """Judgments without those on units that do not count for a human peer."""
        if not self.own:
            return judgments
        pairs = group(judgments.topic.ranks(), judgments.system.ranks())
        out = [self.left_out(judgments.topic[row], judgments.system[row]) for row in pairs.first.tolist()]
        kept = [judgments.unit[row] not in out[pair] for row, pair in enumerate(pairs.of_row.tolist())]
        return judgments.take(np.array(kept, dtype=bool))

    def human_peers(self) -> Iterator[Problem]:
        """One note on all peers that are scored against the other references."""
        alone = {topic for topic, pyramid in self.pyramids.items() if len(pyramid.references) == 1}
        return scored_by_others(self.own, alone)


def choose(
    study: Study, *, kind: JudgeKind, pyramid: str | None, judges: str | None, weights: Weights = "contributors"
) -> Choice:
    """By default, choose the pyramid named after the method's kind of judge if it was judged, otherwise the only one
    that people judged, otherwise the only judged one, otherwise the only one; and judges of that kind, or all if none
    of them judged it. People and models are never mixed unless asked for. Of models it is `AUTO`, and the pyramid that
    it has judged. ``judges`` is a kind, a judge's id, "people" or "all". With weights="references" a reference that
    contributes to a unit twice counts once.
    """
    check_choice("weights", weights, get_args(Weights))
    study, corrections = without_corrections(study)
    if kind == "model":
        pyramid, judges = pyramid or auto_pyramid(study) or AUTO, judges or AUTO
    name = named_pyramid(study.pyramid_names if pyramid is not None else _likely_pyramids(study, kind), pyramid)
    pyramids = {p.topic: p.strict() if weights == "references" else p for p in study.pyramids if p.name == name}
    on_units = judged_units(study.judgments, pyramids)
    notes = []
    if judges is None:
        judges = _default_judges(study, on_units, kind)
        if judges != kind and len(on_units):
            what = (
                f"no judge of kind {kind} judged it, so the judgments of all {_OTHERS.get(judges, 'judges')} are used"
            )
            notes.append(Problem(f"pyramid {name}", what, "warning"))
    on_units = on_units.take(on_units.judge.is_in(judge_ids(study, judges)))
    corrections = judged_units(corrections.take(corrections.judge.is_in(judge_ids(study, judges))), pyramids)
    on_units, corrected = _corrected(on_units, corrections) if len(corrections) else (on_units, {})
    # Only those who judged this pyramid can say what is outside it.
    who = study.judgments.judge.is_in(set(on_units.judge.present_names()))
    on_aspects = study.judgments.take(~study.judgments.aspect.is_in({""}) & who)
    own = {key: ref for key, ref in own_references(study).items() if ref in _references(pyramids.get(key[0]))}
    kind_of = {judge.id: judge.kind for judge in study.judges}
    single = "" if judges in {"all", PEOPLE, *get_args(JudgeKind)} else kind_of.get(judges, "")
    correctors = {corrected: id for id, corrected in study.correctors.items()}
    return Choice(
        name,
        pyramids,
        judges,
        on_units,
        on_aspects,
        tuple(notes),
        study.judges_of("crowd"),
        own,
        single,
        corrected,
        tuple(correctors[name] for name in corrections.judge.present_names()),
    )


def without_corrections(study: Study) -> tuple[Study, Judgments]:
    """A study without the judgments of those who correct others, and these in the names of those they correct."""
    correctors, said = study.correctors, study.judgments
    if not correctors:
        return study, Judgments()
    corrects = said.judge.is_in(correctors)
    corrections = said.take(corrects & ~said.unit.is_in({""}))
    renamed = corrections.with_columns(judge=corrections.judge.rename(lambda name: correctors.get(name, name)))
    return replace(study, judgments=said.take(~corrects)), renamed


def _corrected(
    judgments: Judgments, corrections: Judgments
) -> tuple[Judgments, dict[tuple[str, str], dict[str, float]]]:
    """Judgments in which corrections replace what was said before about the same unit of the same summary, and that:
    nothing counts as 0."""
    before: dict[tuple[str, str], dict[str, float]] = {}
    for topic, system, unit in zip(corrections.topic, corrections.system, corrections.unit, strict=True):
        before.setdefault((topic, system), {})[unit] = 0.0
    replaced = judgments.unit.is_in(set(corrections.unit.present_names()))
    again = set(zip(*_questions(corrections), strict=True))
    for row in np.flatnonzero(replaced).tolist():
        judge, topic, system, unit = (column[row] for column in _questions(judgments))
        replaced[row] = (judge, topic, system, unit) in again
        if replaced[row]:
            before[topic, system][unit] = float(np.nan_to_num(judgments.value[row]))
    return judgments.take(~replaced) + corrections, before


def _questions(judgments: Judgments) -> tuple[Column, ...]:
    return judgments.judge, judgments.topic, judgments.system, judgments.unit


def auto_pyramid(study: Study) -> str | None:
    """The pyramid that the model `AUTO` has judged in this study, its own first; None if it has judged nothing."""
    mine = study.judgments.take(study.judgments.judge.is_in({AUTO} & study.judges_of("model")))
    for name in sorted(study.pyramid_names, key=lambda name: name != AUTO):
        if len(judged_units(mine, {p.topic: p for p in study.pyramids if p.name == name})):
            return name
    return None


def _references(pyramid: Pyramid | None) -> tuple[str, ...]:
    return pyramid.references if pyramid else ()


_OTHERS = {"expert": "experts", "crowd": "workers"}


def _default_judges(study: Study, on_units: Judgments, kind: JudgeKind) -> str:
    judged = {known for known in get_args(JudgeKind) if on_units.judge.is_in(study.judges_of(known)).any()}
    if kind in judged:
        return kind
    people = sorted(judged - {"model"})
    models = sorted(set(on_units.judge.present_names()) & study.judges_of("model"))
    if not people and len(models) > 1:
        raise UsageError(f"only models judged it: {', '.join(models)}; choose one of them with judges")
    return people[0] if "model" in judged and people else "all"


def _likely_pyramids(study: Study, kind: JudgeKind) -> Sequence[str]:
    """The pyramid to use if none is named; several if that is ambiguous."""
    names = study.pyramid_names
    if len(names) < 2:
        return names
    named = {name: {p.topic: p for p in study.pyramids if p.name == name} for name in names}
    judged = {name: judged_units(study.judgments, pyramids).judge for name, pyramids in named.items()}
    if kind in names and (len(judged[kind]) or not any(map(len, judged.values()))):
        return [kind]
    models = study.judges_of("model")
    by_people = [name for name, judge in judged.items() if (~judge.is_in(models)).any()]
    chosen = by_people or [name for name, judge in judged.items() if len(judge)]
    return chosen if len(chosen) == 1 else names


def named_pyramid(names: Sequence[str], name: str | None, *, prefer: Sequence[str] = ()) -> str:
    """The named pyramid of a study; otherwise the first preferred one, or the only one."""
    if not names:
        raise UsageError("the study has no pyramid, so there are no units; the methods rouge and auto need only texts")
    if name is not None and name not in names:
        raise UsageError(f"the study has no pyramid called {name!r}; it has: {', '.join(names)}")
    chosen = name or next((known for known in prefer if known in names), names[0] if len(names) == 1 else None)
    if chosen is None:
        raise UsageError(f"the study has several pyramids; choose one: {', '.join(names)}")
    return chosen


def judged_units(judgments: Judgments, pyramids: dict[str, Pyramid]) -> Judgments:
    """The judgments on units of some pyramids, given by topic."""
    known = {(topic, unit.id) for topic, pyramid in pyramids.items() for unit in pyramid.units}
    named = judgments.take(judgments.unit.is_in({unit for _, unit in known}))
    pairs = group(named.topic.ranks(), named.unit.ranks())
    held = [(named.topic[row], named.unit[row]) in known for row in pairs.first.tolist()]
    return named.take(np.array(held, dtype=bool)[pairs.of_row]) if held else named


def default_raters(study: Study, judgments: Judgments) -> str:
    """Whose ratings or votes count by default: all, but people and models are never mixed unless asked for."""
    by_model = judgments.judge.is_in(study.judges_of("model"))
    return PEOPLE if by_model.any() and not by_model.all() else "all"


def judge_ids(study: Study, judges: str) -> frozenset[str]:
    """The ids that "all", "people", a kind of judge or a judge's own id means."""
    ids = frozenset(judge.id for judge in study.judges)
    if judges in {"all", PEOPLE}:
        everyone = (ids | frozenset(study.judgments.judge.names)) - study.correctors.keys()
        return everyone - study.judges_of("model") if judges == PEOPLE else everyone
    if judges in get_args(JudgeKind):
        return frozenset(judge.id for judge in study.judges if judge.kind == judges and not judge.corrects)
    if whom := study.correctors.get(judges):
        raise UsageError(f"{judges} only corrects {whom}, and does not judge alone; choose {whom}")
    if judges not in ids:
        kinds = ", ".join(get_args(JudgeKind))
        raise UsageError(f"unknown judge {judges!r}; use all, people, a kind ({kinds}) or a judge's id")
    return frozenset({judges})
