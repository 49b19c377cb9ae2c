"""DUCView files: each trap of real files has a test, then hostile files, then writing and the round trip."""

from __future__ import annotations

import importlib.resources
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion import formats
from pyramidion.errors import Problems, UsageError
from pyramidion.formats import ducview, jsonl
from pyramidion.formats.ducview.java_regex import JavaPattern, PatternError
from pyramidion.formats.ducview.xml import MAX_BYTES, MAX_ELEMENTS
from pyramidion.study import (
    UNMATCHED,
    ContentUnit,
    Contributor,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Span,
    Study,
    Summary,
    Topic,
)


def lines_xml(text: str) -> str:
    return "<text>" + "".join(f"<line>{line}</line>" for line in text.split("\n")) + "</text>"


def pyramid_xml(text: str, *scus: str, header: str | None = None) -> str:
    pattern = "" if header is None else f"<startDocumentRegEx><![CDATA[{header}]]></startDocumentRegEx>"
    return f"<pyramid>{pattern}{lines_xml(text)}{''.join(scus)}</pyramid>"


def pan_xml(pyramid: str, text: str, *peerscus: str) -> str:
    annotation = f"<annotation>{lines_xml(text)}{''.join(peerscus)}</annotation>"
    return f'<?xml version="1.0"?><peerAnnotation>{pyramid}{annotation}</peerAnnotation>'


def contributor(*parts: tuple[str, int, int]) -> str:
    inside = "".join(f'<part label="{label}" start="{start}" end="{end}"/>' for label, start, end in parts)
    return f'<contributor label="{"...".join(label for label, _, _ in parts)}">{inside}</contributor>'


def scu(uid: int, label: str, *contributors: str, tag: str = "scu") -> str:
    return f'<{tag} uid="{uid}" label="{label}">{"".join(contributors)}</{tag}>'


def peerscu(uid: int, label: str, *contributors: str) -> str:
    return scu(uid, label, *contributors, tag="peerscu")


class Files:
    """Writes files into a folder and reads them back with the problems found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.problems = Problems()

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def read(self, *names: str) -> Study:
        self.problems = Problems()
        return ducview.read(self.folder.joinpath(*names), self.problems)

    @property
    def errors(self) -> list[str]:
        return [str(problem).replace(f"{self.folder}/", "") for problem in self.problems.errors]

    @property
    def warnings(self) -> list[str]:
        return [str(problem).replace(f"{self.folder}/", "") for problem in self.problems.warnings]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def references(study: Study) -> dict[str, str]:
    return {summary.system: summary.text for summary in study.references}


def marked(study: Study, unit: str = "1") -> list[tuple[str, list[str]]]:
    """The contributors of a unit as reference and words."""
    texts = references(study)
    [found] = [u for pyramid in study.pyramids for u in pyramid.units if u.id == unit]
    return [(c.reference, [span.of(texts[c.reference]) for span in c.spans]) for c in found.contributors]


def counts(study: Study, judge: str = "annotator") -> dict[str, float | None]:
    return {j.unit or j.aspect: j.value for j in study.judgments if j.judge == judge}


# -- a pyramid -----------------------------------------------------------------------------------------------

AS_DUCVIEW_WRITES_IT = """<?xml version="1.0"?>
<!DOCTYPE pyramid [
 <!ELEMENT pyramid (startDocumentRegEx?,text,scu*)>
 <!ELEMENT startDocumentRegEx (#PCDATA)>
 <!ELEMENT text (line*)>
 <!ELEMENT line (#PCDATA)>
 <!ELEMENT scu (contributor)+>
 <!ATTLIST scu uid CDATA #REQUIRED
               label CDATA #REQUIRED>
 <!ELEMENT contributor (part)+>
 <!ATTLIST contributor label CDATA #REQUIRED>
 <!ELEMENT part EMPTY>
 <!ATTLIST part label CDATA #REQUIRED
                start CDATA #REQUIRED
                end CDATA #REQUIRED>

]>

<pyramid>
<startDocumentRegEx><![CDATA[-+\\s*D\\d+.*]]></startDocumentRegEx>
<text>
 <line>---- D0601.M.250.A.B ----</line>
 <line></line>
 <line>The cat sat &amp; slept.</line>
 <line></line>
 <line>---- D0601.M.250.A.C ----</line>
 <line></line>
 <line>A cat was asleep.</line>
</text>
<scu uid="11" label="The cat slept" comment="certain">
 <contributor label="The cat...slept">
  <part label="The cat" start="27" end="34"/>
  <part label="slept" start="41" end="46"/>
 </contributor>
 <contributor label="A cat was asleep">
  <part label="A cat was asleep" start="76" end="92"/>
 </contributor>
</scu>
</pyramid>
"""


def test_a_pyramid_as_ducview_writes_it(files: Files) -> None:
    files.put("D0601.pyr", AS_DUCVIEW_WRITES_IT)
    study = files.read("D0601.pyr")
    assert not list(files.problems)
    assert study.topics == (Topic("D0601"),)
    assert study.summaries == (
        Summary("D0601", "B", "The cat sat & slept.", "reference", "D0601.M.250.A.B"),
        Summary("D0601", "C", "A cat was asleep.", "reference", "D0601.M.250.A.C"),
    )
    unit = ContentUnit(
        "11",
        "The cat slept",
        (Contributor("B", (Span(0, 7), Span(14, 19))), Contributor("C", (Span(0, 16),))),
        comment="certain",
    )
    assert study.pyramids == (Pyramid("D0601", ("B", "C"), (unit,), "expert"),)
    assert not study.problems()


def test_parts_stored_out_of_order_are_sorted(files: Files) -> None:
    parts = contributor(("two", 14, 17), ("one", 10, 13))
    files.put("t.pyr", pyramid_xml("--- A ---\none two", scu(1, "x", parts)))
    assert marked(files.read()) == [("A", ["one", "two"])]


def test_offsets_count_utf16_code_units(files: Files) -> None:
    # The emoji before the words are two code units each, as Java counts.
    files.put("t.pyr", pyramid_xml("--- A ---\n😀😀 one 😀 two", scu(1, "x", contributor(("😀 two", 19, 25)))))
    assert marked(files.read()) == [("A", ["😀 two"])]
    assert not files.warnings


def test_newlines_are_not_compared_with_labels(files: Files) -> None:
    words = contributor(("one two", 10, 17), ("threefour", 18, 28))
    files.put("t.pyr", pyramid_xml("--- A ---\none\ntwo three\nfour", scu(1, "x", words)))
    assert marked(files.read()) == [("A", ["one\ntwo", "three\nfour"])]
    assert not list(files.problems)


def test_wrong_offsets_are_put_right_by_the_nearest_words(files: Files) -> None:
    text = "--- A ---\nthe cat, then the  cat, then the cat"
    files.put("t.pyr", pyramid_xml(text, scu(14, "x", contributor(("cat", 14, 17)), contributor(("the cat", 26, 33)))))
    study = files.read()
    assert study.pyramids[0].units[0].contributors == (
        Contributor("A", (Span(4, 7),)),
        Contributor("A", (Span(14, 22),)),
    )
    assert files.warnings == ["t.pyr, scu 14, contributor 2: part 'the cat' is not at 26-33; moved to 24-32"]
    assert not files.errors


@pytest.mark.parametrize("start", ["12", "-5", "", "x", "99999999999999999999"])
def test_offsets_that_are_no_place_in_the_text_are_put_right(files: Files, start: str) -> None:
    part = f'<contributor label="cat"><part label="cat" start="{start}" end="3"/></contributor>'
    files.put("t.pyr", pyramid_xml("--- A ---\nthe cat", scu(1, "x", part)))
    assert marked(files.read()) == [("A", ["cat"])]
    assert len(files.warnings) == 1


def test_words_that_are_nowhere_are_left_out_but_the_contributor_counts(files: Files) -> None:
    lost = contributor(("the", 10, 13), ("dog", 14, 17))
    files.put("t.pyr", pyramid_xml("--- A ---\nthe cat", scu(3, "x", lost, contributor(("bird", 12, 16)))))
    assert marked(files.read(), "3") == [("A", ["the"]), ("A", [])]
    assert not files.errors
    assert files.warnings == [
        "t.pyr, scu 3, contributor 1: part 'dog' is left out: it is neither at 14-17 nor anywhere else",
        "t.pyr, scu 3, contributor 2: part 'bird' is left out: it is neither at 12-16 nor anywhere else",
        "t.pyr, scu 3, contributor 2: none of its words is in a reference; it counts for A, which its parts point to",
    ]


NOWHERE = [
    contributor(("bird", 90, 94)),
    contributor(("", 0, 0)),
    "<contributor/>",
    '<contributor label="bird"/>',
    contributor(("A title", 0, 7)),
]


@pytest.mark.parametrize("lost", NOWHERE)
def test_a_contributor_that_points_to_no_reference_is_an_error(files: Files, lost: str) -> None:
    files.put("t.pyr", pyramid_xml("A title\n--- A ---\nthe cat", scu(3, "x", lost, contributor(("cat", 22, 25)))))
    assert marked(files.read(), "3") == [("A", ["cat"])]
    assert files.errors == [
        "t.pyr, scu 3, contributor 1: is left out and not counted: nothing says which reference it belongs to"
    ]


def test_a_contributor_in_two_references_is_where_most_of_its_words_are(files: Files) -> None:
    text = "--- A ---\ncat\n--- B ---\ndog\n--- C ---\na bird"
    equal, more = contributor(("cat", 10, 13), ("dog", 24, 27)), contributor(("cat", 10, 13), ("a bird", 38, 44))
    files.put("t.pyr", pyramid_xml(text, scu(3, "x", equal, more)))
    assert marked(files.read(), "3") == [("A", ["cat"]), ("C", ["a bird"])]
    assert not files.errors
    assert files.warnings == [
        "t.pyr, scu 3, contributor 1: part 'dog' is left out: it is in reference B, not A",
        "t.pyr, scu 3, contributor 2: part 'cat' is left out: it is in reference A, not C",
    ]


def test_a_contributor_keeps_its_weight_in_the_reference_of_its_only_part(files: Files) -> None:
    """Its neighbours in the unit are from D, its words are in G: it counts there."""
    text = "--- D ---\nthe cat sat\n--- G ---\na dog sat"
    near = contributor(("the cat", 10, 17))
    files.put("t.pyr", pyramid_xml(text, scu(3, "x", near, contributor(("a dog", 32, 37)))))
    assert marked(files.read(), "3") == [("D", ["the cat"]), ("G", ["a dog"])]
    # The same with a lost part that is found in D first: words at their offsets decide, and it is looked for there.
    files.put("t.pyr", pyramid_xml(text, scu(3, "x", near, contributor(("sat", 1, 4), ("a dog", 32, 37)))))
    assert marked(files.read(), "3") == [("D", ["the cat"]), ("G", ["a dog", "sat"])]
    assert not files.errors
    assert files.warnings == ["t.pyr, scu 3, contributor 2: part 'sat' is not at 1-4; moved to 38-41"]


def test_a_part_that_straddles_references_is_cut(files: Files) -> None:
    text = "--- A ---\nthe cat\n--- B ---\na dog sat"
    over = contributor(("cat --- B --- a dog", 14, 33))
    files.put("t.pyr", pyramid_xml(text, scu(3, "x", over)))
    assert marked(files.read(), "3") == [("B", ["a dog"])]
    assert not files.errors
    assert len(files.warnings) == 1
    assert "extends beyond reference B; only its words there are kept" in files.warnings[0]


def test_words_in_a_header_are_in_no_reference(files: Files) -> None:
    text = "--- A ---\ncat\n--- B ---\ndog"
    files.put("t.pyr", pyramid_xml(text, scu(3, "x", contributor(("A", 4, 5), ("cat", 10, 13)))))
    assert marked(files.read(), "3") == [("A", ["cat"])]
    assert files.warnings == ["t.pyr, scu 3, contributor 1: part 'A' is left out: it is in no reference"]
    files.put("t.pyr", pyramid_xml(text, scu(3, "x", contributor(("B", 18, 19)))))
    assert marked(files.read(), "3") == [("B", [])]  # a header belongs to what it is above
    assert not files.errors


def test_a_contributor_without_parts_is_found_by_its_label(files: Files) -> None:
    labels = "".join(f'<contributor label="{label}"/>' for label in ("cat ... sat", "a dog...sat"))
    files.put("t.pyr", pyramid_xml("--- A ---\nthe cat ... sat\n--- B ---\na dog that sat", scu(3, "x", labels)))
    assert marked(files.read(), "3") == [("A", ["cat ... sat"]), ("B", ["a dog", "sat"])]
    assert not files.errors


def test_two_contributors_from_one_reference_count_both(files: Files) -> None:
    twice = scu(1, "x", contributor(("cat", 10, 13)), contributor(("cat", 14, 17)))
    files.put("t.pyr", pyramid_xml("--- A ---\ncat cat\n--- B ---\ndog", twice))
    [unit] = files.read().pyramids[0].units
    assert (unit.weight, len(unit.references), unit.strict().weight) == (2, 1, 1)
    notes = [str(note) for note in pyr.load(files.folder).notes]
    assert notes == [
        "topic t, unit 1: has 2 contributors from 1 reference (2 from A); it weighs 2, as in DUCView and the official "
        "scores of DUC, or 1 with weights=references"
    ]


def test_spaces_around_a_reference_are_cut_off_a_part(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("--- A ---\n\ncat\n\n--- B ---\ndog", scu(1, "x", contributor((" cat ", 10, 15)))))
    assert marked(files.read()) == [("A", ["cat"])]
    assert not list(files.problems)


def test_a_uid_used_twice_gets_another_name(files: Files) -> None:
    word = contributor(("cat", 10, 13))
    units = [scu(1, "x", word), scu(1, "y", word), scu(1, "y", word), f'<scu label="z">{word}</scu>']
    pyramid = pyramid_xml("--- A ---\ncat", *units)
    said = [peerscu(1, "(1) x"), peerscu(1, "(1) y", word), peerscu(1, "(1) y"), peerscu(1, "(1) z", word)]
    files.put("t.s.pan", pan_xml(pyramid, "cat", *said))
    study = files.read()
    assert [(unit.id, unit.label) for unit in study.pyramids[0].units] == [
        ("1", "x"),
        ("1-2", "y"),
        ("1-3", "y"),
        ("scu-2", "z"),
    ]
    assert counts(study) == {"1": 0, "1-2": 1, "1-3": 0, "scu-2": 1}
    assert not files.errors
    assert "t.s.pan, scu 1: its uid is missing or used by another scu; 1-2 is used instead" in files.warnings


def test_comments_on_contributors_are_reported(files: Files) -> None:
    word = '<contributor label="cat" comment="hm"><part label="cat" start="10" end="13"/></contributor>'
    files.put("t.pyr", pyramid_xml("--- A ---\ncat", scu(1, "x", word)))
    files.read()
    assert files.warnings == ["t.pyr: comments on 1 contributors are left out; only those on units are kept"]


# -- headers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "first", "second"),
    [
        (None, "---------- A ----------", "---------- B ----------"),
        ("", "===A===", "*** B ***"),
        ("  ", "D0601.M.250.A.A", "D0601.M.250.A.B.txt"),
        (None, "=====\nD0601.M.250.A.A.html\n=====", "=====\n\n[D0601.M.250.A.B]\n====="),
        ("Summary .*", "Summary A", "Summary B"),
        (r"^\p{Upper}\p{Lower}+ \p{Alpha}$", "Summary A", "Summary B"),
        (r"\Q[*]\E\s*\p{Punct}*\p{Space}\w\z", "[*] - A", "[*] - B"),
        (r"(?i)^(?:reference|SUMMARY)\s++[a-z]{1,2}+$", "Reference A", "summary B"),
        (r"[\n]?-+ \w\n-+\p{Digit}*\n", "---- A\n----12", "---- B\n----3"),
        (r"\n\n\n", "", "\n"),
    ],
)
def test_headers(files: Files, header: str | None, first: str, second: str) -> None:
    files.put("t.pyr", pyramid_xml(f"{first}\n\none - 1\n\n{second}\n\ntwo = 2\n", header=header))
    assert list(references(files.read()).values())[-2:] == ["one - 1", "two = 2"]
    assert not [warning for warning in files.warnings if "cannot be used" in warning]


@pytest.mark.parametrize(
    ("header", "name", "source"),
    [
        ("---------- A ----------", "A", ""),
        ("=== [Model 7.txt] ===", "Model 7", ""),
        ("*** D0601.M.250.A.H ***", "H", "D0601.M.250.A.H"),
        ("--- two  words ---", "two words", ""),
        ("----------", "1", ""),
    ],
)
def test_the_name_of_a_reference_is_its_header_without_decoration(
    files: Files, header: str, name: str, source: str
) -> None:
    files.put("t.pyr", pyramid_xml(f"{header}\ntext"))
    [reference] = files.read().references
    assert (reference.system, reference.source) == (name, source)


def test_references_of_the_same_name_get_a_suffix(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("--- A ---\none\n--- A ---\ntwo\n--- A-2 ---\nthree"))
    assert references(files.read()) == {"A": "one", "A-2": "two", "A-2-2": "three"}
    assert files.warnings[0] == "t.pyr: another reference is called 'A'; this one is read as 'A-2'"


def test_rulers_without_names_stand_between_references(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("one\n-----\ntwo\n-----\nthree\n-----"))
    assert references(files.read()) == {"1": "one", "2": "two", "3": "three"}


def test_text_before_the_first_name_is_left_out_and_reported(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("A title\n--- A ---\none"))
    assert references(files.read()) == {"A": "one"}
    assert files.warnings == ["t.pyr: text before the first header is left out: 'A title'"]


def test_without_a_header_the_text_is_one_reference(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("\none two\n", scu(1, "x", contributor(("one", 1, 4)))))
    assert references(files.read()) == {"1": "one two"}
    assert marked(files.read()) == [("1", ["one"])]
    assert not files.warnings
    files.put("t.pyr", pyramid_xml("one two", scu(1, "x", contributor(("one", 0, 3)), contributor(("two", 4, 7)))))
    files.read()
    assert files.warnings == [
        "t.pyr: no header was found: the whole text is read as one reference, and X_a is that of a single reference"
    ]


@pytest.mark.parametrize(
    "header", ["([", "a)", "*", r"(?<=\n)A", r"(A)\1", "[a-z&&[b]]", r"\p{Klingon}", "a{3,1}", "(" * 400]
)
def test_a_pattern_that_cannot_be_used_is_reported_and_usual_headers_are_found(files: Files, header: str) -> None:
    files.put("t.pyr", pyramid_xml("--- A ---\none\n--- B ---\ntwo", header=header))
    assert references(files.read()) == {"A": "one", "B": "two"}
    assert len(files.warnings) == 1
    assert "cannot be used" in files.warnings[0]


@pytest.mark.parametrize(
    "header", [r"(-+)+$", r"(.*)*#", r"(a|a|\s)*#", ".*.*.*.*.*.*.*.*#", "(((a{99}){99}){99}){99}", "((){99}){99}"]
)
def test_a_pattern_made_to_hang_does_not(files: Files, header: str) -> None:
    text = ("a" * 5000 + "\n") * 20
    files.put("t.pyr", pyramid_xml(f"--- A ---\n{text}", header=header))
    assert [reference.text.strip("- A\n") for reference in files.read().references] == [text.strip()]


ATOMS = ["a", "b", "-", ".", r"\d", r"\w", "[ab]", "[^a]", r"\.", " "]
PATTERNS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{1,}", "+?"])),
        st.builds("{}|{}".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("^{}".format, inner),
        st.builds(r"{}\b".format, inner),
        st.builds("{}$".format, inner),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.text("ab-1. ", max_size=12))
def test_a_pattern_matches_a_line_where_pythons_does(pattern: str, line: str) -> None:
    found = [match.span() for match in re.finditer(pattern, line) if match[0]]
    spans = list(JavaPattern(pattern).spans(line))
    assert bool(spans) == bool(found)
    if found and spans:
        assert spans[0][0] == found[0][0]
        assert spans[0][1] >= found[0][1]


def test_many_matches_in_one_line_are_one_header(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("A" * 200_000 + "\none", header="A"))
    assert list(references(files.read()).values()) == ["one"]


def test_a_pattern_that_takes_too_long_is_refused() -> None:
    with pytest.raises(PatternError, match="too long"):
        list(JavaPattern("(" + "|".join("ab" * 100) + ")*c\n").spans("ab" * 50_000))


# -- peers ---------------------------------------------------------------------------------------------------

TWO_UNITS = pyramid_xml(
    "--- A ---\ncat dog", scu(1, "a cat", contributor(("cat", 10, 13))), scu(2, "a dog", contributor(("dog", 14, 17)))
)
NONE_UNMATCHED = peerscu(0, "All non-matching SCUs go here")


def test_a_peer_counts_and_shows_its_mentions(files: Files) -> None:
    twice = peerscu(1, "(1) a cat", contributor(("on", 8, 10), ("cat", 0, 3)), contributor(("cat", 11, 14)))
    unmatched = peerscu(0, "All non-matching SCUs go here", contributor(("sits", 4, 8)))
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat sitson cat", twice, peerscu(2, "(1) a dog"), unmatched))
    study = files.read("t.s.pan")
    assert not list(files.problems)
    assert study.peers == (Summary("t", "s", "cat sitson cat"),)
    assert study.judges == (Judge("annotator", "expert"),)
    assert list(study.judgments) == [
        Judgment("t", "s", "annotator", 2, unit="1", evidence=((Span(0, 3), Span(8, 10)), (Span(11, 14),))),
        Judgment("t", "s", "annotator", 0, unit="2"),
        Judgment("t", "s", "annotator", 1, aspect=UNMATCHED, evidence=((Span(4, 8),),)),
    ]
    assert not study.problems()


def test_a_unit_without_a_peerscu_is_absent_and_reported(files: Files) -> None:
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat", peerscu(1, "(1) a cat", contributor(("cat", 0, 3)))))
    assert counts(files.read()) == {"1": 1, "2": 0}
    assert files.warnings == ["t.s.pan: has no peerscu for the units 2; they count as absent"]


def test_a_mention_without_a_place_counts_without_evidence(files: Files) -> None:
    nowhere = peerscu(1, "(1) a cat", contributor(("", 0, 0)), contributor(("cat", 0, 3)))
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat", nowhere, peerscu(2, "(1) a dog")))
    judgment = files.read().judgments[0]
    assert (judgment.value, judgment.evidence) == (2, ((Span(0, 3),),))
    assert not list(files.problems)


def test_lost_evidence_still_counts(files: Files) -> None:
    lost = peerscu(1, "(1) a cat", contributor(("bird", 0, 4)))
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat", lost, peerscu(2, "(1) a dog")))
    assert counts(files.read())["1"] == 1
    assert not files.errors
    assert files.warnings == [
        "t.s.pan, peerscu 1, contributor 1: part 'bird' is left out: it is neither at 0-4 nor anywhere else"
    ]


def test_the_label_decides_where_uids_differ(files: Files) -> None:
    cat, dog = contributor(("cat", 0, 3)), contributor(("dog", 4, 7))
    swapped = (peerscu(2, "(1) A  Cat", cat, cat), peerscu(70, "(1) a dog", dog))
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat dog", *swapped, NONE_UNMATCHED))
    assert counts(files.read()) == {"1": 2, "2": 1, UNMATCHED: 0}
    assert files.warnings == [
        "t.s.pan, peerscu 2: its label is that of scu 1, so it counts for that scu",
        "t.s.pan, peerscu 70: its label is that of scu 2, so it counts for that scu",
    ]


def test_the_uid_decides_where_a_label_was_edited(files: Files) -> None:
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat", peerscu(1, "(1) one cat"), peerscu(2, "(1) a dog")))
    assert counts(files.read()) == {"1": 0, "2": 0}
    assert files.warnings == [
        "t.s.pan, peerscu 1: its label differs from that of the scu with the same uid, which is used"
    ]


def test_an_unknown_peerscu_is_an_error_if_it_says_something(files: Files) -> None:
    bird = peerscu(9, "(1) a bird", contributor(("cat", 0, 3)))
    units = (peerscu(1, "(1) a cat"), peerscu(2, "(1) a dog"), bird, peerscu(8, "(1) a fish"))
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat", *units))
    assert counts(files.read()) == {"1": 0, "2": 0}
    what = "is left out: neither its uid nor its label is one of the pyramid's"
    assert files.errors == [f"t.s.pan, peerscu 9: {what}"]
    assert files.warnings == [f"t.s.pan, peerscu 8: {what}; it contains no content of the peer"]


def test_two_peerscus_on_one_unit_count_together(files: Files) -> None:
    cat, dog = contributor(("cat", 0, 3)), contributor(("dog", 4, 7))
    units = (
        peerscu(1, "(1) a cat", cat),
        peerscu(1, "(1) a cat", dog),
        peerscu(2, "a dog", dog),
        peerscu(2, "a dog", dog),
    )
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat dog", *units))
    assert counts(files.read()) == {"1": 2, "2": 1}
    assert not files.errors
    assert files.warnings == [
        "t.s.pan, peerscu 1: is about the same unit as another peerscu; their contributors count together",
        "t.s.pan, peerscu 2: says the same as another peerscu about the same unit; it counts once",
    ]


@pytest.mark.parametrize("junk", ["", "\n\n", "\ufeff"])
def test_the_last_of_several_documents_is_used(files: Files, junk: str) -> None:
    saved = [pan_xml(TWO_UNITS, text, peerscu(1, "a cat"), peerscu(2, "a dog")) for text in ("old", "older", "cat")]
    files.put("t.s.pan", junk.join(saved))
    assert [peer.text for peer in files.read().peers] == ["cat"]
    assert files.warnings == ["t.s.pan: contains 3 XML documents in a row; the last one is used"]


def test_a_document_cut_off_by_the_next_one_does_no_harm(files: Files) -> None:
    files.put("t.pyr", "<pyramid><text><line>ol" + '<?xml version="1.0"?>' + pyramid_xml("--- A ---\nnew"))
    assert references(files.read()) == {"A": "new"}


def test_an_error_in_the_last_document_has_its_line(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("--- A ---") + "\n<pyramid>\n  <text>\n</pyramid>")
    files.read()
    assert files.errors == ["t.pyr, line 4, column 3: is not XML: mismatched tag"]


# -- file names and folders ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "topic", "system", "judge", "source"),
    [
        ("1.D0601.M.250.A.09.pan", "D0601", "9", "1", "1.D0601.M.250.A.09"),
        ("D0701A.M.250.B.C.pan", "D0701A", "C", "annotator", "D0701A.M.250.B.C"),
        ("d0701.m.250.b.00.PAN", "d0701", "0", "annotator", "d0701.m.250.b.00"),
        ("rain.09.pan", "rain", "09", "annotator", ""),
        ("rain.lead.ann%2Ea.pan", "rain", "lead", "ann.a", ""),
        ("rain.pan", "rain", "rain", "annotator", ""),
        ("a.b.c.d.pan", "a.b.c.d", "a.b.c.d", "annotator", ""),
        ("a..pan", "a.", "a.", "annotator", ""),
    ],
)
def test_names_of_annotations(files: Files, file: str, topic: str, system: str, judge: str, source: str) -> None:
    files.put(file, pan_xml(TWO_UNITS, "cat", peerscu(1, "a cat"), peerscu(2, "a dog")))
    study = files.read(file)
    assert study.peers == (Summary(topic, system, "cat", "peer", source),)
    assert study.judges == (Judge(judge, "expert"),)


@pytest.mark.parametrize(("file", "topic"), [("rain.pyr", "rain"), ("a.b.pyr", "a.b"), ("D0601.M.250.A.pyr", "D0601")])
def test_names_of_pyramids(files: Files, file: str, topic: str) -> None:
    files.put(file, TWO_UNITS)
    assert files.read(file).topics == (Topic(topic),)


def test_a_folder_may_hold_two_annotators_on_the_same_peers(files: Files) -> None:
    files.put("D0601.pyr", TWO_UNITS)
    cat = contributor(("cat", 0, 3))
    files.put("pan/1.D0601.M.250.A.09.pan", pan_xml(TWO_UNITS, "cat", peerscu(1, "a cat", cat), peerscu(2, "a dog")))
    files.put("pan/2.D0601.M.250.A.09.pan", pan_xml(TWO_UNITS, "cat", peerscu(1, "a cat"), peerscu(2, "a dog")))
    study = files.read()
    assert not list(files.problems)
    assert study.counts()["peers"] == study.counts()["topics"] == study.counts()["pyramids"] == 1
    assert (counts(study, "1"), counts(study, "2")) == ({"1": 1, "2": 0}, {"1": 0, "2": 0})


def test_a_pyramid_that_differs_is_reported_and_the_pyr_is_used(files: Files) -> None:
    files.put("t.pyr", pyramid_xml("--- A ---\ncat", scu(7, "a cat", contributor(("cat", 10, 13)))))
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat", peerscu(1, "(1) a cat", contributor(("cat", 0, 3)))))
    assert counts(files.read()) == {"7": 1}
    assert "t.s.pan: its pyramid differs from that of t.pyr, which is used" in files.warnings


def test_a_pyramid_written_another_way_is_the_same(files: Files) -> None:
    files.put("t.pyr", TWO_UNITS.replace("<pyramid>", "<pyramid><startDocumentRegEx>--- . ---</startDocumentRegEx>"))
    files.put("t.s.pan", pan_xml(TWO_UNITS, "cat", peerscu(1, "a cat"), peerscu(2, "a dog")))
    files.read()
    assert not list(files.problems)


def test_evidence_moves_to_the_text_of_the_peer_read_first(files: Files) -> None:
    none = (peerscu(1, "a cat"), peerscu(2, "a dog"))
    files.put("t.s.a.pan", pan_xml(TWO_UNITS, "the cat", *none))
    files.put("t.s.b.pan", pan_xml(TWO_UNITS, "cat", peerscu(1, "a cat", contributor(("cat", 0, 3))), none[1]))
    study = files.read()
    assert [peer.text for peer in study.peers] == ["the cat"]
    assert study.judgments[2].evidence == ((Span(4, 7),),)
    assert files.warnings == [
        "t.s.b.pan: the text of peer s differs from the one read before",
        "t.s.b.pan, peerscu 1, contributor 1: part 'cat' is not at 0-3; moved to 4-7",
    ]


def test_the_same_annotator_twice_on_a_peer_is_an_error(files: Files) -> None:
    for name in ("D0601.M.250.A.9.pan", "D0601.M.250.A.09.pan"):
        files.put(name, pan_xml(TWO_UNITS, "cat", peerscu(1, "a cat"), peerscu(2, "a dog")))
    assert len(files.read().judgments) == 2
    assert not files.errors
    assert files.warnings == ["D0601.M.250.A.9.pan: is left out: D0601.M.250.A.09.pan is the same annotation"]
    files.put(
        "D0601.M.250.A.9.pan",
        pan_xml(TWO_UNITS, "cat", peerscu(1, "a cat", contributor(("cat", 0, 3))), peerscu(2, "a dog")),
    )
    assert len(files.read().judgments) == 2
    assert files.errors == [
        "D0601.M.250.A.9.pan: is left out: D0601.M.250.A.09.pan is by the same annotator on the same peer"
    ]


def test_what_is_recognised(files: Files) -> None:
    assert not ducview.recognises(files.folder)
    assert not ducview.recognises(files.folder / "missing.pyr")
    pyr = files.put("some/T.PYR", TWO_UNITS)
    assert ducview.recognises(pyr)
    assert ducview.recognises(files.folder / "some")
    assert not ducview.recognises(files.folder)
    assert not ducview.recognises(files.put("other.txt", "text"))
    files.put("some/topics/t/references/A.txt", "text")
    assert not ducview.recognises(files.folder / "some")


def test_the_format_is_registered() -> None:
    assert formats.get("ducview") is ducview.FORMAT
    assert ducview.FORMAT.holds < formats.parts(Study()).keys()


@pytest.mark.parametrize("name", ["", "empty", "text.txt", "missing.pyr"])
def test_a_path_without_ducview_files_is_an_error(files: Files, name: str) -> None:
    files.put("text.txt", "text")
    (files.folder / "empty").mkdir()
    assert files.read(name) == Study()
    assert len(files.errors) == 1


# -- hostile and broken files --------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "content",
    [
        f'<!DOCTYPE pyramid [<!ENTITY l0 "ha">{LAUGHS}]><pyramid><text><line>&l9;</line></text></pyramid>',
        '<!DOCTYPE pyramid [<!ENTITY x SYSTEM "file:///etc/passwd">]><pyramid><text><line>&x;</line></text></pyramid>',
        '<!DOCTYPE pyramid [<!ENTITY % x SYSTEM "http://localhost/x.dtd"> %x;]><pyramid><text/></pyramid>',
    ],
)
def test_entities_are_refused(files: Files, content: str) -> None:
    files.put("t.pyr", content)
    assert files.read() == Study()
    assert files.errors == ["t.pyr: declares or refers to entities, which is not safe to read"]


def test_an_external_dtd_is_not_opened(files: Files) -> None:
    files.put("t.pyr", '<!DOCTYPE pyramid SYSTEM "http://localhost:1/pyramid.dtd">' + TWO_UNITS)
    assert len(files.read().pyramids[0].units) == 2


def test_default_attributes_are_refused(files: Files) -> None:
    # A million parts without a label would each get a copy of the long default.
    files.put("t.pyr", f'<!DOCTYPE pyramid [<!ATTLIST part label CDATA "{"x" * 1000}">]>{TWO_UNITS}')
    assert files.read() == Study()
    assert files.errors == ["t.pyr: declares default values of attributes, which is not safe to read"]


def test_a_file_that_is_too_large_is_refused(files: Files) -> None:
    with files.put("t.pyr", TWO_UNITS).open("r+b") as file:
        file.truncate(MAX_BYTES + 1)
    assert files.read() == Study()
    assert files.errors == ["t.pyr: is larger than 64 MiB"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("<pyramid>\n <text></txt>", "t.pyr, line 2, column 10: is not XML: mismatched tag"),
        ("", "t.pyr, line 1, column 1: is not XML: no element found"),
        ("{}", "t.pyr, line 1, column 1: is not XML: not well-formed (invalid token)"),
        (TWO_UNITS + "junk", "t.pyr, line 1, column 297: is not XML: junk after document element"),
        (
            b"<pyramid>\n<text><line>caf\xe9</line></text></pyramid>",
            "t.pyr, line 2, column 16: byte 0xe9 does not fit the encoding of the file; save it as UTF-8",
        ),
        (
            '<?xml version="1.0" encoding="klingon"?><pyramid/>',
            "t.pyr: its encoding cannot be read (unknown encoding: klingon); save the file as UTF-8",
        ),
        ("<pyramid/>", "t.pyr: a <text> is missing"),
        ("<html/>", "t.pyr: a .pyr file holds <pyramid>, not <html>"),
        (f"<pyramid>{'<a/>' * MAX_ELEMENTS}</pyramid>", "t.pyr: has more than 1,000,000 elements"),
        ("<a/>" * 101, "t.pyr: holds more than 100 XML documents"),
    ],
)
def test_broken_files_are_errors_with_an_address(files: Files, content: str | bytes, error: str) -> None:
    files.put("t.pyr", content)
    assert files.read() == Study()
    assert files.errors == [error]


def test_an_annotation_without_a_pyramid_is_an_error(files: Files) -> None:
    files.put("t.s.pan", "<peerAnnotation><annotation><text/></annotation></peerAnnotation>")
    assert files.read() == Study()
    assert files.errors == ["t.s.pan: holds no <pyramid> or no <annotation>"]


def test_other_declared_encodings_are_read(files: Files) -> None:
    latin = '<?xml version="1.0" encoding="windows-1252"?>' + pyramid_xml("--- A ---\n“café”")
    files.put("t.pyr", latin.encode("cp1252"))
    assert references(files.read()) == {"A": "“café”"}


def test_deep_nesting_does_no_harm(files: Files) -> None:
    files.put("t.pyr", f"<pyramid><text><line>{'<b>' * 200_000}x{'</b>' * 200_000}</line></text></pyramid>")
    assert references(files.read()) == {"1": "x"}


def test_many_lost_parts_do_not_take_forever(files: Files) -> None:
    lost = contributor(*[("b" * 50, 0, 400_000)] * 3000)
    files.put("t.pyr", pyramid_xml("a" * 500_000, scu(1, "x", lost)))
    files.read()
    assert len(files.warnings) == 3001


# -- writing -------------------------------------------------------------------------------------------------


def study_of(
    reference_texts: dict[str, str], peer: str = "cat", units: tuple[ContentUnit, ...] = (), **more: Any
) -> Study:
    """A study of one topic: references, one peer, and an annotator who finds no unmatched content."""
    summaries = [Summary("t", name, text, "reference") for name, text in reference_texts.items()]
    parts: dict[str, Any] = {
        "topics": (Topic("t"),),
        "summaries": (*summaries, Summary("t", "s", peer)),
        "pyramids": (Pyramid("t", tuple(reference_texts), units),),
        "judges": (Judge("annotator", "expert"),),
        "judgments": Judgments([Judgment("t", "s", "annotator", 0, aspect=UNMATCHED)]),
    }
    return Study(**(parts | more))


def unit_of(id: str, *contributors: Contributor, label: str = "label") -> ContentUnit:
    return ContentUnit(id, label, contributors or (Contributor("A", (Span(0, 3),)),))


def write(study: Study, path: Path) -> list[str]:
    """Write, and return the problems of writing."""
    problems = Problems()
    ducview.write(study, path, problems)
    return [f"{problem.severity}: {problem}" for problem in problems]


def there_and_back(study: Study, folder: Path) -> Study:
    write(study, folder)
    problems = Problems()
    found = ducview.read(folder, problems)
    assert not list(problems)
    return found


def same(left: Study, right: Study) -> bool:
    """The same study, whatever the order of its parts."""

    def key(study: Study) -> tuple[Any, ...]:
        judgments = sorted(study.judgments, key=lambda j: (j.topic, j.system, j.judge, j.unit, j.aspect))
        return (
            sorted(study.topics, key=lambda topic: topic.id),
            sorted(study.summaries, key=lambda s: (s.topic, s.role, s.system)),
            sorted(study.pyramids, key=lambda pyramid: pyramid.topic),
            sorted(study.judges, key=lambda judge: judge.id),
            judgments,
        )

    return key(left) == key(right)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "word",
        "\n",
        "\n\n leading and trailing \n\n",
        "windows\r\nlines\r\n",
        "tab\tand\r return",
        "emoji 😀 family 👩‍👩‍👧",
        "cafe\u0301 combining",
        "שלום עולם مرحبا",
        "---------- A ----------\nnot a header\n--------------- B ---------------",
        "D0601.M.250.A.B",
        "<b>&amp; ]]> \"quoted\" 'text'",
        "\x85\u2028\u2029\ufeff",
    ],
)
def test_texts_come_back_as_they_were(tmp_path: Path, text: str) -> None:
    units = (unit_of("1", Contributor("A", (Span(0, len(text)),))),) if text else ()
    evidence = ((Span(len(text) // 2, len(text)),),)
    judgments = [Judgment("t", "s", "annotator", 1, unit=unit.id, evidence=evidence) for unit in units]
    unmatched = Judgment("t", "s", "annotator", 0, aspect=UNMATCHED)
    texts = {"A": text, "B": "other", "C": text}
    study = study_of(texts, peer=text, units=units, judgments=Judgments([*judgments, unmatched]))
    assert same(there_and_back(study, tmp_path / "out"), study)


def chars(*unwanted: Any) -> st.SearchStrategy[str]:
    return st.characters(exclude_categories=["Cs", "Cc", *unwanted], exclude_characters="\ufffe\uffff")


WORDS = st.lists(st.sampled_from(["cat", "😀", "--------------", "\n"])).map(" ".join)
TEXTS = st.text(chars() | st.sampled_from("\n\r\t -😀\u0301"), max_size=30) | WORDS
IDS = st.text(chars("Zl", "Zp"), min_size=1, max_size=4).filter(lambda id: id == id.strip())


def spans_of(text: str) -> st.SearchStrategy[tuple[Span, ...]]:
    ends = st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True).map(sorted)
    return st.lists(ends.map(lambda pair: Span(*pair)), min_size=1, max_size=3).map(lambda spans: tuple(sorted(spans)))


@st.composite
def contributors_of(draw: st.DrawFn, texts: dict[str, str]) -> tuple[Contributor, ...]:
    names = draw(st.lists(st.sampled_from([name for name in texts if texts[name]]), min_size=1, max_size=4))
    return tuple(Contributor(name, draw(spans_of(texts[name]))) for name in names)


@st.composite
def units_of(draw: st.DrawFn, texts: dict[str, str]) -> tuple[ContentUnit, ...]:
    uids = draw(st.lists(st.integers(1, 99), max_size=3, unique=True)) if any(texts.values()) else []
    comments = st.just("") | TEXTS
    return tuple(
        ContentUnit(str(uid), draw(TEXTS), draw(contributors_of(texts)), comment=draw(comments)) for uid in uids
    )


@st.composite
def judgments_of(draw: st.DrawFn, peer: Summary, judge: str, units: tuple[ContentUnit, ...]) -> list[Judgment]:
    made = []
    for unit in [*(unit.id for unit in units), ""]:
        evidence = tuple(draw(st.lists(spans_of(peer.text), max_size=2))) if peer.text else ()
        value = len(evidence) + draw(st.integers(0, 2))
        aspect = "" if unit else UNMATCHED
        made.append(Judgment(peer.topic, peer.system, judge, value, unit=unit, aspect=aspect, evidence=evidence))
    return made


@st.composite
def studies(draw: st.DrawFn) -> Study:
    summaries, pyramids, judgments = [], [], []
    judges = [Judge(id, "expert") for id in draw(st.lists(IDS, min_size=1, max_size=2, unique=True))]
    topics = draw(st.lists(IDS, min_size=1, max_size=2, unique=True))
    for topic in topics:
        texts = draw(st.dictionaries(IDS, TEXTS, min_size=1, max_size=3))
        summaries += [Summary(topic, name, text, "reference") for name, text in texts.items()]
        units = draw(units_of(texts))
        pyramids.append(Pyramid(topic, tuple(texts), units))
        for system, text in draw(st.dictionaries(IDS, TEXTS, max_size=2)).items():
            peer = Summary(topic, system, text)
            summaries.append(peer)
            judgments += [made for judge in judges for made in draw(judgments_of(peer, judge.id, units))]
    return Study(
        tuple(map(Topic, topics)),
        tuple(summaries),
        tuple(pyramids),
        tuple(judges) if judgments else (),
        Judgments(judgments),
    )


@given(studies())
def test_a_study_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, study: Study) -> None:
    assert same(there_and_back(study, tmp_path_factory.mktemp("ducview") / "out"), study)


def test_the_example_comes_back(tmp_path: Path) -> None:
    source = importlib.resources.files("pyramidion") / "data" / "example.jsonl"
    with importlib.resources.as_file(source) as path:
        example_study = jsonl.read(path, Problems())
    found = there_and_back(example_study, tmp_path / "out")

    def number(unit: str) -> str:
        return unit.removeprefix("u").lstrip("0")

    expert = [pyramid for pyramid in example_study.pyramids if pyramid.name == "expert"]
    units = {(pyramid.topic, unit.id) for pyramid in expert for unit in pyramid.units}
    kept = [j for j in example_study.judgments if j.aspect == UNMATCHED or (j.topic, j.unit) in units]
    expected = Study(
        topics=tuple(Topic(topic.id) for topic in example_study.topics),
        summaries=example_study.summaries,
        pyramids=tuple(replace(p, units=tuple(replace(u, id=number(u.id)) for u in p.units)) for p in expert),
        judges=(Judge("annotator", "expert"),),
        judgments=Judgments(replace(judgment, unit=number(judgment.unit)) for judgment in kept),
    )
    assert len(expected.judgments) > 800
    assert same(found, expected)


def test_the_written_pattern_finds_exactly_the_headers(tmp_path: Path) -> None:
    texts = {"A": "-" * 12 + " x " + "-" * 12 + "\none", "B b": "two ---------------- three", "-": "\n----"}
    write(study_of(texts), tmp_path / "t.pyr")
    xml = (tmp_path / "t.pyr").read_text()
    [pattern] = re.findall(r"CDATA\[(.*?)\]\]", xml)
    lines = re.findall("<line>(.*?)</line>", xml)
    ruler = "-" * 17
    headers = [f"{ruler} {name} {ruler}" for name in texts]
    assert [line for line in lines if re.search(pattern, line)] == headers
    assert re.findall(pattern, "\n".join(lines)) == headers
    assert [line for line in lines if list(JavaPattern(pattern).spans(line))] == headers


def test_labels_are_written_as_ducview_does(tmp_path: Path) -> None:
    unit = unit_of("1", Contributor("A", (Span(8, 11), Span(0, 7))), Contributor("B", (Span(0, 1),)), label='a "cat"')
    judgments = [Judgment("t", "s", "annotator", 1, unit="1", evidence=((Span(0, 3),),))]
    study = study_of({"A": "one\ntwo 😀cat", "B": "x"}, units=(unit,), judgments=Judgments(judgments))
    write(study, tmp_path / "t.s.pan")
    xml = (tmp_path / "t.s.pan").read_text()
    assert '<contributor label="one two...😀ca">' in xml
    assert '<part label="😀ca" start="32" end="36"/>' in xml
    assert '<peerscu uid="1" label="(2) a &quot;cat&quot;">' in xml


def test_a_mention_without_evidence_is_written_as_a_part_without_place(tmp_path: Path) -> None:
    judgments = Judgments([Judgment("t", "s", "annotator", 2, unit="1")])
    study = study_of({"A": "one"}, units=(unit_of("1"),), judgments=judgments)
    assert there_and_back(study, tmp_path / "out").judgments == judgments
    assert (tmp_path / "out" / "t.s.pan").read_text().count('<part label="" start="0" end="0"/>') == 2


def test_more_evidence_than_mentions_goes_into_the_last(tmp_path: Path) -> None:
    evidence = ((Span(0, 1),), (Span(2, 3),), (Span(1, 2),))
    study = study_of(
        {"A": "one"},
        units=(unit_of("1"), unit_of("2")),
        judgments=Judgments(
            [
                Judgment("t", "s", "annotator", 2, unit="1", evidence=evidence),
                Judgment("t", "s", "annotator", 0, unit="2", evidence=evidence),
            ]
        ),
    )
    found = there_and_back(study, tmp_path / "out")
    assert [j.value for j in found.judgments] == [2, 0]
    assert found.judgments[0].evidence == ((Span(0, 1),), (Span(1, 2), Span(2, 3)))
    assert "counts 2 mentions, but shows 3" in write(study, tmp_path / "again")[0]


def test_values_that_are_no_counts_are_errors(tmp_path: Path) -> None:
    values = {"1": 1.5, "2": None, "3": 1.0, "4": 1e9, "6": 0.5, "7": 0.4}  # a degree is a yes from one half on
    judgments = Judgments(Judgment("t", "s", "annotator", value, unit=unit) for unit, value in values.items())
    study = study_of(
        {"A": "one"}, units=tuple(unit_of(id, label=f"u{id}") for id in [*values, "5"]), judgments=judgments
    )
    where = "topic t, system s, judge annotator"
    assert write(study, tmp_path / "out") == [
        f"error: {where}, unit 1: is left out: 1.5 is not a count of mentions",
        f"error: {where}, unit 4: is left out: 1e+09 is not a count of mentions",
        f"warning: {where}: 2 unanswered units will be read back as absent: 2, 5",
    ]
    assert (tmp_path / "out" / "t.s.pan").read_text().count("<peerscu") == 3


def test_characters_xml_cannot_hold_become_spaces(tmp_path: Path) -> None:
    study = study_of({"A": "a\x00b\ud800c\uffff"}, peer="bell\x07", units=(unit_of("1", label="\x1bx"),))
    problems = write(study, tmp_path / "out")
    assert "warning: topic t, reference A: 3 characters that XML cannot hold are replaced by spaces" in problems
    assert "warning: topic t, unit 1: 1 characters that XML cannot hold are replaced by spaces" in problems
    found = ducview.read(tmp_path / "out", Problems())
    assert [summary.text for summary in found.summaries] == ["a b c ", "bell "]
    assert found.pyramids[0].units[0].label == " x"


@pytest.mark.parametrize(
    ("ids", "uids"),
    [
        (["3", "1"], ["3", "1"]),
        (["u07", "u12"], ["7", "12"]),
        (["u1", "v1"], ["1", "2"]),
        (["x", "1", "0", "7"], ["2", "1", "3", "7"]),
        (["a1b", "u00"], ["1", "2"]),
        (["9999999999"], ["1"]),
    ],
)
def test_unit_ids_become_numbers(tmp_path: Path, ids: list[str], uids: list[str]) -> None:
    study = study_of({"A": "one"}, units=tuple(unit_of(id) for id in ids))
    problems = write(study, tmp_path / "out")
    assert [unit.id for unit in ducview.read(tmp_path / "out", Problems()).pyramids[0].units] == uids
    assert sum("DUCView needs numbers as ids" in problem for problem in problems) == (ids != uids)


def test_contributors_without_marked_words_keep_their_weight(tmp_path: Path) -> None:
    units = (unit_of("1", Contributor("A", (Span(0, 3),)), Contributor("B")), unit_of("2", Contributor("B")))
    judgments = Judgments(Judgment("t", "s", "annotator", 1, unit=id) for id in "12")
    study = study_of({"A": "one", "B": "😀 two"}, units=units, judgments=judgments)
    assert same(there_and_back(study, tmp_path / "out"), study)


def test_units_without_contributors_in_a_text_are_left_out_and_reported(tmp_path: Path) -> None:
    units = (unit_of("1", Contributor("A", (Span(0, 3),)), Contributor("B")), unit_of("2", Contributor("B")))
    judgments = Judgments(Judgment("t", "s", "annotator", 1, unit=id) for id in "12")
    study = study_of({"A": "one"}, units=units, judgments=judgments)
    assert write(study, tmp_path / "out") == [
        "warning: topic t, unit 1, contributor 2: is left out: the text of reference B is missing",
        "warning: topic t, unit 2, contributor 1: is left out: the text of reference B is missing",
        "warning: topic t, unit 2: is left out with its judgments: it has no contributor in a reference",
    ]
    found = ducview.read(tmp_path / "out", Problems())
    assert [unit.id for unit in found.pyramids[0].units] == ["1"]
    assert counts(found) == {"1": 1}


def test_only_the_references_of_the_pyramid_are_written(tmp_path: Path) -> None:
    pyramid = Pyramid("t", ("A", "gone"), (unit_of("1"),))
    study = study_of({"A": "one", "extra": "two"}, pyramids=(pyramid,))
    assert write(study, tmp_path / "out") == [
        "warning: topic t, reference gone: is left out: its text is missing",
        "warning: topic t, reference extra: is left out: the pyramid was made without it",
        "warning: topic t, system s, judge annotator: 1 unanswered units will be read back as absent: 1",
    ]
    assert references(ducview.read(tmp_path / "out", Problems())) == {"A": "one"}


def test_which_pyramid_is_written(tmp_path: Path) -> None:
    auto = Pyramid("t", ("A",), (unit_of("1"),), "auto")
    crowd = Pyramid("t", ("A",), (unit_of("2", Contributor("A")),), "crowd")
    problems = write(study_of({"A": "one"}, pyramids=(crowd, auto)), tmp_path / "out")
    assert problems[:2] == [
        "warning: topic t: a .pyr holds one pyramid; left out with the judgments on it: crowd",
        "warning: topic t: pyramid 'auto' will be read back as 'expert'",
    ]
    assert [u.id for u in ducview.read(tmp_path / "out", Problems()).pyramids[0].units] == ["1"]

    undecided = study_of({"A": "one"}, pyramids=(crowd, auto, replace(auto, name="other")))
    with pytest.raises(pyr.UsageError) as caught:
        pyr.save(undecided, tmp_path / "none", format="ducview")
    assert "the format can hold nothing of this study" in str(caught.value)
    assert "topic t: is left out: it has neither a pyramid named 'expert' nor exactly one with marked words" in str(
        caught.value
    )
    assert not (tmp_path / "none").exists()


def test_crowd_judgments_and_peers_nobody_judged_are_reported(tmp_path: Path) -> None:
    study = study_of(
        {"A": "one"},
        judges=(Judge("worker", "crowd"), Judge("gpt", "model")),
        judgments=Judgments([Judgment("t", "s", judge, 1, unit="1") for judge in ("worker", "gpt")]),
        units=(unit_of("1"),),
    )
    study = replace(study, summaries=(*study.summaries, Summary("t", "idle", "nothing")))
    assert write(study, tmp_path / "out") == [
        "warning: judgments: 1 are left out: made by crowd workers",
        "warning: judge gpt: is a model, but will be read back as an expert",
        "warning: topic t, system idle: is left out: no expert or model judged it on this pyramid",
    ]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["t.pyr", "t.s.gpt.pan"]


def test_one_file_of_a_study(tmp_path: Path) -> None:
    study = study_of({"A": "one"}, units=(unit_of("1"),))
    assert write(study, tmp_path / "t.pyr") == [
        f"warning: {tmp_path / 't.pyr'}: a .pyr file cannot hold peers and judgments; give a folder to keep them"
    ]
    assert references(ducview.read(tmp_path / "t.pyr", Problems())) == {"A": "one"}
    assert not write(
        replace(study, judgments=Judgments([Judgment("t", "s", "annotator", 1, unit="1")])), tmp_path / "t.s.pan"
    )
    assert counts(ducview.read(tmp_path / "t.s.pan", Problems())) == {"1": 1}


def test_a_file_named_otherwise_is_reported(tmp_path: Path) -> None:
    study = study_of({"A": "one"})
    assert write(study, tmp_path / "x.pyr")[0].endswith(
        "topic 't' will be read back as 'x', because of the file's name"
    )
    assert write(study, tmp_path / "x.y.z.pan")[0].endswith(
        "topic 't', system 's', judge 'annotator' will be read back as 'x', 'y', 'z', because of the file's name"
    )


@pytest.mark.parametrize("name", ["out.pyr", "out.pan"])
@pytest.mark.parametrize("many", [True, False])
def test_a_study_that_does_not_fit_one_file_needs_a_folder(tmp_path: Path, name: str, many: bool) -> None:
    one = study_of({"A": "one"})
    two = replace(
        one,
        topics=(Topic("t"), Topic("t2")),
        pyramids=(*one.pyramids, replace(one.pyramids[0], topic="t2")),
        judges=(*one.judges, Judge("second", "expert")),
        judgments=Judgments([*one.judgments, replace(one.judgments[0], judge="second")]),
    )
    with pytest.raises(UsageError, match="give a folder"):
        write(two if many else Study(), tmp_path / name)
    assert not list(tmp_path.iterdir())
