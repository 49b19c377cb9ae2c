"""Stop when it is decided: after each round a look, then the next round for the systems that stay, or the end.

A look is taken only when all tasks of the round have their answers: looks were planned before the start, and further
ones would make wrong decisions more likely than the campaign promises. A campaign that is stopped is paused, so that
answers that are removed later can be asked again, or a manager can go on; closing it for good is for a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pyramidion.analysis.cost import Cost, amount, campaign_cost, money
from pyramidion.analysis.stopping import Goal, Look, take_look
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.plan import release
from pyramidion.campaigns.rounds import Phase, Round, TakenLook
from pyramidion.campaigns.sampling import Part, shares_of
from pyramidion.errors import PyramidionError, UsageError
from pyramidion.study import Campaign, Settings, Study
from pyramidion.study.tasks import CampaignState

StopReason = Literal["goal", "budget", "everything", "trouble"]


@dataclass(frozen=True)
class Ahead:
    """The round after the last one, as it would be for these systems: its tasks and those of the rounds after it, and
    what its own would cost."""

    number: int
    systems: tuple[str, ...]
    tasks: tuple[int, ...]
    cost: Cost


@dataclass(frozen=True)
class Stop:
    reason: StopReason
    text: str


@dataclass(frozen=True)
class Advance:
    """What was done: a look taken, a round released, the campaign stopped; or nothing, while tasks lack answers."""

    look: TakenLook | None = None
    released: Round | None = None
    stop: Stop | None = None
    open_tasks: int = 0
    state: CampaignState = "running"


@dataclass(frozen=True)
class Position:
    """Everything that decides what comes next for a campaign."""

    campaign: Campaign
    phase: Phase
    parts: tuple[Part, ...]
    study: Study
    paid: int

    @property
    def rounds(self) -> int:
        """How many rounds were planned."""
        return max(part.round for part in self.parts)

    @cached_property
    def _peers(self) -> dict[str, set[str]]:
        peers: dict[str, set[str]] = {}
        for peer in self.study.peers:
            peers.setdefault(peer.topic, set()).add(peer.system)
        return peers

    def count_tasks(self, part: Part, systems: Sequence[str]) -> int:
        """How many tasks a part has: one for each of these systems that has a summary of its topic."""
        return len(self._peers.get(part.topic, set()).intersection(systems))

    @property
    def staying(self) -> tuple[str, ...]:
        """The systems that the next round asks about: a system that has left does not come back, since what was asked
        about it must stay the beginning of each random order."""
        taken = self.phase.taken
        active = self.phase.round.systems if taken is None else taken.look.active
        return tuple(system for system in self.phase.round.systems if system in active)

    @property
    def to_go_on_with(self) -> tuple[str, ...]:
        """The systems of one more round after the campaign has stopped."""
        return self.staying or self.phase.round.systems

    def cost(self, tasks: int) -> Cost:
        return cost_of(self.campaign.settings, tasks * self.campaign.settings.workers)

    @property
    def spent(self) -> Cost:
        return cost_of(self.campaign.settings, self.paid)

    def ahead(self, systems: Sequence[str]) -> Ahead | None:
        """The next round; None after the last."""
        number = self.phase.round.number + 1
        if number > self.rounds or not systems:
            return None
        tasks = tuple(
            sum(self.count_tasks(part, systems) for part in self.parts if part.round == later)
            for later in range(number, self.rounds + 1)
        )
        return Ahead(number, tuple(systems), tasks, self.cost(tasks[0]))

    def over_budget(self, ahead: Ahead) -> str:
        """Why the next round does not fit the budget; empty where it does."""
        settings, spent = self.campaign.settings, self.spent
        budget = amount("budget", settings.budget)
        if not budget or spent.total + ahead.cost.total <= budget:
            return ""
        shown = (money(one, settings.currency) for one in (ahead.cost.total, spent.total, budget))
        return "round {} would cost {}, and {} of the budget of {} is spent".format(ahead.number, *shown)

    def stop(self) -> Stop | None:
        """Why nothing more is released after this look; None where the next round is, or the look was not taken."""
        taken, trouble = self.phase.taken, self.phase.round.trouble
        if taken is None:
            return Stop("trouble", f"no look could be taken: {trouble}") if trouble else None
        if taken.look.reached:
            return Stop("goal", f"the goal is reached ({self.campaign.settings.until})")
        ahead = self.ahead(self.staying)
        if ahead is None:
            what = "everything planned has been asked" if self.staying else "no system needs more answers"
            return Stop("everything", f"{what}; the goal ({self.campaign.settings.until}) is not reached")
        over = self.over_budget(ahead)
        return Stop("budget", over) if over else None


def cost_of(settings: Settings, assignments: int) -> Cost:
    return campaign_cost(assignments, pay=str(settings.pay), fee=str(settings.fee), currency=settings.currency)


def position_of(desk: CampaignDesk, name: str, study: Study | None = None) -> Position | None:
    """Where a campaign with a goal is; None for one that asks everything at once. ``study`` saves loading it."""
    campaign = desk.campaigns.get(name)
    phase = desk.rounds.phase(name) if campaign.settings.until else None
    if phase is None:
        return None
    material = study or desk.studies.load()
    return Position(campaign, phase, desk.rounds.parts(name), material, desk.campaigns.count_paid(name))


def _must_have_rounds(position: Position | None, name: str) -> Position:
    if position is None:
        raise UsageError(f"campaign {name} has no goal, so it has no rounds; plan one with --with-model and --until")
    return position


# -- by itself -----------------------------------------------------------------------------------------------


def advance(desk: CampaignDesk, name: str, *, actor: str) -> Advance:
    """Do what is due: take the look, then release the next round or stop. Doing it again changes nothing."""
    position = _must_have_rounds(position_of(desk, name), name)
    phase, new = position.phase, None
    if phase.due and phase.taken is None:
        try:
            look = _look(desk, position)
        except PyramidionError as error:
            desk.rounds.stop(name, phase.round.number, trouble=str(error))
            return Advance(state="paused", stop=Stop("trouble", f"no look could be taken: {error}"))
        new = desk.rounds.add_look(name, look, actor)
        position = _must_have_rounds(position_of(desk, name, position.study), name)
        phase = position.phase  # somebody else may have been faster: what was just seen is no longer true
    taken = phase.taken if new else None
    if not phase.due or phase.taken is None:
        stop = position.stop() if phase.state == "paused" and not phase.open_tasks else None
        return Advance(look=taken, open_tasks=phase.open_tasks, state=position.campaign.state, stop=stop)
    stop = position.stop()
    if stop is not None:
        desk.rounds.stop(name, phase.round.number)
        return Advance(look=taken, state="paused", stop=stop)
    released = _release(desk, position, position.staying, actor=actor)
    return Advance(look=taken, released=released, state="running")


def _look(desk: CampaignDesk, position: Position) -> Look:
    campaign, settings = position.campaign, position.campaign.settings
    looks = desk.rounds.looks(campaign.name)
    return take_look(
        desk.study_for_look(campaign.name),
        people="crowd",
        model=settings.model,
        goal=Goal.parse(settings.until),
        number=position.phase.round.number,
        shares=shares_of(position.parts),
        question=settings.question,  # type: ignore[arg-type]
        earlier=looks[-1].look if looks else None,
        pyramid=pyramid_of(position.study, position.parts),
        topics={part.topic for part in position.parts},
    )


def pyramid_of(study: Study, parts: Sequence[Part]) -> str | None:
    """The name of the pyramid that these parts are of; None where there is only one to choose from, or none fits."""
    names = study.pyramid_names
    for name in names if len(names) > 1 else ():
        units = {(p.topic, unit.id) for p in study.pyramids if p.name == name for unit in p.units}
        if all((part.topic, unit) in units for part in parts for unit in part.units):
            return name
    return None


def _release(
    desk: CampaignDesk,
    position: Position,
    systems: Sequence[str],
    *,
    actor: str,
    reason: str = "",
    resume: bool = False,
) -> Round | None:
    """Release the next round; None where somebody else has."""
    name, number = position.campaign.name, position.phase.round.number + 1
    made = release(desk.material(), position.campaign, position.parts, number, systems)
    if not desk.rounds.release(name, number, systems, made, actor=actor, reason=reason, resume=resume):
        return None
    return next(one for one in desk.rounds.released(name) if one.number == number)


# -- what a manager decides ----------------------------------------------------------------------------------


def go_on(desk: CampaignDesk, name: str, *, actor: str, reason: str) -> Round:
    """Release one more round although the goal is reached, for the systems that something could still be decided about,
    or where there are none, those of the last one; recorded with its reason.

    After it there is a look as after any other, and the campaign stops again. The budget still holds.
    """
    position = _must_have_rounds(position_of(desk, name), name)
    phase = position.phase
    if phase.state == "closed":
        raise UsageError(f"campaign {name} is closed permanently")
    if phase.open_tasks:
        raise UsageError(
            f"round {phase.round.number} of campaign {name} is still being asked ({phase.open_tasks} tasks lack "
            "answers), so there is nothing to go on from"
        )
    stop = position.stop()
    if stop is None:
        raise UsageError(f"campaign {name} goes on by itself; nothing has stopped it")
    systems = position.to_go_on_with
    ahead = position.ahead(systems)
    if ahead is None:
        raise UsageError(f"campaign {name} has asked everything that was planned; plan another campaign for more")
    if over := position.over_budget(ahead):
        raise UsageError(f"campaign {name} cannot go on: {over}")
    made = _release(desk, position, systems, actor=actor, reason=reason, resume=True)
    if made is None:
        raise UsageError(f"campaign {name} has changed meanwhile; look at it again")
    return made


def change_state(desk: CampaignDesk, name: str, state: CampaignState) -> None:
    """Pause, resume or close a campaign. One that has stopped by itself and lacks no answers cannot merely resume."""
    if state == "running" and (position := position_of(desk, name)) and position.phase.state == "paused":
        stop = None if position.phase.open_tasks else position.stop()
        if stop is not None and stop.reason != "trouble":
            further = "; to ask one more round, use `campaign go-on`" if stop.reason == "goal" else ""
            raise UsageError(f"campaign {name} has stopped: {stop.text}{further}")
    desk.campaigns.set_state(name, state)
