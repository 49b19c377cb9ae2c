"""The text of a DUCView file: where its references begin, and where the words of a part really are.

Offsets are Java's: UTF-16 code units over the whole text. About 0.5% of them are wrong in real files, so a part is
believed only where the text says what its label says, white space aside; otherwise its label is searched for.

References follow one another, each below a header line. In foreign files the newlines around a reference are not part
of it. In files of our own, known by their pattern, exactly one newline separates a text from the headers, so that a
text is read back unchanged, including newlines at its ends.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from pyramidion.errors import Problems
from pyramidion.formats.ducview.java_regex import JavaPattern, PatternError
from pyramidion.formats.ducview.xml import XmlPart
from pyramidion.formats.files import from_file_name, to_file_name
from pyramidion.study import Span

# ----------------------------------------------------------------------
# Who annotated which peer of which topic: DUCView files say so only in their names.
#
# NIST 2006 annotator.topic.M.250.selector.peer.pan 1.D0601.M.250.A.09.pan NIST 2007 topic.M.250.selector.peer.pan
# D0701.M.250.A.9.pan ours topic.system.pan, topic.system.judge.pan each part percent-encoded, dots included

JUDGE = "annotator"
"""The annotator if the file name does not name one."""

_NIST_SET = r"(?P<topic>D\d[^.\s]*)\.[A-Z]+\.\d+\.[^.\s]+"
_NIST_TEXT = re.compile(rf"(?:(?P<annotator>[^.\s]+)\.)?{_NIST_SET}\.(?P<id>[^.\s]+)", re.IGNORECASE)
_NIST_PYRAMID = re.compile(_NIST_SET, re.IGNORECASE)


class PeerName(NamedTuple):
    topic: str
    system: str
    judge: str = JUDGE
    source: str = ""


def topic_of(stem: str) -> str:
    """The topic of a ``.pyr`` file."""
    nist = _NIST_PYRAMID.fullmatch(stem)
    return nist["topic"] if nist else from_file_name(stem)


def peer_of(stem: str) -> PeerName:
    """Topic, system and judge of a ``.pan`` file; a name that says nothing is both topic and system."""
    if nist := _NIST_TEXT.fullmatch(stem):
        return PeerName(nist["topic"], _without_padding(nist["id"]), nist["annotator"] or JUDGE, stem)
    parts = [from_file_name(part) for part in stem.split(".")]
    if len(parts) in {2, 3} and all(parts):
        return PeerName(*parts)
    return PeerName(from_file_name(stem), from_file_name(stem))


def author_of(nist_id: str) -> str:
    """The last part of a NIST id such as D0601.M.250.A.B; empty if it is not one."""
    nist = _NIST_TEXT.fullmatch(nist_id)
    return nist["id"] if nist and not nist["annotator"] else ""


def pyr_name(topic: str) -> str:
    return f"{_part(topic)}.pyr"


def pan_name(name: PeerName) -> str:
    parts = (name.topic, name.system) if name.judge == JUDGE else (name.topic, name.system, name.judge)
    return ".".join(map(_part, parts)) + ".pan"


def _part(id: str) -> str:
    return to_file_name(id).replace(".", "%2E")


def _without_padding(peer: str) -> str:
    return (peer.lstrip("0") or "0") if peer.isascii() and peer.isdigit() else peer


MAX_SEARCHED = 500_000_000
"""How many characters are searched for lost labels in one text: more than any honest file needs."""


# -- offsets and labels --------------------------------------------------------------------------------------


def dense(text: str) -> str:
    """The text without white space: newlines of a text become spaces, or nothing, in a label."""
    return "".join(text.split())


class Passage:
    """A text in which parts are located."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._wide = array("I", (index for index, char in enumerate(text) if char > "\uffff"))
        self._wide_units = array("I", (index + number for number, index in enumerate(self._wide)))
        self._dense = dense(text)
        self._places = array("I", (index for index, char in enumerate(text) if not char.isspace()))
        self._searches_left = MAX_SEARCHED // max(1, len(text))

    def to_units(self, span: Span) -> Span:
        """Code points to UTF-16 code units."""
        return Span(*(index + bisect_left(self._wide, index) for index in span))

    def to_points(self, unit: int) -> int:
        """A UTF-16 offset as an index; the middle of a surrogate pair counts as its end."""
        return unit - bisect_right(self._wide_units, unit - 2)

    def locate(self, part: XmlPart) -> Span | None:
        """Where the words of a part are, or None where they are not in the text."""
        label = dense(part.label)
        if part.start is not None and part.end is not None:
            given = Span(self.to_points(part.start), self.to_points(part.end))
            if given.fits(self.text) and (not label or self._says(given, label)):
                return given
        return self._nearest(label, self.to_points(part.start or 0)) if label else None

    def locate_within(self, part: XmlPart, start: int, end: int) -> Span | None:
        """The first place of a part's words between two others, or None where they are not there."""
        label = dense(part.label)
        self._searches_left -= 1
        if not label or self._searches_left < 0:
            return None
        first, last = bisect_left(self._places, start), bisect_left(self._places, end)
        at = self._dense.find(label, first, last)
        return None if at < 0 else Span(self._places[at], self._places[at + len(label) - 1] + 1)

    def without_margins(self, span: Span) -> Span:
        """The span without the white space at its ends; empty where it has nothing else."""
        first, last = bisect_left(self._places, span.start), bisect_left(self._places, span.end)
        return Span(self._places[first], self._places[last - 1] + 1) if first < last else Span(span.start, span.start)

    def density(self, span: Span) -> int:
        """How many characters of a span are not white space."""
        return bisect_left(self._places, span.end) - bisect_left(self._places, span.start)

    def _says(self, span: Span, label: str) -> bool:
        first, last = bisect_left(self._places, span.start), bisect_left(self._places, span.end)
        return last - first == len(label) and self._dense.startswith(label, first)

    @cached_property
    def _backwards(self) -> str:
        return self._dense[::-1]

    def _nearest(self, label: str, near: int) -> Span | None:
        self._searches_left -= 1
        if self._searches_left < 0:
            return None
        here = bisect_left(self._places, near)
        room = len(self._dense) - len(label)
        # Searching the reversed text forwards, because only find, not rfind, is linear in the worst case.
        back = self._backwards.find(label[::-1], max(0, room - here + 1))
        starts = [start for start in (room - back if back >= 0 else -1, self._dense.find(label, here)) if start >= 0]
        if not starts:
            return None
        first = min(starts, key=lambda start: abs(self._places[start] - near))
        return Span(self._places[first], self._places[first + len(label) - 1] + 1)


# -- references ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A reference in the text of a pyramid: characters ``start`` to ``end``, written by ``name``.

    ``top`` is where its header begins.
    """

    name: str
    start: int
    end: int
    source: str = ""
    top: int = 0


@dataclass(frozen=True, slots=True)
class _Header:
    start: int
    end: int
    name: str


_OWN_PATTERN = re.compile(r"\(\?m\)\^-\{(\d{2,6})\} \.\+ -\{\1\}\$")
_LEAST_DASHES = 10
_DECORATION = "-=*"
_AROUND_NAME = _DECORATION + "[](){}<> \t\r\n"
_SUFFIX = re.compile(r"\.(txt|html?)\Z", re.IGNORECASE)
_MAX_HEADER = 200


@dataclass(frozen=True, slots=True)
class Layout:
    """References in one text, the pattern of the headers between them, and where each of them starts."""

    text: str
    header: str
    starts: tuple[int, ...]


def lay_out(references: Sequence[tuple[str, str]]) -> Layout:
    """Put named references into one text; ``sections`` takes it apart again."""
    runs = (len(run) for _, text in references for run in re.findall("-+", text))
    ruler = "-" * max(_LEAST_DASHES, max(runs, default=0) + 1)
    headers = [f"{ruler} {name} {ruler}" for name, _ in references]
    lengths = (len(header) + 1 + len(text) + 1 for header, (_, text) in zip(headers, references, strict=True))
    offsets = accumulate(lengths, initial=0)
    return Layout(
        text="\n".join(f"{header}\n{text}" for header, (_, text) in zip(headers, references, strict=True)),
        # (?m) because Java may search the whole text; line by line the pattern means the same.
        header=f"(?m)^-{{{len(ruler)}}} .+ -{{{len(ruler)}}}$",
        starts=tuple(offset + len(header) + 1 for offset, header in zip(offsets, headers, strict=False)),
    )


def sections(text: str, pattern: str, where: str, problems: Problems) -> list[Section]:
    """The references of a text, in order; none where no header is found."""
    if own := _OWN_PATTERN.fullmatch(pattern):
        headers = list(_own_headers(text, int(own[1])))
        bodies = list(_bodies(text, headers, newlines=1))
    else:
        headers = _merge_headers(text, _foreign_headers(text, pattern, where, problems))
        bodies = [_strip(text, section) for section in _foreign_sections(text, headers, where, problems)]
    return _with_distinct_names(bodies, where, problems)


def whole(text: str) -> Section:
    """A text without headers as one reference."""
    return _strip(text, Section("1", 0, len(text)))


def _own_headers(text: str, dashes: int) -> Iterator[_Header]:
    left, right = "-" * dashes + " ", " " + "-" * dashes
    for start, line in _lines(text):
        if line.startswith(left) and line.endswith(right) and len(line) > len(left + right):
            yield _Header(start, start + len(line), line[len(left) : -len(right)])


def _bodies(text: str, headers: Sequence[_Header], newlines: int = 0) -> Iterator[Section]:
    """What is between a header and the next one, less so many newlines at both ends."""
    end_of_text = len(text) + newlines
    for header, following in pairwise([*headers, _Header(end_of_text, end_of_text, "")]):
        start = min(header.end + newlines, len(text))
        yield Section(header.name, start, max(start, following.start - newlines), top=header.start)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _foreign_headers(text: str, pattern: str, where: str, problems: Problems) -> list[_Header]:
    if pattern:
        try:
            return [_Header(start, end, _name(text[start:end])) for start, end in _matches(text, JavaPattern(pattern))]
        except PatternError as error:
            problems.warning(
                where, f"startDocumentRegEx {pattern[:80]!r} cannot be used: {error}; looking for usual headers instead"
            )
    return [_Header(start, start + len(line), _name(line)) for start, line in _lines(text) if _is_usual_header(line)]


def _matches(text: str, pattern: JavaPattern) -> Iterator[tuple[int, int]]:
    """The lines in which a pattern matches: a header is a whole line even where the pattern sees a part of it."""
    done = 0
    for start, end in pattern.spans(text):
        if start < done:
            continue
        words = text[start:end].strip("\r\n")
        if words:
            start = text.index(words, start)
            end = text.find("\n", start + len(words))
            start, end = text.rfind("\n", 0, start) + 1, end if end >= 0 else len(text)
        yield start, end
        done = end


def _is_usual_header(line: str) -> bool:
    """A ruler, a name between two rulers, or nothing but a NIST id."""
    line = line.strip()
    if not 3 <= len(line) <= _MAX_HEADER:
        return False
    left = len(line) - len(line.lstrip(_DECORATION))
    right = len(line) - len(line.rstrip(_DECORATION))
    return (left >= 3 and right >= 3) or bool(author_of(_name(line)))


def _name(header: str) -> str:
    name = " ".join(header.strip(_AROUND_NAME).split())
    return _SUFFIX.sub("", name).strip(_AROUND_NAME)


def _merge_headers(text: str, headers: Sequence[_Header]) -> list[_Header]:
    """A name between two lines of dashes is one header."""
    merged: list[_Header] = []
    for header in headers:
        last = merged[-1] if merged else None
        if last and not (last.name and header.name) and not text[last.end : header.start].strip():
            merged[-1] = _Header(last.start, header.end, last.name or header.name)
        else:
            merged.append(header)
    return merged


def _foreign_sections(text: str, headers: Sequence[_Header], where: str, problems: Problems) -> Iterator[Section]:
    before = text[: headers[0].start] if headers else ""
    separators = not any(header.name for header in headers)
    if before.strip() and separators:  # lines without names are between references, not above them
        yield Section("", 0, headers[0].start)
    elif before.strip():
        problems.warning(where, f"text before the first header is left out: {before.strip()[:40]!r}")
    for section in _bodies(text, headers):
        if author := author_of(section.name):
            yield replace(section, name=author, source=section.name)
        elif section.name or text[section.start : section.end].strip():
            yield section


def _strip(text: str, section: Section) -> Section:
    body = text[section.start : section.end]
    start = section.start + len(body) - len(body.lstrip("\r\n"))
    return replace(section, start=start, end=max(start, section.start + len(body.rstrip("\r\n"))))


def _with_distinct_names(bodies: Sequence[Section], where: str, problems: Problems) -> list[Section]:
    suffixes: Counter[str] = Counter()
    named: dict[str, Section] = {}
    for number, section in enumerate(bodies, 1):
        name = wanted = section.name or str(number)
        while name in named:
            suffixes[wanted] += 1
            name = f"{wanted}-{suffixes[wanted] + 1}"
        if name != wanted:
            problems.warning(where, f"another reference is called {wanted!r}; this one is read as {name!r}")
        named[name] = replace(section, name=name)
    return list(named.values())
