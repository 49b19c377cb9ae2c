"""Whether to believe it: agreement of judges, correlation of metrics, and how everything was made."""

from __future__ import annotations

from typing import Any

from pyramidion.analysis.agreement import Agreement
from pyramidion.analysis.answer import Answer, Scatter, Table
from pyramidion.report import drawing
from pyramidion.report.cells import NAMES, filtering, heading, method_name, number, table_of
from pyramidion.report.findings import Findings
from pyramidion.report.markup import Child, Markup, element
from pyramidion.scoring.screening import MINIMUM, WorkerAgreement
from pyramidion.stats.rounding import rounded_beside

MOST_NOTES = 200
MOST_SCATTERS = 6


def agreement(findings: Findings) -> list[Child]:
    body: list[Child] = []
    for answer in findings.agreements:
        body += [element("p", answer.sentence, class_="says", dir="auto"), _judges(findings, answer)]
    if not body and findings.workers:
        body.append(element("p", "Nobody shared an item, so agreement is undefined.", class_="says"))
    return body


def _judges(findings: Findings, answer: Answer[Agreement]) -> Markup:
    screened = {w.judge: w for w in findings.workers}
    here = any(judge.judge in screened for judge in answer.result.judges)
    ordered = sorted(answer.result.judges, key=lambda j: (j.alpha is None, -(j.alpha or 0.0)))
    low = min([0.0, *(j.alpha for j in ordered if j.alpha is not None)])
    scale = drawing.Scale(low, 1.0)
    rows = []
    for j in ordered:
        worker = screened.get(j.judge)
        out = worker is not None and worker.excluded
        rows.append(
            element(
                "tr",
                element("th", j.judge, scope="row", dir="auto"),
                element("td", drawing.interval(scale, j.alpha, mark=answer.result.alpha.value), class_="chart"),
                number(j.alpha),
                number(j.agreement),
                number(j.mean),
                number(j.answers),
                element("td", element("span", "left out", class_="badge bad") if out else "kept") if here else None,
                class_="out" if out else None,
            )
        )
    head = element(
        "tr",
        heading("judge"),
        heading(drawing.axis(scale), sort=False, class_="chart", aria_label="alpha, drawn"),
        heading("alpha", class_="number"),
        heading("same answer", class_="number"),
        heading("mean", class_="number"),
        heading("answers", class_="number"),
        heading("screening") if here else None,
    )
    table = element("table", element("thead", head), element("tbody", rows), class_="judges sortable")
    excluded = [w for w in findings.workers if w.excluded] if here else []
    why = "; ".join(f"{w.judge} ({_percent(w)} over {w.pairs} pairs)" for w in excluded[:20])
    return element(
        "div",
        filtering("Filter judges") if len(rows) > 10 else None,
        element("div", table, class_="table-wrap"),
        element("p", f"Left out for too little agreement with others: {why}.", class_="small", dir="auto")
        if excluded
        else None,
    )


def _percent(worker: WorkerAgreement) -> str:
    return rounded_beside(100 * (worker.agreement or 0.0), 100 * MINIMUM, digits=0) + "%"


# -- metrics -------------------------------------------------------------------------------------------------------


def metrics(findings: Findings) -> list[Child]:
    answer = findings.correlations
    if answer is None:
        return []
    known = answer.result
    metrics = list(dict.fromkeys(c.metric for c in known.correlations))
    at = {(c.metric, c.level, c.kind): c for c in known.correlations}
    held = [at[m, "system", "pearson"] for m in metrics if (m, "system", "pearson") in at]
    low = min([0.0, *(c.over_topics.low if c.over_topics else c.r for c in held if c.r is not None)])
    scale = drawing.Scale(low, 1.0)
    rows = []
    for c in sorted(held, key=lambda c: (c.r is None, -(c.r or 0.0))):
        over = c.over_topics
        ends = (over.low, over.high) if over else (None, None)
        rest = [at.get((c.metric, *key)) for key in (("system", "spearman"), ("summary", "pearson"))]
        rows.append(
            element(
                "tr",
                element("th", c.metric, scope="row", dir="auto"),
                element("td", drawing.interval(scale, c.r, *ends), class_="chart"),
                number(c.r),
                element("td", f"{ends[0]:.3f} – {ends[1]:.3f}" if over else "", class_="number muted wide-only"),
                [number(found.r if found else None) for found in rest],
            )
        )
    head = element(
        "tr",
        heading("measure"),
        heading(drawing.axis(scale), sort=False, class_="chart", aria_label="Pearson r, drawn"),
        heading("Pearson r", class_="number"),
        heading("95% interval", sort=False, class_="number wide-only"),
        heading("Spearman ρ", class_="number"),
        heading("r within topics", class_="number"),
    )
    table = element("table", element("thead", head), element("tbody", rows), class_="sortable")
    plots = [f for f in answer.figures if isinstance(f, Scatter)]
    order = [c.metric for c in sorted(held, key=lambda c: -(c.r or 0.0))]
    plots.sort(key=lambda f: order.index(f.x) if f.x in order else len(order))
    return [
        element("p", answer.sentence, class_="says", dir="auto"),
        element("div", table, class_="table-wrap"),
        element("div", [_scatter(f, at) for f in plots[:MOST_SCATTERS]], class_="plots"),
    ]


def _scatter(figure: Scatter, at: dict[tuple[str, str, str], Any]) -> Markup:
    found = at.get((figure.x, "system", "pearson"))
    r = "" if found is None or found.r is None else f"r = {found.r:.3f}"
    says = f"Scatter plot of {figure.y} over {figure.x}, {len(figure.points)} systems. {r}"
    shown = Table("", ("system", figure.x, figure.y), tuple((p.name, p.x, p.y) for p in figure.points))
    return element(
        "figure",
        drawing.scatter(figure, says),
        element("figcaption", element("b", figure.x), f" {r}", class_="small"),
        element("details", element("summary", "Table"), table_of(shown), class_="small"),
    )


# -- how it was made -----------------------------------------------------------------------------------------------


def how_made(findings: Findings) -> list[Child]:
    protocol = [element("div", element("dt", fact.name), element("dd", fact.value)) for fact in findings.protocol]
    scored = [
        element(
            "div",
            element(
                "dt", method_name(s.method), element("span", f" {NAMES.get(s.method, ('', ''))[1]}", class_="muted")
            ),
            element("dd", element("code", str(s.table.signature)), element("code", str(s.ranking.signature))),
        )
        for s in findings.scored
    ]
    notes = [element("li", str(note), dir="auto") for note in findings.notes[:MOST_NOTES]]
    left = len(findings.notes) - len(notes)
    return [
        element("dl", protocol, scored, class_="protocol"),
        element(
            "details",
            element("summary", f"{len(findings.notes):,} notes on what was missing or left out"),
            element("ul", notes, element("li", f"… and {left:,} more") if left > 0 else None, class_="small"),
        )
        if notes
        else None,
        element(
            "div",
            element("span", "Data behind this page:", class_="muted"),
            [
                element("button", name, type="button", class_="button small", data_file=file)
                for name, file in (("Scores (CSV)", "scores.csv"), ("Units (CSV)", "units.csv"))
            ],
            element("button", "Everything (JSON)", type="button", class_="button small", data_file="report.json"),
            class_="actions downloads",
        ),
    ]
