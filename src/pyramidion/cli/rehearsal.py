"""`campaign rehearse`: simulated workers complete a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from pyramidion.cli.campaign import Name, ask, show_rounds
from pyramidion.cli.options import Place, Printing, grouped, open_desk, refuse_unused
from pyramidion.cli.output import plain, shown
from pyramidion.cli.rounds import campaign
from pyramidion.terminal import TerminalTable

if TYPE_CHECKING:
    from pyramidion.campaigns.rehearsal import GateReport

__all__ = ["campaign"]
"""The commands of `pyramidion campaign`, including the one defined here."""


def _share_of(what: str) -> Any:
    return typer.Option(help=f"Share of {what}.", min=0, max=1)


@campaign.command("rehearse")
@grouped
def rehearse(
    context: typer.Context,
    place: Place,
    name: Name,
    workers: Annotated[int, typer.Option(help="Number of simulated workers.", min=1, max=100_000)] = 30,
    careless: Annotated[float, _share_of("careless workers")] = 0.2,
    adversarial: Annotated[float, _share_of("adversarial workers, who mostly say the opposite")] = 0.05,
    bots: Annotated[float, _share_of("bots, which read nothing and answer at random at once")] = 0.05,
    copiers: Annotated[float, _share_of("workers who copy the text, or answer every task alike")] = 0.03,
    speeders: Annotated[float, _share_of("workers who hardly look")] = 0.03,
    straight_liners: Annotated[float, _share_of("workers who give one answer throughout a task")] = 0.03,
    colluders: Annotated[float, _share_of("workers who send the same answers in pairs")] = 0.05,
    abandon: Annotated[float, typer.Option(help="Share of tasks that are abandoned.", min=0, max=1)] = 0.05,
    seed: Annotated[int, typer.Option(help="Seed for all random draws.")] = 0,
    copy: Annotated[
        Path | None,
        typer.Option(
            help="The new file that is filled. [default: for study.db study-rehearsal.db, beside it; for a PostgreSQL "
            "database NAME-rehearsal.db in this folder]"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the copy of an earlier rehearsal.")] = False,
    in_place: Annotated[
        bool,
        typer.Option("--in-place", help="Fill the study itself. Simulated answers then stay in it, marked as such."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --in-place: do not ask for confirmation.")] = False,
    *,
    printing: Printing,
) -> None:
    """Let simulated workers complete a campaign, to see how it would run and whom it catches. They work in a copy of
    the study, which you can delete afterwards; a copy that was made for this is filled itself.

    Workers who fail the comprehension check get no task. All others are careful.
    """
    from pyramidion.campaigns.rehearsal import rehearse_campaign

    output = printing.out
    filled = _fill(context, place, name, copy=copy, force=force, in_place=in_place, yes=yes)
    desk = open_desk(filled)
    with output.busy("Rehearsing"):
        done = rehearse_campaign(
            desk,
            name,
            workers=workers,
            shares={
                "bot": bots,
                "copier": copiers,
                "speeder": speeders,
                "straight-liner": straight_liners,
                "colluder": colluders,
            },
            careless=careless,
            adversarial=adversarial,
            abandon=abandon,
            seed=seed,
        )
    counts = {"submitted": done.submitted.total(), "workers": len(done.submitted), "abandoned": done.abandoned}
    rounds = {"rounds": done.rounds.as_dict()} if done.rounds else {}
    output.result(
        {"study": filled, "simulated": True, **counts, "gates": [asdict(gate) for gate in done.gates], **rounds}
    )
    if filled != place:
        output.show(f"Rehearsed in a copy, {shown(filled)}; {shown(place)} is unchanged. Delete the copy when done.")
    output.show(f"{done.submitted.total()} tasks by {len(done.submitted)} simulated workers, {done.abandoned} left.")
    output.show(_gates_table(done.gates))
    output.show("Check: failed, of those who came. Flags: of those who worked. Caught: failed or flagged, of all.")
    if done.rounds:
        show_rounds(done.rounds, output)
        judged = done.rounds.judged
        output.show(
            f"Asking about everything takes {judged.whole:,} judgments; {judged.asked:,} were asked, so "
            f"{judged.whole - judged.asked:,} ({(judged.whole - judged.asked) / judged.whole:.0%}) were saved."
        )
    output.show(f"Next: pyramidion campaign status {shown(filled)} {plain(name)}")


def _fill(
    context: typer.Context, place: str, name: str, *, copy: Path | None, force: bool, in_place: bool, yes: bool
) -> str:
    """The study that is to be filled: a copy, which is made, unless this is one or the real one is wanted."""
    from pyramidion.campaigns.rehearsal import check_running, copy_for_rehearsal, is_rehearsal, rehearsal_place

    desk = open_desk(place)
    check_running(desk, name)
    if is_rehearsal(desk.database):
        refuse_unused(context, "for a copy that was made for rehearsals", "copy", "force", "in_place", "yes")
        return place
    if in_place:
        refuse_unused(context, "with --in-place", "copy", "force")
        what = (
            "Places that simulated workers take are not offered to anybody else, and their answers stay in the study."
        )
        ask(f"{what} Fill {shown(place)} itself?", yes)
        return place
    refuse_unused(context, "without --in-place", "yes")
    target = copy or rehearsal_place(desk.database, place)
    copy_for_rehearsal(desk.database, target, force=force)
    return str(target)


def _gates_table(gates: Sequence[GateReport]) -> TerminalTable:
    """A row for each kind of worker, a column for each gate that caught anybody."""
    from pyramidion.campaigns.signs import Reason

    reasons = [reason for reason in get_args(Reason) if any(gate.flagged.get(reason) for gate in gates)]
    rows = [
        (
            gate.kind,
            str(gate.came),
            _percent(gate.failed_check, gate.came),
            str(gate.worked),
            *(_percent(gate.flagged.get(reason, 0), gate.worked) for reason in reasons),
            _percent(gate.caught, gate.came),
        )
        for gate in gates
    ]
    return TerminalTable(("kind", "came", "check", "worked", *reasons, "caught"), rows)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "-"
