"""`pyramidion analyze combine`, at the size that studies have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.cli.test_commands import refused, run
from tests.combined_studies import study_of

import pyramidion as pyr
from pyramidion.study import Judge, Judgments, Study, Task


@pytest.fixture
def study(tmp_path: Path) -> Path:
    pyr.save(study_of(topics=20), tmp_path / "study.jsonl")
    return tmp_path / "study.jsonl"


def test_the_answer_as_a_page_a_table_and_json(study: Path) -> None:
    scores = study.with_name("both.json")
    done = run("analyze", "combine", study, "--people", "crowd", "--model", "align", "--scores", scores)
    assert "People answered 240 of 480 questions (50%)." in done.stdout
    assert "further answers" in done.stdout
    assert "Wrote both.json." in done.stdout or "both.json" in done.stdout
    held = json.loads(run("analyze", "combine", study, "--json").stdout)
    assert [table["columns"][0] for table in held["tables"]] == ["system", "what", "better"]
    assert len(held["tables"][2]["rows"]) == 6
    ranked = run("analyze", "significance", scores, "--measure", "lite", "--json")
    assert json.loads(ranked.stdout)["question"] == "significance"


def test_a_broken_table_of_chances_names_the_line(study: Path) -> None:
    table = study.with_name("chances.csv")
    table.write_text("topic,unit,probability\nt00,u0,0.5\nt00,u1,2\nt00,u0,0.25\n")
    refused(
        run("analyze", "combine", study, "--chances", table),
        1,
        "line 3: probability '2' is not a number above 0 and at most 1",
        "line 4: unit u0 of topic t00 has two probabilities, 0.5 and 0.25",
    )
    table.write_text("topic,unit\nt00,u0\n")
    refused(run("analyze", "combine", study, "--chances", table), 1, "it has no probability")


def with_part_asked(study: Study, share: float, seed: int) -> Study:
    """Only a part of the labels, drawn at random, and a model that is right in four of five cases."""
    rng = np.random.default_rng(seed)
    labels = [j for j in study.judgments if j.judge == "labels"]
    rows = sorted({(j.topic, j.unit) for j in labels})
    order = [rows[i] for i in rng.permutation(len(rows))][: round(share * len(rows))]
    place = {row: number for number, row in enumerate(order, 1)}
    model = [replace(j, judge="model", value=0.2 + 0.6 * abs((j.value or 0) - (rng.random() < 0.2))) for j in labels]
    kept = [j for j in labels if (j.topic, j.unit) in place]
    tasks = tuple(
        Task(f"{place[j.topic, j.unit]}-{j.system}", j.topic, j.system, (j.unit,), stratum="all",
             place=place[j.topic, j.unit], places=len(rows))
        for j in kept
    )  # fmt: skip
    judges = (Judge("labels", "expert"), Judge("model", "model"))
    return replace(study, judges=judges, judgments=Judgments([*kept, *model]), tasks=tasks)


@pytest.mark.parametrize(("name", "systems"), [("pyrxsum", 10), ("realsumm-half", 25)])
def test_released_labels_asked_in_part(name: str, systems: int, real_data: Path, tmp_path: Path) -> None:
    whole = pyr.load(real_data / name)
    truth = pyr.score(whole, "lite", pyramid="expert", judges="labels", min_agreement=None).per_system("lite")
    pyr.save(with_part_asked(whole, 0.25, 1), tmp_path / "part.jsonl")
    done = run("analyze", "combine", tmp_path / "part.jsonl", "--model", "model", "--question", "these", "--json")
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    assert len(rows) == systems
    inside = sum(row["low"] <= truth[row["system"]] <= row["high"] for row in rows)
    assert inside >= 0.8 * systems
