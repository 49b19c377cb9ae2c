"""Tasks and units of known answer look like all others."""

from __future__ import annotations

import json
from collections import Counter
from statistics import mean
from typing import Any

import pytest

import pyramidion as pyr
from pyramidion.campaigns.plan import Plan, plan
from pyramidion.campaigns.tasks import AttentionCheck, task_page
from pyramidion.study import Settings

SEEDS = range(12)


def judging(study: pyr.Study, seed: int) -> Plan:
    return plan(study, "judge", "j", Settings.for_kind("judge", gold_rate=0.3, seed=seed))


def pages(study: pyr.Study, made: Plan) -> list[dict[str, Any]]:
    return [task_page(study, made.campaign, task, made.gold.get(task.id)) for task in made.tasks]


def test_judging_pages_have_the_same_fields_and_the_same_number_of_units(example: pyr.Study) -> None:
    shown = pages(example, judging(example, 0))
    assert {frozenset(page) for page in shown} == {frozenset(shown[0])}
    assert {tuple(unit["id"] for unit in page["units"]) for page in shown} == {
        tuple(f"statement-{n}" for n in range(1, 18))
    }
    assert {frozenset(unit) for page in shown for unit in page["units"]} == {frozenset({"id", "label"})}


@pytest.mark.parametrize("per_task", [16, 15, 7, 1])
@pytest.mark.parametrize("silent", ["", "Nothing."])
def test_no_task_is_longer_than_another_for_its_known_answer(example: pyr.Study, per_task: int, silent: str) -> None:
    """One topic, units that do not divide evenly, and a system that failed: there is a known answer for it too."""
    from dataclasses import replace

    topic = example.topics[0].id
    units = {
        pyramid: replace(pyramid, units=tuple(replace(u, group="") for u in pyramid.units))
        for pyramid in example.pyramids
    }
    study = replace(
        example,
        topics=example.topics[:1],
        summaries=tuple(replace(s, text=silent) if s.system == "lead" else s for s in example.summaries),
        pyramids=tuple(made for pyramid, made in units.items() if pyramid.topic == topic),
        judgments=pyr.Judgments(()),
    )
    chosen = Settings.for_kind("judge", gold_rate=0.2, units_per_task=per_task)
    made = plan(study, "judge", "j", chosen, pyramid="crowd")
    shown = pages(study, made)
    assert {len(page["units"]) - len(task.units) for page, task in zip(shown, made.tasks, strict=True)} == {1}
    known = {made.gold[task.id].value for task in made.tasks if task.system == "lead"}  # type: ignore[union-attr]
    assert known == {0}, "what it does not say is not there"
    by_system = [
        Counter(len(page["units"]) for page, task in zip(shown, made.tasks, strict=True) if task.system == name)
        for name in study.systems
    ]
    assert all(sizes == by_system[0] for sizes in by_system)


def split(study: pyr.Study) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Place and label of the units that were added, and of the others, over several plans."""
    added, others = [], []
    for seed in SEEDS:
        made = judging(study, seed)
        for task, page in zip(made.tasks, pages(study, made), strict=True):
            gold = made.gold[task.id]
            assert isinstance(gold, AttentionCheck)
            for place, unit in enumerate(page["units"]):
                (added if place == gold.position else others).append((place, unit["label"]))
    return added, others


def area(first: list[float], second: list[float]) -> float:
    """How often a value of the first is above one of the second: 0.5 where they cannot be told apart."""
    counts = Counter(second)
    return mean(sum(n * ((x > y) + 0.5 * (x == y)) for y, n in counts.items()) / len(second) for x in first)


def test_added_units_cannot_be_told_by_place_or_form(example: pyr.Study) -> None:
    """576 added units against 9,216 others: the area under the ROC curve of each feature of the form."""
    added, others = split(example)
    features = {
        "place": lambda place, _label: place,
        "words": lambda _place, label: len(label.split()),
        "characters": lambda _place, label: len(label),
        "bytes": lambda _place, label: len(json.dumps(label)),
        "capital": lambda _place, label: label[0].isupper() or label[0] in "\"'“",
        "stop": lambda _place, label: label.endswith("."),
        "commas": lambda _place, label: label.count(","),
        "digits": lambda _place, label: sum(letter.isdigit() for letter in label),
    }
    for name, feature in features.items():
        found = area([float(feature(*one)) for one in added], [float(feature(*one)) for one in others])
        assert 0.38 < found < 0.62, name
    assert {label.endswith(".") for _, label in added} == {label.endswith(".") for _, label in others} == {True}
    places = Counter(place for place, _ in added)
    assert set(places) == set(range(17))
    assert max(places.values()) < 2.2 * len(added) / 17


def test_known_answers_are_as_often_yes_as_no(example: pyr.Study) -> None:
    values = [gold.value for seed in SEEDS for gold in judging(example, seed).gold.values()]  # type: ignore[union-attr]
    assert 0.4 < mean(values) < 0.6


@pytest.mark.parametrize("stop", ["", "."])
def test_added_units_end_as_the_others_do(example: pyr.Study, stop: str) -> None:
    from dataclasses import replace

    pyramids = tuple(
        replace(p, units=tuple(replace(u, label=u.label.rstrip(".") + stop) for u in p.units)) for p in example.pyramids
    )
    made = judging(replace(example, pyramids=pyramids), 1)
    assert {gold.label.endswith(".") for gold in made.gold.values()} == {bool(stop)}  # type: ignore[union-attr]


def test_rating_pages_with_known_answers_are_like_the_others(example: pyr.Study) -> None:
    made = plan(example, "rate", "r", Settings.for_kind("rate", gold_rate=0.5))
    plain = plan(example, "rate", "r", Settings.for_kind("rate", gold_rate=0.0))
    assert len(made.gold) == 12
    assert pages(example, made) == pages(example, plain)
