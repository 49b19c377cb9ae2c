"""What managers read: overviews, answers, scores and exports, ready to be sent; and looks. All of it may take long.

Everything here takes a desk and the study and returns bytes or writes a file, so that it can run in another process
than the one that workers talk to. Large things go into files, and looks into the database.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pyramidion.campaigns.advancing import advance
from pyramidion.campaigns.decisions import Standing
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.monitor import overview
from pyramidion.campaigns.statements import CROWD
from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.campaigns.tasks import ATTENTION, AttentionCheck, JudgeAnswer, asked_units, task_page, to_object
from pyramidion.errors import UnknownError
from pyramidion.scoring.methods import score
from pyramidion.study import Study
from pyramidion.study.records import to_records
from pyramidion.study.texts import Span

DECISIONS_SHOWN = 500
SERVER = "server"
"""Who takes a look that nobody asked for."""
ExportKind = Literal["csv", "jsonl"]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def read_overview(desk: CampaignDesk, study: Study, name: str, *_known: object) -> bytes:
    """An overview without the counts of answers, which are asked for separately: they are the cheapest part. What else
    is known only tells two readings apart."""
    report = overview(desk, name, study)
    kind, has_answers = report.campaign.kind, report.progress["submitted"] > 0
    has_units = any(study.pyramid(topic, CROWD) for topic in report.by_topic)
    shown = report.as_dict()
    del shown["progress"]
    return _json(
        {
            **shown,
            "seconds": sorted(report.seconds),
            "reviews": [asdict(row) for row in report.log[-DECISIONS_SHOWN:]],
            "chain": {
                "can_make_units": kind == "write" and has_answers and not has_units,
                "can_score": kind in {"judge", "rate"} and has_answers,
            },
        }
    )


def advance_rounds(desk: CampaignDesk, _study: Study, name: str) -> None:
    """Take the look that is due in a campaign, and release its next round or stop it."""
    advance(desk, name, actor=SERVER)


def write_answers(desk: CampaignDesk, study: Study, name: str, worker: str, path: Path) -> None:
    """Write the answers to a campaign, of one worker or (without a name) of all, as JSON into a file."""
    desk.campaigns.get(name)  # or UnknownError
    standings: Mapping[int, Standing] = defaultdict(Standing, desk.decisions.standings(name))
    labels = {(p.topic, unit.id): unit.label for p in study.pyramids for unit in p.units}
    answers = [
        {
            "id": a.id,
            "task": a.task.id,
            "topic": a.task.topic,
            "system": a.task.system,
            "worker": a.worker,
            "state": a.state,
            "seconds": a.seconds,
            "submitted": a.submitted,
            "counted": a.counted,
            "removed": a.removed,
            "decision": standings[a.id].decision or None,
            "told": standings[a.id].told or None,
            "answer": None if a.answer is None else to_object(a.answer),
            "quotes": _quotes(study, a),
            "labels": {unit: labels.get((a.task.topic, unit), "") for unit in a.task.units},
        }
        for a in desk.campaigns.answers(name, worker=worker)
    ]
    path.write_bytes(_json({"answers": answers}))


def read_task(desk: CampaignDesk, study: Study, name: str, task: str) -> bytes:
    """One task with its texts, its known answers, and what everybody has answered: to compare before deciding."""
    campaign = desk.campaigns.get(name)
    given = desk.campaigns.answers(name, task=task)
    if not given:
        raise UnknownError(f"nobody has taken a task {task!r} of campaign {name}")
    about, gold = given[0].task, given[0].gold
    page = task_page(study, campaign, about, gold)
    texts = [(f"Reference {at}", text) for at, text in zip(about.references, page["references"], strict=True)]
    if "summary" in page:
        texts.insert(0, (about.system, page["summary"]))
    texts = [*zip((about.system, about.other), page.get("candidates", ()), strict=False), *texts]
    asked = [
        {"id": id, "label": shown["label"]}
        for id, shown in zip(asked_units(about, gold), page.get("units", ()), strict=False)
    ]
    asked += [{"id": a["id"], "label": a["title"], "low": a["low"], "high": a["high"]} for a in page.get("aspects", ())]
    known = {ATTENTION: gold.value} if isinstance(gold, AttentionCheck) else gold.aspects if gold else {}
    excluded = desk.worker_decisions.exclusions()
    answers = [
        {
            "id": a.id,
            "worker": a.worker,
            "counted": a.counted and a.worker not in excluded,
            "answer": to_object(a.answer),
            "quotes": _quotes(study, a),
        }
        for a in given
        if a.state == "submitted" and a.answer is not None
    ]
    return _json(
        {
            "task": task,
            "kind": about.kind,
            "topic": {"id": about.topic, **page["topic"]},
            "texts": [{"title": title, "text": text} for title, text in texts],
            "questions": asked,
            "known": dict(known),
            "answers": answers,
        }
    )


def _quotes(study: Study, given: StoredAnswer) -> dict[str, list[str]]:
    """The words of the summary that an answer marks for each unit."""
    if not isinstance(given.answer, JudgeAnswer) or not given.answer.evidence:
        return {}
    summary = study.summary(given.task.topic, given.task.system)
    text = summary.text if summary else ""
    return {unit: [Span(*span).of(text) for span in spans] for unit, spans in given.answer.evidence.items()}


def read_scores(desk: CampaignDesk, _study: Study, method: str) -> bytes:
    study = desk.study()
    table = score(study, method)
    scales = {aspect.id: [aspect.low, aspect.high] for aspect in study.aspects} if method == "responsiveness" else {}
    rows = [
        {"system": system, **{m: table.per_system(m).get(system) for m in table.measures}}
        for system, _value in (table.ranking(table.measures[0]) if table.measures else [])
    ]
    return _json(
        {
            "signature": str(table.signature),
            "notes": [note.as_dict() for note in table.notes],
            "measures": list(table.measures),
            "scales": scales,
            "systems": rows,
        }
    )


def write_export(desk: CampaignDesk, _study: Study, name: str, kind: ExportKind, path: Path) -> None:
    """Write a campaign's answers as CSV, or the study with them as JSON Lines, into a file."""
    desk.campaigns.get(name)  # or UnknownError
    if kind == "csv":
        path.write_text(desk.answers_table(name), encoding="utf-8", newline="")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        for record in to_records(desk.study_of(name)):
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
