"""`backup`, `restore`, `move`, `verify` and `campaign forget-...` as a user types them."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.test_campaigns import made
from tests.cli.test_commands import refused, run


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A study with a campaign that is done."""
    study = made(tmp_path)
    small = "--name j --yes --set workers=2 --topic reef-nursery --system lead --set keep_days=30"
    assert run("campaign", "plan", study, "judge", *small.split()).returncode == 0
    assert run("campaign", "rehearse", study, "j", "--in-place", "-y", "--workers", 4, "--abandon", 0).returncode == 0
    return study


def workers(place: Path) -> list[str]:
    status = json.loads(run("campaign", "status", place, "j", "--json").stdout)[0]
    return [one["worker"] for one in status["workers"]]


def test_there_and_back(place: Path, tmp_path: Path) -> None:
    copy, back = tmp_path / "copy.db", tmp_path / "back.db"
    done = run("backup", place, copy)
    assert done.returncode == 0, done.stderr
    assert f"Backed up {place} to {copy}: 1 campaign, 2 tasks, 4 workers, 4 answers, " in done.stdout
    assert f"SHA-256 {hashlib.sha256(copy.read_bytes()).hexdigest()}" in done.stdout
    refused(run("backup", place, copy), 2, "already exists")
    again = json.loads(run("backup", place, copy, "--force", "--json").stdout)
    assert again["counts"]["answers"] == 4
    assert again["sha256"] == hashlib.sha256(copy.read_bytes()).hexdigest()

    assert run("verify", place, "--against", copy).stdout.endswith(f"all answers of {copy}.\n")
    restored = run("restore", copy, back)
    assert f"Restored {back} from {copy}: 1 campaign" in restored.stdout
    assert "If people were forgotten since the backup was made" in restored.stderr
    assert run("score", back, "--json").stdout == run("score", place, "--json").stdout
    refused(run("restore", copy, back), 2, "--force")
    forced = json.loads(run("restore", copy, back, "--force", "--json").stdout)
    assert Path(forced["aside"]).exists()
    assert not list(tmp_path.glob(".*")), "nothing half is left"


def test_every_command_leaves_everything_in_the_file(place: Path, tmp_path: Path) -> None:
    """Also commands that only read, and those that fail."""
    for call in (("campaign", "status", place), ("campaign", "exclude", place, "nobody", "--reason", "x")):
        run(*call)
        beside = Path(f"{place}-wal")
        assert not beside.exists() or not beside.stat().st_size
    alone = tmp_path / "alone" / "study.db"
    alone.parent.mkdir()
    shutil.copy(place, alone)
    assert workers(alone) == workers(place)


def test_what_is_wrong_is_listed_and_changes_the_exit_status(place: Path, tmp_path: Path) -> None:
    whole = run("verify", place)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert "study.db is whole: 1 campaign, 2 tasks" in whole.stdout
    receipts = tmp_path / "receipts.jsonl"
    receipts.write_text('{"assignment": 4711, "key": "k"}\n')
    with closing(sqlite3.connect(place)) as file:
        file.execute("UPDATE assignments SET answer = NULL WHERE id = 1")
        file.commit()
    wrong = run("verify", place, "--receipts", receipts)
    assert wrong.returncode == 1
    assert wrong.stderr.splitlines() == [
        "error: answer 1: was submitted, but has no answer",
        "error: receipt of answer 4711: the answer is missing",
    ]
    listed = json.loads(run("verify", place, "--receipts", receipts, "--json").stdout)
    assert [problem["where"] for problem in listed["problems"]] == ["answer 1", "receipt of answer 4711"]
    receipts.write_text("4711\n")
    refused(run("verify", place, "--receipts", receipts), 1, "receipts.jsonl, line 1: is not a receipt")
    place.write_bytes(b"overwritten by accident")
    refused(run("verify", place), 1, "file is not a database")
    refused(run("verify", tmp_path / "missing.db"), 2, "pyramidion init")


def test_forgetting_says_what_it_erases_and_asks(place: Path, tmp_path: Path) -> None:
    worker = workers(place)[0]
    planned = run("campaign", "forget-worker", place, worker, "--dry-run")
    assert planned.stdout == f"Would forget {worker}: erase 1 platform session, 1 platform id; keep 1 answer.\n"
    asked = run("campaign", "forget-worker", place, worker, typed="n\n")
    assert asked.returncode == 2
    assert worker in workers(place)
    assert run("campaign", "exclude", place, worker, "--reason", "a private reason").returncode == 0
    copy = tmp_path / "copy.db"
    assert run("backup", place, copy).returncode == 0
    done = run("campaign", "forget-worker", place, worker, "--yes")
    assert (
        f"Forgot {worker}: erased 1 platform session, 1 platform id, 1 reason; kept 1 answer as forgotten-"
        in done.stdout
    )
    assert worker not in workers(place)
    for path in tmp_path.glob("study.db*"):
        assert worker.encode() not in path.read_bytes()
        assert b"a private reason" not in path.read_bytes()
    refused(run("campaign", "forget-worker", place, worker, "--yes"), 2, "unknown worker")

    restored = run("restore", copy, place, "--force")
    assert "Forgot 1 worker again, who had been forgotten since the backup was made." in restored.stdout
    assert worker not in workers(place)
    assert run("verify", place).returncode == 0


def test_what_is_kept_for_some_days_is_erased_afterwards(place: Path) -> None:
    assert run("campaign", "forget-expired", place).stdout == "Erased in no campaign: nothing.\n"
    with closing(sqlite3.connect(place)) as file:
        for change in (
            "campaigns SET created = 1",
            "assignments SET leased = 1, submitted = 2",
            "entries SET arrived = 1",
        ):
            file.execute(f"UPDATE {change}")
        file.commit()
    planned = json.loads(run("campaign", "forget-expired", place, "--dry-run", "--json").stdout)
    done = json.loads(run("campaign", "forget-expired", place, "--json").stdout)
    assert planned["dry_run"]
    assert done["erased"] == planned["erased"]
    assert done["erased"]["platform ids"] == 4
    assert done["campaigns"] == ["j"]
    assert done["leftover"] is None
    refused(run("campaign", "plan", place, "judge", "--name", "k", "--set", "keep_days=-1"), 1, "keep_days: must be a")


def test_a_study_moves_by_a_command_and_says_where_it_is(place: Path, tmp_path: Path) -> None:
    here, there = place, tmp_path / "new.db"
    scores = json.loads(run("score", here, "-m", "lite", "--json").stdout)
    assert scores["scores"]
    moved = run("move", here, there)
    assert f"Moved {here} to {there}: " in moved.stdout
    assert "checksum, the same on both sides" in moved.stdout
    assert json.loads(run("score", there, "-m", "lite", "--json").stdout) == scores
    for command in (("score", here), ("backup", here, tmp_path / "b.db"), ("move", here, tmp_path / "other.db")):
        refused(run(*command), 2, f"the study was moved from {here} to {there}")
    refused(run("move", here, "--undo", "--force"), 2, "--force has no effect with --undo")
    refused(run("move", there), 2, "say where to move it")
    undone = run("move", here, "--undo", "--json")
    assert json.loads(undone.stdout) == {"study": str(here), "was_moved_to": str(there), "arrived": True}
    assert json.loads(run("score", here, "-m", "lite", "--json").stdout) == scores
    failed = run("move", here, "postgresql://me:geheim@127.0.0.1:1/none")
    assert failed.returncode == 2
    assert "geheim" not in failed.stdout + failed.stderr
    assert run("campaign", "close", here, "j", "--yes").returncode == 0, "it can be changed again"
