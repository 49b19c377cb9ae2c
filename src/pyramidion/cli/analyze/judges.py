"""Questions about judges: agreement, stand-in, combine, reliability, calibrate, consistency, trained-metric."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import typer

from pyramidion.cli.analyze.asking import Asked, Level, Resamples, Source, Topics, question
from pyramidion.cli.options import Judges, PyramidName, Seed, refuse_unused
from pyramidion.errors import UsageError


@question()
def agreement(
    context: typer.Context,
    path: Source,
    aspect: Annotated[str | None, typer.Option(help="Ratings of this aspect instead of judgments on units.")] = None,
    distance: Annotated[
        str | None,
        typer.Option(help="nominal, ordinal, interval or dice. [default: nominal for units, ordinal for ratings]"),
    ] = None,
    judges: Judges = None,
    pyramid: PyramidName = None,
    resamples: Resamples = 1000,
    removals: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many times to remove all but one answer per item at random, for R squared with one answer per "
            "item.",
        ),
    ] = 200,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Do judges agree, which of them differ from the rest, and what explains the variance of their scores?"""
    from pyramidion.analysis import agreement as ask

    if aspect is not None:
        refuse_unused(context, "with --aspect, because ratings are not about units", "pyramid")
    study = asked.study(path)
    asked.answer(
        lambda: ask(
            study,
            aspect=aspect,
            distance=distance,  # type: ignore[arg-type]
            judges=judges,
            pyramid=pyramid,
            kind="expert" if pyramid == "expert" or judges == "expert" else "crowd",
            resamples=resamples,
            removals=removals,
            seed=seed,
        )
    )


@question()
def combine(
    context: typer.Context,
    path: Source,
    people: Annotated[
        str, typer.Option(help="Whose judgments count as the people's: people, crowd, expert or a judge's id.")
    ] = "people",
    model: Annotated[str, typer.Option(help="The model, whose judgments the study has: a judge's id.")] = "align",
    about: Annotated[
        str,
        typer.Option(
            "--question", help="topics (intervals hold for topics of this kind) or these (these topics only)."
        ),
    ] = "topics",
    aspect: Annotated[str | None, typer.Option(help="Combine ratings of this aspect instead of judged units.")] = None,
    aggregate: Annotated[
        str | None, typer.Option(help="How answers become one: majority, mean or wawa. [default: majority]")
    ] = None,
    chances: Annotated[
        Path | None,
        typer.Option(
            help="A table with the columns topic, unit and probability: how likely each unit was to be asked. "
            "[default: as the study's tasks say]"
        ),
    ] = None,
    assume_random: Annotated[
        bool, typer.Option("--assume-random", help="What people were asked was drawn at random, though not recorded.")
    ] = False,
    topic: Topics = None,
    scores: Annotated[
        Path | None, typer.Option(help="Write the estimates as a score table (.csv, .json, .jsonl or .parquet).")
    ] = None,
    pyramid: PyramidName = None,
    level: Level = 0.05,
    *,
    asked: Asked,
) -> None:
    """What do people who judged a part say with a model that judged everything, and what was the model worth?"""
    from pyramidion.analysis import combine as ask
    from pyramidion.formats.chances import read_chances
    from pyramidion.formats.score_tables import SUFFIXES

    if aspect is not None:
        refuse_unused(context, "with --aspect; ratings are averaged, and are not about units", "pyramid", "aggregate")
    if chances is not None:
        refuse_unused(context, "with --chances, which say how it was chosen", "assume_random")
    if scores is not None and scores.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{scores}: scores can be written to {', '.join(SUFFIXES)}")
    known = None if chances is None else read_chances(chances)
    study = asked.study(path)
    found = asked.answer(
        lambda: ask(
            study,
            people=people,
            model=model,
            question=about,  # type: ignore[arg-type]
            aspect=aspect,
            pyramid=pyramid,
            topics=topic,
            aggregate=aggregate or "majority",
            chances=known,
            assume_random=assume_random,
            level=level,
        )
    )
    if scores is not None:
        asked.write_scores(found.result.table, scores)


@question("stand-in")
def stand_in(
    path: Source,
    models: Annotated[
        list[str] | None, typer.Option("--model", help="A model to compare; repeatable. [default: all]")
    ] = None,
    judges: Annotated[
        str | None, typer.Option(help="The people: people, crowd, expert, or one judge's id. [default: whoever judged]")
    ] = None,
    pyramid: Annotated[
        str | None, typer.Option(help="Whose units give the people's scores. [default: the one that people judged]")
    ] = None,
    threshold: Annotated[float, typer.Option(help="The value from which a model says `present`.")] = 0.5,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Can a model stand in for people who judge units, who write them, or both? Agreement on units, summaries and
    systems."""
    from pyramidion.analysis import stand_in as ask

    study = asked.study(path)
    asked.answer(
        lambda: ask(
            study,
            models=models,
            judges=judges,
            pyramid=pyramid,
            threshold=threshold,
            resamples=resamples,
            seed=seed,
        )
    )


@question()
def reliability(
    path: Source,
    other: Annotated[
        str | None, typer.Argument(metavar="[OTHER]", help="A second study with another annotation of the same peers.")
    ] = None,
    pyramid: PyramidName = None,
    judge: Annotated[list[str] | None, typer.Option("--judge", help="Compare these annotators; repeatable.")] = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Would another annotator give the same scores? Two annotations of the same peers."""
    from pyramidion.analysis import reliability as ask

    study = asked.study(path)
    second = None if other is None else asked.study(other)
    asked.answer(lambda: ask(study, second, pyramid=pyramid, judges=judge, resamples=resamples, seed=seed))


@question()
def calibrate(
    context: typer.Context,
    path: Source,
    gold: Annotated[str | None, typer.Option(help="A table of expert scores, if they are not in the study.")] = None,
    gold_measure: Annotated[
        str | None, typer.Option(help="The measure in that table. [default: the aspect's name]")
    ] = None,
    aspect: Annotated[str | None, typer.Option(help="The rated aspect. [default: the first]")] = None,
    experts: Annotated[str, typer.Option(help="Who the experts are: a kind of judge or one judge's id.")] = "expert",
    adjust: Annotated[str, typer.Option(help="line: fit a line for each judge; shift: remove only the bias.")] = "line",
    scores: Annotated[
        Path | None, typer.Option(help="Write the adjusted scores to .csv, .json, .jsonl or .parquet.")
    ] = None,
    *,
    asked: Asked,
) -> None:
    """How far are judges from experts? Bias, scale, correlation, and adjusted scores."""
    from pyramidion.analysis import calibrate as ask
    from pyramidion.formats.score_tables import SUFFIXES

    if scores is not None and scores.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{scores}: scores are written to {', '.join(SUFFIXES)}")
    if gold is None:
        refuse_unused(context, "without --gold", "gold_measure")
    else:
        refuse_unused(context, "with --gold, which has the experts' scores", "experts")
    study = asked.study(path)
    table = None if gold is None else asked.table(gold, "experts in a study are named by --experts")
    chosen: Any = adjust
    found = asked.answer(
        lambda: ask(study, table, aspect=aspect, experts=experts, gold_measure=gold_measure, adjust=chosen)
    )
    if scores is not None:
        asked.write_scores(found.result.adjusted, scores)


TopicSet = Annotated[
    str | None, typer.Option("--set", help="Only main or update topics (ids that end in A or B), or a pattern: '*-B'.")
]
Peers = Annotated[
    str, typer.Option(help="Peers: systems and people (all), systems only (no-models), or both if there are people.")
]
Human = Annotated[
    list[str] | None,
    typer.Option(
        help="A peer that is a person, or a pattern; repeatable. [default: peers whose summaries are all references "
        "too]"
    ),
]


@question()
def consistency(
    paths: Annotated[list[str], typer.Argument(metavar="STUDY...", help="A study, or one for each year.")],
    scores: Annotated[
        list[Path] | None, typer.Option(help="A metric's score table for each study. [default: ROUGE-2 recall]")
    ] = None,
    exclude: Annotated[
        list[int] | None, typer.Option(help="How many of the worst assessors to leave out. [default: 1 and 2]", min=1)
    ] = None,
    topics: TopicSet = None,
    peers: Peers = "both",
    human: Human = None,
    pyramid: PyramidName = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    *,
    asked: Asked,
) -> None:
    """Are assessors consistent, and how do the least consistent ones affect the results?"""
    from pyramidion.analysis import consistency as ask
    from pyramidion.analysis.assessors import topic_set
    from pyramidion.analysis.sources import rouge_tables

    studies = asked.studies(paths)
    if scores and len(scores) != len(studies):
        raise UsageError(f"{len(scores)} score tables for {len(studies)} studies; give one for each")
    metrics = (
        {year: asked.gold(str(file), studies[year]) for year, file in zip(studies, scores, strict=True)}
        if scores
        else rouge_tables({year: topic_set(study, topics, year=year) for year, study in studies.items()})
    )
    asked.answer(
        lambda: ask(
            studies,
            metrics or None,
            pyramid=pyramid,
            exclude=tuple(exclude or (1, 2)),
            topics=topics,
            peers=peers,  # type: ignore[arg-type]
            human=human or (),
            resamples=resamples,
            seed=seed,
        )
    )


@question("trained-metric")
def trained_metric(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="YEAR1 YEAR2 YEAR3", help="Three studies, in order; the third needs no judgments."),
    ],
    target: Annotated[str, typer.Option(help="What to predict: pyramid, or a rated aspect.")] = "pyramid",
    features: Annotated[
        list[Path] | None,
        typer.Option(
            help="Your own features: a table with topic, system and features for each year, or one for all years."
        ),
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            help="A feature to use, or a pattern; repeatable. [default: all of --features, else all built-in]"
        ),
    ] = None,
    predict: Annotated[
        Path | None,
        typer.Option(help="Write the scores predicted for the third year to .csv, .json, .jsonl or .parquet."),
    ] = None,
    exclude: Annotated[
        list[int] | None,
        typer.Option(help="Train again without this many of the worst assessors; 0 skips this. [default: 1]", min=0),
    ] = None,
    exclude_by: Annotated[
        list[str] | None, typer.Option(help="Choose the worst by alpha or autoPyramid; repeatable. [default: both]")
    ] = None,
    topics: TopicSet = None,
    peers: Peers = "both",
    human: Human = None,
    pyramid: PyramidName = None,
    *,
    asked: Asked,
) -> None:
    """Train a metric on two years of human scores and predict a third, with and without noisy assessors."""
    from pyramidion.analysis import trained_metric as ask
    from pyramidion.analysis.trained_metric import CRITERIA, predicted_scores
    from pyramidion.cli.options import refuse_same
    from pyramidion.formats.score_tables import SUFFIXES

    if exclude is not None and not any(exclude):
        refuse_unused(context, "with --exclude 0", "exclude_by")
    if predict is not None:
        if predict.suffix.lower() not in SUFFIXES:
            raise UsageError(f"{predict}: predicted scores are written to {', '.join(SUFFIXES)}")
        for source in (*paths, *(features or ())):
            refuse_same(str(source), predict)
    studies = asked.studies(paths)
    if features and len(features) not in (1, len(studies)):
        raise UsageError(
            f"{len(features)} tables of features for {len(studies)} years; give one for each, or one for all"
        )
    each = features or []
    files = dict(zip(studies, map(str, each * len(studies) if len(each) == 1 else each), strict=False))
    read = {
        file: asked.table(file, "--features needs a table with topic, system and features") for file in files.values()
    }

    def train() -> Any:
        trained = ask(
            studies,
            target=target,
            features={year: read[file] for year, file in files.items()} or None,
            names=feature,
            files=files,
            exclude=tuple((1,) if exclude is None else exclude),
            exclude_by=exclude_by or CRITERIA,
            topics=topics,
            peers=peers,  # type: ignore[arg-type]
            human=human or (),
            pyramid=pyramid,
            lenient=asked.lenient,
        )
        own = {name for table in read.values() for name in table.measures}
        if own and not any(fnmatchcase(name, pattern) for name in own for pattern in feature or ["*"]):
            refuse_unused(context, "when --feature names only built-in features; remove one of the two", "features")
        return trained

    found = asked.answer(train)
    if predict is not None:
        asked.write_scores(predicted_scores(found), predict)
