"""What every question has in common: where its data comes from and where its answer goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from pyramidion.cli.options import Latex, Reading, grouped
from pyramidion.cli.output import plain
from pyramidion.cli.working import Working
from pyramidion.errors import UsageError

analyze = typer.Typer(
    no_args_is_help=True,
    help="Answer questions about scores and judgments: each answer is a sentence with tables and plots, and a "
    "signature that says how it was made.",
)


def question(name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a question of `pyramidion analyze`."""
    return lambda command: analyze.command(name)(grouped(command))


Sources = Annotated[
    list[str], typer.Argument(metavar="STUDY_OR_TABLE...", help="Studies or score tables in any readable format.")
]
Source = Annotated[
    str, typer.Argument(metavar="STUDY_OR_TABLE", help="A study, a table of judgments or a score table.")
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", help="Write the figures to .svg, .pdf or .png files; the second file name gets -2."),
]
Csv = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the tables as .csv; the second file name gets -2.")
]
Systems = Annotated[
    list[str] | None, typer.Option("--system", "-s", help="Only these systems; a name or a pattern; repeatable.")
]
Topics = Annotated[
    list[str] | None, typer.Option("--topic", "-t", help="Only these topics; a name or a pattern; repeatable.")
]
Gold = Annotated[str, typer.Option(help="The measure to compare with; one of the tables must have it.")]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", "-m", help="A measure to compare, or a pattern. [default: all]")
]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples; 0 for no intervals.", min=0)]
Level = Annotated[float, typer.Option(help="Significance level.", min=0.0001, max=0.5)]


@dataclass(frozen=True)
class Asked(Reading):
    """The options that every question has: how to read the data and where to write the answer. Checked before any
    work starts."""

    output: Csv = None
    latex: Latex = None
    plot: Plot = None

    def __post_init__(self) -> None:
        if self.output is not None and self.output.suffix.lower() != ".csv":
            raise UsageError(f"{self.output}: tables are written to .csv")
        if self.plot is not None:
            from pyramidion.report import PLOT_SUFFIXES, need_plots

            if self.plot.suffix.lower() not in PLOT_SUFFIXES:
                raise UsageError(f"{self.plot}: plots are written to {', '.join(PLOT_SUFFIXES)}")
            need_plots()

    def read(self, path: str) -> Any:
        return self._read(path, format=self.format, columns=self.columns)

    def _read(self, path: str, **how: Any) -> Any:
        from pyramidion.analysis.sources import read_source

        with self.out.busy(f"Reading {path}"):
            source = read_source(path, lenient=self.lenient, tell=self.out.say, **how)
        self._simulated.append(source.is_simulated)
        return source

    @cached_property
    def _simulated(self) -> list[bool]:
        """Of each source that was read, whether answers of a rehearsal are in it."""
        return []

    def study(self, path: str) -> Any:
        from pyramidion.analysis.sources import as_study

        return as_study(self.read(path), path)

    def studies(self, paths: list[str]) -> Any:
        """Studies by file name; a single study needs no name."""
        found: dict[str, Any] = {}
        for path in paths:
            name = Path(path).stem if len(paths) > 1 else ""
            found[f"{name}-{len(found) + 1}" if name in found else name] = self.study(path)
        return found

    def tables(self, paths: list[str], compat: str | None = None) -> Any:
        from pyramidion.analysis.sources import score_tables

        read = [(Path(path).stem, self.read(path)) for path in paths]
        with self.out.busy("Scoring"):
            return score_tables(read, compat=compat)  # type: ignore[arg-type]

    def gold(self, name: str, study: Any) -> Any:
        """A score table from a file, or the study's own scores by a method."""
        from pyramidion import plugins
        from pyramidion.scoring.methods import score

        if not Path(name).exists() and name in plugins.names("methods"):
            return score(study, name)
        return self.table(name, "the gold must be a score table, or a method to score this study by")

    def table(self, path: str, otherwise: str) -> Any:
        """Read a score table from a file; a study is refused with a message that says what is needed."""
        from pyramidion.study import ScoreTable

        found = self._read(path)
        if isinstance(found, ScoreTable):
            return found
        raise UsageError(f"{path} is a study; {otherwise}")

    def answer_at_length(self, working: Working, total: int, ask: Callable[[Any, Any], Any]) -> Any:
        """Answer a question that takes long: ``ask`` is given the engine, and whom to tell how much of the total is
        done."""
        with working.started(self.out) as engine, self.out.progress(total, "Working") as advance:
            found = ask(engine, advance)
        return self.answer(lambda: found)

    def answer(self, ask: Callable[[], Any]) -> Any:
        """Answer the question and write the answer to every requested place."""
        from pyramidion import report
        from pyramidion.formats.files import write_text

        with self.out.busy("Working"):
            found = ask()
        found = found.as_simulated() if any(self._simulated) else found
        written: list[Path] = []
        if self.output is not None:
            written += report.write_csv(found, self.output)
        if self.latex is not None:
            write_text(self.latex, report.latex(found))
            written.append(self.latex)
        if self.plot is not None:
            written += report.plot(found, self.plot)
        self.out.result(found.as_json())
        for part in report.terminal(found):
            self.out.show(part)
        self.out.warn(found.notes)
        for path in written:
            self.wrote(path)
        return found

    def write_scores(self, table: Any, path: Path) -> None:
        """Write scores that belong to the answer."""
        from pyramidion.formats.score_tables import write_scores

        write_scores(table.as_simulated() if any(self._simulated) else table, path)
        self.wrote(path)

    def wrote(self, path: Path) -> None:
        self.out.show(f"Wrote {plain(str(path))}.")
