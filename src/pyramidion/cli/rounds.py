"""`pyramidion campaign looks|advance|go-on`: campaigns that ask in rounds until their goal is reached."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyramidion.campaigns import TOKEN
from pyramidion.cli.campaign import Name, show_rounds
from pyramidion.cli.decisions import ACTOR, campaign
from pyramidion.cli.options import Json, Place, open_desk
from pyramidion.cli.output import Output, counted, plain
from pyramidion.errors import UsageError
from pyramidion.terminal import TerminalTable

if TYPE_CHECKING:
    from pyramidion.analysis.stopping import Look
    from pyramidion.campaigns.advancing import Advance
    from pyramidion.campaigns.desk import CampaignDesk
    from pyramidion.campaigns.round_report import RoundsReport

__all__ = ["campaign"]
"""The commands of `pyramidion campaign`, including those defined here."""


@campaign.command("looks")
def looks(place: Place, name: Name, json: Json = False) -> None:
    """What was seen after each round of a campaign with a goal: scores with intervals, and which pairs of systems are
    decided. A look is taken only after a round: looking more often would decide wrongly more often."""
    report, output = _report(open_desk(place), name), Output(json)
    output.result(report.as_dict())
    for taken in report.looks:
        look = taken.look
        at = datetime.fromtimestamp(taken.at, UTC).isoformat(" ", "minutes").removesuffix("+00:00")
        output.show(
            plain(
                f"Look {look.number} of {look.looks} ({at} UTC, {taken.actor}): {len(look.decided)} of {look.pairs} "
                f"pairs decided{', the goal is reached' if look.reached else ''}"
            )
        )
        output.show(_standings(look))
        if new := [pair for pair in look.decided if pair.look == look.number]:
            rows = [(one.better, one.worse, f"{one.difference:.3f}") for one in new]
            output.show(TerminalTable(("better", "worse", "difference"), rows))
        for note in look.notes:
            output.show(plain(f"  {note}"))
    if not report.looks:
        output.show("No look yet: the first is taken when all tasks of round 1 have their answers.")
    show_rounds(report, output)


def _standings(look: Look) -> TerminalTable:
    rows = [(s.system, *_interval(s.score, s.low, s.high), "yes" if s.active else "no") for s in look.standings]
    return TerminalTable(("system", "score", "interval", "asked on"), rows)


def _interval(value: float, low: float, high: float) -> tuple[str, str]:
    return f"{value:.3f}", f"{low:.3f} to {high:.3f}"


@campaign.command("advance")
def advance_(
    place: Place,
    name: Name,
    token: Annotated[
        str, typer.Option(envvar=TOKEN, help="The platform's API token, to let in the people that a round needs.")
    ] = "",
    json: Json = False,
) -> None:
    """Without a server: take the look that is due, then release the next round or stop. A server does it by itself.
    Doing it twice changes nothing."""
    from pyramidion.campaigns.advancing import advance

    desk, output = open_desk(place), Output(json)
    done = advance(desk, name, actor=ACTOR)
    places = _places(desk, name, token) if token else None
    report = _report(desk, name)
    output.result({**_as_dict(done), "places": places, "rounds": report.as_dict()})
    output.show(plain(_sentence(done)))
    if places is not None:
        output.show(f"The study on the platform has {places} places now.")
    show_rounds(report, output)


def _as_dict(done: Advance) -> dict[str, Any]:
    return {
        "look": done.look.look.number if done.look else None,
        "released": asdict(done.released) if done.released else None,
        "stop": asdict(done.stop) if done.stop else None,
        "state": done.state,
        "open_tasks": done.open_tasks,
    }


def _sentence(done: Advance) -> str:
    look = f"Look {done.look.look.number} taken. " if done.look else ""
    if done.released:
        made = done.released
        return f"{look}Round {made.number} released: {counted(made.tasks, 'tasks')} for {len(made.systems)} systems."
    if done.stop:
        return f"{look}Stopped: {done.stop.text}."
    if done.open_tasks and done.state == "running":
        return f"Nothing to do yet: {counted(done.open_tasks, 'tasks')} of this round still lack answers."
    return f"{look}Nothing to do: the campaign is {done.state}."


def _places(desk: CampaignDesk, name: str, token: str) -> int | None:
    from pyramidion.campaigns.recruiting import recruit
    from pyramidion.campaigns.sync import platform_of

    return recruit(desk, name, platform_of(desk.campaigns.get(name), desk.database.secret, token))


@campaign.command("go-on")
def go_on_(
    place: Place,
    name: Name,
    reason: Annotated[str, typer.Option("--reason", help="The reason; recorded with the round.")],
    json: Json = False,
) -> None:
    """Release one more round of a campaign that has reached its goal, for the systems that were asked about last. The
    budget still holds. To stop for good, use `campaign close`."""
    from pyramidion.campaigns.advancing import go_on

    output = Output(json)
    made = go_on(open_desk(place), name, actor=ACTOR, reason=reason)
    output.result(asdict(made))
    output.show(f"Round {made.number} released: {counted(made.tasks, 'tasks')} for {len(made.systems)} systems.")


def _report(desk: CampaignDesk, name: str) -> RoundsReport:
    from pyramidion.campaigns.round_report import report_rounds

    report = report_rounds(desk, name)
    if report is None:
        raise UsageError(f"campaign {name} has no goal, so it has no rounds; plan one with --with-model and --until")
    return report
