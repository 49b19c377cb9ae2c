"""Which platform a campaign's workers come from, and what is done there on a manager's decision."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from pyramidion.errors import UsageError
from pyramidion.model import Campaign
from pyramidion.platforms import Arrival, Platform
from pyramidion.platforms.connect import Connect, Parameters
from pyramidion.platforms.local import Local
from pyramidion.platforms.prolific import Client, Prolific
from pyramidion.platforms.prolific.platform import reconcile
from pyramidion.platforms.simulated import Simulated
from pyramidion.workflows.campaign import Desk

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


def pay_decisions(desk: Desk, campaign: str, platform: Platform) -> list[str]:
    """Carry approvals, rejections and bonuses over to the platform; returns what was done, in words.

    A worker's session there is approved once all their work here is approved, rejected if any of it is. What is owed
    to a worker is the bonuses decided less those paid, so doing it again pays nothing twice.
    """
    decisions = desk.reviews.decisions()
    by_worker: dict[str, list[str]] = {}
    for answer in desk.campaigns.answers(campaign):
        if answer.state == "submitted":
            by_worker.setdefault(answer.worker, []).append(decisions.get(answer.id, ""))
    done = []
    for worker, decided in sorted(by_worker.items()):
        identity = desk.workers.identity(worker)
        if identity is None or not identity.session or "" in decided:
            continue
        if "reject" in decided:
            reasons = [r.reason for r in desk.reviews.all() if r.worker == worker and r.action == "reject"]
            platform.reject(identity.session, reasons[-1])
            done.append(f"rejected {worker}")
        else:
            platform.approve([identity.session])
            done.append(f"approved {worker}")
        owed = _owed(desk, worker)
        if owed > 0:
            platform.bonus(identity.external, owed, "bonus")
            desk.reviews.add("paid", actor=platform.name, reason="bonus", worker=worker, amount=float(owed))
            done.append(f"paid {worker} a bonus of {owed}")
    return done


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


def release_who_left(desk: Desk, platform: Platform) -> int:
    """Poll the platform: whoever returned or timed out there gives their places back here."""
    return release_sessions(desk, reconcile(platform.states()))


def release_sessions(desk: Desk, sessions: Iterable[str]) -> int:
    """Free the places of whoever these sessions belong to; returns how many there were."""
    left = map(desk.workers.of_session, sessions)
    return sum(desk.assignments.release_worker(worker) for worker in left if worker)
