"""Every figure of a report as files at paper size, each as SVG and PDF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyramidion.analysis.answer import Figure
from pyramidion.report.findings import Findings
from pyramidion.report.names import file_name
from pyramidion.report.plots import need_plots, save

SUFFIXES = (".svg", ".pdf")


def write_figures(findings: Findings, folder: str | Path) -> list[Path]:
    """Draw all of them into a folder; files of the same name are replaced. Returns where they are."""
    need_plots()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for name, figure in _named(findings):
        for suffix in SUFFIXES:
            path = target / f"{file_name(name)}{suffix}"
            save(figure, path)
            written.append(path)
    return written


def _named(findings: Findings) -> Iterator[tuple[str, Figure]]:
    for scored in findings.scored:
        for kind, figure in zip(("ranking", "map"), scored.ranking.figures, strict=False):
            yield f"{kind}-{scored.method}", figure
    for answer in findings.agreements:
        for kind, figure in zip(("judges", "judge-pairs"), answer.figures, strict=False):
            yield f"{kind}-{answer.result.measure.replace(' ', '-')}", figure
    if findings.correlations:
        first, *scatters = findings.correlations.figures
        yield "correlations", first
        for scatter in scatters:
            yield f"scatter-{getattr(scatter, 'x', scatter.title)}", scatter
    for topic in findings.topics:
        if topic.units:
            yield f"pyramid-{topic.id}", findings.pyramid_figure(topic)
