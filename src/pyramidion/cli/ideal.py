"""`pyramidion show --ideal`: what the best summaries with so many units say."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, islice
from typing import Any

from rich.text import Text

from pyramidion.cli.output import Output, cell, counted, plain
from pyramidion.scoring.ideal import IdealContent, ideal_content
from pyramidion.study import ContentUnit, Pyramid

SETS_SHOWN = 6


def show_ideal(pyramid: Pyramid, units: int, output: Output) -> None:
    found = ideal_content(pyramid, units)
    output.result(
        {
            "topic": pyramid.topic,
            "pyramid": pyramid.name,
            "asked": found.asked,
            "units": found.size,
            "weight": found.weight,
            "required": _records(found.required),
            "free": _records(found.free),
            "chosen": found.chosen,
            "sets": found.number,
        }
    )
    output.show(cell(f"{pyramid.topic}: ideal content of {counted(found.size, 'units')}", "bold"))
    if found.size < found.asked:
        output.show(f"The pyramid has {counted(found.size, 'units')}, so {found.asked} cannot be said.")
    sets = f"{found.number:,} equally good sets" if found.number > 1 else "1 set"
    output.show(f"pyramid {plain(pyramid.name)}, Max({found.asked}) = {found.weight}, {sets}\n")
    for weight, tier in groupby(found.required, key=lambda unit: unit.weight):
        held = list(tier)
        output.show(f"weight {weight}: all {len(held)}" if len(held) > 1 else f"weight {weight}: the only one")
        _list_units(held, output)
    if found.free:
        output.show(f"weight {found.free[0].weight}: any {found.chosen} of {len(found.free)}")
        _list_units(found.free, output)
        _list_sets(found, output)


def _records(units: Iterable[ContentUnit]) -> list[dict[str, Any]]:
    return [{"id": unit.id, "weight": unit.weight, "label": unit.label} for unit in units]


def _list_units(units: Iterable[ContentUnit], output: Output) -> None:
    for unit in units:
        output.show(Text("  ").append(plain(unit.id), style="dim").append("  ").append(plain(unit.label)))


def _list_sets(found: IdealContent, output: Output) -> None:
    """The choices that make the difference between one best summary and another."""
    if found.number == 1:
        return
    output.show("\nEqually good choices:")
    for units in islice(found.sets(), SETS_SHOWN):
        output.show(Text("  ").append(" ".join(plain(unit.id) for unit in units[len(found.required) :])))
    if found.number > SETS_SHOWN:
        output.show(f"  ... and {found.number - SETS_SHOWN:,} more")
