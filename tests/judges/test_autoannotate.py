"""Autoannotate finds what was marked elsewhere, at word's edges, whatever its case and spaces."""

from __future__ import annotations

from hypothesis import given
from tests.strategies import any_text

from pyramidion.judges.autoannotate import Normal, autoannotate
from pyramidion.study import UNMATCHED, Judge, Judgment, Judgments, Span, Study, Summary, Topic

TEXTS = {
    "x": "The river rose fast. Forty houses were lost.",
    "y": "Yesterday the  River\nROSE fast, and forty people left.",
    "z": "An artist painted the part of the river. Forty old houses were all lost.",
}


def mark(text: str, *pieces: str) -> tuple[Span, ...]:
    return tuple(Span(text.index(piece), text.index(piece) + len(piece)) for piece in pieces)


def study(*marked: Judgment) -> tuple[Study, Judgments]:
    asked = [
        Judgment("t", system, "ann", 0, unit=unit)
        for system in TEXTS
        for unit in ("rose", "houses")
        if (system, unit) not in {(j.system, j.unit) for j in marked}
    ]
    judgments = Judgments([*marked, *asked])
    summaries = tuple(Summary("t", system, text) for system, text in TEXTS.items())
    return Study(
        topics=(Topic("t"),), summaries=summaries, judges=(Judge("ann", "expert"),), judgments=judgments
    ), judgments


def found(*marked: Judgment) -> dict[tuple[str, str], Judgment]:
    return {(j.system, j.unit): j for j in autoannotate(*study(*marked))}


def test_case_and_spaces_do_not_matter() -> None:
    seen = found(Judgment("t", "x", "ann", 1, unit="rose", evidence=(mark(TEXTS["x"], "The river rose fast"),)))
    assert {key for key, j in seen.items() if j.value == 1} == {("y", "rose")}
    hit = seen["y", "rose"]
    assert hit.evidence[0][0].of(TEXTS["y"]) == "the  River\nROSE fast"


def test_a_summary_does_not_teach_itself() -> None:
    seen = found(Judgment("t", "y", "ann", 1, unit="rose", evidence=(mark(TEXTS["y"], "Yesterday"),)))
    assert not any(j.value for j in seen.values())


def test_a_hit_ends_at_words_edges() -> None:
    # "art" stands inside "artist" and "part" of z, but not as a word.
    text = "art"
    extra = Summary("t", "w", text)
    base, judgments = study()
    judgments = Judgments([*judgments, Judgment("t", "w", "ann", 1, unit="rose", evidence=((Span(0, 3),),))])
    whole = Study(topics=base.topics, summaries=(*base.summaries, extra), judges=base.judges, judgments=judgments)
    assert not any(j.value for j in autoannotate(whole, judgments) if j.system == "z")
    assert Normal.of("a part, art!").find("art") == Span(8, 11)


def test_every_piece_must_be_there() -> None:
    marked = Judgment("t", "x", "ann", 1, unit="houses", evidence=(mark(TEXTS["x"], "Forty", "houses were", "lost"),))
    seen = found(marked)
    assert seen["z", "houses"].value == 1  # "Forty old houses were all lost" has all three pieces
    assert seen["y", "houses"].value == 0


@given(any_text)
def test_a_text_is_found_in_itself_and_spans_fit(text: str) -> None:
    normal = Normal.of(text)
    assert len(normal.text) == len(normal.origin)
    if normal.text:
        span = normal.find(normal.text)
        assert span is not None
        assert span.fits(text)
        assert Normal.of(span.of(text)).text == normal.text


def test_only_units_of_known_summaries_are_learnt_and_answered() -> None:
    rose = mark(TEXTS["x"], "The river rose fast")
    base, judgments = study(Judgment("t", "x", "ann", 1, unit="rose", evidence=(rose,)))
    more = [
        Judgment("t", "y", "ann", 1, aspect=UNMATCHED, evidence=(mark(TEXTS["y"], "forty"),)),  # about no unit
        Judgment("t", "gone", "ann", 1, unit="houses", evidence=((Span(0, 5),),)),  # whose text is not here
    ]
    assert autoannotate(base, Judgments([*judgments, *more])) == autoannotate(base, judgments)


def test_spaces_alone_teach_nothing() -> None:
    seen = found(Judgment("t", "x", "ann", 1, unit="rose", evidence=((Span(3, 4),),)))
    assert not any(j.value for j in seen.values())


def test_what_two_summaries_share_counts_for_both() -> None:
    marked = (
        Judgment("t", "x", "ann", 1, unit="rose", evidence=(mark(TEXTS["x"], "river rose fast"),)),
        Judgment("t", "y", "ann", 1, unit="rose", evidence=(mark(TEXTS["y"], "River\nROSE fast"),)),
    )
    seen = found(*marked)
    assert {key for key, j in seen.items() if j.value == 1} == {("x", "rose"), ("y", "rose")}


def test_pieces_are_shown_in_text_order() -> None:
    pieces = mark(TEXTS["x"], "lost", "Forty")
    hit = found(Judgment("t", "x", "ann", 1, unit="houses", evidence=(pieces,)))["z", "houses"]
    assert [span.of(TEXTS["z"]) for span in hit.evidence[0]] == ["Forty", "lost"]
