"""How far is each judge from the experts, and what would the scores be without that? Gillick and Liu 2010, §5.

They conclude that judges should score summaries which experts have scored. For every judge: bias (the mean difference
from the experts), scale (how much the judge's score rises when the experts' rises by 1) and correlation. Adjusted
scores are the experts' score that the judge's score predicts: a line for each judge, fitted by least squares, or only
the bias removed ("shift") if a judge shares too few items with the experts. The error is estimated by leaving each item
out, so that it holds for items no expert has seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Estimate, Figure, Intervals, Point, Scatter, Table, count
from pyramidion.analysis.inputs import choose_measures, measures_of
from pyramidion.analysis.ratings import Ratings, ratings_of
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.scoring.choice import choose, judge_ids
from pyramidion.scoring.screening import screen
from pyramidion.stats.correlation import correlation
from pyramidion.study import Judgments, Score, ScoreTable, Signature, Study

Adjust = Literal["line", "shift"]
MIN_ITEMS = 5
"""With fewer shared items a line would fit noise; only the bias is removed."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """``slope`` and ``intercept`` turn the judge's score into the experts'; ``error`` is the mean absolute error of
    the judge's unadjusted scores, ``adjusted_error`` with each item left out in turn."""

    judge: str
    items: int
    bias: float | None
    scale: float | None
    r: float | None
    error: float | None
    adjusted_error: float | None
    slope: float
    intercept: float


@dataclass(frozen=True)
class Calibration:
    measure: str
    judges: tuple[JudgeCalibration, ...]
    adjusted: ScoreTable
    error: float | None
    adjusted_error: float | None


def calibrate(
    study: Study,
    gold: ScoreTable | None = None,
    *,
    aspect: str | None = None,
    experts: str = "expert",
    gold_measure: str | None = None,
    adjust: Adjust = "line",
) -> Answer[Calibration]:
    """Calibrate judges of an aspect against the experts in the study, or against a table of expert scores."""
    check_choice("adjust", adjust, get_args(Adjust))
    data = ratings_of(study, aspect, judges="all")  # a model may be calibrated, too
    target, known = _expert_scores(study, data, gold, experts, gold_measure)
    judged = [code for code, name in enumerate(data.judges) if gold is not None or name not in known]
    if not judged:
        raise UsageError(f"every judge of {data.measure} is one of the experts; name others with experts")
    found = [_judge(data, code, target, adjust) for code in judged]
    if all(not judge.items for judge in found):
        raise UsageError(f"no judge rated {data.measure} of a summary that the experts scored")
    adjusted = _adjusted(data, judged, found)
    before, after = (_pooled(found, part) for part in ("error", "adjusted_error"))
    result = Calibration(data.measure, tuple(found), adjusted, before, after)
    made = Signature.of("calibrate", aspect=data.measure, experts="table" if gold else experts, adjust=adjust)
    return Answer(
        "calibrate",
        _sentence(result),
        _tables(result),
        made,
        result,
        tuple(_figures(result, data, target)),
        tuple(_notes(found)),
    )


def _expert_scores(
    study: Study, data: Ratings, gold: ScoreTable | None, experts: str, measure: str | None
) -> tuple[Floats, frozenset[str]]:
    """The experts' score of the summary of each row, NaN where there is none; and who they are."""
    if gold is not None:
        known = measures_of(gold)
        chosen = choose_measures(
            known, [measure or (data.measure if data.measure in gold.measures else known[0].name)]
        )[0]
        cells = gold.per_summary(chosen.measure)
        held = [cells.get((data.topics[t], data.systems[s])) for t, s in zip(data.topic, data.system, strict=True)]
        return np.array([np.nan if value is None else value for value in held]), frozenset()
    ids = judge_ids(study, experts)
    expert = np.isin(data.judge, [code for code, name in enumerate(data.judges) if name in ids])
    if not expert.any():
        raise UsageError(
            f"nobody among {experts} rated {data.measure}; give expert scores as a table, or name the experts"
        )
    items = int(data.item.max()) + 1
    total = np.bincount(data.item[expert], weights=data.value[expert], minlength=items)
    number = np.bincount(data.item[expert], minlength=items)
    mean = np.divide(total, number, out=np.full(items, np.nan), where=number > 0)
    return mean[data.item], ids


def _judge(data: Ratings, code: int, target: Floats, adjust: Adjust) -> JudgeCalibration:
    rows = (data.judge == code) & ~np.isnan(target)
    own, expert = data.value[rows], target[rows]
    name = data.judges[code]
    if not len(own):
        return JudgeCalibration(name, 0, None, None, None, None, None, 1.0, 0.0)
    bias = float((own - expert).mean())
    scale = _slope(expert, own)
    slope, intercept = 1.0, -bias
    residual = expert - (own - bias)
    leverage = np.full(len(own), 1 / len(own))
    backwards = _slope(own, expert)
    if adjust == "line" and backwards is not None and len(own) >= MIN_ITEMS:
        slope, intercept = backwards, float(expert.mean() - backwards * own.mean())
        residual = expert - (slope * own + intercept)
        leverage = leverage + (own - own.mean()) ** 2 / ((own - own.mean()) ** 2).sum()
    left_out = float(np.abs(residual / np.maximum(1 - leverage, 1e-9)).mean()) if len(own) > 1 else None
    error = float(np.abs(own - expert).mean())
    return JudgeCalibration(name, len(own), bias, scale, correlation(own, expert).r, error, left_out, slope, intercept)


def _slope(x: Floats, y: Floats) -> float | None:
    spread = ((x - x.mean()) ** 2).sum()
    return float(((x - x.mean()) * (y - y.mean())).sum() / spread) if len(x) > 1 and spread > 0 else None


def _adjusted(data: Ratings, judged: list[int], found: list[JudgeCalibration]) -> ScoreTable:
    """Every summary's mean of adjusted scores, over the judges that could be calibrated."""
    usable = {code: judge for code, judge in zip(judged, found, strict=True) if judge.items}
    cells: dict[tuple[str, str], list[float]] = {}
    for code, judge in usable.items():
        for row in np.flatnonzero(data.judge == code):
            key = (data.topics[data.topic[row]], data.systems[data.system[row]])
            cells.setdefault(key, []).append(judge.slope * float(data.value[row]) + judge.intercept)
    scores = [
        Score(topic, system, data.measure, float(np.mean(held))) for (topic, system), held in sorted(cells.items())
    ]
    return ScoreTable.of_summaries(scores, Signature.of("calibrated", aspect=data.measure, average="mean"))


def _pooled(found: list[JudgeCalibration], part: str) -> float | None:
    held = [(getattr(judge, part), judge.items) for judge in found if getattr(judge, part) is not None]
    total = sum(items for _, items in held)
    return sum(value * items for value, items in held) / total if total else None


def _notes(found: list[JudgeCalibration]) -> Iterator[Problem]:
    for judge in found:
        if not judge.items:
            yield Problem(f"judge {judge.judge}", "shares no summary with the experts; left out", "warning")
        elif judge.items < MIN_ITEMS:
            what = (
                f"shares only {count(judge.items, 'summary', 'summaries')} with the experts; only the bias is removed"
            )
            yield Problem(f"judge {judge.judge}", what, "warning")
        elif judge.r is not None and judge.r <= 0:
            what = (
                f"does not follow the experts at all (r = {judge.r:.2f}): adjusted scores are little more than a mean"
            )
            yield Problem(f"judge {judge.judge}", what, "warning")


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: Calibration) -> str:
    known = [judge for judge in result.judges if judge.bias is not None]
    worst = max(known, key=lambda judge: abs(judge.bias or 0.0))
    text = (
        f"{count(len(known), 'judge')} of {result.measure} compared with experts: the mean error is {result.error:.2f}"
    )
    if result.adjusted_error is not None:
        text += f", {result.adjusted_error:.2f} after adjusting"
    direction = "above" if (worst.bias or 0) > 0 else "below"
    return f"{text}. {worst.judge} is furthest off: {abs(worst.bias or 0.0):.2f} {direction} the experts."


def _tables(result: Calibration) -> tuple[Table, ...]:
    ranking = result.adjusted.ranking(result.measure)
    return (
        Table(
            f"Judges of {result.measure} against experts",
            ("judge", "items", "bias", "scale", "r", "error", "adjusted error"),
            tuple((j.judge, j.items, j.bias, j.scale, j.r, j.error, j.adjusted_error) for j in result.judges),
            "bias: mean of judge minus expert. scale: how much the judge's score rises when the experts' rises "
            "by 1. error: mean absolute difference; adjusted: on items left out of the fit.",
        ),
        Table(f"Adjusted {result.measure}", ("system", "mean"), tuple(ranking)),
    )


def _figures(result: Calibration, data: Ratings, target: Floats) -> Iterator[Figure]:
    yield Intervals(
        f"Bias of judges of {result.measure}",
        "judge minus expert",
        tuple(Estimate(j.judge, j.bias) for j in result.judges if j.items),
        mark=0.0,
    )
    known = {judge.judge for judge in result.judges}
    rows = [r for r in np.flatnonzero(~np.isnan(target)) if data.judges[data.judge[r]] in known]
    points = tuple(Point(data.judges[data.judge[r]], float(target[r]), float(data.value[r])) for r in rows)
    yield Scatter(f"{result.measure}: judges and experts", "experts", "judge", points, diagonal=True)


# ----------------------------------------------------------------------
# Who answers carelessly? How far each worker is from a model judge, beside how far from the other workers.
#
# The agreement filter (Shapira et al. 2019, section 3) needs several people on the same task; a model judges every
# task, so that a worker who works alone can be checked as well.

SUSPECT, LEAST_SPREAD = 3.0, 0.03
"""A worker this many spreads above the crowd's median is suspect. Small crowds agree by chance, hence a minimum
spread."""


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """``excess``: how much further a worker's answers are from the model's probabilities than a careful person's
    would be if the model were right about them; a coin's is up to .5. ``deviation`` is how many spreads it is above
    the crowd's median, because a model that errs on these texts errs for everybody. ``agreement`` is with the other
    workers, None for one who shared no task."""

    worker: str
    answers: int
    excess: float | None
    deviation: float | None
    agreement: float | None
    pairs: int

    @property
    def suspect(self) -> bool:
        return self.deviation is not None and self.deviation > SUSPECT


def check_workers(study: Study, judge: str, *, pyramid: str) -> tuple[WorkerCheck, ...]:
    """Every crowd worker, from the most suspect to the least. ``judge`` is a judge with judgments in the study."""
    crowd = choose(study, kind="crowd", pyramid=pyramid, judges="crowd").on_units
    model = choose(study, kind="model", pyramid=pyramid, judges=judge).on_units
    if not len(crowd):
        raise UsageError(f"no crowd worker judged pyramid {pyramid}, so nobody can be checked")
    excesses = _excesses(crowd, model)
    middle, spread = _middle([found.mean for found in excesses.values()])
    agreements = {worker.judge: worker for worker in screen(crowd, minimum=0.0).workers}
    found = []
    for worker in crowd.judge.present_names():
        excess, known = excesses.get(worker), agreements[worker]
        found.append(
            WorkerCheck(
                worker,
                excess.answers if excess else 0,
                excess.mean if excess else None,
                (excess.mean - middle) / spread if excess else None,
                known.agreement,
                known.pairs,
            )
        )
    return tuple(sorted(found, key=lambda check: math.inf if check.excess is None else -check.excess))


class _Excess(NamedTuple):
    answers: int
    mean: float


def _excesses(crowd: Judgments, model: Judgments) -> dict[str, _Excess]:
    """A careful person says "present" with probability p, so |answer - p| is 2p(1-p) on average; the rest is excess."""
    said = {(j.topic, j.system, j.unit): j.value for j in model if j.value is not None}
    found: dict[str, list[float]] = {}
    for judgment in crowd:
        p = said.get((judgment.topic, judgment.system, judgment.unit))
        if p is not None and judgment.value is not None:
            excess = abs(min(judgment.value, 1.0) - p) - 2 * p * (1 - p)
            found.setdefault(judgment.judge, []).append(excess)
    return {worker: _Excess(len(each), math.fsum(each) / len(each)) for worker, each in found.items()}


def _middle(means: list[float]) -> tuple[float, float]:
    """The median, and a spread that a few careless workers do not widen: 1.4826 x the median distance from it."""
    if not means:
        return 0.0, LEAST_SPREAD
    middle = median(means)
    return middle, max(1.4826 * median(abs(mean - middle) for mean in means), LEAST_SPREAD)
