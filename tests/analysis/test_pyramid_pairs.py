"""An automatic pyramid beside a manual one: the paper's figures 1 and 7, by hand, and whatever the order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.analysis import pyramid_pairs
from pyramidion.analysis.answer import Lines
from pyramidion.study import ContentUnit, Contributor, Pyramid, Span, Study, Summary, Topic

# Gao et al. 2019, figure 7. Where the figure leaves words out, so do we.
FIGURE_7 = {
    "1": "Also, as most collisions are due to human error, costs of insurance for self-driving cars could fall by up "
    "to 50%.",
    "2": "The cars themselves would also reduce insurance premiums; 90 percent of road accidents are caused by human "
    "error",
    "3": "Shankleman does well to balance out the positives such as lower insurance, reduced traffic, savings on "
    "mechanical costs and lower chance of road accidents.",
    "4": "he claims that over 90 percent of road traffic accidents occur as a result of human error. this would result "
    "in lower insurance premium for owners of autonomous vehicles by up to 50 percent.",
}
# Figure 1: RSUM1 to RSUM5, and which words the manual unit has.
FIGURE_1 = {
    "1": "For example, an art gallery in London held an exhibit with digital currency as the preferred",
    "2": "However, there has been some positive news as businesses such as a Scottish Hotel & a London Art Gallery are "
    "allowing customers to pay with crypto currencies",
    "3": "Cellan-Jones (2018) writes recent days both a London art gallery and a Scottish hotel to allow their "
    "customers to pay with crypto-currencies.",
    "4": "by suggesting that a London art gallery & Scottish hotel chain plan to support for different "
    "crypto-currencies. that the London based art gallery would use only crypto currencies",
    "5": "Businesses located in London and Scotland have made enquiries to allow payment from customers using cryptoc.",
}


def unit(id: str, texts: dict[str, str], label: str = "", **words: str) -> ContentUnit:
    """A unit whose contributors are these words of the references r1, r2, ...; empty words are not marked."""
    found = []
    for name, part in words.items():
        start = texts[name[1:]].index(part) if part else 0
        found.append(Contributor(name[1:], (Span(start, start + len(part)),) if part else ()))
    return ContentUnit(id, label or id, tuple(found))


def study(texts: dict[str, str], **pyramids: list[ContentUnit]) -> Study:
    return Study(
        (Topic("t"),),
        tuple(Summary("t", name, text, "reference") for name, text in texts.items()),
        tuple(Pyramid("t", tuple(texts), tuple(units), name) for name, units in pyramids.items()),
    )


def test_figure_1_a_unit_of_weight_5_is_the_partner_of_one_of_weight_4() -> None:
    auto = {f"r{name}": text for name, text in FIGURE_1.items()}
    auto["r4"] = "that the London based art gallery would use only crypto currencies"
    manual = {
        "r1": FIGURE_1["1"],
        "r2": "a Scottish Hotel & a London Art Gallery are allowing customers to pay with crypto currencies",
        "r3": "both a London art gallery and a Scottish hotel to allow their customers to pay with crypto-currencies.",
        "r4": "a London art gallery & Scottish hotel chain plan to support for different crypto-currencies.",
    }
    pyramids = {"auto": [unit("a", FIGURE_1, **auto)], "expert": [unit("m", FIGURE_1, **manual)]}
    found = pyramid_pairs(study(FIGURE_1, **pyramids)).result
    [pair] = found.pairs
    assert (pair.unit.weight, pair.other.weight) == (5, 4)
    # Other words of reference 4 say the same, and reference 5 is in one unit only: three contributors in common.
    assert pair.contributors == 3
    shared = sum(len(manual[name]) for name in ("r1", "r2", "r3"))
    both = sum(map(len, [*auto.values(), *manual.values()]))
    assert pair.overlap == pytest.approx(2 * shared / both)
    whole = found.of("auto")
    assert (whole.units_paired, whole.weight_paired, whole.coverage) == (1, 1, 3 / 4)
    assert (whole.difference, whole.equal, whole.within_one) == (1, 0, 1)


def figure_7() -> Study:
    accidents = unit(
        "accidents",
        FIGURE_7,
        r1="Also, as most collisions are due to human error",
        r2="90 percent of road accidents are caused by human error",
        r3="lower chance of road accidents",
        r4="he claims that over 90 percent of road traffic accidents occur as a result of human error",
    )
    insurance = unit(
        "insurance",
        FIGURE_7,
        r1="costs of insurance for self-driving cars could fall by up to 50%",
        r2="The cars themselves would also reduce insurance premiums",
        r3="lower insurance",
        r4="this would result in lower insurance premium for owners of autonomous vehicles by up to 50 percent.",
    )
    auto = unit("both", FIGURE_7, **{f"r{name}": FIGURE_7[name] for name in "123"})
    return study(FIGURE_7, auto=[auto], expert=[accidents, insurance])


def test_figure_7_a_unit_that_has_two_manual_ones_leaves_one_without_a_partner() -> None:
    answer = pyramid_pairs(figure_7())
    found = answer.result
    # insurance shares 64 + 56 + 15 characters and has 99 others, accidents 47 + 54 + 30 and 89.
    [pair] = found.pairs
    assert (pair.unit.id, pair.other.id, pair.contributors) == ("both", "insurance", 3)
    sizes = sum(len(FIGURE_7[name]) for name in "123")
    assert pair.overlap == pytest.approx(2 * 135 / (sizes + 135 + 99))
    [lone] = found.alone
    assert (lone.unit.id, lone.missing) == ("accidents", "auto")
    assert lone.nearest is not None
    assert (lone.nearest.id, lone.inside) == ("both", pytest.approx(131 / (131 + 89)))
    assert found.of("auto").units_paired == found.of("auto").weight_paired == 0.5
    assert found.of("auto").coverage == 3 / 8
    assert found.tiers == {("expert", "t"): {4: 2}, ("auto", "t"): {3: 1}}
    assert answer.tables[0].rows[:2] == (("t", "expert", 2, 2, 0), ("t", "auto", 1, 0, 1))
    assert "1 of 2 units of expert (50%), with 50% of its weight, have a partner among the 1 units of auto" in str(
        answer
    )
    [figure] = answer.figures
    assert isinstance(figure, Lines)
    assert [(series.name, series.y) for series in figure.series] == [("expert", (0, 2)), ("auto", (1, 0))]


def test_two_units_that_share_too_little_are_no_pair() -> None:
    overlap = pyramid_pairs(figure_7()).result.pairs[0].overlap
    assert pyramid_pairs(figure_7(), least=overlap - 1e-9).result.pairs
    answer = pyramid_pairs(figure_7(), least=overlap + 1e-9)
    assert not answer.result.pairs
    assert answer.result.of("auto").pearson is None
    assert len(answer.result.alone) == 3
    assert any("no unit in common" in note.what for note in answer.notes)


TEXTS = {"A": "abcdefghij", "B": "klmnopqrst"}


def test_units_without_marked_words_are_compared_by_labels_and_that_is_said() -> None:
    crowd = [
        unit("1", TEXTS, "The bridge was closed", rA=""),
        unit("2", TEXTS, "Seven people were hurt", rB=""),
        ContentUnit("3", ""),
    ]
    auto = [unit("a", TEXTS, "The bridge closed on Monday", rA="abc", rB="klm"), unit("b", TEXTS, "A dog", rA="hij")]
    answer = pyramid_pairs(study(TEXTS, auto=auto, crowd=crowd), against="crowd")
    [pair] = answer.result.pairs
    # Stems of content words: {bridg, close} and {bridg, close, monday}: 2 * 2 / 5.
    assert (pair.unit.id, pair.other.id, pair.overlap, pair.by_label) == ("a", "1", pytest.approx(0.8), True)
    assert pair.contributors == 1
    assert [str(note) for note in answer.notes] == [
        "3 of 3 units of crowd: have no marked words in the references and are compared by their labels",
        "1 unit: have neither words nor label: not comparable",
    ]


def test_several_pyramids_stand_side_by_side_and_topics_can_be_chosen() -> None:
    first = figure_7()
    second = replace(
        first,
        topics=(*first.topics, Topic("u")),
        summaries=(*first.summaries, *(replace(s, topic="u") for s in first.summaries)),
        pyramids=(
            *first.pyramids,
            *(replace(p, topic="u") for p in first.pyramids),
            *(replace(p, name="copy") for p in first.pyramids if p.name == "expert"),
        ),
    )
    both = pyramid_pairs(second)
    assert both.result.topics == ("t", "u")
    assert both.result.of("auto").pairs == 2
    assert pyramid_pairs(second, topics=["u*"]).result.topics == ("u",)
    answer = pyramid_pairs(second, pyramid=["auto", "copy"])
    assert [str(note) for note in answer.notes] == ["topics u: have no pyramid copy; left out"]
    found = answer.result.of("copy", "t")
    assert (found.coverage, found.overlap, found.difference, found.equal) == (1, 1, 0, 2)
    assert "|pyramid:auto/copy|against:expert|" in str(answer.signature)
    assert {lone.missing for lone in answer.result.alone} == {"auto"}


def test_other_references_are_noted() -> None:
    found = figure_7()
    fewer = tuple(replace(p, references=("1", "2", "3")) if p.name == "auto" else p for p in found.pyramids)
    [note] = pyramid_pairs(replace(found, pyramids=fewer)).notes
    assert "different references (4 in only one of them)" in str(note)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pyramid": "greedy"}, "auto build STUDY -o NEW.jsonl --name greedy"),
        ({"against": "gold"}, "no pyramid called 'gold' to compare with .it has: auto, expert.; name one of its"),
        ({"pyramid": "expert"}, "compared with itself"),
        ({"pyramid": []}, "at least one pyramid"),
        ({"least": 0.0}, "above 0 and at most 1, not 0"),
        ({"topics": ["x"]}, "no topic with a pyramid is called x"),
    ],
)
def test_what_cannot_be_compared_is_said(options: dict[str, object], message: str) -> None:
    with pytest.raises(pyr.UsageError, match=message):
        pyramid_pairs(figure_7(), **options)  # type: ignore[arg-type]


def test_a_study_without_the_other_pyramid_says_how_to_get_it(example: Study) -> None:
    with pytest.raises(
        pyr.UsageError, match=r"\(it has: crowd, expert\); to build one from its references: pyramidion"
    ):
        pyramid_pairs(example)
    bare = replace(example, summaries=())
    with pytest.raises(pyr.UsageError, match="and no references to build one from"):
        pyramid_pairs(bare)
    apart = replace(
        figure_7(), topics=(Topic("t"), Topic("u")), pyramids=(figure_7().pyramids[0], Pyramid("u", (), (), "expert"))
    )
    with pytest.raises(pyr.UsageError, match="no topic has the pyramids auto, expert"):
        pyramid_pairs(apart)


spans = st.tuples(st.integers(0, 6), st.integers(1, 4)).map(lambda pair: Span(pair[0], pair[0] + pair[1]))
units = st.lists(st.fixed_dictionaries({}, optional={"A": spans, "B": spans}), max_size=4)


def drawn(name: str, found: list[dict[str, Span]]) -> list[ContentUnit]:
    return [
        ContentUnit(
            f"{name}{i}", f"label {i}", tuple(Contributor(reference, (span,)) for reference, span in each.items())
        )
        for i, each in enumerate(found)
    ]


@given(units, units, st.randoms(use_true_random=False))
def test_shuffled_units_and_references_give_the_same(
    mine: list[dict[str, Span]], theirs: list[dict[str, Span]], random: object
) -> None:
    auto, expert = drawn("a", mine), drawn("e", theirs)
    expected = pyramid_pairs(study(TEXTS, auto=auto, expert=expert))
    for found in (auto, expert):
        random.shuffle(found)  # type: ignore[attr-defined]
    turned = study(dict(reversed(TEXTS.items())), expert=expert, auto=auto)
    answer = pyramid_pairs(turned)
    assert answer.tables == expected.tables
    whole = answer.result.of("auto")
    assert whole.contributors <= whole.other_paired_weight <= whole.other_weight
    assert whole.pairs <= min(whole.units, whole.other_units)
