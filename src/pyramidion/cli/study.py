"""`pyramidion init`, `account`, `import` and `serve`: a study database and its server."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from pyramidion.campaigns import BASE_URL, PLACE, SERVING, WEBHOOK
from pyramidion.cli.options import Place, Printing, Quiet, Reading, grouped, open_desk, refuse_unused
from pyramidion.cli.output import Output, cell, counted, held, shown
from pyramidion.errors import UsageError, needs_extra
from pyramidion.terminal import TerminalTable

if TYPE_CHECKING:
    from pyramidion.store.accounts import Accounts

Password = Annotated[
    str, typer.Option(envvar="PYRAMIDION_PASSWORD", help="Their password. [default: generated and shown once]")
]


def init(
    place: Place,
    title: Annotated[str, typer.Option(help="What the study is about.")] = "",
    manager: Annotated[str, typer.Option(help="The first manager's name.")] = "manager",
    password: Password = "",
    quiet: Quiet = False,
) -> None:
    """Create a study database with a manager who can log in."""
    with needs_extra("A study database", "server"):
        from pyramidion.store.accounts import Accounts, check_password
        from pyramidion.store.database import Database
    import secrets

    output = Output(quiet=quiet)
    made_up = password or secrets.token_urlsafe(12)
    check_password(made_up)  # before there is a database that nobody can log in to
    database = Database.create(place, title=title)
    Accounts(database).add(manager, made_up)
    database.close()
    output.show(f"Made {shown(place)}. Next: pyramidion import {shown(place)} YOUR-STUDY")
    if not password:
        output.out.print(cell(f"Log in as {manager} with the password {made_up} (shown only once)."))


@grouped
def account(
    context: typer.Context,
    place: Place,
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="Who logs in; without a name all accounts are listed.")
    ] = "",
    role: Annotated[str | None, typer.Option(help="manager, expert or viewer. [default: viewer]")] = None,
    password: Password = "",
    remove: Annotated[bool, typer.Option("--remove", help="Remove the account and end its sessions.")] = False,
    force: Annotated[bool, typer.Option("--force", help="With --remove: even if it is the last manager.")] = False,
    sessions: Annotated[bool, typer.Option("--sessions", help="List open sessions, of NAME or of all.")] = False,
    end: Annotated[
        list[str] | None,
        typer.Option(help="End a session by its id, or with NAME and 'all' every session of theirs; repeatable."),
    ] = None,
    *,
    printing: Printing,
) -> None:
    """Create an account for the server's pages, change its password or role, or remove it; list and end sessions.

    A new password ends the sessions of the account.
    """
    chosen = [option for option, given in (("--remove", remove), ("--sessions", sessions), ("--end", end)) if given]
    if chosen[1:]:
        raise UsageError(f"choose one of {' and '.join(chosen)}")
    if chosen or not name:
        refuse_unused(context, f"with {chosen[0]}" if chosen else "without a name", "role", "password")
    if not remove:
        refuse_unused(context, "without --remove", "force")
    if remove and not name:
        raise UsageError("name the account to remove")
    desk = open_desk(place)
    from pyramidion.store.accounts import Accounts

    accounts = Accounts(desk.database)
    if remove:
        _remove_account(accounts, name, force, printing.out)
    elif end:
        _end_sessions(accounts, name, end, printing.out)
    elif sessions:
        _list_sessions(accounts, name, printing.out)
    elif name:
        _add_account(accounts, name, role or "viewer", password, printing.out)
    else:
        _list_accounts(accounts, printing.out)


def _add_account(accounts: Accounts, name: str, role: str, password: str, output: Output) -> None:
    import secrets

    made_up = password or secrets.token_urlsafe(12)
    accounts.add(name, made_up, role)  # type: ignore[arg-type]
    output.result({"account": name, "role": role} | ({} if password else {"password": made_up}))
    shown = "" if password else f" with the password {made_up} (shown only once)"
    if not output.json:
        output.out.print(cell(f"{name} may log in as {role}{shown}."))


def _remove_account(accounts: Accounts, name: str, force: bool, output: Output) -> None:
    ended = accounts.remove(name, force=force)
    output.result({"removed": name, "sessions_ended": ended})
    output.show(cell(f"Removed {name}; {counted(ended, 'sessions')} ended. What they annotated is kept."))


def _end_sessions(accounts: Accounts, name: str, ids: list[str], output: Output) -> None:
    ended = 0
    for id in ids:
        if id == "all":
            if not name:
                raise UsageError("name the account whose sessions are to end")
            ended += accounts.end_sessions(name)
        else:
            accounts.end_session(id)
            ended += 1
    output.result({"sessions_ended": ended})
    output.show(f"Ended {counted(ended, 'sessions')}.")


def _list_accounts(accounts: Accounts, output: Output) -> None:
    known = accounts.all()
    output.result([asdict(one) for one in known])
    rows = [(one.name, one.role, _time(one.created), str(one.sessions)) for one in known]
    output.show(TerminalTable(("name", "role", "since", "open sessions"), rows))


def _list_sessions(accounts: Accounts, name: str, output: Output) -> None:
    known = accounts.sessions(name or None)
    output.result([asdict(one) for one in known])
    rows = [(one.id, one.account, one.role, _time(one.created), _time(one.expires), one.agent) for one in known]
    output.show(TerminalTable(("id", "account", "role", "since", "until", "browser"), rows))


def _time(seconds: float) -> str:
    """Sessions of older databases do not say when they began."""
    return datetime.fromtimestamp(seconds).isoformat(" ", "minutes") if seconds else ""


@grouped
def import_(
    place: Place,
    source: Annotated[str, typer.Argument(metavar="SRC", help="A study in any readable format.")],
    judge: Annotated[
        str | None, typer.Option(help="A name for its only judge: .pan files of two annotators need two names.")
    ] = None,
    *,
    reading: Reading,
) -> None:
    """Import topics, references, peers and everything else in a study into a study database."""
    output = reading.out
    study = reading.study(source)
    if judge is not None:
        from pyramidion.formats import with_judge_called

        study = with_judge_called(study, judge)
    desk = open_desk(place)
    with output.busy(f"Importing into {place}"):
        added = desk.import_study(study)
        counts = desk.studies.load().counts()
    output.result({"added": added, "counts": counts})
    output.show(f"Added {added} records. {shown(place)} now holds {held(counts)}.")


def serve(
    place: Place,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 127.0.0.1 is reachable only from this machine.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    processes: Annotated[int, typer.Option(help="Server processes; more than one need PostgreSQL.", min=1, max=64)] = 1,
    base_url: Annotated[
        str, typer.Option(help="The address at which people reach the server, for links. [default: http://HOST:PORT]")
    ] = "",
    webhook_secret: Annotated[str, typer.Option(envvar=WEBHOOK, help="Prolific's webhook secret.")] = "",
) -> None:
    """Serve the worker and manager pages of a study database."""
    desk = open_desk(place)  # errors now, not in a child process
    desk.database.close()
    if processes > 1 and desk.database.sqlite:
        raise UsageError(
            "several processes are slower than one on SQLite, which lets one of them write at a time: leave out "
            "--processes, or use PostgreSQL (see the guide to campaigns)"
        )
    serving = import_module(SERVING)
    listening = serving.bind(host, port)
    name = f"[{host}]" if ":" in host else host
    url = base_url or f"http://{name}:{listening.getsockname()[1]}"
    os.environ.update({PLACE: place, BASE_URL: url, WEBHOOK: webhook_secret})
    where = f"managers at {url}/manage, experts at {url}/annotate, workers by invitation"
    Output().say(f"Serving {shown(place)}: {where}. Stop with Ctrl-C.")
    serving.serve(listening, processes)
