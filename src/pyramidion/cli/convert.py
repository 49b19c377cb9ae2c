"""`pyramidion validate` and `convert`: what a file holds, and the same in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pyramidion.cli.options import From, NamedColumns, Printing, Reading, StudyPath, grouped, refuse_same
from pyramidion.cli.output import as_json, counted, held, plain
from pyramidion.errors import UsageError


@grouped
def validate(path: StudyPath, format: From = None, columns: NamedColumns = None, *, printing: Printing) -> None:
    """List every problem of a study or file, with its location."""
    from pyramidion.formats import inspect

    output = printing.out
    with output.busy(f"Reading {path}"):
        loaded = inspect(path, format=format, columns=columns)
    counts = loaded.study.counts()
    found = {"format": loaded.format, "recognised": loaded.recognised, "valid": not loaded.errors, "counts": counts}
    output.result({**found, "problems": as_json(loaded.problems)})
    if loaded.recognised:
        output.say(loaded.recognised)
    if not printing.json:
        output.problems(loaded.problems, most=None)
    output.show(f"{loaded.format}: {held(counts) or 'nothing'}")
    warnings = len(loaded.problems) - len(loaded.errors)
    if loaded.errors:
        output.show(f"{counted(len(loaded.errors), 'errors')}, {counted(warnings, 'warnings')}.")
        raise typer.Exit(1)
    output.show(f"Valid, with {counted(warnings, 'warnings')}." if warnings else "Valid.")


@grouped
def convert(
    source: Annotated[str, typer.Argument(metavar="SRC", help="The study to read.")],
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file or folder to write.")],
    to: Annotated[
        str | None, typer.Option("--to", help="The format to write, if it does not follow from DST's name.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace DST if it is an existing file.")] = False,
    *,
    reading: Reading,
) -> None:
    """Convert a study to another format and report what that format cannot hold."""
    from pyramidion.formats import guess_format, save

    output = reading.out
    refuse_same(source, target)
    if target.is_file() and not force:
        raise UsageError(f"{target} already exists; --force replaces it")
    study = reading.study(source)
    chosen = to or guess_format(target, study)
    with output.busy(f"Writing {target}"):
        lost = save(study, target, format=chosen)
    output.result({"written": str(target), "format": chosen, "notes": as_json([*study.notes, *lost])})
    output.warn(lost)
    output.show(f"Wrote {plain(str(target))} ({chosen}).")
