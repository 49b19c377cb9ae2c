"""Campaigns that ask in rounds: what may be asked, which rounds were released, and what was seen after each.

Whatever happens to a campaign is a row that can be added once: a look after each round, then the next round with all
its tasks, in one transaction. So a server may be killed anywhere, and several processes may try the same thing: one of
them does it. What comes next is derived from these rows (pyramidion.campaigns.advancing), never stored.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from pyramidion.analysis.stopping import Look
from pyramidion.campaigns.plan import Release
from pyramidion.campaigns.sampling import Part
from pyramidion.campaigns.tables import find_campaign, insert_tasks
from pyramidion.store import schema
from pyramidion.store.database import Database, insert_if_new
from pyramidion.study import Settings

_t, _c, _p, _r, _l = (table.c for table in (schema.tasks, schema.campaigns, schema.parts, schema.rounds, schema.looks))
_LEFT = select(
    select(func.max(_p.round)).where(_p.campaign_id == _c.id).scalar_subquery().label("planned"),
    select(func.max(_r.number)).where(_r.campaign_id == _c.id).scalar_subquery().label("released"),
).where(_c.name == bindparam("campaign_name"), _c.state == "running")
PLANNED = "plan"
"""Who released the first round: it comes with the campaign."""


@dataclass(frozen=True, slots=True)
class Round:
    """A round whose tasks were released: when, by whom, and for which systems. ``reason`` is given where a person went
    on beyond the goal, ``trouble`` where the look after it could not be taken. ``places`` and ``placed`` are about the
    platform (see the schema)."""

    number: int
    at: float
    actor: str
    systems: tuple[str, ...]
    tasks: int
    reason: str = ""
    trouble: str = ""
    places: int | None = None
    placed: float | None = None


@dataclass(frozen=True, slots=True)
class TakenLook:
    at: float
    actor: str
    look: Look


@dataclass(frozen=True, slots=True)
class Phase:
    """Where a campaign is, read at one moment: the last round that was released, tasks of any round that still lack
    answers, and the look at this round if it was taken."""

    state: str
    round: Round
    open_tasks: int
    taken: TakenLook | None

    @property
    def due(self) -> bool:
        """Whether there is something to do that nobody has to be asked for: a look, the next round, or the end."""
        return self.state == "running" and not self.open_tasks


class Rounds:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database, self.clock = database, clock

    def begin(self, campaign: str, parts: Sequence[Part], systems: Sequence[str], tasks: int) -> None:
        """Keep what a campaign may ask; its first round is released."""
        with self._database.write() as connection:
            id = find_campaign(connection, campaign).id
            rows = [{"campaign_id": id, **asdict(part), "units": list(part.units)} for part in parts]
            connection.execute(insert(schema.parts), rows)
            first = {"number": 1, "at": self.clock(), "actor": PLANNED, "systems": list(systems), "tasks": tasks}
            connection.execute(insert(schema.rounds).values(campaign_id=id, **first))

    def in_rounds(self) -> list[str]:
        """The running campaigns that have a goal, which are to be advanced."""
        with self._database.read() as connection:
            running = connection.execute(select(_c.name, _c.settings).filter_by(state="running").order_by(_c.id)).all()
        return [row.name for row in running if row.settings.get("until")]

    def due(self) -> list[str]:
        """The campaigns in which something is to be done now."""
        return [name for name in self.in_rounds() if (phase := self.phase(name)) and phase.due]

    def more_may_come(self, campaign: str) -> bool:
        """Whether a campaign runs and has rounds that are not released yet."""
        row = self._database.first(_LEFT, {"campaign_name": campaign})
        return row is not None and row.released is not None and row.planned > row.released

    def has_stopped(self, campaign: str) -> bool:
        """Whether a campaign that is paused was stopped by a look: everything is answered, and nothing follows."""
        phase = self.phase(campaign)
        return phase is not None and phase.taken is not None and not phase.open_tasks

    def parts(self, campaign: str) -> tuple[Part, ...]:
        with self._database.read() as connection:
            id = find_campaign(connection, campaign).id
            rows = connection.execute(select(schema.parts).filter_by(campaign_id=id).order_by(_p.id)).all()
        return tuple(Part(r.topic, tuple(r.units), r.stratum, r.place, r.places, r.round) for r in rows)

    def released(self, campaign: str) -> list[Round]:
        with self._database.read() as connection:
            return _rounds(connection, find_campaign(connection, campaign).id)

    def looks(self, campaign: str) -> list[TakenLook]:
        with self._database.read() as connection:
            id = find_campaign(connection, campaign).id
            rows = connection.execute(select(schema.looks).filter_by(campaign_id=id).order_by(_l.number)).all()
        return [TakenLook(row.at, row.actor, Look.of(row.body)) for row in rows]

    def phase(self, campaign: str) -> Phase | None:
        """None for a campaign without rounds. Read in one snapshot: tasks come together with their round."""
        with self._database.snapshot() as connection:
            row = find_campaign(connection, campaign)
            released = _rounds(connection, row.id)
            if not released:
                return None
            open_tasks = _count_open(connection, row.id)
            last = released[-1]
            look = connection.execute(select(schema.looks).filter_by(campaign_id=row.id, number=last.number)).first()
        taken = TakenLook(look.at, look.actor, Look.of(look.body)) if look else None
        return Phase(row.state, last, open_tasks, taken)

    def add_look(self, campaign: str, look: Look, actor: str) -> bool:
        """Keep a look; False where it was taken before, by somebody else perhaps, and that one holds."""
        with self._database.write() as connection:
            id = find_campaign(connection, campaign).id
            about = {"campaign_id": id, "number": look.number, "at": self.clock(), "actor": actor}
            return insert_if_new(connection, schema.looks, **about, body=asdict(look))

    def release(
        self,
        campaign: str,
        number: int,
        systems: Sequence[str],
        release: Release,
        *,
        actor: str,
        reason: str = "",
        resume: bool = False,
    ) -> bool:
        """Release a round with its tasks; False where it is not the next one, since somebody has released it, where the
        one before still lacks answers, or where the campaign does not run any more.

        With ``resume`` a campaign that is paused runs again.
        """
        with self._database.write() as connection:
            row = self._locked(connection, campaign)
            if row.state != "running" and not (resume and row.state == "paused"):
                return False
            if _rounds(connection, row.id)[-1].number != number - 1 or _count_open(connection, row.id):
                return False
            what = {"systems": list(systems), "tasks": len(release.tasks), "actor": actor, "reason": reason}
            about = {"campaign_id": row.id, "number": number, "at": self.clock()}
            if not insert_if_new(connection, schema.rounds, **about, **what):
                return False
            insert_tasks(connection, row.id, release.tasks, release.gold, Settings(**row.settings).workers)
            connection.execute(update(schema.campaigns).filter_by(id=row.id).values(state="running"))
            return True

    def stop(self, campaign: str, number: int, trouble: str = "") -> bool:
        """Pause a running campaign after this round; False where it was stopped before or has gone on."""
        with self._database.write() as connection:
            row = self._locked(connection, campaign)
            if row.state != "running" or _rounds(connection, row.id)[-1].number != number:
                return False
            of_round = update(schema.rounds).filter_by(campaign_id=row.id, number=number)
            connection.execute(of_round.values(trouble=trouble))
            connection.execute(update(schema.campaigns).filter_by(id=row.id).values(state="paused"))
            return True

    def _locked(self, connection: Connection, campaign: str) -> Any:
        """The campaign's row, which nobody else can change before this transaction ends."""
        id = find_campaign(connection, campaign).id
        return connection.execute(select(schema.campaigns).filter_by(id=id).with_for_update()).one()

    # -- places on a platform ----------------------------------------------------------------------------

    def want_places(self, campaign: str, number: int, places: int) -> int:
        """Write down how many people the platform's study should have from a round on; what was written first holds."""
        with self._database.write() as connection:
            row = self._locked(connection, campaign)
            of_round = update(schema.rounds).filter_by(campaign_id=row.id, number=number)
            connection.execute(of_round.where(_r.places.is_(None)).values(places=places))
            return next(r.places or places for r in _rounds(connection, row.id) if r.number == number)

    def mark_placed(self, campaign: str, places: int) -> None:
        """The platform has so many places now: nothing is due any more for rounds that wanted at most these."""
        with self._database.write() as connection:
            id = find_campaign(connection, campaign).id
            waiting = update(schema.rounds).filter_by(campaign_id=id, placed=None)
            enough = or_(_r.places.is_(None), _r.places <= places)
            now = {"places": func.coalesce(_r.places, places), "placed": self.clock()}
            connection.execute(waiting.where(enough).values(**now))


def _count_open(connection: Connection, campaign: int) -> int:
    """How many tasks still lack answers."""
    lacking = select(func.count()).select_from(schema.tasks).filter_by(campaign_id=campaign, full=False)
    return int(connection.execute(lacking).scalar_one())


def _rounds(connection: Connection, campaign: int) -> list[Round]:
    rows = connection.execute(select(schema.rounds).filter_by(campaign_id=campaign).order_by(_r.number)).all()
    return [
        Round(r.number, r.at, r.actor, tuple(r.systems), r.tasks, r.reason, r.trouble, r.places, r.placed) for r in rows
    ]
