"""The report's first page, and all of it in one HTML file that needs nothing else.

What grows with the number of topics is gzipped JSON in base64: 60 systems on 100 topics stay below 10 MB, and the
browser unpacks and draws only what is viewed. Larger reports are folders (`folder`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any

from pyramidion.analysis.agreement import Agreement
from pyramidion.analysis.answer import Answer, Scatter, show
from pyramidion.report.collect import Findings, Scored
from pyramidion.report.data import (
    SCORE_COLUMNS,
    UNIT_COLUMNS,
    TopicSheet,
    compact_json,
    head,
    overview,
    score_rows,
    to_csv,
    topic_data,
    topic_sheets,
    unit_rows,
)
from pyramidion.report.names import MEANINGS, measure_title, method_title
from pyramidion.report.rendering import embedded_json, packed, render
from pyramidion.scoring.screening import MINIMUM, WorkerAgreement
from pyramidion.stats.rounding import rounded_beside

STYLE = ("shared/base.css", "report.css")
SCRIPT = (
    "shared/dom.js",
    "shared/format.js",
    "parcels.js",
    "data.js",
    "tables.js",
    "views.js",
    "overview.js",
    "main.js",
)
LETTER = re.compile(r"[a-z]\d*")
MOST_NOTES = 200
MOST_SCATTERS = 6
TESTS = {
    "mcnemar": "McNemar’s test on units, Holm-corrected",
    "permutation": "permutation test over topics, Holm-corrected",
    "tukey": "Tukey’s test on scores by topic",
}


def report_page(findings: Findings) -> str:
    """The whole report as the text of one page."""
    sheets = topic_sheets(findings)
    parcels = {f"topic-{place}": packed(compact_json(topic_data(sheet))) for place, sheet in enumerate(sheets)}
    parcels["file-scores.csv"] = packed(to_csv(SCORE_COLUMNS, score_rows(findings)))
    parcels["file-units.csv"] = packed(to_csv(UNIT_COLUMNS, chain.from_iterable(map(unit_rows, sheets))))
    return start_page(findings, sheets, parcels=parcels)


def start_page(
    findings: Findings,
    sheets: Sequence[TopicSheet],
    *,
    folder: str = "",
    parcels: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """What a report opens with. ``folder`` is where the topics' pages are; without it ``parcels`` has the topics."""
    shown = overview(findings, sheets)
    names = head(findings.systems, ((scored.method, scored.measure) for scored in findings.scored))
    return render(
        "report.html",
        style=STYLE,
        script=SCRIPT,
        simulated=findings.simulated,
        title=findings.heading("system"),
        version=findings.version,
        findings=findings,
        standings=[_standing(findings, scored) for scored in findings.scored],
        heatmap=shown["map"],
        has_pyramids=any(topic.units for topic in findings.topics),
        has_alphas=any(topic["alpha"] is not None for topic in shown["topics"]),
        agreements=[_agreement(findings, answer) for answer in findings.agreements],
        metrics=_metrics(findings),
        notes=findings.notes[:MOST_NOTES],
        head=embedded_json(names | ({"folder": folder} if folder else {})),
        parcels={"parcel-overview": packed(compact_json(shown)), **parcels},
        folder=folder,
        tests=TESTS,
        describe=method_title,
        title_of=measure_title,
        meanings=MEANINGS,
        show=show,
        letters_of=LETTER.findall,
    )


# -- what the sections show ----------------------------------------------------------------------------------------


def _standing(findings: Findings, scored: Scored) -> dict[str, Any]:
    """A ranking, and the ranks that the other methods give."""
    result = scored.ranking.result
    others = [other for other in findings.scored if other is not scored]
    return {
        "scored": scored,
        "result": result,
        "scale": nice_scale(*result.scale),
        "letters": sorted({letter for s in result.systems for letter in LETTER.findall(s.group)}),
        "ranks": {
            other.method: {s.system: s.rank for s in other.ranking.result.systems if s.mean is not None}
            for other in others
        },
    }


def _agreement(findings: Findings, answer: Answer[Agreement]) -> dict[str, Any]:
    judges = sorted(answer.result.judges, key=lambda judge: (judge.alpha is None, -(judge.alpha or 0.0)))
    workers = {worker.judge: worker for worker in findings.workers}
    screened = any(judge.judge in workers for judge in judges)
    excluded = [worker for worker in findings.workers if worker.excluded] if screened else []
    return {
        "answer": answer,
        "judges": judges,
        "scale": Scale(min([0.0, *(judge.alpha for judge in judges if judge.alpha is not None)]), 1.0),
        "screened": screened,
        "excluded": {worker.judge for worker in findings.workers if worker.excluded},
        "reasons": "; ".join(f"{w.judge} ({_percent(w)} over {w.pairs} pairs)" for w in excluded[:20]),
    }


def _percent(worker: WorkerAgreement) -> str:
    return rounded_beside(100 * (worker.agreement or 0.0), 100 * MINIMUM, digits=0) + "%"


def _metrics(findings: Findings) -> dict[str, Any] | None:
    """Correlations with the main measure, the strongest first, and a scatter plot of each of the first."""
    answer = findings.correlations
    if answer is None:
        return None
    at = {(c.metric, c.level, c.kind): c for c in answer.result.correlations}
    by_system = {metric: at[key] for metric in answer.result.metrics if (key := (metric, "system", "pearson")) in at}
    lows = (c.over_topics.low if c.over_topics else c.r for c in by_system.values() if c.r is not None)
    strongest = sorted(by_system.values(), key=lambda c: (c.r is None, -(c.r or 0.0)))
    drawn = (figure for figure in answer.figures if isinstance(figure, Scatter))
    scatters = dict(zip(answer.result.metrics, drawn, strict=True))
    return {
        "answer": answer,
        "scale": Scale(min([0.0, *lows]), 1.0),
        "rows": [
            (c, at.get((c.metric, "system", "spearman")), at.get((c.metric, "summary", "pearson"))) for c in strongest
        ],
        "plots": [ScatterDrawing(scatters[c.metric], c) for c in strongest[:MOST_SCATTERS]],
    }


# -- small pictures: places across are percentages, so they fit any width; colours are classes of the style ---------


@dataclass(frozen=True)
class Scale:
    """Maps numbers to percentages, with a margin at both ends."""

    low: float
    high: float

    def at(self, value: float) -> str:
        return f"{self.place(value):.2f}%"

    def place(self, value: float) -> float:
        span = self.high - self.low or 1.0
        return 2 + 96 * (min(max(value, self.low), self.high) - self.low) / span

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers across the scale."""
        span = self.high - self.low or 1.0
        raw = span / max(most - 1, 1)
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [round(n * step, 10) for n in range(first, math.floor(self.high / step + 1e-9) + 1)]

    def bar(self, value: float) -> list[float]:
        """Where a bar from 0 to a value begins and ends."""
        return sorted((self.place(max(self.low, 0.0)), self.place(value)))


def nice_scale(low: float, high: float) -> Scale:
    """A scale that ends at a round number above everything shown."""
    if high <= low:
        high = low + 1.0
    rough = Scale(low, high).ticks(5)
    step = rough[1] - rough[0] if len(rough) > 1 else high - low
    return Scale(
        math.floor(low / step + 1e-9) * step if low < 0 else 0.0, round(math.ceil(high / step - 1e-9) * step, 10)
    )


class ScatterDrawing:
    """Where the points of a scatter plot are. Its titles are outside of what they are drawn on."""

    width, height, left, top, bottom = 300, 236, 44, 26, 34

    def __init__(self, figure: Scatter, correlation: Any) -> None:
        self.figure = figure
        self.x, self.y = (_roomy(getattr(point, axis) for point in figure.points) for axis in ("x", "y"))
        self.r = "" if correlation is None or correlation.r is None else f"r = {correlation.r:.3f}"

    def across(self, value: float) -> float:
        return self.left + (self.width - self.left - 12) * (value - self.x.low) / (self.x.high - self.x.low)

    def up(self, value: float) -> float:
        floor = self.height - self.bottom
        return floor - (floor - self.top) * (value - self.y.low) / (self.y.high - self.y.low)


def _roomy(values: Iterable[float]) -> Scale:
    known = list(values) or [0.0, 1.0]
    low, high = min(known), max(known)
    room = (high - low or abs(high) or 1.0) * 0.08
    return Scale(min(low - room, 0.0) if low >= 0 and low < (high - low) else low - room, high + room)
