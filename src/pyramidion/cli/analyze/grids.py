"""The question about settings: grid."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import Asked, Resamples, question
from pyramidion.cli.auto import EMBEDDER, MATCHER, PARTITIONER, SEGMENTER, SIMILARITY
from pyramidion.cli.options import Seed, StudyPath, refuse_unused
from pyramidion.cli.working import Working
from pyramidion.errors import UsageError


def _several(help: str, default: str) -> Any:
    """An option for a part; if it is repeated, the parts are compared."""
    return typer.Option(help=f"{help} Repeat it to compare. [default: {default}]", show_default=False)


@question()
def grid(
    context: typer.Context,
    path: StudyPath,
    gold: Annotated[
        str | None,
        typer.Option(help="A score table, or a method to score the study by. [default: the study's human scores]"),
    ] = None,
    gold_measure: Annotated[str | None, typer.Option(help="The gold's measure. [default: the first]")] = None,
    percentile: Annotated[
        str | None,
        typer.Option(
            help="Percentile of similarities from which segments are joined: values to try. [default: twelve from "
            "60 to 87, or 83]"
        ),
    ] = None,
    alpha: Annotated[str | None, typer.Option(help="edua-g: values to try. [default: 10,20,30,40,50, or 10]")] = None,
    beta: Annotated[str | None, typer.Option(help="edua-g: values to try. [default: 1,1.5,2,2.5,3, or 2.5]")] = None,
    top_k: Annotated[str | None, typer.Option(help="wmin, exact: values to try. [default: 2 only]")] = None,
    threshold: Annotated[str | None, typer.Option(help="wmin, exact: values to try. [default: 0.5 only]")] = None,
    measure: Annotated[str, typer.Option(help="raw, quality, coverage or comprehensive.")] = "coverage",
    by: Annotated[str, typer.Option(help="Choose settings by agreement at summary or system level.")] = "summary",
    kind: Annotated[str, typer.Option(help="pearson, spearman or kendall.")] = "pearson",
    axes: Annotated[
        str | None,
        typer.Option(help="Two parameters to plot, for example beta,percentile. [default: those that matter most]"),
    ] = None,
    partitioner: Annotated[list[str] | None, _several(PARTITIONER, "edua-g")] = None,
    matcher: Annotated[list[str] | None, _several(MATCHER, "align")] = None,
    segmenter: Annotated[list[str] | None, _several(SEGMENTER, "clauses")] = None,
    similarity: Annotated[list[str] | None, _several(SIMILARITY, "align")] = None,
    embedder: Annotated[list[str] | None, _several(EMBEDDER, "minilm")] = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    keep: Annotated[
        Path | None,
        typer.Option(help="A folder for finished topics; an interrupted or extended search continues from it."),
    ] = None,
    *,
    working: Working,
    asked: Asked,
) -> None:
    """Which parameters and parts of automatic pyramids matter, and what does choosing them gain?

    Without values, uses the grid of Gao et al. 2019. If parts are compared, each number has one value unless you give
    several.
    """
    given = {"percentile": percentile, "alpha": alpha, "beta": beta, "top_k": top_k, "threshold": threshold}
    levels: dict[str, Any] = {name: _numbers(name, text) for name, text in given.items() if text is not None}
    parts = {
        "partitioner": partitioner or ["edua-g"],
        "matcher": matcher,
        "segmenter": segmenter,
        "similarity": similarity,
        "embedder": embedder,
    }
    if "cosine" not in (similarity or ()):
        refuse_unused(context, "without --similarity cosine", "embedder")
    one, several = _parts(parts)
    study = asked.study(path)
    from pyramidion.analysis.grid_runs import grid_jobs, grid_settings, human_gold, paper_levels, score_grid
    from pyramidion.analysis.grid_search import check_search, grid_search
    from pyramidion.pyramids.choices import Choices

    choices = Choices(**one)
    wanted = {**several, **levels} if several else {**paper_levels(choices), **levels}
    two = None if axes is None else [name.strip().replace("-", "_") for name in axes.split(",")]
    check_search(wanted, by=by, kind=kind, axes=two)
    table = human_gold(study) if gold is None else asked.gold(gold, study)
    total = len(grid_jobs(study)) * len(grid_settings(choices, wanted))
    with working.started(asked.out) as engine, asked.out.progress(total, "Scoring settings") as advance:
        scored = score_grid(study, choices, wanted, measure=measure, folder=keep, engine=engine, advance=advance)
    chosen: Any = kind
    asked.answer(
        lambda: grid_search(
            scored, table, gold_measure=gold_measure, by=by, kind=chosen, axes=two, resamples=resamples, seed=seed
        )
    )


def _parts(given: dict[str, list[str] | None]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The parts that all settings share, and those they differ in. An embedder is used only with the similarities
    that need it."""
    named = {name: list(dict.fromkeys(values)) for name, values in given.items() if values}
    several = {name: values for name, values in named.items() if len(values) > 1}
    if "similarity" in several and "embedder" in named:
        several["embedder"] = named["embedder"]
    return {name: values[0] for name, values in named.items() if name not in several}, several


def _numbers(name: str, text: str) -> tuple[float, ...]:
    """ "1,1.5,2" as numbers."""
    try:
        numbers = tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        numbers = ()
    if not numbers:
        raise UsageError(f"--{name.replace('_', '-')}: {text!r} is not a list of numbers such as 1,1.5,2")
    return numbers
