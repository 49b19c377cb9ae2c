"""Questions about designs: stability, plan."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import (
    Asked,
    Judges,
    PyramidName,
    Seed,
    Source,
    question,
)
from pyramidion.errors import UsageError

DRAWN = ("units", "topics", "workers")


@question()
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
    *,
    asked: Asked,
) -> None:
    """How much do results depend on the number of references, units, topics and workers, or on the run?"""
    from pyramidion import analysis

    if rerun is not None:
        first, second = (asked.tables([place]) for place in (path, rerun))
        name, one = next(iter(first.items()))
        other = second.get(name) or next(iter(second.values()))
        asked.answer(lambda: analysis.rerun(one, other, measure=measure))
        return
    study = asked.study(path)
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
    table = None if gold is None else asked.gold(gold, study)
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


@question()
def plan(
    path: Annotated[
        str | None, typer.Argument(metavar="[STUDY]", help="A pilot study; without one, assumptions are made.")
    ] = None,
    topics: Annotated[str, typer.Option(help="Numbers of topics to try.")] = "5,10,15,20,30,40",
    units: Annotated[str, typer.Option(help="Numbers of units per topic to try.")] = "8,16,32,48",
    workers: Annotated[str, typer.Option(help="Numbers of workers per task to try.")] = "1,3,5",
    power: Annotated[float, typer.Option(help="The wanted power.", min=0.01, max=0.999)] = 0.8,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", help="Two systems to tell apart, given twice. [default: a typical pair]"),
    ] = None,
    systems: Annotated[int, typer.Option(help="Without a pilot: how many systems.", min=2)] = 10,
    difference: Annotated[float, typer.Option(help="Without a pilot: between the two best systems.")] = 0.05,
    accuracy: Annotated[float, typer.Option(help="Without a pilot: how often a worker is right.")] = 0.85,
    mean: Annotated[float, typer.Option(help="Without a pilot: the mean score of systems.")] = 0.35,
    campaigns: Annotated[int, typer.Option(help="How often each design is played.", min=1)] = 300,
    references: Annotated[int, typer.Option(help="References a topic, for the cost of writing units.", min=1)] = 4,
    judging_pay: Annotated[str, typer.Option(help="For a task of 16 units.")] = "0.45",
    writing_pay: Annotated[str, typer.Option(help="For the units of one reference.")] = "0.50",
    fee: Annotated[str, typer.Option(help="The platform's fee as a share of the pay.")] = "0.20",
    currency: Annotated[str, typer.Option(help="What money is called.")] = "$",
    pyramid: PyramidName = None,
    judges: Judges = None,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """What should the next evaluation cost? Power, correlation and price of designs, by simulation."""
    from pyramidion import analysis

    pilot: Any = analysis.Assumptions(systems=systems, difference=difference, accuracy=accuracy, mean=mean)
    if path is not None:
        pilot = asked.study(path)
    if pair is not None and (len(pair) != 2 or path is None):
        raise UsageError("--pair is given twice, once for each of two systems of a pilot study")
    chosen: Any = tuple(pair) if pair else None
    sizes: Any = {"topics": _numbers(topics), "units": _numbers(units), "workers": _numbers(workers)}
    asked.answer(
        lambda: analysis.plan(
            pilot,
            **sizes,
            pair=chosen,
            power=power,
            campaigns=campaigns,
            prices=analysis.Prices(judging_pay, writing_pay, fee, currency, references),
            pyramid=pyramid,
            judges=judges,
            seed=seed,
        )
    )


def _numbers(text: str) -> tuple[int, ...]:
    """ "5,10,20" as numbers."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UsageError(f"{text!r} is no list of whole numbers such as 5,10,20") from None
