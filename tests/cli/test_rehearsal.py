"""`campaign rehearse`: it fills a copy unless told otherwise, and what it made up says so everywhere."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.cli.running import run
from tests.cli.test_campaigns import made
from tests.cli.test_commands import refused
from tests.databases import postgres

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import Arrival
from pyramidion.study import Judge

SMALL = ("--name", "j", "--yes", "--set", "workers=2", "--topic", "reef-nursery", "--system", "lead")
FEW = ("--workers", "4", "--abandon", "0")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with a small campaign that nobody has answered."""
    place = made(tmp_path)
    assert run("campaign", "plan", place, "judge", *SMALL).returncode == 0
    return place


def rows(place: Path, table: str) -> int:
    with closing(sqlite3.connect(place)) as file:
        return int(file.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_a_rehearsal_fills_a_copy_and_leaves_the_study_alone(study: Path) -> None:
    done = run("campaign", "rehearse", "study.db", "j", *FEW, cwd=study.parent)
    copy = study.with_name("study-rehearsal.db")
    assert done.stdout.startswith("Rehearsed in a copy, study-rehearsal.db; study.db is unchanged. Delete the copy")
    assert done.stdout.endswith("Next: pyramidion campaign status study-rehearsal.db j\n")
    assert (rows(study, "workers"), rows(study, "assignments")) == (0, 0)
    assert rows(copy, "assignments") == 4
    refused(run("campaign", "rehearse", study, "j", *FEW), 2, "already exists; choose another name with --copy, or use")
    again = json.loads(run("campaign", "rehearse", study, "j", *FEW, "--force", "--json").stdout)
    assert (again["study"], again["submitted"], again["simulated"]) == (str(copy), 4, True)
    assert run("campaign", "plan", copy, "rate", "--topic", "reef-nursery", "--yes").returncode == 0
    filled = run("campaign", "rehearse", copy, "rate", *FEW)  # a copy for rehearsals is filled itself
    assert "Rehearsed in a copy" not in filled.stdout
    assert rows(copy, "assignments") > 4
    assert not study.with_name("study-rehearsal-rehearsal.db").exists()


def test_the_real_study_is_filled_only_after_a_yes_and_never_replaced(study: Path) -> None:
    refused(run("campaign", "rehearse", study, "j", *FEW, "--in-place"), 2, "no answer was given; use --yes")
    assert run("campaign", "rehearse", study, "j", *FEW, "--in-place", typed="n\n").returncode == 2
    assert rows(study, "assignments") == 0
    refused(run("campaign", "rehearse", study, "j", "--yes"), 2, "--yes has no effect without --in-place")
    other = study.with_name("other.db")
    run("init", other)
    asked = run("campaign", "rehearse", study, "j", "--copy", other, "--force")
    refused(asked, 2, "is not a copy for rehearsals, so it is not replaced")
    assert "Places that simulated workers take" in run("campaign", "rehearse", study, "j", "--in-place").stderr
    assert run("campaign", "rehearse", study, "j", *FEW, "--in-place", typed="y\n").returncode == 0
    assert rows(study, "assignments") == 4


def test_a_copy_holds_nothing_that_names_people(study: Path) -> None:
    desk = CampaignDesk.open(study)
    worker = desk.workers.enter("j", Arrival("prolific", "a-person", "a-session", "a-study")).worker
    desk.database.close()
    run("campaign", "rehearse", study, "j", *FEW)
    copy = CampaignDesk.open(study.with_name("study-rehearsal.db"))
    assert copy.workers.get(worker) is not None
    with copy.database.read() as connection:
        names = connection.exec_driver_sql("SELECT external FROM identities").scalars().all()
        assert "a-session" not in connection.exec_driver_sql("SELECT session FROM entries").scalars().all()
    copy.database.close()
    assert names
    assert "a-person" not in names


@pytest.fixture
def copy(study: Path) -> Path:
    assert run("campaign", "rehearse", study, "j", *FEW).returncode == 0
    return study.with_name("study-rehearsal.db")


def test_every_table_and_report_says_that_it_is_simulated(copy: Path, tmp_path: Path) -> None:
    status = run("campaign", "status", copy, "j").stdout
    assert "SIMULATED: 4 of 4 workers are not people" in status
    assert status.count(" (simulated) ") == 4
    (told,) = json.loads(run("campaign", "status", copy, "j", "--json").stdout)
    assert told["simulated"] == 4
    assert all(worker["simulated"] and worker["worker"].startswith("simulated-w") for worker in told["workers"])
    scored = run("score", copy, "--method", "lite")
    assert "|simulated:yes|" in scored.stdout
    assert scored.stderr.count("warning: SIMULATED: 4 of 15 judges are simulated") == 1
    assert "SIMULATED" in run("score", copy, "--method", "lite", "--json").stdout
    assert "|simulated:yes|" not in run("score", copy, "--method", "rouge").stdout, "words need nobody"
    shown = run("show", copy, "--pyramid", "crowd", "--topic", "reef-nursery", "--system", "lead")
    assert shown.stdout.startswith("reef-nursery, lead (simulated)")
    asked = run("analyze", "agreement", copy, "-o", tmp_path / "a.csv", "--latex", tmp_path / "a.tex")
    assert asked.stdout.startswith("Simulated: ")
    assert "|simulated:yes|" in asked.stdout
    assert "(simulated)" in (tmp_path / "a.tex").read_text("utf-8")
    rater = next(judgment.judge for judgment in pyr.example().judgments if judgment.aspect == "overall")
    rated = run("analyze", "calibrate", copy, "--experts", rater, "--scores", tmp_path / "adjusted.json")
    assert "|simulated:yes|" in (tmp_path / "adjusted.json").read_text("utf-8"), rated.stderr
    assert "SIMULATED" in run("campaign", "export", copy, tmp_path / "out.jsonl").stderr
    for command, page in (("report", "report.html"), ("feedback", "pages/overview.html"), ("feedback", "")):
        target = tmp_path / page.split("/")[0] if page else tmp_path / "writers"
        assert run(command, copy, "--method", "lite", "-o", target).returncode == 0
        html = (tmp_path / page if page else next(target.glob("writers/*/*.html"))).read_text("utf-8")
        assert "<title>Simulated: " in html
        assert "a rehearsal made up the answers, so no result is real" in html
    folder = tmp_path / "folder"
    assert run("report", copy, "--method", "lite", "-o", folder).returncode == 0
    assert "<title>Simulated: " in next(folder.glob("topics/*.html")).read_text("utf-8")
    spent = (tmp_path / "report.html").read_text("utf-8")
    assert "(simulated: nobody was paid)" in spent


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "mturk", "answers.csv"])
def test_every_format_with_judges_keeps_the_mark(copy: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    if name == "answers.csv":
        desk = CampaignDesk.open(copy)
        target.write_text(desk.answers_table("j"), "utf-8")
        desk.database.close()
    else:
        done = run("campaign", "export", copy, target, *(["--to", "mturk"] if name == "mturk" else []))
        assert done.returncode == 0, done.stderr
    study = pyr.load(target)
    assert len(study.simulated) == 4
    assert pyr.score(study, "lite", pyramid="crowd").is_simulated
    other = tmp_path / "other.db"
    run("init", other)
    assert run("import", other, target, *(["--lenient"] if name == "answers.csv" else [])).returncode == 0
    assert len(pyr.load(other).simulated) == 4


def test_backups_moves_and_judges_by_other_names_keep_the_mark(copy: Path, tmp_path: Path) -> None:
    assert run("backup", copy, tmp_path / "backup.db").returncode == 0
    assert run("restore", tmp_path / "backup.db", tmp_path / "restored.db").returncode == 0
    assert run("move", tmp_path / "restored.db", tmp_path / "moved.db").returncode == 0
    moved = tmp_path / "moved.db"
    assert len(pyr.load(moved).simulated) == 4
    assert "Rehearsed in a copy" not in run("campaign", "rehearse", moved, "j", *FEW).stdout
    named = pyr.Study(topics=pyr.example().topics, judges=(Judge("bob", simulated=True), Judge("eve")))
    pyr.save(named, tmp_path / "named.jsonl")
    assert pyr.load(tmp_path / "named.jsonl").simulated == {"bob"}
    held = tmp_path / "held.db"
    run("init", held)
    assert run("import", held, tmp_path / "named.jsonl").returncode == 0
    (worker,) = pyr.load(held).simulated
    assert worker.startswith("simulated-w")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgres() as running:
        yield running.new_database()


def test_a_study_on_postgresql_is_rehearsed_in_a_file(server: str, tmp_path: Path) -> None:
    source = made(tmp_path).with_name("example.jsonl")
    assert run("init", server).returncode == 0
    assert run("import", server, source, "-q").returncode == 0
    assert run("campaign", "plan", server, "judge", *SMALL).returncode == 0
    done = run("campaign", "rehearse", server, "j", *FEW, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    copy = next(tmp_path.glob("*-rehearsal.db"))
    assert f"Rehearsed in a copy, {copy.name}" in done.stdout
    assert json.loads(run("campaign", "status", server, "j", "--json").stdout)[0]["progress"]["submitted"] == 0
    assert json.loads(run("campaign", "status", copy, "j", "--json").stdout)[0]["progress"]["submitted"] == 4
