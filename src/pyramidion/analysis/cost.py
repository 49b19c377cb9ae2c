"""What a campaign costs: Shapira et al. 2019, section 4, and Gillick and Liu 2010, section 4.

Every assignment has the same pay, and the platform adds a fee. Sums are exact decimals, rounded once, half up, to
cents: first the total; the fee is the total minus the pay, so that the parts always add up. (Gillick and Liu report $55
for what is $54.21.) Platforms that round the fee of each single assignment charge a little more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from pyramidion.errors import UsageError

Amount = Decimal | float | str
"""Money or a share. A float means what it looks like: 0.1 is one tenth."""

CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Cost:
    """``total`` is the sum of ``pay``, which workers get, and ``fee``, which the platform gets."""

    total: Decimal
    pay: Decimal
    fee: Decimal
    assignments: int
    currency: str = "$"

    def __str__(self) -> str:
        total, pay, fee = (money(amount, self.currency) for amount in (self.total, self.pay, self.fee))
        noun = "assignment" if self.assignments == 1 else "assignments"
        return f"{total} for {self.assignments:,} {noun} ({pay} pay + {fee} fee)"


@dataclass(frozen=True, slots=True)
class Rates:
    """What one assignment pays, and the platform's fee as a share of it: 0.2 is 20% on top."""

    pay: Decimal
    fee: Decimal
    currency: str = "$"

    @classmethod
    def of(cls, pay: Amount, fee: Amount, currency: str = "$") -> Rates:
        return cls(amount("pay", pay), amount("fee", fee), currency)

    def cost(self, assignments: int) -> Cost:
        exact = self.pay * _count("assignments", assignments)
        pay, total = _cents(exact), _cents(exact * (1 + self.fee))
        return Cost(total, pay, total - pay, assignments, self.currency)


def campaign_cost(assignments: int, *, pay: Amount, fee: Amount, currency: str = "$") -> Cost:
    return Rates.of(pay, fee, currency).cost(assignments)


def writing_cost(
    references: int, *, workers: int = 2, pay: Amount = "0.50", fee: Amount = "0.20", currency: str = "$"
) -> Cost:
    """The cost of writing: each reference, over all topics, goes to some workers who write units."""
    return campaign_cost(_product(references=references, workers=workers), pay=pay, fee=fee, currency=currency)


def judging_cost(
    systems: int,
    topics: int,
    *,
    tasks_per_summary: int = 2,
    workers: int = 5,
    pay: Amount = "0.45",
    fee: Amount = "0.20",
    currency: str = "$",
) -> Cost:
    """Each summary is judged in some tasks (32 units make 2 tasks of 16), each by some workers."""
    assignments = _product(systems=systems, topics=topics, tasks=tasks_per_summary, workers=workers)
    return campaign_cost(assignments, pay=pay, fee=fee, currency=currency)


def rating_cost(
    topics: int,
    systems: int,
    *,
    workers: int = 2,
    pay: Amount = "0.07",
    fee: Amount = "0.10",
    currency: str = "$",
) -> Cost:
    """Each summary is rated as a whole by some workers."""
    assignments = _product(topics=topics, systems=systems, workers=workers)
    return campaign_cost(assignments, pay=pay, fee=fee, currency=currency)


def hourly_wage(pay: Amount, seconds: float) -> Decimal:
    """What a worker earns in an hour of assignments that pay this much and take this long."""
    time = amount("seconds", seconds)
    if not time:
        raise UsageError("an assignment must take more than 0 seconds")
    return _cents(amount("pay", pay) * 3600 / time)


def money(amount: Decimal, currency: str = "$") -> str:
    """$1,350.00, or EUR 1,350.00 if the currency is a word."""
    return f"{currency}{' ' if currency[-1:].isalpha() else ''}{amount:,.2f}"


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


def _product(**counts: int) -> int:
    return math.prod(_count(what, count) for what, count in counts.items())


def _count(what: str, count: int) -> int:
    if count < 0:
        raise UsageError(f"the number of {what} cannot be {count}")
    return count


def amount(what: str, value: Amount) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or number < 0:
        raise UsageError(f"{what} must be 0 or more, not {value!r}")
    return number


UNITS_PER_TASK, WRITERS, STATEMENTS, REFERENCES = 16, 2, 8, 4
"""As in Shapira et al. 2019: two workers write 8 units from each reference, and tasks have 16 units."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What people are paid, and the platform's fee as a share of it. Units are written from each of the references.

    Without a number of references, it is that of the pilot's topics, or 4.
    """

    judging_pay: str = "0.45"
    writing_pay: str = "0.50"
    fee: str = "0.20"
    currency: str = "$"
    references: int | None = None

    def cost(self, systems: int, topics: int, units: int, workers: int) -> Decimal:
        tasks = math.ceil(units / UNITS_PER_TASK)
        rates = {"fee": self.fee, "currency": self.currency}
        references = REFERENCES if self.references is None else self.references
        written = campaign_cost(topics * references * WRITERS, pay=self.writing_pay, **rates)
        judged = campaign_cost(systems * topics * tasks * workers, pay=self.judging_pay, **rates)
        return written.total + judged.total
