"""Plain text by line: a file of references and a file for each system; line n of each is about topic n.

references.txt if each topic has one reference, or references.<author>.txt if it has several
<system>.txt
documents.txt, ids.txt               (optional) the documents that were summarized, and names for the topics
"""

from __future__ import annotations

from pathlib import Path

from pyramidion.errors import Problems
from pyramidion.formats import Format
from pyramidion.formats.files import files, from_file_name, read_every_line
from pyramidion.study import Document, Study, Summary, Topic

REFERENCES, DOCUMENTS, IDS = "references", "documents", "ids"
ONLY_AUTHOR = "reference"
"""The author's name if there is one file of references."""


def recognises(path: Path) -> bool:
    if not path.is_dir() or (path / "SCUs.txt").exists():  # the latter is lite23's
        return False
    named = [_author(file) is not None for file in files(path, ".txt")]
    return any(named) and not all(named)


def read(path: Path, problems: Problems) -> Study:
    held = {file: read_every_line(file, problems) for file in files(path, ".txt")}
    references = [file for file in held if _author(file) is not None]
    if not references:
        problems.error(str(path), f"has no {REFERENCES}.txt")
        return Study()
    size = len(held[references[0]])
    for file, lines in held.items():
        if len(lines) != size:
            problems.error(str(file), f"has {len(lines)} lines, but {references[0].name} has {size}")
    numbers = [f"{number:0{len(str(size))}}" for number in range(1, size + 1)]
    named = held.get(path / f"{IDS}.txt") or numbers
    ids = [name if name is not None else number for name, number in zip(named, numbers, strict=False)]
    documents = held.get(path / f"{DOCUMENTS}.txt") or [""] * size
    topics = tuple(
        Topic(id, documents=(Document("1", text),) if text else ()) for id, text in zip(ids, documents, strict=False)
    )
    summaries = tuple(
        Summary(topic, _author(file) or from_file_name(file.stem), text, "reference" if file in references else "peer")
        for file, lines in held.items()
        if file.stem not in {DOCUMENTS, IDS}
        for topic, text in zip(ids, lines, strict=False)
        if text is not None
    )
    return Study(topics=topics, summaries=summaries)


def _author(file: Path) -> str | None:
    """Who wrote a file of references; nobody where it is another file."""
    first, dot, author = file.stem.partition(".")
    return (from_file_name(author) if dot else ONLY_AUTHOR) if first == REFERENCES else None


FORMAT = Format(
    name="lines",
    title="plain text files with one line per topic: references.txt and <system>.txt",
    recognises=recognises,
    read=read,
    holds=frozenset({"documents", "references", "peers"}),
)
