"""Keep decisions here and on the platform that a campaign's workers come from the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import quote

from pyramidion.campaigns.decisions import Effect, Standing, Telling
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import Arrival, Outcome, Platform, PlatformError, Submission
from pyramidion.campaigns.platforms.connect import Connect, Parameters
from pyramidion.campaigns.platforms.local import Local
from pyramidion.campaigns.platforms.prolific import Client, Prolific, SignedEntry
from pyramidion.campaigns.platforms.simulated import Simulated
from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.errors import UsageError
from pyramidion.study import Campaign

# ----------------------------------------------------------------------
# One notice for all answers of a worker, since a platform approves or rejects a session as a whole.
#
# A session is rejected only where every answer in it is rejected, so that none is in scores, and approved only where
# none is. For anything in between the platform is not told until a manager has decided: reject the others too, or
# re-open the rejected ones, which are then paid but still in no score.

PAYING = frozenset({"prolific", "simulated"})
"""Platforms that take decisions; with the others, people are paid by whoever invited them."""
SOME_REJECTED = (
    "some answers are rejected and others approved, but the platform takes one decision for all: reject the others "
    "too, or restore and re-open the rejected ones"
)


class Notice(NamedTuple):
    """What the platform should be told about a worker: approve, reject, or nothing yet; ``problem`` says why not."""

    worker: str
    decision: str
    answers: tuple[int, ...]
    reason: str
    problem: str = ""
    told: bool = False

    @property
    def pending(self) -> bool:
        """Whether the platform has yet to be told, or did not accept it."""
        return bool((self.decision and not self.told) or self.problem)

    def as_dict(self) -> dict[str, Any]:
        return {
            "worker": self.worker,
            "decision": self.decision,
            "answers": len(self.answers),
            "problem": self.problem,
        }


def make_notices(answers: Iterable[StoredAnswer], standings: Mapping[int, Standing]) -> list[Notice]:
    """A notice for each worker who submitted something. Withdrawn answers need none."""
    by_worker: dict[str, list[int]] = {}
    for answer in answers:
        if answer.state == "submitted" and answer.removed != "withdrawn":
            by_worker.setdefault(answer.worker, []).append(answer.id)
    return [
        _notice(worker, {id: standings.get(id, Standing()) for id in ids}) for worker, ids in sorted(by_worker.items())
    ]


def _notice(worker: str, answers: Mapping[int, Standing]) -> Notice:
    decisions = {standing.decision for standing in answers.values()}
    ids = tuple(answers)
    if decisions != {"approve"} and decisions != {"reject"}:
        return Notice(worker, "", ids, "", SOME_REJECTED if "" not in decisions else "")
    [decision] = decisions
    told = all(standing.told == decision for standing in answers.values())
    problem = next((standing.problem for standing in answers.values() if standing.problem), "")
    return Notice(worker, decision, ids, list(answers.values())[-1].reason, problem, told and not problem)


def pending_notices(desk: CampaignDesk, campaign: Campaign, answers: Iterable[StoredAnswer]) -> tuple[Notice, ...]:
    """What the platform of a campaign has yet to be told, or did not accept."""
    if campaign.settings.platform not in PAYING:
        return ()
    notices = make_notices(answers, desk.decisions.standings(campaign.name))
    return tuple(notice for notice in notices if notice.pending)


TELL: dict[str, Telling] = {"approve": "tell-approve", "reject": "tell-reject"}
NAMES = ("local", "prolific", "connect", "simulated")


def platform_of(campaign: Campaign, secret: bytes, api_token: str = "", base_url: str = "") -> Platform:
    """The platform a campaign is set up for. ``api_token`` is needed only to pay people there, and ``base_url``, where
    people reach this server, only to let them in by signed links."""
    settings = campaign.settings
    if settings.platform != "prolific" and (settings.signed_entry or settings.early_code):
        name = "signed_entry" if settings.signed_entry else "early_code"
        raise UsageError(f"the setting {name} is for the platform prolific, not for {settings.platform}")
    if settings.platform == "local":
        return Local(secret, campaign.name, settings.completion_url)
    if settings.platform == "prolific":
        client = Client(api_token) if api_token else None
        address = f"{base_url}/enter/{quote(campaign.name)}" if base_url else ""
        return Prolific(
            settings.platform_study,
            settings.completion_code,
            client,
            early_code=settings.early_code,
            signed=SignedEntry(address) if settings.signed_entry else None,
        )
    if settings.platform == "connect":
        names = [name.strip() for name in settings.entry_parameters.split(",")]
        if len(names) != 3:
            raise UsageError(f"entry_parameters must name three parameters, not {settings.entry_parameters!r}")
        return Connect(settings.platform_study, settings.completion_url, Parameters(*names))
    if settings.platform == "simulated":
        return Simulated(campaign.name, settings.completion_url)
    raise UsageError(f"unknown platform {settings.platform!r}; known values are: {', '.join(NAMES)}")


@dataclass
class Report:
    """What was done, what failed with the reason, and how many places are free again."""

    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    freed: int = 0


def follow(desk: CampaignDesk, campaign: str, platform: str, submissions: Iterable[Submission]) -> Report:
    """Take over what happened on a platform: who withdrew, timed out, was approved or rejected there."""
    report = Report()
    for worker, submission in _by_worker(desk, platform, submissions).items():
        _follow(desk, campaign, platform, worker, submission.outcome, report)
    return report


def _by_worker(desk: CampaignDesk, platform: str, submissions: Iterable[Submission]) -> dict[str, Submission]:
    """The submission of each worker who has come here; of several, the one they came with last."""
    newest: dict[str, Submission] = {}
    for submission in submissions:
        worker = desk.workers.of_person(platform, submission.person)
        identity = desk.workers.identity(worker) if worker else None
        if worker and not (worker in newest and identity and newest[worker].session == identity.session):
            newest[worker] = submission
    return newest


def _follow(
    desk: CampaignDesk, campaign: str, platform: str, worker: str, outcome: Outcome | None, report: Report
) -> None:
    mine = [answer for answer in desk.campaigns.answers(campaign) if answer.worker == worker]
    standings = desk.decisions.standings(campaign)
    submitted = [answer.id for answer in mine if answer.state == "submitted"]
    by_platform: dict[str, Any] = {"actor": platform, "by_platform": True}
    if outcome == "withdraw":
        held = sum(answer.state == "leased" for answer in mine)
        ids = [answer.id for answer in mine]
        effects = desk.decisions.decide(campaign, ids, "withdraw", **by_platform, reason=f"returned on {platform}")
        _note(report, worker, "withdrew", effects, held)
    elif outcome == "leave":
        report.freed += desk.assignments.release_worker(worker, campaign)
    elif outcome in {"approve", "reject"}:
        held = desk.assignments.release_worker(worker, campaign) if outcome == "reject" else 0
        reason = f"{outcome.removesuffix('e')}ed on {platform}"
        effects = desk.decisions.decide(campaign, submitted, outcome, **by_platform, reason=reason)
        untold = [id for id in submitted if _untold(standings.get(id), outcome)]
        desk.decisions.tell(untold, TELL[outcome], actor=platform, reason=reason)
        _note(report, worker, reason, effects, held)
    elif unheard := [id for id in submitted if id in standings and standings[id].told]:
        desk.decisions.tell(unheard, "tell-failed", actor=platform, reason=f"not decided yet on {platform}")


def _untold(standing: Standing | None, outcome: str) -> bool:
    return standing is None or standing.told != outcome or bool(standing.problem)


def _note(report: Report, worker: str, what: str, effects: Sequence[Effect], held: int) -> None:
    changed = sum(effect.changed for effect in effects)
    report.freed += held + sum(effect.counted_before and not effect.counted for effect in effects)
    if changed:
        report.done.append(f"{worker} {what}: {changed} answers")


def pay_decisions(desk: CampaignDesk, campaign: str, platform: Platform) -> Report:
    """Follow the platform, then carry approvals, rejections and bonuses over to it.

    What is told is logged before, and a failure afterwards: a decision that did not arrive stays pending, and the
    others are still carried over. A worker is owed the bonuses decided less those paid, so running this again pays
    nothing twice.
    """
    known = _by_worker(desk, platform.name, platform.submissions())
    report = follow(desk, campaign, platform.name, known.values())
    for notice in make_notices(desk.campaigns.answers(campaign), desk.decisions.standings(campaign)):
        identity = desk.workers.identity(notice.worker)
        if identity is None or identity.platform != platform.name:
            continue
        if notice.problem and not notice.decision:
            report.failed.append(f"{notice.worker}: {notice.problem}")
        if not notice.decision:
            continue
        if notice.worker not in known:
            report.failed.append(f"{notice.worker}: {platform.name} has no submission of theirs to this study")
            continue
        if known[notice.worker].outcome != notice.decision:
            _tell(desk, platform, notice, known[notice.worker].session, report)
        _pay_bonus(desk, platform, notice.worker, known[notice.worker].session, report)
    return report


def _tell(desk: CampaignDesk, platform: Platform, notice: Notice, session: str, report: Report) -> None:
    """Log first what the platform is told, so that nobody decides otherwise while it may know already."""
    decision = notice.decision
    desk.decisions.tell(notice.answers, TELL[decision], actor=platform.name, reason=notice.reason)
    try:
        if decision == "reject":
            platform.reject(session, notice.reason)
        else:
            platform.approve([session])
    except PlatformError as error:
        refused = error.status is not None and error.status < 500
        outcome: Telling = "tell-failed" if refused else "tell-unknown"
        desk.decisions.tell(notice.answers, outcome, actor=platform.name, reason=str(error))
        report.failed.append(f"{notice.worker}: {decision} is pending: {error}")
    else:
        report.done.append(f"{decision.removesuffix('e')}ed {notice.worker}")


def _pay_bonus(desk: CampaignDesk, platform: Platform, worker: str, session: str, report: Report) -> None:
    owed = _bonus_owed(desk, worker)
    if owed <= 0:
        return
    try:
        platform.pay_bonus(platform.prepare_bonus(session, owed))
    except PlatformError as error:
        report.failed.append(f"{worker}: a bonus of {owed} is pending: {error}")
        return
    desk.worker_decisions.add("paid", actor=platform.name, reason="bonus", worker=worker, amount=float(owed))
    report.done.append(f"paid {worker} a bonus of {owed}")


def _bonus_owed(desk: CampaignDesk, worker: str) -> Decimal:
    amounts = {"bonus": Decimal(0), "paid": Decimal(0)}
    for entry in desk.worker_decisions.all():
        if entry.worker == worker and entry.action in amounts and entry.amount:
            amounts[entry.action] += Decimal(str(entry.amount))
    return amounts["bonus"] - amounts["paid"]


def confirm_arrival(platform: Platform, arrival: Arrival) -> None:
    """Ask the platform, if it can be asked, whether the ids in a link are real."""
    if isinstance(platform, Prolific) and platform.can_confirm:
        platform.confirm(arrival)


def follow_message(desk: CampaignDesk, platform: str, submission: Submission, study: str) -> Report:
    """Apply what a platform says about one submission, in the campaign of its study. A message without a study is
    applied if only one campaign is possible; otherwise `follow` will apply it."""
    worker = desk.workers.of_person(platform, submission.person) or desk.workers.of_session(submission.session)
    if worker is None:
        return Report()
    campaigns = [one for one in desk.campaigns.all() if one.settings.platform == platform]
    meant = [one.name for one in campaigns if one.settings.platform_study == study]
    if not study:
        worked = {answer.campaign for answer in desk.campaigns.answers() if answer.worker == worker}
        meant = [one.name for one in campaigns if one.name in worked]
        meant = meant if len(meant) == 1 else []
    report = Report()
    for campaign in meant:
        _follow(desk, campaign, platform, worker, submission.outcome, report)
    return report
