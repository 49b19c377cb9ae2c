"""`pyramidion analyze`: questions about scores and judgments. Each command is one question."""

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
From = Annotated[str | None, typer.Option("--from", help="The study's format, where it is not recognised.")]
Lenient = Annotated[bool, typer.Option("--lenient", help="Report errors in the data and go on.")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
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
Judges = Annotated[str | None, typer.Option(help="all, expert, crowd, model, or one judge's id.")]
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

    def tables(self, paths: list[str], format: str | None, lenient: bool) -> Any:
        from pyramidion.workflows.analyses import score_tables

        read = [(Path(path).stem, self.read(path, format, lenient)) for path in paths]
        with self.out.busy("Scoring"):
            return score_tables(read)

    def answer(self, ask: Callable[[], Any]) -> None:
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
            self.out.show(f"Wrote {plain(str(path))}.")


@analyze.command()
def correlate(
    paths: Sources,
    gold: Gold,
    metric: Metrics = None,
    level: Annotated[list[str] | None, typer.Option(help="system, summary or pooled; all of them by default.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="pearson, spearman or kendall; all of them by default.")
    ] = None,
    system: Systems = None,
    topic: Topics = None,
    means: Annotated[str, typer.Option(help="System means over shared topics, or as given by the tables.")] = "shared",
    resamples: Resamples = 1000,
    seed: Seed = 0,
    format: From = None,
    output: Csv = None,
    latex: Latex = None,
    plot: Plot = None,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Does a metric rank systems and summaries as the gold does?"""
    from pyramidion.analysis.correlate import KINDS, LEVELS
    from pyramidion.analysis.correlate import correlate as ask

    asked = Asked(json, quiet, output, latex, plot)
    tables = asked.tables(paths, format, lenient)
    asked.answer(
        lambda: ask(
            tables,
            gold=gold,
            metrics=metric,
            levels=level or LEVELS,
            kinds=kind or KINDS,  # type: ignore[arg-type]
            systems=system,
            topics=topic,
            means=means,  # type: ignore[arg-type]
            resamples=resamples,
            seed=seed,
        )
    )


@analyze.command()
def significance(
    path: Source,
    measure: Annotated[str | None, typer.Option(help="Which measure or rated aspect; the first by default.")] = None,
    test: Annotated[
        str, typer.Option(help="permutation, bootstrap or wilcoxon over topics; mcnemar over units; tukey.")
    ] = "permutation",
    units: Annotated[bool, typer.Option("--units", help="Test over content units instead of topics.")] = False,
    factor: Annotated[
        list[str] | None, typer.Option(help="tukey: judge, topic, or none for the one-way test. [default: all]")
    ] = None,
    correction: Annotated[str, typer.Option(help="holm or none; Tukey's test needs none.")] = "holm",
    level: Level = 0.05,
    system: Systems = None,
    topic: Topics = None,
    judges: Judges = None,
    pyramid: PyramidName = None,
    seed: Seed = 0,
    format: From = None,
    output: Csv = None,
    latex: Latex = None,
    plot: Plot = None,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Which systems differ? Every pair, on the same topics, the same units, or by Tukey's test."""
    from pyramidion import analysis as questions

    asked = Asked(json, quiet, output, latex, plot)
    if units or test == "mcnemar":
        study = asked.study(path, format, lenient)
        kind: Any = "crowd" if judges == "crowd" or pyramid == "crowd" else "expert"
        chosen: Any = "mcnemar" if test == "mcnemar" else test
        asked.answer(
            lambda: questions.unit_significance(
                study,
                kind=kind,
                pyramid=pyramid,
                judges=judges,
                test=chosen,
                correction=correction,  # type: ignore[arg-type]
                level=level,
                seed=seed,
            )
        )
        return
    source = asked.read(path, format, lenient)
    if test == "tukey":
        factors = None if factor is None else tuple(name for name in factor if name != "none")
        asked.answer(
            lambda: questions.tukey(
                source, measure=measure, factors=factors, judges=judges, systems=system, level=level
            )
        )
        return
    tables = asked.tables([path], format, lenient)
    asked.answer(
        lambda: questions.significance(
            tables,
            measure=measure,
            test=test,  # type: ignore[arg-type]
            correction=correction,  # type: ignore[arg-type]
            level=level,
            systems=system,
            topics=topic,
            seed=seed,
        )
    )


@analyze.command()
def agreement(
    path: Source,
    aspect: Annotated[str | None, typer.Option(help="Ratings of this aspect instead of judgments on units.")] = None,
    distance: Annotated[
        str | None,
        typer.Option(help="nominal, ordinal, interval or dice. [default: nominal for units, ordinal for ratings]"),
    ] = None,
    judges: Judges = None,
    pyramid: PyramidName = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    format: From = None,
    output: Csv = None,
    latex: Latex = None,
    plot: Plot = None,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Do judges agree, which of them stand apart, and what explains the variance of their scores?"""
    from pyramidion.analysis.agreement import agreement as ask

    asked = Asked(json, quiet, output, latex, plot)
    study = asked.study(path, format, lenient)
    asked.answer(
        lambda: ask(
            study,
            aspect=aspect,
            distance=distance,  # type: ignore[arg-type]
            judges=judges,
            pyramid=pyramid,
            kind="expert" if pyramid == "expert" or judges == "expert" else "crowd",
            resamples=resamples,
            seed=seed,
        )
    )
