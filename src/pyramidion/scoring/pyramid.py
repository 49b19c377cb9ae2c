"""The Pyramid method: Nenkova, Passonneau and McKeown 2007, sections 2 and 3.

D is the summed weight of the distinct units a peer expresses; Max(x) the greatest weight x units of the pyramid can
have; X the number of content units in the peer (distinct, repeated and unmatched); X_a the mean number of units in a
reference. If a model finds a unit to a degree of at least a fifth, that part of its weight counts; below that, the unit
is not expressed and adds nothing. Each unit that adds to D counts as one in X, so D never exceeds Max(X).

    original      D / Max(X)      precision-like; PyrEval calls it quality
    modified      D / Max(X_a)    recall-like; PyrEval calls it coverage; may exceed 1 and is not clipped
    comprehensive harmonic mean of the two
    precision     distinct matched units / X
    recall        distinct matched units / units of the pyramid
    raw           D
    extent        the mean of modified and the share of the references' words that a model finds, if it says

X_a is rounded half up, and weights count contributors, also two from one reference. That is the rule of the official
modified scores of DUC 2006 and 2007; DUCView 1.5 rounds down, SacreROUGE rounds up (docs/adr/0002). If several experts
annotated a peer, each annotation is scored and the score is their mean; they are joined unit by unit only on request
(docs/adr/0006). Crowd workers each see a part, so their answers are joined by majority.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Literal, get_args

from pyramidion.errors import InputError, Problem, Problems, check_choice
from pyramidion.scoring.aggregate import majority
from pyramidion.scoring.choice import Choice, Weights, choose, unscored
from pyramidion.study import UNMATCHED, Judgments, Pyramid, Score, ScoreTable, Signature, Study
from pyramidion.study.judgments import COVERED, degree, listed

Rounding = Literal["half-up", "floor", "ceiling", "half-even"]
Annotators = Literal["mean", "consensus"]
"""For several annotations of one peer: the mean of their scores, or the score of what most of them say."""

_ROUND: dict[str, Callable[[float], int]] = {
    "half-up": lambda x: math.floor(x + 0.5),
    "floor": math.floor,
    "ceiling": math.ceil,
    "half-even": round,
}


def mean_units_per_reference(pyramid: Pyramid, *, rounding: Rounding = "half-up") -> int:
    """X_a: how many units a reference expresses on average, as a whole number."""
    if not pyramid.references:
        return 0
    return _ROUND[rounding](pyramid.contributor_count / len(pyramid.references))


@dataclass(frozen=True)
class PeerScore:
    """Every score of one peer summary, and its parts. None if a score is undefined. ``expressed`` says how often
    each unit is expressed or, below 1, to what degree; ``unmatched`` how many content units match nothing (None:
    nobody counted, so scores that need X are undefined); ``covered`` what share of the references' words it says."""

    pyramid: Pyramid
    expressed: Mapping[str, float]
    unmatched: int | None = None
    rounding: Rounding = "half-up"
    clip: bool = False
    covered: float | None = None
    _best: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_best", self.pyramid.best_weights())

    def max_weight(self, units: int) -> int:
        """Max(x): the weight of all units if x exceeds their number."""
        return self._best[min(units, len(self._best) - 1)]

    @cached_property
    def matched(self) -> int:
        """Distinct units that are expressed, at least in part."""
        return sum(listed(self.expressed.get(unit.id, 0)) > 0 for unit in self.pyramid.units)

    @cached_property
    def repeated(self) -> int:
        return sum(max(listed(self.expressed.get(unit.id, 0)) - 1, 0) for unit in self.pyramid.units)

    @property
    def size(self) -> int | None:
        """X: all content units of the peer."""
        return None if self.unmatched is None else self.matched + self.repeated + self.unmatched

    @cached_property
    def raw(self) -> float:
        """D: the sum over the matched units."""
        return sum(unit.weight * degree(self.expressed.get(unit.id, 0)) for unit in self.pyramid.units)

    @property
    def original(self) -> float | None:
        return None if self.size is None else self._of_best(self.size)

    @property
    def modified(self) -> float | None:
        units = mean_units_per_reference(self.pyramid, rounding=self.rounding)
        return self._of_best(units) if units else None  # references with less than half a unit each set no standard

    @property
    def comprehensive(self) -> float | None:
        quality, coverage = self.original, self.modified
        if quality is None or coverage is None:
            return None
        return 2 * quality * coverage / (quality + coverage) if quality + coverage else 0.0

    @property
    def extent(self) -> float | None:
        if self.modified is None or self.covered is None:
            return self.modified
        return (self.modified + self.covered) / 2

    @property
    def precision(self) -> float | None:
        if self.size is None or not self.pyramid.units:
            return None
        return self.matched / self.size if self.size else 0.0

    @property
    def recall(self) -> float | None:
        return self.matched / len(self.pyramid.units) if self.pyramid.units else None

    def _of_best(self, units: int) -> float | None:
        """A peer that expresses nothing scores 0; a pyramid without weight gives no score."""
        if not self._best[-1]:
            return None
        best = self.max_weight(units)
        if not best:
            return 0.0
        value = self.raw / best
        return min(value, 1.0) if self.clip else value


MEASURES: dict[str, Callable[[PeerScore], float | None]] = {
    "original": lambda s: s.original,
    "modified": lambda s: s.modified,
    "comprehensive": lambda s: s.comprehensive,
    "precision": lambda s: s.precision,
    "recall": lambda s: s.recall,
    "raw": lambda s: s.raw if s.pyramid.references or s.pyramid.units else None,  # the only reference has no score
    "quality": lambda s: s.original,
    "coverage": lambda s: s.modified,
    "extent": lambda s: s.extent,
}
NEED_X = frozenset({"original", "quality", "comprehensive", "precision"})
"""Measures that are undefined where nobody counted what matches nothing."""
DEFAULT = ("modified", "original", "comprehensive", "precision", "recall")


@dataclass(frozen=True)
class AnnotatedPeer:
    """A peer's scores by each of its annotations. A crowd's is called "crowd", one joined by majority "consensus"."""

    topic: str
    system: str
    by: Mapping[str, PeerScore]

    def value(self, measure: str) -> float | None:
        """The mean over the annotations that define the measure."""
        return _mean(MEASURES[measure](score) for score in self.by.values())

    def votes(self) -> dict[str, tuple[int, int]]:
        """In how many of how many annotations each unit is expressed; empty if there is only one."""
        found = list(self.by.values())
        units = {unit: None for score in found for unit in score.expressed} if len(found) > 1 else {}
        return {unit: (sum(listed(s.expressed.get(unit, 0)) > 0 for s in found), len(found)) for unit in units}

    @property
    def expressed(self) -> dict[str, float]:
        """The units that any annotation has, each with the greatest count."""
        found: dict[str, float] = {}
        for score in self.by.values():
            for unit, count in score.expressed.items():
                found[unit] = max(count, found.get(unit, 0))
        return found

    def degrees(self) -> dict[str, float]:
        """The mean degree over all annotations, for units that some annotation finds only in part."""
        found = list(self.by.values())
        partly = {unit for score in found for unit, value in score.expressed.items() if 0 < degree(value) < 1}
        return {unit: fsum(degree(s.expressed.get(unit, 0)) for s in found) / len(found) for unit in sorted(partly)}

    @property
    def unmatched(self) -> float | None:
        """The mean over the annotations that counted it."""
        return _mean(score.unmatched for score in self.by.values())

    def strict(self) -> AnnotatedPeer:
        """The same annotations by a pyramid whose weights count references."""
        return replace(
            self, by={name: replace(score, pyramid=score.pyramid.strict()) for name, score in self.by.items()}
        )


def peer_scores(
    choice: Choice,
    problems: Problems,
    *,
    annotators: Annotators = "mean",
    rounding: Rounding = "half-up",
    clip: bool = False,
) -> Iterator[AnnotatedPeer]:
    """Every annotated peer, topic by topic, scored by each of its annotations."""
    check_choice("annotators", annotators, get_args(Annotators))
    found: dict[tuple[str, str], dict[str, PeerScore]] = {}
    for name, judges in _annotations(choice, annotators):
        for (topic, system), score in scores_by(choice, judges, rounding, clip):
            found.setdefault((topic, system), {})[name] = score
    for (topic, system), by in sorted(found.items()):
        for name, score in by.items():
            units = len(score.pyramid.units)
            if missing := units - len(score.expressed):
                who = f", annotator {name}" if len(by) > 1 else ""
                what = f"{missing} of {units} units were not judged and count as not expressed"
                problems.warning(f"topic {topic}, system {system}{who}", what)
        yield AnnotatedPeer(topic, system, by)


def _annotations(choice: Choice, annotators: Annotators) -> list[tuple[str, frozenset[str]]]:
    """Whose judgments make one annotation: each annotator's own, and those of all workers together."""
    judges = choice.on_units.judge.present_names()
    if annotators == "consensus":
        return [("consensus", frozenset(judges))]
    workers = choice.workers.intersection(judges)
    alone = [(name, frozenset({name})) for name in judges if name not in workers]
    return [*alone, ("crowd", workers)] if workers else alone


def scores_by(
    choice: Choice, judges: frozenset[str], rounding: Rounding = "half-up", clip: bool = False
) -> Iterator[tuple[tuple[str, str], PeerScore]]:
    """The peers that these judges annotated, by topic and system, scored by what most of them say."""

    def said(judgments: Judgments) -> Judgments:
        return majority(judgments.take(judgments.judge.is_in(judges)))

    outside = {
        (j.topic, j.system): _whole(j.value, f"topic {j.topic}, system {j.system}, unmatched")
        for j in said(choice.on_aspects.take(choice.on_aspects.aspect.is_in({UNMATCHED})))
        if j.value is not None
    }
    covered = {
        (j.topic, j.system): j.value
        for j in said(choice.on_aspects.take(choice.on_aspects.aspect.is_in({COVERED})))
        if j.value is not None
    }
    counts: dict[tuple[str, str], dict[str, float]] = {}
    for j in said(choice.on_units):
        if j.value is not None:
            where = f"topic {j.topic}, system {j.system}"
            count = j.value if 0 < j.value < 1 else _whole(j.value, where, "is neither a count nor a degree")
            counts.setdefault((j.topic, j.system), {})[j.unit] = count
    for key, expressed in counts.items():
        own, unmatched = choice.left_out(*key), outside.get(key)
        if unmatched is not None:  # X, all content of the peer, stays the same
            unmatched += sum(listed(expressed.get(unit, 0)) for unit in own)
        counted = {unit: value for unit, value in expressed.items() if unit not in own}
        yield key, PeerScore(choice.pyramid_for(*key), counted, unmatched, rounding, clip, covered.get(key))


def _whole(value: float, where: str, what: str = "is not a count") -> int:
    if not value.is_integer():
        raise InputError(Problem(where, f"value {value:g} {what}"))
    return int(value)


def score(
    study: Study,
    *,
    measures: Sequence[str] | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    weights: Weights = "contributors",
    annotators: Annotators = "mean",
    rounding: Rounding = "half-up",
    clip: bool = False,
) -> ScoreTable:
    """Score annotated peers against expert pyramids.

    ``weights`` says what a unit's weight counts, ``annotators`` how several annotations of one peer are joined.
    """
    check_choice("rounding", rounding, _ROUND)
    names = tuple(measures or DEFAULT)
    for name in names:
        check_choice("pyramid measure", name, MEASURES)
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges, weights=weights)
    problems = Problems()
    problems.extend((*choice.notes, *choice.human_peers()))
    peers = list(peer_scores(choice, problems, annotators=annotators, rounding=rounding, clip=clip))
    scores = [Score(peer.topic, peer.system, name, peer.value(name)) for peer in peers for name in names]
    problems.extend(_uncounted(peers, [name for name in names if name in NEED_X]))
    each = peers if annotators == "mean" else peer_scores(choice, Problems(), rounding=rounding, clip=clip)
    problems.extend(_several(list(each), peers, names[0], annotators))
    problems.extend(_strict_counting(peers, names))
    problems.extend(unscored(study, scores))
    made: dict[str, object] = {**choice.signed, "weights": weights}
    made |= {"xa": rounding, "clip": clip, **_joined(choice, annotators)}
    return ScoreTable.of_summaries(scores, Signature.of("pyramid", **made), problems)


def _joined(choice: Choice, annotators: Annotators) -> dict[str, str]:
    """How judges are joined, as the signature says it."""
    judges = set(choice.on_units.judge.present_names())
    found = {"workers": "majority"} if judges & choice.workers else {}
    return {"annotators": annotators, **found} if judges - choice.workers or not judges else found


def _uncounted(peers: Sequence[AnnotatedPeer], measures: Sequence[str]) -> Iterator[Problem]:
    counted = [[score.unmatched is not None for score in peer.by.values()] for peer in peers]
    if not measures:
        return
    if nobody := sum(not any(each) for each in counted):
        what = f"unmatched content was not counted, so these are undefined: {', '.join(measures)}"
        yield Problem(f"{nobody} summaries", what, "warning")
    if some := sum(any(each) and not all(each) for each in counted):
        what = f"not every annotator counted unmatched content; {', '.join(measures)} are by those who did"
        yield Problem(f"{some} summaries", what, "warning")


def _several(
    each: Sequence[AnnotatedPeer], joined: Sequence[AnnotatedPeer], measure: str, annotators: Annotators
) -> Iterator[Problem]:
    """Note who annotated the same summaries, the score by each, and how they were joined."""
    names = sorted({name for peer in each for name in peer.by})
    shared = {(peer.topic, peer.system): peer for peer in each if len(peer.by) > 1}
    if len(names) < 2:
        return
    where = f"annotators {', '.join(names)}"
    if not shared:
        yield Problem(where, "no two of them annotated the same summary; every score rests on one annotator", "warning")
        return
    given = {name: [MEASURES[measure](peer.by[name]) for peer in shared.values() if name in peer.by] for name in names}
    means = [(name, _mean(values)) for name, values in given.items()]
    made = _mean([peer.value(measure) for peer in joined if (peer.topic, peer.system) in shared])
    by = ", ".join(f"{_shown(value)} by {name}" for name, value in means if given[name])
    how = (
        f"the score is their mean, {_shown(made)}"
        if annotators == "mean"
        else "they are joined unit by unit (what most annotators say; of two counts the lower), which gives "
        f"{_shown(made)}"
    )
    part = f"{len(shared)} of {len(each)} summaries have several annotations"
    yield Problem(where, f"{part}: {measure} {by}; {how}{_difference(shared.values(), measure)}", "warning")


def _difference(shared: Iterable[AnnotatedPeer], measure: str) -> str:
    """How far the annotations of one summary differ; nothing where only one has several."""
    values = ([MEASURES[measure](score) for score in peer.by.values()] for peer in shared)
    gaps = [max(held) - min(held) for each in values if len(held := [v for v in each if v is not None]) > 1]
    if len(gaps) < 2:
        return ""
    return f". They differ by {fsum(gaps) / len(gaps):.3f} on average, at most by {max(gaps):.3f}"


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fsum(defined) / len(defined) if defined else None


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _strict_counting(peers: Sequence[AnnotatedPeer], measures: Sequence[str]) -> Iterator[Problem]:
    """What counting references instead of contributors would change, topic by topic."""
    by_topic: dict[str, list[AnnotatedPeer]] = {}
    for peer in peers:
        by_topic.setdefault(peer.topic, []).append(peer)
    for topic, held in by_topic.items():
        used = next(iter(held[0].by.values()))
        pyramid, strict = used.pyramid, used.pyramid.strict()
        units = [unit.id for unit in pyramid.units if unit.weight > len(unit.references)]
        if not units:
            continue
        before, after = (mean_units_per_reference(each, rounding=used.rounding) for each in (pyramid, strict))
        changed = []
        counted = [(peer, peer.strict()) for peer in held]
        for measure in measures:
            pairs = [(peer.value(measure), other.value(measure)) for peer, other in counted]
            gaps = [abs(a - b) for a, b in pairs if a is not None and b is not None and a != b]
            if gaps:
                changed.append(f"{measure} of {len(gaps)} summaries by up to {max(gaps):.4f}")
        what = (
            f"several contributors from the same reference all count in unit {', '.join(units)}, as in DUCView "
            f"and the official scores; with weights=references the total weight is {strict.contributor_count}, "
            "not "
            f"{pyramid.contributor_count}, X_a is "
            f"{after}{f', not {before}' if before != after else ' as well'}, and these scores change: "
            f"{', '.join(changed) or 'none'}"
        )
        yield Problem(f"topic {topic}", what, "warning")
