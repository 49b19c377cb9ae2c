"""Questions about designs: stability, plan."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import (
    Asked,
    Csv,
    From,
    Json,
    Judges,
    Latex,
    Lenient,
    Plot,
    PyramidName,
    Quiet,
    Seed,
    Source,
    analyze,
)
from pyramidion.errors import UsageError

DRAWN = ("units", "topics", "workers")


@analyze.command()
def stability(
    path: Source,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="units, topics, workers (by default all three), or references; repeatable."),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(help="A score table, or a method to score the study by. [default: the full evaluation]"),
    ] = None,
    gold_measure: Annotated[str | None, typer.Option(help="Its measure; the first by default.")] = None,
    rerun: Annotated[str | None, typer.Option(help="A second run: compare its system scores instead.")] = None,
    drop: Annotated[
        float | None, typer.Option(help="Drop this share of topics with least agreement instead.", min=0.0, max=1.0)
    ] = None,
    measure: Annotated[str | None, typer.Option(help="rerun: which measure. references: modified or original.")] = None,
    held_out: Annotated[str, typer.Option(help="references: score the peers, or the references themselves.")] = "peers",
    repetitions: Annotated[int, typer.Option(help="Draws of each size.", min=1)] = 70,
    min_agreement: Annotated[float, typer.Option(help="Leave out workers below it; 0 keeps all.")] = 0.5,
    pyramid: PyramidName = None,
    judges: Judges = None,
    seed: Seed = 0,
    format: From = None,
    output: Csv = None,
    latex: Latex = None,
    plot: Plot = None,
    lenient: Lenient = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How much do results depend on the number of references, units, topics and workers, or on the run?"""
    from pyramidion import analysis

    asked = Asked(json, quiet, output, latex, plot)
    if rerun is not None:
        first, second = (asked.tables([place], format, lenient) for place in (path, rerun))
        name, one = next(iter(first.items()))
        other = second.get(name) or next(iter(second.values()))
        asked.answer(lambda: analysis.rerun(one, other, measure=measure))
        return
    study = asked.study(path, format, lenient)
    wanted: Any = tuple(vary or DRAWN)
    if wanted == ("references",):
        held: Any = held_out
        kind: Any = measure or "modified"
        asked.answer(
            lambda: analysis.pyramid_size(study, held_out=held, measure=kind, pyramid=pyramid, judges=judges, seed=seed)
        )
        return
    if "references" in wanted:
        raise UsageError("--vary references is a question of its own; ask it without the others")
    table = None if gold is None else asked.gold(gold, study, lenient)
    least = min_agreement or None
    if drop is not None:
        if table is None:
            raise UsageError("--drop needs --gold: a score table or a method that keeps all topics")
        asked.answer(
            lambda: analysis.drop_topics(
                study,
                table,
                gold_measure=gold_measure,
                share=drop,
                pyramid=pyramid,
                judges=judges,
                min_agreement=least,
            )
        )
        return
    asked.answer(
        lambda: analysis.resampling(
            study,
            table,
            gold_measure=gold_measure,
            over=wanted,
            repetitions=repetitions,
            pyramid=pyramid,
            judges=judges,
            min_agreement=least,
            seed=seed,
        )
    )
