"""ROUGE by hand and against rouge-score."""

from __future__ import annotations

import pytest
from rouge_score.rouge_scorer import RougeScorer

import pyramidion as pyr
from pyramidion.methods.rouge import MEASURES, over_references, skip_bigram_overlap, skip_bigrams


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
    reference, peer = (skip_bigrams(text.split()) for text in ("police killed the gunman", "police kill the gunman"))
    assert skip_bigram_overlap(reference, peer) == (0.6, 0.6, pytest.approx(0.6))


def test_repeated_words_count_no_more_than_in_the_reference() -> None:
    found = skip_bigram_overlap(skip_bigrams(["a"]), skip_bigrams(["a", "a"]))
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
    for text in ("plain words", "", "123", "Käse über Öl", "אב ab"):  # at most half of the letters are lost
        assert not pyr.score(study(["plain words"], text), "rouge").notes
    notes = pyr.score(study(["plain words"], "אב a"), "rouge").notes
    assert [str(note) for note in notes] == [
        "topic t, peer s: is mostly outside a-z, which this tokenizer drops; use tokens unicode"
    ]


def test_degenerate_texts() -> None:
    for reference, peer in (("a b", ""), ("", "a b"), ("", ""), ("a b", "c d")):
        table = pyr.score(study([reference], peer), "rouge", measures=MEASURES)
        assert {score.value for score in table} == {0.0}
    # One word has no pair of words: nothing is shared of nothing.
    table = pyr.score(study(["one"], "one"), "rouge", measures=MEASURES)
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
