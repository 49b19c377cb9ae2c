"""The Pyramid method: Nenkova, Passonneau and McKeown 2007, sections 2 and 3.

D is the summed weight of the distinct units a peer expresses; Max(x) the greatest weight x units of the pyramid can
have; X the number of content units in the peer (distinct, repeated and unmatched); X_a the mean number of units in
a reference. Of a unit that a model finds to a degree, that part of the weight counts, from a fifth on; below, the
unit is not expressed and adds nothing. Each unit that adds to D counts as one in X, so D never exceeds Max(X).

    original      D / Max(X)      precision-like; PyrEval calls it quality
    modified      D / Max(X_a)    recall-like; PyrEval calls it coverage; may exceed 1 and is not clipped
    comprehensive harmonic mean of the two
    precision     distinct matched units / X
    recall        distinct matched units / units of the pyramid
    raw           D

X_a is rounded half up. That reproduces all 1,481 official DUC 2006 and 2007 scores; DUCView 1.5 floors, SacreROUGE
takes the ceiling (docs/adr/0002).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from pyramidion.errors import InputError, Problem, Problems, check_choice
from pyramidion.methods.aggregate import majority
from pyramidion.methods.choice import Choice, choose
from pyramidion.methods.columns import is_in, take
from pyramidion.methods.missing import unscored
from pyramidion.model import UNMATCHED, Pyramid, Score, ScoreTable, Signature, Study
from pyramidion.model.judgments import degree, listed

Rounding = Literal["half-up", "floor", "ceiling", "half-even"]

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
    """Every score of one peer summary, with the parts it is made of. None where a score is undefined.

    ``expressed`` says how often each unit is expressed or, below 1, to which degree; ``unmatched`` how many content
    units match nothing (None: nobody counted, so scores that need X are undefined).
    """

    pyramid: Pyramid
    expressed: Mapping[str, float]
    unmatched: int | None = None
    rounding: Rounding = "half-up"
    clip: bool = False
    _best: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_best", self.pyramid.best_weights())

    def max_weight(self, units: int) -> int:
        """Max(x): all units where x exceeds their number."""
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
    def precision(self) -> float | None:
        if self.size is None or not self.pyramid.units:
            return None
        return self.matched / self.size if self.size else 0.0

    @property
    def recall(self) -> float | None:
        return self.matched / len(self.pyramid.units) if self.pyramid.units else None

    def _of_best(self, units: int) -> float | None:
        """A peer that expresses nothing scores 0; against a pyramid without weight nothing can be scored."""
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
    "raw": lambda s: s.raw if s.pyramid.units else None,
    "quality": lambda s: s.original,
    "coverage": lambda s: s.modified,
}
NEED_X = frozenset({"original", "quality", "comprehensive", "precision"})
"""Measures that are undefined where nobody counted what matches nothing."""
DEFAULT = ("modified", "original", "comprehensive", "precision", "recall")


def peer_scores(
    choice: Choice, problems: Problems, *, rounding: Rounding = "half-up", clip: bool = False
) -> Iterator[tuple[str, str, PeerScore]]:
    """The score of every annotated peer, topic by topic. Several annotations of one peer are joined by majority."""
    annotated = majority(choice.on_units)
    unmatched = majority(take(choice.on_aspects, is_in(choice.on_aspects.aspect, {UNMATCHED})))
    counts: dict[tuple[str, str], dict[str, float]] = {}
    for judgment in annotated:
        summary = (judgment.topic, judgment.system)
        found = counts.setdefault(summary, {})
        if judgment.value is not None:
            where = f"topic {judgment.topic}, system {judgment.system}"
            degree = 0 < judgment.value < 1
            found[judgment.unit] = judgment.value if degree else _whole(judgment.value, where, ", and no degree")
    outside = {
        (j.topic, j.system): _whole(j.value, f"topic {j.topic}, system {j.system}, unmatched")
        for j in unmatched
        if j.value is not None
    }
    for summary, found in sorted(counts.items()):
        topic, system = summary
        pyramid, own = choice.pyramid_for(topic, system), choice.left_out(topic, system)
        unmatched_units = outside.get(summary)
        if unmatched_units is not None:  # X, all content of the peer, stays the same
            unmatched_units += sum(listed(found.get(unit, 0)) for unit in own)
        found = {unit: value for unit, value in found.items() if unit not in own}
        if lacking := len(pyramid.units) - len(found):
            problems.warning(
                f"topic {topic}, system {system}",
                f"{lacking} of {len(pyramid.units)} units are not judged and count as not expressed",
            )
        yield topic, system, PeerScore(pyramid, found, unmatched_units, rounding, clip)


def _whole(value: float, where: str, more: str = "") -> int:
    if not value.is_integer():
        raise InputError(Problem(where, f"value {value:g} is no count{more}"))
    return int(value)


def score(
    study: Study,
    *,
    measures: Sequence[str] | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    rounding: Rounding = "half-up",
    clip: bool = False,
) -> ScoreTable:
    """Score annotated peers against expert pyramids."""
    check_choice("rounding", rounding, _ROUND)
    names = tuple(measures or DEFAULT)
    for name in names:
        check_choice("pyramid measure", name, MEASURES)
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges)
    problems = Problems()
    problems.extend((*choice.notes, *choice.human_peers()))
    scores: list[Score] = []
    uncounted = 0
    for topic, system, peer in peer_scores(choice, problems, rounding=rounding, clip=clip):
        uncounted += peer.unmatched is None
        scores.extend(Score(topic, system, name, MEASURES[name](peer)) for name in names)
    if uncounted and (undefined := [name for name in names if name in NEED_X]):
        what = f"unmatched content was not counted, so these are undefined: {', '.join(undefined)}"
        problems.warning(f"{uncounted} summaries", what)
    problems.extend(unscored(study, scores))
    signature = Signature.of("pyramid", **choice.signed, xa=rounding, clip=clip, join="majority")
    return ScoreTable.of_summaries(scores, signature, problems)
