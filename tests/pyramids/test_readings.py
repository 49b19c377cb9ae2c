"""Where a sentence is cut, given its boundaries and subjects: independent of what the head finds.

Sentences are written as words with spaces between them, ``|`` before a boundary and ``{...}`` around a subject.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyramidion.pyramids.grammar import SentenceWords
from pyramidion.pyramids.readings import ClauseReading, enclosed, readings
from pyramidion.pyramids.verbs import agrees, forms, is_finite, predicate


def read(marked: str) -> list[str]:
    """The clauses of a sentence, as they are read."""
    words, odds, starts, inside = [], [], [], False
    for token in marked.split():
        if token.startswith("|"):
            starts.append(len(words))
        token = token.lstrip("|")
        inside |= token.startswith("{")
        words.append(token.strip("{}"))
        odds.append(5.0 if inside else -5.0)
        inside &= not token.endswith("}")
    found = readings(SentenceWords(words, np.array(odds, np.float32)), starts, starts)
    held = {place for each in found for part in (each.own, *each.carried) for place in range(*part)}
    assert {place for place, word in enumerate(words) if word.isalnum()} <= held
    return [_said(words, each) for each in found]


def _said(words: list[str], clause: ClauseReading) -> str:
    parts = (*clause.carried, (clause.own.first + clause.skipped, clause.own.last))
    return " ".join(word for part in parts for word in words[slice(*part)])


def whole(marked: str) -> bool:
    return read(marked) == [" ".join(token.strip("|{}") for token in marked.split())]


@pytest.mark.parametrize(
    ("marked", "clauses"),
    [
        # its own subject
        ("{He} came |and {she} saw the town", ["He came", "she saw the town"]),
        ("{Ten people} fled ; |{the town} was empty", ["Ten people fled ;", "the town was empty"]),
        # the subject before it, told by the form of the verb
        ("{He} came home |and saw the dog", ["He came home", "He saw the dog"]),
        ("{It} has fallen down |and hit a car", ["It has fallen down", "It has hit a car"]),
        ("{It} has been closed |and will open in May", ["It has been closed", "It will open in May"]),
        ("{The city} will meet them |and decide in May", ["The city will meet them", "The city will decide in May"]),
        (
            "{They} took cuttings , |grew them for a year , |and planted them",
            ["They took cuttings ,", "They grew them for a year ,", "They planted them"],
        ),
        # who says so
        (
            "{Shake} suggests |that {prices} will fall |and that {shops} will close",
            ["Shake suggests that prices will fall", "Shake suggests that shops will close"],
        ),
        (
            "{Critics} say |that {it} covers little ground |and diverts attention",
            ["Critics say that it covers little ground", "Critics say that it diverts attention"],
        ),
        ("{He} puts it at ten |and warns |that {they} know", ["He puts it at ten", "He warns that they know"]),
        # asserted like the main clause
        ("{They} left town |because {they} were badly hurt", ["They left town", "they were badly hurt"]),
        ("{The trail} went cold |when {a dog} ate the key", ["The trail went cold", "a dog ate the key"]),
        ("Although {it} was very late , |{she} stayed at home", ["it was very late ,", "she stayed at home"]),
        (
            "{Many} see it , |while {others} , including banks , have left",
            ["Many see it ,", "others , including banks , have left"],
        ),
        # relative clauses with what they are about
        (
            "{The council} , |{which} met twice , |will vote in May",
            ["The council met twice ,", "The council will vote in May"],
        ),
        ("{Coron} is a town |{that} became famous in May", ["Coron is a town", "Coron became famous in May"]),
        (
            "{Norton} was a man |{who} lost all |and {who} wrote decrees",
            ["Norton was a man", "Norton lost all", "Norton wrote decrees"],
        ),
        (
            "{They} want a new plant , |{which} will cost ten million",
            ["They want a new plant ,", "a new plant will cost ten million"],
        ),
        (
            "{Corals} live on Oranza Reef , |{which} bleached in May",
            ["Corals live on Oranza Reef ,", "Oranza Reef bleached in May"],
        ),
    ],
)  # fmt: skip
def test_a_sentence_is_cut_where_both_sides_read_alone(marked: str, clauses: list[str]) -> None:
    assert read(marked) == clauses


@pytest.mark.parametrize(
    "marked",
    [
        # who says something stays with what is said
        "{Cellan-Jones} |( 2018 ) |writes |that {Bitcoin} is losing its appeal",
        "{Cellan-Jones} suggests |{it} is useful",
        "{The captain} had not been drinking , |{a test} showed .",
        "{She} should be free , |{the court} has ruled .",
        "According to Smith , |{prices} fell",
        "As {Smith} puts it , |{the rush} is over",
        "{The bridge} is unsafe , |said {Smith} on Monday .",
        # participles, infinitives and prepositions stay with their clause
        "{They} made plans |to help people |and use the currency",
        "{The clocks} |stolen in March , |including the Regulator , |have been found",
        "{The man} was arrested |and charged with theft",
        "{She} hopes to learn |and become a nurse",
        # conditions and what has not happened yet
        "If {it} rains , |{the match} ends",
        "{Nobody} knows |why {he} left |or where {he} went",
        # nothing by itself
        "{Some galleries} accept them , |and {this} leads to more sales",
        "{He} scored a goal |but {it} was not enough",
        # what belongs to both verbs, or to nobody knows which
        "{A bear} has attacked |and killed a cyclist",
        "{He} met a man |{who} lived in Rome |and had a dog",
        "{Smith} said |that {the ruling} was new |and left the room",
        "{The news} came from a man |{who} was asked to help |and called the police",
        "{Police} say |that {a bus} crashed |and {two people} died",
        # relative clauses that cannot be read with what they are about
        "{The mayor} , |{who} was angry , |and {the council} want more money",
        "{They} live at a time |{which} forbids it",
    ],
)
def test_a_sentence_that_cannot_be_cut_well_stays_whole(marked: str) -> None:
    assert whole(marked)


@pytest.mark.parametrize(
    ("marked", "kept"),
    [
        ("{The value} changes every day , |leading to an uncertain future", "The value changes every day ,"),
        ("{He} was questioned in Peru |after posing naked", "He was questioned in Peru"),
        ("{It} may come down |after {engineers} look at it", "It may come down"),
        ("{It} is not run by a bank , |{which} means |that {nobody} is safe", "It is not run by a bank ,"),
        ("{They} met in India , |{which} are known to be good", "They met in India ,"),
        ("{He} lived in a town of artists , |{who} painted", "He lived in a town of artists ,"),
    ],
)
def test_what_can_be_left_out_is_read_with_the_clause_that_it_hangs_on(marked: str, kept: str) -> None:
    every = " ".join(token.strip("|{}") for token in marked.split())
    assert read(marked) == [kept, every]


@pytest.mark.parametrize(
    "marked",
    [
        "{Clocks} have been found , seven months |after {they} disappeared",
        "{It} shows |that {exposure} |after {it} is over |causes attrition",
        "{He} left",
    ],
)
def test_what_is_left_must_be_whole(marked: str) -> None:
    assert whole(marked)


def test_what_follows_a_clause_between_two_parts_of_another_stays_with_both() -> None:
    """ "though ..." is read alone only if nothing after it may belong to what is before it."""
    assert whole("{She} likes the trail |though {she} is not a walker , |and finally going to the gardens")
    assert len(read("{She} likes the trail |though {she} is not a keen walker")) == 2


TOKENS = [
    "{he}",
    "{she",
    "man}",
    "{they}",
    "said",
    "saw",
    "is",
    "and",
    "but",
    "that",
    "which",
    "{who}",
    "because",
    "to",
    "when",
    ",",
    ";",
    ":",
    "(",
    ")",
    "going",
    "taken",
    "a",
    "the",
    "Rome",
    "2",
    "not",
    "'",
    "s",
    "it",
    "if",
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(TOKENS)), min_size=1, max_size=25))
def test_any_words_are_cut_without_losing_one(parts: list[tuple[bool, str]]) -> None:
    marked = " ".join(("|" if start and number else "") + token for number, (start, token) in enumerate(parts))
    assert read(marked)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("He (2018, p. 2) said", ["2018, p. 2)"]),
        ("On ‘Tech Tent’, the dealers' art", ["Tech Tent’"]),
        ('a "b, c" d', ['b, c"']),
        ("an open (bracket", []),
        ("It's the dogs' bowl", []),
    ],
)
def test_what_brackets_and_quotation_marks_enclose(text: str, inside: list[str]) -> None:
    assert sorted({text[start:end] for start, end in enclosed(text)}) == inside


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("was", {"auxiliary"}), ("wrote", {"past", "past only"}), ("said", {"past", "participle"}),
        ("opened", {"past", "participle"}), ("taken", {"participle"}), ("leading", {"ing"}), ("leads", {"s"}),
        ("lead", {"base"}), ("be", {"be"}), ("the", set()), ("Smith", set()), ("2018", set()), ("quickly", set()),
    ],
)  # fmt: skip
def test_forms_of_verbs(word: str, expected: set[str]) -> None:
    assert forms(word) == expected
    assert is_finite(word) == bool(expected & {"auxiliary", "past", "s", "base"})


def test_a_verb_agrees_with_its_subject() -> None:
    assert agrees(["Months", "of", "disruption"], "await")
    assert not agrees(["the", "Foundation"], "rest")
    assert not agrees(["Thomas", "and", "Manju"], "is")
    assert predicate(["The", "Foundation", "the", "rest"], (0, 2), 3, 4) is None
    contracted = predicate(["He", "'", "s", "ill"], (0, 1), 2, 4)
    assert contracted is not None
    assert contracted.links
