"""Figures of an answer as SVG, PDF or PNG, in the size of a paper's column. matplotlib is an extra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyramidion.analysis.answer import Answer, Figure
from pyramidion.errors import MissingExtraError, UsageError
from pyramidion.report.collect import Findings
from pyramidion.report.drawing import COLOURS, draw
from pyramidion.report.tables import file_name, numbered

SUFFIXES = (".svg", ".pdf", ".png")
Track = Callable[[list[tuple[Path, Figure]]], Iterable[tuple[Path, Figure]]]
PAPER_SUFFIXES = (".svg", ".pdf")

STYLE = {
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.0,
    "svg.fonttype": "none",  # text stays text: searchable, and small
    "svg.hashsalt": "pyramidion",  # the same figure is the same file
    "pdf.fonttype": 42,
    "text.parse_math": False,  # a system may be called $x$
}


def plot(answer: Answer[Any], path: str | Path) -> list[Path]:
    """Draw every figure of an answer; the first gets the given name. Returns where they are."""
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{target}: plots can be written to {', '.join(SUFFIXES)}")
    if not answer.figures:
        raise UsageError(f"the question {answer.question} has nothing to plot")
    written = []
    for number, figure in enumerate(answer.figures, 1):
        file = numbered(target, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        save(figure, file)
        written.append(file)
    return written


def write_figures(findings: Findings, folder: str | Path, *, track: Track = iter) -> list[Path]:
    """Draw every figure of a report into a folder, as SVG and PDF; files of the same name are replaced. ``track`` is
    given the work and hears of every file."""
    need_plots()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [
        (target / f"{name}{suffix}", figure)
        for name, figure in _named_apart(_report_figures(findings))
        for suffix in PAPER_SUFFIXES
    ]
    for path, figure in track(paths):
        save(figure, path)
    return [path for path, _ in paths]


def _named_apart(figures: Iterable[tuple[str, Figure]]) -> Iterator[tuple[str, Figure]]:
    """Figures with file names of which no two are the same on any system: a second one gets -2, and so on."""
    taken: set[str] = set()
    for wanted, figure in figures:
        name = plain = file_name(wanted)
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        yield name, figure


def _report_figures(findings: Findings) -> Iterator[tuple[str, Figure]]:
    for scored in findings.scored:
        for kind, figure in zip(("ranking", "map"), scored.ranking.figures, strict=False):
            yield f"{kind}-{scored.method}", figure
    for answer in findings.agreements:
        for kind, figure in zip(("judges", "judge-pairs"), answer.figures, strict=False):
            yield f"{kind}-{answer.result.measure.replace(' ', '-')}", figure
    if findings.correlations:
        first, *scatters = findings.correlations.figures
        yield "correlations", first
        for metric, scatter in zip(findings.correlations.result.metrics, scatters, strict=True):
            yield f"scatter-{metric}", scatter
    for topic in findings.topics:
        if topic.units:
            yield f"pyramid-{topic.id}", findings.pyramid_figure(topic)


def save(figure: Figure, path: Path) -> None:
    """Draw one figure into a file."""
    matplotlib = _matplotlib()
    kind = path.suffix.lower().lstrip(".")
    # No date, so that the same data gives the same bytes.
    stamp: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with matplotlib.rc_context({**STYLE, "axes.prop_cycle": matplotlib.cycler(color=COLOURS)}):
        draw(figure).savefig(path, dpi=200, metadata=stamp)


def need_plots() -> None:
    """Check early that the extra is installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("A plot", "plots")


def _matplotlib() -> Any:
    need_plots()
    import matplotlib

    return matplotlib
