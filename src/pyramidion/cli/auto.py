"""`pyramidion auto ...`: pyramids and scores without people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyramidion.cli.chat import Chatting, tell_usage, usage_as_json
from pyramidion.cli.options import Printing, Reading, StudyPath, grouped, refuse_same, refuse_unused
from pyramidion.cli.output import as_json, plain
from pyramidion.cli.working import WORKING, Working
from pyramidion.errors import UsageError

if TYPE_CHECKING:
    from pyramidion.cli.output import Output
    from pyramidion.pyramids.choices import Choices
    from pyramidion.study import Study

JsonObject = dict[str, Any]
auto = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Build pyramids from references and score peers against them, without people or downloads.",
)

PARTITIONER = (
    "How segments become units: edua-x (exact sum), edua-c (exact AP), edua-c-maximal (no unit can be added) or edua-g "
    "(greedy)."
)
MATCHER = "How units are found in peers: align (to a degree), wmin or exact (once or not at all)."
SEGMENTER = "How sentences are cut: clauses, clauses-apart (more ways), or spacy:PIPELINE (any installed one)."
SIMILARITY = "How segments are compared: align (word by word) or cosine (of the embedder's vectors)."
EMBEDDER = "For cosine: minilm, wtmf:FILE, st:NAME (sentence-transformers) or openai:MODEL."


@dataclass(frozen=True)
class Building:
    """How pyramids are built."""

    partitioner: Annotated[str, typer.Option(help=PARTITIONER)] = "edua-x"
    segmenter: Annotated[str, typer.Option(help=SEGMENTER)] = "clauses"
    similarity: Annotated[str, typer.Option(help=SIMILARITY)] = "align"
    embedder: Annotated[str, typer.Option(help=EMBEDDER)] = "minilm"
    percentile: Annotated[
        float, typer.Option(help="Segments are joined from this percentile of similarities on.", min=0, max=100)
    ] = 83.0
    alpha: Annotated[float | None, typer.Option(help="edua-g: added to the number of segments. [default: 10]")] = None
    beta: Annotated[float | None, typer.Option(help="edua-g: how fast tiers narrow. [default: 2.5]")] = None


@dataclass(frozen=True)
class Matching:
    """How units are found in peers."""

    matcher: Annotated[str, typer.Option(help=MATCHER)] = "align"
    top_k: Annotated[int | None, typer.Option(help="wmin, exact: units a segment may express. [default: 2]", min=1)] = (
        None
    )
    threshold: Annotated[
        float | None, typer.Option(help="wmin, exact: minimum similarity of a match. [default: 0.5]")
    ] = None


def _choices(context: typer.Context, building: Building, matching: Matching | None = None) -> Any:
    from pyramidion.pyramids.choices import Choices

    if building.similarity != "cosine":
        refuse_unused(context, "without --similarity cosine", "embedder")
    given = asdict(building) | (asdict(matching) if matching else {})
    return Choices(**{name: value for name, value in given.items() if value is not None})


def _refuse_building(
    context: typer.Context, study: Any, pyramid: str | None, matching: Matching, rebuild: bool = False
) -> None:
    """Refuse options for building pyramids if every topic already has one."""
    from pyramidion.jobs import topic_jobs

    if any(job.pyramid is None for job in topic_jobs(study, pyramid=pyramid, rebuild=rebuild)):
        return
    why = "here: every topic already has a pyramid, so none is built"
    refuse_unused(context, why, "partitioner", "percentile", "alpha", "beta")
    if matching.matcher == "align":
        refuse_unused(context, f"{why}, and the matcher align compares words", "similarity", "embedder")


@auto.command()
@grouped
def build(
    context: typer.Context,
    path: StudyPath,
    target: Annotated[
        str, typer.Option("--output", "-o", help="A .jsonl or .pyr file, a folder for .pyr files, or a study database.")
    ],
    builder: Annotated[
        str,
        typer.Option(help="auto (the options below), or llm:MODEL: a chat model writes units as crowd workers do."),
    ] = "auto",
    name: Annotated[str | None, typer.Option(help="What the pyramids are called. [default: auto, or llm]")] = None,
    statements: Annotated[int | None, typer.Option(help="llm: facts to write for each reference. [default: 8]")] = None,
    units_per_topic: Annotated[
        int | None, typer.Option(help="llm: units sampled for each topic. [default: 32]")
    ] = None,
    units_per_task: Annotated[int | None, typer.Option(help="llm: units in a judging task. [default: 16]")] = None,
    *,
    chatting: Chatting,
    building: Building,
    working: Working,
    reading: Reading,
) -> None:
    """Build a pyramid from the references of each topic."""
    output = reading.out
    written = {"statements": statements, "units_per_topic": units_per_topic, "units_per_task": units_per_task}
    kind, _, model = builder.partition(":")
    if kind == "llm" and model:
        why = f"with {builder}, which writes units instead of joining clauses"
        refuse_unused(context, why, *(part.name for part in fields(Building)), *WORKING)
        options = {part: value for part, value in written.items() if value is not None}
        study = reading.study(path)
        made, signature, usage = _written(study, model, name or "llm", options, chatting, output)
    elif builder == "auto":
        refuse_unused(context, "without --builder llm:MODEL", *written, *(part.name for part in fields(Chatting)))
        choices = _choices(context, building)
        study = reading.study(path)
        made, signature, usage = _built(study, choices, name or "auto", working, output)
    else:
        raise UsageError(f"--builder must be auto or llm:MODEL, not {builder!r}")
    _keep_built(study, made, name or kind, path, target, output, signature, usage)


def _built(
    study: Study, choices: Choices, name: str, working: Working, output: Output
) -> tuple[Study, str, JsonObject]:
    from pyramidion.evaluation import build_pyramids

    with working.started(output) as engine, output.progress(len(study.topics), "Building pyramids") as advance:
        made = build_pyramids(study, choices, name=name, engine=engine, advance=advance)
    return made, str(choices.signature(pyramid=name)), {}


def _written(
    study: Study, model: str, name: str, options: JsonObject, chatting: Chatting, output: Output
) -> tuple[Study, str, JsonObject]:
    """Units by a chat model; the cost is shown first."""
    from pyramidion.judging import write_units, written_topics
    from pyramidion.pyramids.writer import LlmWriter

    writer = LlmWriter(model, **options, **chatting.options())
    topics = written_topics(study)
    if not topics:
        raise UsageError("no topic has references to write units from")
    if not chatting.agreed(writer.estimate(topics.values()), writer, output):
        raise typer.Exit(1)
    with output.progress(len(topics), f"Writing units by {writer.name}") as advance:
        made = write_units(study, writer, name=name, advance=advance)
    tell_usage(writer, output)
    return made, str(writer.signature(name)), {"usage": usage_as_json(writer)}


def _keep_built(
    study: Study, made: Study, name: str, path: str, target: str, output: Output, signature: str, usage: JsonObject
) -> None:
    """Write the pyramids and say how many units there are."""
    from pyramidion.cli.options import open_desk
    from pyramidion.formats import is_database
    from pyramidion.formats.auto_run import write_pyramids
    from pyramidion.study import Study

    if is_database(target):
        desk = open_desk(target)
        try:
            new = tuple(pyramid for pyramid in made.pyramids if pyramid not in study.pyramids)
            known = {judge.id for judge in study.judges}
            judges = tuple(judge for judge in made.judges if judge.id not in known)
            desk.import_study(Study(pyramids=new, judges=judges) if target == path else made)
        finally:
            desk.database.close()
    else:
        write_pyramids(made, target, name=name)
    pyramids = [pyramid for pyramid in made.pyramids if pyramid.name == name]
    tiers = {p.topic: {str(weight): len(units) for weight, units in p.tiers.items()} for p in pyramids}
    notes = made.notes[len(study.notes) :]
    output.result({"written": target, "signature": signature, "tiers": tiers, "notes": as_json(notes), **usage})
    output.warn(notes)
    units = sum(len(pyramid.units) for pyramid in pyramids)
    output.show(f"Wrote {units} units in {len(pyramids)} pyramid{'s' * (len(pyramids) != 1)} to {plain(target)}.")


@auto.command()
@grouped
def score(
    context: typer.Context,
    path: StudyPath,
    target: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="Write the long table to .csv, .json, .jsonl or .parquet; repeatable."),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the study with pyramids and judgments to this .jsonl file.")
    ] = None,
    pyramid: Annotated[
        str | None,
        typer.Option(
            help="A pyramid of the study, also an expert's. [default: the one that `auto build` made, or a new one]"
        ),
    ] = None,
    by: Annotated[str, typer.Option("--by", help="What to print: system or summary.")] = "system",
    *,
    building: Building,
    matching: Matching,
    working: Working,
    reading: Reading,
) -> None:
    """Score every peer: raw, quality, coverage and comprehensive."""
    from pyramidion.cli.score import check_targets, show_table

    output, choices = reading.out, _choices(context, building, matching)
    targets = target or []
    for file in [*targets, *([save] if save else [])]:
        refuse_same(path, file)
    check_targets(targets, by)
    study = reading.study(path)
    _refuse_building(context, study, pyramid, matching)
    from pyramidion.evaluation import evaluate_study
    from pyramidion.formats import save as save_study

    total = len(study.peers) + len(study.topics)
    with working.started(output) as engine, output.progress(total, "Scoring") as advance:
        made = evaluate_study(study, choices, pyramid=pyramid, explain=save is not None, engine=engine, advance=advance)
    if save:
        save_study(made.study, save)
    show_table(made.table, targets, by, output)
    if save:
        output.show(f"Wrote {plain(str(save))}.")


@auto.command()
@grouped
def run(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="FOLDER", help="Texts in topic folders, or a study in any format.")],
    folder: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for all results; run again to continue an interrupted run.")
    ],
    pyramid: Annotated[
        str | None, typer.Option(help="Score against this pyramid of the study; by default new ones are built.")
    ] = None,
    *,
    building: Building,
    matching: Matching,
    working: Working,
    reading: Reading,
) -> None:
    """Build pyramids, score peers, and write scores, study, pyramids and a log to a folder."""
    from pyramidion.formats.score_tables import as_json as table_as_json

    output, choices = reading.out, _choices(context, building, matching)
    study = reading.study(path)
    _refuse_building(context, study, pyramid, matching, rebuild=pyramid is None)
    from pyramidion.evaluation import evaluate_into, write_run

    total = len(study.peers) + len(study.topics)
    try:
        with working.started(output) as engine, output.progress(total, "Building and scoring") as advance:
            done = evaluate_into(study, folder, choices, pyramid=pyramid, engine=engine, advance=advance)
        with output.busy("Writing the results"):
            done = write_run(done, folder)
    except KeyboardInterrupt:
        output.say(f"Stopped. Finished topics are kept in {folder}; run the same command again to go on after them.")
        raise
    table = replace(done.evaluation.table, notes=(*done.evaluation.table.notes, *done.notes))
    output.result({"folder": str(folder), "topics": len(done.topics), "known": done.known, **table_as_json(table)})
    output.show(table)
    output.warn(table.notes)
    if done.known:
        output.show(f"{done.known} of {len(done.topics)} topics were finished by an earlier run.")
    place = plain(str(folder))
    output.show(
        f"Wrote scores.csv, study.jsonl, {'' if done.notes else 'pyramids/ '}and log.txt to {place}/. Next:\n"
        f"  pyramidion analyze significance {place}/scores.csv\n"
        f"  pyramidion report {place}/study.jsonl"
    )


@auto.command("train-wtmf")
@grouped
def train_wtmf_(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="A file with one text per line, or a folder of .txt files.")
    ],
    target: Annotated[Path, typer.Option("--output", "-o", help="The .npz file to write the model to.")],
    dimensions: Annotated[int, typer.Option(help="Dimensions of a vector.", min=1)] = 100,
    rounds: Annotated[int, typer.Option(help="Iterations of alternating least squares.", min=1)] = 20,
    absent_weight: Annotated[float, typer.Option(help="Weight of a word that a text does not contain.")] = 0.01,
    regularisation: Annotated[float, typer.Option(help="Regularisation: larger values keep vectors shorter.")] = 20.0,
    min_count: Annotated[int, typer.Option(help="Minimum number of texts that contain a word.", min=1)] = 2,
    seed: Annotated[int, typer.Option(help="Seed for the initial vectors.")] = 0,
    *,
    printing: Printing,
) -> None:
    """Train WTMF vectors, for `--similarity cosine --embedder wtmf:MODEL.npz`."""
    import numpy as np

    from pyramidion.pyramids.wtmf import train

    if target.suffix.lower() != ".npz":
        raise UsageError(f"{target}: the model must be written to a .npz file")
    if not corpus.exists():
        raise UsageError(f"{corpus} does not exist")
    output = printing.out
    with output.progress(rounds, "Training") as advance:
        model = train(
            _corpus_texts(corpus),
            rng=np.random.default_rng(seed),
            dimensions=dimensions,
            rounds=rounds,
            absent_weight=absent_weight,
            regularisation=regularisation,
            min_count=min_count,
            progress=lambda _round, _loss: advance(1),
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    model.save(target)
    output.result({"written": str(target), "words": len(model.words), "losses": list(model.losses)})
    output.show(f"Wrote vectors of {len(model.words)} words to {plain(str(target))}.")


def _corpus_texts(corpus: Path) -> Iterator[str]:
    """The lines of a file, or the sentences of a folder's .txt files; what is not UTF-8 is left out."""
    from pyramidion.encoder.sentences import sentence_spans
    from pyramidion.errors import Problems
    from pyramidion.formats.files import read_lines, read_text

    problems = Problems()
    if corpus.is_file():
        yield from (line for _, line in read_lines(corpus, problems) if line.strip())
        return
    for file in sorted(corpus.rglob("*.txt")):
        text = read_text(file, problems) or ""
        yield from (span.of(text) for span in sentence_spans(text))
