"""What every question has in common: where its data comes from and where its answer goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from pyramidion.cli.output import Output, plain
from pyramidion.errors import UsageError

analyze = typer.Typer(
    no_args_is_help=True,
    help="Ask about scores and judgments: each answer is a sentence, tables, and plots, with how it was made.",
)

Sources = Annotated[
    list[str], typer.Argument(metavar="STUDY_OR_TABLE...", help="Studies or score tables in any readable format.")
]
Source = Annotated[
    str, typer.Argument(metavar="STUDY_OR_TABLE", help="A study, a table of judgments or a score table.")
]
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Draw the figures into .svg, .pdf or .png; a second one gets -2.")
]
Latex = Annotated[Path | None, typer.Option("--latex", help="Write the tables for LaTeX (booktabs).")]
Csv = Annotated[Path | None, typer.Option("--output", "-o", help="Write the tables as .csv; a second one gets -2.")]
Seed = Annotated[int, typer.Option(help="For everything that is drawn at random.")]
Systems = Annotated[
    list[str] | None, typer.Option("--system", "-s", help="Only these systems; a name or a pattern; repeatable.")
]
Topics = Annotated[
    list[str] | None, typer.Option("--topic", "-t", help="Only these topics; a name or a pattern; repeatable.")
]
Judges = Annotated[str | None, typer.Option(help="all, people, expert, crowd, model, or one judge's id.")]
PyramidName = Annotated[str | None, typer.Option("--pyramid", help="Which pyramid, where there are several.")]
Gold = Annotated[str, typer.Option(help="The measure to be judged by; one of the tables has it.")]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", "-m", help="A measure to judge, or a pattern; all by default.")
]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples; 0 for no intervals.", min=0)]
Level = Annotated[float, typer.Option(help="The level of significance.", min=0.0001, max=0.5)]


class Asked:
    """Where one question's answer goes; checked before any work is done."""

    def __init__(
        self,
        json: bool,
        quiet: bool,
        output: Path | None = None,
        latex: Path | None = None,
        plot: Path | None = None,
    ) -> None:
        self.out = Output(json, quiet)
        self.csv, self.latex, self.plot = output, latex, plot
        if output is not None and output.suffix.lower() != ".csv":
            raise UsageError(f"{output}: tables are written to .csv")
        if plot is not None:
            from pyramidion.report import PLOT_SUFFIXES, need_plots

            if plot.suffix.lower() not in PLOT_SUFFIXES:
                raise UsageError(f"{plot}: plots are written to {', '.join(PLOT_SUFFIXES)}")
            need_plots()

    def read(self, path: str, format: str | None, lenient: bool) -> Any:
        from pyramidion.workflows.analyses import read_source

        with self.out.busy(f"Reading {path}"):
            return read_source(path, format=format, lenient=lenient)

    def study(self, path: str, format: str | None, lenient: bool) -> Any:
        from pyramidion.workflows.analyses import as_study

        return as_study(self.read(path, format, lenient), path)

    def studies(self, paths: list[str], format: str | None, lenient: bool) -> Any:
        """Studies by the names of their files; one alone needs no name."""
        found: dict[str, Any] = {}
        for path in paths:
            name = Path(path).stem if len(paths) > 1 else ""
            found[f"{name}-{len(found) + 1}" if name in found else name] = self.study(path, format, lenient)
        return found

    def tables(self, paths: list[str], format: str | None, lenient: bool) -> Any:
        from pyramidion.workflows.analyses import score_tables

        read = [(Path(path).stem, self.read(path, format, lenient)) for path in paths]
        with self.out.busy("Scoring"):
            return score_tables(read)

    def gold(self, name: str, study: Any, lenient: bool) -> Any:
        """A score table from a file, or the study's own scores by a method."""
        from pyramidion import plugins
        from pyramidion.model import ScoreTable
        from pyramidion.workflows.evaluate import score

        if not Path(name).exists() and name in plugins.names("methods"):
            return score(study, name)
        found = self.read(name, None, lenient)
        if isinstance(found, ScoreTable):
            return found
        raise UsageError(f"{name} is a study; the gold is a score table, or a method to score this study by")

    def answer(self, ask: Callable[[], Any]) -> Any:
        """Ask, and put the answer where it was wanted."""
        from pyramidion import report
        from pyramidion.formats.files import write_text

        with self.out.busy("Working"):
            found = ask()
        written: list[Path] = []
        if self.csv is not None:
            written += report.write_csv(found, self.csv)
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

    def wrote(self, path: Path) -> None:
        self.out.show(f"Wrote {plain(str(path))}.")
