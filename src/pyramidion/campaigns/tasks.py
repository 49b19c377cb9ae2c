"""What a worker sees of a task, and whether what came back answers it."""

from __future__ import annotations

from typing import Any

from pyramidion.campaigns.plan import ATTENTION, SCALES
from pyramidion.campaigns.statements import check_statement
from pyramidion.errors import InputError, Problem
from pyramidion.study import Campaign, Study, Summary, Task

MAX_STATEMENT = 500
MAX_COMMENT = 2000
MAX_PASTED = 50

HELP = {
    "overall": "How well does the summary answer the topic, in content and in style taken together?",
    "linguistic": "Is it grammatical, clear, without repetition, and easy to follow? Ignore whether it is complete.",
    "content": "How much of what the references say about the topic does it tell? Ignore its style.",
}


def task_page(study: Study, campaign: Campaign, task: Task, gold: dict[str, Any] | None = None) -> dict[str, Any]:
    """Everything a page needs to show a task, as plain values. The answers that are known are not in it."""
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
    elif task.kind == "rate":
        page["summary"] = _text(study.summary(task.topic, task.system))
        page["aspects"] = [
            {"id": a.id, "title": a.title or a.id, "low": a.low, "high": a.high, "help": HELP.get(a.id, "")}
            for a in study.aspects or SCALES
        ]
        page["notice"] = campaign.settings.deviation_notice
    else:
        page["candidates"] = [_text(study.summary(task.topic, system)) for system in (task.system, task.other)]
    return page


def _text(summary: Summary | None) -> str:
    return summary.text if summary else ""


def _units(study: Study, task: Task, gold: dict[str, Any] | None) -> list[dict[str, str]]:
    labels = {u.id: u.label for p in study.pyramids if p.topic == task.topic for u in p.units}
    units = [{"id": unit, "label": labels.get(unit, "")} for unit in task.units]
    if gold and "label" in gold:
        units.insert(gold["position"], {"id": ATTENTION, "label": gold["label"]})
    return units


def check_answer(page: dict[str, Any], answer: Any) -> dict[str, Any]:
    """The answer, reduced to what was asked; raises InputError with everything that is missing or wrong."""
    if not isinstance(answer, dict):
        raise InputError(Problem("answer", "must be an object"))
    problems: list[Problem] = []
    readers = {"write": _statements, "judge": _presence, "rate": _ratings, "compare": _winner}
    clean = readers[page["kind"]](page, answer, problems)
    comment = answer.get("comment", "")
    if not isinstance(comment, str) or len(comment) > MAX_COMMENT:
        problems.append(Problem("comment", f"must be text of at most {MAX_COMMENT} characters"))
    if problems:
        raise InputError(problems)
    return {**clean, **({"comment": comment} if comment else {})}


def _presence(page: dict[str, Any], answer: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    given = answer.get("units")
    asked = [unit["id"] for unit in page["units"]]
    if not isinstance(given, dict):
        problems.append(Problem("units", "must be an object with an answer for each statement"))
        return {}
    for unit in asked:
        if given.get(unit) not in (0, 1) or isinstance(given.get(unit), bool):
            problems.append(Problem(f"statement {asked.index(unit) + 1}", "is not answered"))
    problems.extend(Problem("units", f"unknown statement {id!r}") for id in given if id not in asked)
    return {"units": {unit: given.get(unit) for unit in asked}}


def _ratings(page: dict[str, Any], answer: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    given = answer.get("aspects")
    if not isinstance(given, dict):
        problems.append(Problem("aspects", "must be an object with a rating for each scale"))
        return {}
    for aspect in page["aspects"]:
        value: Any = given.get(aspect["id"])
        low, high = aspect["low"], aspect["high"]
        if type(value) not in (int, float) or not low <= value <= high or value % 1:
            problems.append(Problem(aspect["title"], f"must be a whole number from {low:g} to {high:g}"))
    known = {aspect["id"] for aspect in page["aspects"]}
    problems.extend(Problem("aspects", f"unknown scale {id!r}") for id in given if id not in known)
    return {"aspects": {id: given.get(id) for id in sorted(known)}}


def _winner(_page: dict[str, Any], answer: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    if answer.get("winner") not in ("first", "second", "tie"):
        problems.append(Problem("winner", "must be first, second or tie"))
    return {"winner": answer.get("winner")}


def _statements(page: dict[str, Any], answer: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    given = answer.get("statements")
    wanted = page["statements"]
    if not isinstance(given, list) or len(given) != wanted or not all(isinstance(s, str) for s in given):
        problems.append(Problem("statements", f"must be a list of {wanted} texts"))
        return {}
    for number, statement in enumerate(given, 1):
        if not statement.strip():
            problems.append(Problem(f"statement {number}", "is empty"))
        elif len(statement) > MAX_STATEMENT:
            problems.append(Problem(f"statement {number}", f"is longer than {MAX_STATEMENT} characters"))
    pasted = answer.get("pasted", [])
    if not isinstance(pasted, list) or len(pasted) > MAX_PASTED or not all(isinstance(p, str) for p in pasted):
        problems.append(Problem("pasted", f"must be a list of at most {MAX_PASTED} texts"))
        pasted = []
    return {"statements": [s.strip() for s in given], "pasted": [p[:MAX_STATEMENT] for p in pasted]}


def live_checks(statements: list[str]) -> list[list[str]]:
    """For each statement, what is wrong with it beside the ones before it, in plain words."""
    return [
        check_statement(text, statements[:number]) if text.strip() else [] for number, text in enumerate(statements)
    ]
