"""The embedded judge: words of the unit aligned to words of the summary in context (`judges.presence`).

Each distinct sentence is encoded once, so the cost grows with sentences; a judgment is a small matrix product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property

from pyramidion.encoder import Recent
from pyramidion.encoder.minilm import Encoder
from pyramidion.encoder.words import Bag, bags
from pyramidion.judges import Questions, Verdicts
from pyramidion.judges.accuracy import model_card
from pyramidion.judges.presence import JudgedUnits
from pyramidion.judges.wording import credited, verbatim

KEPT_WORDS = 60_000
"""Words whose vectors are kept, the texts used last: 92 MB."""
TEXTS_AT_ONCE = 512
"""Texts gathered before they are encoded together, sorted by length."""


class AlignJudge:
    """``align``. The encoder is loaded with the first question."""

    name = "align"

    def __init__(self, *, threads: int | None = None) -> None:
        self._threads = threads
        self._recent: Recent[Bag] = Recent(KEPT_WORDS, len)

    @classmethod
    def sharing(cls, encoder: Encoder) -> AlignJudge:
        """One that uses an encoder which has read some of the texts already."""
        judge = cls()
        judge._encoder = encoder
        return judge

    @property
    def threshold(self) -> float:
        """Chosen on training data, for the greatest F of "present"."""
        return float(model_card()["threshold"])

    @property
    def expressed(self) -> float:
        """Chosen on labelled data so that "expressed" is right at least four times in five."""
        return float(model_card()["expressed"])

    @property
    def perhaps(self) -> float:
        """Chosen on labelled data so that "not found" is right at least nine times in ten."""
        return float(model_card()["perhaps"])

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self._threads)

    def judge(self, questions: Iterable[Questions], /) -> Iterator[Verdicts]:
        for asked, encoded in self._ahead(_gathered(questions)):
            for each in asked:
                units, summaries, references, pyramid = ([encoded[text] for text in texts] for texts in each)
                known = credited(each.units, each.summaries, (*each.references, *each.pyramid))
                same = verbatim(each.units, each.summaries)
                judged = JudgedUnits(units, summaries, references, pyramid, known, same)
                yield Verdicts(judged.probability(), judged.alignment.evidence, coverage=judged.coverage())

    def read(self, texts: Iterable[str]) -> None:
        """Encode texts that will be asked about."""
        self._encoded(dict.fromkeys(texts))

    def _ahead(self, gathered: Iterable[list[Questions]]) -> Iterator[tuple[list[Questions], dict[str, Bag]]]:
        """Questions with their texts encoded; the next ones are being encoded while these are answered."""
        with ThreadPoolExecutor(1, "align") as other:
            begun: tuple[list[Questions], Future[dict[str, Bag]]] | None = None
            for asked in gathered:
                texts = dict.fromkeys(text for each in asked for texts in each for text in texts)
                following = asked, other.submit(self._encoded, texts)
                if begun is not None:
                    yield begun[0], begun[1].result()
                begun = following
            if begun is not None:
                yield begun[0], begun[1].result()

    def _encoded(self, texts: Mapping[str, None]) -> dict[str, Bag]:
        encoded = self._recent.get(texts)
        new = [text for text in texts if text not in encoded]
        encoded.update(zip(new, bags(new, self._encoder), strict=True))
        self._recent.keep(encoded)
        return encoded


def _gathered(questions: Iterable[Questions]) -> Iterator[list[Questions]]:
    """Small topics are encoded together, because small batches are slow."""
    gathered: list[Questions] = []
    texts = 0
    for each in questions:
        gathered.append(each)
        texts += len(each.units) + len(each.summaries)
        if texts >= TEXTS_AT_ONCE:
            yield gathered
            gathered, texts = [], 0
    if gathered:
        yield gathered
