"""ROUGE by hand and against rouge-score."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

import pyramidion as pyr
from pyramidion.scoring.choice import own_references
from pyramidion.scoring.rouge import MEASURES, Overlap, _Text, over_references, skip_bigrams


def su4(reference: str, peer: str) -> Overlap:
    return _Text(reference.split()).overlap(_Text(peer.split()), "rouge-su4")


def test_skip_bigrams_by_hand() -> None:
    # Lin 2004, section 5: "police killed the gunman" has C(4,2) = 6 skip-bigrams; SU adds the 4 unigrams.
    assert skip_bigrams(["police", "killed", "the", "gunman"]).total() == 6 + 4
    # At most four words between: a pairs with b..f, not with g.
    pairs = skip_bigrams(list("abcdefg"))
    assert ("a", "f") in pairs
    assert ("a", "g") not in pairs
    assert pairs.total() == 7 + (6 + 5 + 4 + 3 + 2 + 1) - 1


def test_su4_of_lins_example_by_hand() -> None:
    # Reference "police killed the gunman", peer "police kill the gunman" (unstemmed): shared unigrams police, the,
    # gunman; shared pairs police-the, police-gunman, the-gunman: 6 of 10 on both sides.
    found = su4("police killed the gunman", "police kill the gunman")
    assert found == (0.6, 0.6, pytest.approx(0.6))


def test_repeated_words_count_no_more_than_in_the_reference() -> None:
    found = su4("a", "a a")
    assert found.recall == 1.0
    assert found.precision == pytest.approx(1 / 3)  # a, a and the pair a-a; one a is in the reference


def study(references: list[str], peer: str) -> pyr.Study:
    return pyr.Study(
        topics=(pyr.Topic("t"),),
        summaries=(
            *(pyr.Summary("t", f"r{i}", text, "reference") for i, text in enumerate(references)),
            pyr.Summary("t", "s", peer),
        ),
    )


def test_one_reference_equals_rouge_score(example: pyr.Study) -> None:
    reference = next(r.text for r in example.references)
    peer = next(p.text for p in example.peers if p.system == "extract")
    table = pyr.score(study([reference], peer), "rouge", measures=MEASURES)
    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True).score(reference, peer)
    for ours, name in (("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")):
        assert table.value("s", f"{ours}-recall") == theirs[name].recall
        assert table.value("s", f"{ours}-precision") == theirs[name].precision
        assert table.value("s", f"{ours}-f") == theirs[name].fmeasure


WORDS = st.lists(st.sampled_from(["the", "rivers", "river", "running", "ran", "a", "Été", "7", "-"]), max_size=25)


@given(reference=WORDS, peer=WORDS)
def test_any_two_texts_score_as_by_rouge_score(reference: list[str], peer: list[str]) -> None:
    """The same floats, bit by bit: the subsequence is found in another way, n-grams are counted in another order."""
    one, other = " ".join(reference), " ".join([*peer, "end"])
    found = pyr.score(study([one], other), "rouge", measures=MEASURES)
    theirs = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True).score(one, other)
    for ours, name in (("rouge-1", "rouge1"), ("rouge-2", "rouge2"), ("rouge-l", "rougeL")):
        values = tuple(found.value("s", f"{ours}-{part}") for part in ("precision", "recall", "f"))
        assert values == tuple(theirs[name])


HUMANS = {"A": "a b c d", "B": "a b x y", "C": "a p q r"}


@pytest.mark.parametrize(
    ("combine", "human", "system"),
    [
        ("average", (0.5 + 0.25) / 2, 0.5),  # A has 2 words of B and 1 of C; a b has 2, 2 and 1 of 4
        ("best", 0.5, 0.5),
        ("jackknife", 0.5, 0.5),  # A: the best of B and C; a b: the best of two of them is always 2 of 4
    ],
)
def test_a_peer_that_is_a_reference_is_compared_with_the_others(combine: str, human: float, system: float) -> None:
    references = tuple(pyr.Summary("t", name, text, "reference") for name, text in HUMANS.items())
    peers = (pyr.Summary("t", "A", "a  b c\nd"), pyr.Summary("t", "s", "a b"))
    held = pyr.Study(topics=(pyr.Topic("t"),), summaries=(*references, *peers))
    table = pyr.score(held, "rouge", measures=["rouge-1-recall"], combine=combine)
    assert table.value("A", "rouge-1-recall", "t") == pytest.approx(human)
    average = (0.5 + 0.5 + 0.25) / 3
    assert table.value("s", "rouge-1-recall", "t") == pytest.approx(average if combine == "average" else system)
    assert [str(note) for note in table.notes] == [
        "human peers: 1 peer is itself a reference (A on t is A), so it is scored against the others only"
    ]
    shuffled = pyr.Study(topics=held.topics, summaries=held.summaries[::-1])
    assert pyr.score(shuffled, "rouge", combine=combine).scores == pyr.score(held, "rouge", combine=combine).scores


def test_the_only_reference_has_no_score_of_its_own() -> None:
    held = study(["a b c"], "a b c")
    table = pyr.score(held, "rouge", measures=MEASURES)
    assert {score.value for score in table} == {None}
    assert [str(note) for note in table.notes] == [
        "human peers: 1 peer is itself a reference (s on t is r0), and its topic has no other, so it has no score"
    ]


def test_which_reference_a_peer_is() -> None:
    texts = {"B": "one two", "A": "one  two", "C": "three", "D": ""}
    references = tuple(pyr.Summary("t", name, text, "reference") for name, text in texts.items())
    peers = {"B": "one two", "x": " one\ntwo ", "y": "One two", "D": " ", "C": "three"}
    held = pyr.Study(
        topics=(pyr.Topic("t"), pyr.Topic("u")),
        summaries=(*references, *(pyr.Summary("t", name, text) for name, text in peers.items())),
    )
    assert own_references(held) == {("t", "B"): "B", ("t", "x"): "A", ("t", "C"): "C"}
    elsewhere = pyr.Study(topics=held.topics, summaries=(*references, pyr.Summary("u", "C", "three")))
    assert own_references(elsewhere) == {}
    # x says something of its own on u, so it is a program that hit upon the words of A; B has the name of a reference.
    more = (
        pyr.Summary("u", "E", "four", "reference"),
        *(pyr.Summary("u", name, "its own words") for name in ("x", "B")),
    )
    assert own_references(replace(held, summaries=(*held.summaries, *more))) == {("t", "B"): "B", ("t", "C"): "C"}


def test_several_references() -> None:
    values = [0.2, 0.5, 0.3]
    assert over_references(values, "average") == pytest.approx(1 / 3)
    assert over_references(values, "best") == 0.5
    # Leave out each: best of (.5 .3), (.2 .3), (.2 .5)
    assert over_references(values, "jackknife") == pytest.approx((0.5 + 0.3 + 0.5) / 3)
    assert over_references([0.4], "jackknife") == 0.4
    table = pyr.score(study(["a b c d", "a x y z"], "a b"), "rouge", measures=["rouge-1-recall"], combine="best")
    assert table.value("s", "rouge-1-recall") == 0.5


def test_other_scripts_are_never_silently_zero() -> None:
    hebrew = study(["שלום עולם גדול"], "שלום עולם")
    table = pyr.score(hebrew, "rouge", measures=["rouge-1-recall"])
    assert table.value("s", "rouge-1-recall") == 0.0
    assert any("outside a-z" in note.what for note in table.notes)
    unicode = pyr.score(hebrew, "rouge", measures=["rouge-1-recall"], tokens="unicode")
    assert unicode.value("s", "rouge-1-recall") == pytest.approx(2 / 3)
    assert not unicode.notes


def test_only_texts_that_lose_most_letters_are_warned_about() -> None:
    for text in ("plain word", "", "123", "Käse über Öl", "אב ab"):  # at most half of the letters are lost
        assert not pyr.score(study(["plain words"], text), "rouge").notes
    notes = pyr.score(study(["plain words"], "אב a"), "rouge").notes
    assert [str(note) for note in notes] == [
        "topic t, peer s: is mostly outside a-z, which this tokenizer drops; use --tokens unicode"
    ]


def test_degenerate_texts() -> None:
    for reference, peer in (("a b", ""), ("", "a b"), ("", ""), ("a b", "c d")):
        table = pyr.score(study([reference], peer), "rouge", measures=MEASURES)
        assert {score.value for score in table} == {0.0}
    # One word has no pair of words: nothing is shared of nothing.
    table = pyr.score(study(["one"], "One."), "rouge", measures=MEASURES)
    assert {name: table.value("s", name) for name in MEASURES} == {
        name: float(not name.startswith("rouge-2")) for name in MEASURES
    }
    nothing = pyr.score(study([], "a b"), "rouge")
    assert nothing.value("s", "rouge-1-recall") is None
    assert any("no references" in note.what for note in nothing.notes)


def test_progress_can_be_followed(example: pyr.Study) -> None:
    seen: list[int] = []

    def track(items):  # type: ignore[no-untyped-def]
        seen.append(len(items))
        return items

    pyr.score(example, "rouge", measures=["rouge-su4-f"], track=track)
    assert seen == [24]
