"""`pyramidion show`: a pyramid as tiers, or a summary with the units it expresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any

from rich.text import Text

from pyramidion.cli.ideal import show_ideal
from pyramidion.cli.output import Output, cell, plain
from pyramidion.errors import UsageError
from pyramidion.scoring.explain import Explanation
from pyramidion.scoring.explaining import explain, shown_pyramid
from pyramidion.study import ContentUnit, Pyramid, Study

TIER_STYLES = ("bold magenta", "bold blue", "cyan", "green", "yellow")
MISSES_SHOWN = 8
WIDE = 35
"""Tiers with more units are drawn without gaps, so that they fit a terminal."""


OF_A_SUMMARY = ("judges", "annotators")
"""Choices that a pyramid alone does not have."""


def run(
    study: Study,
    topic: str | None,
    system: str | None,
    choices: dict[str, Any],
    output: Output,
    ideal: int | None = None,
) -> None:
    name = topic or (study.topics[0].id if study.topics else "")
    if study.topic(name) is None:
        raise UsageError(f"no topic is called {name!r}; there are: {', '.join(t.id for t in study.topics) or 'none'}")
    given = {choice: value for choice, value in choices.items() if value is not None}
    if system is not None:
        if ideal is not None:
            raise UsageError("--ideal is about a pyramid, not about a summary; leave --system out")
        _show_summary(explain(study, name, system, **given), output)
        return
    for choice in OF_A_SUMMARY:
        if choice in given:
            raise UsageError(f"--{choice} is about a summary; name one with --system")
    pyramid = shown_pyramid(study, name, **given)
    if ideal is None:
        _show_pyramid(study, pyramid, output)
    else:
        show_ideal(pyramid, ideal, output)


def _style(weight: int, tiers: int) -> str:
    """The top tier has the first style, whatever the number of tiers."""
    return TIER_STYLES[min(max(tiers - weight, 0), len(TIER_STYLES) - 1)]


def _drawing(pyramid: Pyramid, expressed: set[str] | None = None) -> Text:
    """A block per unit, a row per tier; hollow blocks are units a summary does not express."""
    size = len(pyramid.references)
    widest = max((len(units) for units in pyramid.tiers.values()), default=0)
    drawing = Text()
    for weight, units in pyramid.tiers.items():
        gap = " " if widest <= WIDE else ""
        marks = ["■" if expressed is None or unit.id in expressed else "□" for unit in units[: 2 * WIDE]]
        more = f" +{len(units) - len(marks)}" if len(units) > len(marks) else ""
        margin = (min(widest, 2 * WIDE) - len(marks)) * (1 + len(gap)) // 2
        drawing.append(f"  {weight:>3}  ")
        drawing.append(" " * margin + gap.join(marks) + more + "\n", style=_style(weight, size))
    return drawing


def _show_pyramid(study: Study, pyramid: Pyramid, output: Output) -> None:
    topic = study.topic(pyramid.topic)
    units = [{**_unit(unit), "references": sorted(unit.references)} for unit in pyramid.units]
    output.result({"topic": pyramid.topic, "pyramid": pyramid.name, "units": units})
    output.show(cell(": ".join(filter(None, (pyramid.topic, topic.title if topic else ""))), "bold"))
    output.show(
        f"pyramid {plain(pyramid.name)}, {len(pyramid.references)} references, {len(pyramid.units)} units, "
        f"{pyramid.contributor_count} contributors\n"
    )
    output.show(_drawing(pyramid))
    for weight, tier in pyramid.tiers.items():
        output.show(Text(f"weight {weight}", style=_style(weight, len(pyramid.references))))
        for unit in tier:
            line = Text("  ").append(plain(unit.id), style="dim").append("  ").append(plain(unit.label))
            output.show(line.append("  " + " ".join(map(plain, sorted(unit.references))), style="dim"))


def _unit(unit: ContentUnit) -> dict[str, Any]:
    return {"id": unit.id, "weight": unit.weight, "label": unit.label}


def _show_summary(found: Explanation, output: Output) -> None:
    peer = found.peer
    output.result(
        {
            "topic": peer.topic,
            "system": peer.system,
            "text": peer.text,
            **found.measures,
            **({"own_reference": found.own} if found.own else {}),
            "expressed": [
                {**_expressed(u, found), "degree": found.degree(u.id), "mentions": found.evidence.get(u.id, ())}
                for u in found.expressed
            ],
            "missed": [_unit(u) for u in found.missed],
            **({"annotators": _annotators(found)} if found.annotators else {}),
        }
    )
    output.show(cell(f"{peer.topic}, {peer.system}", "bold"))
    if found.own:
        output.show(plain(found.about))
    output.show(_highlighted(found))
    output.show(_drawing(found.pyramid, {unit.id for unit in found.expressed}))
    for line in _parts(found):
        output.show(line)
    output.show("\nExpressed:")
    _list_units(found, found.expressed, output)
    output.show("\nMissed, heaviest first:")
    _list_units(found, found.missed[:MISSES_SHOWN], output)
    if len(found.missed) > MISSES_SHOWN:
        output.show(f"  ... and {len(found.missed) - MISSES_SHOWN} more")


def _list_units(found: Explanation, units: Iterable[ContentUnit], output: Output) -> None:
    for unit in units:
        line = Text("  ").append(f"({unit.weight}) ", style=_style(unit.weight, len(found.pyramid.references)))
        line.append(plain(unit.label))
        if (times := found.times.get(unit.id, 0)) > 1:
            line.append(f"  {times} times", style="dim")
        if by := found.found_by(unit.id):
            line.append(f"  {len(by)} of {len(found.annotators)}: {plain(', '.join(by))}", style="dim")
        if times and (degree := found.degree(unit.id)) < 1:
            line.append(f"  degree {degree:.4f}", style="dim")
        quotes = [
            "...".join(span.of(found.peer.text) for span in mention) for mention in found.evidence.get(unit.id, ())
        ]
        if quotes:
            line.append("  " + plain(" | ".join(f"“{quote}”" for quote in quotes)), style="dim")
        output.show(line)


def _annotators(found: Explanation) -> dict[str, Any]:
    return {
        name: {**said.measures, "weight": said.weight, "unmatched": said.unmatched}
        for name, said in found.annotators.items()
    }


def _expressed(unit: ContentUnit, found: Explanation) -> dict[str, Any]:
    return {**_unit(unit), **({"annotators": found.found_by(unit.id)} if found.annotators else {})}


def _parts(found: Explanation) -> Iterator[str]:
    """The first two measures, and what they are made of: by each annotator where there are several."""
    if not found.annotators:
        yield f"{_scores(found.measures)}: {_counts(found.weight, found.times, found.unmatched)}"
        return
    yield f"{_scores(found.measures)}: the mean of {len(found.annotators)} annotators"
    for name, said in found.annotators.items():
        yield f"  {plain(name)}: {_scores(said.measures)}: {_counts(said.weight, said.times, said.unmatched)}"


def _scores(measures: Mapping[str, float | None]) -> str:
    shown = islice(measures.items(), 2)
    return ", ".join(f"{name} {'undefined' if value is None else f'{value:.4f}'}" for name, value in shown)


def _counts(weight: float | None, times: Mapping[str, int], unmatched: float | None) -> str:
    weighed = "" if weight is None else f"weight {weight:.6g}, "
    matched = [often for often in times.values() if often > 0]
    counted = "not counted" if unmatched is None else f"{unmatched:g}"
    return f"{weighed}{len(matched)} units matched, {sum(matched) - len(matched)} repeated, unmatched {counted}"


def _highlighted(found: Explanation) -> Text:
    """The summary with matched words coloured by the heaviest unit they express."""
    text = Text()
    size = len(found.pyramid.references)
    places = zip(found.peer.text, found.weight_at(), strict=True)
    for weight, run in groupby(places, key=lambda place: place[1]):
        piece = plain("".join(character for character, _ in run))
        text.append(piece, style=_style(weight, size) if weight else "dim" if found.evidence else "")
    return text.append("\n")
