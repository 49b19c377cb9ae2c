"""`pyramidion judge` as a user meets it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.auto.chat_server import ChatServer

import pyramidion as pyr


def run(*arguments: object, typed: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from pyramidion.cli.main import main; main()"
    command = [sys.executable, "-c", code, "judge", *map(str, arguments)]
    around = {**os.environ, "NO_COLOR": "1", **environment}
    return subprocess.run(command, env=around, input=typed, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "study.jsonl"
    pyr.save(pyr.example(), path)
    return path


def test_scores_are_printed_written_and_kept(study: Path, tmp_path: Path) -> None:
    scores, kept = tmp_path / "scores.csv", tmp_path / "judged.jsonl"
    done = run(study, "-o", scores, "--save", kept)
    assert done.returncode == 0, done.stderr
    assert "pyramid:crowd|judges:align|values:soft" in done.stdout
    with scores.open(newline="") as file:
        means = {row["system"]: float(row["value"]) for row in csv.DictReader(file) if not row["topic"]}
    judged = pyr.load(kept)
    assert judged.problems() == []
    assert judged.judges_of("model") == {"align"}
    assert judged.judgments.evidence
    assert pyr.score(judged, "lite", judges="model", aggregate="mean").per_system("lite") == pytest.approx(means)
    assert pyr.score(judged, "lite").per_system("lite") == pyr.score(pyr.example(), "lite").per_system("lite")


def test_yes_and_no_by_the_judges_own_threshold(study: Path) -> None:
    done = run(study, "--judge", "lexical", "--threshold", "own", "--json")
    held = json.loads(done.stdout)
    assert "values:from-0.36" in held["signature"]
    assert done.stderr == ""


def test_workers(study: Path) -> None:
    held = json.loads(run(study, "--workers", "--json").stdout)
    assert [worker["worker"] for worker in held["workers"] if worker["suspect"]] == ["worker7", "worker8"]
    assert "suspect" in run(study, "--workers").stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--judge", "nobody"], 2, "there are: align, lexical, llm, nli"),
        (["--judge", "nli"], 2, "needs a model: nli:MODEL"),
        (["--soft", "--threshold", "0.5"], 2, "exclude each other"),
        (["--threshold", "much"], 2, "a probability or `own`"),
        (["--threshold", "2"], 2, "from 0 to 1"),
        (["--pyramid", "none"], 2, "it has: crowd, expert"),
        (["--judge", "lexical", "--base-url", "http://x"], 2, "judge lexical has no choice 'base_url'"),
        (["--judge", "llm:m", "--price", "cheap"], 2, "two numbers"),
        (["-o", "scores.doc"], 2, "scores are written to"),
    ],
)
def test_mistakes_become_messages(study: Path, options: list[str], code: int, message: str) -> None:
    done = run(study, *options)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_paid_model_tells_the_cost_and_asks_first(study: Path, tmp_path: Path) -> None:
    with ChatServer() as server:
        options = [study, "--judge", "llm:some-model", "--cache", tmp_path / "c.sqlite", "--price", "1/2"]
        refused = run(*options, typed="n\n", OPENAI_BASE_URL=server.url)
        assert refused.returncode == 1
        assert "48 requests" in refused.stderr
        assert "about $0." in refused.stderr
        assert server.asked == []
        done = run(*options, "--base-url", server.url, "--yes")
        assert done.returncode == 0, done.stderr
        assert "judges:llm:some-model" in done.stdout
        assert len(server.asked) == 48
        again = run(*options, "--base-url", server.url)
        assert again.returncode == 0
        assert "0 requests (48 are known already)" in again.stderr
        assert again.stdout == done.stdout
        assert len(server.asked) == 48
