"""Features of summaries for a trained metric: word overlap with references and documents, length, repetition."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

from pyramidion.methods import rouge
from pyramidion.model import Score, ScoreTable, Signature, Study, Summary

ROUGE = ("rouge-1-recall", "rouge-2-recall", "rouge-l-recall", "rouge-su4-recall")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _sentences(text: str) -> list[list[str]]:
    return [words for part in re.split(r"(?<=[.!?])\s+|\n+", text) if (words := _words(part))]


def _pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise(words))


def redundancy(text: str) -> float:
    """The greatest share of words that two sentences have in common, of the shorter one; 0 for a single sentence."""
    kept = [set(words) for words in _sentences(text)]
    return max((len(a & b) / min(len(a), len(b)) for a, b in combinations(kept, 2)), default=0.0)


def sentence_length(text: str) -> float:
    sentences = _sentences(text)
    return sum(map(len, sentences)) / len(sentences) if sentences else 0.0


def distinct_words(text: str) -> float:
    """Distinct words of all words."""
    words = _words(text)
    return len(set(words)) / len(words) if words else 0.0


_OF_TEXT: dict[str, Callable[[str], float]] = {
    "words": lambda text: float(len(_words(text))),
    "sentence-length": sentence_length,
    "distinct-words": distinct_words,
    "redundancy": redundancy,
}


def summary_features(study: Study) -> ScoreTable:
    """Every feature of every peer, as a score table; the overlap with documents only where there are any."""
    overlap = rouge.score(study, measures=ROUGE) if study.references else None
    documents = {
        topic.id: _pairs([word for document in topic.documents for word in _words(document.text)])
        for topic in study.topics
        if topic.documents
    }
    scores = [score for peer in study.peers for score in _features(peer, documents)]
    if overlap is not None:
        scores += [score for score in overlap if score.topic is not None]
    return ScoreTable.of_summaries(scores, Signature.of("features"))


def _features(peer: Summary, documents: dict[str, set[tuple[str, str]]]) -> list[Score]:
    found = [Score(peer.topic, peer.system, name, feature(peer.text)) for name, feature in _OF_TEXT.items()]
    if peer.topic in documents:
        mine = _pairs(_words(peer.text))
        share = len(mine & documents[peer.topic]) / len(mine) if mine else 0.0
        found.append(Score(peer.topic, peer.system, "document-overlap", share))
    return found
