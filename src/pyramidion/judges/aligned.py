"""The judge ``auto`` as it is by default: the embedded judge, and what a score needs besides units.

Each unit is asked about exactly as `judge` asks: in the words of its label, beside the references and the whole
pyramid. Below a fifth it is not expressed. Content of the peer is unmatched where no expressed unit has a word:
clauses, every sentence cut as finely as possible. And it is noted how much the peer says of the references as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, islice

from pyramidion.encoder.sentences import Segmenter
from pyramidion.judges import LabelJudge
from pyramidion.judges.align import AlignJudge
from pyramidion.judges.contributors import DECIMALS, PEERS_AT_ONCE, Tell, outside
from pyramidion.study import UNMATCHED, Judgment, Judgments, Pyramid
from pyramidion.study.judgments import listed


class AlignedJudge:
    """Judges texts by a presence judge that knows how much they say of the references."""

    def __init__(self, name: str, segmenter: Segmenter, presence: AlignJudge) -> None:
        self.name, self._segmenter, self._presence = name, segmenter, presence
        self._labels = LabelJudge(presence, called=name, coverage=True)

    def prepare(self, pyramids: Iterable[Pyramid]) -> None:
        """Encode the labels of several small pyramids together, which is much faster."""
        self._presence.read(unit.label for pyramid in pyramids for unit in pyramid.units)

    def judge(
        self,
        pyramid: Pyramid,
        texts: Mapping[str, str],
        references: Mapping[str, str],
        *,
        tell: Tell = lambda _system, _similarity: None,
    ) -> Judgments:
        """How likely each unit with weight is, and where; what of a text is in no unit; and what of the references it
        says."""
        weighted = replace(pyramid, units=tuple(replace(unit, group="") for unit in pyramid.units if unit.weight))
        known = {name: text for name, text in references.items() if name in pyramid.references}
        source = iter(texts.items())
        rows: list[Judgment] = []
        while some := dict(islice(source, PEERS_AT_ONCE)):
            for system, judged in self._judged(weighted, some, known):
                rows += judged
                tell(system, {})
        return Judgments(rows)

    def _judged(
        self, pyramid: Pyramid, texts: Mapping[str, str], references: Mapping[str, str]
    ) -> Iterator[tuple[str, list[Judgment]]]:
        segments = self._segmenter.segment(list(texts.values()))  # first: it needs more of the encoder than the judge
        place = {system: number for number, system in enumerate(texts)}
        answered = sorted(self._labels.judge(pyramid, texts, references), key=lambda row: place[row.system])
        by_system = {system: list(rows) for system, rows in groupby(answered, key=lambda row: row.system)}
        for system, segmented in zip(texts, segments, strict=True):
            rows = [_rounded(row) for row in by_system.get(system, ())]
            mentions = [mention for row in rows if listed(row.value or 0) for mention in row.evidence]
            free = outside(segmented, mentions)
            unmatched = Judgment(pyramid.topic, system, self.name, float(len(free)), aspect=UNMATCHED, evidence=free)
            yield system, [*rows, unmatched]


def _rounded(row: Judgment) -> Judgment:
    """Stored degrees must give the same scores as computed ones."""
    return replace(row, value=None if row.value is None else round(row.value, DECIMALS))
