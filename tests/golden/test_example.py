"""The bundled example is golden data: its texts obey what it promises, and methods rank it as common sense does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.scoring.screening import screen

ORDER = ["paraphrase", "extract", "lead", "vague", "repeat", "offtopic"]


def test_it_is_what_its_sources_build() -> None:
    path = Path(__file__).parents[2] / "example" / "build.py"
    spec = importlib.util.spec_from_file_location("example_build", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.build() == pyr.example()


def test_it_has_what_it_promises(example: pyr.Study) -> None:
    assert example.problems() == []
    assert len(example.topics) >= 4
    assert example.systems == tuple(sorted(ORDER))
    for topic in example.topics:
        references = [r for r in example.references if r.topic == topic.id]
        assert len(references) == 4
        assert all(100 <= len(r.text.split()) <= 150 for r in references)
        lead = example.summary(topic.id, "lead")
        assert lead is not None
        assert topic.documents[0].text.startswith(lead.text)
        pyramid = example.pyramid(topic.id, "expert")
        assert pyramid is not None
        sizes = {weight: len(units) for weight, units in pyramid.tiers.items()}
        assert sizes[4] >= 3
        assert sizes[1] > sizes[4]
        assert all(contributor.spans for unit in pyramid.units for contributor in unit.contributors)


@pytest.mark.parametrize(
    ("method", "measure", "expected"),
    [
        ("pyramid", "modified", [0.7709, 0.5991, 0.3922, 0.2115, 0.1057, 0.0]),
        ("pyramid", "original", [0.9081, 0.6412, 0.4444, 0.2507, 0.1381, 0.0]),
        ("lite", "lite", [0.6094, 0.4688, 0.2734, 0.1562, 0.0938, 0.0]),
        ("responsiveness", "overall", [8.75, 6.75, 5.125, 3.5, 1.75, 1.125]),
    ],
)
def test_methods_agree_with_common_sense(example: pyr.Study, method: str, measure: str, expected: list[float]) -> None:
    ranking = pyr.score(example, method).ranking(measure)
    assert [system for system, _ in ranking] == ORDER
    assert [value for _, value in ranking] == pytest.approx(expected, abs=5e-5)


def test_rouge_underrates_the_paraphrase(example: pyr.Study) -> None:
    ranking = [system for system, _ in pyr.score(example, "rouge").ranking("rouge-2-recall")]
    assert ranking[0] == "extract"
    assert ranking.index("paraphrase") > ranking.index("lead")


def test_the_careless_and_the_adversarial_worker_are_caught(example: pyr.Study) -> None:
    crowd = pyr.Judgments(j for j in example.judgments if j.judge.startswith("worker"))
    assert {worker.judge for worker in screen(crowd).excluded} == {"worker7", "worker8"}
