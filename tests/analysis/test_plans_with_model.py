"""Cost against width: components of variance by hand and by simulation, prices, and what a model is worth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student
from tests.campaigns.judged_studies import MODEL, judged_study

import pyramidion as pyr
from pyramidion.analysis import Assumptions, plan_with_model
from pyramidion.analysis.planning_with_model import Components, PartSize, components
from pyramidion.stats.combining import QUESTIONS
from pyramidion.study import Judge, Study
from pyramidion.study.judgments import Column

Floats = NDArray[np.float64]


def test_components_of_two_systems_by_hand() -> None:
    # Differences of two systems: 2 and 0 on one topic, -1 and -1 on another. Units' own variance: 2 within the first
    # topic and 0 within the second, on average 1. Topic means 1 and -1 have variance 2, less 1 / 2 for the units.
    values = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    found = components(values, np.array([0, 0, 1, 1]))
    assert found.unit == pytest.approx(1.0)
    assert found.topic == pytest.approx(1.5)


def test_components_do_not_count_what_systems_have_everywhere() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(60, 4))
    topic = np.repeat(np.arange(12), 5)
    plain = components(values, topic)
    moved = components(values + np.array([0.0, 5.0, -3.0, 1.0]) + rng.normal(size=(60, 1)), topic)
    assert moved.unit == pytest.approx(plain.unit)
    assert moved.topic == pytest.approx(plain.topic, abs=0.5)


def test_components_of_a_simulated_world_are_found_again_despite_gaps() -> None:
    rng = np.random.default_rng(2)
    topics, units, systems = 400, 8, 6
    topic = np.repeat(np.arange(topics), units)
    values = rng.normal(0, 0.3, (topics, systems))[topic] + rng.normal(0, 1.0, (topics * units, systems))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[5] = np.nan
    found = components(values, topic)  # a difference has twice the variance of one system
    assert found.topic == pytest.approx(2 * 0.09, rel=0.15)
    assert found.unit == pytest.approx(2.0, rel=0.05)


def test_the_width_is_that_of_a_sample_without_replacement() -> None:
    cut = PartSize(4, 50, 16, Decimal(3), variance=0.2, between=0.0, free=math.inf, level=0.05)
    expected = 2 * student.ppf(0.975, 19) * math.sqrt(0.6 * 0.2 / 20)
    assert cut.width(20) == pytest.approx(expected)
    assert cut.width(50) == 0
    assert cut.width(15) is None
    assert cut.width_for(Decimal("62.9")) == cut.width(20)
    assert cut.width_for(Decimal(1000)) == 0
    assert cut.cost_of(expected) == 60
    assert cut.cost_of(cut.width(16) or 0) == 48
    beyond = replace(cut, between=0.01, free=9)  # topics of this kind, of which there are ten
    assert beyond.width(50) == pytest.approx(2 * student.ppf(0.975, 9) * 0.1)
    assert beyond.cost_of(0.1) is None


def labelled(truth: Callable[[Floats, np.random.Generator], Floats], topics: int = 30, units: int = 12) -> Study:
    """A study of which people say what a function makes of the model's probabilities."""
    rng = np.random.default_rng(7)
    probability = rng.beta(0.5, 0.7, size=(topics * units, 5))
    study = judged_study([units] * topics, 5, probability)
    said = study.judgments
    by_people = said.with_columns(
        judge=Column.repeat("labels", len(said)), value=truth(probability, rng).ravel().astype(float)
    )
    return replace(study, judges=(*study.judges, Judge("labels", "expert")), judgments=said + by_people)


def calibrated(p: Floats, rng: np.random.Generator) -> Floats:
    return (rng.random(p.shape) < p).astype(np.float64)


def useless(p: Floats, rng: np.random.Generator) -> Floats:
    return (rng.random(p.shape) < 0.4).astype(np.float64)


def test_a_model_saves_what_it_explains() -> None:
    good = plan_with_model(labelled(calibrated), MODEL, workers=5, question="these").result
    # What is left is p (1 - p) of each system.
    p = np.random.default_rng(7).beta(0.5, 0.7, size=(360, 5))
    assert good.residual.unit == pytest.approx(2 * float((p * (1 - p)).mean()), rel=0.1)
    assert good.people.unit == pytest.approx(2 * float((p * (1 - p)).mean() + p.var()), rel=0.1)
    assert good.trust == pytest.approx(1.0, abs=0.1)
    one = good.savings[-1]
    assert one.spread is not None
    assert one.with_model is not None
    assert one.with_model < one.spread * Decimal("0.85")
    bad = plan_with_model(labelled(useless), MODEL, workers=5, question="these")
    assert bad.result.trust < 0.1
    assert bad.result.residual.unit == pytest.approx(bad.result.people.unit, rel=0.02)
    for one in bad.result.savings:
        assert one.spread is not None
        assert one.with_model is not None
        assert one.with_model == pytest.approx(one.spread, rel=Decimal("0.1"))


def test_a_model_never_costs_more_than_people_alone() -> None:
    for correlation in (0.0, 0.3, 0.6, 0.9):
        for question in QUESTIONS:
            answer = plan_with_model(correlation=correlation, question=question)
            _, alone, both = answer.result.ways
            for cost in map(Decimal, (200, 400, 800, 1000)):
                width, with_model = alone.width_for(cost), both.width_for(cost)
                assert width is not None
                assert with_model is not None
                assert with_model <= width + 1e-12
                if correlation == 0:
                    assert with_model == pytest.approx(width)


def test_widths_with_everything_spread_by_a_model_are_as_the_correlation_says() -> None:
    # What is left has 1 - r² of the variance, so intervals about these topics are sqrt(1 - .36) = .8 as wide.
    _, alone, both = plan_with_model(question="these").result.ways
    for cut, with_model in zip(alone.cuts, both.cuts, strict=True):
        width, narrower = cut.width(20), with_model.width(20)
        assert width is not None
        assert narrower == pytest.approx(0.8 * width)


def test_prices_by_hand() -> None:
    whole, _, both = plan_with_model(Assumptions(systems=22), topics=20, units=32).result.ways
    # All of it is the paper's $2,376.00: 22 systems x 20 topics x 2 tasks x 5 workers x $0.45 x 1.2.
    assert whole.cuts[0].price * whole.cuts[0].parts == Decimal(2376)
    of_five = next(cut for cut in both.cuts if cut.units == 5)  # .45 x 1.25 / 2.9 is $0.19
    assert of_five.price == Decimal("0.19") * 22 * 5 * Decimal("1.2")
    assert of_five.parts == 128


def test_a_sentence_tables_and_a_figure() -> None:
    answer = plan_with_model(question="these")
    assert answer.sentence.startswith("10 systems, 20 topics of 32 units, 5 workers per task: align correlates with")
    assert "% less than whole topics." in answer.sentence
    assert [len(table.rows) for table in answer.tables] == [10, 2, 2]
    (figure,) = answer.figures
    assert [series.name for series in getattr(figure, "series", ())] == ["whole topics", "spread units", "with align"]
    assert plan_with_model(correlation=0.7, question="these").result.savings[1].saved > 0.4  # type: ignore[operator]


def test_a_pilot_says_who_answered_and_how_often(example: pyr.Study) -> None:
    from pyramidion.judging import judge_study

    judged = judge_study(example, "lexical", evidence=False).study
    answer = plan_with_model(judged, "lexical", question="these")
    assert (answer.result.systems, answer.result.topics, answer.result.units) == (6, 4, 32)
    assert answer.result.workers == 5
    assert any("few topics" in str(note) for note in answer.notes)
    assert plan_with_model(judged, "lexical", topics=40, units=20, workers=3).result.topics == 40


def test_what_cannot_be_planned_is_explained(example: pyr.Study) -> None:
    from pyramidion.judging import judge_study

    judged = judge_study(example, "lexical", evidence=False).study
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: plan_with_model(example, "align"), "no judgments of a model called 'align'"),
        (lambda: plan_with_model(judged, "lexical"), "at least 5 topics, not 4"),
        (lambda: plan_with_model(judged, "lexical", correlation=0.5), "for use without a pilot"),
        (lambda: plan_with_model(correlation=1.0), "at least 0 and below 1, not 1"),
        (lambda: plan_with_model(topics=5, units=3), "at least 20 units, not 15"),
        (lambda: plan_with_model(topics=0), "from 1 to 10,000, not 0"),
        (lambda: plan_with_model(level=0.0), "level must be between 0 and 1"),
        (lambda: plan_with_model(question="those"), "these, topics"),  # type: ignore[arg-type]
    ]
    for call, message in calls:
        with pytest.raises(pyr.UsageError, match=message):
            call()


def test_predicted_widths_are_near_those_of_drawn_samples(real_data: Path) -> None:
    """Of RealSumm, parts of units of random topics: the error of differences is as predicted."""
    from pyramidion.judging import judge_study

    study = judge_study(pyr.load(real_data / "realsumm-half"), "lexical", pyramid="expert", evidence=False).study
    made = plan_with_model(study, "lexical", pyramid="expert", question="these").result
    people: dict[tuple[str, str], dict[str, float]] = {}
    for j in study.judgments:
        if j.judge == "labels":
            people.setdefault((j.topic, j.unit), {})[j.system] = j.value or 0.0
    rows = sorted(people)
    y = np.array([[people[row][system] for system in study.systems] for row in rows])
    topic = np.unique([row[0] for row in rows], return_inverse=True)[1]
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(400):  # two units of a topic at a time, as if all topics had the same number of units
        drawn = [rng.permutation(np.flatnonzero(topic == t))[:2] for t in rng.integers(0, 50, 40)]
        means = np.array([y[units].mean(axis=0) for units in drawn]).mean(axis=0)
        errors.append(means - y.mean(axis=0))
    z = np.array(errors)
    z = z - z.mean(axis=1, keepdims=True)
    found = 2 * float((z**2).sum(axis=1).mean()) / (y.shape[1] - 1)
    assert Components(*made.people).of_mean(2) / 40 == pytest.approx(found, rel=0.2)
