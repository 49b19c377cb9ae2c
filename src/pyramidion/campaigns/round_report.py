"""How a campaign with a goal is going: its rounds, what is decided, and money. For the command line and the pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pyramidion.analysis.cost import Cost, amount, money
from pyramidion.analysis.stopping import DecidedPair
from pyramidion.campaigns.advancing import Position, Stop, position_of
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.recruiting import RECRUITING, lacking_places, people_for
from pyramidion.campaigns.rounds import Round, TakenLook
from pyramidion.campaigns.sampling import Part
from pyramidion.study import Study

RoundsStatus = Literal["asking", "looking", "stopped", "paused", "closed"]
"""``looking``: all answers are in, and the look is due. ``paused`` and ``closed``: by a person, before it stopped."""


@dataclass(frozen=True)
class AskedSoFar:
    """Single answers to "is this unit in this summary?": those of the rounds released so far, those of all rounds that
    were planned, and those that asking every unit of every summary would take."""

    asked: int
    planned: int
    whole: int


@dataclass(frozen=True)
class RoundsReport:
    """``spent`` is for answers that came in, ``this_round`` for all answers of the last round; ``next_round`` is None
    where there is none, and ``most`` what everything costs if it goes on to the last round. ``further`` is what one
    more round costs where a person may go on beyond the goal. ``people`` is how many the last round needs on a platform
    that is told so, and ``lacks_places`` whether it was not told yet."""

    goal: str
    question: str
    model: str
    budget: str
    rounds: int
    status: RoundsStatus
    stop: Stop | None
    open_tasks: int
    released: tuple[Round, ...]
    looks: tuple[TakenLook, ...]
    staying: tuple[str, ...]
    left: dict[str, int]
    judged: AskedSoFar
    spent: Cost
    this_round: Cost
    next_round: Cost | None
    most: Cost
    further: Cost | None
    people: int | None
    lacks_places: bool
    simulated: bool
    """Whether answers are from a rehearsal."""

    @property
    def number(self) -> int:
        """The last round that was released."""
        return self.released[-1].number

    @property
    def decided(self) -> tuple[DecidedPair, ...]:
        return self.looks[-1].look.decided if self.looks else ()

    @property
    def pairs(self) -> int:
        systems = len(self.released[0].systems)
        return self.looks[-1].look.pairs if self.looks else systems * (systems - 1) // 2

    @property
    def sentences(self) -> list[str]:
        """The same in words."""
        judged, left = self.judged, f"; no more answers needed for {', '.join(self.left)}" if self.left else ""
        lines = [
            f"round {self.number} of {self.rounds}, goal {self.goal}: {self._what_happens()}",
            f"{len(self.decided)} of {self.pairs} pairs decided{left}",
            f"{judged.asked:,} of {judged.whole:,} judgments asked ({judged.asked / judged.whole:.0%}), "
            f"{judged.planned:,} planned at most",
            f"spent {_total(self.spent)}; this round {_total(self.this_round)}, "
            f"next round {_total(self.next_round) if self.next_round else 'none'}, at most {_total(self.most)}"
            + (f" of a budget of {self.budget}" if self.budget else ""),
        ]
        if self.people is not None:
            due = ", which were not let in yet: `campaign places` does it" if self.lacks_places else ""
            lines.append(f"this round needs about {self.people} people on the platform{due}")
        if self.simulated:
            lines.append("simulated: these answers are not people's")
        return lines

    def _what_happens(self) -> str:
        if self.status == "stopped" and self.stop:
            return f"stopped, {self.stop.text}"
        words = {"looking": "all answers are in, the look is due", "paused": "paused", "closed": "closed"}
        return words.get(self.status, f"{self.open_tasks} tasks lack answers")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for --json and for the manager's page."""
        return {
            "goal": self.goal,
            "question": self.question,
            "model": self.model,
            "budget": self.budget,
            "round": self.number,
            "rounds": self.rounds,
            "status": self.status,
            "stop": asdict(self.stop) if self.stop else None,
            "open_tasks": self.open_tasks,
            "decided": [asdict(pair) for pair in self.decided],
            "pairs": self.pairs,
            "staying": list(self.staying),
            "left": self.left,
            "looks": [{"at": one.at, "actor": one.actor, **asdict(one.look)} for one in self.looks],
            "released": [asdict(one) for one in self.released],
            "judgments": asdict(self.judged),
            "money": {
                "spent": str(self.spent),
                "this_round": str(self.this_round),
                "next_round": str(self.next_round) if self.next_round else None,
                "most": str(self.most),
                "further": str(self.further) if self.further else None,
            },
            "simulated": self.simulated,
            "people": self.people,
            "lacks_places": self.lacks_places,
        }


def report_rounds(desk: CampaignDesk, name: str, study: Study | None = None) -> RoundsReport | None:
    """How a campaign with a goal is going; None for one that asks everything at once."""
    position = position_of(desk, name, study)
    if position is None:
        return None
    released, looks = tuple(desk.rounds.released(name)), tuple(desk.rounds.looks(name))
    settings, phase = position.campaign.settings, position.phase
    stop = None if phase.open_tasks else position.stop()
    ahead = None if stop else position.ahead(position.staying)
    further = position.ahead(position.to_go_on_with) if stop else None
    budget = amount("budget", settings.budget)
    recruits = settings.platform in RECRUITING
    return RoundsReport(
        goal=settings.until,
        question=settings.question,
        model=settings.model,
        budget=money(budget, settings.currency) if budget else "",
        rounds=position.rounds,
        status=_status(position, stop),
        stop=stop,
        open_tasks=phase.open_tasks,
        released=released,
        looks=looks,
        staying=position.staying,
        left=_left(released, looks),
        judged=_judged(position, released),
        spent=position.spent,
        this_round=position.cost(phase.round.tasks),
        next_round=ahead.cost if ahead else None,
        most=_most(position, stop, sum(one.tasks for one in released)),
        further=further.cost if further and phase.state != "closed" and not position.over_budget(further) else None,
        people=people_for(desk, position.campaign, phase.round.tasks) if recruits else None,
        lacks_places=lacking_places(position.campaign, phase.round),
        simulated=name in desk.campaigns.simulated(),
    )


def _total(cost: Cost) -> str:
    return money(cost.total, cost.currency)


def _status(position: Position, stop: Stop | None) -> RoundsStatus:
    state = position.phase.state
    if state == "running":
        return "asking" if position.phase.open_tasks else "looking"
    if state == "paused":
        return "stopped" if stop else "paused"
    return "closed"


def _left(released: tuple[Round, ...], looks: tuple[TakenLook, ...]) -> dict[str, int]:
    """After which look each system left that is not asked about any more."""
    left: dict[str, int] = {}
    for taken in looks:
        gone = (system for system in released[0].systems if system not in taken.look.active)
        left.update({system: taken.look.number for system in gone if system not in left})
    return left


def _most(position: Position, stop: Stop | None, tasks: int) -> Cost:
    """What everything costs if it goes on to the last round that the budget allows, with the systems that are left."""
    budget = amount("budget", position.campaign.settings.budget)
    ahead = None if stop else position.ahead(position.staying)
    for more in ahead.tasks if ahead else ():
        if budget and position.cost(tasks + more).total > budget:
            break
        tasks += more
    return max(position.cost(tasks), position.spent, key=lambda cost: cost.total)


def _judged(position: Position, released: tuple[Round, ...]) -> AskedSoFar:
    workers = position.campaign.settings.workers

    def count(parts: Iterable[Part], systems: tuple[str, ...]) -> int:
        return workers * sum(len(part.units) * position.count_tasks(part, systems) for part in parts)

    everybody = released[0].systems
    asked = sum(count((p for p in position.parts if p.round == one.number), one.systems) for one in released)
    planned = count((part for part in position.parts if part.round), everybody)
    return AskedSoFar(asked, planned, count(position.parts, everybody))
