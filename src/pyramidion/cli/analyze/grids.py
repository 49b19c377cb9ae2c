"""The question about settings: grid."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import Asked, question
from pyramidion.cli.auto import Embedder, Jobs, Matcher, Partitioner, Segmenter, Similarity
from pyramidion.cli.options import StudyPath
from pyramidion.errors import UsageError


@question()
def grid(
    path: StudyPath,
    gold: Annotated[
        str | None,
        typer.Option(help="A score table, or a method to score the study by. [default: the study's human scores]"),
    ] = None,
    gold_measure: Annotated[str | None, typer.Option(help="Its measure; the first by default.")] = None,
    percentile: Annotated[
        str | None, typer.Option(help="Where edges start: values to try. [default: twelve from 60 to 87]")
    ] = None,
    alpha: Annotated[str | None, typer.Option(help="edua-g: values to try. [default: 10,20,30,40,50]")] = None,
    beta: Annotated[str | None, typer.Option(help="edua-g: values to try. [default: 1,1.5,2,2.5,3]")] = None,
    top_k: Annotated[str | None, typer.Option(help="wmin, exact: values to try. [default: 2 only]")] = None,
    threshold: Annotated[str | None, typer.Option(help="wmin, exact: values to try. [default: 0.5 only]")] = None,
    measure: Annotated[str, typer.Option(help="raw, quality, coverage or comprehensive.")] = "coverage",
    by: Annotated[str, typer.Option(help="Choose settings by agreement at summary or system level.")] = "summary",
    kind: Annotated[str, typer.Option(help="pearson, spearman or kendall.")] = "pearson",
    axes: Annotated[
        str | None,
        typer.Option(help="Two parameters to plot, as in beta,percentile. [default: those that matter most]"),
    ] = None,
    partitioner: Partitioner = "edua-g",
    matcher: Matcher = "align",
    segmenter: Segmenter = "clauses",
    similarity: Similarity = "align",
    embedder: Embedder = "minilm",
    keep: Annotated[
        Path | None, typer.Option(help="A folder for finished topics: ask again, or for more values, to go on.")
    ] = None,
    jobs: Jobs = 1,
    *,
    asked: Asked,
) -> None:
    """Which parameters of automatic pyramids matter, and what does choosing them gain?"""
    given = {"percentile": percentile, "alpha": alpha, "beta": beta, "top_k": top_k, "threshold": threshold}
    levels = {name: _numbers(name, text) for name, text in given.items() if text is not None}
    study = asked.study(path)
    from pyramidion.analysis.grid_search import check_search, grid_search
    from pyramidion.auto.choices import Choices
    from pyramidion.workflows.grid import grid_jobs, human_gold, paper_levels, score_grid

    choices = Choices(
        partitioner=partitioner, matcher=matcher, segmenter=segmenter, similarity=similarity, embedder=embedder
    )
    wanted = {**paper_levels(choices), **levels}
    two = None if axes is None else [name.strip().replace("-", "_") for name in axes.split(",")]
    varied = [name for name, values in wanted.items() if len(set(values)) > 1]
    check_search(varied, by=by, kind=kind, axes=two)
    table = human_gold(study) if gold is None else asked.gold(gold, study)
    total = len(grid_jobs(study))
    for values in wanted.values():
        total *= len(set(values))
    with asked.out.progress(total, "Scoring settings") as advance:
        scored = score_grid(study, choices, wanted, measure=measure, folder=keep, processes=jobs, advance=advance)
    chosen: Any = kind
    asked.answer(lambda: grid_search(scored, table, gold_measure=gold_measure, by=by, kind=chosen, axes=two))


def _numbers(name: str, text: str) -> tuple[float, ...]:
    """ "1,1.5,2" as numbers."""
    try:
        found = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        found = ()
    if not found:
        raise UsageError(f"--{name.replace('_', '-')}: {text!r} is no list of numbers such as 1,1.5,2")
    return found
