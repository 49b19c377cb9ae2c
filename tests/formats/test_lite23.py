from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import studies

from pyramidion.errors import Problems, UsageError
from pyramidion.formats import jsonl, lite23
from pyramidion.formats.plain_texts import FOLDER
from pyramidion.study import (
    ContentUnit,
    Contributor,
    Document,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Study,
    Summary,
    Topic,
)

PYRXSUM = Path(__file__).resolve().parents[3] / "shared" / "data" / "pyrxsum"
EXAMPLE = Path(jsonl.__file__).parents[1] / "data" / "example.jsonl"

TEXTS = st.one_of(
    st.sampled_from(
        ["", "word", "a\tb", "a\r\nb", "👩‍👩‍👧 e\u0301", "שלום עולם", " spaces ", "\ufeffmark", "\u2028", "end\r"]
    ),
    st.text(max_size=12),
)

MINIMAL = {"SCUs.txt": "A cat sat.\tIt purred.\nRain fell.", "references.txt": "A cat sat and purred.\nRain fell."}


@pytest.fixture
def make(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """A folder with these files, written byte by byte as given."""

    def made(texts: dict[str, str]) -> Path:
        for name, text in texts.items():
            file = tmp_path / "data" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        return tmp_path / "data"

    return made


def read(path: Path) -> tuple[Study, list[str], list[str]]:
    problems = Problems()
    study = lite23.read(path, problems)
    return study, [str(p) for p in problems.errors], [str(p) for p in problems.warnings]


def write(study: Study, path: Path) -> list[str]:
    problems = Problems()
    lite23.write(study, path, problems)
    assert not problems.errors
    return [str(p) for p in problems.warnings]


def test_a_small_folder_is_read_exactly(make: Callable[[dict[str, str]], Path]) -> None:
    path = make(
        {
            **MINIMAL,
            "ids.txt": "t1\nt2\n",
            "documents.txt": "One.\tTwo.\n\n",
            "STUs.txt": "A cat sat\n\n",
            "summaries/bart.summary": " Cats sit. \r\n\r\n",
            "labels/bart.label": "1\t0\r\n0.25",
        }
    )
    study, errors, warnings = read(path)
    assert (errors, warnings) == ([], [])
    assert [str(p) for p in study.problems()] == ["peers: 1 of 2 have an empty text: bart on t2"]
    here = (Contributor("reference"),)
    assert study == Study(
        topics=(Topic("t1", documents=(Document("1", "One."), Document("2", "Two."))), Topic("t2")),
        summaries=(
            Summary("t1", "reference", "A cat sat and purred.", "reference"),
            Summary("t2", "reference", "Rain fell.", "reference"),
            Summary("t1", "bart", " Cats sit. "),
            Summary("t2", "bart", ""),
        ),
        pyramids=(
            Pyramid("t1", ("reference",), (ContentUnit("1", "A cat sat.", here), ContentUnit("2", "It purred.", here))),
            Pyramid("t2", ("reference",), (ContentUnit("1", "Rain fell.", here),)),
            Pyramid("t1", ("reference",), (ContentUnit("stu-1", "A cat sat", here),), "auto"),
        ),
        judges=(Judge("labels", "expert"),),
        judgments=Judgments(
            [
                Judgment("t1", "bart", "labels", 1, unit="1"),
                Judgment("t1", "bart", "labels", 0, unit="2"),
                Judgment("t2", "bart", "labels", 0.25, unit="1"),
            ]
        ),
    )


def test_topics_are_numbered_where_ids_are_missing(make: Callable[[dict[str, str]], Path]) -> None:
    study, errors, _ = read(make(MINIMAL))
    assert [topic.id for topic in study.topics] == ["1", "2"]
    assert errors == []


def test_several_references_are_numbered_and_the_first_stands_for_all(make: Callable[[dict[str, str]], Path]) -> None:
    path = make({**MINIMAL, "references.txt": "A cat.\tA purr.\nRain."})
    study, errors, warnings = read(path)
    assert [(s.topic, s.system) for s in study.references] == [("1", "1"), ("1", "2"), ("2", "1")]
    assert study.pyramids[0].references == ("1", "2")
    assert {unit.references for pyramid in study.pyramids for unit in pyramid.units} == {frozenset({"1"})}
    assert errors == []
    assert warnings == [
        f"{path / 'SCUs.txt'}: does not say which reference a unit comes from; every unit is assigned to the first"
    ]


def test_labels_without_summaries_and_summaries_without_labels(make: Callable[[dict[str, str]], Path]) -> None:
    path = make({**MINIMAL, "labels/a.label": "1\t1\n0\n", "summaries/b.summary": "x\ny\n"})
    study, errors, warnings = read(path)
    # What is not there is missing: an empty text would be scored 0 by every method that reads texts.
    assert [(s.system, s.text) for s in study.peers] == [("b", "x"), ("b", "y")]
    assert errors == [f"{path / 'labels/a.label'}: has no summaries/a.summary, so its texts are missing"]
    assert warnings == [f"{path / 'summaries/b.summary'}: has no labels/b.label; its summaries are not judged"]
    assert len(study.judgments) == 3


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("labels/a.label", "1\n0\n", "labels/a.label, line 1: has 1 labels, but SCUs.txt has 2 units for it"),
        ("labels/a.label", "1\t1\n\n", "labels/a.label, line 2: has 0 labels, but SCUs.txt has 1 units for it"),
        ("labels/a.label", "1\tyes\n0", "labels/a.label, line 1: label 2 is 'yes', which is not a number of 0 or more"),
        ("labels/a.label", "1\t1\nnan", "labels/a.label, line 2: label 1 is 'nan', which is not a number of 0 or more"),
        ("labels/a.label", "1\t-1\n0", "labels/a.label, line 1: label 2 is '-1', which is not a number of 0 or more"),
        ("labels/a.label", "1\t1\n0\n0\n", "labels/a.label: has 3 lines, but SCUs.txt has 2"),
        ("summaries/a.summary", "one\n", "summaries/a.summary: has 1 lines, but SCUs.txt has 2"),
        ("references.txt", "one\n", "references.txt: has 1 lines, but SCUs.txt has 2"),
        ("ids.txt", "a\nb\nc", "ids.txt: has 3 lines, but SCUs.txt has 2"),
        ("SCUs.txt", "A cat.\t\tIt purred.\nRain", "SCUs.txt, line 1: unit 2 is empty"),
        ("SCUs.txt", "A cat.\nRain.\t", "SCUs.txt, line 2: unit 2 is empty"),
        ("STUs.txt", "x\n \n", "STUs.txt, line 2: unit 1 is empty"),
    ],
)
def test_what_does_not_fit_is_an_error_with_its_address(
    make: Callable[[dict[str, str]], Path], name: str, text: str, error: str
) -> None:
    path = make({**MINIMAL, "summaries/a.summary": "x\ny\n", name: text})
    _, errors, _ = read(path)
    assert errors == [f"{path}/{error}"]


def test_bytes_that_are_no_text_are_an_error(make: Callable[[dict[str, str]], Path]) -> None:
    path = make(MINIMAL)
    (path / "references.txt").write_bytes(b"fine\ncaf\xe9\n")
    study, errors, _ = read(path)
    assert errors == [f"{path / 'references.txt'}, line 2: byte 0xe9 is not UTF-8; save the file as UTF-8"]
    assert [(s.topic, s.text) for s in study.references] == [("1", "fine")]


def test_a_summary_that_cannot_be_read_is_missing_and_the_lines_after_it_keep_their_topics(
    make: Callable[[dict[str, str]], Path],
) -> None:
    path = make({"SCUs.txt": "a\nb\nc\n", "references.txt": "x\ny\nz\n", "ids.txt": "t1\nt2\nt3\n"})
    (path / "summaries").mkdir()
    (path / "summaries" / "s.summary").write_bytes(b"one\ncaf\xe9\nthree\n")
    study, errors, _ = read(path)
    assert len(errors) == 1
    assert [(s.topic, s.text) for s in study.peers] == [("t1", "one"), ("t3", "three")]


def test_missing_files_and_an_empty_folder(make: Callable[[dict[str, str]], Path]) -> None:
    path = make({"references.txt": ""})
    assert read(path)[1] == [f"{path}: has no file 'SCUs.txt'"]
    path = make({"SCUs.txt": ""})
    assert read(path)[1] == [f"{path / 'SCUs.txt'}: has no lines, so there is no example"]


def test_only_this_layout_is_recognised(make: Callable[[dict[str, str]], Path]) -> None:
    path = make(MINIMAL)
    assert lite23.recognises(path)
    assert not FOLDER.recognises(path)
    assert not lite23.recognises(path / "SCUs.txt")
    assert not lite23.recognises(EXAMPLE.parent)


# -- writing -------------------------------------------------------------------------------------------------


def cleaned(texts: list[str]) -> list[str]:
    """What should become of texts on one line, said in other words than the writer's."""
    spaced = [text.replace("\r\n", " ").replace("\r", " ").replace("\n", " ").replace("\t", " ") for text in texts]
    return [] if spaced == [""] else spaced


@st.composite
def contents(draw: st.DrawFn) -> dict[str, list[list[str]]]:
    """Texts and labels by kind, one list a topic."""
    count = draw(st.integers(1, 3))
    lists = st.lists(TEXTS, max_size=3)
    units = st.lists(TEXTS.filter(str.strip), max_size=3)
    found = {
        "references": [draw(lists) for _ in range(count)],
        "documents": [draw(lists) for _ in range(count)],
        "expert": [draw(units) for _ in range(count)],
        "auto": [draw(units) for _ in range(count)],
        "peers": [[draw(TEXTS), draw(TEXTS)] for _ in range(count)],
    }
    values = st.sampled_from(["0", "1", "0.5", "2"])
    found["labels"] = [[draw(values) for _ in range(2 * len(labels))] for labels in found["expert"]]
    return found


def study_of(content: dict[str, list[list[str]]]) -> Study:
    most = max(map(len, content["references"]))
    names = ["reference"] if most == 1 else [str(number + 1) for number in range(most)]
    topics, references, pyramids, judgments = [], [], [], []
    for index in range(len(content["peers"])):
        id = f"topic {index}"
        documents = tuple(Document(str(n), text) for n, text in enumerate(content["documents"][index], 1))
        topics.append(Topic(id, documents=documents))
        known = tuple(names[: len(content["references"][index])])
        references += [
            Summary(id, name, text, "reference") for name, text in zip(known, content["references"][index], strict=True)
        ]
        here = tuple(Contributor(name) for name in known[:1])
        for name, prefix in (("expert", ""), ("auto", "stu-")):
            labels = content[name][index]
            units = tuple(ContentUnit(f"{prefix}{n}", label, here) for n, label in enumerate(labels, 1))
            pyramids.append(Pyramid(id, known, units, name))
    peers = [
        Summary(topic.id, system, content["peers"][index][position])
        for position, system in enumerate(("s.1", "ü/2"))
        for index, topic in enumerate(topics)
    ]
    for position, system in enumerate(("s.1", "ü/2")):
        for index, topic in enumerate(topics):
            labels = content["labels"][index][position::2]
            judgments += [
                Judgment(topic.id, system, "labels", float(value), unit=str(n)) for n, value in enumerate(labels, 1)
            ]
    return Study(
        topics=tuple(topics),
        summaries=(*references, *peers),
        pyramids=tuple(p for p in sorted(pyramids, key=lambda p: p.name, reverse=True) if p.units),
        judges=(Judge("labels", "expert"),) if judgments else (),
        judgments=Judgments(judgments),
    )


@given(contents())
def test_what_is_written_reads_back(content: dict[str, list[list[str]]]) -> None:
    expected = {
        **{kind: [cleaned(texts) for texts in lists] for kind, lists in content.items() if kind != "peers"},
        "peers": [[cleaned([text, "x"])[0] for text in texts] for texts in content["peers"]],
    }
    with tempfile.TemporaryDirectory() as place:
        warnings = write(study_of(content), Path(place) / "out")
        study, errors, _ = read(Path(place) / "out")
    assert errors == []
    assert study == study_of(expected)
    for kind, places in {
        "units": ("expert", "auto"),
        **{k: (k,) for k in ("references", "documents", "peers")},
    }.items():
        texts = [text for name in places for texts in content[name] for text in texts]
        changed = sum(any(c in text for c in "\t\r\n") for text in texts)
        said = f"lite23: tabs and line breaks were replaced by spaces in {kind}: {changed} changed"
        assert (said in warnings) == bool(changed)
    for kind in ("references", "documents"):
        lost = sum(texts == [""] for texts in content[kind])
        said = f"lite23: an empty text alone on its line is read back as missing: {lost} {kind} lost"
        assert (said in warnings) == bool(lost)


@given(studies())
def test_any_study_can_be_written_and_then_loses_nothing_more(original: Study) -> None:
    with tempfile.TemporaryDirectory() as place:
        write(original, Path(place) / "once")
        study, errors, _ = read(Path(place) / "once")
        assert errors == []
        assert [p for p in study.problems() if p.severity == "error"] == []
        assert write(study, Path(place) / "twice") == []
        assert read(Path(place) / "twice")[0] == study


def test_the_example_keeps_texts_and_labels_and_says_what_is_lost(tmp_path: Path) -> None:
    example = jsonl.read(EXAMPLE, Problems())
    warnings = write(example, tmp_path / "out")
    study, errors, _ = read(tmp_path / "out")
    assert errors == []
    assert {(s.topic, s.system, s.text) for s in study.peers} == {(s.topic, s.system, s.text) for s in example.peers}
    assert [s.text for s in study.references] == [s.text for s in example.references]
    by_expert = [j.value for j in example.judgments if j.judge == "annotator" and j.unit]
    assert sorted(j.value for j in study.judgments) == sorted(by_expert)
    rooted = sum(u.references != {"A"} for p in example.pyramids if p.name == "expert" for u in p.units)
    assert warnings == [
        "pyramid crowd: is left out: SCUs.txt holds one pyramid per topic",
        "lite23: cannot hold names of references: 16 are numbered instead",
        "lite23: cannot hold names of documents: 4 are numbered instead",
        "lite23: cannot hold names of units: 135 are numbered instead",
        f"lite23: cannot hold which references a unit comes from: {rooted} units lose this",
        "lite23: labels are about SCUs.txt: 3840 judgments on other units left out",
        "judge annotator: will be read back as the expert 'labels'",
        "lite23: tabs and line breaks were replaced by spaces in documents: 4 changed",
    ]


def study_with(judgments: list[Judgment], unit_labels: tuple[str, ...] = ("one", "two")) -> Study:
    units = tuple(ContentUnit(str(n), label, (Contributor("reference"),)) for n, label in enumerate(unit_labels, 1))
    return Study(
        topics=(Topic("t"),),
        summaries=(Summary("t", "reference", "r", "reference"), Summary("t", "s", "p")),
        pyramids=(Pyramid("t", ("reference",), units),),
        judges=(Judge("labels", "expert"), Judge("w1"), Judge("w2")),
        judgments=Judgments(judgments),
    )


def test_several_judges_must_be_aggregated_first(tmp_path: Path) -> None:
    two = [Judgment("t", "s", judge, 1, unit=unit) for judge in ("w1", "w2") for unit in "12"]
    assert write(study_with(two), tmp_path / "a") == [
        "lite23: 2 judges judged the units, so no labels are written; aggregate the judgments first"
    ]
    assert not (tmp_path / "a" / "labels").exists()
    three = [*two, *(Judgment("t", "s", "labels", 0, unit=unit) for unit in "12")]
    assert write(study_with(three), tmp_path / "b") == [
        "lite23: labels are those of judge 'labels'; 2 other judges left out"
    ]
    assert (tmp_path / "b" / "labels" / "s.label").read_bytes() == b"0\t0\n"


@pytest.mark.parametrize(
    ("judgments", "fault"),
    [
        ([Judgment("t", "s", "labels", 1, unit="1")], "has no label"),
        ([Judgment("t", "s", "labels", 1, unit="1"), Judgment("t", "s", "labels", None, unit="2")], "has no label"),
        (
            [
                Judgment("t", "s", "labels", 1, unit=unit, task=task)
                for unit, task in (("1", ""), ("2", "a"), ("2", "b"))
            ],
            "is judged more than once",
        ),
    ],
)
def test_a_system_without_exactly_one_label_a_unit_gets_no_labels_file(
    tmp_path: Path, judgments: list[Judgment], fault: str
) -> None:
    warnings = write(study_with(judgments), tmp_path / "out")
    assert warnings == [f"topic t, system s, unit 2: {fault}: the labels of s are left out"]
    assert not (tmp_path / "out" / "labels").exists()


def test_a_unit_without_a_label_is_left_out_with_its_judgment(tmp_path: Path) -> None:
    study = study_with([Judgment("t", "s", "labels", n, unit=str(n + 1)) for n in range(2)], ("\t", "two"))
    warnings = write(study, tmp_path / "out")
    assert "topic t, unit 1: has an empty label and is left out" in warnings
    assert "lite23: labels are about SCUs.txt: 1 judgments on other units left out" in warnings
    assert (tmp_path / "out" / "SCUs.txt").read_bytes() == b"two\n"
    assert (tmp_path / "out" / "labels" / "s.label").read_bytes() == b"1\n"


def test_a_peer_missing_in_a_topic_becomes_an_empty_one(tmp_path: Path) -> None:
    study = Study(topics=(Topic("a"), Topic("b")), summaries=(Summary("b", "s", "text"),))
    assert write(study, tmp_path / "out") == ["system s: no summary for 1 topics (a); they are written as empty"]
    assert (tmp_path / "out" / "summaries" / "s.summary").read_bytes() == b"\ntext\n"


def test_a_lone_pyramid_of_another_name_is_written(tmp_path: Path) -> None:
    study = Study(topics=(Topic("a"),), pyramids=(Pyramid("a", (), (ContentUnit("1", "x"),), "crowd"),))
    assert write(study, tmp_path / "out") == ["pyramid crowd: is written to SCUs.txt and will be read back as 'expert'"]
    assert (tmp_path / "out" / "SCUs.txt").read_bytes() == b"x\n"


def test_an_existing_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(UsageError, match="already exists"):
        write(Study(topics=(Topic("a"),)), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


@pytest.mark.skipif(not PYRXSUM.is_dir(), reason="the real data in ../shared/data is not here")
def test_pyrxsum(tmp_path: Path) -> None:
    study, errors, warnings = read(PYRXSUM)
    assert (errors, warnings, study.problems()) == ([], [], [])
    counts = study.counts()
    assert (counts["topics"], counts["systems"], counts["judgments"]) == (100, 10, 4780)
    assert sum(len(pyramid.units) for pyramid in study.pyramids if pyramid.name == "expert") == 478
    for system in study.systems:
        labels = [float(label) for label in (PYRXSUM / "labels" / f"{system}.label").read_text().split()]
        values = [judgment.value for judgment in study.judgments if judgment.system == system]
        assert sum(v for v in values if v is not None) / len(values) == sum(labels) / len(labels)
    assert write(study, tmp_path / "out") == []
    assert read(tmp_path / "out")[0] == study
    for file in (tmp_path / "out").rglob("*.*"):
        original = (PYRXSUM / file.relative_to(tmp_path / "out")).read_bytes()
        assert file.read_bytes() == original.removesuffix(b"\n") + b"\n"
