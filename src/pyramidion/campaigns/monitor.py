"""How a campaign is going: progress, agreement, time, flagged workers, money. For the command line and the pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, fields
from statistics import median
from typing import Any

from pyramidion.analysis.cost import Cost, campaign_cost
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.quality import Flag, WorkRecord, flag_workers
from pyramidion.campaigns.sync import Notice, pending_notices
from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.campaigns.tasks import JudgeAnswer, RateAnswer, WriteAnswer, count_right
from pyramidion.scoring.screening import screen
from pyramidion.stats.rounding import rounded_beside
from pyramidion.study import Campaign, Judgments, Study

ALPHA_LIMITS = (0.67, 0.8)
"""From the first on agreement is tentative, from the second on reliable (Krippendorff 2004); the page says so."""


@dataclass(frozen=True)
class WorkerReport:
    worker: str
    submitted: int
    surplus: int
    removed: int
    median_seconds: float | None
    agreement: float | None
    agreement_shown: str | None
    """Rounded, but never to the other side of the campaign's least agreement."""
    flags: tuple[Flag, ...]
    excluded: str | None
    blocked: str | None


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

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for --json and for the manager's page."""
        return {
            "campaign": self.campaign.name,
            "kind": self.campaign.kind,
            "state": self.campaign.state,
            "progress": self.progress,
            "by_topic": self.by_topic,
            "by_system": self.by_system,
            "alpha": self.alpha,
            "alpha_shown": None if self.alpha is None else rounded_beside(self.alpha, *ALPHA_LIMITS),
            "median_seconds": median(self.seconds) if self.seconds else None,
            "cost": str(self.cost),
            "pending": [notice.as_dict() for notice in self.pending],
            "workers": [
                {**_fields(worker), "flags": [{"reason": f.reason, "detail": f.detail} for f in worker.flags]}
                for worker in self.workers
            ],
        }


def _fields(report: WorkerReport) -> dict[str, Any]:
    return {part.name: getattr(report, part.name) for part in fields(report)}


def spent(desk: CampaignDesk) -> str:
    """What the answers of all campaigns have cost, by the pay and the fee each was planned with."""
    costs = {}
    for campaign in desk.campaigns.all():
        answers = desk.campaigns.answers(campaign.name)
        costs[campaign.name] = _cost(campaign, sum(answer.paid_for for answer in answers))
    return "; ".join(f"{name}: {cost}" for name, cost in costs.items())


def _cost(campaign: Campaign, submitted: int) -> Cost:
    settings = campaign.settings
    return campaign_cost(submitted, pay=str(settings.pay), fee=str(settings.fee), currency=settings.currency)


def overview(desk: CampaignDesk, name: str) -> Overview:
    """Everything a manager wants to see about one campaign, now."""
    campaign = desk.campaigns.get(name)
    answers = desk.campaigns.answers(name)
    study = desk.studies.load()
    tasks = desk.campaigns.tasks(name)
    submitted = [answer for answer in answers if answer.state == "submitted"]
    kept = [answer for answer in submitted if answer.removed is None]
    counted = [answer for answer in submitted if answer.counted]
    judgments = Judgments(j for answer in counted for j in answer.judgments())
    agreement = {w.judge: w.agreement for w in screen(judgments).workers} if campaign.kind == "judge" else {}
    least = campaign.settings.min_agreement
    flags = flag_workers(
        [_record(study, answer) for answer in kept],
        agreement=agreement,
        min_agreement=least,
        min_seconds=campaign.settings.min_seconds,
    )
    blocked = {worker.id: worker.blocked for worker in desk.workers.all() if worker.blocked}
    return Overview(
        campaign=campaign,
        progress=desk.campaigns.progress(name),
        by_topic=_tally([(t.task.topic, t.wanted) for t in tasks], [a.task.topic for a in counted]),
        by_system=_tally([(t.task.system or "-", t.wanted) for t in tasks], [a.task.system or "-" for a in counted]),
        workers=_workers(submitted, agreement, least, flags, desk.worker_decisions.exclusions(), blocked),
        alpha=_alpha(judgments) if campaign.kind in {"judge", "rate"} else None,
        seconds=[answer.seconds for answer in kept if answer.seconds is not None],
        cost=_cost(campaign, sum(answer.paid_for for answer in submitted)),
        pending=pending_notices(desk, campaign, submitted),
    )


def _tally(wanted: list[tuple[str, int]], done: list[str]) -> dict[str, dict[str, int]]:
    total: Counter[str] = Counter()
    for key, places in wanted:
        total[key] += places
    have = Counter(done)
    return {key: {"wanted": total[key], "submitted": have[key]} for key in sorted(total)}


def _alpha(judgments: Judgments) -> float | None:
    from pyramidion.stats.alpha import Distance, alpha

    items = [(j.topic, j.system, j.unit, j.aspect) for j in judgments]
    numbers = {item: number for number, item in enumerate(dict.fromkeys(items))}
    distance: Distance = "nominal" if any(judgments.unit) else "interval"
    return alpha([numbers[item] for item in items], judgments.value, distance=distance).value


def _record(study: Study, work: StoredAnswer) -> WorkRecord:
    answer = work.answer
    values = (
        answer.units if isinstance(answer, JudgeAnswer) else answer.aspects if isinstance(answer, RateAnswer) else {}
    )
    right, asked = count_right(work.gold, answer)
    references = [study.summary(work.task.topic, name, "reference") for name in work.task.references]
    return WorkRecord(
        judge=work.worker,
        task=work.task.id,
        seconds=work.seconds,
        values=tuple(values.values()),
        gold_right=right,
        gold_asked=asked,
        pasted=answer.pasted if isinstance(answer, WriteAnswer) else (),
        source="\n".join(reference.text for reference in references if reference),
    )


def _workers(
    submitted: list[StoredAnswer],
    agreement: dict[str, float | None],
    least: float,
    flags: tuple[Flag, ...],
    excluded: dict[str, str],
    blocked: dict[str, str],
) -> tuple[WorkerReport, ...]:
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
        )
        for worker, answers in sorted(by_worker.items())
    )
