"""Reading .pyr and .pan files into one study; errors are repaired and reported.

A contributor counts in the weight of its unit, whatever is wrong with its parts: DUCView and the official scores count
it. So it is kept as long as the file says which reference it belongs to: the one that has most of its words, otherwise
the one its offsets point to. Words that are not in the text are left out, every repair is a warning, and only a
contributor that points nowhere is lost.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats.ducview.text import Passage, PeerName, Section, dense, peer_of, sections, topic_of, whole
from pyramidion.formats.ducview.xml import UNMATCHED_UID, XmlContributor, XmlPart, XmlText, XmlUnit, load
from pyramidion.formats.files import files, subfolders
from pyramidion.study import UNMATCHED, ContentUnit, Contributor, Judge, Judgment, Pyramid, Span, Study, Summary, Topic
from pyramidion.study.judgments import JudgmentsBuilder, Mention

_SUFFIXES = (".pyr", ".pan")
_WEIGHT = re.compile(r"\A\s*\(\d+\)")


def recognises(path: Path) -> bool:
    if path.is_dir():
        return not (path / "topics").is_dir() and any(files(path, suffix) for suffix in _SUFFIXES)
    return path.is_file() and path.suffix.lower() in _SUFFIXES


def read(path: Path, problems: Problems) -> Study:
    """Read a file, or every file of a folder and of its subfolders."""
    folders = [path, *subfolders(path)] if path.is_dir() else []
    reader = _Reader(problems)
    inside = [file for suffix in _SUFFIXES for folder in folders for file in files(folder, suffix)]
    for file in inside if folders else [path]:
        reader.add(file)
    if folders and not inside:
        problems.error(str(path), "contains no .pyr or .pan file")
    return reader.study()


@dataclass(frozen=True)
class _TopicPyramid:
    """The pyramid of a topic as it is used, and the file it comes from."""

    file: Path
    content: XmlText
    pyramid: Pyramid
    references: tuple[Summary, ...]
    uids: Mapping[str, str]
    """Of every unit's id the uid it has in the file."""

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """XmlUnit ids by label."""
        ids: dict[str, list[str]] = {}
        for unit in self.pyramid.units:
            ids.setdefault(_comparison_key(unit.label), []).append(unit.id)
        return ids


class _Reader:
    """Puts the files of one study together."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.topics: dict[str, _TopicPyramid] = {}
        self.peers: dict[tuple[str, str], Summary] = {}
        self.judges: dict[str, Judge] = {}
        self.judgments = JudgmentsBuilder()
        self.files: dict[tuple[str, str, str], tuple[Path, XmlText]] = {}

    def study(self) -> Study:
        references = [summary for loaded in self.topics.values() for summary in loaded.references]
        return Study(
            topics=tuple(map(Topic, self.topics)),
            summaries=(*references, *self.peers.values()),
            pyramids=tuple(loaded.pyramid for loaded in self.topics.values()),
            judges=tuple(self.judges.values()),
            judgments=self.judgments.build(),
        )

    def add(self, file: Path) -> None:
        if file.suffix.lower() not in _SUFFIXES or not file.is_file():
            self.problems.error(str(file), "is not a .pyr or .pan file")
        elif (document := load(file, self.problems)) is not None:
            if document.peer is None:
                self._add_pyramid(topic_of(file.stem), document.pyramid, file)
            else:
                name = peer_of(file.stem)
                self._add_pyramid(name.topic, document.pyramid, file)
                self._add_peer(name, document.peer, file)

    def _add_pyramid(self, topic: str, content: XmlText, file: Path) -> None:
        """Every .pan holds a copy of its pyramid: one is used and the others are only compared with it."""
        used = self.topics.get(topic)
        if used is None:
            self.topics[topic] = _read_pyramid(topic, content, file, self.problems)
        elif used.content != content:
            other = _read_pyramid(topic, content, file, Problems())
            if (other.pyramid, other.references) != (used.pyramid, used.references):
                self.problems.warning(str(file), f"its pyramid differs from that of {used.file}, which is used")

    def _add_peer(self, name: PeerName, content: XmlText, file: Path) -> None:
        earlier, known = self.files.setdefault((name.topic, name.system, name.judge), (file, content))
        if earlier != file and known == content:
            self.problems.warning(str(file), f"is left out: {earlier} is the same annotation")
            return
        if earlier != file:
            self.problems.error(str(file), f"is left out: {earlier} is by the same annotator on the same peer")
            return
        peer = self.peers.setdefault(
            (name.topic, name.system), Summary(name.topic, name.system, content.text, source=name.source)
        )
        if peer.text != content.text:
            # Locating the parts in the other text moves them to where their words are.
            self.problems.warning(str(file), f"the text of peer {name.system} differs from the one read before")
        self.judges.setdefault(name.judge, Judge(name.judge, "expert"))
        for judgment in _read_peer(name, content, peer.text, self.topics[name.topic], file, self.problems):
            self.judgments.add(judgment)


# -- pyramids ------------------------------------------------------------------------------------------------


def _read_pyramid(topic: str, content: XmlText, file: Path, problems: Problems) -> _TopicPyramid:
    passage = Passage(content.text)
    text_sections = sections(content.text, content.header, str(file), problems)
    if not text_sections:
        text_sections = [whole(content.text)]
        if any(len(unit.contributors) > 1 for unit in content.units):
            what = "no header was found: the whole text is read as one reference, and X_a is that of a single reference"
            problems.warning(str(file), what)
    units: dict[str, ContentUnit] = {}
    uids: dict[str, str] = {}
    taken = {unit.uid for unit in content.units}
    for unit in content.units:
        where = f"{file}, scu {unit.uid or repr(unit.label[:40])}"
        id = _new_uid(unit, units, taken)
        if id != unit.uid:
            problems.warning(where, f"its uid is missing or used by another scu; {id} is used instead")
        contributors = tuple(_contributors(unit, passage, text_sections, where, problems))
        units[id] = ContentUnit(id, unit.label, contributors, comment=unit.comment)
        uids[id] = unit.uid
    _report_comments(content.units, file, problems)
    references = tuple(
        Summary(topic, section.name, content.text[section.start : section.end], "reference", section.source)
        for section in text_sections
    )
    pyramid = Pyramid(topic, tuple(section.name for section in text_sections), tuple(units.values()))
    return _TopicPyramid(file, content, pyramid, references, uids)


def _contributors(
    unit: XmlUnit, passage: Passage, text_sections: Sequence[Section], where: str, problems: Problems
) -> Iterator[Contributor]:
    for number, given in enumerate(unit.contributors, 1):
        here = f"{where}, contributor {number}"
        made = _contributor(given, passage, text_sections, here, problems)
        if made:
            yield made
        else:
            problems.error(here, "is left out and not counted: nothing says which reference it belongs to")


def _new_uid(unit: XmlUnit, units: Mapping[str, ContentUnit], taken: Collection[str]) -> str:
    """The unit's own id, or one that no other unit has where it has none or shares it."""
    if unit.uid and unit.uid not in units:
        return unit.uid
    return next(id for number in count(2) if (id := f"{unit.uid or 'scu'}-{number}") not in units and id not in taken)


def _report_comments(units: Iterable[XmlUnit], file: Path, problems: Problems) -> None:
    count = sum(bool(contributor.comment) for unit in units for contributor in unit.contributors)
    if count:
        problems.warning(str(file), f"comments on {count} contributors are left out; only those on units are kept")


# -- peers ---------------------------------------------------------------------------------------------------


def _read_peer(
    name: PeerName, content: XmlText, text: str, loaded: _TopicPyramid, file: Path, problems: Problems
) -> Iterator[Judgment]:
    """How often each unit is expressed, and how much matches none: one mention for every contributor."""
    if _is_about_another_pyramid(content, loaded):
        problems.error(str(file), "is left out: most of its labels are not those of the pyramid's units")
        return
    passage = Passage(text)
    judged: dict[str, list[Mention]] = {}
    seen: dict[str, list[XmlUnit]] = {}
    for unit in content.units:
        where = f"{file}, peerscu {unit.uid}"
        question = _question(unit, loaded, judged, where, problems)
        if question is None:
            continue
        earlier = seen.setdefault(question, [])
        if any(unit.contributors == other.contributors for other in earlier):
            problems.warning(where, "says the same as another peerscu about the same unit; it counts once")
            continue
        if earlier:
            problems.warning(where, "is about the same unit as another peerscu; their contributors count together")
        earlier.append(unit)
        judged.setdefault(question, []).extend(
            _mention(given.parts, passage, f"{where}, contributor {number}", problems)
            for number, given in enumerate(unit.contributors, 1)
        )
    for question, mentions in judged.items():
        yield _judgment(name, question, len(mentions), tuple(filter(None, mentions)))
    _report_comments(content.units, file, problems)
    missing = [unit.id for unit in loaded.pyramid.units if unit.id not in judged]
    if missing:
        problems.warning(str(file), f"has no peerscu for the units {', '.join(missing)}; they count as absent")
    yield from (_judgment(name, unit, 0, ()) for unit in missing)


def _judgment(name: PeerName, question: str, count: int, evidence: tuple[Mention, ...]) -> Judgment:
    aspect = "" if question else UNMATCHED
    return Judgment(name.topic, name.system, name.judge, float(count), unit=question, aspect=aspect, evidence=evidence)


def _is_about_another_pyramid(content: XmlText, loaded: _TopicPyramid) -> bool:
    """Numbers alone would match any pyramid with any annotation: the labels must mostly agree."""
    units = [unit for unit in content.units if unit.uid != UNMATCHED_UID]
    unknown = sum(not _labels(unit) & loaded.labels.keys() for unit in units)
    return unknown > len(units) / 2


def _labels(unit: XmlUnit) -> set[str]:
    """A peerscu's label as it is and without the weight in front of it."""
    return {_comparison_key(unit.label), _comparison_key(_WEIGHT.sub("", unit.label, count=1))}


def _question(
    unit: XmlUnit, loaded: _TopicPyramid, judged: Collection[str], where: str, problems: Problems
) -> str | None:
    """The id of the unit a peerscu is about, nothing for unmatched content, None where there is no such unit.

    In some years the uids of peer and pyramid differ, so the label must agree, or it decides.
    """
    labels = _labels(unit)
    same = [id for label in sorted(labels) for id in loaded.labels.get(label, [])]
    if mine := [id for id in same if loaded.uids[id] == unit.uid]:  # several where two scus share uid and label
        return next((id for id in mine if id not in judged), mine[0])
    if unit.uid == UNMATCHED_UID:
        return ""
    if len(same) == 1:
        problems.warning(where, f"its label is that of scu {same[0]}, so it counts for that scu")
        return same[0]
    if unit.uid in loaded.uids:
        problems.warning(where, "its label differs from that of the scu with the same uid, which is used")
        return unit.uid
    what = "is left out: neither its uid nor its label is one of the pyramid's"
    if unit.contributors:
        problems.error(where, what)
    else:
        problems.warning(where, f"{what}; it contains no content of the peer")
    return None


def _comparison_key(label: str) -> str:
    return dense(label).casefold()


# -- where the words of a contributor are --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """A part, and where its words really are."""

    part: XmlPart
    span: Span
    moved: bool


def _mention(parts: Iterable[XmlPart], passage: Passage, where: str, problems: Problems) -> Mention:
    """Where the parts of a peer's contributor are, in the order of the text. It counts with or without words."""
    places = list(_places(parts, passage, where, problems))
    for place in places:
        _report_move(place, place.span, passage, where, problems)
    return tuple(sorted(place.span for place in places))


def _contributor(
    given: XmlContributor, passage: Passage, sections: Sequence[Section], where: str, problems: Problems
) -> Contributor | None:
    """A contributor in the reference it belongs to; None where nothing says which one that is."""
    parts = _parts(given, passage, where, problems)
    places = list(_places(parts, passage, where, problems))
    home = _home_section(places, passage, sections)
    pointed = _section_pointed_at(parts, places, passage, sections) if home is None else None
    if pointed is not None and any(not part.is_empty for part in parts):
        what = f"none of its words is in a reference; it counts for {pointed.name}, which its parts point to"
        problems.warning(where, what)
    section = home or pointed
    if section is None:
        return None
    spans = (_span_inside(place, section, passage, sections, where, problems) for place in places)
    offset = section.start
    return Contributor(section.name, tuple(sorted(Span(s.start - offset, s.end - offset) for s in spans if s)))


def _parts(given: XmlContributor, passage: Passage, where: str, problems: Problems) -> list[XmlPart]:
    """The parts that say something; where none does, those that the contributor's label is made of."""
    parts = [part for part in given.parts if not part.is_placeholder]
    if parts or not dense(given.label):
        return parts
    problems.warning(where, f"has no parts; its label {given.label[:40]!r} is searched for instead")
    whole = XmlPart(given.label, None, None)
    pieces = [given.label] if passage.locate(whole) else given.label.split("...")
    return [XmlPart(piece, None, None) for piece in pieces if dense(piece)]


def _places(parts: Iterable[XmlPart], passage: Passage, where: str, problems: Problems) -> Iterator[_Place]:
    for part in parts:
        if part.is_empty:
            continue
        span = passage.locate(part)
        if span is None:
            what = f"part {part.label[:40]!r} is left out: it is neither {_address(part)} nor anywhere else"
            problems.warning(where, what)
        else:
            yield _Place(part, span, (part.start, part.end) != passage.to_units(span))


def _address(part: XmlPart) -> str:
    return "at its offsets" if part.start is None or part.end is None else f"at {part.start}-{part.end}"


def _report_move(place: _Place, span: Span, passage: Passage, where: str, problems: Problems) -> None:
    units = passage.to_units(span)
    if (place.part.start, place.part.end) != units:
        moved = f"is not {_address(place.part)}; moved to {units.start}-{units.end}"
        problems.warning(where, f"part {place.part.label[:40]!r} {moved}")


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


def _home_section(places: Sequence[_Place], passage: Passage, sections: Sequence[Section]) -> Section | None:
    """The reference with most of the words: of those at their offsets, then of all; of equals the first one."""
    amounts: dict[int, tuple[int, int]] = {}
    for place in places:
        for number, part in _overlaps(place.span, sections):
            exact, total = amounts.get(number, (0, 0))
            words = passage.density(part)
            amounts[number] = (exact + words * (not place.moved), total + words)
    best = max(amounts, key=lambda number: (*amounts[number], -number), default=None)
    return None if best is None else sections[best]


def _section_pointed_at(
    parts: Sequence[XmlPart], places: Sequence[_Place], passage: Passage, sections: Sequence[Section]
) -> Section | None:
    """The reference below whose header the parts begin; the header belongs to it, as in DUCView."""
    given = (passage.to_points(part.start) for part in parts if part.start is not None)
    for start in (*(place.span.start for place in places), *given):
        number = bisect_right(sections, start, key=lambda section: section.top) - 1
        if number >= 0 and start <= len(passage.text):
            return sections[number]
    return None


def _span_inside(
    place: _Place, home: Section, passage: Passage, sections: Sequence[Section], where: str, problems: Problems
) -> Span | None:
    """What a part has in the contributor's reference. White space around the reference belongs to none."""
    for span in (place.span, passage.without_margins(place.span)):
        if home.start <= span.start < span.end <= home.end:
            _report_move(place, place.span, passage, where, problems)
            return span
    shared = Span(max(place.span.start, home.start), min(place.span.end, home.end))
    if shared.start < shared.end and passage.density(shared):
        what = f"part {place.part.label[:40]!r} extends beyond reference {home.name}; only its words there are kept"
        problems.warning(where, what)
        return passage.without_margins(shared)
    if place.moved and (again := passage.locate_within(place.part, home.start, home.end)):
        _report_move(place, again, passage, where, problems)
        return again
    others = ", ".join(sections[number].name for number, _ in _overlaps(place.span, sections))
    elsewhere = f"in reference {others}, not {home.name}" if others else "in no reference"
    problems.warning(where, f"part {place.part.label[:40]!r} is left out: it is {elsewhere}")
    return None
