"""What workers read before they start, and the questions that show whether they did.

The rules are those of the papers' task descriptions (Shapira et al. 2019, section 3; Gillick and Liu 2010, section
3), in our own words. The right answers stay on the server.
"""

from __future__ import annotations

from typing import Any

from pyramidion.study.tasks import TaskKind

_PRESENCE = [{"value": "1", "label": "Present"}, {"value": "0", "label": "Not present"}]

_SUMMARY = "The harbour ferry was cancelled on Monday after its engine failed. About 300 passengers took buses instead."

CONTENT: dict[TaskKind, dict[str, Any]] = {
    "judge": {
        "title": "Is it in the summary?",
        "intro": [
            "You will read a short summary and a list of statements.",
            "For each statement, say whether a reader of the summary, who knows nothing else, learns what it says.",
        ],
        "steps": [
            "Present: the summary says it, in any words, or it clearly follows from what the summary says.",
            "Not present: the summary does not say it, says something else, or you only know it from elsewhere.",
            "Ignore small differences that do not change the fact.",
            "Every statement needs an answer. You can change answers until you submit.",
        ],
        "example": {
            "summary": _SUMMARY,
            "items": [
                {
                    "text": "A ferry did not run because of an engine failure.",
                    "answer": "Present",
                    "why": "Other words, same fact.",
                },
                {
                    "text": "Hundreds of travellers went by bus.",
                    "answer": "Present",
                    "why": "It follows from “about 300”.",
                },
                {
                    "text": "The engine was repaired on Tuesday.",
                    "answer": "Not present",
                    "why": "The summary does not say it.",
                },
            ],
        },
        "questions": [
            {
                "id": "q1",
                "text": "“The ferry service was called off on Monday.” In the example summary, this is",
                "options": _PRESENCE,
                "answer": "1",
            },
            {
                "id": "q2",
                "text": "“The ferry company apologised.” In the example summary, this is",
                "options": _PRESENCE,
                "answer": "0",
            },
            {
                "id": "q3",
                "text": "You know from the news that a statement is true, but the summary does not say it. It is",
                "options": _PRESENCE,
                "answer": "0",
            },
        ],
    },
    "write": {
        "title": "Write down the facts",
        "intro": [
            "You will read a short text and write statements that each tell one important fact from it.",
            "Other people will later check whether summaries contain your facts, so each must stand on its own.",
        ],
        "steps": [
            "One fact, one sentence, 4 to 20 words.",
            "Copy from the text where you can, and change it so that it is clear without the text: names, not “he”.",
            "Use only what the text says. Take facts from different places of the text.",
            "Do not write the same fact twice.",
        ],
        "example": {
            "reference": _SUMMARY,
            "items": [
                {
                    "text": "The harbour ferry was cancelled on Monday.",
                    "answer": "Good",
                    "why": "One fact, clear by itself.",
                },
                {
                    "text": "They took buses instead.",
                    "answer": "Not good",
                    "why": "Who are “they”? It needs the text.",
                },
                {
                    "text": "The ferry was cancelled and 300 passengers took buses after the engine failed on Monday.",
                    "answer": "Not good",
                    "why": "Several facts in one.",
                },
            ],
        },
        "questions": [
            {
                "id": "q1",
                "text": "Which is a good statement?",
                "options": [
                    {"value": "a", "label": "It failed."},
                    {"value": "b", "label": "About 300 ferry passengers took buses."},
                ],
                "answer": "b",
            },
            {
                "id": "q2",
                "text": "May you add a fact that you know but that is not in the text?",
                "options": [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}],
                "answer": "no",
            },
        ],
    },
    "rate": {
        "title": "Rate a summary",
        "intro": [
            "You will read a topic, two good summaries of it written by people, and one candidate summary.",
            "Rate the candidate on three scales from 1 (very poor) to 10 (very good).",
        ],
        "steps": [
            "A good summary answers the topic and tells what the two reference summaries tell.",
            "Information content: how much of that it tells, whatever its style.",
            "Linguistic quality: how well it reads, whatever it tells.",
            "Overall quality: both together. The three may differ.",
        ],
        "example": {
            "summary": "Ferry ferry on Monday. Engine. Passengers 300 bus Monday.",
            "items": [
                {"text": "Information content", "answer": "7", "why": "Most facts are there."},
                {"text": "Linguistic quality", "answer": "2", "why": "Hardly a sentence."},
                {"text": "Overall quality", "answer": "4", "why": "Useful, but hard to read."},
            ],
        },
        "questions": [
            {
                "id": "q1",
                "text": "A beautifully written text about something else gets for information content",
                "options": [{"value": "low", "label": "1 or 2"}, {"value": "high", "label": "9 or 10"}],
                "answer": "low",
            },
            {
                "id": "q2",
                "text": "Must the three ratings be the same?",
                "options": [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}],
                "answer": "no",
            },
        ],
    },
    "compare": {
        "title": "Which summary is better?",
        "intro": [
            "You will read a topic, two good summaries of it written by people, and two candidates.",
            "Say which candidate tells more of what matters.",
        ],
        "steps": [
            "Compare what they tell about the topic with what the references tell.",
            "If one reads better but tells less, the other is better here.",
            "Say “no difference” only if you really cannot decide.",
        ],
        "example": {
            "summary": _SUMMARY,
            "items": [
                {
                    "text": "First: “The ferry was cancelled.” Second: “Its engine failed; 300 took buses.”",
                    "answer": "The second",
                    "why": "It tells more of what matters.",
                },
            ],
        },
        "questions": [
            {
                "id": "q1",
                "text": "The first is elegant but off the topic, the second is clumsy but complete. Better is",
                "options": [{"value": "first", "label": "The first"}, {"value": "second", "label": "The second"}],
                "answer": "second",
            },
        ],
    },
}


def instructions(kind: TaskKind, *, with_questions: bool) -> dict[str, Any]:
    """The content of a kind of task, never with the right answers."""
    content = {key: value for key, value in CONTENT[kind].items() if key != "questions"}
    if with_questions:
        content["questions"] = [{k: q[k] for k in ("id", "text", "options")} for q in CONTENT[kind]["questions"]]
    return content


def right_answers(kind: TaskKind) -> dict[str, str]:
    return {question["id"]: question["answer"] for question in CONTENT[kind]["questions"]}
