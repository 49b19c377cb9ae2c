"""The comprehension check: who gets which questions, and who passes without having read anything."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from pyramidion.campaigns.checks import CONTENT, QUESTIONS_PER_TRY, draw_check, instructions
from pyramidion.campaigns.tasks import SCALES
from pyramidion.campaigns.workers import CHECK_TRIES
from pyramidion.study import Aspect, Campaign, Settings, Study
from pyramidion.study.tasks import KINDS, TaskKind

SECRET = b"a secret of sixteen bytes or more"


def campaign(kind: TaskKind, name: str = "c") -> Campaign:
    return Campaign(name, kind, Settings.for_kind(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_is_large_enough_and_sound(kind: TaskKind) -> None:
    pool = CONTENT[kind]["questions"]
    assert len(pool) >= CHECK_TRIES * QUESTIONS_PER_TRY
    assert len({question["id"] for question in pool}) == len({question["text"] for question in pool}) == len(pool)
    for question in pool:
        assert len({question["right"], *question["wrong"]}) == 4
    assert "questions" not in instructions(campaign(kind), Study())


@pytest.mark.parametrize("kind", ["rate", "compare"])
def test_nothing_is_said_about_how_many_references_or_scales_there_are(kind: TaskKind) -> None:
    """A topic may have one reference, and a study scales of its own."""
    said = json.dumps(CONTENT[kind])
    assert re.findall(r"(?i)\b(?:two|three|both) (?:\w+ )?(?:references?|summaries|scales|ratings)\b", said) == []
    assert re.findall(r"\b1 (?:\(very poor\) )?to 10\b", said) == []


def test_other_scales_are_explained_instead_of_the_usual_ones() -> None:
    usual = instructions(campaign("rate"), Study())
    assert usual == instructions(campaign("rate"), Study(aspects=SCALES[::-1]))
    own = Study(aspects=(Aspect("coherence", 1, 5, "Coherence"), Aspect("fluency", 0, 1)))
    told = instructions(campaign("rate"), own)
    assert told["intro"] == usual["intro"]
    assert told["steps"] == [
        usual["steps"][0],
        "Coherence: from 1 (very poor) to 5 (very good).",
        "fluency: from 0 (very poor) to 1 (very good).",
        usual["steps"][-1],
    ]
    assert "example" not in told
    written = replace(campaign("rate"), instructions=CONTENT["rate"])
    assert instructions(written, own) == usual


def test_guessing_passes_less_than_one_percent() -> None:
    once = 0.25**QUESTIONS_PER_TRY
    assert once == 1 / 256
    assert 1 - (1 - once) ** CHECK_TRIES < 0.008


@pytest.mark.parametrize("kind", KINDS)
def test_everybody_has_their_own_questions_in_their_own_order(kind: TaskKind) -> None:
    draws = [draw_check(SECRET, campaign(kind), f"w{n}", 0) for n in range(300)]
    assert draws == [draw_check(SECRET, campaign(kind), f"w{n}", 0) for n in range(300)]
    assert len({draw.questions for draw in draws}) > 295
    asked = Counter(question.id for draw in draws for question in draw.questions)
    assert len(asked) == len(CONTENT[kind]["questions"])
    expected = 300 * QUESTIONS_PER_TRY / len(asked)
    assert all(abs(number - expected) < 5 * math.sqrt(expected) for number in asked.values())
    places = Counter(question.right for draw in draws for question in draw.questions)
    assert all(abs(places[place] - 300) < 5 * math.sqrt(300 * 0.75) for place in (1, 2, 3, 4))
    assert draws[0] != draw_check(b"another secret of enough bytes", campaign(kind), "w0", 0)
    assert draws[0] != draw_check(SECRET, campaign(kind, "d"), "w0", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_no_question_comes_twice(kind: TaskKind) -> None:
    for n in range(50):
        tries = [draw_check(SECRET, campaign(kind), f"w{n}", used) for used in range(CHECK_TRIES)]
        ids = [question.id for draw in tries for question in draw.questions]
        assert len(ids) == len(set(ids)) == CHECK_TRIES * QUESTIONS_PER_TRY


def test_only_all_right_answers_pass() -> None:
    check = draw_check(SECRET, campaign("judge"), "w", 0)
    right = {question.id: str(question.right) for question in check.questions}
    assert check.is_passed_by(right)
    for id in right:
        assert not check.is_passed_by({**right, id: str(int(right[id]) % 4 + 1)})
        assert not check.is_passed_by({key: value for key, value in right.items() if key != id})
    assert not check.is_passed_by({**right, "another": "1"})
    assert not check.is_passed_by({})
    assert check.is_answered_by(dict.fromkeys(right, "?"))
    assert not check.is_answered_by({**right, "another": "1"})
    assert not check.is_answered_by({})


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def shared(text: str, option: str) -> float:
    return len(words(option) & words(text)) / len(words(option))


TRICKS: dict[str, Callable[[str, str], Any]] = {
    "the longest": lambda _text, option: len(option),
    "the shortest": lambda _text, option: -len(option),
    "most like the question": shared,
    "least like the question": lambda text, option: -shared(text, option),
    "most words of the question": lambda text, option: len(words(option) & words(text)),
    "the last by alphabet": lambda _text, option: option,
    "the first by alphabet": lambda _text, option: [-ord(letter) for letter in option],
}


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_simple_trick_passes_either(kind: TaskKind, trick: str) -> None:
    """The chance over all draws of four questions to find all right options by their form alone."""
    chances = []
    for question in CONTENT[kind]["questions"]:
        scores = {o: TRICKS[trick](question["text"], o) for o in (question["right"], *question["wrong"])}
        best = [option for option, score in scores.items() if score == max(scores.values())]
        chances.append((question["right"] in best) / len(best))
    draws = list(combinations(chances, QUESTIONS_PER_TRY))
    assert sum(map(math.prod, draws)) / len(draws) < 0.01
