"""What a worker is asked and what they answer: the page of a task, the four kinds of answer, and known answers.

An answer is typed from the request on: ``check_answer`` turns what a page sent into one, or says everything that is
wrong with it; the database keeps it as the JSON object of its fields; ``judgments`` is what scoring reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeGuard

from pyramidion.errors import InputError, Problem
from pyramidion.study import Aspect, Campaign, Judgment, Study, Summary, Task
from pyramidion.study.tasks import TaskKind
from pyramidion.study.texts import Span, union

MAX_STATEMENT = 500
MAX_COMMENT = 2000
MAX_PASTED = 50
MAX_SPANS = 50
GOLD_TOLERANCE = 2
"""A rating counts as right if it is at most this far from the experts' mean."""

ATTENTION = "attention-check"
"""The id under which a judging task shows its unit of known answer."""
PREFERENCE = "preference"
"""The aspect of head-to-head judgments: 1 prefers ``system``, 0 ``other``, 0.5 neither."""
SCALES = (
    Aspect("overall", 1, 10, "Overall quality"),
    Aspect("linguistic", 1, 10, "Linguistic quality"),
    Aspect("content", 1, 10, "Information content"),
)
"""The three scales of Gillick and Liu 2010, used if a study declares none."""
HELP = {
    "overall": "How well does the summary answer the topic, in content and in style taken together?",
    "linguistic": "Is it grammatical, clear, without repetition, and easy to follow? Ignore whether it is complete.",
    "content": "How much of what the references say about the topic does it tell? Ignore its style.",
}
_PLACES = {id: place for place, id in enumerate(("content", "linguistic", "overall"))}
"""In the order in which the instructions explain them; the scales of a study's own come after these, as declared."""


# -- answers -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WriteAnswer:
    """Statements as written, and the texts that were pasted into the page."""

    statements: tuple[str, ...]
    pasted: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True, slots=True)
class JudgeAnswer:
    """1 for each unit that the summary expresses, 0 for each that it does not; the unit of known answer is among
    them. ``evidence``: the spans of the summary that express a unit, where the campaign asks for them."""

    units: Mapping[str, int]
    comment: str = ""
    evidence: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RateAnswer:
    """A rating for each aspect."""

    aspects: Mapping[str, float]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class CompareAnswer:
    winner: Literal["first", "second", "tie"]
    comment: str = ""


Answer = WriteAnswer | JudgeAnswer | RateAnswer | CompareAnswer
_ANSWERS: dict[TaskKind, type[Answer]] = {
    "write": WriteAnswer,
    "judge": JudgeAnswer,
    "rate": RateAnswer,
    "compare": CompareAnswer,
}
_PREFERENCES = {"first": 1.0, "second": 0.0, "tie": 0.5}


def judgments(answer: Answer, task: Task, worker: str) -> Iterator[Judgment]:
    """What a worker's answer to a task says, question by question. Written statements say nothing about a summary."""
    match answer:
        case JudgeAnswer(units, evidence=evidence):
            for unit, present in units.items():
                if unit != ATTENTION:
                    marked = tuple(Span(start, end) for start, end in evidence.get(unit, ()))
                    mentions = (marked,) if marked else ()
                    yield Judgment(task.topic, task.system, worker, present, unit=unit, task=task.id, evidence=mentions)
        case RateAnswer(aspects):
            for aspect, rating in aspects.items():
                yield Judgment(task.topic, task.system, worker, rating, aspect=aspect, task=task.id)
        case CompareAnswer(winner):
            value = _PREFERENCES[winner]
            yield Judgment(task.topic, task.system, worker, value, aspect=PREFERENCE, task=task.id, other=task.other)


# -- known answers -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttentionCheck:
    """A unit shown at a position of a judging task whose answer is known."""

    label: str
    value: int
    position: int


@dataclass(frozen=True, slots=True)
class ExpertRatings:
    """The means of what experts rated the same summary on each aspect."""

    aspects: Mapping[str, float]


Gold = AttentionCheck | ExpertRatings


def count_right(gold: Gold | None, answer: Answer | None) -> tuple[int, int]:
    """How many known answers were given right, and how many were asked."""
    match gold, answer:
        case AttentionCheck(value=known), JudgeAnswer(units):
            return int(units.get(ATTENTION) == known), 1
        case ExpertRatings(known_ratings), RateAnswer(ratings):
            shared = known_ratings.keys() & ratings.keys()
            return sum(abs(ratings[aspect] - known_ratings[aspect]) <= GOLD_TOLERANCE for aspect in shared), len(shared)
    return 0, 0


# -- as the database keeps them ------------------------------------------------------------------------------


def to_object(value: Answer | Gold) -> dict[str, Any]:
    """An answer or a known answer as a JSON object; an empty comment is left out, and so is evidence not asked for."""
    named = ((part.name, getattr(value, part.name)) for part in fields(value))
    sparse = {"comment", "evidence"}
    return {name: list(part) if isinstance(part, tuple) else part for name, part in named if name not in sparse or part}


def read_answer(kind: TaskKind, stored: Mapping[str, Any]) -> Answer:
    """An answer from the object that ``to_object`` made of it."""
    parts: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in stored.items()}
    return _ANSWERS[kind](**parts)


def read_gold(stored: Mapping[str, Any]) -> Gold:
    return ExpertRatings(**stored) if "aspects" in stored else AttentionCheck(**stored)


# -- the page of a task --------------------------------------------------------------------------------------


def task_page(study: Study, campaign: Campaign, task: Task, gold: Gold | None = None) -> dict[str, Any]:
    """Everything a page needs to show a task, as plain values. Known answers are not included."""
    topic = study.topic(task.topic)
    page: dict[str, Any] = {
        "task": task.id,
        "kind": task.kind,
        "campaign": campaign.name,
        "topic": {"title": topic.title if topic else "", "description": topic.description if topic else ""},
        "references": [_text(study.summary(task.topic, name, "reference")) for name in task.references],
    }
    if task.kind == "write":
        page["statements"] = campaign.settings.statements
    elif task.kind == "judge":
        page["summary"] = _text(study.summary(task.topic, task.system))
        page["units"] = _units(study, task, gold)
        if campaign.settings.evidence:
            page["evidence"] = True
    elif task.kind == "rate":
        page["summary"] = _text(study.summary(task.topic, task.system))
        page["aspects"] = [
            {"id": a.id, "title": a.title or a.id, "low": a.low, "high": a.high, "help": HELP.get(a.id, "")}
            for a in scales_of(study)
        ]
        page["notice"] = campaign.settings.deviation_notice
    else:
        page["candidates"] = [_text(study.summary(task.topic, system)) for system in (task.system, task.other)]
    return page


def scales_of(study: Study) -> list[Aspect]:
    """What summaries are rated on, in the order shown."""
    return sorted(study.aspects or SCALES, key=lambda aspect: _PLACES.get(aspect.id, len(_PLACES)))


def _text(summary: Summary | None) -> str:
    return summary.text if summary else ""


def _units(study: Study, task: Task, gold: Gold | None) -> list[dict[str, str]]:
    """Units by their place on the page: their own ids would tell which of them was added."""
    labels = {u.id: u.label for p in study.pyramids if p.topic == task.topic for u in p.units}
    if isinstance(gold, AttentionCheck):
        labels[ATTENTION] = gold.label
    asked = enumerate(asked_units(task, gold), 1)
    return [{"id": f"statement-{number}", "label": labels.get(unit, "")} for number, unit in asked]


def asked_units(task: Task, gold: Gold | None) -> list[str]:
    """The ids of what a judging task asks about, in the order shown."""
    units = list(task.units)
    if isinstance(gold, AttentionCheck):
        units.insert(gold.position, ATTENTION)
    return units


# -- checking ------------------------------------------------------------------------------------------------


def read_submission(page: Mapping[str, Any], task: Task, gold: Gold | None, sent: Any) -> Answer:
    """What was sent as an answer to the page of a task, with the units' own ids; raises InputError as
    ``check_answer`` does."""
    answer = check_answer(page, sent)
    if not isinstance(answer, JudgeAnswer):
        return answer
    own = dict(zip(answer.units, asked_units(task, gold), strict=True))
    return JudgeAnswer(
        {own[shown]: value for shown, value in answer.units.items()},
        answer.comment,
        {own[shown]: spans for shown, spans in answer.evidence.items()},
    )


def check_answer(page: Mapping[str, Any], sent: Any) -> Answer:
    """What a page sent as an answer to what it asked; raises InputError with everything that is missing or wrong."""
    if not isinstance(sent, dict):
        raise InputError(Problem("answer", "must be an object"))
    problems: list[Problem] = []
    checks = {"write": _check_writing, "judge": _check_units, "rate": _check_ratings, "compare": _check_winner}
    parts = checks[page["kind"]](page, sent, problems)
    comment = sent.get("comment", "")
    if not isinstance(comment, str) or len(comment) > MAX_COMMENT:
        problems.append(Problem("comment", f"must be text of at most {MAX_COMMENT} characters"))
    if problems:
        raise InputError(problems)
    return read_answer(page["kind"], {**parts, "comment": comment})


def _check_units(page: Mapping[str, Any], sent: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    units = sent.get("units")
    asked = [unit["id"] for unit in page["units"]]
    if not isinstance(units, dict):
        problems.append(Problem("units", "must be an object with an answer for each statement"))
        return {}
    for number, unit in enumerate(asked, 1):
        if units.get(unit) not in (0, 1) or isinstance(units.get(unit), bool):
            problems.append(Problem(f"statement {number}", "is not answered"))
    problems.extend(Problem("units", f"unknown statement {id!r}") for id in units if id not in asked)
    return {"units": {unit: units.get(unit) for unit in asked}, "evidence": _check_evidence(page, sent, problems)}


def _check_evidence(page: Mapping[str, Any], sent: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """The words marked for each statement that was found, and only for those; none unless the campaign asks."""
    marked = sent.get("evidence", {})
    if not page.get("evidence") or not isinstance(marked, dict):
        if marked:
            problems.append(Problem("evidence", "must be an object, and only where the campaign asks for it"))
        return {}
    found = [unit["id"] for unit in page["units"] if sent["units"].get(unit["id"]) == 1]
    problems.extend(
        Problem("evidence", f"{id!r} is not a statement that was found") for id in marked if id not in found
    )
    evidence = {}
    for number, id in enumerate((unit["id"] for unit in page["units"]), 1):
        if id not in found:
            continue
        if not _is_list_of_spans(spans := marked.get(id), page["summary"]):
            problems.append(Problem(f"statement {number}", "mark the words of the summary that say it"))
        else:
            evidence[id] = [list(span) for span in union(Span(*span) for span in spans)]
    return evidence


def _is_list_of_spans(value: Any, text: str) -> TypeGuard[list[list[int]]]:
    def is_span(span: Any) -> bool:
        whole = isinstance(span, list) and len(span) == 2 and all(type(place) is int for place in span)
        return whole and Span(*span).fits(text)

    return isinstance(value, list) and 0 < len(value) <= MAX_SPANS and all(map(is_span, value))


def _check_ratings(page: Mapping[str, Any], sent: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    ratings = sent.get("aspects")
    if not isinstance(ratings, dict):
        problems.append(Problem("aspects", "must be an object with a rating for each scale"))
        return {}
    for aspect in page["aspects"]:
        rating: Any = ratings.get(aspect["id"])
        low, high = aspect["low"], aspect["high"]
        if type(rating) not in (int, float) or not low <= rating <= high or rating % 1:
            problems.append(Problem(aspect["title"], f"must be a whole number from {low:g} to {high:g}"))
    known = {aspect["id"] for aspect in page["aspects"]}
    problems.extend(Problem("aspects", f"unknown scale {id!r}") for id in ratings if id not in known)
    return {"aspects": {id: ratings.get(id) for id in sorted(known)}}


def _check_winner(_page: Mapping[str, Any], sent: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    if not isinstance(sent.get("winner"), str) or sent["winner"] not in _PREFERENCES:
        problems.append(Problem("winner", "must be first, second or tie"))
    return {"winner": sent.get("winner")}


def _check_writing(page: Mapping[str, Any], sent: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    statements = sent.get("statements")
    wanted = page["statements"]
    if not _is_list_of_texts(statements) or len(statements) != wanted:
        problems.append(Problem("statements", f"must be a list of {wanted} texts"))
        return {}
    for number, statement in enumerate(statements, 1):
        if not statement.strip():
            problems.append(Problem(f"statement {number}", "is empty"))
        elif len(statement) > MAX_STATEMENT:
            problems.append(Problem(f"statement {number}", f"is longer than {MAX_STATEMENT} characters"))
    pasted = sent.get("pasted", [])
    if not _is_list_of_texts(pasted) or len(pasted) > MAX_PASTED:
        problems.append(Problem("pasted", f"must be a list of at most {MAX_PASTED} texts"))
        pasted = []
    return {"statements": [s.strip() for s in statements], "pasted": [p[:MAX_STATEMENT] for p in pasted]}


def _is_list_of_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
