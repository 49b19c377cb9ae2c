"""`--compat litepyramids-2019` by every road: the same question has the same answer."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import run
from tests.scoring.released_script import results, second_implementation, write

import pyramidion as pyr
from pyramidion.analysis.sources import score_tables
from pyramidion.analysis.systems import compare_systems
from pyramidion.report.collect import findings

NAME = "litepyramids-2019"
COMPAT = ("--compat", NAME)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(results(random.Random(5)), tmp_path_factory.mktemp("compat") / "results.csv")


def expected(file: Path) -> dict[tuple[str, str], float]:
    return second_implementation(file)[0]


def told(*call: object) -> Any:
    done = run(*call, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def cells(scores: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    return {(s["topic"], s["system"]): s["value"] for s in scores if s["topic"] and s["measure"] == "lite"}


def test_commands_python_and_formats_agree(file: Path, tmp_path: Path) -> None:
    table = pyr.score(pyr.load(file), compat=NAME)
    assert table.per_summary("lite") == pytest.approx(expected(file))
    assert run("convert", file, tmp_path / "study.jsonl").returncode == 0
    assert run("convert", file, tmp_path / "mturk", "--to", "mturk").returncode == 0
    assert run("init", tmp_path / "study.db").returncode == 0
    assert run("import", tmp_path / "study.db", file).returncode == 0
    for place in (file, tmp_path / "study.jsonl", tmp_path / "mturk", tmp_path / "study.db"):
        found = told("score", place, *COMPAT)
        assert cells(found["scores"]) == table.per_summary("lite")
        assert found["signature"] == str(table.signature)
    report = told("report", file, *COMPAT, "-o", tmp_path / "page.html")
    assert report["signature"] == str(table.signature)
    assert findings(pyr.load(file), compat=NAME).main.table == table
    shown = told("show", file, "--topic", "D1", "--system", "a", *COMPAT)
    assert shown["lite"] == table.per_summary("lite")["D1", "a"]
    assert run("feedback", file, *COMPAT, "-o", tmp_path / "pages").returncode == 0
    grades = (tmp_path / "pages" / "grades.csv").read_text(encoding="utf-8")
    assert f"{table.per_summary('lite')['D1', 'a']:.4f}"[:5] in grades


def test_analyses_of_the_study_and_of_its_score_table_agree(file: Path, tmp_path: Path) -> None:
    study, saved = pyr.load(file), tmp_path / "scores.json"  # with its signature
    assert run("score", file, *COMPAT, "-o", saved).returncode == 0
    by_study, by_table = told("analyze", "significance", file, *COMPAT), told("analyze", "significance", saved)
    assert by_study == by_table
    assert f"|compat:{NAME}|" in by_study["signature"]
    assert compare_systems(study, compat=NAME).as_json() == by_study
    default = told("analyze", "significance", file)
    assert default["tables"] != by_study["tables"]
    assert "compat" not in default["signature"]
    assert score_tables([("results", study)], compat=NAME)["lite"] == pyr.score(study, "lite", compat=NAME)
    gold = tmp_path / "gold.csv"
    rows = [
        f"{topic},{system},gold,0.{number}" for (topic, system), number in zip(expected(file), "749253", strict=True)
    ]
    gold.write_text("\n".join(["topic,system,measure,value", *rows]))
    asked = ("--gold", "gold", "--metric", "lite")
    by_study = told("analyze", "correlate", file, gold, *asked, *COMPAT)
    assert by_study == told("analyze", "correlate", saved, gold, *asked)
    assert f"|compat:{NAME}|" in by_study["signature"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("score", "-m", "pyramid"), "method pyramid has no option 'compat'"),
        (("score", "--tie", "present"), "compat litepyramids-2019 has its own tie; remove tie or compat"),
        (("analyze", "significance", "--units"), "compat has no effect on a test on units"),
        (("show",), "--compat is about a summary; name one with --system"),
    ],
)
def test_where_it_has_no_effect_it_is_refused(file: Path, call: tuple[str, ...], message: str) -> None:
    done = run(*call, file, *COMPAT)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


def test_a_score_table_cannot_be_made_anew(file: Path, tmp_path: Path) -> None:
    saved = tmp_path / "scores.csv"
    assert run("score", file, "-o", saved).returncode == 0
    for question in (("significance",), ("correlate", "--gold", "lite")):
        done = run("analyze", *question, saved, *COMPAT)
        assert done.returncode == 2
        assert "score table" in done.stderr


def test_a_study_without_order_is_refused_by_name(tmp_path: Path) -> None:
    pyr.save(pyr.example(), tmp_path / "study.jsonl")
    done = run("score", tmp_path / "study.jsonl", "-m", "lite", *COMPAT)
    assert done.returncode == 2
    message = " ".join(done.stderr.split())
    assert "the study does not say whose answers come first" in message
    assert "Give MTurk's file of results, or a study with tasks and assignments" in message
