"""A log that a person can read: every unit with its contributors, and for every peer what was matched, and how well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyramidion.evaluation.evaluator import ScoredPeer
from pyramidion.pyramids.build import BuiltPyramid
from pyramidion.study import ContentUnit, Pyramid


def pyramid_lines(built: BuiltPyramid, references: Mapping[str, str]) -> Iterator[str]:
    pyramid = built.pyramid
    yield f"TOPIC {pyramid.topic}"
    yield (
        f"Pyramid {pyramid.name}: {len(pyramid.references)} references, {len(pyramid.units)} units, "
        f"{pyramid.contributor_count} contributors; clauses joined from similarity {built.threshold:.3f}"
    )
    yield from (f"! {note}" for note in built.notes)
    for unit in pyramid.units:
        yield ""
        yield _heading(unit)
        for contributor in unit.contributors:
            text = references.get(contributor.reference, "")
            yield f"      {contributor.reference}: {_quoted(text, contributor.spans)}"
    yield ""


def peer_lines(pyramid: Pyramid, peer: ScoredPeer, text: str, own: str = "") -> Iterator[str]:
    """What a peer expresses and what that adds up to; ``own`` is the reference that a human peer is.

    Every line of a unit begins with its degree: raw is the sum of degree x weight over them.
    """
    coverage, quality, both, raw = ("undefined" if value is None else f"{value:.4f}" for value in peer.scores)
    judged = peer.judged
    yield f"PEER {peer.system} of topic {pyramid.topic}"
    yield f"coverage {coverage}, quality {quality}, comprehensive {both}, raw {raw}"
    if own:
        yield f"It is reference {own} itself, so it is compared with the other references only."
    yield (
        f"{len(judged.found)} of {len(pyramid.units)} units expressed, at least in part; {judged.unmatched} segments "
        f"unmatched; {judged.size} content units in all"
    )
    for unit, degree, similarity, mention in judged.found:
        yield f"  {degree:.4f}  {_heading(pyramid.units[unit])}"
        yield f"          {_quoted(text, mention)}" + (f"  similarity {similarity:.3f}" if similarity != degree else "")
    for mention in judged.outside:
        yield f"  unmatched  {_quoted(text, mention)}"
    yield ""


def _heading(unit: ContentUnit) -> str:
    return f"({unit.weight}) {unit.id}  {unit.label}"


def _quoted(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    parts = [" ".join(text[start:end].split()) for start, end in sorted(spans)]
    return f"“{' ... '.join(parts)}”" if parts else "(no words marked)"
