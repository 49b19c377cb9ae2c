"""`pyramidion campaign approve|reject|...`: what a manager decides about workers and answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pyramidion.campaigns import TOKEN
from pyramidion.cli.campaign import Name, Worker, campaign
from pyramidion.cli.options import Json, Place, Printing, grouped, open_desk
from pyramidion.cli.output import Output, cell, counted, plain
from pyramidion.errors import UsageError
from pyramidion.terminal import TerminalTable

if TYPE_CHECKING:
    from pyramidion.campaigns.decisions import Effect
    from pyramidion.campaigns.desk import CampaignDesk
    from pyramidion.campaigns.management import AnswerChoice, Effects, WorkerChoice
    from pyramidion.campaigns.platforms import Platform
    from pyramidion.campaigns.sync import Intent, Report

Answers = Annotated[
    list[int] | None,
    typer.Argument(metavar="[ANSWER]...", help="Ids of answers to this campaign, as --dry-run shows them."),
]
OfOne = Annotated[
    str, typer.Option("--worker", metavar="WORKER", help="Instead of ids: all answers of this worker to the campaign.")
]
Reason = Annotated[str, typer.Option("--reason", help="The reason; recorded with the decision.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="List what would change, one by one, and change nothing.")]
Token = Annotated[str, typer.Option(envvar=TOKEN, help="The platform's API token.")]
ACTOR = "command line"
__all__ = ["campaign"]
"""The commands of `pyramidion campaign`, including those defined here."""


# -- answers -------------------------------------------------------------------------------------------------


def _decide(
    place: str,
    action: AnswerChoice,
    name: str,
    answers: list[int] | None,
    worker: str,
    reason: str,
    dry_run: bool,
    json: bool,
) -> None:
    from pyramidion.campaigns.management import decide_answers

    desk, output = open_desk(place), Output(json)
    how = {"worker": worker, "actor": ACTOR, "reason": reason}
    done = decide_answers(desk, action, name, answers or [], **how, dry_run=dry_run)
    output.result({**done.as_dict(), "dry_run": dry_run})
    _show(output, action, done, reason, dry_run)


def _show(output: Output, action: str, done: Effects, reason: str, dry_run: bool) -> None:
    for one in done.answers:
        output.show(cell(f"  answer {one.answer}: {_about(one)}; {_fate(one)}"))
    changed = counted(len(done.changed), "answers")
    effects = [f"{done.removed} removed from scores"] if done.removed else []
    effects += [f"{done.counted_again} counted again"] if done.counted_again else []
    prefix = "would " if dry_run else ""
    output.show(cell(f"{prefix}{action}: {', '.join([f'{changed} to {done.campaign}', *effects])} ({reason})"))
    output.warn(done.notes)


def _about(one: Effect) -> str:
    return ", ".join(filter(None, (f"task {one.task}", one.topic, one.system, f"worker {one.worker}")))


def _fate(one: Effect) -> str:
    if not one.changed:
        return "unchanged"
    if one.counted_before > one.counted:
        return "removed from scores, its place is open"
    if one.counted > one.counted_before:
        return "counts again"
    return "counts" if one.counted else "does not count"


@campaign.command("approve")
def approve(
    place: Place,
    name: Name,
    answers: Answers = None,
    worker: OfOne = "",
    unflagged: Annotated[
        bool,
        typer.Option("--unflagged", help="Instead of ids: the answers of all workers without a flag in this campaign."),
    ] = False,
    reason: Reason = "good work",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Approve answers to a campaign: by id, all undecided answers of a worker, or those of all unflagged workers. A
    rejected answer counts again if its place is still free."""
    if not unflagged:
        return _decide(place, "approve", name, answers, worker, reason, dry_run, json)
    if answers or worker:
        raise UsageError("--unflagged covers everybody without a flag; remove the ids and --worker")
    from pyramidion.campaigns.management import approve_unflagged

    done = approve_unflagged(open_desk(place), name, actor=ACTOR, reason=reason, dry_run=dry_run)
    output = Output(json)
    output.result({"campaign": name, **done._asdict(), "dry_run": dry_run})
    output.show(
        f"{'would ' if dry_run else ''}approve: {len(done.workers)} workers, {done.submissions} submissions "
        f"({plain(reason)}); {len(done.left)} flagged or excluded workers are left for you to decide."
    )


def _answer_command(action: AnswerChoice, text: str) -> None:
    """Add the command for a decision about answers that needs a reason."""

    def command(
        place: Place,
        name: Name,
        reason: Reason,
        answers: Answers = None,
        worker: OfOne = "",
        dry_run: DryRun = False,
        json: Json = False,
    ) -> None:
        _decide(place, action, name, answers, worker, reason, dry_run, json)

    campaign.command(action, help=text)(command)


_answer_command(
    "reject",
    """Reject answers to a campaign: by id, or all undecided answers of a worker. They are not paid, count in no score,
    and their places are offered to other workers.
    """,
)
_answer_command("reopen", "Ask somebody else: the answers no longer count in scores, but can still be paid.")
_answer_command("unapprove", "Undo an approval that the platform was not told about: the answers are undecided again.")
_answer_command("restore", "Undo a rejection or re-opening: answers count again if nobody else has taken the place.")


# -- workers -------------------------------------------------------------------------------------------------


def _decide_worker(
    place: str, action: WorkerChoice, worker: str, reason: str, amount: float | None = None, campaign: str = ""
) -> None:
    from pyramidion.campaigns.management import decide_worker

    decide_worker(open_desk(place), action, worker, actor=ACTOR, reason=reason, amount=amount, campaign=campaign)
    Output().show(f"{action}: {plain(worker)} ({plain(reason)})")


def _worker_command(action: WorkerChoice, text: str) -> None:
    """Add the command for a decision about a worker that needs only a reason."""

    def command(place: Place, worker: Worker, reason: Reason) -> None:
        _decide_worker(place, action, worker, reason)

    campaign.command(action, help=text)(command)


_worker_command("exclude", "Leave a worker's answers out of scoring, in all campaigns. Nobody else is asked instead.")
_worker_command("include", "Undo an exclusion.")


@campaign.command("block")
def block(
    place: Place,
    worker: Worker,
    reason: Reason,
    remove_answers: Annotated[
        bool, typer.Option("--remove-answers", help="Also reject all their answers to --campaign.")
    ] = False,
    name: Annotated[
        str, typer.Option("--campaign", help="The campaign from which --remove-answers removes answers.")
    ] = "",
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Give a worker no more tasks, in any campaign. Their answers are kept unless --remove-answers is given."""
    if remove_answers != bool(name):
        raise UsageError(
            "--remove-answers and --campaign must be used together; the block itself applies to all campaigns"
        )
    output = Output(json)
    if remove_answers:
        from pyramidion.campaigns.management import block_and_remove

        done = block_and_remove(open_desk(place), worker, name, actor=ACTOR, reason=reason, dry_run=dry_run)
        output.result(
            {
                "worker": worker,
                "rejected": done.rejected.as_dict(),
                "reopened": done.reopened.as_dict(),
                "dry_run": dry_run,
            }
        )
        _show(output, "reject", done.rejected, reason, dry_run)
        if done.reopened.answers:
            _show(output, "reopen", done.reopened, "already approved on the platform", dry_run)
    elif dry_run:
        raise UsageError("--dry-run lists answers, so it needs --remove-answers")
    else:
        from pyramidion.campaigns.management import decide_worker

        decide_worker(open_desk(place), "block", worker, actor=ACTOR, reason=reason)
        output.result({"worker": worker})
    output.show(f"{'would ' if dry_run else ''}block: {plain(worker)} ({plain(reason)})")


_worker_command("unblock", "Undo a block. Use `campaign restore` to bring back answers that were removed with it.")


@campaign.command("bonus")
def bonus(
    place: Place,
    name: Name,
    worker: Worker,
    amount: Annotated[float, typer.Argument(help="The amount, in the campaign's currency.", min=0.01)],
    reason: Reason = "thoughtful work",
) -> None:
    """Put a worker on the bonus list, for their work on a campaign. `campaign pay` pays it to the session in which they
    worked last."""
    _decide_worker(place, "bonus", worker, reason, amount, name)


# -- platforms -----------------------------------------------------------------------------------------------


@campaign.command("pay")
def pay(
    place: Place,
    name: Name,
    token: Annotated[str, typer.Option(envvar=TOKEN, help="The platform's API token.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List what would be sent, session by session, and send nothing.")
    ] = False,
    json: Json = False,
) -> None:
    """Follow the platform, then send it approvals, rejections and bonuses, each to the session it is about. What cannot
    be sent stays pending and is tried again next time; the exit status is then 1."""
    desk = open_desk(place)
    from pyramidion.campaigns.sync import list_intents, pay_decisions

    if dry_run:
        _show_intents(list_intents(desk, name), desk.campaigns.get(name).settings.currency, Output(json))
        return
    if not token:
        raise UsageError(f"paying needs the platform's API token: --token or the environment variable {TOKEN}")
    _report(pay_decisions(desk, name, _platform(desk, name, token)), Output(json))


def _show_intents(intents: list[Intent], currency: str, output: Output) -> None:
    output.result([intent._asdict() for intent in intents])
    for one in intents:
        what = f"{one.what} {currency}{one.amount}" if one.amount else f"{one.what} {counted(one.answers, 'answers')}"
        output.show(cell(f"  {what}: worker {one.worker}, session {one.session or '-'}, study {one.study or '-'}"))
    output.show(f"would send: {counted(len(intents), 'decisions and bonuses')}.")


@campaign.command("payments")
@grouped
def payments(place: Place, name: Name, *, printing: Printing) -> None:
    """List every bonus payment to a campaign's workers and where it stands: intended, sending, sent, paid, failed."""
    rows = open_desk(place).payments.all(name)
    output = printing.out
    output.result([{**asdict(row), "amount": str(row.amount), "paid_before": str(row.paid_before)} for row in rows])
    cells = [(str(row.id), row.worker, row.session, str(row.amount), row.state, row.detail) for row in rows]
    heads = ("payment", "worker", "session", "amount", "state", "detail")
    output.show(TerminalTable(heads, cells) if cells else "No bonus was sent yet.")


@campaign.command("settle")
def settle(
    place: Place,
    name: Name,
    payment: Annotated[int, typer.Argument(help="The payment's id, as `campaign payments` shows it.")],
    paid: Annotated[bool, typer.Option("--paid/--unpaid", help="What you saw on the platform.")],
    json: Json = False,
) -> None:
    """Settle a bonus of which nobody knows whether it arrived, after looking at the platform. An unpaid one is owed
    again and sent by the next `campaign pay`."""
    output = Output(json)
    settled = open_desk(place).payments.settle(name, payment, paid=paid, actor=ACTOR)
    state = "paid" if paid else "failed"
    output.result({"payment": payment, "state": state})
    output.show(plain(f"payment {payment} of {settled.amount} to {settled.worker}: {'paid' if paid else 'not paid'}"))


@campaign.command("places")
def places(
    place: Place,
    name: Name,
    more: Annotated[int, typer.Argument(help="How many more people may take part.", min=1)],
    token: Token,
    json: Json = False,
) -> None:
    """Let more people take part in a campaign's published study on the platform: publish a few places first, look at
    the answers, then add places in steps."""
    desk, output = open_desk(place), Output(json)
    total = _platform(desk, name, token).add_places(more)
    desk.rounds.mark_placed(name, total)
    output.result({"places": total})
    output.show(f"{counted(more, 'places')} added; the study has {total} now.")


@campaign.command("request-return")
def request_return(place: Place, name: Name, worker: Worker, reason: Reason, token: Token, json: Json = False) -> None:
    """Ask a worker to return their submission on the platform, instead of rejecting it. If they do, `campaign follow`
    takes it over."""
    from pyramidion.campaigns.sync import request_returns

    desk, output = open_desk(place), Output(json)
    asked = request_returns(desk, name, worker, reason, _platform(desk, name, token))
    output.result({"sessions": asked})
    output.show(f"asked {plain(worker)} to return {counted(len(asked), 'sessions')}.")


@campaign.command("follow")
@grouped
def follow_(place: Place, name: Name, token: Token, *, printing: Printing) -> None:
    """Import what happened on the platform: who withdrew, timed out, was approved or rejected. Nothing is sent."""
    desk = open_desk(place)
    from pyramidion.campaigns.sync import follow

    platform = _platform(desk, name, token)
    _report(follow(desk, name, platform.name, platform.submissions()), printing.out)


def _platform(desk: CampaignDesk, campaign: str, token: str) -> Platform:
    from pyramidion.campaigns.sync import platform_of

    return platform_of(desk.campaigns.get(campaign), desk.database.secret, token)


def _report(report: Report, output: Output) -> None:
    output.result({"done": report.done, "failed": report.failed, "freed": report.freed})
    for line in report.done:
        output.show(plain(line))
    for line in report.failed:
        output.say(f"error: {line}")
    output.show(f"{len(report.done)} done, {len(report.failed)} failed, {counted(report.freed, 'places')} freed.")
    if report.failed:
        raise typer.Exit(1)
