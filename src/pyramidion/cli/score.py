"""`pyramidion score`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyramidion.cli.options import (
    Annotators,
    By,
    Compat,
    PyramidName,
    Reading,
    StudyPath,
    Tables,
    Weights,
    grouped,
    refuse_same,
)
from pyramidion.cli.output import Output, plain
from pyramidion.errors import Problem, UsageError

if TYPE_CHECKING:
    from pyramidion.study import ScoreTable
    from pyramidion.terminal import TerminalTable


@dataclass(frozen=True)
class MethodOptions:
    """What may be chosen about a method. Only what was typed reaches it; a method refuses what it does not know."""

    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="A measure of the method; repeat for several.")
    ] = None
    pyramid: PyramidName = None
    judges: Annotated[
        str | None,
        typer.Option(
            help="all, people, expert, crowd, model, or one judge's id. [default: the kind of judge that the method "
            "uses]"
        ),
    ] = None
    aggregate: Annotated[
        str | None, typer.Option(help="lite: majority, mean, wawa, dawid-skene, mace or glad. [default: majority]")
    ] = None
    tie: Annotated[str | None, typer.Option(help="lite: what a tie counts as. [default: absent]")] = None
    min_agreement: Annotated[
        float | None,
        typer.Option(help="lite: leave out workers whose agreement is below this; 0 keeps all. [default: 0.5]"),
    ] = None
    rounds: Annotated[int | None, typer.Option(help="lite: rounds of leaving out workers. [default: 1]", min=1)] = None
    agreement: Annotated[
        str | None, typer.Option(help="lite: positional; sequence is deprecated, use --compat. [default: positional]")
    ] = None
    seed: Annotated[
        int | None, typer.Option(help="lite: seed for aggregators that use random numbers. [default: 0]", min=0)
    ] = None
    compat: Compat = None
    weights: Weights = None
    annotators: Annotators = None
    rounding: Annotated[
        str | None,
        typer.Option(help="pyramid: how X_a is rounded: half-up, floor, ceiling or half-even. [default: half-up]"),
    ] = None
    clip: Annotated[bool | None, typer.Option("--clip", help="pyramid: limit scores to 1.")] = None
    combine: Annotated[
        str | None, typer.Option(help="rouge: combine references by average, best or jackknife. [default: average]")
    ] = None
    tokens: Annotated[str | None, typer.Option(help="rouge: ascii or unicode words. [default: ascii]")] = None
    stem: Annotated[bool | None, typer.Option("--stem/--no-stem", help="rouge: Porter stems. [default: stem]")] = None

    def given(self) -> dict[str, Any]:
        typed = {name: value for name, value in vars(self).items() if value is not None}
        if "measure" in typed:
            typed["measures"] = typed.pop("measure")
        if typed.get("min_agreement") == 0:
            typed["min_agreement"] = None
        return typed


@grouped
def score(
    path: StudyPath,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", "-m", help="pyramid, lite, responsiveness, rouge or auto. [default: what fits the study]"
        ),
    ] = None,
    target: Tables = None,
    by: By = "system",
    *,
    choices: MethodOptions,
    reading: Reading,
) -> None:
    """Score every summary and system of a study; a signature says how."""
    from pyramidion import plugins
    from pyramidion.scoring.methods import fitting_method
    from pyramidion.scoring.methods import score as score_study

    for file in target or []:
        refuse_same(path, file)
    output, study, given = reading.out, reading.study(path), choices.given()
    check_targets(target or [], by)
    method = fitting_method(study, given) if method is None else method
    if "track" in inspect.signature(plugins.load("methods", method)).parameters:  # it can say how far it is
        table = score_study(study, method, **given, track=lambda items: output.track(items, f"Scoring by {method}"))
    else:
        with output.busy(f"Scoring by {method}"):
            table = score_study(study, method, **given)
    show_table(table, target or [], by, output, shown=study.notes)


def check_targets(targets: list[Path], by: str) -> None:
    """Refuse what cannot be written or printed before any work is done."""
    from pyramidion.formats.score_tables import SUFFIXES, need_parquet

    if by not in {"system", "summary"}:
        raise UsageError(f"--by must be system or summary, not {by!r}")
    for target in targets:
        if target.suffix.lower() not in SUFFIXES:
            raise UsageError(f"{target}: scores can be written to {', '.join(SUFFIXES)}")
        if target.suffix.lower() == ".parquet":
            need_parquet()


def show_table(
    table: ScoreTable,
    targets: list[Path],
    by: str,
    output: Output,
    *,
    shown: tuple[Problem, ...] = (),
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Write and print a table, with the notes that were not shown yet. ``beside`` goes into the JSON as well."""
    from pyramidion.formats.score_tables import as_json, write_scores

    for target in targets:
        write_scores(table, target)
    output.result({**as_json(table), **(beside or {})})
    output.show(table if by == "system" else _by_summary(table))
    output.warn([note for note in table.notes if note not in shown])
    for target in targets:
        output.show(f"Wrote {plain(str(target))}.")


def _by_summary(table: ScoreTable) -> TerminalTable:
    from pyramidion.terminal import TerminalTable

    values = {measure: table.per_summary(measure) for measure in table.measures}
    rows = [
        (topic, system, *("-" if (n := values[m].get((topic, system))) is None else f"{n:.4f}" for m in values))
        for topic, system in dict.fromkeys(pair for scores in values.values() for pair in scores)
    ]
    return TerminalTable(("topic", "system", *values), rows, caption=str(table.signature), naming=2)
