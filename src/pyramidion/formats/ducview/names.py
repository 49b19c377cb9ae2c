"""Who annotated which peer of which topic: DUCView files say it only in their names.

NIST 2006   annotator.topic.M.250.selector.peer.pan      1.D0601.M.250.A.09.pan
NIST 2007   topic.M.250.selector.peer.pan                D0701.M.250.A.9.pan
ours        topic.system.pan, topic.system.judge.pan     each part percent-encoded, dots included
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pyramidion.formats.files import from_file_name, to_file_name

JUDGE = "annotator"
"""Who made an annotation whose file name does not say."""

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
    """The last part of a NIST id such as D0601.M.250.A.B; nothing where it is not one."""
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
