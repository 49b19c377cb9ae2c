"""Plain text in folders, which most people have.

topics/<topic>/topic.toml            title = "...", description = "..." (optional)
topics/<topic>/references/<author>.txt
topics/<topic>/peers/<system>.txt
topics/<topic>/documents/<id>.txt    (optional)

For a single topic its folder is enough: references/<author>.txt, peers/<system>.txt.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import Format
from pyramidion.formats.files import files, from_file_name, new_folder, read_text, subfolders, to_file_name, write_text
from pyramidion.study import Document, Study, Summary, Topic
from pyramidion.study.texts import Role

_ROLES: dict[str, Role] = {"references": "reference", "peers": "peer"}


def recognises(path: Path) -> bool:
    return (path / "topics").is_dir() or _is_topic(path)


def _is_topic(path: Path) -> bool:
    """Whether a folder holds a topic: with folders besides a topic's own they are systems, as in `by_system`."""
    if not (path / "references").is_dir():
        return False
    return (path / "peers").is_dir() or {each.name for each in subfolders(path)} <= {"references", "documents"}


def read(path: Path, problems: Problems) -> Study:
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
            summaries.extend(
                Summary(topic.id, from_file_name(file.stem), text, role)
                for file in texts
                if (text := read_text(file, problems)) is not None
            )
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
    documents = tuple(
        Document(from_file_name(file.stem), text)
        for file in files(folder / "documents", ".txt")
        if (text := read_text(file, problems)) is not None
    )
    return Topic(
        id=from_file_name(folder.name),
        title=str(about.get("title", "")),
        description=str(about.get("description", "")),
        documents=documents,
    )


def write(study: Study, path: Path, problems: Problems) -> None:
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


FORMAT = Format(
    name="folder",
    title="plain text files in topics/<topic>/references and topics/<topic>/peers",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset({"topic titles", "documents", "references", "peers"}),
)
