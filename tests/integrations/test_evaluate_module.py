"""The metric for Hugging Face evaluate. That `evaluate.load` finds it is tested with the page that shows it."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import pyramidion as pyr
from pyramidion.integrations.evaluate_module import Pyramidion

REFERENCES = [
    "The river Aller rose on Monday and flooded the old town. Ten families had to leave their homes.",
    "The museum bought a painting by a local artist. It cost nine thousand euros.",
]
PREDICTIONS = ["The Aller flooded the old town on Monday.", "A museum paid 9,000 euros for a painting."]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where `evaluate` keeps what was added. Nothing is asked over the network."""

    def refuse(*_: Any) -> None:
        raise AssertionError("this would need a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return str(tmp_path)


@pytest.mark.parametrize("method", [None, "auto", "rouge", "align"])
def test_numbers_are_those_of_pairs(cache: str, method: str | None) -> None:
    metric = Pyramidion(method, cache_dir=cache)
    scores = pyr.score_pairs(PREDICTIONS, REFERENCES, method=method or "auto")
    means = {measure: scores.mean(measure) for measure in scores.columns}
    assert metric.compute(predictions=PREDICTIONS, references=REFERENCES) == means
    each = metric.compute(predictions=PREDICTIONS, references=REFERENCES, use_aggregator=False)
    assert each == {measure: list(column) for measure, column in scores.columns.items()}
    assert metric.scores is not None
    assert metric.scores.signature == scores.signature


def test_pairs_are_added_in_any_way(cache: str) -> None:
    metric = Pyramidion(cache_dir=cache)
    whole = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    metric.add_batch(predictions=PREDICTIONS[:1], references=REFERENCES[:1])
    metric.add(prediction=PREDICTIONS[1], reference=[REFERENCES[1]])
    assert metric.compute() == whole
    frame = pd.DataFrame({"p": PREDICTIONS, "r": REFERENCES})
    assert metric.compute(predictions=frame.p, references=frame.r) == whole


def test_references_are_texts_or_lists_of_texts(cache: str) -> None:
    """`evaluate` by itself would make a text of the list, brackets and all."""
    mixed = [REFERENCES[0], [REFERENCES[1], "A painting was bought."]]
    metric = Pyramidion(cache_dir=cache)
    each = metric.compute(predictions=PREDICTIONS, references=mixed, use_aggregator=False)
    assert each["extent"] == list(pyr.score_pairs(PREDICTIONS, mixed))


def test_units_may_be_given(cache: str) -> None:
    units = [["The town was flooded."], ["A dog ran."]]
    metric = Pyramidion("align", cache_dir=cache)
    metric.add_batch(predictions=PREDICTIONS, references=REFERENCES)
    each = metric.compute(units=units, use_aggregator=False)
    assert each == {"lite": list(pyr.score_pairs(PREDICTIONS, REFERENCES, method="align", units=units))}


def test_choices_of_the_method_are_obeyed_or_refused(cache: str) -> None:
    metric = Pyramidion("rouge", cache_dir=cache, measures=["rouge-2-f"])
    assert list(metric.compute(predictions=PREDICTIONS, references=REFERENCES)) == ["rouge-2-f"]
    with pytest.raises(pyr.UsageError, match="method auto has no option 'tie'"):
        Pyramidion(cache_dir=cache, tie="present")
    with pytest.raises(pyr.UsageError, match="unknown method 'blue'"):
        Pyramidion("blue", cache_dir=cache)


@pytest.mark.parametrize(
    ("predictions", "references", "why"),
    [
        ([PREDICTIONS[0], 3], REFERENCES, "prediction 1: is not a text but int 3"),
        (PREDICTIONS, [REFERENCES[0], None], "reference 1: is missing"),
        (PREDICTIONS, REFERENCES[:1], "there are 2 predictions, but 1 references"),
    ],
)
def test_bad_pairs_are_named_and_the_metric_goes_on(cache: str, predictions: Any, references: Any, why: str) -> None:
    metric = Pyramidion("rouge", cache_dir=cache)
    with pytest.raises(pyr.PyramidionError, match=why):
        metric.compute(predictions=predictions, references=references)
    assert metric.compute(predictions=PREDICTIONS, references=REFERENCES)


NOTHING = dict.fromkeys(("extent", "coverage", "quality", "comprehensive", "raw"))


def test_without_a_score(cache: str) -> None:
    metric = Pyramidion(cache_dir=cache)
    assert metric.compute(predictions=PREDICTIONS, references=[REFERENCES[0], []]) == metric.compute(
        predictions=PREDICTIONS[:1], references=REFERENCES[:1]
    )
    assert metric.compute(predictions=PREDICTIONS[:1], references=[" "]) == dict.fromkeys(
        ("extent", "coverage", "quality", "comprehensive", "raw")
    )
    assert metric.scores is not None
    assert [str(note) for note in metric.scores.notes] == ["pair 0: its references are empty, so it has no score"]
    assert metric.compute(predictions=[], references=[]) == dict.fromkeys(
        ("extent", "coverage", "quality", "comprehensive", "raw")
    )
