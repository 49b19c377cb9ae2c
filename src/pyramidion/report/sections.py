"""The parts of a report's overview, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pyramidion.report import evidence, standings
from pyramidion.report.findings import Findings
from pyramidion.report.markup import Child, Markup, element


class Section(NamedTuple):
    id: str
    short: str
    markup: Markup


def all_sections(findings: Findings) -> Iterator[Section]:
    """Every part that has something to show."""
    for id, short, title, body in (
        ("ranking", "Ranking", "Which systems are best?", standings.rankings(findings)),
        ("map", "Systems × topics", "Where is each system strong?", standings.score_map(findings)),
        ("topics", "Topics", "Topics and their pyramids", standings.topics(findings)),
        ("agreement", "Agreement", "Do judges agree?", evidence.agreement(findings)),
        ("metrics", "Metrics", "Do metrics agree with it?", evidence.metrics(findings)),
        ("method", "How it was made", "How it was made", evidence.how_made(findings)),
    ):
        if body:
            yield Section(id, short, _section(id, title, body))


def _section(id: str, title: str, body: Sequence[Child]) -> Markup:
    return element("section", element("h2", title), body, id=id, class_="part")
