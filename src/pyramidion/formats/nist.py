"""NIST folders (DUC, TAC), read only: users need their own licensed copies.

models/<topic>.<type>.<length>.<selector>.<id>   reference summaries
peers/<topic>.<type>.<length>.<selector>.<id>    peer summaries; letters are people who were scored like systems

File names may end in .txt, .html or .spl. Old files are not always UTF-8, and some are in the HTML that ROUGE's
SEE format prescribes: one sentence per anchor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

from pyramidion.errors import Problems
from pyramidion.formats import Format
from pyramidion.formats.files import break_at_marks, is_too_long
from pyramidion.study import Study, Summary, Topic
from pyramidion.study.texts import Role

_ROLES: dict[str, Role] = {"models": "reference", "peers": "peer"}
_NAME = re.compile(r"(?P<topic>[^.]+)\.[A-Za-z]+\.\d+\.[^.]+\.(?P<id>[^.]+)(\.(txt|html?|spl))?", re.IGNORECASE)
_HTML = re.compile(r"<(html|body)\b", re.IGNORECASE)


class SummaryName(NamedTuple):
    """What the name of a summary at NIST says about it."""

    topic: str
    system: str


def parse_name(name: str) -> SummaryName | None:
    """Take apart topic.type.length.selector.id, with or without a file suffix; numbers lose their padding."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    id = match["id"]
    return SummaryName(match["topic"], (id.lstrip("0") or "0") if id.isascii() and id.isdigit() else id)


def recognises(path: Path) -> bool:
    if not path.is_dir() or (path / "topics").is_dir():
        return False
    return any(parse_name(file.name) for folder, _ in _role_folders(path) for file in _visible(folder))


def _role_folders(path: Path) -> list[tuple[Path, Role]]:
    folders = sorted(entry for entry in path.iterdir() if entry.is_dir() and entry.name.lower() in _ROLES)
    return [(folder, _ROLES[folder.name.lower()]) for folder in folders]


def _visible(folder: Path) -> Iterator[Path]:
    return (entry for entry in sorted(folder.iterdir()) if not entry.name.startswith("."))


def read(path: Path, problems: Problems) -> Study:
    folders = _role_folders(path) if path.is_dir() else []
    if not folders:
        problems.error(str(path), "has no folder 'peers' or 'models'")
    summaries: dict[tuple[str, Role, str], Summary] = {}
    for folder, role in folders:
        for file in _visible(folder):
            name = parse_name(file.name)
            if name is None or not file.is_file():
                problems.warning(str(file), "is ignored: its name is not of the form topic.type.length.selector.id")
                continue
            key = (name.topic, role, name.system)
            if key in summaries:
                problems.error(str(file), f"is the same {role} of the same topic as {summaries[key].source}")
                continue
            if not is_too_long(file.stat().st_size, str(file), problems):
                summaries[key] = Summary(name.topic, name.system, _read_text(file, problems), role, source=file.name)
    if folders and not summaries:
        problems.error(str(path), "has no file named topic.type.length.selector.id")
    topics = sorted({summary.topic for summary in summaries.values()})
    return Study(topics=tuple(map(Topic, topics)), summaries=tuple(summaries.values()))


def _read_text(file: Path, problems: Problems) -> str:
    raw = file.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        what = f"line {line}: byte {raw[error.start]:#04x} is not UTF-8; the file is read as Latin-1"
        problems.warning(str(file), what)
        text = raw.decode("latin-1")
    return _sentences(text) if text.lstrip().startswith("<") and _HTML.search(text) else break_at_marks(text)


def _sentences(html: str) -> str:
    parser = _SentenceParser()
    parser.feed(html)
    parser.close()
    parser.end_line()
    return "\n".join(parser.lines)


class _SentenceParser(HTMLParser):
    """Collects the text of a page: a line ends where an anchor or a block begins or ends."""

    _UNSEEN = frozenset({"head", "title", "script", "style"})
    _BREAKS = frozenset({"a", "p", "br", "div", "li", "tr", "h1", "h2", "h3", "body"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._parts: list[str] = []
        self._unseen = ""
        self._numbers = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "body":  # ends a head that was never closed
            self._unseen = ""
        elif tag in self._UNSEEN and not self._unseen:
            self._unseen = tag
        if tag in self._BREAKS:
            self.end_line()
        if tag == "a":  # SEE numbers its sentences: <a name="1">[1]</a>
            self._numbers = "name" in dict(attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unseen:
            self._unseen = ""
        if tag in self._BREAKS:
            self.end_line()
        if tag == "a":
            self._numbers = False

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._parts.append(data)

    def end_line(self) -> None:
        text = " ".join("".join(self._parts).split())
        self._parts.clear()
        if text and not (self._numbers and re.fullmatch(r"\[\d+\]", text)):
            self.lines.append(text)


FORMAT = Format(
    name="nist",
    title="NIST folder: peers/ and models/ with files named topic.type.length.selector.id",
    recognises=recognises,
    read=read,
    holds=frozenset({"references", "peers", "source names"}),
)
