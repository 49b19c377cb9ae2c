"""The Lite2-3Pyramid layout (Zhang and Bansal 2021): one line per example, tabs between its parts.

SCUs.txt, references.txt            units and references
ids.txt, documents.txt, STUs.txt    topic ids, source texts, automatic units (optional)
summaries/<system>.summary          one peer summary per line
labels/<system>.label               one value per unit: 1 present, 0 absent, or a probability

The layout has no names for references, units and documents: they are numbered in the order of the line.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import Format
from pyramidion.formats.files import (
    break_at_marks,
    files,
    from_file_name,
    new_folder,
    parse_number,
    read_every_line,
    to_file_name,
    write_text,
)
from pyramidion.formats.rows import reference_names
from pyramidion.study import (
    ContentUnit,
    Contributor,
    Document,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Study,
    Summary,
    Topic,
)
from pyramidion.study.judgments import JudgmentsBuilder

EXPERT, AUTO, JUDGE = "expert", "auto", "labels"
_REQUIRED = ("SCUs.txt", "references.txt")
_OPTIONAL = ("ids.txt", "documents.txt", "STUs.txt")


def recognises(path: Path) -> bool:
    return all((path / name).is_file() for name in _REQUIRED)


# -- reading -------------------------------------------------------------------------------------------------


def read(path: Path, problems: Problems) -> Study:
    missing = [name for name in _REQUIRED if not (path / name).is_file()]
    for name in missing:
        problems.error(str(path), f"has no file {name!r}")
    if missing:
        return Study()
    lines = _read_files(path, problems)
    count = len(lines["SCUs.txt"])
    if not count:
        problems.error(str(path / "SCUs.txt"), "has no lines, so there is no example")
    none: list[str | None] = [None] * count
    ids = [str(number) if id is None else id for number, id in enumerate(lines.get("ids.txt", none), 1)]
    documents = map(_cells, lines.get("documents.txt", none))
    references = _read_references(ids, lines.get("references.txt", none))
    experts = _read_pyramids(path / "SCUs.txt", EXPERT, ids, references, lines["SCUs.txt"], problems)
    autos = _read_pyramids(path / "STUs.txt", AUTO, ids, references, lines.get("STUs.txt", none), problems)
    peers, judgments = _read_systems(path, ids, experts, lines, problems)
    return Study(
        topics=tuple(Topic(id, documents=_documents(texts)) for id, texts in zip(ids, documents, strict=True)),
        summaries=(*(summary for of_topic in references for summary in of_topic), *peers),
        pyramids=tuple(pyramid for pyramid in (*experts, *autos) if pyramid.units),
        judges=(Judge(JUDGE, "expert"),) if len(judgments) else (),
        judgments=judgments,
    )


def _read_files(path: Path, problems: Problems) -> dict[str, list[str | None]]:
    """The lines of each file by its name in the layout, without files of another length than SCUs.txt."""
    by_name: dict[str, list[str | None]] = {}
    named = [path / name for name in (*_REQUIRED, *_OPTIONAL) if (path / name).is_file()]
    for file in (*named, *files(path / "summaries", ".summary"), *files(path / "labels", ".label")):
        lines = read_every_line(file, problems)
        expected = len(by_name.get("SCUs.txt", lines))
        if len(lines) == expected:
            by_name[file.relative_to(path).as_posix()] = lines
        else:
            problems.error(str(file), f"has {len(lines)} lines, but SCUs.txt has {expected}")
    return by_name


def _cells(line: str | None) -> list[str]:
    return line.split("\t") if line else []


def _documents(texts: Iterable[str]) -> tuple[Document, ...]:
    return tuple(Document(str(number), break_at_marks(text)) for number, text in enumerate(texts, 1))


def _read_references(ids: Sequence[str], lines: Sequence[str | None]) -> list[list[Summary]]:
    texts = [[break_at_marks(text) for text in _cells(line)] for line in lines]
    names = reference_names(max(map(len, texts), default=0))
    return [
        [Summary(id, name, text, "reference") for name, text in zip(names, cells, strict=False)]
        for id, cells in zip(ids, texts, strict=True)
    ]


def _unit_id(name: str, number: int) -> str:
    return f"stu-{number}" if name == AUTO else str(number)


def _read_pyramids(
    file: Path,
    name: str,
    ids: Sequence[str],
    references: Sequence[Sequence[Summary]],
    lines: Sequence[str | None],
    problems: Problems,
) -> list[Pyramid]:
    pyramids = []
    for number, (id, known, line) in enumerate(zip(ids, references, lines, strict=True), 1):
        labels = _cells(line)
        for position, label in enumerate(labels, 1):
            if not label.strip():
                problems.error(f"{file}, line {number}", f"unit {position} is empty")
        systems = tuple(summary.system for summary in known)
        contributors = tuple(map(Contributor, systems[:1]))
        units = tuple(ContentUnit(_unit_id(name, k), label, contributors) for k, label in enumerate(labels, 1))
        pyramids.append(Pyramid(id, systems, units, name))
    if any(pyramid.units and len(pyramid.references) > 1 for pyramid in pyramids):
        problems.warning(
            str(file), "does not say which reference a unit comes from; every unit is assigned to the first"
        )
    return pyramids


def _read_systems(
    path: Path, ids: Sequence[str], pyramids: Sequence[Pyramid], lines: dict[str, list[str | None]], problems: Problems
) -> tuple[list[Summary], Judgments]:
    peers: list[Summary] = []
    judgments = JudgmentsBuilder()
    texts = {file.stem: file for file in files(path / "summaries", ".summary")}
    labels = {file.stem: file for file in files(path / "labels", ".label")}
    for stem in sorted(texts.keys() | labels.keys(), key=from_file_name):
        system = from_file_name(stem)
        if stem not in texts:
            problems.error(str(labels[stem]), f"has no summaries/{stem}.summary, so its texts are missing")
        if labels and stem not in labels:
            problems.warning(str(texts[stem]), f"has no labels/{stem}.label; its summaries are not judged")
        texts_of = zip(ids, lines.get(f"summaries/{stem}.summary", []), strict=False)
        peers += [Summary(id, system, break_at_marks(text)) for id, text in texts_of if text is not None]
        for number, line in enumerate(lines.get(f"labels/{stem}.label", []), 1):
            if line is not None:
                where = f"{labels[stem]}, line {number}"
                _read_labels(where, system, pyramids[number - 1], _cells(line), judgments, problems)
    return peers, judgments.build()


def _read_labels(
    where: str, system: str, pyramid: Pyramid, cells: list[str], judgments: JudgmentsBuilder, problems: Problems
) -> None:
    if len(cells) != len(pyramid.units):
        problems.error(where, f"has {len(cells)} labels, but SCUs.txt has {len(pyramid.units)} units for it")
        return
    for number, (unit, cell) in enumerate(zip(pyramid.units, cells, strict=True), 1):
        value = parse_number(cell)
        if value is None or value < 0:
            problems.error(where, f"label {number} is {cell!r}, which is not a number of 0 or more")
        else:
            judgments.add(Judgment(pyramid.topic, system, JUDGE, value, unit=unit.id))


# -- writing -------------------------------------------------------------------------------------------------


class _Lines:
    """Turns texts into lines, and counts how many of each kind had to be changed."""

    def __init__(self) -> None:
        self.changed: Counter[str] = Counter()
        self.vanished: Counter[str] = Counter()

    def of(self, kind: str, texts: Sequence[str]) -> str:
        cells = [re.sub(r"\r\n|[\t\r\n]", " ", text) for text in texts]
        self.changed[kind] += sum(cell != text for cell, text in zip(cells, texts, strict=True))
        self.vanished[kind] += cells == [""] and kind != "peers"
        return "\t".join(cells)

    def report(self, problems: Problems) -> None:
        for kind, count in self.changed.items():
            if count:
                problems.warning(
                    FORMAT.name, f"tabs and line breaks were replaced by spaces in {kind}: {count} changed"
                )
        for kind, count in self.vanished.items():
            if count:
                problems.warning(
                    FORMAT.name, f"an empty text alone on its line is read back as missing: {count} {kind} lost"
                )


def write(study: Study, path: Path, problems: Problems) -> None:
    lines = _Lines()
    references = _by_topic(study.references)
    scus = _units(study, _chosen_name(study, problems), problems)
    stus = _units(study, AUTO, problems)
    _report_names(study, references, {EXPERT: scus, AUTO: stus}, problems)
    with new_folder(path) as root:
        _write_lines(root / "ids.txt", [topic.id for topic in study.topics])
        for name, units in (("SCUs.txt", scus), ("STUs.txt", stus)):
            if name in _REQUIRED or any(units.values()):
                labels = [[unit.label for unit in units[topic.id]] for topic in study.topics]
                _write_lines(root / name, [lines.of("units", cells) for cells in labels])
        texts = [[summary.text for summary in references[topic.id]] for topic in study.topics]
        _write_lines(root / "references.txt", [lines.of("references", cells) for cells in texts])
        if any(topic.documents for topic in study.topics):
            texts = [[document.text for document in topic.documents] for topic in study.topics]
            _write_lines(root / "documents.txt", [lines.of("documents", cells) for cells in texts])
        for system in study.systems:
            peers = [lines.of("peers", [text]) for text in _peer_texts(study, system, problems)]
            _write_lines(root / "summaries" / f"{to_file_name(system)}.summary", peers)
        for system, values in _labels(study, scus, problems).items():
            _write_lines(root / "labels" / f"{to_file_name(system)}.label", values)
    lines.report(problems)


def _write_lines(file: Path, lines: Iterable[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    # Readers take one byte order mark for the file's own, so a text that starts with one needs a second.
    write_text(file, "\ufeff" + text if text.startswith("\ufeff") else text)


def _by_topic(summaries: Iterable[Summary]) -> dict[str, list[Summary]]:
    by_topic: dict[str, list[Summary]] = defaultdict(list)
    for summary in summaries:
        by_topic[summary.topic].append(summary)
    return by_topic


def _chosen_name(study: Study, problems: Problems) -> str:
    """The pyramid for SCUs.txt: "expert", otherwise the only one that is not automatic."""
    names = [name for name in study.pyramid_names if name != AUTO]
    chosen = EXPERT if EXPERT in names or len(names) != 1 else names[0]
    if chosen != EXPERT:
        problems.warning(f"pyramid {chosen}", f"is written to SCUs.txt and will be read back as {EXPERT!r}")
    for name in names:
        if name != chosen:
            problems.warning(f"pyramid {name}", "is left out: SCUs.txt holds one pyramid per topic")
    return chosen


def _units(study: Study, name: str, problems: Problems) -> dict[str, list[ContentUnit]]:
    """The units of every topic in one pyramid, without those whose cell would be empty."""
    units: dict[str, list[ContentUnit]] = {topic.id: [] for topic in study.topics}
    for pyramid in study.pyramids:
        if pyramid.name == name:
            units[pyramid.topic] = [unit for unit in pyramid.units if unit.label.strip()]
            for unit in pyramid.units:
                if not unit.label.strip():
                    problems.warning(f"topic {pyramid.topic}, unit {unit.id}", "has an empty label and is left out")
    return units


def _report_names(
    study: Study,
    references: dict[str, list[Summary]],
    units: dict[str, dict[str, list[ContentUnit]]],
    problems: Problems,
) -> None:
    names = reference_names(max(map(len, references.values()), default=0))
    renamed: Counter[str] = Counter()
    rooted = 0
    for topic in study.topics:
        known = [summary.system for summary in references[topic.id]]
        renamed["references"] += _count_differences(known, names)
        documents = [document.id for document in topic.documents]
        renamed["documents"] += _count_differences(documents, [str(number) for number in range(1, len(documents) + 1)])
        for name, by_topic in units.items():
            written = by_topic[topic.id]
            renamed["units"] += _count_differences(
                [u.id for u in written], [_unit_id(name, k) for k in range(1, len(written) + 1)]
            )
            rooted += sum(unit.references != frozenset(known[:1]) for unit in written)
    for noun, count in renamed.items():
        if count:
            problems.warning(FORMAT.name, f"cannot hold names of {noun}: {count} are numbered instead")
    if rooted:
        problems.warning(FORMAT.name, f"cannot hold which references a unit comes from: {rooted} units lose this")


def _count_differences(names: Sequence[str], expected: Sequence[str]) -> int:
    return sum(name != wanted for name, wanted in zip(names, expected, strict=False))


def _peer_texts(study: Study, system: str, problems: Problems) -> list[str]:
    peers = [study.summary(topic.id, system) for topic in study.topics]
    missing = [topic.id for topic, summary in zip(study.topics, peers, strict=True) if summary is None]
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        problems.warning(
            f"system {system}", f"no summary for {len(missing)} topics ({shown}); they are written as empty"
        )
    return [summary.text if summary else "" for summary in peers]


def _labels(study: Study, units: dict[str, list[ContentUnit]], problems: Problems) -> dict[str, list[str]]:
    """The lines of each system's labels file, for systems with exactly one value per unit."""
    values = _values_by_judge(study, units, problems)
    judge = JUDGE if JUDGE in values else next(iter(values), "")
    if len(values) > 1 and judge != JUDGE:
        problems.warning(
            FORMAT.name,
            f"{len(values)} judges judged the units, so no labels are written; aggregate the judgments first",
        )
        return {}
    if len(values) > 1:
        problems.warning(FORMAT.name, f"labels are those of judge {JUDGE!r}; {len(values) - 1} other judges left out")
    elif judge and (judge != JUDGE or JUDGE not in study.judges_of("expert")):
        problems.warning(f"judge {judge}", f"will be read back as the expert {JUDGE!r}")
    given = values.get(judge, {})
    judged = {system for _, system, _ in given}
    for system in sorted(judged.difference(study.systems)):
        problems.warning(f"system {system}", "its labels are left out: the study has none of its summaries")
    written = {
        system: [_label_line(topic.id, system, units[topic.id], given, problems) for topic in study.topics]
        for system in study.systems
        if system in judged
    }
    return {
        system: [line for line in lines if line is not None] for system, lines in written.items() if None not in lines
    }


_Values = dict[tuple[str, str, str], list[float | None]]


def _values_by_judge(study: Study, units: dict[str, list[ContentUnit]], problems: Problems) -> dict[str, _Values]:
    known = {(topic, unit.id) for topic, kept in units.items() for unit in kept}
    values: dict[str, _Values] = defaultdict(lambda: defaultdict(list))
    elsewhere = 0
    for judgment in study.judgments:
        if (judgment.topic, judgment.unit) in known:
            values[judgment.judge][judgment.topic, judgment.system, judgment.unit].append(judgment.value)
        else:
            elsewhere += bool(judgment.unit)
    if elsewhere:
        problems.warning(FORMAT.name, f"labels are about SCUs.txt: {elsewhere} judgments on other units left out")
    return values


def _label_line(
    topic: str, system: str, units: Iterable[ContentUnit], given: _Values, problems: Problems
) -> str | None:
    cells = []
    for unit in units:
        values = given.get((topic, system, unit.id), [])
        if len(values) != 1 or values[0] is None:
            fault = "is judged more than once" if len(values) > 1 else "has no label"
            where = f"topic {topic}, system {system}, unit {unit.id}"
            problems.warning(where, f"{fault}: the labels of {system} are left out")
            return None
        cells.append(str(int(values[0])) if values[0].is_integer() else repr(values[0]))
    return "\t".join(cells)


FORMAT = Format(
    name="lite23",
    title="Lite2-3Pyramid folder: SCUs.txt, references.txt, summaries/*.summary, labels/*.label",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset({"documents", "references", "peers", "pyramids", "unit judgments"}),
)
