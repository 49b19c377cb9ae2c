"""Simulated workers are as good as they are set to be, repeat themselves with a seed, and always answer validly."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.campaigns.checks import draw_check
from pyramidion.campaigns.plan import plan
from pyramidion.campaigns.simulated_workers import WORKER_KINDS, SimulatedWorker, answer, crowd
from pyramidion.campaigns.tasks import AttentionCheck, check_answer, task_page, to_object
from pyramidion.pyramids.statements import check_statement
from pyramidion.study import Campaign, Settings, Task
from pyramidion.study.tasks import KINDS, TaskKind

CAREFUL = SimulatedWorker("careful", accuracy=1.0)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def judging(units: int = 16, summary: str = "") -> dict[str, Any]:
    return {
        "kind": "judge",
        "task": "t",
        "summary": summary,
        "references": [],
        "units": [{"id": f"u{i}", "label": f"label {i}"} for i in range(units)],
    }


def pages(study: pyr.Study, kind: TaskKind) -> list[dict[str, Any]]:
    planned = plan(study, kind, kind)
    return [task_page(study, planned.campaign, task, planned.gold.get(task.id)) for task in planned.tasks]


# -- how good they are ---------------------------------------------------------------------------------------


def measured(worker: SimulatedWorker, truth: int, tasks: int = 500) -> float:
    """The share of units said to be present; the standard error over 8,000 answers is at most 0.0056."""
    page = judging()
    known = {unit["id"]: truth for unit in page["units"]}
    generator = rng(1)
    answers = [value for _ in range(tasks) for value in answer(worker, page, known, generator)["units"].values()]
    return float(np.mean(answers))


@pytest.mark.parametrize("accuracy", [0.0, 0.1, 0.5, 0.75, 0.9, 1.0])
def test_measured_accuracy_is_near_the_setting(accuracy: float) -> None:
    worker = SimulatedWorker("w", accuracy=accuracy)
    assert measured(worker, 1) == pytest.approx(accuracy, abs=0.02)
    assert measured(worker, 0) == pytest.approx(1 - accuracy, abs=0.02)


@pytest.mark.parametrize("bias", [-0.3, 0.1, 0.3])
def test_bias_shifts_answers_towards_present(bias: float) -> None:
    worker = SimulatedWorker("w", accuracy=0.7, bias=bias)
    assert measured(worker, 1) == pytest.approx(min(0.7 + bias, 1), abs=0.02)
    assert measured(worker, 0) == pytest.approx(max(0.3 + bias, 0), abs=0.02)


def test_lazy_workers_say_the_same_throughout() -> None:
    generator = rng(2)
    page = judging()
    truth = {unit["id"]: i % 2 for i, unit in enumerate(page["units"])}
    worker = SimulatedWorker("w", accuracy=1.0, laziness=0.4)
    uniform = [len(set(answer(worker, page, truth, generator)["units"].values())) == 1 for _ in range(2000)]
    assert np.mean(uniform) == pytest.approx(0.4, abs=0.04)


def test_speed_is_around_the_setting() -> None:
    generator = rng(3)
    times = [SimulatedWorker("w", seconds=40).working_time(generator) for _ in range(2000)]
    assert np.median(times) == pytest.approx(40, rel=0.05)
    assert min(times) > 0


def test_without_truth_shared_words_decide() -> None:
    page = judging(0, "The volcano erupted on Monday and thousands of villagers fled to the coast.")
    page["units"] = [
        {"id": "there", "label": "Thousands of villagers fled."},
        {"id": "not there", "label": "Scientists had predicted the eruption."},
        {"id": "empty", "label": ""},
    ]
    assert answer(CAREFUL, page, None, rng())["units"] == {"there": 1, "not there": 0, "empty": 0}
    assert answer(CAREFUL, page, {"there": 0}, rng())["units"]["there"] == 0


def test_gold_units_are_answered_rightly_by_the_careful(example: pyr.Study) -> None:
    planned = plan(example, "judge", "j", Settings.for_kind("judge", gold_rate=1.0), pyramid="crowd")
    right = []
    for task in planned.tasks:
        known = planned.gold.get(task.id)
        if isinstance(known, AttentionCheck):
            page = task_page(example, planned.campaign, task, known)
            right.append(list(answer(CAREFUL, page, None, rng())["units"].values())[known.position] == known.value)
    assert len(right) == 48
    assert np.mean(right) > 0.95


def rating_page(summary: str) -> dict[str, Any]:
    aspects = [{"id": id, "title": id, "low": 1, "high": 10} for id in ("overall", "content")]
    references = ["The volcano erupted on Monday and thousands fled."]
    return {"kind": "rate", "references": references, "summary": summary, "aspects": aspects}


def mean_rating(worker: SimulatedWorker, summary: str, truth: dict[str, float] | None = None) -> float:
    generator = rng(4)
    given = [answer(worker, rating_page(summary), truth, generator)["aspects"]["overall"] for _ in range(300)]
    return float(np.mean(given))


def test_ratings_follow_the_references() -> None:
    good, half, bad = "The volcano erupted on Monday and thousands fled.", "The volcano erupted on Monday.", "Nothing."
    worker = SimulatedWorker("w", accuracy=0.9)
    assert mean_rating(worker, good) > mean_rating(worker, half) > mean_rating(worker, bad)
    assert mean_rating(SimulatedWorker("w", accuracy=0.0), good) < mean_rating(SimulatedWorker("w", accuracy=0.0), bad)
    assert mean_rating(SimulatedWorker("w", bias=0.3), half) > mean_rating(SimulatedWorker("w"), half) + 1
    assert mean_rating(CAREFUL, bad, {"overall": 8}) == pytest.approx(8, abs=0.2)
    assert mean_rating(SimulatedWorker("w", laziness=1.0), bad) == 10


def winners(worker: SimulatedWorker, first: str, second: str, truth: dict[str, float] | None = None) -> Counter[str]:
    page = {"kind": "compare", "references": ["The volcano erupted on Monday."], "candidates": [first, second]}
    generator = rng(5)
    return Counter(answer(worker, page, truth, generator)["winner"] for _ in range(1000))


def test_comparisons_follow_the_references() -> None:
    good, bad = "The volcano erupted on Monday.", "Nothing happened."
    worker = SimulatedWorker("w", accuracy=0.8)
    assert winners(worker, good, bad)["first"] == pytest.approx(800, abs=50)
    assert winners(worker, bad, good)["second"] == pytest.approx(800, abs=50)
    assert winners(worker, good, good)["tie"] == pytest.approx(800, abs=50)
    assert winners(worker, bad, good, {"first": 0.9, "second": 0.1})["first"] == pytest.approx(800, abs=50)
    assert winners(SimulatedWorker("w", laziness=1.0), bad, good) == {"first": 1000}


# -- what they write -----------------------------------------------------------------------------------------


def faulty(statements: list[str]) -> int:
    return sum(bool(check_statement(text, statements[:place])) for place, text in enumerate(statements))


def test_careful_writers_pass_the_filters_and_careless_ones_do_not(example: pyr.Study) -> None:
    generator = rng(6)
    careless = SimulatedWorker("w", accuracy=0.5)
    written = pages(example, "write")
    careful_faults = [faulty(answer(CAREFUL, page, None, generator)["statements"]) for page in written]
    careless_faults = [faulty(answer(careless, page, None, generator)["statements"]) for page in written]
    assert np.mean(careful_faults) < 0.5
    assert np.mean(careless_faults) > 2


def test_lazy_writers_repeat_themselves(example: pyr.Study) -> None:
    lazy = SimulatedWorker("w", laziness=1.0)
    for page in pages(example, "write"):
        assert len(set(answer(lazy, page, None, rng())["statements"])) == 1


def test_statements_stand_alone() -> None:
    text = (
        "However, Mary Smith climbed the highest mountain in Asia and wrote a famous book about it. Rain fell. "
        "The council, which also approved two new roads; people and cars were stopped but the mayor went on."
    )
    page = {"kind": "write", "references": [text], "statements": 4}
    assert answer(CAREFUL, page, None, rng())["statements"] == [
        "Mary Smith climbed the highest mountain in Asia.",
        "Mary Smith wrote a famous book about it.",
        "The council also approved two new roads.",
        "The mayor went on.",
    ]


# -- always valid, always the same ---------------------------------------------------------------------------

people = st.builds(
    SimulatedWorker,
    name=st.just("w"),
    accuracy=st.floats(0, 1),
    bias=st.floats(-1, 1),
    laziness=st.floats(0, 1),
    kind=st.sampled_from(WORKER_KINDS),
)


@pytest.mark.parametrize("kind", KINDS)
@given(worker=people, seed=st.integers(0, 2**32), data=st.data())
def test_answers_are_valid_and_repeat_with_the_seed(
    kind: TaskKind, worker: SimulatedWorker, seed: int, data: st.DataObject
) -> None:
    page = data.draw(st.sampled_from(EXAMPLE_PAGES[kind]))
    given = answer(worker, page, None, rng(seed))
    assert to_object(check_answer(page, given)) == given
    assert answer(worker, page, None, rng(seed)) == given


EXAMPLE_PAGES = {kind: pages(pyr.example(), kind)[:10] for kind in KINDS if kind != "judge"} | {
    "judge": [
        task_page(
            pyr.example(),
            Campaign("c", "judge", Settings()),
            Task("t", pyramid.topic, peer.system, tuple(unit.id for unit in pyramid.units[:16])),
        )
        for pyramid in pyr.example().pyramids[:3]
        for peer in pyr.example().peers[:3]
    ]
}

texts = st.text(max_size=300) | st.sampled_from(["", " ", "x" * 2000, "One. Two. Three.", ". . .", "a b c d e f g h i"])


@given(worker=people, text=texts, wanted=st.integers(1, 12), seed=st.integers(0, 99))
def test_any_text_can_be_written_about(worker: SimulatedWorker, text: str, wanted: int, seed: int) -> None:
    page = {"kind": "write", "references": [text], "statements": wanted}
    check_answer(page, answer(worker, page, None, rng(seed)))


@given(worker=people, texts=st.lists(texts, min_size=3, max_size=3), low=st.integers(-3, 3), span=st.integers(1, 9))
def test_any_texts_can_be_judged_rated_and_compared(
    worker: SimulatedWorker, texts: list[str], low: int, span: int
) -> None:
    aspect = {"id": "a", "title": "a", "low": low, "high": low + span}
    common = {"references": [texts[0]], "summary": texts[1]}
    for page in (
        {"kind": "judge", "units": [{"id": "u", "label": texts[2]}], **common},
        {"kind": "rate", "aspects": [aspect], **common},
        {"kind": "compare", "candidates": texts[1:], **common},
    ):
        check_answer(page, answer(worker, page, None, rng()))


def test_other_seeds_give_other_answers() -> None:
    worker = SimulatedWorker("w", accuracy=0.5)
    assert answer(worker, judging(64), None, rng(1)) != answer(worker, judging(64), None, rng(2))


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(pyr.UsageError, match="write, judge, rate, compare"):
        answer(CAREFUL, {"kind": "dance"}, None, rng())


# -- crowds --------------------------------------------------------------------------------------------------


def test_a_crowd_has_the_shares_asked_for() -> None:
    people = crowd(100, rng(7), careless=0.3, adversarial=0.1, abandon=0.2, twice=0.1)
    assert len({worker.name for worker in people}) == 100
    assert sum(worker.accuracy >= 0.85 for worker in people) == 60
    assert sum(0.55 <= worker.accuracy <= 0.75 for worker in people) == 30
    assert sum(worker.accuracy <= 0.2 for worker in people) == 10
    assert {(worker.abandon, worker.twice) for worker in people} == {(0.2, 0.1)}
    assert [worker.accuracy for worker in people] != sorted((worker.accuracy for worker in people), reverse=True)


def test_the_same_seed_gives_the_same_crowd() -> None:
    assert crowd(20, rng(8)) == crowd(20, rng(8))
    assert crowd(20, rng(8)) != crowd(20, rng(9))


@given(count=st.integers(0, 40), weights=st.lists(st.floats(0, 1), min_size=8, max_size=8))
def test_any_shares_make_a_whole_crowd(count: int, weights: list[float]) -> None:
    total = max(1.0, sum(weights))
    shares = {kind: weight / total for kind, weight in zip(WORKER_KINDS, weights, strict=True) if kind != "careful"}
    rest = {"careless": shares.pop("careless"), "adversarial": shares.pop("adversarial")}
    people = crowd(count, rng(), shares=shares, **rest)
    assert len(people) == count
    assert all(worker.pair for worker in people if worker.kind == "colluder")


def test_people_know_as_much_of_the_instructions_as_they_have_read() -> None:
    check = draw_check(b"a secret of sixteen bytes", Campaign("c", "judge", Settings()), "w", 0)
    draws = rng(3)
    for reading, expected in ((1.0, 1.0), (0.0, 0.25), (0.6, 0.7)):
        worker = SimulatedWorker("w", reading=reading)
        given = [worker.answer_check(check, draws) for _ in range(500)]
        right = [answers[q.id] == str(q.right) for answers in given for q in check.questions]
        assert sum(right) / len(right) == pytest.approx(expected, abs=0.05)
        assert {value for answers in given for value in answers.values()} <= {"1", "2", "3", "4"}


@pytest.mark.parametrize(
    "wrong",
    [{"accuracy": 1.1}, {"laziness": -0.1}, {"abandon": float("nan")}, {"twice": 2}, {"bias": 1.5}, {"seconds": 0}],
)
def test_impossible_workers_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(pyr.UsageError, match=f"worker w: {next(iter(wrong))}"):
        SimulatedWorker("w", **wrong)


@pytest.mark.parametrize("wrong", [{"careless": 0.7, "adversarial": 0.7}, {"careless": -0.1}])
def test_impossible_crowds_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(pyr.UsageError):
        crowd(10, rng(), **wrong)  # type: ignore[arg-type]
    with pytest.raises(pyr.UsageError):
        crowd(-1, rng())
