"""How a campaign is going: progress, agreement, time, flagged workers, money. For the command line and the pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from statistics import median
from typing import Any

from pyramidion.analysis.cost import Cost, campaign_cost
from pyramidion.campaigns.copying import Twin, find_twin_writers, find_twins
from pyramidion.campaigns.decisions import Standing
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.log import LoggedDecision, log_rows
from pyramidion.campaigns.round_report import RoundsReport, report_rounds
from pyramidion.campaigns.signs import Flag, WorkRecord, flag_workers
from pyramidion.campaigns.sync import Notice, pending_notices
from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.campaigns.tasks import CompareAnswer, JudgeAnswer, RateAnswer, WriteAnswer, count_right
from pyramidion.scoring.screening import screen
from pyramidion.stats.rounding import rounded_beside
from pyramidion.study import Campaign, Judgments, Study, Task
from pyramidion.study.judgments import group

ALPHA_LIMITS = (0.67, 0.8)
"""Agreement is tentative from the first value on, reliable from the second (Krippendorff 2004); the page says so."""


@dataclass(frozen=True)
class WorkerReport:
    worker: str
    submitted: int
    surplus: int
    removed: int
    median_seconds: float | None
    agreement: float | None
    agreement_shown: str | None
    """Rounded, but never across the campaign's minimum agreement."""
    flags: tuple[Flag, ...]
    excluded: str | None
    blocked: str | None
    simulated: bool = False
    approved: int = 0
    rejected: int = 0
    undecided: int = 0
    """Answers that somebody has yet to approve or reject."""
    agreed: float | None = None
    """When they agreed to take part; None where the campaign asks for no consent."""
    known_right: int = 0
    known_asked: int = 0
    """Of the questions whose answer is known, how many they were asked and answered right, as the flags count them."""


@dataclass(frozen=True)
class Preferences:
    """How often a system was preferred to another one, to neither, or the other to it; ``share`` is that of its
    comparisons that it won, with half of the ties."""

    system: str
    won: int
    tied: int
    lost: int

    @property
    def share(self) -> float:
        return (self.won + self.tied / 2) / (self.won + self.tied + self.lost)


@dataclass(frozen=True)
class Overview:
    campaign: Campaign
    progress: dict[str, int]
    by_topic: dict[str, dict[str, int]]
    by_system: dict[str, dict[str, int]]
    workers: tuple[WorkerReport, ...]
    alpha: float | None
    seconds: list[float] = field(repr=False)
    cost: Cost
    pending: tuple[Notice, ...] = ()
    rounds: RoundsReport | None = None
    """None for a campaign that asks everything at once."""
    preferences: tuple[Preferences, ...] = ()
    """What comparisons say so far, the best system first."""
    log: tuple[LoggedDecision, ...] = field(default=(), repr=False)

    @property
    def simulated(self) -> int:
        """How many of the workers a rehearsal made up."""
        return sum(worker.simulated for worker in self.workers)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for --json and for the manager's page."""
        return {
            "campaign": self.campaign.name,
            "kind": self.campaign.kind,
            "state": self.campaign.state,
            "simulated": self.simulated,
            "progress": self.progress,
            "by_topic": self.by_topic,
            "by_system": self.by_system,
            "alpha": self.alpha,
            "alpha_shown": None if self.alpha is None else rounded_beside(self.alpha, *ALPHA_LIMITS),
            "median_seconds": median(self.seconds) if self.seconds else None,
            "cost": str(self.cost),
            "pending": [notice.as_dict() for notice in self.pending],
            "rounds": self.rounds.as_dict() if self.rounds else None,
            **({"preferences": [asdict(p) | {"share": p.share} for p in self.preferences]} if self.preferences else {}),
            "workers": [
                {**_fields(worker), "flags": [{"reason": f.reason, "detail": f.detail} for f in worker.flags]}
                for worker in self.workers
            ],
        }


def _fields(report: WorkerReport) -> dict[str, Any]:
    return {part.name: getattr(report, part.name) for part in fields(report)}


def spent(desk: CampaignDesk) -> str:
    """What the answers of all campaigns have cost, at the pay and fee each was planned with."""
    costs = {}
    for campaign in desk.campaigns.all():
        answers = desk.campaigns.answers(campaign.name)
        made_up = " (simulated: nobody was paid)" if any(answer.simulated for answer in answers) else ""
        costs[campaign.name] = f"{_cost(campaign, sum(answer.paid_for for answer in answers))}{made_up}"
    return "; ".join(f"{name}: {cost}" for name, cost in costs.items())


def _cost(campaign: Campaign, submitted: int) -> Cost:
    settings = campaign.settings
    return campaign_cost(submitted, pay=str(settings.pay), fee=str(settings.fee), currency=settings.currency)


def overview(desk: CampaignDesk, name: str, study: Study | None = None) -> Overview:
    """Everything a manager wants to see about one campaign, now; ``study`` saves loading it."""
    campaign = desk.campaigns.get(name)
    answers = desk.campaigns.answers(name)
    study = study or desk.studies.load()
    tasks = desk.campaigns.tasks(name)
    submitted = [answer for answer in answers if answer.state == "submitted"]
    kept = [answer for answer in submitted if answer.removed is None]
    counted = [answer for answer in submitted if answer.counted]
    excluded = desk.worker_decisions.exclusions()
    judgments = Judgments(j for answer in counted for j in answer.judgments())
    scored = judgments.take(~judgments.judge.is_in(excluded))  # what scores rest on, and what alpha is about
    agreement = _agreement(judgments, scored) if campaign.kind == "judge" else {}
    least = campaign.settings.min_agreement
    records = [_record(study, answer) for answer in kept]
    flags = flag_workers(
        records,
        agreement=agreement,
        twins=_twins(campaign, records),
        min_agreement=least,
        min_seconds=campaign.settings.min_seconds,
    )
    blocked = {worker.id: worker.blocked for worker in desk.workers.all() if worker.blocked}
    standings = desk.decisions.standings(name)
    return Overview(
        campaign=campaign,
        progress=desk.campaigns.progress(name),
        by_topic=_tally([(t.task.topic, t.wanted) for t in tasks], [a.task.topic for a in counted]),
        by_system=_tally(
            [(system, t.wanted) for t in tasks for system in _systems(t.task)],
            [system for a in counted for system in _systems(a.task)],
        ),
        workers=_workers(
            submitted, agreement, least, flags, excluded, blocked, standings, desk.workers.consents(name), records
        ),
        alpha=_alpha(scored) if campaign.kind in {"judge", "rate"} else None,
        seconds=[answer.seconds for answer in kept if answer.seconds is not None],
        cost=_cost(campaign, sum(answer.paid_for for answer in submitted)),
        pending=pending_notices(desk, campaign, submitted),
        rounds=report_rounds(desk, name, study),
        preferences=_preferences(scored) if campaign.kind == "compare" else (),
        log=_log(desk, submitted, standings, {"exclude": excluded, "block": blocked}),
    )


def _systems(task: Task) -> tuple[str, ...]:
    """The systems that a task is about: both, if it compares two."""
    return tuple(filter(None, (task.system, task.other))) or ("-",)


def _agreement(judgments: Judgments, scored: Judgments) -> dict[str, float | None]:
    """How far each worker agrees with those who count; an excluded one, with everybody."""
    found = {worker.judge: worker.agreement for worker in screen(judgments).workers}
    return found | {worker.judge: worker.agreement for worker in screen(scored).workers}


def _preferences(judgments: Judgments) -> tuple[Preferences, ...]:
    points: dict[str, Counter[float]] = defaultdict(Counter)
    for judgment in judgments:
        if judgment.value is not None:
            points[judgment.system][judgment.value] += 1
            points[judgment.other][1 - judgment.value] += 1
    made = (Preferences(system, seen[1.0], seen[0.5], seen[0.0]) for system, seen in points.items())
    return tuple(sorted(made, key=lambda one: (-one.share, one.system)))


def _log(
    desk: CampaignDesk,
    submitted: Sequence[StoredAnswer],
    standings: Mapping[int, Standing],
    out: Mapping[str, Mapping[str, str]],
) -> tuple[LoggedDecision, ...]:
    """Decisions about the workers of a campaign and about their answers to it."""
    workers, removed = {answer.worker for answer in submitted}, {answer.id: answer.removed for answer in submitted}
    entries = (
        entry
        for entry in desk.worker_decisions.all()
        if entry.worker in workers and (entry.assignment is None or entry.assignment in standings)
    )
    return tuple(log_rows(entries, standings, removed, out))


def _tally(wanted: list[tuple[str, int]], done: list[str]) -> dict[str, dict[str, int]]:
    total: Counter[str] = Counter()
    for key, places in wanted:
        total[key] += places
    have = Counter(done)
    return {key: {"wanted": total[key], "submitted": have[key]} for key in sorted(total)}


def _alpha(judgments: Judgments) -> float | None:
    from pyramidion.stats.alpha import Distance, alpha

    about = (judgments.topic, judgments.system, judgments.unit, judgments.aspect)
    items = group(*(column.ranks() for column in about)).of_row
    distance: Distance = "nominal" if any(judgments.unit) else "interval"
    return alpha(items, judgments.value, distance=distance).value


def _record(study: Study, work: StoredAnswer) -> WorkRecord:
    answer = work.answer
    values: tuple[float, ...] = ()
    if isinstance(answer, JudgeAnswer | RateAnswer):
        values = tuple((answer.units if isinstance(answer, JudgeAnswer) else answer.aspects).values())
    elif isinstance(answer, CompareAnswer):
        values = tuple(j.value for j in work.judgments() if j.value is not None)
    right, asked = count_right(work.gold, answer)
    references = [study.summary(work.task.topic, name, "reference") for name in work.task.references]
    return WorkRecord(
        judge=work.worker,
        task=work.task.id,
        seconds=work.seconds,
        values=values,
        gold_right=right,
        gold_asked=asked,
        pasted=answer.pasted if isinstance(answer, WriteAnswer) else (),
        source="\n".join(reference.text for reference in references if reference),
        units=frozenset(work.task.units),
        statements=work.statements,
    )


def _twins(campaign: Campaign, records: Sequence[WorkRecord]) -> dict[str, Twin]:
    """Whose answers are the same as another's. Ratings of one summary hang together, so they are one answer."""
    answers: dict[str, dict[str, Sequence[Hashable]]] = defaultdict(dict)
    for record in records:
        if not record.uniform:
            by_kind = {"write": record.statements, "judge": record.values}
            answers[record.task][record.judge] = by_kind.get(campaign.kind, (record.values,))
    return find_twin_writers(answers) if campaign.kind == "write" else find_twins(answers)


def _workers(
    submitted: list[StoredAnswer],
    agreement: dict[str, float | None],
    least: float,
    flags: tuple[Flag, ...],
    excluded: dict[str, str],
    blocked: dict[str, str],
    standings: Mapping[int, Standing],
    consents: Mapping[str, float],
    records: Sequence[WorkRecord],
) -> tuple[WorkerReport, ...]:
    decided = Counter((answer.worker, standings.get(answer.id, Standing()).decision) for answer in submitted)
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for record in records:
        right[record.judge] += record.gold_right
        asked[record.judge] += record.gold_asked
    by_worker: dict[str, list[StoredAnswer]] = defaultdict(list)
    for answer in submitted:
        by_worker[answer.worker].append(answer)
    return tuple(
        WorkerReport(
            worker=worker,
            submitted=len(answers),
            surplus=sum(answer.surplus and answer.removed is None for answer in answers),
            removed=sum(answer.removed is not None for answer in answers),
            median_seconds=median(answer.seconds for answer in answers if answer.seconds is not None),
            agreement=(share := agreement.get(worker)),
            agreement_shown=None if share is None else rounded_beside(share, least),
            flags=tuple(flag for flag in flags if flag.judge == worker),
            excluded=excluded.get(worker),
            blocked=blocked.get(worker),
            simulated=answers[0].simulated,
            approved=decided[worker, "approve"],
            rejected=decided[worker, "reject"],
            undecided=decided[worker, ""],
            agreed=consents.get(worker),
            known_right=right[worker],
            known_asked=asked[worker],
        )
        for worker, answers in sorted(by_worker.items())
    )
