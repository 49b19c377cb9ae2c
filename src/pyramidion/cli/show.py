"""`pyramidion show`: a pyramid as tiers, or a summary with the units it expresses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Any

from rich.text import Text

from pyramidion.cli.output import Output, cell, counted, plain
from pyramidion.errors import UsageError
from pyramidion.scoring.explain import explain, explaining_pyramid
from pyramidion.scoring.explanation import Explanation, OneAnnotation
from pyramidion.scoring.ideal import IdealContent, ideal_content
from pyramidion.study import ContentUnit, Pyramid, Study
from pyramidion.study.judgments import EXPRESSED, Verdict

TIER_STYLES = ("bold magenta", "bold blue", "cyan", "green", "yellow")
MISSES_SHOWN = 8
SETS_SHOWN = 6
WIDE = 35
"""Tiers with more units than this are drawn without gaps, so that they fit a terminal."""
OF_A_SUMMARY = ("judges", "annotators", "compat")
"""Choices that apply only to a summary."""


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
        raise UsageError(f"unknown topic {name!r}; known topics are: {', '.join(t.id for t in study.topics) or 'none'}")
    if not study.pyramids:
        next_step = "`pyramidion auto run STUDY -o FOLDER` builds one from the references; then show FOLDER/study.jsonl"
        why = next_step if study.references else "it has no references either, from which one could be built"
        raise UsageError(f"the study has no pyramid, so there are no units to show; {why}")
    given = {choice: value for choice, value in choices.items() if value is not None}
    if system is not None:
        if ideal is not None:
            raise UsageError("--ideal is about a pyramid, not a summary; remove --system")
        _show_summary(explain(study, name, system, **given), output, simulated=study.is_simulated)
        return
    for choice in OF_A_SUMMARY:
        if choice in given:
            raise UsageError(f"--{choice} is about a summary; name one with --system")
    pyramid = explaining_pyramid(study, name, **given)
    if ideal is None:
        _show_pyramid(study, pyramid, output)
    else:
        _show_ideal(pyramid, ideal_content(pyramid, ideal), output)


def _style(weight: int, tiers: int) -> str:
    """The top tier has the first style, whatever the number of tiers."""
    return TIER_STYLES[min(max(tiers - weight, 0), len(TIER_STYLES) - 1)]


def _record(unit: ContentUnit) -> dict[str, Any]:
    return {"id": unit.id, "weight": unit.weight, "label": unit.label}


def _line(unit: ContentUnit) -> Text:
    return Text("  ").append(plain(unit.id), style="dim").append("  ").append(plain(unit.label))


# -- a pyramid -----------------------------------------------------------------------------------------------------


def _show_pyramid(study: Study, pyramid: Pyramid, output: Output) -> None:
    topic = study.topic(pyramid.topic)
    units = [{**_record(unit), "references": sorted(unit.references)} for unit in pyramid.units]
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
            output.show(_line(unit).append("  " + " ".join(map(plain, sorted(unit.references))), style="dim"))


BLOCKS: dict[Verdict, str] = {"expressed": "■", "perhaps": "▣", "not found": "□"}


def _drawing(pyramid: Pyramid, verdict: Callable[[str], Verdict] = lambda _: EXPRESSED) -> Text:
    """A block per unit, a row per tier; hollow blocks are units that a summary does not express."""
    size = len(pyramid.references)
    widest = max((len(units) for units in pyramid.tiers.values()), default=0)
    drawing = Text()
    for weight, units in pyramid.tiers.items():
        gap = " " if widest <= WIDE else ""
        marks = [BLOCKS[verdict(unit.id)] for unit in units[: 2 * WIDE]]
        more = f" +{len(units) - len(marks)}" if len(units) > len(marks) else ""
        margin = (min(widest, 2 * WIDE) - len(marks)) * (1 + len(gap)) // 2
        drawing.append(f"  {weight:>3}  ")
        drawing.append(" " * margin + gap.join(marks) + more + "\n", style=_style(weight, size))
    return drawing


def _show_ideal(pyramid: Pyramid, ideal: IdealContent, output: Output) -> None:
    """What the best summaries with a number of units say."""
    output.result(
        {
            "topic": pyramid.topic,
            "pyramid": pyramid.name,
            "asked": ideal.asked,
            "units": ideal.size,
            "weight": ideal.weight,
            "required": list(map(_record, ideal.required)),
            "free": list(map(_record, ideal.free)),
            "chosen": ideal.chosen,
            "sets": ideal.number,
        }
    )
    output.show(cell(f"{pyramid.topic}: ideal content of {counted(ideal.size, 'units')}", "bold"))
    if ideal.size < ideal.asked:
        output.show(f"The pyramid has {counted(ideal.size, 'units')}, so {ideal.asked} cannot be said.")
    sets = f"{ideal.number:,} equally good sets" if ideal.number > 1 else "1 set"
    output.show(f"pyramid {plain(pyramid.name)}, Max({ideal.asked}) = {ideal.weight}, {sets}\n")
    for weight, tier in groupby(ideal.required, key=lambda unit: unit.weight):
        units = list(tier)
        output.show(f"weight {weight}: all {len(units)}" if len(units) > 1 else f"weight {weight}: the only one")
        for unit in units:
            output.show(_line(unit))
    if not ideal.free:
        return
    output.show(f"weight {ideal.free[0].weight}: any {ideal.chosen} of {len(ideal.free)}")
    for unit in ideal.free:
        output.show(_line(unit))
    if ideal.number > 1:
        output.show("\nEqually good choices:")
        for chosen in islice(ideal.sets(), SETS_SHOWN):
            output.show(Text("  ").append(" ".join(plain(unit.id) for unit in chosen[len(ideal.required) :])))
        if ideal.number > SETS_SHOWN:
            output.show(f"  ... and {ideal.number - SETS_SHOWN:,} more")


# -- a summary -----------------------------------------------------------------------------------------------------


def _show_summary(explanation: Explanation, output: Output, *, simulated: bool) -> None:
    peer, missed = explanation.peer, explanation.missed
    output.result(
        {
            "topic": peer.topic,
            "system": peer.system,
            "text": peer.text,
            **explanation.measures,
            **({"own_reference": explanation.own} if explanation.own else {}),
            "expressed": [_unit_record(unit, explanation) for unit in explanation.expressed],
            "perhaps": [_unit_record(unit, explanation) for unit in explanation.perhaps],
            "missed": [_unit_record(unit, explanation) for unit in missed],
            **({"annotators": _annotator_records(explanation)} if explanation.annotators else {}),
            **({"simulated": True} if simulated else {}),
        }
    )
    output.show(cell(f"{peer.topic}, {peer.system}{' (simulated)' if simulated else ''}", "bold"))
    if explanation.own:
        output.show(plain(explanation.about))
    output.show(_highlighted(explanation))
    output.show(_drawing(explanation.pyramid, explanation.verdict))
    for line in _score_lines(explanation):
        output.show(line)
    output.show("\nExpressed:")
    _list_units(explanation, explanation.expressed, output)
    if explanation.perhaps:
        output.show("\nPerhaps:")
        _list_units(explanation, explanation.perhaps, output)
    output.show("\nNot found, heaviest first:")
    _list_units(explanation, missed[:MISSES_SHOWN], output)
    if len(missed) > MISSES_SHOWN:
        output.show(f"  ... and {len(missed) - MISSES_SHOWN} more")


def _unit_record(unit: ContentUnit, explanation: Explanation) -> dict[str, Any]:
    return {
        **_record(unit),
        **({"annotators": explanation.found_by(unit.id)} if explanation.annotators else {}),
        **({"corrected": True} if unit.id in explanation.corrected else {}),
        "degree": explanation.degree(unit.id),
        "mentions": explanation.evidence.get(unit.id, ()),
    }


def _annotator_records(explanation: Explanation) -> dict[str, Any]:
    return {
        name: {**annotation.measures, "weight": annotation.weight, "unmatched": annotation.unmatched}
        for name, annotation in explanation.annotators.items()
    }


def _list_units(explanation: Explanation, units: Iterable[ContentUnit], output: Output) -> None:
    for unit in units:
        line = Text("  ").append(f"({unit.weight}) ", style=_style(unit.weight, len(explanation.pyramid.references)))
        line.append(plain(unit.label))
        if (times := explanation.times.get(unit.id, 0)) > 1:
            line.append(f"  {times} times", style="dim")
        if by := explanation.found_by(unit.id):
            line.append(f"  {len(by)} of {len(explanation.annotators)}: {plain(', '.join(by))}", style="dim")
        if times and (degree := explanation.degree(unit.id)) < 1:
            line.append(f"  degree {degree:.4f}", style="dim")
        if unit.id in explanation.corrected:
            line.append("  corrected", style="dim")
        mentions = explanation.evidence.get(unit.id, ())
        quotes = ["...".join(span.of(explanation.peer.text) for span in mention) for mention in mentions]
        if quotes:
            line.append("  " + plain(" | ".join(f"“{quote}”" for quote in quotes)), style="dim")
        output.show(line)


def _score_lines(explanation: Explanation) -> Iterator[str]:
    """The first two measures and their parts, for each annotator if there are several."""
    if not explanation.annotators:
        yield f"{_scores(explanation)}: {_counts(explanation)}"
        return
    yield f"{_scores(explanation)}: the mean of {len(explanation.annotators)} annotators"
    for name, annotation in explanation.annotators.items():
        yield f"  {plain(name)}: {_scores(annotation)}: {_counts(annotation)}"


def _scores(by: Explanation | OneAnnotation) -> str:
    shown = islice(by.measures.items(), 2)
    return ", ".join(f"{name} {'undefined' if value is None else f'{value:.4f}'}" for name, value in shown)


def _counts(by: Explanation | OneAnnotation) -> str:
    weight = "" if by.weight is None else f"weight {by.weight:.6g}, "
    matched = [times for times in by.times.values() if times > 0]
    unmatched = "not counted" if by.unmatched is None else f"{by.unmatched:g}"
    return f"{weight}{len(matched)} units matched, {sum(matched) - len(matched)} repeated, unmatched {unmatched}"


def _highlighted(explanation: Explanation) -> Text:
    """The summary with matched words coloured by the heaviest unit they express."""
    text = Text()
    size = len(explanation.pyramid.references)
    for words, weight in explanation.weighted_text():
        style = _style(weight, size) if weight else "dim" if explanation.evidence else ""
        text.append(plain(words), style=style)
    return text.append("\n")
