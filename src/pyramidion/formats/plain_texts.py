"""Plain text files, which most people have, in four arrangements.

folder      topics/<topic>/references/<author>.txt, topics/<topic>/peers/<system>.txt, and for each topic optionally
            documents/<id>.txt and topic.toml (title = "...", description = "..."). For a single topic its folder is
            enough: references/<author>.txt, peers/<system>.txt.
by-system   references/<topic>.txt (or references/<author>/<topic>.txt), <system>/<topic>.txt, documents/<topic>.txt
lines       references.txt (or references.<author>.txt), <system>.txt, documents.txt, ids.txt: line n of each is about
            topic n. Also test.target, test.source and <system>.hypo.
file-names  <topic>_reference.txt and <topic>_<system>.txt in one folder

References may be called gold, target, human or model as well, in that order: if a folder has several of these, the
others are systems.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import Format, nist
from pyramidion.formats.files import (
    break_at_marks,
    files,
    from_file_name,
    is_too_long,
    new_folder,
    read_every_line,
    read_text,
    subfolders,
    to_file_name,
    write_text,
)
from pyramidion.formats.rows import size_in_words
from pyramidion.study import Document, Study, Summary, Topic
from pyramidion.study.texts import Role

REFERENCES = (
    *("references", "reference", "refs", "ref", "gold", "golds", "targets", "target", "human", "humans"),
    *("models", "model"),
)
"""What references may be called, the most telling first: ROUGE calls them models, others their systems."""
DOCUMENTS = ("documents", "source", "sources")
IDS = "ids"
ONLY_AUTHOR = "reference"
"""The author's name if there is one reference per topic."""
_ROLES: dict[str, Role] = {"references": "reference", "peers": "peer"}


def _chosen(names: Iterable[str]) -> str | None:
    """The name under which references are, among several."""
    given = {name.lower(): name for name in names}
    return next((given[name] for name in REFERENCES if name in given), None)


def _with_documents(ids: Iterable[str], documents: dict[str, str]) -> tuple[Topic, ...]:
    return tuple(Topic(id, documents=(Document("1", documents[id]),) if documents.get(id) else ()) for id in ids)


def _texts(found: Sequence[Path], problems: Problems) -> Iterator[tuple[str, str]]:
    """The texts that can be read, under the names that their files have."""
    for file in found:
        if (text := read_text(file, problems)) is not None:
            yield from_file_name(file.stem), text


def _say(path: Path, layout: str, references: str, study: Study, problems: Problems) -> None:
    shown = ", ".join(study.systems[:5]) + (", ..." if len(study.systems) > 5 else "")
    size = size_in_words(systems=len(study.systems), topics=len(study.topics))
    about = f"references from {references}, system{'s' * (len(study.systems) != 1)} {shown}"
    problems.recognised = f"{path.resolve().name}: plain text, {layout}: {about} ({size})"


# -- a folder for each topic -------------------------------------------------------------------------------------


def recognises_topics(path: Path) -> bool:
    return (path / "topics").is_dir() or _is_topic(path)


def _is_topic(path: Path) -> bool:
    """Whether a folder holds a topic: with folders besides a topic's own they are systems."""
    if not (path / "references").is_dir():
        return False
    return (path / "peers").is_dir() or {each.name for each in subfolders(path)} <= {"references", "documents"}


def read_topics(path: Path, problems: Problems) -> Study:
    if not (path / "topics").is_dir() and not (path / "references").is_dir():
        problems.error(str(path), "has neither a folder 'topics' nor, for a single topic, a folder 'references'")
        return Study()
    held = path / "topics"
    folders = subfolders(held) if held.is_dir() else [path.resolve()]
    topics: list[Topic] = []
    summaries: list[Summary] = []
    for folder in folders:
        topic = _read_topic(folder, problems)
        topics.append(topic)
        known = {*_ROLES, "documents", "topic.toml"}
        for entry in sorted(entry.name for entry in folder.iterdir()):
            if entry not in known and not entry.startswith("."):
                problems.warning(str(folder / entry), f"is ignored; a topic may have {', '.join(sorted(known))}")
        for name, role in _ROLES.items():
            texts = files(folder / name, ".txt")
            if not texts:
                problems.warning(str(folder), f"has no {name}")
            summaries += [Summary(topic.id, system, text, role) for system, text in _texts(texts, problems)]
    if not topics:
        problems.error(str(held), "has no topic folder")
    return Study(topics=tuple(topics), summaries=tuple(summaries))


def _read_topic(folder: Path, problems: Problems) -> Topic:
    about: dict[str, object] = {}
    toml = folder / "topic.toml"
    if toml.is_file():
        try:
            about = tomllib.loads(read_text(toml, problems) or "")
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            problems.error(str(toml), f"is not TOML: {error}")
    for key in sorted(about.keys() - {"title", "description"}):
        problems.warning(str(toml), f"unknown key {key!r} is ignored")
    documents = tuple(Document(*named) for named in _texts(files(folder / "documents", ".txt"), problems))
    title, description = (str(about.get(key, "")) for key in ("title", "description"))
    return Topic(from_file_name(folder.name), title, description, documents)


def write_topics(study: Study, path: Path, problems: Problems) -> None:
    with new_folder(path) as root:
        for topic in study.topics:
            folder = root / "topics" / to_file_name(topic.id)
            folder.mkdir(parents=True)
            if topic.title or topic.description:
                # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
                lines = [
                    f"{key} = {json.dumps(value, ensure_ascii=False)}\n".replace("\x7f", "\\u007F")
                    for key, value in (("title", topic.title), ("description", topic.description))
                ]
                write_text(folder / "topic.toml", "".join(lines))
            for document in topic.documents:
                write_text(folder / "documents" / f"{to_file_name(document.id)}.txt", document.text)
        for summary in study.summaries:
            place = "references" if summary.role == "reference" else "peers"
            file = root / "topics" / to_file_name(summary.topic) / place / f"{to_file_name(summary.system)}.txt"
            write_text(file, summary.text)


# -- a folder for each system ------------------------------------------------------------------------------------


def recognises_systems(path: Path) -> bool:
    if not path.is_dir() or recognises_topics(path) or nist.recognises(path):
        return False
    chosen = _chosen(folder.name for folder in subfolders(path))
    if chosen is None:
        return False
    held = any(files(each, ".txt") for each in (path / chosen, *subfolders(path / chosen)))
    return held and any(files(each, ".txt") for each in _systems(path, chosen))


def read_systems(path: Path, problems: Problems) -> Study:
    chosen = _chosen(folder.name for folder in (subfolders(path) if path.is_dir() else ()))
    if chosen is None:
        problems.error(str(path), f"has no folder 'references', nor one called {', '.join(REFERENCES[4:])}")
        return Study()
    references = path / chosen
    summaries = [*_of_system(references, ONLY_AUTHOR, "reference", problems)] if files(references, ".txt") else []
    for author in subfolders(references):
        summaries += _of_system(author, from_file_name(author.name), "reference", problems)
    known = {summary.topic for summary in summaries}
    for system in _systems(path, chosen):
        for summary in _of_system(system, from_file_name(system.name), "peer", problems):
            if summary.topic not in known:
                problems.warning(str(system), f"has topic {summary.topic}, which has no reference")
            summaries.append(summary)
    documents = {id: text for name in DOCUMENTS for id, text in _texts(files(path / name, ".txt"), problems)}
    topics = _with_documents(sorted({summary.topic for summary in summaries}), documents)
    study = Study(topics=topics, summaries=tuple(summaries))
    _say(path, "one folder per system", f"{chosen}/", study, problems)
    return study


def _systems(path: Path, references: str) -> list[Path]:
    return [each for each in subfolders(path) if each.name != references and each.name.lower() not in DOCUMENTS]


def _of_system(held: Path, system: str, role: Role, problems: Problems) -> Iterator[Summary]:
    texts = files(held, ".txt")
    if not texts:
        problems.warning(str(held), "has no .txt file and is ignored")
    return (Summary(topic, system, text, role) for topic, text in _texts(texts, problems))


# -- a line for each topic ---------------------------------------------------------------------------------------

_TARGETS, _OUTPUTS = (".target", ".ref", ".gold"), (".hypo", ".hyp", ".pred", ".out", ".output")


def _line_files(path: Path) -> dict[str, list[Path]]:
    """Files by what their lines are: references, documents, ids or summaries. fairseq names them by their suffixes."""
    if not path.is_dir() or (path / "SCUs.txt").exists():  # the latter is lite23's
        return {}
    targets = [file for suffix in _TARGETS for file in files(path, suffix)]
    if targets:
        outputs = [file for suffix in _OUTPUTS for file in files(path, suffix)]
        return {"references": targets, "documents": files(path, ".source"), "ids": [], "summaries": outputs}
    texts = files(path, ".txt")
    chosen = _chosen(file.stem.partition(".")[0] for file in texts)
    by_kind: dict[str, list[Path]] = {"references": [], "documents": [], "ids": [], "summaries": []}
    for file in texts:
        first = file.stem.partition(".")[0]
        is_plain = first == file.stem
        kind = "documents" if is_plain and first in DOCUMENTS else "ids" if file.stem == IDS else "summaries"
        by_kind["references" if first == chosen else kind].append(file)
    return by_kind


def recognises_lines(path: Path) -> bool:
    found = _line_files(path)
    return bool(found and found["references"] and found["summaries"])


def read_lines_of_topics(path: Path, problems: Problems) -> Study:
    found = _line_files(path)
    if not found or not found["references"]:
        problems.error(str(path), "has no references.txt")
        return Study()
    held = {file: _short_lines(file, problems) for named in found.values() for file in named}
    first = found["references"][0]
    size = len(held[first])
    for file, lines in held.items():
        if len(lines) != size:
            problems.error(str(file), f"has {len(lines)} lines, but {first.name} has {size}")
    numbers = [f"{number:0{len(str(size))}}" for number in range(1, size + 1)]
    named = held[found["ids"][0]] if found["ids"] else numbers
    ids = [name if name is not None else number for name, number in zip(named, numbers, strict=False)]
    documents = held[found["documents"][0]] if found["documents"] else []
    topics = _with_documents(ids, {id: text for id, text in zip(ids, documents, strict=False) if text})
    roles: tuple[tuple[str, Role], ...] = (("references", "reference"), ("summaries", "peer"))
    summaries = tuple(
        Summary(
            topic, _author(file, found["references"]) if role == "reference" else from_file_name(file.stem), text, role
        )
        for kind, role in roles
        for file in found[kind]
        for topic, text in zip(ids, held[file], strict=False)
        if text is not None
    )
    study = Study(topics=topics, summaries=summaries)
    _say(path, "one line per topic", ", ".join(file.name for file in found["references"]), study, problems)
    return study


def _short_lines(file: Path, problems: Problems) -> list[str | None]:
    lines = enumerate(read_every_line(file, problems), 1)
    return [
        None if line is None or is_too_long(len(line), f"{file}, line {number}", problems) else break_at_marks(line)
        for number, line in lines
    ]


def _author(file: Path, references: Sequence[Path]) -> str:
    """Who wrote a file of references: references.<author>.txt, or one of several test.target."""
    if file.suffix.lower() in _TARGETS:
        return ONLY_AUTHOR if len(references) == 1 else from_file_name(file.stem)
    _, dot, author = file.stem.partition(".")
    return from_file_name(author) if dot else ONLY_AUTHOR


# -- names of files that say topic and system --------------------------------------------------------------------

_REFERENCE_NAME = re.compile(
    rf"(?P<topic>.+)[_.-](?:{'|'.join(REFERENCES)})(?:[_-]?(?P<author>\d+|[A-Z]))?", re.IGNORECASE
)


def _named_files(path: Path) -> tuple[dict[Path, re.Match[str]], dict[Path, str]]:
    """References with what their names say, and other files with the topic they are about."""
    texts = files(path, ".txt") if path.is_dir() else []
    references = {file: match for file in texts if (match := _REFERENCE_NAME.fullmatch(file.stem))}
    topics = sorted({match["topic"] for match in references.values()}, key=len, reverse=True)
    peers = {}
    for file in texts:
        if file not in references:
            topic = next(
                (t for t in topics if file.stem.startswith(t) and file.stem[len(t) :][:1] in {"_", ".", "-"}), ""
            )
            peers[file] = topic if len(file.stem) > len(topic) + 1 else ""
    return references, peers


def recognises_names(path: Path) -> bool:
    """Whether every text is of a topic that has a reference."""
    references, peers = _named_files(path)
    return bool(references) and bool(peers) and all(peers.values())


def read_names(path: Path, problems: Problems) -> Study:
    references, peers = _named_files(path)
    if not references:
        problems.error(str(path), "has no file <topic>_reference.txt")
        return Study()
    summaries = []
    for file, match in references.items():
        for _, text in _texts([file], problems):
            author = match["author"] or ONLY_AUTHOR
            summaries.append(Summary(from_file_name(match["topic"]), author, text, "reference"))
    for file, topic in peers.items():
        if not topic:
            problems.error(str(file), "its name does not start with a topic that has a reference, and an underscore")
            continue
        system = from_file_name(file.stem[len(topic) + 1 :])
        summaries += [Summary(from_file_name(topic), system, text) for _, text in _texts([file], problems)]
    study = Study(topics=tuple(map(Topic, sorted({s.topic for s in summaries}))), summaries=tuple(summaries))
    _say(path, "topic and system in the names of files", next(iter(references)).name, study, problems)
    return study


# -- formats -----------------------------------------------------------------------------------------------------

FOLDER = Format(
    name="folder",
    title="plain text files in topics/<topic>/references and topics/<topic>/peers",
    recognises=recognises_topics,
    read=read_topics,
    write=write_topics,
    holds=frozenset({"topic titles", "documents", "references", "peers"}),
)
BY_SYSTEM = Format(
    name="by-system",
    title="plain text files in references (or gold, targets, ...) and a folder for each system, one file per topic",
    recognises=recognises_systems,
    read=read_systems,
    holds=frozenset({"documents", "references", "peers"}),
)
LINES = Format(
    name="lines",
    title="plain text files with one line per topic: references.txt and <system>.txt, test.target and <system>.hypo",
    recognises=recognises_lines,
    read=read_lines_of_topics,
    holds=frozenset({"documents", "references", "peers"}),
)
FILE_NAMES = Format(
    name="file-names",
    title="plain text files in one folder: <topic>_reference.txt and <topic>_<system>.txt",
    recognises=recognises_names,
    read=read_names,
    holds=frozenset({"references", "peers"}),
)
