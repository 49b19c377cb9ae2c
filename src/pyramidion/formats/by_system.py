"""Plain text by system: a folder of references and a folder for each system, with one file a topic.

references/<topic>.txt               where each topic has one reference, or
references/<author>/<topic>.txt      where it has several
<system>/<topic>.txt
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import folder
from pyramidion.formats.base import Format
from pyramidion.formats.files import files, from_file_name, read_text, subfolders
from pyramidion.model import Study, Summary, Topic
from pyramidion.model.texts import Role

REFERENCES = "references"
ONLY_AUTHOR = "reference"
"""What the author is called where references are not in folders of authors."""


def recognises(path: Path) -> bool:
    return (path / REFERENCES).is_dir() and bool(_systems(path)) and not folder.recognises(path)


def read(path: Path, problems: Problems) -> Study:
    references = path / REFERENCES
    if not references.is_dir():
        problems.error(str(path), f"has no folder '{REFERENCES}'")
        return Study()
    summaries = [*_read(references, ONLY_AUTHOR, "reference", problems)]
    for author in subfolders(references):
        summaries += _read(author, from_file_name(author.name), "reference", problems)
    known = {summary.topic for summary in summaries}
    for system in _systems(path):
        for summary in _read(system, from_file_name(system.name), "peer", problems):
            if summary.topic not in known:
                problems.warning(str(system), f"has topic {summary.topic}, of which there is no reference")
            summaries.append(summary)
    topics = sorted({summary.topic for summary in summaries})
    return Study(topics=tuple(map(Topic, topics)), summaries=tuple(summaries))


def _systems(path: Path) -> list[Path]:
    return [each for each in subfolders(path) if each.name != REFERENCES]


def _read(held: Path, system: str, role: Role, problems: Problems) -> Iterator[Summary]:
    found = files(held, ".txt")
    if not found and not subfolders(held):
        problems.warning(str(held), "has no .txt file and is ignored")
    for file in found:
        yield Summary(from_file_name(file.stem), system, read_text(file, problems), role)


FORMAT = Format(
    name="by-system",
    title="plain text files in references and a folder for each system, one file a topic",
    recognises=recognises,
    read=read,
)
