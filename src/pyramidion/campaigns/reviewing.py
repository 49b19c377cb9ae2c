"""Which platform a campaign's workers come from, and what is done there on a manager's decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from pyramidion.campaigns.decisions import Decided, Standing, Telling
from pyramidion.campaigns.desk import Desk
from pyramidion.campaigns.platforms import Arrival, Outcome, Platform, PlatformError, Submission
from pyramidion.campaigns.platforms.connect import Connect, Parameters
from pyramidion.campaigns.platforms.local import Local
from pyramidion.campaigns.platforms.prolific import Prolific
from pyramidion.campaigns.platforms.prolific_api import Client
from pyramidion.campaigns.platforms.simulated import Simulated
from pyramidion.campaigns.records import StoredAnswer
from pyramidion.errors import UsageError
from pyramidion.study import Campaign

# ----------------------------------------------------------------------
# One word for all answers of a worker: a platform approves or rejects a session as a whole.
#
# A session is rejected only where every answer in it is rejected, so that none is in scores, and approved only where
# none is. Anything between is told to nobody until a manager has decided: reject the others too, or re-open the
# rejected ones, which are then paid but still in no score.

PAYING = frozenset({"prolific", "simulated"})
"""Platforms that take decisions; with the others, whoever invited people pays them."""
SOME_REJECTED = (
    "some answers are rejected and others approved, but the platform takes one decision for all: reject the others "
    "too, or restore and re-open the rejected ones"
)


class Verdict(NamedTuple):
    """What the platform should be told about a worker: approve or reject, or empty with the reason why nothing yet."""

    worker: str
    decision: str
    answers: tuple[int, ...]
    reason: str
    problem: str = ""
    told: bool = False


class Pending(NamedTuple):
    """A decision that holds here and of which the platform does not know."""

    worker: str
    decision: str
    answers: int
    problem: str


def verdicts(answers: Iterable[StoredAnswer], standings: dict[int, Standing]) -> list[Verdict]:
    """A verdict for each worker all of whose answers are decided. Withdrawn answers need none."""
    by_worker: dict[str, list[int]] = {}
    for answer in answers:
        if answer.state == "submitted" and answer.removed != "withdrawn":
            by_worker.setdefault(answer.worker, []).append(answer.id)
    return [
        _verdict(worker, {id: standings.get(id, Standing()) for id in ids}) for worker, ids in sorted(by_worker.items())
    ]


def _verdict(worker: str, answers: dict[int, Standing]) -> Verdict:
    words = {standing.decision for standing in answers.values()}
    ids = tuple(answers)
    if words != {"approve"} and words != {"reject"}:
        return Verdict(worker, "", ids, "", SOME_REJECTED if "" not in words else "")
    [word] = words
    told = all(standing.told == word for standing in answers.values())
    problem = next((standing.problem for standing in answers.values() if standing.problem), "")
    return Verdict(worker, word, ids, list(answers.values())[-1].reason, problem, told and not problem)


def pending_decisions(desk: Desk, campaign: Campaign, answers: Iterable[StoredAnswer]) -> tuple[Pending, ...]:
    """What the platform of a campaign has yet to be told, or has refused to hear."""
    if campaign.settings.platform not in PAYING:
        return ()
    found = verdicts(answers, desk.decisions.standings(campaign.name))
    return tuple(
        Pending(one.worker, one.decision, len(one.answers), one.problem)
        for one in found
        if (one.decision and not one.told) or one.problem
    )


TELL: dict[str, Telling] = {"approve": "tell-approve", "reject": "tell-reject"}
NAMES = ("local", "prolific", "connect", "simulated")


def platform_of(campaign: Campaign, secret: bytes, api_token: str = "") -> Platform:
    """The platform a campaign is set up for. ``api_token`` is needed only to pay people there."""
    settings = campaign.settings
    if settings.platform == "local":
        return Local(secret, campaign.name, settings.completion_url)
    if settings.platform == "prolific":
        client = Client(api_token) if api_token else None
        return Prolific(settings.platform_study, settings.completion_code, client)
    if settings.platform == "connect":
        names = [name.strip() for name in settings.entry_parameters.split(",")]
        if len(names) != 3:
            raise UsageError(f"entry_parameters names three parameters, not {settings.entry_parameters!r}")
        return Connect(settings.platform_study, settings.completion_url, Parameters(*names))
    if settings.platform == "simulated":
        return Simulated(campaign.name, settings.completion_url)
    raise UsageError(f"platform {settings.platform!r} is unknown; there are: {', '.join(NAMES)}")


@dataclass
class Report:
    """What was done, in words; what could not be, each with its reason; and how many places are free again."""

    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    freed: int = 0


def follow(desk: Desk, campaign: str, platform: str, submissions: Iterable[Submission]) -> Report:
    """Take over what a platform says: who withdrew, timed out, was approved or rejected there. Its word holds here."""
    report = Report()
    for worker, submission in _of_workers(desk, platform, submissions).items():
        _follow(desk, campaign, platform, worker, submission.outcome, report)
    return report


def _of_workers(desk: Desk, platform: str, submissions: Iterable[Submission]) -> dict[str, Submission]:
    """The submission of each worker who has come here; of several, the one they came with last."""
    found: dict[str, Submission] = {}
    for submission in submissions:
        worker = desk.workers.of_person(platform, submission.person)
        identity = desk.workers.identity(worker) if worker else None
        if worker and not (worker in found and identity and found[worker].session == identity.session):
            found[worker] = submission
    return found


def _follow(desk: Desk, campaign: str, platform: str, worker: str, outcome: Outcome | None, report: Report) -> None:
    mine = [answer for answer in desk.campaigns.answers(campaign) if answer.worker == worker]
    standings = desk.decisions.standings(campaign)
    submitted = [answer.id for answer in mine if answer.state == "submitted"]
    by_platform: dict[str, Any] = {"actor": platform, "by_platform": True}
    if outcome == "withdraw":
        held = sum(answer.state == "leased" for answer in mine)
        ids = [answer.id for answer in mine]
        done = desk.decisions.decide(campaign, ids, "withdraw", **by_platform, reason=f"returned on {platform}")
        _count(report, worker, "withdrew", done, held)
    elif outcome == "leave":
        report.freed += desk.assignments.release_worker(worker, campaign)
    elif outcome in {"approve", "reject"}:
        held = desk.assignments.release_worker(worker, campaign) if outcome == "reject" else 0
        reason = f"{outcome.removesuffix('e')}ed on {platform}"
        done = desk.decisions.decide(campaign, submitted, outcome, **by_platform, reason=reason)
        untold = [id for id in submitted if _untold(standings.get(id), outcome)]
        desk.decisions.tell(untold, TELL[outcome], actor=platform, reason=reason)
        _count(report, worker, reason, done, held)
    elif unheard := [id for id in submitted if id in standings and standings[id].told]:
        desk.decisions.tell(unheard, "tell-failed", actor=platform, reason=f"{platform} has not decided yet")


def _untold(standing: Standing | None, outcome: str) -> bool:
    return standing is None or standing.told != outcome or bool(standing.problem)


def _count(report: Report, worker: str, what: str, done: Sequence[Decided], held: int) -> None:
    changed = sum(one.changed for one in done)
    report.freed += held + sum(one.counted_before and not one.counted for one in done)
    if changed:
        report.done.append(f"{worker} {what}: {changed} answers")


def pay_decisions(desk: Desk, campaign: str, platform: Platform) -> Report:
    """Follow the platform, then carry approvals, rejections and bonuses over to it.

    What is told is noted before, and that it failed afterwards: a decision that did not arrive stays pending, and the
    others are still carried over. What is owed to a worker is the bonuses decided less those paid, so doing it again
    pays nothing twice.
    """
    known = _of_workers(desk, platform.name, platform.submissions())
    report = follow(desk, campaign, platform.name, known.values())
    for verdict in verdicts(desk.campaigns.answers(campaign), desk.decisions.standings(campaign)):
        identity = desk.workers.identity(verdict.worker)
        if identity is None or identity.platform != platform.name:
            continue
        if verdict.problem and not verdict.decision:
            report.failed.append(f"{verdict.worker}: {verdict.problem}")
        if not verdict.decision:
            continue
        if verdict.worker not in known:
            report.failed.append(f"{verdict.worker}: {platform.name} knows no submission of theirs to this study")
            continue
        if known[verdict.worker].outcome != verdict.decision:
            _tell(desk, platform, verdict, known[verdict.worker].session, report)
        _pay_bonus(desk, platform, verdict.worker, identity.external, report)
    return report


def _tell(desk: Desk, platform: Platform, verdict: Verdict, session: str, report: Report) -> None:
    """Note first what the platform is told, so that nobody decides otherwise while it may know already."""
    word = verdict.decision
    desk.decisions.tell(verdict.answers, TELL[word], actor=platform.name, reason=verdict.reason)
    try:
        if word == "reject":
            platform.reject(session, verdict.reason)
        else:
            platform.approve([session])
    except PlatformError as error:
        refused = error.status is not None and error.status < 500
        outcome: Telling = "tell-failed" if refused else "tell-unknown"
        desk.decisions.tell(verdict.answers, outcome, actor=platform.name, reason=str(error))
        report.failed.append(f"{verdict.worker}: {word} is pending: {error}")
    else:
        report.done.append(f"{word.removesuffix('e')}ed {verdict.worker}")


def _pay_bonus(desk: Desk, platform: Platform, worker: str, external: str, report: Report) -> None:
    owed = _owed(desk, worker)
    if owed <= 0:
        return
    try:
        platform.bonus(external, owed, "bonus")
    except PlatformError as error:
        report.failed.append(f"{worker}: a bonus of {owed} is pending: {error}")
        return
    desk.reviews.add("paid", actor=platform.name, reason="bonus", worker=worker, amount=float(owed))
    report.done.append(f"paid {worker} a bonus of {owed}")


def _owed(desk: Desk, worker: str) -> Decimal:
    amounts = {"bonus": Decimal(0), "paid": Decimal(0)}
    for review in desk.reviews.all():
        if review.worker == worker and review.action in amounts and review.amount:
            amounts[review.action] += Decimal(str(review.amount))
    return amounts["bonus"] - amounts["paid"]


def confirm_arrival(platform: Platform, arrival: Arrival) -> None:
    """Ask the platform itself whether the ids in a link are real, where it can be asked."""
    if isinstance(platform, Prolific) and platform.can_confirm:
        platform.confirm(arrival)


def follow_message(desk: Desk, platform: str, submission: Submission, study: str) -> Report:
    """Follow what a platform says of one submission, in the campaign that its study belongs to.

    A message that names no study is followed where only one campaign can be meant; otherwise it waits for `follow`.
    """
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
