"""`pyramidion campaign forget-worker|forget-expired`: erase what is stored about people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from pyramidion.cli.campaign import Worker, Yes, ask
from pyramidion.cli.options import Place, Printing, grouped, open_desk
from pyramidion.cli.output import Output, cell, counted, held
from pyramidion.cli.rehearsal import campaign

if TYPE_CHECKING:
    from pyramidion.campaigns.forgetting import Forgotten
    from pyramidion.errors import Problem

DryRun = Annotated[bool, typer.Option("--dry-run", help="Count what would be erased, and erase nothing.")]
__all__ = ["campaign"]
"""The commands of `pyramidion campaign`, including those defined here."""


@campaign.command("forget-worker")
@grouped
def forget_worker_(
    place: Place,
    worker: Worker,
    unpaid: Annotated[
        bool, typer.Option("--unpaid", help="Also if the platform still has to be told or paid; then nobody can.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    *,
    printing: Printing,
) -> None:
    """Erase a person: platform ids, drafts, comments, pasted texts, reasons given about them, and their id wherever it
    is. Their answers stay under another id, so that scores do not change."""
    from pyramidion.campaigns.forgetting import forget_worker

    output, database = printing.out, open_desk(place).database
    planned = forget_worker(database, worker, unpaid=unpaid, dry_run=True)
    if dry_run:
        output.result({"worker": worker, "erased": planned.erased, "answers": planned.answers, "dry_run": True})
        output.show(cell(f"Would forget {worker}: {_effects(planned)}."))
        return
    output.show(cell(f"To forget {worker}: {_effects(planned)}."))
    ask(f"Forget {worker} permanently?", yes)
    done = forget_worker(database, worker, unpaid=unpaid)
    output.result(
        {"worker": worker, "erased": done.erased, "answers": done.answers, "replacement": done.replacement}
        | _left(done.leftover)
    )
    output.show(cell(f"Forgot {worker}: {_effects(done, 'erased', 'kept')} as {done.replacement}."))
    _report(done.leftover, database.shown, output)


@campaign.command("forget-expired")
@grouped
def forget_expired_(place: Place, dry_run: DryRun = False, *, printing: Printing) -> None:
    """Erase platform ids, sessions, drafts, comments and pasted texts in campaigns that have been quiet for longer than
    their setting keep_days. The server does the same when it starts and every day."""
    from pyramidion.campaigns.forgetting import forget_expired

    output, database = printing.out, open_desk(place).database
    done = forget_expired(database, dry_run=dry_run)
    leftover = done.leftover if dry_run or done.erased else database.scrub()  # of earlier runs that were prevented
    output.result(
        {"campaigns": done.campaigns, "erased": done.erased, "kept": done.kept, "dry_run": dry_run} | _left(leftover)
    )
    would = "Would erase" if dry_run else "Erased"
    output.show(cell(f"{would} in {', '.join(done.campaigns) or 'no campaign'}: {_listed(done.erased)}."))
    for worker, what in done.kept.items():
        output.say(f"kept {worker}: {what}")
    _report(leftover, database.shown, output)


def _effects(forgotten: Forgotten, erase: str = "erase", keep: str = "keep") -> str:
    return f"{erase} {_listed(forgotten.erased)}; {keep} {counted(forgotten.answers, 'answers')}"


def _listed(erased: Mapping[str, int]) -> str:
    return held(erased) or "nothing"


def _left(leftover: Problem | None) -> dict[str, object]:
    return {"leftover": leftover.as_dict() if leftover else None}


def _report(leftover: Problem | None, study: str, output: Output) -> None:
    if leftover is None:
        return
    output.say(
        f"error: {leftover}. Everything is erased from the tables, but traces may be left in the files; stop whatever "
        f"uses the study, then run: pyramidion campaign forget-expired {study}"
    )
    raise typer.Exit(1)
