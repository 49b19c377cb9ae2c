"""What each command does to a pyramid or to the annotation of a peer. Pure: a new state, or the reason why not.

The rules of the method hold here (Nenkova, Passonneau and McKeown 2007, section 2): at most one contributor for a
reference and unit, every span inside its text, weights derived.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pyramidion.annotation import commands as do
from pyramidion.annotation.commands import Mark, Match, PeerAnnotation, RefusedError, Spans, State
from pyramidion.study import ContentUnit, Contributor, Pyramid, Span
from pyramidion.study.texts import union

LONGEST_ID = 100


def apply(state: State, command: do.Edit) -> State:
    """The state after a command that fits its subject."""
    if isinstance(command, do.Decide):
        return state
    if isinstance(state, Pyramid):
        assert isinstance(command, do.PyramidCommand)
        return _edit(state, command)
    assert isinstance(command, do.PeerCommand)
    return _annotate(state, command)


# -- pyramids ------------------------------------------------------------------------------------------------


def _edit(pyramid: Pyramid, command: do.PyramidCommand) -> Pyramid:
    match command:
        case do.ImportPyramid(content):
            return _import(pyramid, content)
        case do.AddUnit(unit, label, contributors, comment):
            _check_new(pyramid, unit)
            joined = tuple(Contributor(c.reference, union(c.spans)) for c in contributors)
            return _with(pyramid, (*pyramid.units, ContentUnit(unit, label, joined, comment=comment)))
        case do.RenameUnit(unit, label):
            return _put(pyramid, replace(_unit(pyramid, unit), label=label))
        case do.CommentUnit(unit, comment):
            return _put(pyramid, replace(_unit(pyramid, unit), comment=comment))
        case do.DeleteUnit(unit):
            return _without(pyramid, _unit(pyramid, unit).id)
        case do.AddContributor(unit, reference, spans):
            return _put(pyramid, _with_contributor(_unit(pyramid, unit), Contributor(reference, union(spans))))
        case do.RemoveContributor(unit, reference, spans):
            return _remove(pyramid, unit, reference, spans)
        case do.MoveContributor(unit, reference, to):
            if unit == to:
                raise RefusedError(f"unit {unit}, contributor {reference}: it is already in this unit")
            source, target = _unit(pyramid, unit), _unit(pyramid, to)
            moved = _contributor(source, reference)
            return _put(_put(pyramid, _without_contributors(source, {reference})), _with_contributor(target, moved))
        case do.MergeUnits(units, label):
            return _merge(pyramid, units, label)
        case do.SplitUnit():
            return _split(pyramid, command)
    return _reorder(pyramid, command)


def _import(pyramid: Pyramid, content: tuple[ContentUnit, ...]) -> Pyramid:
    if pyramid.units:
        raise RefusedError(f"a pyramid can be imported only into an empty one; this one has {len(pyramid.units)} units")
    for unit in content:
        _check_new(pyramid, unit.id)
    if len({unit.id for unit in content}) < len(content):
        raise RefusedError("the imported pyramid has two units with the same id")
    return _with(pyramid, content)


def _check_new(pyramid: Pyramid, unit: str) -> None:
    if not unit or unit != unit.strip() or not unit.isprintable() or len(unit) > LONGEST_ID:
        raise RefusedError(
            f"{unit[:40]!r} cannot be a unit's id: an id is short, on one line, without surrounding spaces"
        )
    if any(known.id == unit for known in pyramid.units):
        raise RefusedError(f"unit {unit} already exists")


def _unit(pyramid: Pyramid, id: str) -> ContentUnit:
    for unit in pyramid.units:
        if unit.id == id:
            return unit
    raise RefusedError(f"the pyramid has no unit {id!r}")


def _contributor(unit: ContentUnit, reference: str) -> Contributor:
    for contributor in unit.contributors:
        if contributor.reference == reference:
            return contributor
    raise RefusedError(f"unit {unit.id} “{unit.label}” has no contributor from reference {reference!r}")


def _with(pyramid: Pyramid, units: tuple[ContentUnit, ...]) -> Pyramid:
    return Pyramid(pyramid.topic, pyramid.references, units, pyramid.name)


def _put(pyramid: Pyramid, changed: ContentUnit) -> Pyramid:
    return _with(pyramid, tuple(changed if unit.id == changed.id else unit for unit in pyramid.units))


def _without(pyramid: Pyramid, *ids: str) -> Pyramid:
    return _with(pyramid, tuple(unit for unit in pyramid.units if unit.id not in ids))


def _without_contributors(unit: ContentUnit, references: Iterable[str]) -> ContentUnit:
    return replace(unit, contributors=tuple(c for c in unit.contributors if c.reference not in references))


def _with_contributor(unit: ContentUnit, new: Contributor) -> ContentUnit:
    """The unit with a further contributor, or with more words for the one it has from this reference."""
    if new.reference not in unit.references:
        return replace(unit, contributors=(*unit.contributors, new))
    return replace(
        unit,
        contributors=tuple(
            Contributor(old.reference, union(old.spans + new.spans)) if old.reference == new.reference else old
            for old in unit.contributors
        ),
    )


def _remove(pyramid: Pyramid, id: str, reference: str, spans: Spans) -> Pyramid:
    unit = _unit(pyramid, id)
    old = _contributor(unit, reference)
    left = difference(old.spans, spans) if spans else ()
    if spans and left == union(old.spans):
        shown = ", ".join(f"{span.start}-{span.end}" for span in spans)
        raise RefusedError(f"unit {id}, contributor {reference}: span {shown} is not part of it")
    if not left:
        return _put(pyramid, _without_contributors(unit, {reference}))
    kept = (Contributor(reference, left) if c is old else c for c in unit.contributors)
    return _put(pyramid, replace(unit, contributors=tuple(kept)))


def _merge(pyramid: Pyramid, ids: tuple[str, ...], label: str) -> Pyramid:
    if len(set(ids)) < 2 or len(set(ids)) < len(ids):
        raise RefusedError(f"merging needs two or more different units, not {', '.join(ids) or 'none'}")
    first, *others = (_unit(pyramid, id) for id in ids)
    merged = first
    for other in others:
        for contributor in other.contributors:
            merged = _with_contributor(merged, contributor)
    comment = "\n".join(filter(None, (unit.comment for unit in (first, *others))))
    merged = replace(merged, label=label or first.label, comment=comment)
    return _put(_without(pyramid, *ids[1:]), merged)


def _split(pyramid: Pyramid, command: do.SplitUnit) -> Pyramid:
    unit = _unit(pyramid, command.unit)
    _check_new(pyramid, command.new)
    moved = tuple(_contributor(unit, reference) for reference in dict.fromkeys(command.references))
    if not moved or len(moved) == len(unit.contributors):
        raise RefusedError(f"unit {unit.id} “{unit.label}”: a split must move some of its contributors and leave some")
    new = ContentUnit(command.new, command.label, moved)
    rest = _without_contributors(unit, command.references)
    return _with(pyramid, tuple(made for old in pyramid.units for made in ((rest, new) if old is unit else (old,))))


def _reorder(pyramid: Pyramid, command: do.ReorderUnit) -> Pyramid:
    unit = _unit(pyramid, command.unit)
    others = tuple(other for other in pyramid.units if other is not unit)
    if not command.before:
        return _with(pyramid, (*others, unit))
    if command.before == unit.id:
        raise RefusedError(f"unit {unit.id} cannot be placed before itself")
    place = others.index(_unit(pyramid, command.before))
    return _with(pyramid, (*others[:place], unit, *others[place:]))


# -- peers ---------------------------------------------------------------------------------------------------


def _annotate(peer: PeerAnnotation, command: do.PeerCommand) -> PeerAnnotation:
    match command:
        case do.ImportMatches(matches, marks):
            if peer.matches or peer.marks:
                raise RefusedError("an annotation can be imported only into an empty one; this one is not empty")
            ids = [match.id for match in matches] + [mark.id for mark in marks]
            if len(set(ids)) < len(ids) or not all(map(_is_name, ids)):
                raise RefusedError("imported matches and marks need short unique ids")
            return replace(peer, matches=matches, marks=marks)
        case do.MatchUnit(unit, spans, id):
            new = Match(id, unit, union(spans))
            for match in peer.matches:
                if (match.unit, match.spans) == (unit, new.spans):
                    raise RefusedError(f"unit {unit} is already matched to these words")
            _check_new_name(peer, id)
            return replace(peer, matches=(*peer.matches, new))
        case do.MarkUnmatched(spans, id):
            words = union(spans)
            if any(mark.spans == words for mark in peer.marks):
                raise RefusedError("these words are already marked")
            _check_new_name(peer, id)
            return replace(peer, marks=(*peer.marks, Mark(id, words)))
        case do.Unmatch(id):
            left = tuple(match for match in peer.matches if match.id != id)
            if len(left) == len(peer.matches):
                raise RefusedError(f"there is no match {id!r}")
            return replace(peer, matches=left)
    return _remove_mark(peer, command)


def _remove_mark(peer: PeerAnnotation, command: do.RemoveMark) -> PeerAnnotation:
    left = tuple(mark for mark in peer.marks if mark.id != command.id)
    if len(left) == len(peer.marks):
        raise RefusedError(f"there is no mark {command.id!r}")
    return replace(peer, marks=left)


def _check_new_name(peer: PeerAnnotation, id: str) -> None:
    taken = {match.id for match in peer.matches} | {mark.id for mark in peer.marks}
    if not _is_name(id) or id in taken:
        raise RefusedError(f"a match or mark needs a short unique id, not {id[:40]!r}")


def _is_name(id: str) -> bool:
    return 0 < len(id) <= LONGEST_ID and id.isprintable()


# -- spans ---------------------------------------------------------------------------------------------------


def difference(spans: Iterable[Span], removed: Iterable[Span]) -> Spans:
    """The characters of the first that are in none of the second."""
    left = list(union(spans))
    for cut in union(removed):
        pieces = ((Span(s.start, min(s.end, cut.start)), Span(max(s.start, cut.end), s.end)) for s in left)
        left = [piece for pair in pieces for piece in pair if piece.start < piece.end]
    return tuple(left)
