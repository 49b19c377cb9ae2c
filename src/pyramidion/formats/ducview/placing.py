"""Where the words of a contributor are, and which reference it belongs to.

A contributor counts in the weight of its unit, whatever is wrong with its parts: DUCView and the official scores count
it. So it is kept as long as the file says which reference it belongs to: the one that has most of its words, else the
one its offsets point to. Words that are not there are left out, every repair is a warning, and only a contributor that
points nowhere is lost.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyramidion.errors import Problems
from pyramidion.formats.ducview import xml
from pyramidion.formats.ducview.text import Passage, Section, dense
from pyramidion.formats.ducview.xml import Part
from pyramidion.study import Contributor, Span
from pyramidion.study.judgments import Mention


@dataclass(frozen=True, slots=True)
class _Located:
    """A part, and where its words really are."""

    part: Part
    span: Span
    moved: bool


def mention(parts: Iterable[Part], passage: Passage, where: str, problems: Problems) -> Mention:
    """Where the parts of a peer's contributor are, in the order of the text. It counts with or without words."""
    located = list(_located(parts, passage, where, problems))
    for found in located:
        _report_moved(found, found.span, passage, where, problems)
    return tuple(sorted(found.span for found in located))


def contributor(
    given: xml.Contributor, passage: Passage, sections: Sequence[Section], where: str, problems: Problems
) -> Contributor | None:
    """A contributor in the reference it belongs to; None where nothing says which one that is."""
    parts = _parts(given, passage, where, problems)
    located = list(_located(parts, passage, where, problems))
    home = _home(located, passage, sections)
    pointed = _pointed_at(parts, located, passage, sections) if home is None else None
    if pointed is not None and any(not part.is_empty for part in parts):
        what = f"none of its words is in a reference; it counts in {pointed.name}, where its parts point to"
        problems.warning(where, what)
    section = home or pointed
    if section is None:
        return None
    spans = (_inside(found, section, passage, sections, where, problems) for found in located)
    offset = section.start
    return Contributor(section.name, tuple(sorted(Span(s.start - offset, s.end - offset) for s in spans if s)))


def _parts(given: xml.Contributor, passage: Passage, where: str, problems: Problems) -> list[Part]:
    """The parts that say something; where none does, those that the contributor's label is made of."""
    parts = [part for part in given.parts if not part.is_placeholder]
    if parts or not dense(given.label):
        return parts
    problems.warning(where, f"has no parts; its label {given.label[:40]!r} is looked for instead")
    whole = Part(given.label, None, None)
    pieces = [given.label] if passage.locate(whole) else given.label.split("...")
    return [Part(piece, None, None) for piece in pieces if dense(piece)]


def _located(parts: Iterable[Part], passage: Passage, where: str, problems: Problems) -> Iterator[_Located]:
    for part in parts:
        if part.is_empty:
            continue
        span = passage.locate(part)
        if span is None:
            what = f"part {part.label[:40]!r} is left out: it is not {_address(part)}, nor anywhere else"
            problems.warning(where, what)
        else:
            yield _Located(part, span, (part.start, part.end) != passage.to_units(span))


def _address(part: Part) -> str:
    return "at its offsets" if part.start is None or part.end is None else f"at {part.start}-{part.end}"


def _report_moved(found: _Located, span: Span, passage: Passage, where: str, problems: Problems) -> None:
    units = passage.to_units(span)
    if (found.part.start, found.part.end) != units:
        moved = f"is not {_address(found.part)}; moved to {units.start}-{units.end}"
        problems.warning(where, f"part {found.part.label[:40]!r} {moved}")


# -- which reference -----------------------------------------------------------------------------------------


def _overlaps(span: Span, sections: Sequence[Section]) -> Iterator[tuple[int, Span]]:
    """The references a span runs over, by number, and its part in each."""
    first = max(0, bisect_right(sections, span.start, key=lambda section: section.start) - 1)
    for number in range(first, len(sections)):
        section = sections[number]
        if section.start >= span.end:
            return
        part = Span(max(span.start, section.start), min(span.end, section.end))
        if part.start < part.end:
            yield number, part


def _home(located: Sequence[_Located], passage: Passage, sections: Sequence[Section]) -> Section | None:
    """The reference with most of the words: of those at their offsets, then of all; of equals the first one."""
    amounts: dict[int, tuple[int, int]] = {}
    for found in located:
        for number, part in _overlaps(found.span, sections):
            exact, total = amounts.get(number, (0, 0))
            words = passage.density(part)
            amounts[number] = (exact + words * (not found.moved), total + words)
    best = max(amounts, key=lambda number: (*amounts[number], -number), default=None)
    return None if best is None else sections[best]


def _pointed_at(
    parts: Sequence[Part], located: Sequence[_Located], passage: Passage, sections: Sequence[Section]
) -> Section | None:
    """The reference below whose header the parts begin; the header belongs to it, as in DUCView."""
    given = (passage.to_points(part.start) for part in parts if part.start is not None)
    for place in (*(found.span.start for found in located), *given):
        number = bisect_right(sections, place, key=lambda section: section.top) - 1
        if number >= 0 and place <= len(passage.text):
            return sections[number]
    return None


def _inside(
    found: _Located, home: Section, passage: Passage, sections: Sequence[Section], where: str, problems: Problems
) -> Span | None:
    """What a part has in the contributor's reference. White space around the reference is nobody's."""
    for span in (found.span, passage.without_margins(found.span)):
        if home.start <= span.start < span.end <= home.end:
            _report_moved(found, found.span, passage, where, problems)
            return span
    shared = Span(max(found.span.start, home.start), min(found.span.end, home.end))
    if shared.start < shared.end and passage.density(shared):
        what = f"part {found.part.label[:40]!r} goes beyond reference {home.name}; only its words there are kept"
        problems.warning(where, what)
        return passage.without_margins(shared)
    if found.moved and (again := passage.locate_within(found.part, home.start, home.end)):
        _report_moved(found, again, passage, where, problems)
        return again
    others = ", ".join(sections[number].name for number, _ in _overlaps(found.span, sections))
    place = f"in reference {others}, not {home.name}" if others else "in no reference"
    problems.warning(where, f"part {found.part.label[:40]!r} is left out: it is {place}")
    return None
