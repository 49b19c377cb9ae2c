"""From segments and similarities to pyramids as people make them."""

from __future__ import annotations

from functools import partial
from itertools import permutations

import numpy as np
import pytest

from pyramidion import ContentUnit, Contributor, InputError, Pyramid, Span, Study, Summary, Topic
from pyramidion.encoder.sentences import Clause, SegmentedText, Sentence
from pyramidion.judges.contributors import contributors_of
from pyramidion.pyramids.build import BuiltPyramid, build
from pyramidion.pyramids.graph import SimilarityGraph
from pyramidion.pyramids.partition.edua_x import partition


def text_of(*sentences: str) -> SegmentedText:
    """Sentences that are cut at their commas."""
    whole, found = " ".join(sentences), []
    start = 0
    for sentence in sentences:
        span = Span(start, start + len(sentence))
        parts, place = [], start
        for part in sentence.split(","):
            parts.append(Clause((Span(place, place + len(part)),), part))
            place += len(part) + 1
        cut = (tuple(parts),) if len(parts) > 1 else ()
        found.append(Sentence(span, ((Clause((span,), sentence),), *cut)))
        start += len(sentence) + 1
    return SegmentedText(whole, tuple(found))


def shared_words(texts: list[SegmentedText]) -> np.ndarray:
    words = [set(clause.text.lower().strip(".").split()) for text in texts for clause in text.clauses()]
    return np.array([[len(a & b) / len(a | b) for b in words] for a in words])


REFERENCES = {
    "A": text_of("the river rose on monday", "ten people fled"),
    "B": text_of("the river rose,ten people fled the town"),
    "C": text_of("a river rose on monday", "cats sleep"),
}


def made(references: dict[str, SegmentedText], percentile: float = 70) -> BuiltPyramid:
    graph = partial(SimilarityGraph.of, percentile=percentile)
    return build("t", references, shared_words, graph=graph, partition=partition)


def test_units_have_contributors_with_their_words_and_the_most_central_label() -> None:
    """Of the three about the river, A's shares 3/5 with B's and 4/6 with C's, B's only 2/6 with C's."""
    pyramid = made(REFERENCES).pyramid
    said = {
        unit.label: [
            (c.reference, [span.of(REFERENCES[c.reference].text) for span in c.spans]) for c in unit.contributors
        ]
        for unit in pyramid.units
    }
    assert said == {
        "The river rose on monday": [
            ("A", ["the river rose on monday"]),
            ("B", ["the river rose"]),
            ("C", ["a river rose on monday"]),
        ],
        "Ten people fled": [("A", ["ten people fled"]), ("B", ["ten people fled the town"])],
        "Cats sleep": [("C", ["cats sleep"])],
    }
    assert [(unit.id, unit.weight) for unit in pyramid.units] == [("auto-1", 3), ("auto-2", 2), ("auto-3", 1)]
    assert (pyramid.name, pyramid.references) == ("auto", ("A", "B", "C"))


def test_the_order_of_references_does_not_matter() -> None:
    expected = made(REFERENCES).pyramid
    for order in permutations(REFERENCES):
        assert made({name: REFERENCES[name] for name in order}).pyramid == expected


def test_a_pyramid_fits_into_a_study() -> None:
    summaries = tuple(Summary("t", name, text.text, "reference") for name, text in REFERENCES.items())
    assert Study((Topic("t"),), summaries, (made(REFERENCES).pyramid,)).problems() == []


def test_a_label_can_be_read_without_what_stands_before_it() -> None:
    """B's words and C's are the same and so more central than A's, but "which" asks for what it is about."""
    references = {
        "A": text_of("the plant will cost ten million"),
        "B": text_of("they want a plant,which will cost ten million"),
        "C": text_of("they are for a plant,which will cost ten million"),
    }
    (unit,) = (unit for unit in made(references, percentile=20).pyramid.units if unit.weight == 3)
    assert unit.label == "The plant will cost ten million"


def test_one_reference_gives_units_of_weight_one() -> None:
    pyramid = made({"A": REFERENCES["A"]}).pyramid
    assert [(unit.label, unit.weight) for unit in pyramid.units] == [
        ("The river rose on monday", 1),
        ("Ten people fled", 1),
    ]


def test_identical_references_agree_on_everything() -> None:
    same = {name: text_of("the river rose", "ten people fled") for name in "ABC"}
    assert [unit.weight for unit in made(same).pyramid.units] == [3, 3]


def test_an_empty_reference_is_left_out_with_a_note() -> None:
    built = made({**REFERENCES, "D": SegmentedText("")})
    assert built.pyramid == made(REFERENCES).pyramid
    assert [str(note) for note in built.notes] == ["topic t, reference D: is empty and is left out"]


@pytest.mark.parametrize(("references", "what"), [({}, "has no references"), ({"A": SegmentedText("")}, "are empty")])
def test_nothing_to_build_from_names_the_topic(references: dict[str, SegmentedText], what: str) -> None:
    with pytest.raises(InputError, match=f"topic t: .*{what}"):
        made(references)


def test_contributors_of_an_edited_pyramid_are_its_spans_and_else_its_labels() -> None:
    text = "He came, saw, and left."
    units = (
        ContentUnit("a", "He left", (Contributor("A", (Span(18, 22), Span(0, 2))), Contributor("B", (Span(0, 4),)))),
        ContentUnit("b", "He saw it", (Contributor("A"),)),
        ContentUnit("c", "He came", (Contributor("A", (Span(0, 7),)),)),
    )
    found = contributors_of(Pyramid("t", ("A", "B"), units), {"A": text})
    assert [clause.text for text in found.texts for clause in text.clauses()] == [
        "He left",  # marked, in the order of the text
        "He came",
        "He left",  # reference B is not here, so the label stands for it
        "He saw it",
    ]
    assert found.unit_of == [0, 2, 0, 1]
