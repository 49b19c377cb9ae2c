"""`pyramidion campaign ...`: a campaign from the command line."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pyramidion.cli.options import Json, Place, Printing, Quiet, grouped, open_desk, refuse_unused
from pyramidion.cli.output import Output, as_json, cell, plain, shown
from pyramidion.errors import UsageError
from pyramidion.terminal import TerminalTable

if TYPE_CHECKING:
    from rich.text import Text

    from pyramidion.campaigns.round_report import RoundsReport
    from pyramidion.campaigns.sync import Notice
    from pyramidion.study.tasks import CampaignState

campaign = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Run a crowd campaign: plan it, watch it, decide about answers, export them.",
)

Name = Annotated[str, typer.Argument(metavar="CAMPAIGN", help="The campaign's name.")]
Worker = Annotated[str, typer.Argument(metavar="WORKER", help="The worker's id, as `campaign status` shows it.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def ask(question: str, yes: bool) -> None:
    """Continue only after a yes, typed or given as --yes."""
    if yes:
        return
    try:
        agreed = typer.confirm(question, default=False, err=True)
    except typer.Abort:
        raise UsageError("no answer was given; use --yes to continue without being asked") from None
    if not agreed:
        raise typer.Exit(2)


@campaign.command("plan")
@grouped
def plan_(
    context: typer.Context,
    place: Place,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="write, judge, rate or compare.")],
    name: Annotated[str, typer.Option("--name", help="The campaign's name. [default: KIND]")] = "",
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SETTING=VALUE", help="Change a setting; repeatable.")
    ] = None,
    topic: Annotated[list[str] | None, typer.Option("--topic", help="Only this topic; repeatable.")] = None,
    system: Annotated[list[str] | None, typer.Option("--system", help="Only this system; repeatable.")] = None,
    pyramid: Annotated[str | None, typer.Option(help="judge: the pyramid to use, if there are several.")] = None,
    with_model: Annotated[
        str | None,
        typer.Option(
            metavar="JUDGE",
            help="judge: let a model judge everything (align, lexical, nli:MODEL, or one that has judged the study), "
            "and ask people about a random part: more where the model is unsure.",
        ),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="With a model: the largest share of the units to ask about. [default: 0.25; with a goal 1]"),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="GOAL", help="With a model: ask in rounds until top, ranking, width=0.03 or pairs=90% is reached."
        ),
    ] = None,
    budget: Annotated[float | None, typer.Option(help="With a model: the most to spend, with the fee.")] = None,
    yes: Yes = False,
    *,
    printing: Printing,
) -> None:
    """Plan a campaign: print the number of tasks and the cost, ask, then start it."""
    from pyramidion.campaigns.plan import check_plan, plan
    from pyramidion.campaigns.scope import part_of
    from pyramidion.campaigns.sync import platform_of
    from pyramidion.errors import check_choice
    from pyramidion.study.tasks import KINDS, Settings

    output = printing.out
    check_choice("kind of campaign", kind, KINDS)
    if kind != "judge":
        refuse_unused(context, f"for a campaign of kind {kind}; only judging uses a pyramid", "pyramid")
    if kind == "write":
        refuse_unused(context, "for a campaign of kind write; workers write about references, not systems", "system")
    desk = open_desk(place)
    if any(known.name == (name or kind) for known in desk.campaigns.all()):
        raise UsageError(f"a campaign called {name or kind!r} already exists; choose another name with --name")
    given = {"model": with_model, "share": share, "until": until, "budget": budget}
    settings = Settings.for_kind(kind, **_joined(_settings(set_ or []), given))  # type: ignore[arg-type]
    study = desk.material()
    if settings.model:
        from pyramidion.cli.guiding import with_model_judgments

        check_plan(kind, name or kind, settings)  # type: ignore[arg-type]
        some = part_of(study, topic or (), system or ())
        study = with_model_judgments(desk, study, some, settings, pyramid, output)
    made = plan(
        study,
        kind,  # type: ignore[arg-type]
        name or kind,
        settings,
        pyramid=pyramid,
        topics=topic or (),
        systems=system or (),
    )
    platform_of(made.campaign, desk.database.secret)  # refuses settings that would keep workers out later
    output.show(
        f"Campaign {plain(made.campaign.name)} ({kind}): {len(made.tasks)} tasks for {settings.workers} workers each, "
        f"{made.assignments} assignments."
    )
    for sentence in made.sentences or [f"Cost: {made.cost}", *filter(None, [made.time])]:
        output.show(plain(sentence))
    output.warn(made.notes)
    ask("Start it?", yes)
    desk.start(made)
    design = {"design": made.sentences, "round_1": str(made.guide.first)} if made.guide else {}
    output.result({"campaign": made.campaign.name, "tasks": len(made.tasks), "cost": str(made.cost), **design})
    output.show(f"Started. Serve it: pyramidion serve {shown(place)}")
    if settings.platform == "local":
        output.show(f"Invite people: pyramidion campaign invite {shown(place)} {plain(made.campaign.name)} --count 20")


def _joined(settings: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Settings of --set and of options of their own; the same one twice is refused."""
    chosen = {name: value for name, value in options.items() if value is not None}
    for name in chosen.keys() & settings.keys():
        option = "with-model" if name == "model" else name
        raise UsageError(f"--{option} and --set {name}=... say the same; give one of them")
    if not (chosen | settings).get("model"):
        for name in chosen:
            raise UsageError(f"--{name} has no effect without --with-model")
    return settings | chosen


def _settings(chosen: list[str]) -> dict[str, Any]:
    from pyramidion.study.tasks import Settings

    kinds = {part.name: type(getattr(Settings(), part.name)) for part in fields(Settings)}
    settings: dict[str, Any] = {}
    for text in chosen:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in kinds:
            raise UsageError(f"--set {text}: unknown setting; known settings are: {', '.join(kinds)}")
        settings[name] = _value(text, value.strip(), kinds[name])
    return settings


def _value(text: str, value: str, kind: type) -> Any:
    if kind is bool:
        words = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False}
        if value.lower() not in words:
            raise UsageError(f"--set {text}: the value must be yes or no")
        return words[value.lower()]
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"--set {text}: {value!r} is not a number") from None


@campaign.command("status")
def status(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="[CAMPAIGN]", help="Only this campaign. [default: all]")] = "",
    json: Json = False,
) -> None:
    """Progress, agreement, time, flagged workers and cost so far."""
    from pyramidion.campaigns.monitor import overview
    from pyramidion.study.study import NOT_REAL

    output = Output(json)
    desk = open_desk(place)
    overviews = [overview(desk, name)] if name else [overview(desk, c.name) for c in desk.campaigns.all()]
    output.result([one.as_dict() for one in overviews])
    if not overviews:
        output.show("No campaigns yet. Next: pyramidion campaign plan")
    for one in overviews:
        p = one.progress
        agreed = "undefined" if one.alpha is None else f"{one.alpha:.3f}"
        alpha = f"alpha {agreed}; " if one.campaign.kind in {"judge", "rate"} else ""
        output.show(f"{plain(one.campaign.name)} ({one.campaign.kind}, {one.campaign.state})")
        if one.simulated:
            output.show(f"  SIMULATED: {one.simulated} of {len(one.workers)} workers are not people: {NOT_REAL}")
        output.show(
            f"  {p['submitted']} of {p['wanted']} assignments, {p['tasks_full']} of {p['tasks']} tasks done, "
            f"{p['leased']} in progress, {p['surplus']} surplus; {alpha}{one.cost}"
        )
        if one.rounds:
            show_rounds(one.rounds, output)
        if any(p[why] for why in ("rejected", "withdrawn", "reopened")):
            output.show(
                f"  in no score: {p['rejected']} rejected, {p['withdrawn']} withdrawn, {p['reopened']} re-opened; "
                f"{p['open']} places open"
            )
        for late in one.pending:
            what = f"{late.decision} of {len(late.answers)} answers" if late.decision else "no decision"
            output.show(f"  pending on {one.campaign.settings.platform}: {plain(late.worker)}, {what}", _because(late))
        rows = [
            (
                f"{worker.worker} (simulated)" if worker.simulated else worker.worker,
                str(worker.submitted),
                "-" if worker.median_seconds is None else f"{worker.median_seconds:.0f}",
                worker.agreement_shown or "-",
                "; ".join(flag.detail for flag in worker.flags),
                f"{worker.approved} of {worker.submitted}",
                worker.excluded or "",
                worker.blocked or "",
            )
            for worker in one.workers
        ]
        if rows:
            heads = ("worker", "done", "median s", "agreement", "flags", "approved", "excluded", "blocked")
            output.show(TerminalTable(heads, rows))


def show_rounds(report: RoundsReport, output: Output) -> None:
    """Where a campaign with a goal is, what is decided, and money."""
    for line in report.sentences:
        output.show(plain(f"  {line}"))


def _because(late: Notice) -> Text:
    return cell(f"({late.problem})" if late.problem else "(not sent yet; `campaign pay` sends it)")


def _change_state(place: str, name: str, state: CampaignState) -> None:
    desk = open_desk(place)
    from pyramidion.campaigns.advancing import change_state

    change_state(desk, name, state)
    Output().show(f"Campaign {plain(name)} is {state}.")


@campaign.command("pause")
def pause(place: Place, name: Name) -> None:
    """Assign no more tasks; work in progress is still accepted."""
    _change_state(place, name, "paused")


@campaign.command("resume")
def resume(place: Place, name: Name) -> None:
    """Assign tasks again."""
    _change_state(place, name, "running")


@campaign.command("close")
def close(place: Place, name: Name, yes: Yes = False) -> None:
    """End a campaign permanently; work in progress is still accepted."""
    ask(f"Close {name} permanently?", yes)
    _change_state(place, name, "closed")


@campaign.command("invite")
def invite(
    context: typer.Context,
    place: Place,
    name: Name,
    count: Annotated[int, typer.Option(help="Number of links to make.", min=1, max=100_000)] = 1,
    people: Annotated[
        Path | None,
        typer.Option(
            "--people",
            help="A text file with one name or address per line, instead of --count. Each person always gets the "
            "same link and is the same worker in all campaigns of the study.",
        ),
    ] = None,
    base_url: Annotated[
        str, typer.Option(help="The address at which people reach the server.")
    ] = "http://127.0.0.1:8000",
    json: Json = False,
) -> None:
    """Make personal invitation links, one per person. With --people, print worker id, link and name."""
    if people is not None:
        refuse_unused(context, "with --people, which determines the number of links", "count")
    desk = open_desk(place)
    from pyramidion.campaigns.management import invite_people, names_in

    made = invite_people(desk, name, names_in(people) if people else [""] * count, base_url)
    output = Output(json)
    output.result({"links": [one.link for one in made], "people": [one._asdict() for one in made if one.name]})
    for one in made:
        output.show(cell(" ".join(filter(None, (one.worker, one.link, one.name)))))
    if any(host in base_url for host in ("//127.0.0.1", "//localhost")):
        output.say(
            "These links open on this machine only; use --base-url to give the address at which others reach "
            "the server."
        )


@campaign.command("units")
@grouped
def units(
    place: Place,
    name: Name,
    seed: Annotated[int, typer.Option(help="Seed for sampling.")] = 0,
    yes: Yes = False,
    *,
    printing: Printing,
) -> None:
    """After writing: filter the written units, sample them, and store them as the crowd pyramid."""
    output = printing.out
    desk = open_desk(place)
    made = desk.make_units(name, seed=seed)
    output.result(
        {
            "kept": made.kept,
            "topics": {p.topic: [u.label for u in p.sampled] for p in made.pyramids},
            "notes": as_json(made.notes),
        }
    )
    output.warn(made.notes)
    sampled = sum(len(pyramid.sampled) for pyramid in made.pyramids)
    output.show(f"{made.kept} units kept in {len(made.pyramids)} topics, {sampled} sampled for judging.")
    ask("Store them as the crowd pyramid?", yes)
    desk.store_units(made)
    output.show(f"Stored. Next: pyramidion campaign plan {shown(place)} judge")


@campaign.command("export")
def export(
    place: Place,
    target: Annotated[Path, typer.Argument(metavar="DST", help="The file or folder to write.")],
    to: Annotated[str | None, typer.Option("--to", help="The format, if it does not follow from DST's name.")] = None,
    quiet: Quiet = False,
) -> None:
    """Write the study with all answers in any format; workers are pseudonyms."""
    from pyramidion.formats import guess_format, save

    output = Output(quiet=quiet)
    study = open_desk(place).study(keep_excluded=True)
    lost = save(study, target, format=to or guess_format(target))
    output.warn([*study.simulation_notes(), *lost])
    output.show(f"Wrote {plain(str(target))}.")
