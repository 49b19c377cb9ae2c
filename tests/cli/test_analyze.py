"""`pyramidion analyze` as a user meets it."""

from __future__ import annotations

import csv
import json
import re
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


def test_a_plan_searches_what_is_not_given(study: Path, tmp_path: Path) -> None:
    done = run("analyze", "plan", "--units", "16", "--campaigns", "50", "--json", "--plot", tmp_path / "plan.svg")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert re.search(r"with power 0.8, \d+ topics x 16 units x \d workers? is the cheapest", found["answer"])
    assert {row["units"] for table in found["tables"] for row in table["rows"]} == {16}
    drawn = (tmp_path / "plan.svg").read_text()
    assert drawn.count("stroke-dasharray") > 1  # the wanted power, and the cost of the recommended design
    options = ["--max-topics", "8", "--level", "0.01", "--power", "0.9", "--difference", "0.01", "--campaigns", "20"]
    done = run("analyze", "plan", *options)
    assert "no design is enough within the limit of 8 topics." in done.stdout
    assert "level:0.01" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--systems", "3"], "--systems has no effect with a pilot study"),
        (["--mean", "0.3"], "--mean has no effect with a pilot study"),
        (["--topics", "5", "--max-topics", "9"], "--max-topics has no effect with --topics"),
        (["--pair", "lead"], "give --pair twice"),
        (["--budget", "3"], "the budget of $3.00 does not pay for the smallest design"),
    ],
)
def test_a_plan_refuses_what_it_would_ignore(study: Path, options: list[str], message: str) -> None:
    refused(run("analyze", "plan", study, *options), 2, message)


def test_a_plan_without_a_pilot_refuses_what_is_about_one() -> None:
    for options in (
        ["--pair", "a", "--pair", "b"],
        ["--judges", "crowd"],
        ["--pyramid", "expert"],
        ["--from", "jsonl"],
    ):
        refused(run("analyze", "plan", *options), 2, f"{options[0]} has no effect without a pilot study; name one")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--vary", "references", "--gold", "lite"], "--gold has no effect with --vary references"),
        (["--vary", "references", "--repetitions", "3"], "--repetitions has no effect without --held-out five"),
        (["--vary", "references", "--held-out", "five"], "no topic has the 6 references"),
        (
            ["--vary", "references", "--held-out", "all"],
            "unknown held_out 'all'; known values are: peers, references, five",
        ),
        (["--held-out", "peers"], "--held-out has no effect without --vary references"),
        (["--measure", "original"], "--measure has no effect without --vary references or --rerun"),
        (["--gold", "pyramid", "--drop", "0.2", "--repetitions", "3"], "--repetitions has no effect with --drop"),
        (["--rerun", "other.csv", "--vary", "units"], "--vary has no effect in the comparison of two runs"),
    ],
)
def test_stability_refuses_what_it_would_ignore(study: Path, options: list[str], message: str) -> None:
    refused(run("analyze", "stability", study, *options), 2, message)


def test_score_ranges_are_the_second_table(study: Path, tmp_path: Path) -> None:
    done = run("analyze", "stability", study, "--vary", "references", "-o", tmp_path / "sizes.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "sizes-2.csv").open(encoding="utf-8")))
    assert len(rows) == 96
    assert list(rows[0]) == ["topic", "summary", "references", "pyramids", "minimum", "mean", "maximum"]


def test_mistakes_are_explained(study: Path, tmp_path: Path) -> None:
    refused(
        run("analyze", "correlate", study, "--gold", "beauty"),
        2,
        "unknown measure 'beauty'; known values are: modified",
    )
    refused(run("analyze", "reliability", study), 2, "reliability needs two annotators")
    refused(run("analyze", "compare", study), 2, "no head-to-head votes")
    refused(run("analyze", "agreement", study, "--plot", "x.gif"), 2, ".svg, .pdf, .png")
    refused(run("analyze", "stability", study, "--drop", "0.2"), 2, "--drop needs --gold")
    refused(run("analyze", "plan", "--topics", "few"), 2, "not a list of whole numbers")
    refused(run("analyze", "agreement", tmp_path / "none.csv"), 2, "does not exist")
    table = tmp_path / "scores.csv"
    table.write_text("topic,system,measure,value\nt,s,m,0.5\n")
    refused(run("analyze", "agreement", table), 2, "is a score table; this question needs judgments")
