"""Who changed what in the browser: texts added, campaigns created, edited, opened, units edited. Appended, never
changed. Decisions about people and their answers have a log of their own (``reviews``)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import insert, select

from pyramidion.store import schema
from pyramidion.store.database import Database

ChangeKind = Literal["import", "create", "edit", "state", "units", "unit"]
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Change:
    at: float
    actor: str
    action: str
    campaign: str | None
    detail: Mapping[str, Any]


class ChangeLog:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, action: ChangeKind, *, actor: str, campaign: str = "", **detail: Any) -> None:
        c = schema.campaigns.c
        with self._database.write() as connection:
            about = connection.execute(select(c.id).where(c.name == campaign)).scalar() if campaign else None
            row = {"at": time.time(), "actor": actor, "action": action, "campaign_id": about, "detail": detail}
            connection.execute(insert(schema.changes), row)

    def all(self, campaign: str = "") -> list[Change]:
        """The newest changes first, of a campaign or of everything."""
        c, h = schema.campaigns.c, schema.changes.c
        query = select(h.at, h.actor, h.action, c.name.label("campaign"), h.detail).select_from(
            schema.changes.outerjoin(schema.campaigns)
        )
        query = query.where(c.name == campaign) if campaign else query
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(h.id.desc()).limit(MOST_SHOWN)).all()
        return [Change(**row._mapping) for row in rows]
