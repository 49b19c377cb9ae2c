"""What is annotated: the texts, the state an annotation starts from, and what an annotation of a peer says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyramidion.errors import PyramidionError
from pyramidion.methods.annotate import commands as do
from pyramidion.methods.annotate.commands import Mark, Match, Spans
from pyramidion.model import UNMATCHED, Contributor, Judgment, Pyramid


class RefusedError(PyramidionError):
    """A command that is not possible; says which unit, contributor, span and text stand in the way."""


@dataclass(frozen=True, slots=True)
class PeerAnnotation:
    """What one annotation says about one peer summary so far."""

    topic: str
    system: str
    matches: tuple[Match, ...] = ()
    marks: tuple[Mark, ...] = ()

    def expressed(self) -> dict[str, int]:
        """How often each matched unit is expressed."""
        counts: dict[str, int] = {}
        for match in self.matches:
            counts[match.unit] = counts.get(match.unit, 0) + 1
        return counts

    def judgments(self, pyramid: Pyramid, judge: str) -> list[Judgment]:
        """One judgment for every unit of the pyramid, 0 where it is not matched, and the count of other content."""
        mentions: dict[str, list[Match]] = {}
        for match in self.matches:
            mentions.setdefault(match.unit, []).append(match)
        found = [self._judgment(judge, mentions.get(unit.id, ()), unit=unit.id) for unit in pyramid.units]
        return [*found, self._judgment(judge, self.marks, aspect=UNMATCHED)]

    def _judgment(self, judge: str, mentions: Iterable[Match | Mark], *, unit: str = "", aspect: str = "") -> Judgment:
        spans = [mention.spans for mention in mentions]
        evidence = tuple(filter(None, spans))
        return Judgment(self.topic, self.system, judge, len(spans), unit, aspect, evidence=evidence)

    def lost(self, pyramid: Pyramid) -> tuple[Match, ...]:
        """Matches of units that the pyramid no longer has; they count for nothing until matched again."""
        known = {unit.id for unit in pyramid.units}
        return tuple(match for match in self.matches if match.unit not in known)


State = Pyramid | PeerAnnotation


@dataclass(frozen=True)
class Subject:
    """What is annotated: the state it starts from and the texts spans lie in; for a peer also the pyramid."""

    start: State
    texts: Mapping[str, str]
    pyramid: Pyramid | None = None
    _units: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        units = self.pyramid.units if self.pyramid else ()
        object.__setattr__(self, "_units", frozenset(unit.id for unit in units))

    @classmethod
    def of_pyramid(cls, topic: str, references: Mapping[str, str], name: str = "expert") -> Subject:
        return cls(Pyramid(topic, tuple(references), (), name), references)

    @classmethod
    def of_peer(cls, topic: str, system: str, text: str, pyramid: Pyramid) -> Subject:
        return cls(PeerAnnotation(topic, system), {system: text}, pyramid)

    def check(self, command: do.Edit) -> None:
        """Refuse what does not fit the texts and the pyramid. Replaying does not ask again."""
        if isinstance(command, do.PyramidCommand) is not isinstance(self.start, Pyramid):
            raise RefusedError(f"this annotation is of a {'pyramid' if self.pyramid is None else 'peer summary'}")
        for text in _texts(command):
            _check_text(text)
        match command:
            case do.ImportPyramid(content):
                for unit in content:
                    self._check_contributors(unit.id, unit.contributors, bare=True)
            case do.AddUnit(unit, _, contributors):
                self._check_contributors(unit, contributors)
            case do.AddContributor(unit, reference, spans):
                self._check_contributors(unit, (Contributor(reference, spans),))
            case do.RemoveContributor(unit, reference, spans) if spans:
                self._check_contributors(unit, (Contributor(reference, spans),))
            case do.MatchUnit(unit, spans):
                self._check_match(unit, spans)
            case do.MarkUnmatched(spans):
                self._check_peer_spans("content in no unit", spans)
            case do.ImportMatches(matches, marks):
                for match in matches:
                    self._check_match(match.unit, match.spans, bare=True)
                for mark in marks:
                    self._check_peer_spans("content in no unit", mark.spans, bare=True)

    def _check_contributors(self, unit: str, contributors: Iterable[Contributor], *, bare: bool = False) -> None:
        seen = set()
        for contributor in contributors:
            name = contributor.reference
            where = f"unit {unit}, contributor {name}"
            if name not in self.texts:
                raise RefusedError(f"{where}: there is no reference {name!r}; there are: {', '.join(self.texts)}")
            if name in seen:
                raise RefusedError(f"{where}: a unit has at most one contributor for a reference")
            seen.add(name)
            self._check_spans(where, contributor.spans, f"reference {name}", self.texts[name], bare)

    def _check_match(self, unit: str, spans: Spans, *, bare: bool = False) -> None:
        if unit not in self._units:
            raise RefusedError(f"there is no unit {unit!r} in the pyramid")
        self._check_peer_spans(f"match of unit {unit}", spans, bare=bare)

    def _check_peer_spans(self, where: str, spans: Spans, *, bare: bool = False) -> None:
        ((system, text),) = self.texts.items()
        self._check_spans(where, spans, f"peer {system}", text, bare)

    def _check_spans(self, where: str, spans: Spans, name: str, text: str, bare: bool) -> None:
        if not spans and not bare:
            raise RefusedError(f"{where}: no words of {name} are given")
        for span in spans:
            if not span.fits(text):
                raise RefusedError(
                    f"{where}: span {span.start}-{span.end} is not inside the text of {name} ({len(text)} characters)"
                )


def _texts(command: do.Edit) -> Iterable[str]:
    match command:
        case do.AddUnit(_, label, _, comment):
            return (label, comment)
        case do.RenameUnit(_, label) | do.MergeUnits(_, label) | do.SplitUnit(_, _, label):
            return (label,)
        case do.CommentUnit(_, comment):
            return (comment,)
        case do.ImportPyramid(content):
            return (text for unit in content for text in (unit.label, unit.comment, unit.author, unit.group))
    return ()


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusedError(f"{text[:40]!r} is not text: half a character cannot be kept") from None
