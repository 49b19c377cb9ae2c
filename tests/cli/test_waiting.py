"""Long work says what it does, how far it is and how long it takes: on a terminal of 80 columns, and in a log."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.cli import output, waiting
from pyramidion.cli.output import Output
from pyramidion.cli.waiting import Work, duration, lines, moving


@pytest.fixture
def impatient(patient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything takes long."""
    monkeypatch.setattr(output, "LONG", 0.0)
    monkeypatch.setattr(waiting, "LONG", 0.01)


def test_durations_read_as_people_say_them() -> None:
    said = [duration(seconds) for seconds in (0.4, 59.4, 60, 125, 3600, 4800)]
    assert said == ["0 s", "59 s", "1 min", "2 min 5 s", "1 h", "1 h 20 min"]


def test_work_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    work = Work("Judging by align", 5000)
    now[0] += 40
    assert str(work) == "Judging by align: 40 s so far"
    work.advance(1000)
    assert str(work) == "Judging by align: 1,000 of 5,000, 40 s so far, about 2 min 40 s left"
    work.now("Writing")
    assert str(work).startswith("Writing: ")


def test_a_log_gets_lines_and_in_the_end_how_long_it_took(impatient: None, capsys: pytest.CaptureFixture[str]) -> None:
    with Output().busy("Reading", 10) as work:
        work.advance(5)
        time.sleep(0.2)
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("Reading: 5 of 10, 0 s so far, about")
    assert said[-1] == "Reading: done in 0 s."
    assert list(Output().track([1, 2], "Counting")) == [1, 2]
    assert capsys.readouterr().err.endswith("Counting: done in 0 s.\n")
    with Output(quiet=True).busy("Reading"):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_short_work_leaves_nothing_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    with lines(Work("Short"), Console(file=sys.stderr)), Output().busy("Short too"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("total", [None, 1_000_000])
def test_the_moving_line_fits_into_80_columns(total: int | None) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, color_system=None)
    work = Work("Reading a study whose place is a very long name in a folder somewhere far away.jsonl", total)
    work.advance(123_456)
    with moving(work, console):
        time.sleep(0.2)
    shown = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]", file.getvalue())]
    assert max(map(len, shown)) <= 80
    assert any("so far" in line for line in shown)
    assert any("left" in line for line in shown) == bool(total)


def test_long_commands_say_what_they_do(impatient: None, tmp_path: Path) -> None:
    study = tmp_path / "study.jsonl"
    pyr.save(pyr.example(), study)
    place = tmp_path / "study.db"
    assert run("init", place).returncode == 0
    said = {
        "report": run("report", study, "-o", tmp_path / "r.html", "--figures", tmp_path / "figures").stderr,
        "score": run("score", study, "-m", "rouge").stderr,
        "significance": run("analyze", "significance", study, "--plot", tmp_path / "p.svg").stderr,
        "convert": run("convert", study, tmp_path / "copy.json").stderr,
        "import": run("import", place, study).stderr,
        "plan": run("campaign", "plan", place, "judge").stderr,
        "export": run("campaign", "export", place, tmp_path / "out.jsonl").stderr,
    }
    expected = {
        "report": ("Reading", "Scoring and analysing", "Writing the page", "Drawing figures"),
        "score": ("Reading", "Scoring by rouge"),
        "significance": ("Analysing", "Drawing figures"),
        "convert": ("Reading", "Writing"),
        "plan": ("Planning tasks",),
        "export": ("Exporting",),
        "import": ("Importing",),
    }
    for command, steps in expected.items():
        for step in steps:
            assert re.search(rf"^{step}.*: done in \d+ s\.$", said[command], re.MULTILINE), (
                command,
                step,
                said[command],
            )


def test_a_terminal_is_left_clean(tmp_path: Path) -> None:
    """On a real terminal a short command leaves nothing but its result."""
    study = tmp_path / "study.jsonl"
    pyr.save(pyr.example(), study)
    here, there = pty.openpty()
    command = [sys.executable, "-m", "pyramidion", "score", str(study), "-m", "lite"]
    done = subprocess.run(command, stderr=there, capture_output=False, stdout=subprocess.PIPE, check=True)
    os.close(there)
    written = os.read(here, 65536).decode() if done else ""
    os.close(here)
    assert "Scoring by lite" in written
    assert "done in" not in written
