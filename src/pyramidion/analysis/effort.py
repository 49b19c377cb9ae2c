"""What a judging task takes and pays: its summary is read, then every unit is judged.

A setting ``pay`` is for a task of ``units_per_task`` units. Where a model guides what is asked, tasks are shorter and
pay in proportion to their minutes, so an hour of work pays the same; so does the time under which work is flagged.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

from pyramidion.analysis.cost import CENT, hourly_wage, money
from pyramidion.study import Settings


def minutes_of(settings: Settings, units: float) -> float:
    """How long a task takes; a planted check is one more unit."""
    return settings.minutes_per_summary + settings.minutes_per_unit * (units + (settings.gold_rate > 0))


def time_of(settings: Settings, units: float, assignments: int) -> str:
    """How long judging takes, for whoever has to pay for it, in a sentence."""
    minutes = minutes_of(settings, units)
    wage = money(hourly_wage(settings.pay, minutes * 60), settings.currency)
    hours = minutes * assignments / 60
    return f"About {minutes:.1f} minutes per task, {hours:,.1f} hours in all; that pays {wage} per hour."


def in_proportion(settings: Settings, units: float) -> Settings:
    """The settings of a campaign whose tasks have this many units, on average."""
    part = minutes_of(settings, units) / minutes_of(settings, settings.units_per_task)
    pay = (Decimal(str(settings.pay)) * Decimal(part)).quantize(CENT, ROUND_HALF_UP)
    return replace(
        settings,
        pay=float(max(pay, CENT) if settings.pay else pay),
        min_seconds=float(round(settings.min_seconds * part)),
        minutes_per_task=round(settings.minutes_per_task * part, 1),
    )


def price_of(settings: Settings, units: float) -> float:
    """What one assignment of a task with this many units costs, with the fee."""
    return in_proportion(settings, units).pay * (1 + settings.fee)
