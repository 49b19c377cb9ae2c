"""Clauses from spaCy parses, made by hand so that no pipeline has to be installed."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from pyramidion.encoder.sentences import SegmentedText
from pyramidion.errors import MissingExtraError, UsageError
from pyramidion.pyramids.choices import Choices
from pyramidion.pyramids.spacy_clauses import SpacySegmenter


class Token(SimpleNamespace):
    """As much of a spaCy token as a segmenter reads."""

    def __hash__(self) -> int:
        return hash(self.i)

    @property
    def subtree(self) -> list[Token]:
        return sorted([self, *(t for child in self.children for t in child.subtree)], key=lambda token: token.i)


class Parsed(list):  # type: ignore[type-arg]
    text = "something"


def parse(*rows: tuple[str, int, str, str]) -> tuple[str, Any]:
    """A sentence of (word, number of its head, dependency, tag)."""
    tokens, text = [], ""
    for i, (word, _, dep, tag) in enumerate(rows):
        text += " " if text and word not in {",", "."} else ""
        morph = SimpleNamespace(get=lambda _name: [])
        tokens.append(Token(i=i, idx=len(text), text=word, dep_=dep, tag_=tag, morph=morph, is_space=False))
        text += word
    for token, (_, head, _, _) in zip(tokens, rows, strict=True):
        token.head = tokens[head]
        token.children = [t for t, (_, h, _, _) in zip(tokens, rows, strict=True) if h == token.i != t.i]
    return text, SimpleNamespace(sents=[Parsed(tokens)])


def segmented(parsed: tuple[str, Any]) -> SegmentedText:
    text, doc = parsed
    return SpacySegmenter(SimpleNamespace(pipe=lambda _texts: [doc])).segment([text])[0]


def test_a_clause_without_a_subject_gets_the_one_above() -> None:
    parsed = parse(
        ("He", 1, "nsubj", "PRP"),
        ("opened", 1, "ROOT", "VBD"),
        ("the", 3, "det", "DT"),
        ("door", 1, "dobj", "NN"),
        ("and", 1, "cc", "CC"),
        ("saw", 1, "conj", "VBD"),
        ("ten", 7, "nummod", "CD"),
        ("people", 5, "dobj", "NNS"),
        (".", 1, "punct", "."),
    )
    [sentence] = segmented(parsed).sentences
    assert [[clause.text for clause in clauses] for clauses in sentence.segmentations] == [
        ["He opened the door and saw ten people."],
        ["He opened the door and .", "He saw ten people"],
    ]
    text = parsed[0]
    assert [span.of(text) for span in sentence.segmentations[1][1].spans] == ["He", "saw ten people"]


def test_a_finite_auxiliary_makes_a_clause_and_an_infinitive_does_not() -> None:
    parsed = parse(
        ("She", 2, "nsubj", "PRP"),
        ("has", 2, "aux", "VBZ"),
        ("decided", 2, "ROOT", "VBN"),
        ("to", 4, "aux", "TO"),
        ("leave", 2, "xcomp", "VB"),
        ("because", 8, "mark", "IN"),
        ("it", 8, "nsubj", "PRP"),
        ("was", 8, "aux", "VBD"),
        ("raining", 2, "advcl", "VBG"),
    )
    [sentence] = segmented(parsed).sentences
    assert [clause.text for clause in sentence.segmentations[1]] == [
        "She has decided to leave",
        "because it was raining",
    ]


def test_a_simple_sentence_is_not_cut() -> None:
    [sentence] = segmented(parse(("Dogs", 1, "nsubj", "NNS"), ("bark", 1, "ROOT", "VBP"))).sentences
    assert len(sentence.segmentations) == 1


def test_a_missing_spacy_or_pipeline_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"pyramidion-eval\[spacy\]"):
        SpacySegmenter("de_core_news_sm")

    def load(name: str) -> None:
        raise OSError(name)

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    with pytest.raises(UsageError, match="python -m spacy download de_core_news_sm"):
        SpacySegmenter("de_core_news_sm")


def test_a_pipeline_is_chosen_by_name() -> None:
    choices = Choices(segmenter="spacy:de_core_news_sm")
    assert "|segmenter:spacy:de_core_news_sm|" in str(choices.signature(pyramid="auto"))
    with pytest.raises(UsageError, match="unknown segmenter 'spacy'"):
        Choices(segmenter="spacy")
