"""`campaign plan --until`, `status`, `advance`, `looks`, `go-on` and `rehearse`, from the plan to the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.campaigns.designs import MANY, MODEL, answer_all, desk_in_rounds, look_of, study_in_rounds
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.campaigns.desk import CampaignDesk


def said(*arguments: object, cwd: Path) -> str:
    done = run(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*arguments: object, cwd: Path) -> str:
    done = run(*arguments, cwd=cwd)
    assert done.returncode == 2, done.stdout
    return done.stderr


def test_a_rehearsal_from_the_plan_to_the_end(tmp_path: Path) -> None:
    pyr.save(study_in_rounds(topics=MANY), tmp_path / "study.jsonl")
    said("init", "study.db", "--password", "long-password", cwd=tmp_path)
    said("import", "study.db", "study.jsonl", cwd=tmp_path)
    plan = ("campaign", "plan", "study.db", "judge", "--with-model", MODEL, "--until", "ranking", "--share", "0.5")
    said(*plan, "--set", "workers=3", "--set", "question=these", "--yes", cwd=tmp_path)
    status = said("campaign", "status", "study.db", cwd=tmp_path)
    assert "round 1 of " in status
    assert "goal ranking: " in status
    assert "0 of 3 pairs decided" in status
    rehearsed = said(
        "campaign", "rehearse", "study.db", "judge", "--in-place", "--yes", "--workers", "20", cwd=tmp_path
    )
    assert "stopped, the goal is reached (ranking)" in rehearsed
    assert "3 of 3 pairs decided" in rehearsed
    assert "simulated: these answers are not people's" in rehearsed
    whole = 3 * MANY * 12 * 3
    assert f"Asking about everything takes {whole:,} judgments" in rehearsed
    report = json.loads(said("campaign", "looks", "study.db", "judge", "--json", cwd=tmp_path))
    assert (report["status"], report["stop"]["reason"], report["simulated"]) == ("stopped", "goal", True)
    assert {(pair["better"], pair["worse"]) for pair in report["decided"]} == {
        ("good", "fair"),
        ("good", "poor"),
        ("fair", "poor"),
    }
    assert report["judgments"]["asked"] < report["judgments"]["whole"] == whole
    assert [look["number"] for look in report["looks"]] == list(range(1, report["round"] + 1))
    desk = CampaignDesk.open(tmp_path / "study.db")
    parts = [part for part in desk.rounds.parts("judge") if 0 < part.round <= report["round"]]
    assert len([task for task in desk.study().tasks if task.system == "good"]) == len(parts)
    desk.database.close()


def test_advancing_without_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "pyramidion.campaigns.advancing.take_look",
        lambda _, *, number, **__: look_of(number, {1: ("fair", "good"), 2: ()}[number]),
    )
    desk = desk_in_rounds(tmp_path / "study.db")
    advance, looks = ("campaign", "advance", "study.db", "judge"), ("campaign", "looks", "study.db", "judge")
    assert "Nothing to do yet: 18 tasks of this round still lack answers." in said(*advance, cwd=tmp_path)
    assert "No look yet: the first is taken when all tasks of round 1" in said(*looks, cwd=tmp_path)
    answer_all(desk)
    assert "Look 1 taken. Round 2 released: 12 tasks for 2 systems." in said(*advance, cwd=tmp_path)
    shown = said(*looks, cwd=tmp_path)
    assert "Look 1 of 3 (" in shown
    assert "UTC, command line): 2 of 3 pairs decided" in shown
    assert ["poor", "0.300", "-0.100", "to", "0.700", "no"] in [line.split() for line in shown.splitlines()]
    assert ["fair", "poor", "0.200"] in [line.split() for line in shown.splitlines()]
    assert "no more answers needed for poor" in shown
    answer_all(desk)
    assert "Look 2 taken. Stopped: the goal is reached (ranking)." in said(*advance, cwd=tmp_path)
    assert "Stopped: the goal is reached (ranking)." in said(*advance, cwd=tmp_path)
    assert "use `campaign go-on`" in refused("campaign", "resume", "study.db", "judge", cwd=tmp_path)
    more = said("campaign", "go-on", "study.db", "judge", "--reason", "narrower intervals", cwd=tmp_path)
    assert more == "Round 3 released: 12 tasks for 2 systems.\n"
    assert "still being asked" in refused("campaign", "go-on", "study.db", "judge", "--reason", "x", cwd=tmp_path)
    said("campaign", "close", "study.db", "judge", "--yes", cwd=tmp_path)
    assert "Nothing to do: the campaign is closed." in said(*advance, cwd=tmp_path)
    desk.database.close()


def test_what_has_no_rounds_says_so(tmp_path: Path) -> None:
    said("init", "study.db", "--password", "long-password", cwd=tmp_path)
    pyr.save(pyr.example(), tmp_path / "study.jsonl")
    said("import", "study.db", "study.jsonl", cwd=tmp_path)
    said("campaign", "plan", "study.db", "rate", "--yes", cwd=tmp_path)
    for command in ("looks", "advance"):
        text = refused("campaign", command, "study.db", "rate", cwd=tmp_path)
        assert "campaign rate has no goal, so it has no rounds; plan one with --with-model and --until" in text
