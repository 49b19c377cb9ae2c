"""Two roads, one answer: what `auto` says of a unit is what `judge` says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pyramidion as pyr
from pyramidion.evaluation import evaluate_study
from pyramidion.judging import judge_study
from pyramidion.study.judgments import COVERED

TOPIC = "museum-theft"


def test_auto_and_judge_say_the_same(example: pyr.Study) -> None:
    """Also of a human peer, who is compared with the references of others."""
    texts = [summary for summary in example.summaries if summary.topic == TOPIC]
    person = next(replace(summary, role="peer") for summary in texts if summary.role == "reference")
    study = replace(
        example,
        topics=tuple(topic for topic in example.topics if topic.id == TOPIC),
        summaries=(*texts, person),
        pyramids=(),
        judges=(),
        judgments=pyr.Judgments(),
        tasks=(),
        assignments=(),
    )
    automatic = evaluate_study(study).study
    judged = judge_study(automatic, "align", pyramid="auto").study
    by = {
        name: {(j.system, j.unit): j.value for j in judged.judgments if j.judge == name and j.unit}
        for name in ("auto", "align")
    }
    assert len(by["auto"]) == len(by["align"]) > 80
    assert person.system in {system for system, _ in by["auto"]}
    assert by["auto"] == pytest.approx(by["align"], abs=5e-5), "rounded to four decimals"
    auto, align = ({judge.id: judge for judge in judged.judges}[name] for name in ("auto", "align"))
    assert (auto.expressed, auto.perhaps) == (align.expressed, align.perhaps)
    assert {auto.verdict(value or 0) for value in by["auto"].values()} == {"expressed", "perhaps", "not found"}


def test_how_much_of_the_references_is_said_is_between_nothing_and_all(example: pyr.Study) -> None:
    [reference] = [s.text for s in example.references if s.topic == TOPIC][:1]
    peers = {"empty": "", "half": reference[: len(reference) // 2]}
    study = pyr.Study(
        (pyr.Topic("t"),),
        (
            pyr.Summary("t", "r", reference, "reference"),
            *(pyr.Summary("t", name, text) for name, text in peers.items()),
        ),
    )
    said = {j.system: j.value for j in evaluate_study(study).study.judgments if j.aspect == COVERED}
    assert said["empty"] == 0
    assert said["half"] is not None
    assert 0.3 < said["half"] < 0.85
