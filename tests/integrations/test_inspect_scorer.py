"""The scorer for Inspect, run by Inspect."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalSample, list_eval_logs, read_eval_log
from tests.integrations.inspect_tasks import FACTS, PREDICTIONS, REFERENCES

import pyramidion as pyr

ROOT = Path(__file__).parents[2]
INSPECT = "from inspect_ai._cli.main import main; main()"


def inspect(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, at somebody's whose home is empty."""
    known = {**os.environ, "HOME": str(place), "XDG_DATA_HOME": str(place / "data"), **environment}
    done = subprocess.run(
        [sys.executable, "-c", INSPECT, *arguments], cwd=place, env=known, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("inspect")
    shutil.copy(Path(__file__).with_name("inspect_tasks.py"), place)
    inspect(place, "eval", "inspect_tasks.py", "--model", "none", "--display", "none", "--log-dir", str(place / "logs"))
    return place


@pytest.fixture(scope="module")
def logs(place: Path) -> dict[str, EvalLog]:
    read = [read_eval_log(info) for info in list_eval_logs(str(place / "logs"))]
    return {log.eval.task_registry_name or log.eval.task: log for log in read}


def samples(log: EvalLog) -> list[EvalSample]:
    assert log.status == "success"
    return log.samples or []


def values(log: EvalLog, measure: str) -> list[Any]:
    scored = [(sample.scores or {})["content_score"].value for sample in samples(log)]
    return [value[measure] if isinstance(value, dict) else value for value in scored]


def test_a_sample_scores_as_a_pair(logs: dict[str, EvalLog]) -> None:
    scores = pyr.score_pairs(PREDICTIONS, REFERENCES)
    for measure, column in scores.columns.items():
        assert values(logs["by_pyramids"], measure)[:3] == list(column)
    given = pyr.score_pairs(PREDICTIONS, REFERENCES, method="align", units=[FACTS] * 3)
    assert values(logs["by_given_units"], "lite") == pytest.approx(list(given))
    words = pyr.score_pairs(PREDICTIONS[::2], REFERENCES[::2], method="rouge", measures=["rouge-1-recall"])
    assert values(logs["by_words"], "rouge-1-recall")[::2] == list(words)


def test_every_measure_has_a_mean_and_an_error_over_the_samples_that_have_a_score(logs: dict[str, EvalLog]) -> None:
    results = logs["by_pyramids"].results
    assert results is not None
    scores = pyr.score_pairs(PREDICTIONS, REFERENCES)
    assert [score.name for score in results.scores] == list(scores.columns)
    for score in results.scores:
        assert score.metrics["mean"].value == pytest.approx(scores.mean(score.name))
        assert set(score.metrics) == {"mean", "stderr"}
        assert (score.scored_samples, score.unscored_samples) == (3, 1)


def test_a_sample_says_which_units_were_found_and_where(logs: dict[str, EvalLog]) -> None:
    score = (samples(logs["by_pyramids"])[0].scores or {})["content_score"]
    assert score.answer == PREDICTIONS[0]
    assert score.explanation == (
        "1 of 3 units are expressed, and 1 perhaps.\n"
        "- expressed (0.70): The river Aller flooded the old town\n"
        "- perhaps (0.37): The river Aller rose on Monday\n"
        "- not found: Ten families had to leave their homes\n"
        "- in no unit: A dog ran away."
    )
    metadata = score.metadata or {}
    assert [unit["words"] for unit in metadata["expressed"]] == [["The Aller flooded the old town"]]
    assert [unit["unit"] for unit in metadata["missed"]] == ["Ten families had to leave their homes"]
    assert metadata["signature"] == str(pyr.score_pairs(PREDICTIONS, REFERENCES).signature)
    assert isinstance(score.value, dict)
    weighed = sum(unit["degree"] * unit["weight"] for unit in metadata["expressed"] + metadata["perhaps"])
    assert weighed == pytest.approx(score.value["raw"]), "what is shown adds up to the score"


def test_probabilities_of_given_units_add_up_to_the_score(logs: dict[str, EvalLog]) -> None:
    for sample in samples(logs["by_given_units"]):
        score = (sample.scores or {})["content_score"]
        metadata = score.metadata or {}
        units = metadata["expressed"] + metadata["perhaps"] + metadata["missed"]
        assert sorted(unit["unit"] for unit in units) == sorted(FACTS)
        assert isinstance(score.value, dict)
        assert sum(unit["degree"] for unit in units) / len(units) == pytest.approx(score.value["lite"])


def test_a_sample_without_a_target_is_unscored(logs: dict[str, EvalLog]) -> None:
    score = (samples(logs["by_pyramids"])[3].scores or {})["content_score"]
    assert isinstance(score.value, float)
    assert score.value != score.value  # NaN, which Inspect leaves out
    assert score.explanation == "The targets are empty."


def test_a_sample_without_units_is_named(logs: dict[str, EvalLog]) -> None:
    log = logs["without_units"]
    assert log.status == "error"
    assert log.error is not None
    assert "sample 1: its metadata has no list of texts called 'facts'" in log.error.message


@pytest.mark.slow
def test_inspect_finds_the_scorer_by_its_name(place: Path, logs: dict[str, EvalLog], tmp_path: Path) -> None:
    """As in an ordinary installation: Inspect names scorers after packages in site-packages only."""
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "pyramidion").symlink_to(ROOT / "src" / "pyramidion")
    log, out = logs["by_words"].location, tmp_path / "scored.eval"
    inspect(
        place,
        *("score", log, "--scorer", "pyramidion/content_score", "-S", "method=lexical", "--action", "append"),
        *("--output-file", str(out), "--display", "none"),
        PYTHONPATH=str(installed),
    )
    results = read_eval_log(str(out)).results
    assert results is not None
    assert [score.name for score in results.scores] == ["rouge-1-recall", "lite"]
