"""Keep decisions here and on the platform that a campaign's workers come from the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import quote

from pyramidion.campaigns.decisions import Effect, Standing, Telling
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.payments import Payment, PaymentConflictError
from pyramidion.campaigns.platforms import Arrival, Outcome, Platform, PlatformError, Submission
from pyramidion.campaigns.platforms.connect import Connect, Parameters
from pyramidion.campaigns.platforms.local import Local
from pyramidion.campaigns.platforms.prolific import Client, Prolific, SignedEntry, WebhookEvent
from pyramidion.campaigns.platforms.simulated import Simulated
from pyramidion.campaigns.tables import StoredAnswer
from pyramidion.campaigns.workers import Entry
from pyramidion.errors import UnknownError, UsageError
from pyramidion.study import Campaign

# ----------------------------------------------------------------------
# One notice for all answers of a session, since a platform approves or rejects it as a whole.
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
    """What the platform should be told about one session of a worker: approve, reject, or nothing yet; ``problem`` says
    why not."""

    worker: str
    entry: int | None
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
    """A notice for each session in which something was submitted. Withdrawn answers need none."""
    sessions: dict[tuple[str, int | None], list[int]] = {}
    for answer in answers:
        if answer.state == "submitted" and answer.removed != "withdrawn":
            sessions.setdefault((answer.worker, answer.entry), []).append(answer.id)
    return [
        _notice(worker, entry, {id: standings.get(id, Standing()) for id in ids})
        for (worker, entry), ids in sorted(sessions.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    ]


def _notice(worker: str, entry: int | None, answers: Mapping[int, Standing]) -> Notice:
    decisions = {standing.decision for standing in answers.values()}
    ids = tuple(answers)
    if decisions != {"approve"} and decisions != {"reject"}:
        return Notice(worker, entry, "", ids, "", SOME_REJECTED if "" not in decisions else "")
    [decision] = decisions
    told = all(standing.told == decision for standing in answers.values())
    problem = next((standing.problem for standing in answers.values() if standing.problem), "")
    return Notice(worker, entry, decision, ids, list(answers.values())[-1].reason, problem, told and not problem)


def pending_notices(desk: CampaignDesk, campaign: Campaign, answers: Iterable[StoredAnswer]) -> tuple[Notice, ...]:
    """What the platform of a campaign has yet to be told, or did not accept."""
    if campaign.settings.platform not in PAYING:
        return ()
    notices = make_notices(answers, desk.decisions.standings(campaign.name))
    return tuple(notice for notice in notices if notice.pending)


TELL: dict[str, Telling] = {"approve": "tell-approve", "reject": "tell-reject"}
NAMES = ("local", "prolific", "connect", "simulated")
MOST_APPROVALS = 100
"""Approvals in one request."""


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


# -- what happened on the platform ---------------------------------------------------------------------------


def follow(desk: CampaignDesk, campaign: str, platform: str, submissions: Iterable[Submission]) -> Report:
    """Take over what happened on a platform: who withdrew, timed out, was approved or rejected there."""
    report = Report()
    for entry, submission in _by_entry(desk, campaign, platform, submissions):
        _follow(desk, entry, submission.outcome, report)
    return report


def _by_entry(
    desk: CampaignDesk, campaign: str, platform: str, submissions: Iterable[Submission]
) -> list[tuple[Entry, Submission]]:
    """The submissions of those who have come here, each with the entry that it is about."""
    pairs = ((desk.workers.entry_of(platform, submission, campaign), submission) for submission in submissions)
    return [(entry, submission) for entry, submission in pairs if entry is not None]


def _follow(desk: CampaignDesk, entry: Entry, outcome: Outcome | None, report: Report) -> None:
    campaign, platform = entry.campaign, entry.platform
    mine = [answer for answer in desk.campaigns.answers(campaign) if answer.entry == entry.id]
    standings = desk.decisions.standings(campaign)
    submitted = [answer.id for answer in mine if answer.state == "submitted"]
    by_platform: dict[str, Any] = {"actor": platform, "by_platform": True}
    if outcome == "withdraw":
        held = sum(answer.state == "leased" for answer in mine)
        ids = [answer.id for answer in mine]
        effects = desk.decisions.decide(campaign, ids, "withdraw", **by_platform, reason=f"returned on {platform}")
        _note(report, entry.worker, "withdrew", effects, held)
    elif outcome == "leave":
        report.freed += desk.assignments.release_entry(entry.id)
    elif outcome in {"approve", "reject"}:
        held = desk.assignments.release_entry(entry.id) if outcome == "reject" else 0
        reason = f"{outcome.removesuffix('e')}ed on {platform}"
        effects = desk.decisions.decide(campaign, submitted, outcome, **by_platform, reason=reason)
        untold = [id for id in submitted if _untold(standings.get(id), outcome)]
        desk.decisions.tell(untold, TELL[outcome], actor=platform, reason=reason)
        _note(report, entry.worker, reason, effects, held)
    elif unheard := [id for id in submitted if id in standings and standings[id].told]:
        desk.decisions.tell(unheard, "tell-failed", actor=platform, reason=f"not decided yet on {platform}")


def _untold(standing: Standing | None, outcome: str) -> bool:
    return standing is None or standing.told != outcome or bool(standing.problem)


def _note(report: Report, worker: str, what: str, effects: Sequence[Effect], held: int) -> None:
    changed = sum(effect.changed for effect in effects)
    report.freed += held + sum(effect.counted_before and not effect.counted for effect in effects)
    if changed:
        report.done.append(f"{worker} {what}: {changed} answers")


def follow_message(desk: CampaignDesk, platform: str, event: WebhookEvent) -> Report:
    """Apply what a platform says about one submission, once: messages are delivered more than once.

    The message is marked as received in the transaction that applies it, so that a crash loses neither.
    """
    report, submission = Report(), event.submission
    if submission is None:
        return report
    with desk.database.together():
        if not desk.workers.receive(platform, event):
            return report
        for campaign in desk.campaigns.all():
            settings = campaign.settings
            if settings.platform != platform or (event.study and settings.platform_study != event.study):
                continue
            entry = desk.workers.entry_of(platform, submission, campaign.name)
            if entry is not None:
                _follow(desk, entry, submission.outcome, report)
    return report


# -- what the platform is told -------------------------------------------------------------------------------


class Intent(NamedTuple):
    """One thing that paying would do: to which session, of whom, in which study."""

    what: str
    worker: str
    session: str
    study: str
    answers: int = 0
    amount: str = ""


def list_intents(desk: CampaignDesk, campaign: str) -> list[Intent]:
    """What `pay_decisions` would tell the platform, as far as is known here. Nobody is asked and nothing is sent."""
    entries = {entry.id: entry for entry in desk.workers.entries(campaign)}
    name = desk.campaigns.get(campaign).settings.platform
    intents = []
    for notice in make_notices(desk.campaigns.answers(campaign), desk.decisions.standings(campaign)):
        entry = entries.get(notice.entry or 0)
        if entry and entry.platform == name and notice.decision and notice.pending:
            about = (entry.worker, entry.session, entry.study)
            intents.append(Intent(notice.decision, *about, answers=len(notice.answers)))
    for id, amount in desk.payments.owed(campaign).items():
        entry = entries[id]
        intents.append(Intent("bonus", entry.worker, entry.session, entry.study, amount=str(amount)))
    return intents


def pay_decisions(desk: CampaignDesk, campaign: str, platform: Platform) -> Report:
    """Follow the platform, then carry approvals, rejections and bonuses over to it, each to the session it is about.

    What is told is logged before, and a failure afterwards: a decision that did not arrive stays pending, and the
    others are still carried over. A bonus is written down before it is sent, so running this again, also after a crash,
    pays nothing twice.
    """
    known = _by_entry(desk, campaign, platform.name, platform.submissions())
    report = follow(desk, campaign, platform.name, [submission for _, submission in known])
    entries = {entry.id: entry for entry in desk.workers.entries(campaign) if entry.platform == platform.name}
    outcomes = {entry.id: submission.outcome for entry, submission in known}
    approvals = []
    for notice in make_notices(desk.campaigns.answers(campaign), desk.decisions.standings(campaign)):
        entry = entries.get(notice.entry or 0)
        if entry is None:
            continue
        if notice.problem and not notice.decision:
            report.failed.append(f"{notice.worker}: {notice.problem}")
        if not notice.decision:
            continue
        if entry.id not in outcomes:
            report.failed.append(f"{notice.worker}: {platform.name} has no submission of theirs to this study")
        elif outcomes[entry.id] != notice.decision:
            if notice.decision == "approve":
                approvals.append((notice, entry.session))
            else:
                _tell(desk, platform, notice, entry.session, report)
    _approve(desk, platform, approvals, report)
    _settle_open(desk, campaign, platform, report)
    for id in desk.payments.owed(campaign):
        if id in outcomes:
            _pay_bonus(desk, campaign, platform, entries[id], report)
        else:
            worker = next(e.worker for e in desk.workers.entries(campaign) if e.id == id)
            report.failed.append(f"{worker}: a bonus is pending: {platform.name} has no submission of theirs")
    return report


def _approve(desk: CampaignDesk, platform: Platform, approvals: Sequence[tuple[Notice, str]], report: Report) -> None:
    """All together, since approving twice pays once; if that fails, one by one, to learn which are refused."""
    for first in range(0, len(approvals), MOST_APPROVALS):
        some = approvals[first : first + MOST_APPROVALS]
        try:
            if len(some) > 1:
                for notice, _ in some:
                    desk.decisions.tell(notice.answers, "tell-approve", actor=platform.name, reason=notice.reason)
                platform.approve([session for _, session in some])
                report.done += [f"approved {notice.worker}" for notice, _ in some]
                continue
        except PlatformError:
            pass
        for notice, session in some:
            _tell(desk, platform, notice, session, report)


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
        outcome: Telling = "tell-unknown" if error.unknown else "tell-failed"
        desk.decisions.tell(notice.answers, outcome, actor=platform.name, reason=str(error))
        report.failed.append(f"{notice.worker}: {decision} is pending: {error}")
    else:
        report.done.append(f"{decision.removesuffix('e')}ed {notice.worker}")


def _pay_bonus(desk: CampaignDesk, campaign: str, platform: Platform, entry: Entry, report: Report) -> None:
    """Intent, preparation, payment, and a look at the result: each is written down before the next begins."""
    payment, amount = 0, Decimal(0)
    try:
        paid_before = platform.bonuses_paid(entry.session)
        payment, amount = desk.payments.intend(campaign, entry.id, paid_before)
        reference = platform.prepare_bonus(entry.session, amount)
        desk.payments.move(payment, "intended", "sending", reference=reference)
    except (PlatformError, PaymentConflictError) as error:
        if payment and isinstance(error, PlatformError):
            desk.payments.move(payment, "intended", "failed", str(error))
        report.failed.append(f"{entry.worker}: a bonus is pending: {error}")
        return
    try:
        platform.pay_bonus(reference)
    except PlatformError as error:
        if error.unknown:
            report.failed.append(f"{entry.worker}: a bonus of {amount} may or may not have been paid: {error}")
        else:
            desk.payments.move(payment, "sending", "failed", str(error))
            report.failed.append(f"{entry.worker}: a bonus of {amount} is pending: {error}")
        return
    desk.payments.move(payment, "sending", "sent", "accepted by the platform")
    report.done.append(f"paid {entry.worker} a bonus of {amount}")


def request_returns(desk: CampaignDesk, campaign: str, worker: str, reason: str, platform: Platform) -> list[str]:
    """Ask a worker to return what they submitted to a campaign; returns the sessions this was about."""
    submitted = {answer.entry for answer in desk.campaigns.answers(campaign) if answer.state == "submitted"}
    entries = [entry for entry in desk.workers.entries(campaign) if entry.worker == worker and entry.id in submitted]
    if not entries:
        raise UnknownError(f"worker {worker} has submitted nothing to campaign {campaign}")
    for entry in entries:
        platform.request_return(entry.session, [reason])
    desk.worker_decisions.add("request-return", worker=worker, actor=platform.name, reason=reason, campaign=campaign)
    return [entry.session for entry in entries]


def _settle_open(desk: CampaignDesk, campaign: str, platform: Platform, report: Report) -> None:
    """Look up payments of earlier runs. What the platform shows is paid; what was never sent is owed again; of what may
    have been sent, a person has to decide."""
    for payment in desk.payments.all(campaign):
        if not payment.open:
            continue
        if payment.state == "intended":
            desk.payments.move(payment.id, "intended", "failed", "never sent")
            continue
        try:
            paid = platform.bonuses_paid(payment.session)
        except PlatformError as error:
            report.failed.append(f"{payment.worker}: payment {payment.id} could not be looked up: {error}")
            continue
        later = sum((p.amount for p in desk.payments.all(campaign) if _is_settled_after(p, payment)), Decimal(0))
        if paid is not None and paid - later >= payment.paid_before + payment.amount:
            desk.payments.move(payment.id, payment.state, "paid", f"{platform.name} shows {paid} for this session")
        elif payment.state == "sending":
            report.failed.append(
                f"{payment.worker}: payment {payment.id} of {payment.amount} may or may not have arrived: look at "
                f"{platform.name}, then run `campaign settle` with --paid or --unpaid"
            )


def _is_settled_after(other: Payment, payment: Payment) -> bool:
    return other.entry == payment.entry and other.id > payment.id and other.state in {"sent", "paid"}


def confirm_arrival(platform: Platform, arrival: Arrival) -> None:
    """Ask the platform, if it can be asked, whether the ids in a link are real."""
    if isinstance(platform, Prolific) and platform.can_confirm:
        platform.confirm(arrival)
