"""Reading .pyr and .pan files into one study; what is wrong with them is put right and reported."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pyramidion.errors import Problems
from pyramidion.formats.ducview.names import PeerName, peer_of, topic_of
from pyramidion.formats.ducview.text import Passage, Section, dense, sections, whole
from pyramidion.formats.ducview.xml import UNMATCHED_UID, Annotated, Part, Unit, load
from pyramidion.formats.files import files, subfolders
from pyramidion.model import UNMATCHED, ContentUnit, Contributor, Judge, Judgment, Pyramid, Span, Study, Summary, Topic
from pyramidion.model.judgments import JudgmentsBuilder, Mention

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
    found = [file for suffix in _SUFFIXES for folder in folders for file in files(folder, suffix)]
    for file in found if folders else [path]:
        reader.add(file)
    if folders and not found:
        problems.error(str(path), "holds no .pyr or .pan file")
    return reader.study()


@dataclass(frozen=True)
class _Loaded:
    """The pyramid of a topic as it is used, and the file it comes from."""

    file: Path
    content: Annotated
    pyramid: Pyramid
    references: tuple[Summary, ...]

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """Unit ids by label."""
        found: dict[str, list[str]] = {}
        for unit in self.pyramid.units:
            found.setdefault(_comparable(unit.label), []).append(unit.id)
        return found

    @cached_property
    def label_of(self) -> dict[str, str]:
        return {unit.id: _comparable(unit.label) for unit in self.pyramid.units}


class _Reader:
    """Puts the files of one study together."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.topics: dict[str, _Loaded] = {}
        self.peers: dict[tuple[str, str], Summary] = {}
        self.judges: dict[str, Judge] = {}
        self.judgments = JudgmentsBuilder()
        self.files: dict[tuple[str, str, str], Path] = {}

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

    def _add_pyramid(self, topic: str, content: Annotated, file: Path) -> None:
        """Every .pan holds a copy of its pyramid: one is used, the others are only compared with it."""
        used = self.topics.get(topic)
        if used is None:
            self.topics[topic] = _read_pyramid(topic, content, file, self.problems)
        elif used.content != content:
            other = _read_pyramid(topic, content, file, Problems())
            if (other.pyramid, other.references) != (used.pyramid, used.references):
                self.problems.warning(str(file), f"its pyramid differs from that of {used.file}, which is used")

    def _add_peer(self, name: PeerName, content: Annotated, file: Path) -> None:
        earlier = self.files.setdefault((name.topic, name.system, name.judge), file)
        if earlier != file:
            self.problems.error(str(file), f"is left out: {earlier} is by the same annotator on the same peer")
            return
        peer = self.peers.setdefault(
            (name.topic, name.system), Summary(name.topic, name.system, content.text, source=name.source)
        )
        if peer.text != content.text:
            # Locating the parts in the other text moves them to where their words are.
            self.problems.warning(str(file), f"the text of peer {name.system} differs from that read before it")
        self.judges.setdefault(name.judge, Judge(name.judge, "expert"))
        for judgment in _read_peer(name, content, peer.text, self.topics[name.topic], file, self.problems):
            self.judgments.add(judgment)


# -- pyramids ------------------------------------------------------------------------------------------------


def _read_pyramid(topic: str, content: Annotated, file: Path, problems: Problems) -> _Loaded:
    passage = Passage(content.text)
    found = sections(content.text, content.header, str(file), problems)
    if not found:
        found = [whole(content.text)]
        if any(len(unit.contributors) > 1 for unit in content.units):
            problems.warning(str(file), "no header is found: the text is one reference, so every unit weighs 1")
    units: dict[str, ContentUnit] = {}
    for unit in content.units:
        where = f"{file}, scu {unit.uid or repr(unit.label[:40])}"
        if not unit.uid or unit.uid in units:
            problems.error(where, "is left out: its uid is missing or used by another scu")
            continue
        contributors = tuple(_contributors(unit, passage, found, where, problems))
        units[unit.uid] = ContentUnit(unit.uid, unit.label, contributors, comment=unit.comment)
    _report_comments(content.units, file, problems)
    references = tuple(
        Summary(topic, section.name, content.text[section.start : section.end], "reference", section.source)
        for section in found
    )
    pyramid = Pyramid(topic, tuple(section.name for section in found), tuple(units.values()))
    return _Loaded(file, content, pyramid, references)


def _contributors(
    unit: Unit, passage: Passage, found: Sequence[Section], where: str, problems: Problems
) -> Iterator[Contributor]:
    for number, contributor in enumerate(unit.contributors, 1):
        here = f"{where}, contributor {number}"
        spans = _locate(contributor.parts, passage, here, problems)
        made = _in_one_reference(spans, passage, found, here, problems)
        if made:
            yield made
        else:
            problems.error(here, "is left out: none of its parts is in a reference")


def _in_one_reference(
    spans: Iterable[Span], passage: Passage, found: Sequence[Section], where: str, problems: Problems
) -> Contributor | None:
    """A contributor in the reference of its first part; parts elsewhere are left out."""
    home: Section | None = None
    kept: list[Span] = []
    for span in spans:
        placed = _place(span, passage, found)
        home = home or (placed.section if placed else None)
        if placed and placed.section is home:
            kept.append(placed.span)
        else:
            other = f"in reference {placed.section.name}, not {home.name}" if placed and home else "in no reference"
            problems.error(where, f"part {span.of(passage.text)[:40]!r} is left out: it is {other}")
    return Contributor(home.name, tuple(kept)) if home else None


class _Placed(NamedTuple):
    section: Section
    span: Span


def _place(span: Span, passage: Passage, found: Sequence[Section]) -> _Placed | None:
    """The reference a span lies in, and the span counted from its start; spaces around the reference are cut off."""
    for start, end in (span, passage.without_margins(span)):
        number = bisect_right(found, start, key=lambda section: section.start) - 1
        if number >= 0 and start < end <= found[number].end:
            return _Placed(found[number], Span(start - found[number].start, end - found[number].start))
    return None


def _locate(parts: Iterable[Part], passage: Passage, where: str, problems: Problems) -> Mention:
    """Where the parts of a contributor are, in the order of the text."""
    spans: list[Span] = []
    for part in parts:
        if part.is_placeholder:
            continue
        span = passage.locate(part)
        if span is None:
            problems.error(
                where, f"part {part.label[:40]!r} is left out: it is not at {part.start}-{part.end}, nor anywhere else"
            )
            continue
        spans.append(span)
        units = passage.to_units(span)
        if (part.start, part.end) != units:
            problems.warning(
                where,
                f"part {part.label[:40]!r} is not at {part.start}-{part.end}; moved to {units.start}-{units.end}",
            )
    return tuple(sorted(spans))


def _report_comments(units: Iterable[Unit], file: Path, problems: Problems) -> None:
    count = sum(bool(contributor.comment) for unit in units for contributor in unit.contributors)
    if count:
        problems.warning(str(file), f"comments on {count} contributors are left out; only those on units are kept")


# -- peers ---------------------------------------------------------------------------------------------------


def _read_peer(
    name: PeerName, content: Annotated, text: str, loaded: _Loaded, file: Path, problems: Problems
) -> Iterator[Judgment]:
    """How often each unit is expressed, and how much matches none: one mention for every contributor."""
    if _of_another_pyramid(content, loaded):
        problems.error(str(file), "is left out: most of its labels are not those of the pyramid's units")
        return
    passage = Passage(text)
    judged: set[str] = set()
    for unit in content.units:
        where = f"{file}, peerscu {unit.uid}"
        question = _question(unit, loaded, where, problems)
        if question is None:
            continue
        if question in judged:
            problems.error(where, "is left out: another peerscu is about the same unit")
            continue
        judged.add(question)
        mentions = [
            _locate(contributor.parts, passage, f"{where}, contributor {number}", problems)
            for number, contributor in enumerate(unit.contributors, 1)
        ]
        yield _judgment(name, question, len(mentions), tuple(filter(None, mentions)))
    _report_comments(content.units, file, problems)
    missing = [unit.id for unit in loaded.pyramid.units if unit.id not in judged]
    if missing:
        problems.warning(str(file), f"has no peerscu for the units {', '.join(missing)}; they count as absent")
    yield from (_judgment(name, unit, 0, ()) for unit in missing)


def _judgment(name: PeerName, question: str, count: int, evidence: tuple[Mention, ...]) -> Judgment:
    aspect = "" if question else UNMATCHED
    return Judgment(name.topic, name.system, name.judge, float(count), unit=question, aspect=aspect, evidence=evidence)


def _of_another_pyramid(content: Annotated, loaded: _Loaded) -> bool:
    """Numbers alone would match any pyramid with any annotation: the labels must mostly agree."""
    units = [unit for unit in content.units if unit.uid != UNMATCHED_UID]
    strange = sum(not _labels(unit) & loaded.labels.keys() for unit in units)
    return strange > len(units) / 2


def _labels(unit: Unit) -> set[str]:
    """A peerscu's label as it stands and without the weight in front of it."""
    return {_comparable(unit.label), _comparable(_WEIGHT.sub("", unit.label, count=1))}


def _question(unit: Unit, loaded: _Loaded, where: str, problems: Problems) -> str | None:
    """The id of the unit a peerscu is about, nothing for unmatched content, None where there is no such unit.

    In some years the uids of peer and pyramid differ, so the label has to agree, or decides.
    """
    labels = _labels(unit)
    expected = loaded.label_of.get(unit.uid)
    if expected in labels:
        return unit.uid
    if unit.uid == UNMATCHED_UID:
        return ""
    same = [id for label in sorted(labels) for id in loaded.labels.get(label, [])]
    if len(same) == 1:
        problems.warning(where, f"its label is that of scu {same[0]}, so it is read as about that one")
        return same[0]
    if expected is not None:
        problems.warning(where, "its label differs from that of the scu with the same uid, which is taken")
        return unit.uid
    problems.error(where, "is left out: neither its uid nor its label is one of the pyramid's")
    return None


def _comparable(label: str) -> str:
    return dense(label).casefold()
