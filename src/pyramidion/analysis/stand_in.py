"""Can a model stand in for people: for those who judge units, for those who write them, or for both?

People's answers are the gold: the vote on each unit and the `lite` scores that follow from it, as `score` gives them.
Compared with them, wherever both are in the study:

- on units that both judged: how often the model says the same (present from a threshold on), Krippendorff's alpha of
  the two, precision and recall of "present", and the correlation of the model's value with the share of people who say
  "present". Beside it is what one of the people gets when compared with the vote of the others: no model can be
  expected to do better than that.
- on summaries and systems: the correlation of scores, the mean difference and the mean absolute difference. These need
  no common units, so that scores by units which a model wrote are compared as well. A system's mean is taken over the
  summaries that both sides have scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Estimate, Figure, Intervals, Point, Scatter, Table, count, listed
from pyramidion.errors import Problem, UsageError
from pyramidion.scoring import lite
from pyramidion.scoring.choice import choose
from pyramidion.stats.alpha import Alpha, alpha_interval
from pyramidion.stats.correlation import Kind, correlation
from pyramidion.study import Judgments, ScoreTable, Signature, Study
from pyramidion.study.judgments import PRESENT, group

Floats = NDArray[np.float64]
Cells = Mapping[tuple[str, str], float]
KINDS: tuple[Kind, ...] = ("pearson", "spearman", "kendall")
ONE_PERSON = "one person"


@dataclass(frozen=True, slots=True)
class UnitAgreement:
    """How one judge agrees with people about the units of a pyramid. ``missing`` are units that people judged and the
    judge left unanswered."""

    pyramid: str
    judge: str
    units: int
    missing: int
    same: float | None
    alpha: Alpha
    precision: float | None
    recall: float | None
    r: float | None


@dataclass(frozen=True, slots=True)
class LevelAgreement:
    """How scores by a pyramid and its judge agree with people's. ``level`` is summary or system; ``bias`` is the mean
    difference from people, ``error`` the mean absolute difference."""

    pyramid: str
    judge: str
    level: str
    n: int
    pearson: float | None
    spearman: float | None
    kendall: float | None
    bias: float
    error: float


@dataclass(frozen=True)
class StandIn:
    """``pyramid`` and ``people`` are whose scores the others are compared with."""

    pyramid: str
    people: str
    units: tuple[UnitAgreement, ...]
    scores: tuple[LevelAgreement, ...]

    def on_units(self, judge: str, pyramid: str | None = None) -> UnitAgreement:
        return next(each for each in self.units if (each.judge, each.pyramid) == (judge, pyramid or self.pyramid))

    def on_scores(self, judge: str, level: str, pyramid: str | None = None) -> LevelAgreement:
        wanted = judge, level, pyramid or self.pyramid
        return next(each for each in self.scores if (each.judge, each.level, each.pyramid) == wanted)


def stand_in(
    study: Study,
    *,
    models: Sequence[str] | None = None,
    judges: str | None = None,
    pyramid: str | None = None,
    threshold: float = PRESENT,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Answer[StandIn]:
    """Compare models with people, on units, summaries and systems.

    ``judges`` are the people (by default the crowd, or whoever judged), ``pyramid`` the one whose scores are the gold;
    ``models`` are the models to compare, by default all; ``threshold`` is the value from which a model says "present".
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"a threshold must be above 0 and at most 1, not {threshold}")
    known = study.judges_of("model")
    if unknown := sorted(set(models or ()) - known):
        raise UsageError(f"no model {unknown[0]!r} has judged here; there are: {listed(sorted(known)) or 'none'}")
    gold = choose(study, kind="crowd", pyramid=pyramid, judges=judges)
    if not len(gold.on_units) or set(gold.on_units.judge.present_names()) & known:
        raise UsageError(f"people have no judgments on pyramid {gold.pyramid}, so there is nothing to compare with")
    compared = [(name, model) for name in study.pyramid_names for model in sorted(models or known)]
    compared = [pair for pair in compared if len(_on_units(study, *pair))]
    if not compared:
        raise UsageError("the study has no judgments by models; save some with `pyramidion judge --save`")
    rng = np.random.default_rng(seed)
    units: list[UnitAgreement] = []
    peoples = [name for name in study.pyramid_names if name == gold.pyramid or _judged_by(study, name, gold.judges)]
    for name in peoples:
        vote = lite.take_vote(study, choose(study, kind="crowd", pyramid=name, judges=gold.judges), lite.VoteChoices())
        here = [model for where, model in compared if where == name]
        pairs = [(model, _side_by_side(vote, _on_units(study, name, model))) for model in here]
        pairs += [(ONE_PERSON, _one_and_others(vote.cast))] if pairs else []
        units += [_unit_agreement(name, who, pair, threshold, rng, resamples, confidence) for who, pair in pairs]
    first = _cells(lite.score(study, pyramid=gold.pyramid, judges=gold.judges))
    others = [(name, gold.judges, _cells(lite.score(study, pyramid=name, judges=gold.judges))) for name in peoples]
    others = [other for other in others if other[0] != gold.pyramid]
    others += [(name, model, _cells(_model_scores(study, name, model))) for name, model in compared]
    scores = [
        each for name, who, cells in others for each in _score_agreements(name, who, first, cells) if each is not None
    ]
    result = StandIn(gold.pyramid, gold.judges, tuple(units), tuple(scores))
    signature = Signature.of(
        "stand-in",
        pyramid=gold.pyramid,
        judges=gold.judges,
        models="/".join(dict.fromkeys(model for _, model in compared)),
        threshold=f"{threshold:g}",
        score="lite",
        resamples=resamples,
        seed=seed,
    )
    figures = tuple(_figures(result, first, others))
    notes = (*gold.notes, *_remarks(result))
    return Answer("stand-in", _sentence(result), _tables(result), signature, result, figures, notes)


def _on_units(study: Study, pyramid: str, model: str) -> Judgments:
    choice = choose(study, kind="model", pyramid=pyramid, judges=model)
    return choice.counted(choice.on_units)


def _judged_by(study: Study, pyramid: str, judges: str) -> bool:
    return len(choose(study, kind="crowd", pyramid=pyramid, judges=judges).on_units) > 0


def _model_scores(study: Study, pyramid: str, model: str) -> ScoreTable:
    """As `judge` scores: values are probabilities, or yes and no, of a single judge."""
    return lite.score(study, pyramid=pyramid, judges=model, aggregate="mean", min_agreement=None)


# -- units ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pair:
    """What is compared item by item: a judge's values with a decision (0 or 1), and with a share of people."""

    value: Floats
    decision: Floats
    share: Floats


def _side_by_side(vote: lite.CrowdVote, model: Judgments) -> _Pair:
    """The model's value and the people's vote on every unit in a summary that people judged."""
    present, cast = vote.present, vote.cast
    joined = present + cast + model
    groups = group(joined.topic.ranks(), joined.system.ranks(), joined.unit.ranks())
    item, size = groups.of_row, len(groups)
    value, decision = np.full(size, np.nan), np.full(size, np.nan)
    decision[item[: len(present)]] = present.value
    value[item[len(present) + len(cast) :]] = model.value
    share = _means(item[len(present) : len(present) + len(cast)], np.minimum(cast.value, 1.0), size)
    judged = ~np.isnan(decision)
    return _Pair(value[judged], (decision[judged] >= PRESENT).astype(np.float64), share[judged])


def _one_and_others(cast: Judgments) -> _Pair:
    """Every person's answer, and the vote of the others on the same item; ties are "absent", as in scoring."""
    answered = cast.take(~np.isnan(cast.value))
    item = group(answered.topic.ranks(), answered.system.ranks(), answered.unit.ranks()).of_row
    value = (answered.value >= PRESENT).astype(np.float64)
    size = int(item.max()) + 1 if len(item) else 0
    others = np.bincount(item, minlength=size)[item] - 1
    yes = np.bincount(item, weights=value, minlength=size)[item] - value
    several = others > 0
    value, yes, others = value[several], yes[several], others[several]
    return _Pair(value, (2 * yes > others).astype(np.float64), yes / np.maximum(others, 1))


def _means(item: NDArray[np.int64], value: Floats, size: int) -> Floats:
    known = ~np.isnan(value)
    number = np.bincount(item[known], minlength=size)
    total = np.bincount(item[known], weights=value[known], minlength=size)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _unit_agreement(
    pyramid: str,
    judge: str,
    pair: _Pair,
    threshold: float,
    rng: np.random.Generator,
    resamples: int,
    confidence: float,
) -> UnitAgreement:
    answered = ~np.isnan(pair.value)
    value, decision = pair.value[answered], pair.decision[answered]
    says = value >= (PRESENT if judge == ONE_PERSON else threshold)
    is_present = decision > 0
    item = np.tile(np.arange(len(says)), 2)
    both = np.concatenate([says.astype(np.float64), decision])
    alpha = alpha_interval(item, both, distance="nominal", rng=rng, resamples=resamples, confidence=confidence)
    hits = int((says & is_present).sum())
    return UnitAgreement(
        pyramid,
        judge,
        len(value),
        int((~answered).sum()),
        float((says == is_present).mean()) if len(value) else None,
        alpha,
        hits / int(says.sum()) if says.any() else None,
        hits / int(is_present.sum()) if is_present.any() else None,
        correlation(value, pair.share[answered]).r,
    )


# -- summaries and systems -----------------------------------------------------------------------------------------


def _cells(table: ScoreTable) -> Cells:
    return {key: value for key, value in table.per_summary("lite").items() if value is not None}


def _score_agreements(pyramid: str, judge: str, gold: Cells, other: Cells) -> Iterator[LevelAgreement | None]:
    shared = sorted(gold.keys() & other.keys())
    yield _score_agreement(pyramid, judge, "summary", [gold[key] for key in shared], [other[key] for key in shared])
    means = [_system_means({key: cells[key] for key in shared}) for cells in (gold, other)]
    yield _score_agreement(pyramid, judge, "system", *(list(each.values()) for each in means))


def _system_means(cells: Cells) -> dict[str, float]:
    held: dict[str, list[float]] = {}
    for (_, system), value in sorted(cells.items()):
        held.setdefault(system, []).append(value)
    return {system: fsum(values) / len(values) for system, values in sorted(held.items())}


def _score_agreement(
    pyramid: str, judge: str, level: str, gold: Sequence[float], other: Sequence[float]
) -> LevelAgreement | None:
    if not gold:
        return None
    gaps = np.asarray(other) - np.asarray(gold)
    pearson, spearman, kendall = (correlation(gold, other, kind).r for kind in KINDS)
    bias, error = float(gaps.mean()), float(np.abs(gaps).mean())
    return LevelAgreement(pyramid, judge, level, len(gold), pearson, spearman, kendall, bias, error)


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: StandIn) -> str:
    mine = [each for each in result.units if each.pyramid == result.pyramid and each.judge != ONE_PERSON]
    parts = []
    if any(each.same is not None for each in mine):
        best = max(mine, key=lambda each: each.same or 0.0)
        parts.append(
            f"On {count(best.units, 'unit')}, {best.judge} says the same as people in {best.same:.1%} of cases"
        )
        person = next((each for each in result.units if each.judge == ONE_PERSON and each.same is not None), None)
        parts += [f"one person says the same as the others in {person.same:.1%}"] if person else []
    systems = [each for each in result.scores if each.level == "system" and each.pearson is not None]
    if systems:
        found = max(systems, key=lambda each: each.pearson or 0.0)
        text = f"scores by {found.judge} on pyramid {found.pyramid} correlate with people's at {found.pearson:.3f}"
        parts.append(f"{text} over {count(found.n, 'system')}")
    sentence = "; ".join(parts) or "no system was scored by models and by people"
    return f"{sentence[0].upper()}{sentence[1:]}."


def _tables(result: StandIn) -> tuple[Table, ...]:
    units = Table(
        "Units: judges compared with the people's vote",
        ("units by", "judge", "units", "missing", "same answer", "alpha", "low", "high", "precision", "recall", "r"),
        tuple(
            (
                each.pyramid,
                each.judge,
                each.units,
                each.missing,
                each.same,
                each.alpha.value,
                each.alpha.interval.low if each.alpha.interval else None,
                each.alpha.interval.high if each.alpha.interval else None,
                each.precision,
                each.recall,
                each.r,
            )
            for each in result.units
        ),
        f"{ONE_PERSON}: each person compared with the vote of the others. r: with the share of people who say present.",
        naming=2,
    )
    scores = Table(
        f"Scores compared with those by {result.people} on pyramid {result.pyramid}",
        ("units by", "judged by", "level", "n", "pearson", "spearman", "kendall", "bias", "error"),
        tuple(
            (e.pyramid, e.judge, e.level, e.n, e.pearson, e.spearman, e.kendall, e.bias, e.error) for e in result.scores
        ),
        "bias: the mean difference from people's scores; error: the mean absolute difference.",
        naming=3,
    )
    return (*([units] if result.units else []), scores)


def _remarks(result: StandIn) -> Iterator[Problem]:
    for each in result.units:
        if each.missing:
            what = f"{count(each.missing, 'unit')} that people judged {'is' if each.missing == 1 else 'are'} unanswered"
            yield Problem(f"{each.judge} on pyramid {each.pyramid}", what, "warning")
    if few := sorted({each.n for each in result.scores if each.level == "system" and each.n < 5}):
        yield Problem("systems", f"a correlation over {few[0]} of them says little", "warning")


def _figures(result: StandIn, gold: Cells, others: Sequence[tuple[str, str, Cells]]) -> Iterator[Figure]:
    rows = tuple(
        Estimate(
            f"{each.judge} on {each.pyramid}",
            each.alpha.value,
            each.alpha.interval.low if each.alpha.interval else None,
            each.alpha.interval.high if each.alpha.interval else None,
        )
        for each in result.units
    )
    if rows:
        yield Intervals("Agreement with people on units", "alpha", rows)
    for pyramid, judge, cells in others:
        shared = gold.keys() & cells.keys()
        means = [_system_means({key: side[key] for key in shared}) for side in (gold, cells)]
        points = tuple(Point(name, value, means[1][name]) for name, value in means[0].items())
        if points:
            title = f"Systems by people and by {judge} on {pyramid}"
            yield Scatter(title, f"{result.people} on {result.pyramid}", f"{judge} on {pyramid}", points, diagonal=True)
