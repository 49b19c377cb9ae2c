"""`pyramidion backup`, `restore`, `move` and `verify`: copies of a study database, and whether it is whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pyramidion.cli.options import Place, Printing, grouped, open_desk, refuse_unused
from pyramidion.cli.output import as_json, cell, counted, held, shown
from pyramidion.errors import UsageError, needs_extra
from pyramidion.terminal import TerminalTable

BackupPath = Annotated[Path, typer.Argument(metavar="BACKUP", help="A file written by `pyramidion backup`.")]


@grouped
def backup(
    place: Place,
    target: Annotated[Path, typer.Argument(metavar="DEST", help="The file to write.")],
    force: Annotated[bool, typer.Option("--force", help="Replace DEST if it exists.")] = False,
    *,
    printing: Printing,
) -> None:
    """Copy a study database into one file, also while it is served. It holds everything submitted before it began."""
    with needs_extra("A study database", "server"):
        from pyramidion.store.backup import back_up
    output = printing.out
    database = open_desk(place).database
    done = back_up(database, target, force=force, progress=partial(output.progress, what="Backing up"))
    output.result({"backup": done.path, "counts": done.counts, "bytes": done.bytes, "sha256": done.sha256})
    output.show(cell(f"Backed up {database.shown} to {done.path}: {held(done.counts)}."))
    output.show(cell(f"{done.bytes} bytes, SHA-256 {done.sha256}"))


@grouped
def restore_(
    source: BackupPath,
    place: Annotated[
        str, typer.Argument(metavar="STUDY", help="The study database to make: a .db file or a PostgreSQL URL.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="If STUDY exists, keep it aside: in another file, or another schema.")
    ] = False,
    *,
    printing: Printing,
) -> None:
    """Make a study database of a backup. People who were forgotten since are forgotten again if STUDY knows them."""
    with needs_extra("A study database", "server"):
        from pyramidion.campaigns.forgetting import forget_again
        from pyramidion.store.backup import restore
    output = printing.out
    with output.busy(f"Restoring {source}"):
        done = restore(source, place, force=force)
    database = open_desk(place).database
    again = forget_again(database, done.forgotten)
    output.result({"study": database.shown, "counts": done.counts, "aside": done.aside, "forgotten": len(again)})
    output.show(cell(f"Restored {database.shown} from {source}: {held(done.counts)}."))
    if done.aside:
        output.show(cell(f"What was there before is kept as {done.aside}."))
    if again:
        output.show(f"Forgot {counted(len(again), 'workers')} again, who had been forgotten since the backup was made.")
    elif not done.forgotten:
        output.say("If people were forgotten since the backup was made, forget them again: campaign forget-worker.")


@grouped
def move_(
    context: typer.Context,
    place: Place,
    target: Annotated[
        str, typer.Argument(metavar="[DEST]", help="Where it goes: a new .db file, or the URL of an empty PostgreSQL.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="If DEST has a study, keep it aside: in another file, or another schema.")
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Use STUDY again where it was, after a move or one that was interrupted.")
    ] = False,
    *,
    printing: Printing,
) -> None:
    """Move a study database from SQLite to PostgreSQL or back, also while it is served: nobody can change it from then
    on, everything is copied, and counts and checksums of both are compared."""
    with needs_extra("A study database", "server"):
        from pyramidion.store import moving
    output = printing.out
    if undo:
        refuse_unused(context, "with --undo", "target", "force")
        mark = moving.undo(place)
        output.result({"study": shown(place), "was_moved_to": mark.to, "arrived": mark.done})
        output.show(f"{shown(place)} can be used again.")
        if mark.done:
            output.say(f"What was added to {mark.to} since is only there.")
        return
    if not target:
        raise UsageError("say where to move it: a new .db file, or the URL of an empty PostgreSQL database")
    done = moving.move(place, target, force=force, progress=partial(output.progress, what="Moving"))
    tables = {name: {"rows": table.rows, "checksum": table.checksum} for name, table in done.tables.items()}
    output.result(
        {"from": done.source, "to": done.target, "counts": done.counts, "tables": tables, "aside": done.aside}
    )
    rows = [(name, str(table.rows), table.checksum[:16]) for name, table in done.tables.items() if table.rows]
    output.show(TerminalTable(("table", "rows", "checksum, the same on both sides"), rows))
    output.show(cell(f"Moved {done.source} to {done.target}: {held(done.counts)}."))
    if done.aside:
        output.show(cell(f"What was there before is kept as {done.aside}."))
    output.say(f"Next: end the server and start it there. {done.source} is as it was, and says where the study is now.")


@grouped
def verify_(
    place: Place,
    against: Annotated[
        Path | None, typer.Option("--against", metavar="BACKUP", help="Also look for every answer of this backup.")
    ] = None,
    receipts: Annotated[
        Path | None,
        typer.Option(
            "--receipts",
            metavar="FILE",
            help='Also look for every answer in this list of receipts: lines like {"assignment": 17, "key": "..."}.',
        ),
    ] = None,
    *,
    printing: Printing,
) -> None:
    """Check a study database: the file, every answer and its receipt, every task's places, decisions and payments. The
    exit status is 1 if anything is wrong."""
    with needs_extra("A study database", "server"):
        from pyramidion.campaigns.verification import read_receipts, verify
    output = printing.out
    kept = read_receipts(receipts) if receipts else []
    with output.busy("Verifying"):
        found = verify(place, backup=against, receipts=kept)
    output.result({"counts": found.counts, "receipts": len(kept), "problems": as_json(found.problems)})
    if found.problems:
        if not output.json:
            output.problems(found.problems)
        raise typer.Exit(1)
    also = [f"all {len(kept)} receipts"] if receipts else []
    also += [f"all answers of {against}"] if against else []
    output.show(cell(f"{found.place} is whole: {', '.join([held(found.counts), *also])}."))
