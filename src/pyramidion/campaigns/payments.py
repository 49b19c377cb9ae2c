"""Bonuses: who is owed one, and a record of each payment that is written before the platform is asked.

intended   decided to send; nothing was paid yet, at most prepared
sending    the platform is being asked to pay, and it is not known whether it has
sent       the platform has accepted it
paid       the platform shows it on the person's session
failed     the platform refused, or it was never sent

A payment is sent once. If the program ends while one is ``sending``, the next run looks at what the platform has paid
for the session since; until that settles it, or a person does, it is not sent again.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from sqlalchemy import Connection, insert, select, update

from pyramidion.campaigns.tables import find_campaign
from pyramidion.errors import PyramidionError, UnknownError
from pyramidion.store import schema
from pyramidion.store.database import Database

PaymentState = Literal["intended", "sending", "sent", "paid", "failed"]
_p, _r, _e = schema.payments.c, schema.reviews.c, schema.entries.c


class PaymentConflictError(PyramidionError):
    """Somebody else is paying at the same moment, or the payment is not in the state it has to be in."""


@dataclass(frozen=True, slots=True)
class Payment:
    """One bonus on its way to one session. ``paid_before`` is what the platform had paid on top of it until then."""

    id: int
    entry: int
    worker: str
    session: str
    amount: Decimal
    state: PaymentState
    reference: str
    paid_before: Decimal
    changed: float
    detail: str

    @property
    def open(self) -> bool:
        """Whether the platform may or may not have paid it."""
        return self.state in {"intended", "sending", "sent"}


class Payments:
    def __init__(self, database: Database) -> None:
        self._database = database

    def owed(self, campaign: str) -> dict[int, Decimal]:
        """What each entry of a campaign is still owed: bonuses decided, less what was or may have been paid."""
        with self._database.read() as connection:
            return _owed(connection, find_campaign(connection, campaign).id)

    def all(self, campaign: str) -> list[Payment]:
        query = (
            select(schema.payments, _e.worker_id, _e.session)
            .join_from(schema.payments, schema.entries, _p.entry_id == _e.id)
            .order_by(_p.id)
        )
        with self._database.read() as connection:
            rows = connection.execute(query.where(_e.campaign_id == find_campaign(connection, campaign).id)).all()
        return [
            Payment(
                id=row.id,
                entry=row.entry_id,
                worker=row.worker_id,
                session=row.session,
                amount=Decimal(row.amount),
                state=row.state,
                reference=row.reference,
                paid_before=Decimal(row.paid_before),
                changed=row.changed,
                detail=row.detail,
            )
            for row in rows
        ]

    def intend(self, campaign: str, entry: int, paid_before: Decimal | None) -> tuple[int, Decimal]:
        """Write down that an entry is to be paid what it is owed, before anything is sent. Of two programs that pay at
        the same moment, the second finds that nothing is owed."""
        with self._database.write() as connection:
            connection.execute(select(_e.id).where(_e.id == entry).with_for_update())
            amount = _owed(connection, find_campaign(connection, campaign).id).get(entry, Decimal(0))
            if amount <= 0:
                raise PaymentConflictError("another program is paying this bonus")
            earlier = select(_p.amount).where(_p.entry_id == entry, _p.state != "failed")
            expected = sum(map(Decimal, connection.execute(earlier).scalars()), Decimal(0))  # some may not show yet
            now = time.time()
            row = {
                "entry_id": entry,
                "amount": str(amount),
                "state": "intended",
                "paid_before": str(max(paid_before or Decimal(0), expected)),
                "intended": now,
                "changed": now,
            }
            return connection.execute(insert(schema.payments).returning(_p.id), row).scalar_one(), amount

    def move(
        self, payment: int, before: PaymentState, after: PaymentState, detail: str = "", *, reference: str = ""
    ) -> None:
        """Change the state of a payment that is in the state ``before``, or raise PaymentConflictError."""
        values = {"state": after, "changed": time.time(), "detail": detail}
        values |= {"reference": reference} if reference else {}
        with self._database.write() as connection:
            moved = connection.execute(update(schema.payments).filter_by(id=payment, state=before).values(**values))
            if not moved.rowcount:
                raise PaymentConflictError(f"payment {payment} is no longer {before}")

    def settle(self, campaign: str, payment: int, *, paid: bool, actor: str) -> Payment:
        """A person looked at the platform: an open payment was paid, or was not and is owed again."""
        for one in self.all(campaign):
            if one.id == payment:
                if not one.open:
                    raise PaymentConflictError(f"payment {payment} is {one.state}, so there is nothing to settle")
                self.move(payment, one.state, "paid" if paid else "failed", f"settled by {actor}")
                return one
        raise UnknownError(f"campaign {campaign} has no payment {payment}")


def _owed(connection: Connection, campaign: int) -> dict[int, Decimal]:
    amounts: dict[int, Decimal] = defaultdict(Decimal)
    of_campaign = select(_e.id).where(_e.campaign_id == campaign)
    decided = select(_r.entry_id, _r.action, _r.amount).where(
        _r.entry_id.in_(of_campaign), _r.action.in_(("bonus", "paid")), _r.amount.is_not(None)
    )
    for entry, action, amount in connection.execute(decided):  # releases up to 0.1 logged what was paid as reviews
        amounts[entry] += Decimal(str(amount)) * (1 if action == "bonus" else -1)
    sent = select(_p.entry_id, _p.amount).where(_p.entry_id.in_(of_campaign), _p.state != "failed")
    for entry, amount in connection.execute(sent):
        amounts[entry] -= Decimal(amount)
    return {entry: amount for entry, amount in amounts.items() if amount > 0}


def last_entry(connection: Connection, campaign: str, worker: str) -> int:
    """The entry in which a worker submitted last to a campaign; a bonus belongs to it."""
    a = schema.assignments.c
    submitted = (
        select(_e.id)
        .join_from(schema.entries, schema.assignments, a.entry_id == _e.id)
        .where(_e.campaign_id == find_campaign(connection, campaign).id, _e.worker_id == worker)
        .where(a.state == "submitted")
        .order_by(a.submitted.desc(), a.id.desc())
    )
    entry = connection.execute(submitted).scalar()
    if entry is None:
        raise UnknownError(f"worker {worker} has submitted nothing to campaign {campaign}")
    return int(entry)
