"""Questions about scores and pyramids: correlate, significance, metric-accuracy, compare, pyramids."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import (
    Asked,
    Gold,
    Level,
    Metrics,
    Resamples,
    Source,
    Sources,
    Systems,
    Topics,
    question,
)
from pyramidion.cli.options import Compat, Judges, PyramidName, Seed, StudyPath, refuse_unused

DRAWING = ("permutation", "bootstrap")
"""Tests that draw at random."""


@question()
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
    means: Annotated[str, typer.Option(help="System means: over shared topics, or as given in the tables.")] = "shared",
    matrix: Annotated[bool, typer.Option("--matrix", help="Also correlate all measures with each other.")] = False,
    compat: Compat = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Does a metric rank systems and summaries as the gold does?"""
    from pyramidion.analysis.correlate import KINDS, LEVELS
    from pyramidion.analysis.correlate import correlate as ask

    tables = asked.tables(paths, compat)
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
            matrix=matrix,
            resamples=resamples,
            seed=seed,
        )
    )


@question()
def significance(
    context: typer.Context,
    path: Source,
    measure: Annotated[str | None, typer.Option(help="The measure or rated aspect. [default: the first]")] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="permutation, bootstrap or wilcoxon over topics; mcnemar over units; tukey. "
            "[default: permutation on 10 topics or more, tukey on fewer, mcnemar on one]"
        ),
    ] = None,
    units: Annotated[bool, typer.Option("--units", help="Test over content units instead of topics.")] = False,
    factor: Annotated[
        list[str] | None, typer.Option(help="tukey: judge, topic, or none for the one-way test. [default: all]")
    ] = None,
    correction: Annotated[
        str | None, typer.Option(help="holm or none; Tukey's test needs none. [default: holm]")
    ] = None,
    level: Level = 0.05,
    system: Systems = None,
    topic: Topics = None,
    judges: Judges = None,
    pyramid: PyramidName = None,
    compat: Compat = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            help="Draws for permutation and bootstrap; more are made when p is close to the level. [default: 2000, "
            "10000]",
            min=100,
        ),
    ] = None,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Which systems differ? Every pair, on the same topics, the same units, or by Tukey's test."""
    from pyramidion.analysis.systems import compare_systems

    source = asked.read(path)
    factors = None if factor is None else tuple(name for name in factor if name != "none")

    def ask() -> Any:
        found = compare_systems(
            source,
            measure=measure,
            test=test,  # type: ignore[arg-type]
            units=units,
            factors=factors,
            correction=correction,
            level=level,
            systems=system,
            topics=topic,
            judges=judges,
            pyramid=pyramid,
            compat=compat,  # type: ignore[arg-type]
            resamples=resamples,
            seed=seed,
        )
        if found.result.test not in DRAWING:
            refuse_unused(
                context, f"with the test that was used ({found.result.test}), which makes no random draws", "seed"
            )
        return found

    asked.answer(ask)


@question("metric-accuracy")
def metric_accuracy(
    paths: Sources,
    gold: Gold,
    metric: Metrics = None,
    system: Systems = None,
    topic: Topics = None,
    samples: Annotated[int, typer.Option(help="How many subsets of topics to draw.", min=1)] = 100,
    subset: Annotated[int | None, typer.Option(help="Topics in a subset. [default: 41 in 46, rounded]", min=2)] = None,
    level: Level = 0.05,
    compat: Compat = None,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Does a metric draw the same conclusions about pairs of systems as the gold?"""
    from pyramidion.analysis import metric_accuracy as ask

    tables = asked.tables(paths, compat)
    asked.answer(
        lambda: ask(
            tables,
            gold=gold,
            metrics=metric,
            systems=system,
            topics=topic,
            samples=samples,
            subset=subset,
            level=level,
            seed=seed,
        )
    )


@question()
def compare(
    path: Source,
    aspect: Annotated[str | None, typer.Option(help="Votes on this aspect only.")] = None,
    judges: Judges = None,
    prior: Annotated[float, typer.Option(help="Wins and losses added to every system.", min=0)] = 0.5,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Head-to-head votes: circles, and a Bradley-Terry ranking."""
    from pyramidion.analysis import compare as ask

    study = asked.study(path)
    asked.answer(lambda: ask(study, aspect=aspect, judges=judges, prior=prior, resamples=resamples, seed=seed))


@question()
def pyramids(
    path: StudyPath,
    pyramid: Annotated[
        list[str] | None, typer.Option(help="The pyramid to compare; repeatable. [default: auto]", show_default=False)
    ] = None,
    against: Annotated[str, typer.Option(help="The pyramid to compare with.")] = "expert",
    least: Annotated[float, typer.Option(help="The minimum overlap (Dice) for two units to be paired.")] = 0.25,
    topic: Topics = None,
    *,
    asked: Asked,
) -> None:
    """Is an automatic pyramid like a manual one? Counts units by weight and pairs the units of both pyramids."""
    from pyramidion.analysis import pyramid_pairs as ask

    study = asked.study(path)
    asked.answer(lambda: ask(study, pyramid=pyramid or ["auto"], against=against, least=least, topics=topic))
