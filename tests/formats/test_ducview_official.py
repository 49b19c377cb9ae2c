"""Files as NIST released them, faults and all: they load as they are and give DUCView's own numbers.

The official files may not be shown, so these have their faults: contributors of one reference counted twice, parts in
two references or in a header, wrong offsets, labels that were edited, uids that changed. The oracle below counts as
DUCView does, straight from the XML, without any of our code.
"""

from __future__ import annotations

import json
from math import floor
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import run
from tests.formats.test_ducview import contributor, pan_xml, peerscu, pyramid_xml, scu

import pyramidion as pyr

REFERENCES = {
    "D": "The old bridge closed on Monday. Divers found cracks.",
    "E": "On Monday the bridge was closed after cracks were found.",
    "G": "Cracks closed the bridge. Repairs take a year.",
}
TEXT = "\n".join(f"---------- D0601.M.250.A.{name} ----------\n\n{text}\n" for name, text in REFERENCES.items())
PEER = "The bridge is closed. Cracks were found. It rained."


def at(words: str, reference: str = "D") -> tuple[str, int, int]:
    """A part with its right offsets."""
    start = TEXT.index(words, TEXT.index(f"A.{reference} -"))
    return words, start, start + len(words)


def moved(words: str, by: int) -> tuple[str, int, int]:
    label, start, end = at(words)
    return label, max(0, start + by), max(0, end + by)


BRIDGE = scu(
    1,
    "the bridge closed",
    contributor(at("bridge closed")),
    contributor(at("bridge was closed", "E")),
    contributor(at("closed the bridge", "G"), at("Cracks", "G")),  # out of order
)
CRACKS = scu(
    2,
    "cracks were found",
    contributor(at("Divers found")),
    contributor(at("cracks.")),  # the same reference again
    contributor(at("cracks were found", "E")),
)
MONDAY = scu(3, "on Monday", contributor(at("on Monday")), contributor(at("closed"), at("On Monday the", "E")))
REPAIRS = scu(4, "repairs take a year", contributor(at("Repairs take a year", "G")))
UNITS = (BRIDGE, CRACKS, MONDAY, REPAIRS)
PYRAMID = pyramid_xml(TEXT, *UNITS, header=r"-+\s*D\d+\.M\.250\.A\.\w\s*-+")


def expressed(*uids: int, unmatched: int = 0) -> list[str]:
    labels = {1: "the bridge closed", 2: "cracks were found", 3: "on Monday", 4: "repairs take a year"}
    word = contributor(("bridge", 4, 10))
    peerscus = [peerscu(uid, f"(9) {label}", *[word] * (uid in uids)) for uid, label in labels.items()]
    return [*peerscus, peerscu(0, "All non-matching SCUs go here", *[word] * unmatched)]


def official(pan: str) -> dict[str, float]:
    """Modified and original score as DUCView counts: a contributor is a contributor."""
    root = fromstring(pan)
    [pyramid, annotation] = [root.find("pyramid"), root.find("annotation")]
    assert pyramid is not None
    assert annotation is not None
    weights = {scu.get("uid"): len(scu.findall("contributor")) for scu in pyramid.findall("scu")}
    counts = {scu.get("uid"): len(scu.findall("contributor")) for scu in annotation.findall("peerscu")}
    best = sorted(weights.values(), reverse=True)
    found = sum(weights[uid] for uid, count in counts.items() if count and uid != "0")
    average = floor(sum(best) / len(REFERENCES) + 0.5)
    return {"modified": found / sum(best[:average]), "original": found / (sum(best[: sum(counts.values())]) or 1)}


def put(folder: Path, pans: dict[str, str], pyramid: str = PYRAMID) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "D0601.pyr").write_text(pyramid)
    for name, pan in pans.items():
        (folder / name).write_text(pan)
    return folder


@pytest.fixture
def duc(tmp_path: Path) -> Path:
    pans = {
        "1.D0601.M.250.A.09.pan": pan_xml(PYRAMID, PEER, *expressed(1, 2, unmatched=1)),
        "1.D0601.M.250.A.10.pan": pan_xml(PYRAMID, PEER, *expressed(3)),
    }
    return put(tmp_path / "duc", pans)


def test_official_counts_by_default_and_strict_ones_when_asked(duc: Path) -> None:
    """Weights 3, 3, 2, 1 of three references: X_a = 9/3 = 3 and Max(3) = 8. Strictly the second unit weighs 2:
    X_a = floor(8/3 + .5) = 3 and Max(3) = 7. X is 3 and 1; Max(1) = 3 either way."""
    study = pyr.load(duc)  # nothing here is an error
    table = pyr.score(study, "pyramid")
    assert [unit.weight for unit in study.pyramids[0].units] == [3, 3, 2, 1]
    assert table.per_summary("modified") == {("D0601", "9"): 6 / 8, ("D0601", "10"): 2 / 8}
    assert table.per_summary("original") == {("D0601", "9"): 6 / 8, ("D0601", "10"): 2 / 3}
    strict = pyr.score(study, "pyramid", weights="references")
    assert strict.per_summary("modified") == {("D0601", "9"): 5 / 7, ("D0601", "10"): 2 / 7}
    assert "|weights:contributors|" in str(table.signature)
    assert "|weights:references|" in str(strict.signature)
    with pytest.raises(pyr.UsageError, match="contributors, references"):
        pyr.score(study, "pyramid", weights="lines")


def test_the_warning_names_the_unit_both_counts_and_what_strict_counting_changes(duc: Path) -> None:
    notes = [str(note) for note in pyr.score(pyr.load(duc), "pyramid", measures=["modified", "recall"]).notes]
    assert (
        "topic D0601, unit 2: has 3 contributors from 2 references (2 from D); its weight is 3, as in DUCView and the "
        "official scores of DUC, or 2 with weights=references" in notes
    )
    [what] = [note for note in notes if "with weights=references the" in note]
    assert what == (
        "topic D0601: several contributors from the same reference all count in unit 2, as in DUCView and the official "
        "scores; with weights=references the total weight is 8, not 9, X_a is 3 as well, and these scores change: "
        "modified of 2 summaries by up to 0.0357"
    )
    strict = pyr.score(pyr.load(duc), "pyramid", weights="references")
    assert not [note for note in strict.notes if "with weights=references the" in note.what]


def test_repairs_are_said(duc: Path) -> None:
    notes = [str(note).replace(f"{duc}/", "") for note in pyr.load(duc).notes]
    assert "D0601.pyr, scu 3, contributor 2: part 'closed' is left out: it is in reference D, not E" in notes
    assert {note.severity for note in pyr.load(duc).notes} == {"warning"}


def test_the_command_obeys_wherever_pyramids_are_scored(duc: Path, tmp_path: Path) -> None:
    def answer(*arguments: object) -> Any:
        done = run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    for weights, best in (("contributors", 6 / 8), ("references", 5 / 7)):
        asked = ("--weights", weights)
        table = answer("score", duc, "-m", "pyramid", "--measure", "modified", *asked)
        values = {(s["topic"], s["system"]): s["value"] for s in table["scores"]}
        assert values["D0601", "9"] == pytest.approx(best)
        assert f"weights:{weights}" in table["signature"]
        shown = answer("show", duc, "--system", "9", *asked)
        assert shown["modified"] == pytest.approx(best)
        assert sum(unit["weight"] for unit in shown["expressed"]) == (6 if weights == "contributors" else 5)
        tiers = {unit["id"]: unit["weight"] for unit in answer("show", duc, *asked)["units"]}
        assert tiers["2"] == (3 if weights == "contributors" else 2)
    assert "weights:references" in answer("report", duc, "-o", tmp_path / "page.html", *asked)["signature"]
    answer("feedback", duc, "-o", tmp_path / "pages", *asked)
    assert f"9,D0601,{5 / 7:.4f}" in (tmp_path / "pages" / "grades.csv").read_text()
    refused = run("score", duc, "-m", "rouge", "--weights", "references")
    assert refused.returncode == 2
    assert "'weights'" in refused.stderr
    assert run("show", duc, "--annotators", "mean").returncode == 2


@pytest.mark.parametrize("way", ["study.jsonl", "again"])
def test_other_formats_keep_both_contributors_and_the_scores(duc: Path, tmp_path: Path, way: str) -> None:
    study = pyr.load(duc)
    wanted = pyr.score(study, "pyramid").scores
    pyr.save(study, tmp_path / way, format="jsonl" if way.endswith("jsonl") else "ducview")
    pyr.save(pyr.load(tmp_path / way), tmp_path / "back", format="ducview")
    for place in (tmp_path / way, tmp_path / "back"):
        read = pyr.load(place)
        assert [unit.contributors for unit in read.pyramids[0].units] == [
            unit.contributors for unit in study.pyramids[0].units
        ]
        assert sorted(pyr.score(read, "pyramid").scores, key=str) == sorted(wanted, key=str)
    assert 'label="(3) cracks were found"' in (tmp_path / "back" / "D0601.9.1.pan").read_text()


# -- whatever is wrong with a contributor, it counts once ----------------------------------------------------

WORDS = ["the", "bridge", "closed", "on Monday", "cracks", "Divers found", "Cracks", "Repairs take", "a year"]
PLACES = st.sampled_from(
    [(words, *at(words, name)[1:]) for name, text in REFERENCES.items() for words in WORDS if words in text]
)
HEADER = TEXT.index("D0601.M.250.A.E")
BOUNDARY = TEXT.index("cracks.\n")
FAULTS = st.one_of(
    PLACES,
    st.builds(lambda part, by: (part[0], max(0, part[1] + by), max(0, part[2] + by)), PLACES, st.integers(-40, 40)),
    st.builds(lambda part: (part[0], 99_999, 99_999), PLACES),
    st.just(("not in the text", 60, 75)),
    st.just(("D0601.M.250.A.E", HEADER, HEADER + 15)),
    st.just((" ".join(TEXT[BOUNDARY : HEADER + 40].split()), BOUNDARY, HEADER + 40)),
)
CONTRIBUTORS = st.one_of(
    st.builds(lambda parts: contributor(*parts), st.lists(FAULTS, min_size=1, max_size=3)),
    st.builds(lambda part: f'<contributor label="{part[0]}"/>', PLACES),
)


@given(
    st.lists(st.lists(CONTRIBUTORS, min_size=1, max_size=4), min_size=4, max_size=4),
    st.sets(st.integers(1, 4)),
    st.integers(0, 3),
)
def test_ducview_and_we_agree_whatever_is_wrong(
    tmp_path_factory: pytest.TempPathFactory, units: list[list[str]], uids: set[int], unmatched: int
) -> None:
    labels = ("the bridge closed", "cracks were found", "on Monday", "repairs take a year")
    scus = (scu(uid, label, *made) for uid, (label, made) in enumerate(zip(labels, units, strict=True), 1))
    pyramid = pyramid_xml(TEXT, *scus, header=r"-+\s*D\d+\.M\.250\.A\.\w\s*-+")
    pan = pan_xml(pyramid, PEER, *expressed(*uids, unmatched=unmatched))
    folder = put(tmp_path_factory.mktemp("duc"), {"1.D0601.M.250.A.09.pan": pan}, pyramid)
    study = pyr.load(folder)
    assert [unit.weight for unit in study.pyramids[0].units] == [len(made) for made in units]
    table = pyr.score(study, "pyramid")
    for measure, value in official(pan).items():
        assert table.value("9", measure) == pytest.approx(value)
