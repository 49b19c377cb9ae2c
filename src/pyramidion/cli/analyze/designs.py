"""Questions about designs: stability, plan."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import Asked, Level, Source, question
from pyramidion.cli.options import Judges, PyramidName, Seed, refuse_unused
from pyramidion.cli.working import WORKING, Working
from pyramidion.errors import UsageError

_OF_POWER = ("max_topics", "budget", "power", "pair", "campaigns", "references", "writing_pay")
DRAWN = ("units", "topics", "workers")


@question()
def stability(
    context: typer.Context,
    path: Source,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="units, topics, workers (by default all three), or references; repeatable."),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(help="A score table, or a method to score the study by. [default: the full evaluation]"),
    ] = None,
    gold_measure: Annotated[str | None, typer.Option(help="The gold's measure. [default: the first]")] = None,
    rerun: Annotated[
        str | None, typer.Option(help="Compare with the system scores of this second run instead.")
    ] = None,
    drop: Annotated[
        float | None,
        typer.Option(
            help="Instead, drop this share of topics, those with the least agreement first.", min=0.0, max=1.0
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help="The measure: any with --rerun; modified or original with --vary references.")
    ] = None,
    held_out: Annotated[
        str | None,
        typer.Option(
            help="references: score the peers, the references, or five references drawn at random by pyramids of "
            "the rest (Nenkova et al. 2007, Table II). [default: peers]"
        ),
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(help="Draws per size. [default: 70; 1 with --held-out five]", min=1)
    ] = None,
    min_agreement: Annotated[
        float | None, typer.Option(help="Leave out workers whose agreement is below this; 0 keeps all. [default: 0.5]")
    ] = None,
    pyramid: PyramidName = None,
    judges: Judges = None,
    seed: Seed = 0,
    *,
    working: Working,
    asked: Asked,
) -> None:
    """How much do results depend on the number of references, units, topics and workers, or on the run?"""
    from pyramidion import analysis

    of_draws = ("gold", "gold_measure", "min_agreement")
    if rerun is not None:
        others = ("vary", "drop", "held_out", "repetitions", "pyramid", "judges", "seed", *WORKING)
        refuse_unused(context, "when two runs are compared; remove it or --rerun", *of_draws, *others)
        first, second = (asked.tables([place]) for place in (path, rerun))
        name, one = next(iter(first.items()))
        other = second.get(name) or next(iter(second.values()))
        asked.answer(lambda: analysis.rerun(one, other, measure=measure))
        return
    study = asked.study(path)
    wanted: Any = tuple(vary or DRAWN)
    if wanted == ("references",):
        refuse_unused(context, "with --vary references", *of_draws, "drop", *WORKING)
        if held_out != "five":
            refuse_unused(
                context, "without --held-out five; otherwise everything is held out exactly once", "repetitions", "seed"
            )
        held: Any = held_out or "peers"
        kind: Any = measure or "modified"
        asked.answer(
            lambda: analysis.pyramid_size(
                study,
                held_out=held,
                measure=kind,
                pyramid=pyramid,
                judges=judges,
                draws=repetitions or 1,
                seed=seed,
            )
        )
        return
    if "references" in wanted:
        raise UsageError("--vary references cannot be combined with other values of --vary; run it separately")
    refuse_unused(context, "without --vary references", "held_out")
    refuse_unused(context, "without --vary references or --rerun", "measure")
    if gold is None:
        refuse_unused(context, "without --gold", "gold_measure")
    table = None if gold is None else asked.gold(gold, study)
    least = 0.5 if min_agreement is None else min_agreement or None
    if drop is not None:
        refuse_unused(context, "with --drop", "vary", "repetitions", "seed", *WORKING)
        if table is None:
            raise UsageError("--drop needs --gold: a score table or a method that scores all topics")
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
    drawn = repetitions or 70
    asked.answer_at_length(
        working,
        drawn * len(wanted),
        lambda engine, advance: analysis.resampling(
            study,
            table,
            gold_measure=gold_measure,
            over=wanted,
            repetitions=drawn,
            pyramid=pyramid,
            judges=judges,
            min_agreement=least,
            seed=seed,
            engine=engine,
            advance=advance,
        ),
    )


@question()
def plan(
    context: typer.Context,
    path: Annotated[
        str | None,
        typer.Argument(metavar="[STUDY]", help="A pilot study; without one, the options below state assumptions."),
    ] = None,
    topics: Annotated[
        str | None, typer.Option(help="Numbers of topics, such as 20 or 10,20,40. [default: searched]")
    ] = None,
    units: Annotated[str | None, typer.Option(help="Numbers of units per topic. [default: searched]")] = None,
    workers: Annotated[str | None, typer.Option(help="Numbers of workers per task. [default: searched]")] = None,
    max_topics: Annotated[
        int | None, typer.Option(help="The largest number of topics to search. [default: 1000]", min=2, max=10_000)
    ] = None,
    budget: Annotated[str | None, typer.Option(help="The highest cost of a design.")] = None,
    power: Annotated[float, typer.Option(help="The power to reach.", min=0.01, max=0.999)] = 0.8,
    level: Level = 0.05,
    pair: Annotated[
        list[str] | None,
        typer.Option("--pair", help="Two systems to tell apart, given twice. [default: a typical pair]"),
    ] = None,
    systems: Annotated[
        int | None, typer.Option(help="Without a pilot: the number of systems. [default: 10]", min=2)
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="Without a pilot: the difference between the two best systems. [default: 0.05]")
    ] = None,
    accuracy: Annotated[
        float | None, typer.Option(help="Without a pilot: how often a worker is right. [default: 0.85]")
    ] = None,
    mean: Annotated[
        float | None, typer.Option(help="Without a pilot: the mean score of systems. [default: 0.35]")
    ] = None,
    campaigns: Annotated[int, typer.Option(help="Simulated campaigns per design.", min=1)] = 2000,
    references: Annotated[
        int | None,
        typer.Option(help="References per topic, for the cost of writing units. [default: the pilot's, or 4]", min=1),
    ] = None,
    judging_pay: Annotated[str, typer.Option(help="Pay for a judging task of 16 units.")] = "0.45",
    writing_pay: Annotated[str, typer.Option(help="Pay for writing the units of one reference.")] = "0.50",
    fee: Annotated[str, typer.Option(help="The platform's fee as a share of the pay.")] = "0.20",
    currency: Annotated[str, typer.Option(help="Currency sign to print.")] = "$",
    with_model: Annotated[
        str | None,
        typer.Option(
            metavar="JUDGE",
            help="Instead, show cost against the width of intervals, for people alone and with this model, which has "
            "judged the pilot.",
        ),
    ] = None,
    correlation: Annotated[
        float | None,
        typer.Option(help="With a model, without a pilot: its correlation with people, unit by unit. [default: 0.6]"),
    ] = None,
    question: Annotated[
        str,
        typer.Option(help="With a model: what intervals are about: topics (topics of this kind) or these (topics)."),
    ] = "topics",
    pyramid: PyramidName = None,
    judges: Judges = None,
    seed: Seed = 0,
    *,
    working: Working,
    asked: Asked,
) -> None:
    """What should the next evaluation cost? Finds the cheapest design with the requested power, by simulation; or, with
    a model's judgments, shows what intervals of which width cost."""
    from pyramidion import analysis

    assumed = {"systems": systems, "difference": difference, "accuracy": accuracy, "mean": mean}
    if path is not None:
        refuse_unused(context, "with a pilot study; it is an assumption for use without one", *assumed)
    else:
        refuse_unused(
            context, "without a pilot study; name one", "pair", "pyramid", "judges", "format", "columns", "lenient"
        )
    given: Any = {name: value for name, value in assumed.items() if value is not None}
    sizes: Any = {"topics": topics, "units": units, "workers": workers}
    sizes = {name: _numbers(text) for name, text in sizes.items() if text is not None}
    prices = analysis.Prices(judging_pay, writing_pay, fee, currency, references)
    if with_model is not None:
        refuse_unused(context, "with --with-model, which shows widths, not power", *_OF_POWER, *WORKING)
        if path is not None:
            refuse_unused(context, "with a pilot study, which says what it is", "correlation", "seed")
        for name, numbers in sizes.items():
            if len(numbers) != 1:
                raise UsageError(f"--with-model takes one number of {name}, not {len(numbers)}")
        start = analysis.Assumptions(**given) if path is None else asked.study(path)
        chosen_question: Any = question
        asked.answer(
            lambda: analysis.plan_with_model(
                start,
                with_model,
                correlation=correlation,
                **{name: numbers[0] for name, numbers in sizes.items()},
                question=chosen_question,
                level=level,
                prices=prices,
                pyramid=pyramid,
                judges=judges,
                seed=seed,
            )
        )
        return
    refuse_unused(context, "without --with-model", "correlation", "question")
    if topics is not None:
        refuse_unused(context, "with --topics, which leaves nothing to search", "max_topics")
    if pair is not None and len(pair) != 2:
        raise UsageError("give --pair twice, once for each of two systems of a pilot study")
    pilot = analysis.Assumptions(**given) if path is None else asked.study(path)
    from pyramidion.analysis.planning import MOST_STEPS

    chosen: Any = tuple(pair) if pair else None
    if max_topics is not None:
        sizes["max_topics"] = max_topics
    asked.answer_at_length(
        working,
        MOST_STEPS,
        lambda engine, advance: analysis.plan(
            pilot,
            **sizes,
            budget=budget,
            pair=chosen,
            power=power,
            level=level,
            campaigns=campaigns,
            prices=prices,
            pyramid=pyramid,
            judges=judges,
            seed=seed,
            engine=engine,
            advance=advance,
        ),
    )


def _numbers(text: str) -> tuple[int, ...]:
    """ "5,10,20" as numbers."""
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UsageError(f"{text!r} is not a list of whole numbers such as 5,10,20") from None
