"""What a manager prepares before people begin: a campaign as a draft, its instructions and units, and texts.

The command line and the pages call the same: `plan` plans, the desk stores, and here is who did it and whether it may
still be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pyramidion.campaigns.change_log import ChangeLog
from pyramidion.campaigns.checks import CONTENT, content_of
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import Plan, check_plan, plan
from pyramidion.campaigns.setting_list import check_changes
from pyramidion.campaigns.statements import UnitKey
from pyramidion.campaigns.sync import platform_of
from pyramidion.campaigns.tasks import MAX_STATEMENT
from pyramidion.errors import InputError, Problem, UnknownError, UsageError
from pyramidion.study import Campaign, ContentUnit, Settings, Study
from pyramidion.study.judgments import SIMULATED, group
from pyramidion.study.tasks import Scope, TaskKind


@dataclass(frozen=True)
class Wish:
    """A campaign as a manager asks for it; ``settings`` are those that differ from the defaults of its kind."""

    kind: TaskKind
    name: str
    settings: Mapping[str, Any]
    scope: Scope
    instructions: Mapping[str, Any] | None = None

    @property
    def chosen(self) -> Settings:
        known = {part.name for part in fields(Settings)}
        if unknown := sorted(self.settings.keys() - known):
            raise UsageError(f"unknown setting {unknown[0]!r}")
        return Settings.for_kind(self.kind, **self.settings)


def plan_wish(desk: CampaignDesk, wish: Wish) -> Plan:
    """Plan a campaign. Settings that would keep workers out later are refused."""
    made = plan(
        desk.material(),
        wish.kind,
        wish.name,
        wish.chosen,
        pyramid=wish.scope.pyramid,
        topics=wish.scope.topics,
        systems=wish.scope.systems,
        without=wish.scope.without,
        instructions=wish.instructions,
    )
    platform_of(made.campaign, desk.database.secret)
    return made


def create(desk: CampaignDesk, made: Plan, *, actor: str, draft: bool) -> None:
    """Store a planned campaign, open or as a draft, and who made it."""
    with desk.database.together():
        desk.start(made, draft=draft)
        what = {"kind": made.campaign.kind, "tasks": len(made.tasks), "draft": draft}
        ChangeLog(desk.database).add("create", actor=actor, campaign=made.campaign.name, **what)


def edit(desk: CampaignDesk, wish: Wish, *, actor: str) -> Plan | None:
    """Change a campaign: everything of a draft, which is planned again; of any other only what neither tasks nor
    answers depend on. Returns the new plan, where there is one."""
    held = desk.campaigns.get(wish.name)
    if held.kind != wish.kind:
        raise UsageError(f"campaign {wish.name} is of kind {held.kind}; create another one to change that")
    made = plan_wish(desk, wish) if desk.campaigns.is_draft(wish.name) else None
    with desk.database.together():
        if made is not None:
            desk.plan_again(made)
        else:
            _check_begun(held, wish)
            desk.campaigns.set_settings(wish.name, wish.chosen)
        changed = _differences(held, wish, draft=made is not None)
        ChangeLog(desk.database).add("edit", actor=actor, campaign=wish.name, changed=changed)
    return made


def _check_begun(held: Campaign, wish: Wish) -> None:
    check_plan(wish.kind, wish.name, wish.chosen)
    platform_of(replace(held, settings=wish.chosen), b"")
    check_changes(held.settings, wish.chosen)
    if _differs(wish.scope, held.scope):
        raise InputError(Problem("scope", "the tasks are made; create another campaign to ask about something else"))
    if (wish.instructions or CONTENT[held.kind]) != content_of(held):
        raise InputError(Problem("instructions", "people have read them; answers before and after would differ"))


def _differences(held: Campaign, wish: Wish, *, draft: bool) -> dict[str, Any]:
    """What an edit changes, for the log: settings with both values, the rest by name."""
    old, new = wish_of(held, draft=draft).chosen.as_dict(), wish.chosen.as_dict()
    changed: dict[str, Any] = {name: [old[name], new[name]] for name in new if old[name] != new[name]}
    if _differs(wish.scope, held.scope):
        changed["texts and units"] = True
    if (wish.instructions or CONTENT[held.kind]) != content_of(held):
        changed["instructions"] = True
    return changed


def _differs(wanted: Scope, held: Scope) -> bool:
    return wanted != replace(held, full_task=None)


def wish_of(campaign: Campaign, *, draft: bool = True) -> Wish:
    """A stored campaign as it would be asked for again; one that has begun as it is, where that differs: a model makes
    tasks shorter, which then pay in proportion."""
    usual, held = Settings.for_kind(campaign.kind).as_dict(), campaign.settings
    if campaign.scope.full_task and draft:
        asked = zip(("pay", "min_seconds", "minutes_per_task"), campaign.scope.full_task, strict=False)
        held = replace(held, **dict(asked))  # type: ignore[arg-type]
    chosen = {name: value for name, value in held.as_dict().items() if value != usual[name]}
    return Wish(campaign.kind, campaign.name, chosen, campaign.scope, campaign.instructions)


# -- units ---------------------------------------------------------------------------------------------------


def edit_unit(desk: CampaignDesk, topic: str, unit: str, label: str, *, actor: str) -> None:
    """Give a unit other words, unless somebody is asked about it, or has judged it, in the words it has."""
    text = label.strip()
    if not text or len(text) > MAX_STATEMENT:
        raise InputError(Problem("label", f"must be text of 1 to {MAX_STATEMENT} characters"))
    with desk.studies.changing():
        study = desk.studies.load(topic)
        found = [p for p in study.pyramids if p.topic == topic and any(one.id == unit for one in p.units)]
        if not found:
            raise UnknownError(f"topic {topic} has no unit {unit!r}")
        _check_unasked(desk, study, topic, unit)
        [pyramid] = found
        before = next(one.label for one in pyramid.units if one.id == unit)
        # The words that were written stay with it: they tell which answer a unit came from.
        units = tuple(
            replace(one, label=text, comment=one.comment or (one.label if one.author else ""))
            if one.id == unit
            else one
            for one in pyramid.units
        )
        desk.studies.put(
            Study(pyramids=(replace(pyramid, units=units),)),
            topic=topic,
            pyramids={pyramid.name},
            judgments=lambda judgments: judgments.unit.is_in(set()),
        )
        ChangeLog(desk.database).add("unit", actor=actor, topic=topic, unit=unit, before=before, after=text)


def _reworded(unit: ContentUnit, label: str) -> ContentUnit:
    """The words that a worker wrote stay with the unit: they tell which answer it came from."""
    return replace(unit, label=label, comment=unit.comment or (unit.label if unit.author else ""))


def _check_unasked(desk: CampaignDesk, study: Study, topic: str, unit: str) -> None:
    if (topic, unit) in _judged(study):
        raise UsageError(f"unit {unit} of topic {topic} has been judged in these words, so it keeps them")
    if name := _asked_by(desk).get((topic, unit)):
        raise UsageError(f"campaign {name} asks about unit {unit} of topic {topic} in these words, so it keeps them")


def _judged(study: Study) -> set[UnitKey]:
    judgments = study.judgments
    pairs = group(judgments.topic.ranks(), judgments.unit.ranks())
    return {(judgments.topic[row], judgments.unit[row]) for row in pairs.first.tolist()}


def _asked_by(desk: CampaignDesk) -> dict[UnitKey, str]:
    """The units that people are, were or will be asked about, with a campaign that does; drafts do not count."""
    asked: dict[UnitKey, str] = {}
    for campaign in desk.campaigns.all():
        if campaign.kind == "judge" and not desk.campaigns.is_draft(campaign.name):
            asked |= dict.fromkeys(desk.asked_units(campaign), campaign.name)
    return asked


def list_units(desk: CampaignDesk) -> list[dict[str, Any]]:
    """The units that a judging campaign may ask about, with their words, and whether these can still change."""
    study = desk.material()
    judged, asked = _judged(study), _asked_by(desk)
    return [
        {
            "pyramid": pyramid.name,
            "topic": pyramid.topic,
            "id": unit.id,
            "label": unit.label,
            "asked": asked.get((pyramid.topic, unit.id), ""),
            "judged": (pyramid.topic, unit.id) in judged,
            "simulated": unit.author.startswith(SIMULATED),
        }
        for pyramid in study.pyramids
        for unit in pyramid.sampled
    ]
