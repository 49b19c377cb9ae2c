"""`analyze consistency` and `analyze trained-metric` from the command line, option by option."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.assessed_years import annotated_year
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.study import Judgments


@pytest.fixture(scope="module")
def years(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three years, the third also without judgments (blind); features of each in a long table, of all in a wide one."""
    folder = tmp_path_factory.mktemp("years")
    rows: list[dict[str, Any]] = []
    for seed, year in enumerate(("2008", "2009", "2010")):
        study, table = annotated_year(seed, topics=8, systems=6, year=year[2:])
        pyr.save(study, folder / f"{year}.jsonl")
        pyr.write_scores(table, folder / f"{year}.csv")
        names = table.measures
        rows += [
            {"topic": t, "system": s, **{name: table.value(s, name, t) for name in names}}
            for t, s in table.per_summary(names[0])
        ]
    pyr.save(replace(study, judgments=Judgments(), judges=(), pyramids=()), folder / "blind.jsonl")
    with (folder / "wide.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def asked(*arguments: object) -> Any:
    done = run("analyze", *arguments, "--json")
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)


def test_consistency_of_two_years(years: Path) -> None:
    scores = ("--scores", years / "2008.csv", "--scores", years / "2009.csv")
    held = asked("consistency", years / "2008.jsonl", years / "2009.jsonl", *scores, "--resamples", 50)
    first = held["tables"][0]
    assert {row["year"] for row in first["rows"]} == {"all", "2008", "2009"}
    systems = next(t for t in held["tables"] if t["title"] == "Correlation with metrics, systems")
    assert {row["peers"] for row in systems["rows"]} == {"AllPeers", "NoModels"}
    assert {row["worst by"] for row in systems["rows"]} == {"pyramid", "autoPyramid"}
    assert all(row["p, bootstrap"] is not None for row in systems["rows"])


def test_options_of_consistency_are_obeyed(years: Path) -> None:
    study, scores = years / "2008.jsonl", ("--scores", years / "2008.csv", "--resamples", 20)
    plain = asked("consistency", study, *scores)
    for options, changes in (
        (["--set", "main"], "topics:main"),
        (["--set", "*-B"], "topics:*-B"),
        (["--peers", "no-models"], "peers:NoModels"),
        (["--seed", 3], "seed:3"),
        (["--human", "s5"], ""),
        (["--exclude", 1], ""),
    ):
        other = asked("consistency", study, *scores, *options)
        assert other["tables"] != plain["tables"]
        assert changes in other["signature"]
    for options, said in (
        (["--set", "evening"], "no topic belongs to the set 'evening'"),
        (["--peers", "some"], "unknown peers 'some'; known values are: both, all, no-models"),
        (["--human", "nobody"], "no peer matches 'nobody'"),
        (["--exclude", 0], "greater than or equal to 1"),
    ):
        done = run("analyze", "consistency", study, *scores, *options)
        assert done.returncode == 2
        assert said in done.stderr


def test_a_year_nobody_judged_is_predicted(years: Path, tmp_path: Path) -> None:
    three = [years / name for name in ("2008.jsonl", "2009.jsonl", "blind.jsonl")]
    target = tmp_path / "predicted.csv"
    done = run("analyze", "trained-metric", *three, "--features", years / "wide.csv", "--predict", target)
    assert done.returncode == 0, done.stderr
    assert "in year 3, which nobody judged, s1 is predicted to be the best of 7 systems" in done.stdout
    assert f"Wrote {target}." in done.stdout
    table = pyr.read_scores(target)
    assert table.measures[0] == "predicted"
    assert len(table.per_summary("predicted")) == 8 * 7
    tables = [part for year in ("2008", "2009", "2010") for part in ("--features", years / f"{year}.csv")]
    again = tmp_path / "again.csv"
    assert run("analyze", "trained-metric", *three, *tables, "--predict", again, "-q").returncode == 0
    assert pyr.read_scores(again).per_summary("predicted") == pytest.approx(table.per_summary("predicted"))


def test_options_of_the_trained_metric_are_obeyed(years: Path) -> None:
    three = [years / f"{year}.jsonl" for year in (2008, 2009, 2010)]
    features = ("--features", years / "wide.csv")
    plain = asked("trained-metric", *three, *features)
    assert [row["by"] for row in plain["tables"][0]["rows"]] == [
        "-",
        "-",
        "alpha",
        "alpha",
        "autoPyramid",
        "autoPyramid",
    ]
    for options in (
        ["--set", "update"],
        ["--peers", "all"],
        ["--human", "s5"],
        ["--exclude", 2],
        ["--exclude", 0],
        ["--exclude-by", "autoPyramid"],
        ["--feature", "noise"],
        ["--feature", "facts", "--feature", "words"],
    ):
        assert asked("trained-metric", *three, *features, *options)["tables"] != plain["tables"]
    ours = asked("trained-metric", *three, "--feature", "words", "--feature", "redundancy", "--exclude", 0)
    assert {row["features"] for row in ours["tables"][0]["rows"]} <= {"words", "redundancy", "redundancy, words"}


def test_mistakes_in_features_are_explained(years: Path, tmp_path: Path) -> None:
    three = [years / f"{year}.jsonl" for year in (2008, 2009, 2010)]
    lines = (years / "wide.csv").read_text().splitlines()
    gap = tmp_path / "gap.csv"
    gap.write_text("\n".join([*lines[:3], lines[3].rsplit(",", 1)[0] + ",", *lines[4:]]) + "\n")
    short = tmp_path / "short.csv"
    short.write_text("\n".join(lines[:-5]) + "\n")
    letters = tmp_path / "letters.csv"
    letters.write_text("topic,system,facts\nD0800-A,s0,many\n")
    for options, code, said in (
        (["--features", gap], 1, "gap.csv: topic D0800-A, system "),
        (["--features", short], 1, "short.csv: topic D1003-B, system "),
        (["--features", letters], 1, "letters.csv, line 2, facts: 'many' is not a number"),
        (["--features", three[0]], 2, "is a study; --features needs a table"),
        (["--features", gap, "--features", gap], 2, "2 tables of features for 3 years"),
        (
            ["--features", years / "wide.csv", "--feature", "charm"],
            2,
            "unknown feature 'charm'; known values are: facts, noise",
        ),
        (["--exclude-by", "luck"], 2, "unknown criterion 'luck'"),
        (["--predict", tmp_path / "x.txt"], 2, "predicted scores are written to .csv"),
        (["--features", gap, "--predict", gap], 2, "is the study itself"),
    ):
        done = run("analyze", "trained-metric", *three, *options)
        assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert run("analyze", "trained-metric", *three, "--features", gap, "--lenient").returncode == 0
