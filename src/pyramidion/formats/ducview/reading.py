"""Reading .pyr and .pan files into one study; what is wrong with them is put right and reported."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats.ducview.names import PeerName, peer_of, topic_of
from pyramidion.formats.ducview.placing import contributor, mention
from pyramidion.formats.ducview.text import Passage, Section, dense, sections, whole
from pyramidion.formats.ducview.xml import UNMATCHED_UID, Annotated, Unit, load
from pyramidion.formats.files import files, subfolders
from pyramidion.study import UNMATCHED, ContentUnit, Contributor, Judge, Judgment, Pyramid, Study, Summary, Topic
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
    uids: Mapping[str, str]
    """Of every unit's id the uid it has in the file."""

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """Unit ids by label."""
        found: dict[str, list[str]] = {}
        for unit in self.pyramid.units:
            found.setdefault(_comparable(unit.label), []).append(unit.id)
        return found


class _Reader:
    """Puts the files of one study together."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self.topics: dict[str, _Loaded] = {}
        self.peers: dict[tuple[str, str], Summary] = {}
        self.judges: dict[str, Judge] = {}
        self.judgments = JudgmentsBuilder()
        self.files: dict[tuple[str, str, str], tuple[Path, Annotated]] = {}

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
            what = "no header is found: the text is read as one reference, and X_a is that of a single one"
            problems.warning(str(file), what)
    units: dict[str, ContentUnit] = {}
    uids: dict[str, str] = {}
    taken = {unit.uid for unit in content.units}
    for unit in content.units:
        where = f"{file}, scu {unit.uid or repr(unit.label[:40])}"
        id = _new_uid(unit, units, taken)
        if id != unit.uid:
            problems.warning(where, f"its uid is missing or used by another scu; it is read as {id}")
        contributors = tuple(_contributors(unit, passage, found, where, problems))
        units[id] = ContentUnit(id, unit.label, contributors, comment=unit.comment)
        uids[id] = unit.uid
    _report_comments(content.units, file, problems)
    references = tuple(
        Summary(topic, section.name, content.text[section.start : section.end], "reference", section.source)
        for section in found
    )
    pyramid = Pyramid(topic, tuple(section.name for section in found), tuple(units.values()))
    return _Loaded(file, content, pyramid, references, uids)


def _contributors(
    unit: Unit, passage: Passage, found: Sequence[Section], where: str, problems: Problems
) -> Iterator[Contributor]:
    for number, given in enumerate(unit.contributors, 1):
        here = f"{where}, contributor {number}"
        made = contributor(given, passage, found, here, problems)
        if made:
            yield made
        else:
            problems.error(here, "is left out and not counted: nothing says which reference it is in")


def _new_uid(unit: Unit, units: Mapping[str, ContentUnit], taken: Collection[str]) -> str:
    """The unit's own id, or one that no other unit has where it has none or shares it."""
    if unit.uid and unit.uid not in units:
        return unit.uid
    return next(id for number in count(2) if (id := f"{unit.uid or 'scu'}-{number}") not in units and id not in taken)


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
    judged: dict[str, list[Mention]] = {}
    seen: dict[str, list[Unit]] = {}
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
            mention(given.parts, passage, f"{where}, contributor {number}", problems)
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


def _of_another_pyramid(content: Annotated, loaded: _Loaded) -> bool:
    """Numbers alone would match any pyramid with any annotation: the labels must mostly agree."""
    units = [unit for unit in content.units if unit.uid != UNMATCHED_UID]
    strange = sum(not _labels(unit) & loaded.labels.keys() for unit in units)
    return strange > len(units) / 2


def _labels(unit: Unit) -> set[str]:
    """A peerscu's label as it stands and without the weight in front of it."""
    return {_comparable(unit.label), _comparable(_WEIGHT.sub("", unit.label, count=1))}


def _question(unit: Unit, loaded: _Loaded, judged: Collection[str], where: str, problems: Problems) -> str | None:
    """The id of the unit a peerscu is about, nothing for unmatched content, None where there is no such unit.

    In some years the uids of peer and pyramid differ, so the label has to agree, or decides.
    """
    labels = _labels(unit)
    same = [id for label in sorted(labels) for id in loaded.labels.get(label, [])]
    if mine := [id for id in same if loaded.uids[id] == unit.uid]:  # several where two scus share uid and label
        return next((id for id in mine if id not in judged), mine[0])
    if unit.uid == UNMATCHED_UID:
        return ""
    if len(same) == 1:
        problems.warning(where, f"its label is that of scu {same[0]}, so it is read as about that one")
        return same[0]
    if unit.uid in loaded.uids:
        problems.warning(where, "its label differs from that of the scu with the same uid, which is taken")
        return unit.uid
    what = "is left out: neither its uid nor its label is one of the pyramid's"
    if unit.contributors:
        problems.error(where, what)
    else:
        problems.warning(where, f"{what}, and nothing of the peer is in it")
    return None


def _comparable(label: str) -> str:
    return dense(label).casefold()
