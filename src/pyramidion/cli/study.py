"""`pyramidion init`, `account`, `import` and `serve`: a study database and its server."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from pyramidion.campaigns import APPLICATION, BASE_URL, PLACE, WEBHOOK
from pyramidion.cli.options import Place, Quiet, Reading, grouped, open_desk
from pyramidion.cli.output import Output, cell, held, plain
from pyramidion.errors import needs_extra

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
    output.show(f"Made {plain(place)}. Next: pyramidion import {plain(place)} YOUR-STUDY")
    if not password:
        output.out.print(cell(f"Log in as {manager} with the password {made_up} (shown only once)."))


def account(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who logs in.")],
    role: Annotated[str, typer.Option(help="manager, expert or viewer.")] = "viewer",
    password: Password = "",
) -> None:
    """Create an account for the server's pages, or change its password or role."""
    import secrets

    desk = open_desk(place)
    from pyramidion.store.accounts import Accounts

    made_up = password or secrets.token_urlsafe(12)
    Accounts(desk.database).add(name, made_up, role)  # type: ignore[arg-type]
    shown = "" if password else f" with the password {made_up} (shown only once)"
    Output().out.print(cell(f"{name} may log in as {role}{shown}."))


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
    added = desk.import_study(study)
    counts = desk.studies.load().counts()
    output.result({"added": added, "counts": counts})
    output.show(f"Added {added} records. {plain(place)} now holds {held(counts)}.")


def serve(
    place: Place,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 127.0.0.1 is reachable only from this machine.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(help="The port.", min=0, max=65535)] = 8000,
    processes: Annotated[int, typer.Option(help="Server processes on the same database.", min=1, max=64)] = 1,
    base_url: Annotated[
        str, typer.Option(help="The address at which people reach the server, for links. [default: http://HOST:PORT]")
    ] = "",
    webhook_secret: Annotated[str, typer.Option(envvar=WEBHOOK, help="Prolific's webhook secret.")] = "",
) -> None:
    """Serve the worker and manager pages of a study database."""
    desk = open_desk(place)  # errors now, not in a child process
    desk.database.close()
    import uvicorn

    url = base_url or f"http://{host}:{port}"
    os.environ.update({PLACE: place, BASE_URL: url, WEBHOOK: webhook_secret})
    where = f"managers at {url}/manage, experts at {url}/annotate, workers by invitation"
    Output().say(f"Serving {plain(place)}: {where}. Stop with Ctrl-C.")
    uvicorn.run(
        APPLICATION,
        factory=True,
        host=host,
        port=port,
        workers=processes,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=75,  # people think longer than the five seconds that are usual
        timeout_worker_healthcheck=60,  # a process that is slow to start on a busy machine is not a dead one
    )
