"""What an annotation can begin with: an existing pyramid, existing judgments, or DUCView files. A file contains its
own copy of the texts. Its words are located in the study's texts if these are the same apart from white space;
otherwise the file is refused, because words in the wrong place would be worse than none."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyramidion import formats
from pyramidion.annotation.commands import ImportMatches, ImportPyramid, Mark, Match, RefusedError, Subject
from pyramidion.errors import InputError, Problem, Problems, UsageError
from pyramidion.formats.ducview.text import dense
from pyramidion.study import ContentUnit, Contributor, Judgment, Pyramid, Span, Study
from pyramidion.study.judgments import times

Spans = tuple[Span, ...]
Mover = Callable[[Spans], Spans]
"""Takes spans of a text in a file to the same words of the study's text."""


# -- from the study ------------------------------------------------------------------------------------------


def import_of_pyramid(pyramid: Pyramid) -> ImportPyramid:
    """A pyramid as the first event. Two contributors from one reference become one, as everywhere in the editor."""
    return ImportPyramid(pyramid.strict().units)


def import_of_judgments(judgments: Iterable[Judgment]) -> ImportMatches:
    """One judge's counts of one peer as the first event. A mention without evidence is kept, without spans."""
    matches: list[Match] = []
    marks: list[Mark] = []
    given = [judgment for judgment in judgments if judgment.value is not None]
    if len({judgment.judge for judgment in given}) > 1:
        raise UsageError("an annotation can be imported from only one judge; these judgments are by several")
    for judgment in given:
        for spans in _mentions(judgment):
            id = str(len(matches) + len(marks) + 1)
            if judgment.unit:
                matches.append(Match(id, judgment.unit, spans))
            else:
                marks.append(Mark(id, spans))
    return ImportMatches(tuple(matches), tuple(marks))


def _mentions(judgment: Judgment) -> list[tuple[Span, ...]]:
    value = judgment.value or 0.0
    where = f"topic {judgment.topic}, system {judgment.system}, {judgment.unit or judgment.aspect}"
    if not value.is_integer() and (value > 1 or not judgment.unit):
        raise InputError(Problem(where, f"value {value:g} is not a count of mentions"))
    if len(judgment.evidence) > times(value):
        raise InputError(Problem(where, f"has evidence for {len(judgment.evidence)} mentions but counts {value:g}"))
    return [*judgment.evidence, *[()] * (times(value) - len(judgment.evidence))]


# -- from files ----------------------------------------------------------------------------------------------


def import_of_file(subject: Subject, file_name: str, text: str) -> ImportPyramid | ImportMatches:
    """The first event of an annotation from a .pyr file, or from a .pan file where a peer is annotated."""
    wanted = ".pyr" if subject.pyramid is None else ".pan"
    if Path(file_name).suffix.lower() != wanted:
        raise RefusedError(f"{file_name!r} cannot be imported here: a {wanted} file is needed")
    study = _read(file_name, text, wanted)
    if subject.pyramid is None:
        return _pyramid_of_file(subject, study)
    return _matches_of_file(subject, subject.pyramid, study)


def _read(file_name: str, text: str, suffix: str) -> Study:
    problems = Problems()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"topic.peer{suffix}"
        path.write_bytes(_ENCODING.sub(r"\1", text).encode())
        study = formats.get("ducview").read(path, problems)
    if problems.errors:
        raise InputError(replace(p, where=p.where.replace(str(path), file_name)) for p in problems.errors)
    return study


_ENCODING = re.compile(r"""(<\?xml\s[^>]*?)\s+encoding\s*=\s*(?:"[^"]*"|'[^']*')""")
"""What the file says about its bytes; it came as text."""


def _pyramid_of_file(subject: Subject, study: Study) -> ImportPyramid:
    [pyramid] = study.pyramids
    movers: dict[str, tuple[str, Mover]] = {}
    for reference in study.references:
        for name, text in sorted(subject.texts.items(), key=lambda item: item[0] != reference.system):
            if (mover := _mover(reference.text, text)) and name not in {known for known, _ in movers.values()}:
                movers[reference.system] = name, mover
                break
    used = {contributor.reference for unit in pyramid.units for contributor in unit.contributors}
    if lost := sorted(used - movers.keys()):
        there = ", ".join(subject.texts)
        raise RefusedError(f"the text of the file's reference {lost[0]!r} is not that of any reference here ({there})")
    units = tuple(replace(unit, contributors=_move_contributors(unit.contributors, movers)) for unit in pyramid.units)
    return import_of_pyramid(replace(pyramid, units=units))


def _move_contributors(
    contributors: Iterable[Contributor], movers: Mapping[str, tuple[str, Mover]]
) -> tuple[Contributor, ...]:
    moves = ((*movers[contributor.reference], contributor.spans) for contributor in contributors)
    return tuple(Contributor(name, mover(spans)) for name, mover, spans in moves)


def _matches_of_file(subject: Subject, pyramid: Pyramid, study: Study) -> ImportMatches:
    ((system, text),) = subject.texts.items()
    [peer] = study.peers
    mover = _mover(peer.text, text)
    if mover is None:
        raise RefusedError(f"the file annotates a different text from that of peer {system!r}")
    [theirs] = study.pyramids
    units = _same_units(theirs.units, pyramid.units)
    given = [judgment for judgment in study.judgments if judgment.value]
    if lost := [judgment.unit for judgment in given if judgment.unit and judgment.unit not in units]:
        label = next(unit.label for unit in theirs.units if unit.id == lost[0])
        raise RefusedError(f"the file's unit {lost[0]} “{label}” is not in this pyramid")
    return import_of_judgments(
        replace(judgment, unit=units.get(judgment.unit, ""), evidence=tuple(map(mover, judgment.evidence)))
        for judgment in given
    )


def _same_units(theirs: Sequence[ContentUnit], ours: Sequence[ContentUnit]) -> dict[str, str]:
    """Units of a file that are units here: of the same label, and, where several have it, of the same number."""
    labelled: dict[str, list[str]] = {}
    for unit in ours:
        labelled.setdefault(_comparable(unit.label), []).append(unit.id)
    pairs: dict[str, str] = {}
    for unit in theirs:
        same = labelled.get(_comparable(unit.label), [])
        numbered = [id for id in same if id == unit.id or _number(id) == unit.id]
        if len(same) == 1 or len(numbered) == 1:
            pairs[unit.id] = (same if len(same) == 1 else numbered)[0]
    return pairs


def _comparable(label: str) -> str:
    return dense(label).casefold()


def _number(id: str) -> str:
    """The number a unit has in a file: that at the end of its id."""
    return re.sub(r"^[^0-9]*0*(?=[0-9]+$)", "", id)


def _mover(source: str, target: str) -> Mover | None:
    """None where the texts differ in more than white space."""
    if source == target:
        return lambda spans: spans
    if dense(source) != dense(target):
        return None
    dark = [place for place, character in enumerate(target) if not character.isspace()]
    before = [0]
    for character in source:
        before.append(before[-1] + (not character.isspace()))

    def move(spans: Spans) -> Spans:
        filled = (Span(before[span.start], before[span.end]) for span in spans)
        return tuple(Span(dark[first], dark[last - 1] + 1) for first, last in filled if first < last)

    return move
