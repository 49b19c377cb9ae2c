"""Autoannotate: find in a summary what annotators marked in the others. Owczarzak et al. 2012, section 3.

Every text marked as evidence for a unit in the other annotated summaries of the topic is searched for in the summary,
whatever its case and spaces; a hit marks the unit as present there. Scored, this is the autoPyramid. Ideally it is at
most the manual score: the annotator found all of it here too, and perhaps more that is nowhere else.

Two choices are ours, since the paper does not describe them: a hit must begin and end at a word boundary ("art" is not
in "part"), and evidence in several pieces is found only if every piece is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyramidion.study import Judgment, Judgments, Pyramid, Span, Study, Summary
from pyramidion.study.judgments import Mention

JUDGE = "autoannotate"
Peer = tuple[str, str]
Pieces = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Normal:
    """A text in lower case with single spaces, and where each of its characters came from."""

    text: str
    origin: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Normal:
        characters: list[str] = []
        origin: list[int] = []
        for place, character in enumerate(text):
            shown = " " if character.isspace() else character.casefold()
            if shown == " " and (not characters or characters[-1] == " "):
                continue
            characters += shown
            origin += [place] * len(shown)
        if characters and characters[-1] == " ":
            del characters[-1], origin[-1]
        return cls("".join(characters), tuple(origin))

    def find(self, piece: str) -> Span | None:
        """The first place of a normalised piece, at word's edges."""
        start = self.text.find(piece)
        while start >= 0:
            end = start + len(piece)
            if not _joined(self.text, start) and not _joined(self.text, end):
                return Span(self.origin[start], self.origin[end - 1] + 1)
            start = self.text.find(piece, start + 1)
        return None


def _joined(text: str, place: int) -> bool:
    """Whether a place is inside a word."""
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


@dataclass(frozen=True)
class Evidence:
    """For every unit of a topic: the normalised texts marked for it, in order, and in whose summaries."""

    known: Mapping[tuple[str, str], Sequence[tuple[Pieces, frozenset[str]]]]
    teachers: Mapping[str, frozenset[str]]
    """The systems with evidence, by topic."""

    @classmethod
    def of(cls, study: Study, judgments: Judgments) -> Evidence:
        known: dict[tuple[str, str], dict[Pieces, set[str]]] = defaultdict(lambda: defaultdict(set))
        teachers: dict[str, set[str]] = defaultdict(set)
        for row, mentions in judgments.evidence.items():
            topic, unit = judgments.topic[row], judgments.unit[row]
            summary = study.summary(topic, judgments.system[row])
            if summary is None or not unit:
                continue
            for spans in mentions:
                pieces = tuple(piece for span in spans if (piece := Normal.of(span.of(summary.text)).text))
                if pieces:
                    known[topic, unit][pieces].add(summary.system)
                    teachers[topic].add(summary.system)
        return cls(
            {key: [(pieces, frozenset(who)) for pieces, who in sorted(held.items())] for key, held in known.items()},
            {topic: frozenset(systems) for topic, systems in teachers.items()},
        )

    def can_teach(self, topic: str, system: str) -> bool:
        """Whether anything was marked in other summaries of the topic."""
        return bool(self.teachers.get(topic, frozenset()) - {system})

    def annotate(self, summary: Summary, units: Iterable[str], judge: str = JUDGE) -> Iterator[Judgment]:
        """One judgment on each unit: 1 and the place if evidence from another summary is found, otherwise 0."""
        text = Normal.of(summary.text)
        for unit in units:
            mention = _first(text, self.known.get((summary.topic, unit), ()), summary.system)
            value, evidence = (0, ()) if mention is None else (1, (mention,))
            yield Judgment(summary.topic, summary.system, judge, value, unit=unit, evidence=evidence)


def _first(text: Normal, known: Sequence[tuple[Pieces, frozenset[str]]], system: str) -> Mention | None:
    for pieces, owners in known:
        if owners == {system}:
            continue  # only what was marked elsewhere counts
        places = [text.find(piece) for piece in pieces]
        if all(place is not None for place in places):
            return tuple(sorted(place for place in places if place is not None))
    return None


@dataclass(frozen=True)
class Autoannotator:
    """The judge that has learned from evidence; it leaves out summaries that nothing can be learned for."""

    evidence: Evidence
    name: str = JUDGE

    def judge(
        self, pyramid: Pyramid, texts: Mapping[str, str], _references: Mapping[str, str] | None = None
    ) -> Judgments:
        units = [unit.id for unit in pyramid.units]
        taught = [system for system in sorted(texts) if self.evidence.can_teach(pyramid.topic, system)]
        return Judgments(
            judgment
            for system in taught
            for judgment in self.evidence.annotate(Summary(pyramid.topic, system, texts[system]), units, self.name)
        )


def autoannotate(study: Study, judgments: Judgments) -> Judgments:
    """For every annotated summary and every unit judged in its topic: 1 if evidence from another summary is found.

    ``judgments`` are the manual ones to learn from and whose questions are answered; those without evidence are
    ignored.
    """
    units: dict[str, set[str]] = defaultdict(set)
    annotated: dict[Peer, Summary] = {}
    for row in range(len(judgments)):
        topic, system, unit = judgments.topic[row], judgments.system[row], judgments.unit[row]
        summary = study.summary(topic, system)
        if unit and summary is not None:
            units[topic].add(unit)
            annotated[topic, system] = summary
    evidence = Evidence.of(study, judgments)
    return Judgments(
        judgment
        for _, summary in sorted(annotated.items())
        for judgment in evidence.annotate(summary, sorted(units[summary.topic]))
    )
