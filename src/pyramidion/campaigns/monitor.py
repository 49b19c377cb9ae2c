"""How a campaign is going: progress, agreement, time, flagged workers, money. For the command line and the pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pyramidion.analysis.cost import Cost, campaign_cost
from pyramidion.campaigns.desk import Desk, judgments_of
from pyramidion.campaigns.plan import ATTENTION
from pyramidion.campaigns.quality import Flag, WorkRecord, flag_workers
from pyramidion.campaigns.records import StoredAnswer
from pyramidion.campaigns.reviewing import Pending, pending_decisions
from pyramidion.scoring.screening import screen
from pyramidion.stats.rounding import rounded_beside
from pyramidion.study import Campaign, Judgments, Study

GOLD_TOLERANCE = 2
"""A rating counts as right if it is at most this far from the experts' mean."""

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
    pending: tuple[Pending, ...] = ()

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
            "pending": [one._asdict() for one in self.pending],
            "workers": [
                {
                    "worker": w.worker,
                    "submitted": w.submitted,
                    "surplus": w.surplus,
                    "removed": w.removed,
                    "median_seconds": w.median_seconds,
                    "agreement": w.agreement,
                    "agreement_shown": w.agreement_shown,
                    "flags": [{"reason": f.reason, "detail": f.detail} for f in w.flags],
                    "excluded": w.excluded,
                    "blocked": w.blocked,
                }
                for w in self.workers
            ],
        }


def spent(desk: Desk) -> str:
    """What the answers of all campaigns have cost, by the pay and the fee each was planned with."""
    costs = {}
    for campaign in desk.campaigns.all():
        answers = desk.campaigns.answers(campaign.name)
        costs[campaign.name] = _cost(campaign, sum(answer.paid_for for answer in answers))
    return "; ".join(f"{name}: {cost}" for name, cost in costs.items())


def _cost(campaign: Campaign, submitted: int) -> Cost:
    settings = campaign.settings
    return campaign_cost(submitted, pay=str(settings.pay), fee=str(settings.fee), currency=settings.currency)


def overview(desk: Desk, name: str) -> Overview:
    """Everything a manager wants to see about one campaign, now."""
    campaign = desk.campaigns.get(name)
    answers = desk.campaigns.answers(name)
    study = desk.studies.load()
    tasks = desk.campaigns.tasks(name)
    submitted = [answer for answer in answers if answer.state == "submitted"]
    standing = [answer for answer in submitted if answer.removed is None]
    counted = [answer for answer in submitted if answer.counted]
    judgments = Judgments(j for answer in counted for j in judgments_of(answer))
    agreement = {w.judge: w.agreement for w in screen(judgments).workers} if campaign.kind == "judge" else {}
    least = campaign.settings.min_agreement
    flags = flag_workers(
        [_record(study, answer) for answer in standing],
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
        workers=_workers(submitted, agreement, least, flags, desk.reviews.excluded(), blocked),
        alpha=_alpha(judgments) if campaign.kind in {"judge", "rate"} else None,
        seconds=[answer.seconds for answer in standing if answer.seconds is not None],
        cost=_cost(campaign, sum(answer.paid_for for answer in submitted)),
        pending=pending_decisions(desk, campaign, submitted),
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


def _record(study: Study, answer: StoredAnswer) -> WorkRecord:
    given = answer.answer or {}
    values = [*given.get("units", {}).values(), *given.get("aspects", {}).values()]
    right, asked = _gold(answer)
    references = [study.summary(answer.task.topic, name, "reference") for name in answer.task.references]
    return WorkRecord(
        judge=answer.worker,
        task=answer.task.id,
        seconds=answer.seconds,
        values=tuple(values),
        gold_right=right,
        gold_asked=asked,
        pasted=tuple(given.get("pasted", ())),
        source="\n".join(r.text for r in references if r),
    )


def _gold(answer: StoredAnswer) -> tuple[int, int]:
    """How many known answers were asked, and how many were given right."""
    if not answer.gold:
        return 0, 0
    given = answer.answer or {}
    if "value" in answer.gold:
        return int(given.get("units", {}).get(ATTENTION) == answer.gold["value"]), 1
    expected: dict[str, float] = answer.gold.get("aspects", {})
    rated = given.get("aspects", {})
    near = [abs(rated[aspect] - value) <= GOLD_TOLERANCE for aspect, value in expected.items() if aspect in rated]
    return sum(near), len(near)


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
