"""The report: one HTML file that needs nothing else. Overview as markup; topics and summaries are built when opened."""

from __future__ import annotations

from pyramidion.report import sections
from pyramidion.report.findings import Findings
from pyramidion.report.markup import Markup, asset, document, element
from pyramidion.report.packing import head, parcels

STYLE = ("base.css", "report.css")
SCRIPT = ("page.js", "tables.js", "topic.js", "summary.js", "start.js")


def report_page(findings: Findings) -> str:
    """The whole page as text."""
    found = list(sections.all_sections(findings))
    overview = element(
        "main", _hero(findings), _contents(found), [section.markup for section in found], id="overview", class_="wide"
    )
    detail = element("main", id="detail", class_="wide", hidden=True, tabindex="-1")
    return document(
        findings.heading("system"),
        element("a", "Skip to the ranking", href="#ranking", class_="skip"),
        overview,
        detail,
        _foot(findings),
        element("noscript", element("p", "Topics and summaries open with JavaScript.", class_="wide notice")),
        head(findings),
        parcels(findings),
        style=asset(*STYLE),
        script=asset(*SCRIPT),
        class_="report",
    )


def _hero(findings: Findings) -> Markup:
    facts = [
        element("div", element("dt", fact.name), element("dd", fact.value), class_="fact") for fact in findings.facts
    ]
    return element(
        "header",
        element("p", _logo(), "How good is the content?", class_="eyebrow"),
        element("h1", findings.heading("system"), dir="auto"),
        element("p", findings.main.ranking.sentence, class_="lead", dir="auto"),
        element("dl", facts, class_="facts"),
        class_="hero",
    )


def _logo() -> Markup:
    rows = ((8, 0, 4), (5, 5, 10), (2, 10, 16))
    bars = [element("rect", x=x, y=y, width=width, height="4", rx="1") for x, y, width in rows]
    return element("svg", bars, viewBox="0 0 20 14", class_="logo", aria_hidden="true")


def _contents(found: list[sections.Section]) -> Markup:
    links = [element("a", section.short, href=f"#{section.id}") for section in found]
    return element("nav", links, class_="contents", aria_label="Parts of this report")


def _foot(findings: Findings) -> Markup:
    made = str(findings.main.table.signature).rsplit("|v:", 1)[-1]
    return element(
        "footer",
        element("p", f"Made by pyramidion {made}. This page is one file: it loads nothing and sends nothing."),
        class_="wide muted small",
    )
