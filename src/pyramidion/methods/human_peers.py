"""Peers that are references: a human summary is scored against the other references, never against itself."""

from __future__ import annotations

from pyramidion.model import Study


def own_references(study: Study) -> dict[tuple[str, str], str]:
    """For every peer whose text is also a reference of its topic, by (topic, system): which reference it is.

    Texts are compared after joining runs of white space; empty texts are nobody's. Where several references have the
    text, it is the one with the peer's own id, else the first by name.
    """
    references: dict[tuple[str, str], list[str]] = {}
    for reference in study.references:
        if words := reference.text.split():
            references.setdefault((reference.topic, " ".join(words)), []).append(reference.system)
    found: dict[tuple[str, str], str] = {}
    for peer in study.peers:
        if same := references.get((peer.topic, " ".join(peer.text.split()))):
            found[peer.topic, peer.system] = peer.system if peer.system in same else min(same)
    return found
