"""Every question says clearly what an empty study, or one of texts alone, is lacking."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import pyramidion as pyr
from pyramidion.cli.analyze import analyze
from pyramidion.cli.main import app

QUESTIONS: dict[str, list[list[str]]] = {
    "correlate": [["--gold", "modified"]],
    "significance": [[], ["--test", "mcnemar"], ["--test", "tukey"]],
    "metric-accuracy": [["--gold", "modified"]],
    "compare": [[]],
    "agreement": [[], ["--aspect", "overall"]],
    "stand-in": [[]],
    "combine": [[]],
    "reliability": [[]],
    "calibrate": [[]],
    "consistency": [[]],
    "trained-metric": [[]],
    "stability": [[], ["--vary", "references"], ["--gold", "pyramid", "--drop", "0.2"]],
    "plan": [[]],
    "grid": [[]],
    "pyramids": [[]],
}
LACKING = ("no pyramid", "no ratings", "no judgments", "no head-to-head votes", "nobody annotated", "three studies")


def test_every_question_is_asked_here() -> None:
    names = {command.name or command.callback.__name__ for command in analyze.registered_commands}  # type: ignore[union-attr]
    assert names == set(QUESTIONS)


@pytest.mark.parametrize(
    ("question", "options"), [(name, options) for name, several in QUESTIONS.items() for options in several]
)
def test_an_empty_study_is_refused_in_words(question: str, options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    pyr.save(pyr.Study(), path)
    done = CliRunner().invoke(
        app, ["analyze", question, *([str(path)] * (1 + 2 * (question == "trained-metric"))), *options]
    )
    assert isinstance(done.exception, pyr.PyramidionError), done.output
    assert any(what in str(done.exception) for what in LACKING), str(done.exception)
    assert done.stdout == ""


def test_agreement_does_not_speak_of_ratings_where_nothing_was_judged(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    pyr.save(pyr.Study((pyr.Topic("t"),), (pyr.Summary("t", "x", "Two."),)), path)
    done = CliRunner().invoke(app, ["analyze", "agreement", str(path)])
    assert str(done.exception) == "the study has no judgments, so agreement cannot be measured"
    done = CliRunner().invoke(app, ["analyze", "calibrate", str(path)])
    assert str(done.exception) == "the study has no ratings of summaries"
