"""Who sends somebody else's answers: found where it happens, and hardly ever said of people who work alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from pyramidion.campaigns.copying import count_copied, find_twin_writers, find_twins

Work = dict[str, dict[str, list[int]]]


def crowd(
    seed: int, *, workers: int = 20, tasks: int = 24, each: int = 5, easy: float = 0.5, accuracy: float = 0.9
) -> Work:
    """Judgments of 16 units per task by people who work alone. Some tasks are easy and have few units present."""
    rng = np.random.default_rng(seed)
    skills = rng.uniform(accuracy - 0.15, accuracy + 0.08, workers)
    work: Work = {}
    for task in range(tasks):
        is_easy = rng.random() < easy
        present = rng.random(16) < (0.05 if is_easy else 0.4)
        hard = rng.random(16) * (0.05 if is_easy else 0.5)  # people share their doubts
        who = [(task * each + place) % workers for place in range(each)]
        work[f"t{task}"] = {
            f"w{w:02}": np.where(rng.random(16) < np.maximum(1 - skills[w], hard), ~present, present)
            .astype(int)
            .tolist()
            for w in who
        }
    return work


@pytest.mark.parametrize("accuracy", [0.9, 0.75])
def test_people_who_work_alone_are_hardly_ever_flagged(accuracy: float) -> None:
    """150 campaigns of 20 to 40 people: at 1% for each campaign, more than 6 would be a surprise of 1 in 1,000."""
    flagged = sum(bool(find_twins(crowd(seed, accuracy=accuracy, workers=20 + seed % 21))) for seed in range(150))
    assert flagged <= 6


@pytest.mark.parametrize("accuracy", [0.9, 0.6])
def test_a_pair_is_found_and_nobody_else(accuracy: float) -> None:
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(1000 + seed)
        work = crowd(seed, easy=0.2)
        for answers in work.values():
            if "w00" in answers:
                mine = [value if rng.random() < accuracy else 1 - value for value in answers["w00"]]
                answers["w00"] = mine
                answers["w01"] = list(mine)
        twins = find_twins(work)
        assert set(twins) <= {"w00", "w01"}
        found += set(twins) == {"w00", "w01"}
    assert found >= (18 if accuracy < 0.7 else 6), "a careless pair shows sooner than a careful one"


def test_what_is_said_about_a_pair() -> None:
    work = crowd(3, easy=0.0)
    for answers in work.values():
        if "w00" in answers:
            answers["w00"] = [1 - value for value in answers["w00"]]
            answers["w01"] = list(answers["w00"])
    twin = find_twins(work)["w01"]
    assert twin.judge == "w00"
    assert twin.tasks == tuple(sorted(task for task, answers in work.items() if "w00" in answers))
    questions = 16 * len(twin.tasks)
    assert twin.detail.startswith(f"the same answer as w00 to {questions} of {questions} questions, where ")
    assert find_twins({}) == {}


def test_two_who_are_left_alone_cannot_be_compared() -> None:
    work = {f"t{n}": {"a": [1, 0] * 8, "b": [1, 0] * 8, "c": [0, 1] * 8} for n in range(50)}
    assert find_twins(work) == {}


def test_two_excellent_people_among_bad_ones_are_not_a_pair() -> None:
    rng = np.random.default_rng(0)
    work: Work = {}
    for task in range(30):
        truth = rng.random(16) < 0.5
        skills = {"good": 0.99, "better": 0.995, "c": 0.6, "d": 0.65, "e": 0.7}
        work[f"t{task}"] = {
            name: np.where(rng.random(16) < skill, truth, ~truth).astype(int).tolist() for name, skill in skills.items()
        }
    assert find_twins(work) == {}


def test_the_order_of_people_and_tasks_does_not_matter() -> None:
    work = crowd(5, easy=0.1)
    for answers in work.values():
        if "w00" in answers:
            answers["w01"] = list(answers["w00"])
    mixed = {task: dict(reversed(answers.items())) for task, answers in reversed(work.items())}
    assert find_twins(mixed) == find_twins(work)


def write(names: str, tasks: int, seed: int = 0) -> dict[str, dict[str, list[str]]]:
    """Everybody picks eight of thirty sentences."""
    rng = np.random.default_rng(seed)
    sentences = [f"Sentence number {n} of the text." for n in range(30)]
    return {
        f"t{task}": {name: [sentences[i] for i in rng.permutation(30)[:8]] for name in names} for task in range(tasks)
    }


def test_writers_share_some_statements_but_not_most() -> None:
    for seed in range(50):
        assert find_twin_writers(write("abcd", 6, seed)) == {}
    work = write("abcd", 6)
    for answers in work.values():
        answers["d"] = [text.upper().rstrip(".") for text in answers["a"]]
    found = find_twin_writers(work)
    assert set(found) == {"a", "d"}
    assert found["d"].judge == "a"
    assert found["d"].detail.startswith("48 of 48 statements as a wrote them, where ")
    assert len(found["d"].tasks) == 6


def test_two_writers_of_each_text_are_compared_with_the_rest_of_the_campaign() -> None:
    """As in the paper: two writers for each reference, different ones for each."""
    names = "abcdef"
    work = {}
    for number, pair in enumerate(combinations(names, 2)):
        [answers] = write("".join(pair), 1, number).values()
        work[f"t{number}"] = answers
    assert find_twin_writers(work) == {}
    work["t0"]["b"] = list(work["t0"]["a"])
    assert set(find_twin_writers(work)) == {"a", "b"}


def test_whole_sentences_count_as_copied() -> None:
    text = "The lake froze in January. Skaters came, and nobody fell; the ice was thick!"
    copied = [
        "the lake froze in january",
        "Skaters came, and nobody fell",
        "The ice was thick.",
        " THE ICE was thick! ",
    ]
    assert count_copied(copied, text) == 4
    assert count_copied(["Skaters came.", "Nobody fell.", "The lake froze.", ""], text) == 0
    assert count_copied(copied, "") == 0
