"""The settings of a campaign as a form shows them. Which there are, their defaults and their help are `Settings`; here
is only what a form needs besides: a label, a group, the kinds they are for, limits, choices, and whether they may
change once people have begun. A setting that is not named here is shown too, under its own name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any

from pyramidion.campaigns.plan import LIMITS, MAX_TEXT
from pyramidion.campaigns.sync import NAMES
from pyramidion.errors import InputError, Problem
from pyramidion.stats.combining import QUESTIONS
from pyramidion.study import Settings, Study
from pyramidion.study.tasks import KINDS

LABELS = {
    "workers": "Workers per task",
    "statements": "Statements per task",
    "units_per_task": "Units per task",
    "units_per_topic": "Units per topic",
    "pay": "Pay per assignment",
    "fee": "Platform fee",
    "lease_minutes": "Time for a task (minutes)",
    "min_seconds": "Too fast below (seconds)",
    "min_agreement": "Minimum agreement",
    "gold_rate": "Known-answer tasks (share)",
    "check": "Comprehension check",
    "show_progress": "Show progress",
    "separate_writers": "Keep writers apart",
    "deviation_notice": "Comparison notice",
    "most_per_worker": "Maximum tasks per worker",
    "completion_url": "Address when done",
    "code_after": "Answers needed for the code",
    "early_code": "Completion code for stopping early",
    "signed_entry": "Only signed links",
    "platform_study": "Platform’s study id",
    "keep_days": "Erase people’s data after (days)",
    "model": "Model that has judged everything",
    "share": "Largest share of units to ask",
    "until": "Ask in rounds until",
    "looks": "Rounds at most",
    "budget": "Budget, fee included",
    "question": "What intervals are about",
    "minutes_per_summary": "Minutes to read a summary",
    "minutes_per_unit": "Minutes to judge a unit",
    "seed": "Random seed",
}

GROUPS: Mapping[str, Sequence[str]] = {
    "": ("workers", "statements", "units_per_topic", "units_per_task", "pay", "fee", "platform"),
    "Quality": ("check", "gold_rate", "min_seconds", "min_agreement", "separate_writers"),
    "People and a model": (
        *("model", "share", "until", "looks", "budget", "question", "minutes_per_summary", "minutes_per_unit"),
    ),
    "Workers": ("lease_minutes", "most_per_worker", "show_progress", "deviation_notice", "keep_days"),
    "Platform and money": (
        *("platform_study", "completion_url", "completion_code", "code_after", "early_code", "signed_entry"),
        *("entry_parameters", "currency"),
    ),
}
"""Under these titles a form shows them; the first ones at once."""
MORE = "More"

ONLY_FOR: Mapping[str, Sequence[str]] = {
    "statements": ("write",),
    "units_per_task": ("write", "judge"),
    "units_per_topic": ("write", "judge"),
    "gold_rate": ("judge", "rate"),
    "min_agreement": ("judge",),
    "separate_writers": ("judge",),
    "deviation_notice": ("rate",),
    **dict.fromkeys(GROUPS["People and a model"], ("judge",)),
}
"""Settings that matter only to some kinds; the others matter to all."""

MADE = "The tasks are made with it. Close this campaign and create another one to change it."
TOLD = "People were told this when they began."
COMPARED = "Answers given before and after the change could not be compared."
FIXED = {
    **dict.fromkeys(
        ("workers", "units_per_task", "units_per_topic", "gold_rate", "seed", *GROUPS["People and a model"]), MADE
    ),
    **dict.fromkeys(("pay", "fee", "currency"), TOLD),
    **dict.fromkeys(("statements", "check", "separate_writers", "deviation_notice"), COMPARED),
    "platform": "People came from there, and are paid there.",
    "signed_entry": "People came in under this rule.",
    "entry_parameters": "People came in under these names.",
}
"""Why a setting cannot change once people have begun."""
MAY_CHANGE = frozenset(
    {"min_seconds", "min_agreement", "lease_minutes", "most_per_worker", "show_progress", "keep_days"}
    | {"platform_study", "completion_url", "completion_code", "code_after", "early_code"}
)
"""What neither tasks nor answers depend on. Whatever is in neither list is fixed: nobody has thought about it."""


TITLES = {
    ("platform", "local"): "local: people you invite",
    ("platform", "prolific"): "Prolific",
    ("platform", "connect"): "CloudResearch Connect",
    ("platform", "simulated"): "simulated: nobody real",
    ("question", "these"): "these topics",
    ("question", "topics"): "topics of this kind",
    ("model", ""): "none: people judge everything",
}
"""What a choice is called."""


def list_settings(study: Study) -> list[dict[str, Any]]:
    """Every setting as a form shows it, in the order of the groups."""
    order = [name for names in GROUPS.values() for name in names]
    titles = [*GROUPS, MORE]
    shown = [_shown(part, study) for part in fields(Settings)]

    def place(setting: dict[str, Any]) -> tuple[int, int]:
        group, name = setting["group"], setting["name"]
        return (
            titles.index(group) if group in titles else len(titles),
            order.index(name) if name in order else len(order),
        )

    return sorted(shown, key=place)


def _shown(part: Field[Any], study: Study) -> dict[str, Any]:
    name = part.name
    offered = {"platform": NAMES, "question": QUESTIONS, "model": ("", *sorted(study.judges_of("model")))}.get(name)
    numeric = type(part.default) in (int, float)
    low, high = LIMITS.get(name, (0, 1_000_000)) if numeric else (None, None)
    return {
        "name": name,
        "label": part.metadata.get("label") or LABELS.get(name) or name.replace("_", " ").capitalize(),
        "help": str(part.metadata["help"]),
        "group": part.metadata.get("group") or next((g for g, names in GROUPS.items() if name in names), MORE),
        "kinds": list(ONLY_FOR.get(name, KINDS)),
        "type": type(part.default).__name__,
        "default_by_kind": {kind: getattr(Settings.for_kind(kind), name) for kind in KINDS},
        "choices": offered and [(value, TITLES.get((name, value), value)) for value in offered],
        "low": low,
        "high": high,
        "longest": int(part.metadata.get("longest", MAX_TEXT)),
        "fixed": fixed_because(part),
    }


def fixed_because(part: Field[Any]) -> str:
    """Why a setting cannot change once people have begun; empty where it can."""
    if part.name in MAY_CHANGE or part.metadata.get("may_change"):
        return ""
    return FIXED.get(part.name, COMPARED)


def check_changes(old: Settings, new: Settings) -> None:
    """Refuse changes of settings after people have begun; names every one and why."""
    changed = [part for part in fields(Settings) if getattr(old, part.name) != getattr(new, part.name)]
    if problems := [Problem(part.name, why) for part in changed if (why := fixed_because(part))]:
        raise InputError(problems)
