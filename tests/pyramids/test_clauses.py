from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyramidion.encoder.minilm import Encoder
from pyramidion.encoder.sentences import MOST_WAYS, Clause, one_apart
from pyramidion.pyramids.clauses import ClauseSegmenter, each_apart, tags
from pyramidion.pyramids.labels import label_faults, label_of
from pyramidion.study import Span

GUM = Path(__file__).resolve().parents[3] / "shared/data/gum-clauses/dev.jsonl"


@pytest.fixture(scope="module")
def segmenter():
    return ClauseSegmenter()


@pytest.fixture(scope="module")
def apart():
    return each_apart()


def ways(segmenter, text):
    (found,) = segmenter.segment([text])
    return [[[clause.text for clause in clauses] for clauses in s.segmentations] for s in found.sentences]


def test_a_second_verb_starts_a_clause_and_gets_the_subject(segmenter):
    text = "The National Transport Board has begun an investigation and should report in six weeks."
    (whole, cut), *_ = ways(segmenter, text)
    assert whole == [text]
    assert cut == [
        "The National Transport Board has begun an investigation",
        "The National Transport Board should report in six weeks.",
    ]


def test_spans_hold_the_words_and_the_attached_subject(segmenter):
    text = "It rained. The city opened the bridge in May and closed it again in June."
    second = segmenter.segment([text])[0].sentences[1]
    clause = second.segmentations[1][1]
    assert [span.of(text) for span in clause.spans] == ["The city", "and closed it again in June."]
    assert clause.text == "The city closed it again in June."


def test_a_subject_goes_with_its_verb_across_the_clause_between(segmenter):
    text = "The council, which also approved a desalination plant, will look at the rules again on October 15."
    (_, cut, *_), *_ = ways(segmenter, text)
    assert cut == [
        "The council also approved a desalination plant,",
        "The council will look at the rules again on October 15.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Cellan-Jones (2018) writes that Bitcoin is losing its appeal as a means of payment.",
        "Cellan-Jones suggests that the technology behind it may prove to be more useful than the currency.",
        "On the BBC podcast ‘Tech Tent’, a dealer explained how customers can buy a painting with crypto-currencies.",
        "This leads to encouraging people to use crypto-currencies.",
        "The five antique clocks, including the celebrated Harrow Regulator, have been found after seven months.",
        "The mayor said on Tuesday that the bridge would close.",
        'He writes: "The idea that it could be used for everyday payments has faded."',
        "A woman who was injured in an attack on a Swiss train has died in hospital, police say.",
    ],
)
def test_attributions_participles_and_quotations_are_not_cut_off(segmenter, text):
    assert ways(segmenter, text) == [[[text]]]


def test_what_can_be_left_out_is_read_with_its_clause(segmenter):
    text = "However, the value of these currencies changes every day, leading to an uncertain future."
    [(whole, cut)] = ways(segmenter, text)
    assert whole == [text]
    assert cut == ["However, the value of these currencies changes every day,", text]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("The ferry left at noon and nobody has found it.", "nobody has found it."),
        (
            "Lawns may not be watered, though vegetable plots can still be watered.",
            "vegetable plots can still be watered.",
        ),
    ],
)
def test_a_word_that_only_joins_is_held_but_not_read(segmenter, text, last):
    (found,) = segmenter.segment([text])
    clause = found.sentences[0].segmentations[1][-1]
    assert clause.text == last
    assert clause.spans[-1].of(text).split(maxsplit=1)[1] == last


SAYS = "Christopher Shake, the director of the London art gallery, suggests"
NOT_SO = "this is not the case"
INVOLVED = (
    "that many different companies of different natures not just technology related are getting involved with "
    "cryptocurrencies."
)


def test_who_says_something_goes_with_all_that_is_said(segmenter, apart):
    """Gao et al. 2019, figure 3, cuts off "Shake suggests", which says nothing; here it goes with both clauses."""
    text = f"{SAYS} that {NOT_SO} and {INVOLVED}"
    says = [f"{SAYS} that {NOT_SO}", f"{SAYS} {INVOLVED}"]
    for each in (segmenter, apart):
        [(whole, *alternatives)] = ways(each, text)
        assert whole == [text]
        assert alternatives == [says]


def test_one_clause_apart_leaves_all_other_words_in_their_order():
    text = "She says that it rains and that he stays ."
    sentence, inner = Span(0, len(text)), Span(9, 22)
    rest, clause = one_apart(text, sentence, Clause((inner,), "it rains"))
    assert (rest.text, clause.text) == ("She says and that he stays .", "it rains")
    assert rest.spans == (Span(0, 8), Span(23, len(text)))
    first = Clause((Span(0, 8),), "She says")
    assert one_apart(text, sentence, first) == (first, Clause((Span(9, len(text)),), text[9:]))
    shared = Clause((Span(0, 3), Span(23, len(text))), "She that he stays .")
    assert one_apart(text, sentence, shared)[0].text == "She says that it rains"


def test_a_long_sentence_has_a_bounded_number_of_ways(apart):
    many = ", and ".join(f"bridge {number} was closed by the city" for number in range(12))
    [found] = ways(apart, f"On Monday {many}.")
    assert len(found) == 1 + MOST_WAYS
    assert len(found[1]) > MOST_WAYS


def test_a_short_sentence_stays_whole(segmenter):
    assert ways(segmenter, "It was late.") == [[["It was late."]]]


@pytest.mark.parametrize("text", ["", "  \n", "...", "—"])
def test_no_words_no_sentences(segmenter, text):
    assert segmenter.segment([text])[0].sentences == ()


def test_numbers_stay_numbers(segmenter):
    text = "Sales rose by 12.5% to 3,400 units because prices fell by 20 dollars."
    assert len(ways(segmenter, text)[0]) == 2
    assert all(n in " ".join(c for w in ways(segmenter, text)[0][1:] for c in w) for n in ("12.5%", "3,400", "20"))


WORDS = ["he", "she", "said", "that", "the dog", "ran", "and", "because", "3", "when", ",", ".", "saw", "Ünïcode", "漢"]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30))
def test_clauses_hold_all_words_of_their_sentence_and_read_as_the_text(apart, words):
    text = " ".join(words)
    for sentence in apart.segment([text])[0].sentences:
        assert len(set(sentence.segmentations)) == len(sentence.segmentations)
        for clauses in sentence.segmentations:
            own = sorted(clause.spans[-1] for clause in clauses)
            assert all(a.end <= b.start for a, b in pairwise(own))
            held = {place for clause in clauses for span in clause.spans for place in range(span.start, span.end)}
            missing = {text[place] for place in range(sentence.span.start, sentence.span.end) if place not in held}
            assert not any(character.isalnum() for character in missing)
            for clause in clauses:
                *carried, own = (span.of(text).split() for span in clause.spans)
                repeated = [word for words in carried for word in words]
                read = clause.text.split()
                assert read[: len(repeated)] == repeated
                assert read[len(repeated) :] == own[len(own) - len(read) + len(repeated) :]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=3, max_size=30))
def test_a_label_shows_no_sign_of_being_cut_off(segmenter, words):
    """Whatever the words say, a clause is not shorter, and not less balanced, than the sentence it is cut from."""
    for sentence in segmenter.segment([" ".join(words)])[0].sentences:
        [[whole], *cut] = sentence.segmentations
        allowed = label_faults(label_of(whole.text))
        for clause in (clause for way in cut for clause in way):
            assert set(label_faults(label_of(clause.text))) <= set(allowed), clause.text


def test_texts_do_not_influence_each_other(segmenter):
    texts = ["He came home and she left because it was late.", "They said that the shop would close.", ""]
    assert segmenter.segment(texts) == [segmenter.segment([text])[0] for text in texts]


@pytest.mark.slow
@pytest.mark.skipif(not GUM.exists(), reason="needs ../shared/data/gum-clauses")
def test_boundaries_on_development_sentences():
    """F of boundaries inside sentences is at least .80 (rules over a small parser reach .718)."""
    rows = [json.loads(line) for line in GUM.read_text("utf-8").splitlines()][::3]
    hits = wrong = missed = 0
    texts = [_joined(row) for row in rows]
    tagged = tags(Encoder().encode((text for text, _ in texts), layers=True))
    for row, (_, starts), (words, found_tags) in zip(rows, texts, tagged, strict=True):
        found = {words.spans[i].start for i in np.flatnonzero(found_tags.starts > 0) if i} & set(starts)
        truth = {starts[i] for i in row["clause_start"] if i}
        hits, wrong, missed = hits + len(found & truth), wrong + len(found - truth), missed + len(truth - found)
    assert 2 * hits / (2 * hits + wrong + missed) >= 0.80


def _joined(row):
    glued, text, starts = set(row["no_space_after"]), "", []
    for number, token in enumerate(row["tokens"]):
        starts.append(len(text))
        text += token + ("" if number in glued else " ")
    return text.rstrip(), starts
