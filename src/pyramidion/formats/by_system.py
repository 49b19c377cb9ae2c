"""Plain text by system: a folder of references and a folder for each system, with one file per topic.

references/<topic>.txt               where each topic has one reference, or
references/<author>/<topic>.txt      where it has several
<system>/<topic>.txt
documents/<topic>.txt                (optional)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import Format, folder
from pyramidion.formats.files import files, from_file_name, read_text, subfolders
from pyramidion.study import Document, Study, Summary, Topic
from pyramidion.study.texts import Role

REFERENCES, DOCUMENTS = "references", "documents"
ONLY_AUTHOR = "reference"
"""The author's name if references are not in folders by author."""


def recognises(path: Path) -> bool:
    references = path / REFERENCES
    if not references.is_dir() or folder.recognises(path):
        return False
    held = any(files(each, ".txt") for each in (references, *subfolders(references)))
    return held and any(files(each, ".txt") for each in _systems(path))


def read(path: Path, problems: Problems) -> Study:
    references = path / REFERENCES
    if not references.is_dir():
        problems.error(str(path), f"has no folder '{REFERENCES}'")
        return Study()
    summaries = [*_read(references, ONLY_AUTHOR, "reference", problems)] if files(references, ".txt") else []
    for author in subfolders(references):
        summaries += _read(author, from_file_name(author.name), "reference", problems)
    known = {summary.topic for summary in summaries}
    for system in _systems(path):
        for summary in _read(system, from_file_name(system.name), "peer", problems):
            if summary.topic not in known:
                problems.warning(str(system), f"has topic {summary.topic}, which has no reference")
            summaries.append(summary)
    documents = {
        from_file_name(file.stem): text
        for file in files(path / DOCUMENTS, ".txt")
        if (text := read_text(file, problems)) is not None
    }
    topics = tuple(
        Topic(id, documents=(Document("1", documents[id]),) if id in documents else ())
        for id in sorted({summary.topic for summary in summaries})
    )
    return Study(topics=topics, summaries=tuple(summaries))


def _systems(path: Path) -> list[Path]:
    return [each for each in subfolders(path) if each.name not in {REFERENCES, DOCUMENTS}]


def _read(held: Path, system: str, role: Role, problems: Problems) -> Iterator[Summary]:
    texts = files(held, ".txt")
    if not texts:
        problems.warning(str(held), "has no .txt file and is ignored")
    for file in texts:
        if (text := read_text(file, problems)) is not None:
            yield Summary(from_file_name(file.stem), system, text, role)


FORMAT = Format(
    name="by-system",
    title="plain text files in references and a folder for each system, one file per topic",
    recognises=recognises,
    read=read,
    holds=frozenset({"documents", "references", "peers"}),
)
