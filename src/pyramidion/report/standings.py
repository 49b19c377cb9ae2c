"""How systems stand: the ranking by every method, the map of systems and topics, the topics with their pyramids."""

from __future__ import annotations

from collections.abc import Sequence

from pyramidion.analysis.answer import Heatmap
from pyramidion.report import drawing
from pyramidion.report.cells import filtering, heading, link, method_name, number
from pyramidion.report.findings import Findings, Scored
from pyramidion.report.markup import Child, Markup, element
from pyramidion.scoring.explain import ShownTopic

NUMBERS_FIT = 14
"""So many topics have room for numbers in the heat map's cells."""


def rankings(findings: Findings) -> list[Child]:
    panels = [_ranking(findings, scored, place) for place, scored in enumerate(findings.scored)]
    tabs = [
        element(
            "button",
            method_name(scored.method),
            type="button",
            data_panel=f"rank-{place}",
            aria_pressed="true" if place == 0 else "false",
        )
        for place, scored in enumerate(findings.scored)
    ]
    chooser = element("div", tabs, class_="tabs", role="group", aria_label="Rank by") if len(tabs) > 1 else None
    return [chooser, *panels]


def _ranking(findings: Findings, scored: Scored, place: int) -> Markup:
    result = scored.ranking.result
    scale = drawing.nice_scale(*result.scale)
    others = [other for other in findings.scored if other is not scored]
    ranks = {
        other.method: {s.system: s.rank for s in other.ranking.result.systems if s.mean is not None} for other in others
    }
    letters = sorted({letter for s in result.systems for letter in s.group})
    rows = []
    for s in result.systems:
        low, high = (s.interval.low, s.interval.high) if s.interval else (None, None)
        rows.append(
            element(
                "tr",
                element("td", s.rank, class_="number rank"),
                element("th", s.system, scope="row", dir="auto"),
                element("td", drawing.interval(scale, s.mean, low, high), class_="chart"),
                number(s.mean),
                element("td", f"{low:.3f} – {high:.3f}" if low is not None else "", class_="number muted wide-only"),
                element("td", _letters(s.group, letters), class_="letters", data_v=s.group),
                [_other_rank(ranks[other.method].get(s.system)) for other in others],
            )
        )
    head = element(
        "tr",
        heading("#", class_="number"),
        heading("system"),
        heading(drawing.axis(scale), sort=False, class_="chart", aria_label=f"{result.measure}, drawn"),
        heading(result.measure, class_="number"),
        heading("95% interval", sort=False, class_="number wide-only"),
        heading("group"),
        [heading(f"by {method_name(o.method)}", class_="number other") for o in others],
    )
    table = element("table", element("thead", head), element("tbody", rows), class_="ranking sortable")
    how = "Intervals: other topics of this kind. "
    if result.test:
        how += f"Systems that share a letter do not differ significantly ({_test_name(result.test)}, level 0.05)."
    return element(
        "div",
        element("p", scored.ranking.sentence, class_="says", dir="auto") if place else None,
        filtering("Filter systems") if len(rows) > 10 else None,
        element("div", table, class_="table-wrap"),
        element("p", how, class_="muted small"),
        id=f"rank-{place}",
        class_="panel",
    )


def _test_name(test: str) -> str:
    return {
        "mcnemar": "McNemar’s test on content units, Holm-corrected",
        "permutation": "permutation test over topics, Holm-corrected",
        "tukey": "Tukey’s test on scores by topic",
    }.get(test, test)


def _letters(group: str, letters: Sequence[str]) -> Child:
    """Every letter has a place of its own, so that groups can be seen as columns."""
    if len(letters) > 12:
        return group
    return [element("span", x, class_="on") if x in group else element("span", class_="off") for x in letters]


def _other_rank(rank: int | None) -> Markup:
    return element("td", "–" if rank is None else f"{rank}.", class_="number other muted", data_v=rank)


# -- heat map ------------------------------------------------------------------------------------------------------


def score_map(findings: Findings) -> list[Child]:
    maps = [f for f in findings.main.ranking.figures if isinstance(f, Heatmap)]
    if not maps or not maps[0].columns:
        return []
    figure = maps[0]
    wide = len(figure.columns) > NUMBERS_FIT
    head = element(
        "tr",
        heading("system"),
        [heading(element("span", column, dir="auto"), class_="topic") for column in figure.columns],
        heading("mean", class_="number"),
    )
    means = {s.system: s.mean for s in findings.main.ranking.result.systems}
    rows = [
        element(
            "tr",
            element("th", system, scope="row", dir="auto"),
            [_cell(figure, value, wide) for value in values],
            number(means.get(system)),
        )
        for system, values in zip(figure.rows, figure.values, strict=True)
    ]
    table = element(
        "table",
        element("thead", head),
        element("tbody", rows),
        class_=f"heat sortable{' dense' if wide else ''}",
        role="grid",
        aria_label=f"{figure.label} of every system on every topic",
    )
    return [
        element("p", f"Each cell is one summary’s score ({figure.label}). Choose one to read it.", class_="says"),
        element("div", table, class_="table-wrap"),
        element(
            "div",
            _legend(figure),
            element("button", "Show numbers", type="button", class_="button small quiet numbers") if wide else None,
            element("output", class_="muted small", id="cell-says"),
            class_="under",
        ),
    ]


def _cell(figure: Heatmap, value: float | None, wide: bool) -> Markup:
    if value is None:
        return element("td", None if wide else "–", class_="none", aria_label="no score", data_v="")
    shown = f"{value:.2f}"
    step = f"h{drawing.heat_step(value, figure.low, figure.high)}"
    if wide:
        return element("td", class_=step, aria_label=shown, data_v=shown)
    return element("td", shown, class_=step, data_v=f"{value:.6g}")


def _legend(figure: Heatmap) -> Markup:
    steps = [element("span", class_=f"h{step}") for step in range(drawing.STEPS)]
    return element(
        "div",
        element("span", f"{figure.low:g}"),
        element("span", steps, class_="ramp", aria_hidden="true"),
        element("span", f"{figure.high:.2g}"),
        class_="legend small muted",
    )


# -- topics --------------------------------------------------------------------------------------------------------


def topics(findings: Findings) -> list[Child]:
    alphas = {t.topic: t.alpha.value for answer in findings.agreements[:1] for t in answer.result.topics}
    with_pyramid = any(topic.units for topic in findings.topics)
    head = element(
        "tr",
        heading("topic"),
        heading("pyramid", sort=False) if with_pyramid else None,
        heading("units", class_="number") if with_pyramid else None,
        heading(f"mean {findings.main.measure}", class_="number"),
        heading("best system"),
        heading("alpha", class_="number") if alphas else None,
    )
    rows = [_topic_row(findings, topic, alphas, with_pyramid) for topic in findings.topics]
    table = element("table", element("thead", head), element("tbody", rows), class_="topics sortable")
    says = "A block is a content unit, a row a tier: the top row is in the most references. "
    says += "The darker a block, the more systems express it."
    return [
        element("p", says, class_="says") if with_pyramid else None,
        filtering("Filter topics") if len(rows) > 10 else None,
        element("div", table, class_="table-wrap"),
    ]


def _topic_row(findings: Findings, topic: ShownTopic, alphas: dict[str, float | None], with_pyramid: bool) -> Markup:
    held = {s: v for s in findings.systems if (v := findings.main_scores.get((topic.id, s))) is not None}
    best = max(held, key=lambda system: held[system], default=None)
    return element(
        "tr",
        element(
            "th",
            element("a", topic.id, href=link("topic", topic.id), dir="auto"),
            element("span", topic.title, class_="muted small title", dir="auto") if topic.title else None,
            scope="row",
        ),
        element("td", _pyramid(findings, topic), class_="glyph") if with_pyramid else None,
        number(len(topic.units)) if with_pyramid else None,
        number(sum(held.values()) / len(held) if held else None),
        element("td", element("a", best, href=link("summary", topic.id, best), dir="auto") if best else "–"),
        number(alphas.get(topic.id)) if alphas else None,
    )


def _pyramid(findings: Findings, topic: ShownTopic) -> Child:
    if not topic.units:
        return "–"
    figure = findings.pyramid_figure(topic)
    counts = ", ".join(f"{len(tier.shares)} of weight {tier.weight}" for tier in figure.tiers)
    return drawing.pyramid(figure, f"{figure.title}: {counts}")
