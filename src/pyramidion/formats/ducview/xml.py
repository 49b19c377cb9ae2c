"""DUCView XML as plain values, and back. Syntax only, not meaning.

Files come from strangers: their size is bounded, entities and default attributes (both can blow up a small file)
are refused, and nothing outside the file is ever opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from pyramidion.errors import Problems

MAX_BYTES = 64 * 1024 * 1024
MAX_ELEMENTS = 1_000_000
MAX_DOCUMENTS = 100

UNMATCHED_UID = "0"
"""The peerscu that collects what matches no unit of the pyramid."""


@dataclass(frozen=True, slots=True)
class XmlPart:
    """Some words of a text. Offsets count UTF-16 code units; None where the file has no number."""

    label: str
    start: int | None
    end: int | None

    @property
    def is_placeholder(self) -> bool:
        """The part of a contributor that was counted without saying where: the DTD wants at least one."""
        return not self.label and self.start == self.end == 0

    @property
    def is_empty(self) -> bool:
        """A part without words; where it is not a placeholder, it still says which reference it is in."""
        return not self.label and self.start is not None and self.start == self.end


NO_PLACE = XmlPart("", 0, 0)


@dataclass(frozen=True, slots=True)
class XmlContributor:
    """``label`` is the file's copy of its words; when written, it is made from the parts."""

    parts: tuple[XmlPart, ...]
    comment: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class XmlUnit:
    """A ``scu`` of a pyramid or a ``peerscu`` of an annotation."""

    uid: str
    label: str
    contributors: tuple[XmlContributor, ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class XmlText:
    """A text and the units marked in it. ``header`` is the pattern that separates the references of a pyramid."""

    text: str
    units: tuple[XmlUnit, ...]
    header: str = ""


@dataclass(frozen=True, slots=True)
class XmlFile:
    pyramid: XmlText
    peer: XmlText | None = None


# -- reading -------------------------------------------------------------------------------------------------

_JUNK_AFTER_ROOT, _DECLARATION_INSIDE, _INVALID_TOKEN = 9, 17, 4  # error codes of expat
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _UnsafeError(Exception):
    """Well-formed XML that is not safe to read; says why."""


class _Builder(TreeBuilder):
    """A tree that stops growing: an element takes far more memory than its tag takes in the file."""

    left = MAX_ELEMENTS

    def start(self, tag: str, attrs: dict[str, str], /) -> Element:
        self.left -= 1
        if self.left < 0:
            raise _UnsafeError(f"has more than {MAX_ELEMENTS:,} elements")
        return super().start(tag, attrs)


def load(path: Path, problems: Problems) -> XmlFile | None:
    """The content of a ``.pyr`` or ``.pan`` file; None, and an error, where it cannot be used."""
    with path.open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        problems.error(str(path), f"is larger than {MAX_BYTES // 2**20} MiB")
        return None
    root = _parse(raw, str(path), problems)
    return None if root is None else _file_content(root, path, problems)


def _parse(raw: bytes, where: str, problems: Problems) -> Element | None:
    """The root of the last XML document in a file: DucView 1.5 appends a new one with every save."""
    start = len(raw) - len(raw.lstrip())
    for number in range(1, MAX_DOCUMENTS + 1):
        parser: Any = DefusedXMLParser(target=_Builder())  # the stubs hide the expat parser inside
        parser.parser.AttlistDeclHandler = _refuse_default
        try:
            parser.feed(raw[start:])
            root: Element = parser.close()
        except ParseError as error:
            place = start + parser.parser.ErrorByteIndex
            if not _next_document_begins(error.code, raw, start, place):
                problems.error(*_parse_problem(error, raw, start, place, where))
                return None
            start = place
        except _UnsafeError as error:
            problems.error(where, str(error))
            return None
        except DefusedXmlException:
            problems.error(where, "declares or refers to entities, which is not safe to read")
            return None
        except (LookupError, ValueError) as error:
            problems.error(where, f"its encoding cannot be read ({error}); save the file as UTF-8")
            return None
        else:
            if number > 1:
                problems.warning(where, f"contains {number} XML documents in a row; the last one is used")
            return root
    problems.error(where, f"holds more than {MAX_DOCUMENTS} XML documents")
    return None


def _refuse_default(_element: str, _attribute: str, _type: str, default: str | None, _required: bool) -> None:
    if default is not None:
        raise _UnsafeError("declares default values of attributes, which is not safe to read")


def _next_document_begins(code: int, raw: bytes, start: int, place: int) -> bool:
    if place <= start:
        return False
    marked = code == _INVALID_TOKEN and raw.startswith(_BYTE_ORDER_MARK, place)
    return marked or (code in {_JUNK_AFTER_ROOT, _DECLARATION_INSIDE} and raw.startswith(b"<", place))


def _parse_problem(error: ParseError, raw: bytes, start: int, place: int, where: str) -> tuple[str, str]:
    line, column = error.position
    line += raw.count(b"\n", 0, start)
    address = f"{where}, line {line}, column {column + 1}"
    if error.code == _INVALID_TOKEN and raw[place] > 0x7F:
        return address, f"byte {raw[place]:#04x} does not fit the encoding of the file; save it as UTF-8"
    return address, f"is not XML: {str(error).split(':')[0]}"


def _file_content(root: Element, path: Path, problems: Problems) -> XmlFile | None:
    expected = "pyramid" if path.suffix.lower() == ".pyr" else "peerAnnotation"
    if root.tag != expected:
        problems.error(str(path), f"a {path.suffix} file holds <{expected}>, not <{root.tag[:40]}>")
        return None
    pyramid = root if expected == "pyramid" else root.find("pyramid")
    annotation = root.find("annotation")
    if pyramid is None or (expected == "peerAnnotation" and annotation is None):
        problems.error(str(path), "holds no <pyramid> or no <annotation>")
        return None
    if any(element.find("text") is None for element in (pyramid, annotation) if element is not None):
        problems.error(str(path), "a <text> is missing")
        return None
    peer = None if annotation is None else _marked_text(annotation, "peerscu")
    return XmlFile(_marked_text(pyramid, "scu"), peer)


def _marked_text(element: Element, tag: str) -> XmlText:
    text = "\n".join("".join(line.itertext()) for line in element.iterfind("text/line"))
    units = tuple(map(_unit, element.iterfind(tag)))
    return XmlText(text, units, element.findtext("startDocumentRegEx", "").strip())


def _unit(element: Element) -> XmlUnit:
    contributors = tuple(
        XmlContributor(tuple(map(_part, child.iterfind("part"))), child.get("comment", ""), child.get("label", ""))
        for child in element.iterfind("contributor")
    )
    return XmlUnit(element.get("uid", "").strip(), element.get("label", ""), contributors, element.get("comment", ""))


def _part(element: Element) -> XmlPart:
    return XmlPart(element.get("label", ""), _offset(element.get("start", "")), _offset(element.get("end", "")))


def _offset(value: str) -> int | None:
    value = value.strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) <= 10 else None


# -- writing -------------------------------------------------------------------------------------------------

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_IN_ATTRIBUTE = _IN_TEXT | str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})

_DTD = """\
 <!ELEMENT pyramid (startDocumentRegEx?,text,scu*)>
 <!ELEMENT startDocumentRegEx (#PCDATA)>
 <!ELEMENT text (line*)>
 <!ELEMENT line (#PCDATA)>
 <!ELEMENT scu (contributor)+>
 <!ATTLIST scu uid CDATA #REQUIRED label CDATA #REQUIRED comment CDATA #IMPLIED>
 <!ELEMENT contributor (part)+>
 <!ATTLIST contributor label CDATA #REQUIRED comment CDATA #IMPLIED>
 <!ELEMENT part EMPTY>
 <!ATTLIST part label CDATA #REQUIRED start CDATA #REQUIRED end CDATA #REQUIRED>
"""
_PEER_DTD = """\
 <!ELEMENT peerAnnotation (pyramid,annotation)>
 <!ELEMENT annotation (text,peerscu*)>
 <!ELEMENT peerscu (contributor)*>
 <!ATTLIST peerscu uid CDATA #REQUIRED label CDATA #REQUIRED comment CDATA #IMPLIED>
"""


def holdable(text: str, where: str, problems: Problems) -> str:
    """The text with a space for every character that XML has no way to write."""
    clean, count = _NOT_XML.subn(" ", text)
    if count:
        problems.warning(where, f"{count} characters that XML cannot hold are replaced by spaces")
    return clean


def dump(content: XmlFile) -> Iterator[str]:
    """The lines of a ``.pyr`` file, or of a ``.pan`` file where the document has a peer."""
    root = "pyramid" if content.peer is None else "peerAnnotation"
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<!DOCTYPE {root} [\n{'' if content.peer is None else _PEER_DTD}{_DTD}]>\n"
    if content.peer is None:
        yield from _element("pyramid", content.pyramid, "scu")
    else:
        yield "<peerAnnotation>\n"
        yield from _element("pyramid", content.pyramid, "scu")
        yield from _element("annotation", content.peer, "peerscu")
        yield "</peerAnnotation>\n"


def _element(tag: str, content: XmlText, unit_tag: str) -> Iterator[str]:
    yield f"<{tag}>\n"
    if content.header:
        yield f"<startDocumentRegEx><![CDATA[{content.header}]]></startDocumentRegEx>\n"
    yield "<text>\n"
    for line in content.text.split("\n"):
        yield f"<line>{line.translate(_IN_TEXT)}</line>\n"
    yield "</text>\n"
    for unit in content.units:
        yield f"<{unit_tag}{_attributes(uid=unit.uid, label=unit.label)}{_comment(unit.comment)}>\n"
        for contributor in unit.contributors:
            yield from _contributor(contributor)
        yield f"</{unit_tag}>\n"
    yield f"</{tag}>\n"


def _contributor(contributor: XmlContributor) -> Iterator[str]:
    label = "...".join(part.label for part in contributor.parts)
    yield f" <contributor{_attributes(label=label)}{_comment(contributor.comment)}>\n"
    for part in contributor.parts:
        yield f"  <part{_attributes(label=part.label, start=str(part.start), end=str(part.end))}/>\n"
    yield " </contributor>\n"


def _attributes(**values: str) -> str:
    return "".join(f' {name}="{value.translate(_IN_ATTRIBUTE)}"' for name, value in values.items())


def _comment(comment: str) -> str:
    return _attributes(comment=comment) if comment else ""
