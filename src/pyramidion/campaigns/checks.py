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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import takewhile
from typing import Any

from pyramidion.campaigns.tasks import SCALES, scales_of
from pyramidion.campaigns.workers import CHECK_TRIES, Workers
from pyramidion.errors import InputError, Problems
from pyramidion.study import Aspect, Campaign, Study
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


def content_of(campaign: Campaign) -> Mapping[str, Any]:
    """The instructions and questions of a campaign: its own, or the usual ones."""
    return campaign.instructions or CONTENT[campaign.kind]


def instructions(campaign: Campaign, study: Study) -> dict[str, Any]:
    """What a campaign asks people to do, without the questions."""
    content = {key: value for key, value in content_of(campaign).items() if key != "questions"}
    if campaign.kind == "judge" and campaign.settings.evidence:
        content["steps"] = [*content["steps"], MARK_WORDS]
    if campaign.kind == "rate" and not campaign.instructions and unexplained_scales(study):
        content["steps"] = _steps_about(scales_of(study), content["steps"])
        del content["example"]
    return content


def unexplained_scales(study: Study) -> list[str]:
    """The names of a study's scales if they are others than those of the usual instructions; otherwise none."""
    scales = scales_of(study)
    return [] if {a.id for a in scales} == {a.id for a in SCALES} else [a.title or a.id for a in scales]


def _steps_about(scales: Sequence[Aspect], usual: Sequence[str]) -> list[str]:
    """The steps with the study's own scales in the place of the usual ones."""
    names = tuple(f"{scale.title}:" for scale in SCALES)
    before = list(takewhile(lambda step: not step.startswith(names), usual))
    after = [step for step in usual[len(before) :] if not step.startswith(names)]
    own = [f"{a.title or a.id}: from {a.low:g} (very poor) to {a.high:g} (very good)." for a in scales]
    return [*before, *own, *after]


# ----------------------------------------------------------------------
# Instructions that a manager wrote: the same parts as the usual ones, each within bounds, since they come from a form.

MAX_LINES, MAX_WORDS = 20, 2000
"""How many paragraphs, steps, examples or questions there may be, and how many characters each may have."""
OPTIONS = 4


def own_instructions(kind: TaskKind, given: Any, *, checked: bool) -> dict[str, Any] | None:
    """The instructions of a campaign, or None where they are the usual ones; raises InputError with everything that is
    missing or wrong. Where people are ``checked``, there have to be enough questions for all tries."""
    if given is None:
        return None
    usual, problems = CONTENT[kind], Problems()
    read = _read_instructions(given if isinstance(given, Mapping) else {}, usual, problems)
    if checked and not problems.errors:
        _check_questions(read["questions"], problems)
    if problems.errors:
        raise InputError(problems.errors)
    return None if read == usual else read


def _read_instructions(given: Mapping[str, Any], usual: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    about = next(key for key in usual["example"] if key != "items")
    example = given.get("example")
    shown = example if isinstance(example, Mapping) else {}
    return {
        "title": _line(given.get("title"), "title", problems),
        "intro": _lines(given.get("intro"), "intro", problems),
        "steps": _lines(given.get("steps"), "steps", problems),
        "example": {
            about: _line(shown.get(about), "example text", problems),
            "items": [
                {key: _line(item.get(key), f"example {number}, {key}", problems) for key in ("text", "answer", "why")}
                for number, item in _numbered(shown.get("items"), "example", problems)
            ],
        },
        "questions": [
            {
                "id": str(question.get("id") or f"own-{number}")[:60],
                "text": _line(question.get("text"), f"question {number}", problems),
                "right": _line(question.get("right"), f"question {number}, right answer", problems),
                "wrong": _lines(question.get("wrong"), f"question {number}, wrong answers", problems),
            }
            for number, question in _numbered(given.get("questions"), "questions", problems)
        ],
    }


def _line(value: Any, where: str, problems: Problems) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if len(text) > MAX_WORDS or not (text or where.endswith(", why")):
        problems.error(where, f"must be text of 1 to {MAX_WORDS} characters")
    return text


def _lines(value: Any, where: str, problems: Problems) -> list[str]:
    lines = value if isinstance(value, list) else []
    if not 1 <= len(lines) <= MAX_LINES:
        problems.error(where, f"must be 1 to {MAX_LINES} lines")
    return [_line(line, f"{where}, line {number}", problems) for number, line in enumerate(lines[:MAX_LINES], 1)]


def _numbered(value: Any, where: str, problems: Problems) -> list[tuple[int, Mapping[str, Any]]]:
    items = value if isinstance(value, list) else []
    if len(items) > MAX_LINES or not all(isinstance(item, Mapping) for item in items):
        problems.error(where, f"must be at most {MAX_LINES} of them")
        return []
    return list(enumerate(items, 1))


def _check_questions(questions: list[dict[str, Any]], problems: Problems) -> None:
    needed = QUESTIONS_PER_TRY * CHECK_TRIES
    for number, question in enumerate(questions, 1):
        if len({question["right"], *question["wrong"]}) != OPTIONS:
            problems.error(f"question {number}", f"must have one right and {OPTIONS - 1} wrong answers, all different")
    if len({question["text"] for question in questions}) < max(needed, len(questions)):
        what = f"must be at least {needed} different ones: {QUESTIONS_PER_TRY} for each of {CHECK_TRIES} tries"
        problems.error("questions", f"{what}; or switch the comprehension check off")
    if len({question["id"] for question in questions}) < len(questions):
        problems.error("questions", "must have different ids")


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

    pool = sorted(content_of(campaign)["questions"], key=lambda question: lot(question["id"]))
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
