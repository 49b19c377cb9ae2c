"""Campaigns, tasks and assignments: who is asked what. A campaign is a set of tasks of one kind; an assignment is one
person working on one task.

write read a reference and write stand-alone statements (Shapira et al. 2019) judge read a peer and say for each unit
whether it is present (Shapira et al. 2019) rate read two references and a peer, rate it on scales (Gillick and Liu
2010) compare read two peers and say which is better (Gillick and Liu 2010)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

TaskKind = Literal["write", "judge", "rate", "compare"]
CampaignState = Literal["running", "paused", "closed"]
KINDS: tuple[TaskKind, ...] = get_args(TaskKind)


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do: a peer with units to judge, a peer to rate, two peers to compare, a reference to write from.

    ``units`` and ``references`` are in the order shown. ``system`` is empty in a writing task.

    Where a design chose at random what to ask, the units of a topic are cut into parts, parts are put into strata, and
    each stratum into a random order: this task asks about the part at ``place`` (from 1) of the ``places`` of its
    ``stratum``. A system that was asked about the first n of them was asked about each with probability n / places.
    """

    id: str
    topic: str
    system: str = ""
    units: tuple[str, ...] = ()
    kind: TaskKind = "judge"
    other: str = ""
    references: tuple[str, ...] = ()
    stratum: str = ""
    place: int = 0
    places: int = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """One judge working on one task; at most one assignment for each task and judge.

    Times are kept as in the source.
    """

    task: str
    judge: str
    id: str = ""
    accepted: str = ""
    submitted: str = ""
    seconds: float | None = None


def _told(label: str) -> dict[str, Any]:
    """How a form shows what workers are told before they start, which may change while they work."""
    return {"label": label, "group": "Workers", "may_change": True}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a campaign is run. Each field is a setting of ``campaign plan``; the defaults are the papers'."""

    workers: int = field(default=5, metadata={"help": "Distinct workers for each task."})
    statements: int = field(default=8, metadata={"help": "Units to write in a writing task."})
    units_per_task: int = field(
        default=16, metadata={"help": "Most units in a judging task; those of a topic are split evenly."}
    )
    units_per_topic: int = field(default=32, metadata={"help": "Units sampled for each topic."})
    pay: float = field(default=0.45, metadata={"help": "Pay for one assignment; with a model, of a task of full size."})
    fee: float = field(default=0.2, metadata={"help": "The platform's fee, as a share of the pay."})
    currency: str = field(default="$", metadata={"help": "Printed before amounts of money."})
    minutes_per_task: float = field(
        default=0.0,
        metadata={
            "help": "Workers are told that a task takes about so many minutes; 0 tells them nothing.",
            **_told("Minutes for a task"),
        },
    )
    consent: str = field(
        default="",
        metadata={
            "help": "What workers must agree to before they start, up to 5,000 characters.",
            "longest": 5000,
            **_told("Consent"),
        },
    )
    contact: str = field(
        default="",
        metadata={"help": "Whom workers can ask, such as a name and an address.", **_told("Whom workers can ask")},
    )
    lease_minutes: float = field(default=60.0, metadata={"help": "How long a task is reserved for a worker."})
    min_seconds: float = field(default=25.0, metadata={"help": "Work done faster than this is flagged."})
    min_agreement: float = field(default=0.5, metadata={"help": "Workers who agree less with others are flagged."})
    gold_rate: float = field(
        default=0.0,
        metadata={
            "help": "Share of tasks with a known answer. judge: above 0, every task has one more unit, whose answer is "
            "known, so that none stands out."
        },
    )
    evidence: bool = field(
        default=False,
        metadata={
            "help": "judge: ask workers to mark the words of the summary that say what they found present.",
            "label": "Mark the words",
            "group": "Quality",
        },
    )
    check: bool = field(default=True, metadata={"help": "Ask four comprehension questions first (two tries)."})
    show_progress: bool = field(default=True, metadata={"help": "Show workers how much they have done."})
    separate_writers: bool = field(
        default=True, metadata={"help": "Workers do not judge units of a topic they wrote units for."}
    )
    deviation_notice: bool = field(
        default=True, metadata={"help": "Tell raters that their scores are compared with others'."}
    )
    most_per_worker: int = field(default=0, metadata={"help": "Maximum number of tasks per worker; 0 means no limit."})
    completion_url: str = field(default="", metadata={"help": "Where workers go when nothing is left to do."})
    completion_code: str = field(default="", metadata={"help": "Prolific's completion code."})
    code_after: int = field(
        default=1, metadata={"help": "Answers a worker must submit to get the completion code or URL; 0 means none."}
    )
    early_code: str = field(default="", metadata={"help": "Prolific's completion code for those who stop early."})
    code_when_stopping: bool = field(
        default=False,
        metadata={
            "help": "Whoever has submitted `code_after` answers gets the completion code when they stop, also while "
            "tasks are left.",
            "label": "Completion code for those who stop",
            "group": "Platform and money",
            "may_change": True,
        },
    )
    platform: str = field(default="local", metadata={"help": "local, prolific, connect or simulated."})
    platform_study: str = field(default="", metadata={"help": "The id of this study on the platform."})
    signed_entry: bool = field(
        default=False, metadata={"help": "prolific: only people whose link Prolific has signed come in."}
    )
    entry_parameters: str = field(
        default="participantId,assignmentId,projectId",
        metadata={"help": "connect: the link's parameter names for the person, the session and the study."},
    )
    keep_days: int = field(
        default=0,
        metadata={
            "help": "Days after the last activity until workers' platform ids, sessions, drafts and comments are "
            "erased; 0 keeps them."
        },
    )
    model: str = field(
        default="",
        metadata={"help": "judge: the id of the model whose judgments guide what people are asked; empty asks all."},
    )
    share: float = field(
        default=0.0,
        metadata={
            "help": "model: the share of the units to ask people about, at most and on average over draws; 0 means a "
            "quarter, or with a goal all, if it takes that."
        },
    )
    until: str = field(
        default="",
        metadata={"help": "model: the goal (top, ranking, width=0.03 or pairs=90%); empty asks all at once."},
    )
    looks: int = field(default=8, metadata={"help": "model: rounds at most, each followed by a look at the goal."})
    budget: float = field(default=0.0, metadata={"help": "model: money at most, with the fee; 0 means no limit."})
    question: str = field(
        default="topics",
        metadata={"help": "model: what intervals are about: `these` topics, or `topics` of this kind."},
    )
    minutes_per_summary: float = field(default=0.5, metadata={"help": "model: what reading a summary takes."})
    minutes_per_unit: float = field(
        default=0.15, metadata={"help": "model: what judging a unit takes; both decide how many units a task has."}
    )
    seed: int = field(default=0, metadata={"help": "Seed for sampling and shuffling."})

    @classmethod
    def for_kind(cls, kind: TaskKind, **chosen: Any) -> Settings:
        """The paper's numbers for a kind of task, with some of them changed."""
        return cls(**{**_PAPER[kind], **chosen})

    def as_dict(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @property
    def largest_share(self) -> float:
        """The share of the units to ask about at most, where a model guides what is asked."""
        return self.share or (1.0 if self.until else 0.25)


# The minutes are our own estimates; those of judging follow from `minutes_per_summary` and `minutes_per_unit`.
_PAPER: dict[TaskKind, dict[str, Any]] = {
    "write": {"workers": 2, "pay": 0.50, "fee": 0.2, "min_seconds": 60.0, "minutes_per_task": 6.0},
    "judge": {"workers": 5, "pay": 0.45, "fee": 0.2, "minutes_per_task": 3.0},
    "rate": {"workers": 2, "pay": 0.07, "fee": 0.1, "minutes_per_task": 2.0},
    "compare": {"workers": 5, "pay": 0.07, "fee": 0.1, "minutes_per_task": 2.0},
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What of a study a campaign asks about: these topics and systems (none named: all), units of this pyramid, and
    none of the units ``without``, which are given as (topic, unit). Where a model makes tasks shorter than asked for,
    ``full_task`` holds what was asked for a task of full size: the pay, the least number of seconds, the minutes."""

    topics: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    pyramid: str | None = None
    without: tuple[tuple[str, str], ...] = ()
    full_task: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Campaign:
    """``instructions`` are those that a manager wrote for it; None: the usual ones of its kind."""

    name: str
    kind: TaskKind
    settings: Settings
    state: CampaignState = "running"
    scope: Scope = Scope()
    instructions: Mapping[str, Any] | None = None
