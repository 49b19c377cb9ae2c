"""The comprehension check: questions that are easy for whoever has read the instructions, and for nobody else.

Every kind of task has a pool of questions with four options each. Somebody gets four of them at the first try and four
others at the second, in an order of their own; all four must be right. A guess passes one try with a chance of 1 in 4^4
= 256, and one of two tries with 0.8%. What was wrong is not said, and the right answers stay on the server: a second
try tells nothing about the first.

Which questions somebody gets follows from the study's secret, the campaign and the person. Reloading the page, another
tab or another session shows the same ones, so that nobody can look for easier ones.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from pyramidion.campaigns.workers import CHECK_TRIES, Workers
from pyramidion.study import Campaign
from pyramidion.study.tasks import TaskKind

QUESTIONS_PER_TRY = 4

CONTENT: dict[TaskKind, dict[str, Any]] = json.loads(
    files("pyramidion.campaigns").joinpath("instructions.json").read_text("utf-8")
)
"""What workers read before they start, and the questions that check whether they did.

The rules are those of the papers' task descriptions (Shapira et al. 2019, section 3; Gillick and Liu 2010, section
3), in our own words.
"""


MARK_WORDS = (
    "When a statement is present, mark the words of the summary that say it: drag over them, or tap the first and then "
    "the last of them."
)


def instructions(campaign: Campaign) -> dict[str, Any]:
    """What a campaign asks people to do, without the questions."""
    content = {key: value for key, value in CONTENT[campaign.kind].items() if key != "questions"}
    if campaign.kind == "judge" and campaign.settings.evidence:
        content["steps"] = [*content["steps"], MARK_WORDS]
    return content


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """A question with its options in the order shown; ``right`` is the number of the right one, counted from 1."""

    id: str
    text: str
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True, slots=True)
class Check:
    """The questions of one try."""

    questions: tuple[CheckQuestion, ...]

    def shown(self) -> list[dict[str, Any]]:
        """As the page shows them, without the right answers."""
        return [
            {
                "id": question.id,
                "text": question.text,
                "options": [{"value": str(n), "label": label} for n, label in enumerate(question.options, 1)],
            }
            for question in self.questions
        ]

    def is_passed_by(self, answers: Mapping[str, str]) -> bool:
        """Whether these are the right answers to all of the questions, and to nothing else."""
        return answers == {question.id: str(question.right) for question in self.questions}

    def is_answered_by(self, answers: Mapping[str, str]) -> bool:
        """Whether these are answers to questions of this try only, right or wrong."""
        return bool(answers) and answers.keys() <= {question.id for question in self.questions}


def draw_check(secret: bytes, campaign: Campaign, worker: str, tries: int) -> Check:
    """The questions for somebody who has used so many tries. No question is asked twice."""

    def lot(*about: str) -> bytes:
        message = "\0".join(("check", campaign.name, worker, *about))
        return hmac.new(secret, message.encode(), hashlib.sha256).digest()

    pool = sorted(CONTENT[campaign.kind]["questions"], key=lambda question: lot(question["id"]))
    drawn = pool[tries * QUESTIONS_PER_TRY : (tries + 1) * QUESTIONS_PER_TRY]
    questions = []
    for question in drawn:
        options = sorted([question["right"], *question["wrong"]], key=lambda text: lot(question["id"], text))
        right = options.index(question["right"]) + 1
        questions.append(CheckQuestion(question["id"], question["text"], tuple(options), right))
    return Check(tuple(questions))


@dataclass(frozen=True, slots=True)
class CheckState:
    """Where somebody is with the check of a campaign. ``check`` is the next try; None where there is none."""

    passed: bool
    tries_left: int
    check: Check | None


def check_state(workers: Workers, secret: bytes, campaign: Campaign, worker: str) -> CheckState:
    return _state(secret, campaign, worker, *workers.check_state(campaign.name, worker))


def answer_check(
    workers: Workers, secret: bytes, campaign: Campaign, worker: str, answers: Mapping[str, str]
) -> CheckState:
    """Use one try. Missing answers and answers to other questions are wrong.

    Answers to an earlier try, sent again or from a tab that was left open, change nothing.
    """
    tries, passed = workers.check_state(campaign.name, worker)
    repeated = any(draw_check(secret, campaign, worker, n).is_answered_by(answers) for n in range(tries))
    if not (passed or repeated or tries >= CHECK_TRIES):
        right = draw_check(secret, campaign, worker, tries).is_passed_by(answers)
        tries, passed = workers.record_check(campaign.name, worker, right, after=tries)
    return _state(secret, campaign, worker, tries, passed)


def _state(secret: bytes, campaign: Campaign, worker: str, tries: int, passed: bool) -> CheckState:
    over = passed or tries >= CHECK_TRIES
    check = None if over else draw_check(secret, campaign, worker, tries)
    return CheckState(passed, max(0, CHECK_TRIES - tries), check)
