"""`pyramidion score`."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from rich.table import Table

from pyramidion import plugins
from pyramidion.cli.output import Output, cell, plain
from pyramidion.errors import Problem, UsageError
from pyramidion.formats.score_tables import SUFFIXES, as_json, need_parquet, write_scores
from pyramidion.scoring.methods import fitting_method, score
from pyramidion.study import ScoreTable, Study


def run(study: Study, named: str | None, choices: dict[str, Any], targets: list[Path], by: str, output: Output) -> None:
    check_targets(targets, by)
    method = fitting_method(study, choices) if named is None else named
    accepted = inspect.signature(plugins.load("methods", method)).parameters
    if choices.get("min_agreement") == 0:
        choices["min_agreement"] = None
    if "track" in accepted:  # a bar, where the method can say how far it is
        table = score(study, method, **choices, track=lambda items: output.track(items, f"Scoring by {method}"))
    else:
        with output.busy(f"Scoring by {method}"):
            table = score(study, method, **choices)
    show_table(table, targets, by, output, shown=study.notes)


def check_targets(targets: list[Path], by: str) -> None:
    """Refuse what cannot be written or printed before any work is done."""
    if by not in {"system", "summary"}:
        raise UsageError(f"--by is system or summary, not {by!r}")
    for target in targets:
        if target.suffix.lower() not in SUFFIXES:
            raise UsageError(f"{target}: scores are written to {', '.join(SUFFIXES)}")
        if target.suffix.lower() == ".parquet":
            need_parquet()


def show_table(
    table: ScoreTable, targets: list[Path], by: str, output: Output, *, shown: tuple[Problem, ...] = ()
) -> None:
    """Write and print a table, with its notes but for those that were shown already."""
    for target in targets:
        write_scores(table, target)
    output.result(as_json(table))
    output.show(table if by == "system" else _by_summary(table))
    output.warn([note for note in table.notes if note not in shown])
    for target in targets:
        output.show(f"Wrote {plain(str(target))}.")


def _by_summary(table: ScoreTable) -> Table:
    drawn = Table(caption=str(table.signature), caption_justify="left")
    drawn.add_column("topic")
    drawn.add_column("system")
    for measure in table.measures:
        drawn.add_column(cell(measure), justify="right")
    values = {measure: table.per_summary(measure) for measure in table.measures}
    for topic, system in dict.fromkeys(key for found in values.values() for key in found):
        numbers = [values[measure].get((topic, system)) for measure in table.measures]
        drawn.add_row(cell(topic), cell(system), *("-" if n is None else f"{n:.4f}" for n in numbers))
    return drawn
