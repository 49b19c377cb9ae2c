"""Accounts, sessions and blind annotation on the command line, and passwords that no command prints."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.running import Done, run

from pyramidion.store.accounts import Accounts
from pyramidion.store.database import Database
from pyramidion.store.places import shown_place

SECRET = "s3cretw0rd"
LONG = "a long password"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    made = tmp_path / "study.db"
    assert run("init", made, "--manager", "boss", "--password", LONG).returncode == 0
    return made


def logged_in(place: Path, name: str, times: int = 1) -> None:
    database = Database.open(place)
    for _ in range(times):
        assert Accounts(database).log_in(name, LONG, agent="Firefox")
    database.close()


def refused(done: Done, code: int, *texts: str) -> None:
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    for text in texts:
        assert text in done.stderr


def test_accounts_are_made_listed_and_removed(place: Path) -> None:
    assert (
        run("account", place, "erin", "--role", "expert", "--password", LONG).stdout == "erin may log in as expert.\n"
    )
    logged_in(place, "erin", 2)
    listed = json.loads(run("account", place, "--json").stdout)
    assert [(row["name"], row["role"], row["sessions"]) for row in listed] == [
        ("boss", "manager", 0),
        ("erin", "expert", 2),
    ]
    assert "erin" in run("account", place).stdout
    refused(run("account", place, "boss", "--remove"), 2, "last manager", "--force")
    done = run("account", place, "erin", "--remove")
    assert done.stdout == "Removed erin; 2 sessions ended. What they annotated is kept.\n"
    refused(run("account", place, "erin", "--remove"), 2, "no account called 'erin'")
    assert run("account", place, "boss", "--remove", "--force").returncode == 0
    assert json.loads(run("account", place, "--json").stdout) == []


def test_sessions_are_listed_and_ended(place: Path) -> None:
    logged_in(place, "boss", 3)
    sessions = json.loads(run("account", place, "--sessions", "--json").stdout)
    assert [(one["account"], one["agent"]) for one in sessions] == [("boss", "Firefox")] * 3
    assert run("account", place, "--end", sessions[0]["id"]).stdout == "Ended 1 session.\n"
    assert len(json.loads(run("account", place, "boss", "--sessions", "--json").stdout)) == 2
    assert run("account", place, "boss", "--end", "all").stdout == "Ended 2 sessions.\n"
    refused(run("account", place, "--end", sessions[0]["id"]), 2, "no open session")
    refused(run("account", place, "--end", "all"), 2, "name the account")


def test_a_new_password_ends_sessions(place: Path) -> None:
    logged_in(place, "boss")
    run("account", place, "boss", "--role", "manager", "--password", "another password")
    assert json.loads(run("account", place, "--sessions", "--json").stdout) == []


def test_options_that_would_change_nothing_are_refused(place: Path) -> None:
    refused(run("account", place, "--role", "viewer"), 2, "--role has no effect without a name")
    refused(run("account", place, "boss", "--remove", "--password", LONG), 2, "--password has no effect")
    refused(run("account", place, "boss", "--force"), 2, "--force has no effect without --remove")
    refused(run("account", place, "--remove"), 2, "name the account")
    refused(run("account", place, "boss", "--remove", "--sessions"), 2, "choose one of --remove and --sessions")


def test_blind_annotation_is_switched_on_and_off(place: Path) -> None:
    answers = [
        json.loads(run("annotate", "blind", place, *how, "--json").stdout) for how in ([], ["--on"], [], ["--off"])
    ]
    assert [answer["blind"] for answer in answers] == [False, True, True, False]
    assert run("annotate", "blind", place, "--on").stdout.startswith("On: experts see neutral names")


# -- exit codes and passwords --------------------------------------------------------------------------------


def test_a_lock_is_not_the_fault_of_the_command(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyramidion.store.database.BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused(run("account", place), 4, "locked by another program")


def test_ids_too_long_for_pages_are_refused_at_import(place: Path, tmp_path: Path) -> None:
    def record(topic: str) -> str:
        lines = [
            {"type": "topic", "id": topic},
            {"type": "summary", "topic": topic, "role": "peer", "system": "a", "text": "x"},
        ]
        return "\n".join(map(json.dumps, lines)) + "\n"

    (tmp_path / "long.jsonl").write_text(record("t" * 201))
    (tmp_path / "good.jsonl").write_text(record("t" * 200))
    refused(run("import", place, tmp_path / "long.jsonl"), 1, "has 201 characters", "at most 200")
    assert run("import", place, tmp_path / "good.jsonl").returncode == 0


URLS = [
    f"postgresql://user:{SECRET}@127.0.0.1:1/study",
    f"postgresql+psycopg://user:{SECRET}@127.0.0.1:1/study",
    f"postgres://user:{SECRET}@127.0.0.1:1/study",
    f"postgresql://user@127.0.0.1:1/study?password={SECRET}",
    f"postgresql://user:p@{SECRET}/more@127.0.0.1:1/study",
    f"postgresql://user:{SECRET}@127.0.0.1:port/study",
    f"postgresql://:{SECRET}",
    f"mysql://user:{SECRET}@127.0.0.1:1/study",
    f"postgress://user:{SECRET}@127.0.0.1:1/study",
]
COMMANDS = [
    ("init", "URL"),
    ("account", "URL", "ann"),
    ("serve", "URL"),
    ("import", "URL", "URL"),
    ("campaign", "status", "URL"),
    ("backup", "URL", "out.db"),
    ("verify", "URL"),
    ("annotate", "list", "URL"),
    ("score", "URL"),
    ("info", "URL"),
    ("convert", "URL", "out.jsonl"),
    ("report", "URL"),
    ("analyze", "agreement", "URL"),
    ("score", "URL", "--json"),
]


@pytest.mark.parametrize("url", URLS)
def test_no_command_prints_the_password_of_a_database(url: str, tmp_path: Path) -> None:
    for command in COMMANDS:
        done = run(*(url if word == "URL" else word for word in command), cwd=tmp_path)
        assert done.returncode == 2, (command, done)
        assert SECRET not in done.stdout + done.stderr, (command, done)
        assert "Traceback" not in done.stderr, (command, done)


def test_help_does_not_print_secrets_of_the_environment() -> None:
    secrets = {"PYRAMIDION_PROLIFIC_WEBHOOK_SECRET": SECRET, "PYRAMIDION_PASSWORD": SECRET, "PYRAMIDION_STUDY": SECRET}
    for command in ("serve", "account", "init"):
        assert SECRET not in run(command, "--help", **secrets).stdout


@pytest.mark.parametrize("url", URLS)
def test_a_place_is_shown_without_its_password(url: str) -> None:
    assert SECRET not in shown_place(url)
    assert shown_place(url).startswith(url.partition("://")[0])
