"""A campaign as its workers would see it: the real thing over a database of its own, which is thrown away.

So a preview needs no pages, no rules and no answers of its own, and nothing that is done in it can reach the study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import Arrival
from pyramidion.campaigns.tasks import Gold
from pyramidion.campaigns.workers import Entry
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Judgments, Study, Task

PREFIX = "preview:"
"""Before the name of a campaign that is one: a colon cannot be in any other name."""
MOST_TASKS = 500
MANY = 1000
"""So many people may try each task, since whoever begins again is somebody new."""


def make_preview(
    study: Study, campaign: Campaign, tasks: Sequence[Task], gold: Mapping[str, Gold], path: Path, name: str
) -> None:
    """A database with one running campaign: the first tasks of the one that is previewed, and the texts they need."""
    shown = tuple(tasks[:MOST_TASKS])
    topics = {task.topic for task in shown}
    texts = Study(
        topics=tuple(replace(topic, documents=()) for topic in study.topics if topic.id in topics),
        summaries=tuple(summary for summary in study.summaries if summary.topic in topics),
        pyramids=tuple(pyramid for pyramid in study.pyramids if pyramid.topic in topics),
        aspects=study.aspects,
        judgments=Judgments(),
    )
    settings = replace(campaign.settings, workers=MANY, model="", until="")
    database = Database.create(path, title="Preview")
    try:
        desk = CampaignDesk(database)
        with database.together():
            desk.studies.add(texts)
            previewed = replace(campaign, name=name, settings=settings, state="running")
            desk.campaigns.add(previewed, shown, {task.id: gold[task.id] for task in shown if task.id in gold})
    finally:
        database.close()


def enter_preview(desk: CampaignDesk, name: str, *, past_check: bool) -> Entry:
    """Somebody new, at the beginning or at the first task."""
    campaign = desk.campaigns.get(name)
    number = len(desk.workers.entries(name)) + 1
    session = f"preview-{number}"
    settings = campaign.settings
    entry = desk.workers.enter(name, Arrival(settings.platform, session, session, settings.platform_study))
    if past_check:
        desk.workers.record_consent(campaign, entry.worker)
    if past_check and settings.check:
        desk.workers.record_check(name, entry.worker, True, after=0)
    return entry
