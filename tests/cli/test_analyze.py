"""`pyramidion analyze` as a user meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.cli.test_commands import refused, run
from typer.testing import CliRunner

import pyramidion as pyr
from pyramidion.cli.main import app


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("analyze") / "study.jsonl"
    pyr.save(pyr.example(), path)
    return path


@pytest.fixture(scope="module")
def ratings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain table of ratings, as people have them."""
    path = tmp_path_factory.mktemp("ratings") / "ratings.csv"
    rows = [
        f"{annotator},{document},{system},{score}"
        for document in ("d1", "d2", "d3", "d4")
        for annotator in ("ann", "bob")
        for system, score in (("x", 3 + (document == "d1")), ("y", 6 - (annotator == "bob")))
    ]
    path.write_text("annotator,document,system,score\n" + "\n".join(rows) + "\n")
    return path


def test_correlate_answers_in_words_tables_and_files(study: Path, tmp_path: Path) -> None:
    files = {"-o": "t.csv", "--latex": "t.tex", "--plot": "t.svg"}
    options = [part for option, name in files.items() for part in (option, tmp_path / name)]
    done = run("analyze", "correlate", study, "--gold", "modified", "-m", "lite", "-m", "rouge-2-recall", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("lite agrees best with modified on systems: Pearson r = 0.998")
    assert "pyramidion|method:correlate|gold:modified|" in done.stdout
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["r"]) == pytest.approx(0.99763, abs=1e-4)
    assert r"\toprule" in (tmp_path / "t.tex").read_text()
    assert (tmp_path / "t.svg").exists()
    assert (tmp_path / "t-3.svg").exists()


def test_a_matrix_of_measures_fits_eighty_columns(study: Path, tmp_path: Path) -> None:
    asked = ["analyze", "correlate", study, "--gold", "modified", "--level", "system", "--kind", "pearson", "--matrix"]
    done = run(*asked, "--resamples", 0, "--latex", tmp_path / "t.tex", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    drawn = done.stdout.split("Measures with each other (pearson, system level)")[1]
    assert "each shares judgments with the gold, so it is left out" in done.stderr.replace("\n", " ")
    lines = [line for line in drawn.splitlines() if line.strip().startswith("rouge-su4-recall")]
    assert [len(line.split()) for line in lines] == [2 + 5, 2 + 4]  # nine measures in two parts, none broken
    assert max(map(len, drawn.split("pyramidion|")[0].splitlines())) <= 80
    assert "measure & no. & 1 & 2" in (tmp_path / "t.tex").read_text()
    tables = json.loads(run(*asked, "--resamples", 0, "--json").stdout)["tables"]
    [matrix] = [table for table in tables if table["title"].startswith("Measures with each other")]
    assert matrix["columns"][:4] == ["measure", "no.", "modified", "lite"]
    assert matrix["rows"][0]["lite"] == pytest.approx(matrix["rows"][1]["modified"])


def test_score_tables_of_files_are_taken(study: Path, tmp_path: Path) -> None:
    for method in ("pyramid", "lite"):
        run("score", study, "-m", method, "-q", "-o", tmp_path / f"{method}.csv")
    done = run(
        "analyze",
        "correlate",
        tmp_path / "pyramid.csv",
        tmp_path / "lite.csv",
        "--gold",
        "modified",
        "-m",
        "lite",
        "--json",
    )
    held = json.loads(done.stdout)
    assert held["tables"][0]["rows"][0]["metric"] == "lite"
    again = run("analyze", "significance", tmp_path / "lite.csv", "--test", "tukey", "--json")
    assert json.loads(again.stdout)["question"] == "significance"


def test_plain_tables_of_ratings_are_taken(ratings: Path) -> None:
    done = run("analyze", "agreement", ratings, "--json")
    held = json.loads(done.stdout)
    assert held["signature"].startswith("pyramidion|method:agreement|on:score|distance:ordinal|")
    done = run("analyze", "significance", ratings, "--test", "tukey")
    assert "y is better than every other system" in done.stdout
    bad = ratings.with_name("bad.csv")
    bad.write_text("annotator,document,system,score\nann,d1,x,good\nann,d1,,3\n")
    refused(
        run("analyze", "agreement", bad), 1, "bad.csv, line 2: score 'good' is not a number", "line 3: system is empty"
    )


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("significance", ["--test", "mcnemar"]),
        ("significance", ["--measure", "lite", "--test", "wilcoxon"]),
        ("metric-accuracy", ["--gold", "modified", "-m", "lite"]),
        ("calibrate", ["--experts", "rater1"]),
        ("consistency", []),
        ("stability", ["--gold", "pyramid", "--repetitions", "5"]),
        ("stability", ["--vary", "references"]),
        ("stability", ["--gold", "pyramid", "--drop", "0.25"]),
        ("plan", ["--topics", "5,20", "--campaigns", "20"]),
    ],
)
def test_every_question_answers_on_the_example(study: Path, question: str, options: list[str]) -> None:
    done = CliRunner().invoke(app, ["analyze", question, str(study), *options, "--json"])
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    held = json.loads(done.stdout)
    assert held["question"] == question
    assert held["tables"][0]["rows"]


def test_a_plan_needs_no_study() -> None:
    done = run("analyze", "plan", "--difference", "0.2", "--campaigns", "20", "--topics", "10,20")
    assert done.returncode == 0, done.stderr
    assert "The paper's design (20 topics x 32 units x 5 workers)" in done.stdout


def test_mistakes_are_explained(study: Path, tmp_path: Path) -> None:
    refused(
        run("analyze", "correlate", study, "--gold", "beauty"), 2, "measure 'beauty' is unknown; there are: modified"
    )
    refused(run("analyze", "reliability", study), 2, "reliability needs two annotators")
    refused(run("analyze", "compare", study), 2, "no head-to-head votes")
    refused(run("analyze", "agreement", study, "--plot", "x.gif"), 2, ".svg, .pdf, .png")
    refused(run("analyze", "stability", study, "--drop", "0.2"), 2, "--drop needs --gold")
    refused(run("analyze", "plan", "--topics", "few"), 2, "no list of whole numbers")
    refused(run("analyze", "agreement", tmp_path / "none.csv"), 2, "does not exist")
    table = tmp_path / "scores.csv"
    table.write_text("topic,system,measure,value\nt,s,m,0.5\n")
    refused(run("analyze", "agreement", table), 2, "is a score table; this question is about judgments")
