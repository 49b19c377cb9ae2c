"""`pyramidion autoannotate` leaves annotations that other commands read, and never harms what it reads."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.running import run

import pyramidion as pyr
from pyramidion.study import Judgments


@pytest.fixture
def study(tmp_path: Path, example: pyr.Study) -> Path:
    path = tmp_path / "study.jsonl"
    pyr.save(example, path)
    return path


def test_other_commands_read_what_it_leaves(study: Path, tmp_path: Path) -> None:
    before = study.read_bytes()
    done = run("autoannotate", study, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert "autoannotate annotated 24 summaries, based on what annotator marked: 45 of 810 units found." in done.stdout
    assert study.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert run("validate", tmp_path / "out.jsonl").returncode == 0
    scored = run("score", tmp_path / "out.jsonl", "-m", "pyramid", "--judges", "autoannotate", "--json")
    assert "judges:autoannotate" in json.loads(scored.stdout)["signature"]
    agreed = run("analyze", "reliability", tmp_path / "out.jsonl", "--resamples", 10)
    assert "annotator and autoannotate agree with alpha 0.360" in agreed.stdout
    shown = run(
        "show", tmp_path / "out.jsonl", "-m", "pyramid", "-t", "museum-theft", "-s", "lead", "--judges", "autoannotate"
    )
    assert "“Burglars had taken five antique clocks”" in shown.stdout


def test_ducview_files_have_it_in_files_of_its_own(study: Path, tmp_path: Path) -> None:
    done = run("autoannotate", study, "-o", tmp_path / "duc", "--to", "ducview", "--judge", "auto")
    assert done.returncode == 0, done.stderr
    assert "judge auto: is a model, but will be read back as an expert" in done.stderr
    first = run("score", tmp_path / "duc", "--judges", "auto", "--measure", "modified", "--json")
    second = run("autoannotate", study, "-o", tmp_path / "out.jsonl", "--judge", "auto")
    assert second.returncode == 0
    second = run(
        "score", tmp_path / "out.jsonl", "-m", "pyramid", "--judges", "auto", "--measure", "modified", "--json"
    )
    assert json.loads(first.stdout)["scores"] == json.loads(second.stdout)["scores"]


def test_only_missing_and_json(example: pyr.Study, tmp_path: Path) -> None:
    kept = [j for j in example.judgments if j.system != "lead"]
    pyr.save(replace(example, judgments=Judgments(kept)), tmp_path / "some.jsonl")
    done = run("autoannotate", tmp_path / "some.jsonl", "-o", tmp_path / "out.jsonl", "--only-missing", "--json")
    held = json.loads(done.stdout)
    assert (held["summaries"], held["judge"], held["learned_from"]) == (4, "autoannotate", ["annotator"])
    assert held["format"] == "jsonl"
    made = pyr.load(tmp_path / "out.jsonl")
    assert {j.system for j in made.judgments if j.judge == "autoannotate"} == {"lead"}
    assert held["judgments"] == 135
    assert held["found"] == sum(bool(j.value) for j in made.judgments if j.judge == "autoannotate") > 0


def test_nothing_is_overwritten(study: Path, tmp_path: Path) -> None:
    before = study.read_bytes()
    done = run("autoannotate", study, "-o", study, "--force")
    assert (done.returncode, study.read_bytes()) == (2, before)
    assert "is the study itself" in done.stderr
    other = tmp_path / "other.jsonl"
    other.write_text("precious")
    done = run("autoannotate", study, "-o", other)
    assert (done.returncode, other.read_text()) == (2, "precious")
    assert "exists already; --force replaces it" in done.stderr
    assert run("autoannotate", study, "-o", other, "--force").returncode == 0
    folder = tmp_path / "duc"
    assert run("convert", study, folder, "--to", "ducview").returncode == 0
    pan = folder / "museum-theft.lead.pan"
    held = pan.read_bytes()
    done = run("autoannotate", folder, "-o", pan, "--force")
    assert (done.returncode, pan.read_bytes()) == (2, held)
    assert "is inside the study itself" in done.stderr


def test_mistakes_are_explained(study: Path, tmp_path: Path) -> None:
    for options, said in (
        (["-o", tmp_path / "x.docx"], "no format is known for x.docx"),
        (["-o", tmp_path / "x.jsonl", "--pyramid", "crowd"], "nothing to learn from"),
        (["-o", tmp_path / "x.jsonl", "--judges", "nobody"], "no judge is called 'nobody'"),
        (["-o", tmp_path / "x.jsonl", "--judge", "rater1"], "a judge 'rater1' of kind expert"),
        (["-o", tmp_path / "x.jsonl", "--only-missing"], "nothing to do: every peer"),
        ([], "Missing option"),
    ):
        done = run("autoannotate", study, *options)
        assert done.returncode == 2
        assert said in done.stderr
        assert not (tmp_path / "x.jsonl").exists()
