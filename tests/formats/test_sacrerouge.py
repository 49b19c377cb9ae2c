from __future__ import annotations

import json
import tempfile
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.errors import Problems
from pyramidion.formats import jsonl, losses, sacrerouge
from pyramidion.study import Document, Study, Summary, Topic

EXAMPLE = Path(jsonl.__file__).parents[1] / "data" / "example.jsonl"

TEXTS = st.one_of(
    st.sampled_from(["", "word", "a\r\nb\n", "👩‍👩‍👧 e\u0301", "שלום עולם", '"\\u0041"', "\u2028\x85", "\x00"]),
    st.text(max_size=12),
)


def peer(instance: str = "d1", summarizer: str = "s1", **fields: Any) -> dict[str, Any]:
    return {"instance_id": instance, "summarizer_id": summarizer, "summarizer_type": "peer", "summary": "x", **fields}


def write_lines(path: Path, *lines: dict[str, Any] | str) -> Path:
    file = path / "instances.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines]
    file.write_bytes("".join(text + "\n" for text in texts).encode())
    return file


def read(path: Path) -> tuple[Study, list[str], list[str]]:
    problems = Problems()
    study = sacrerouge.read(path, problems)
    return study, [str(p) for p in problems.errors], [str(p) for p in problems.warnings]


def write(study: Study, path: Path) -> list[str]:
    problems = Problems()
    sacrerouge.write(study, path, problems)
    assert not problems.errors
    return [str(p) for p in problems.warnings]


def test_instances_are_read_exactly(tmp_path: Path) -> None:
    references = [
        {"summarizer_id": "A", "summarizer_type": "reference", "text": ["One.", "Two."]},
        {"summarizer_type": "reference", "text": "Second."},
    ]
    documents = [{"filename": "a.txt", "text": ["Long", "story"]}, {"text": "short"}]
    path = write_lines(
        tmp_path,
        peer(summary={"text": ["First.", "Next."]}, references=references, documents=documents),
        peer(summarizer="s2", summary=" whole ", references=references, documents=documents),
        "",
        peer("d2", "7", summary=["a", "b"]),
        {"instance_id": 3, "references": ["only a text"]},
    )
    study, errors, warnings = read(path)
    assert (errors, warnings) == ([], [])
    assert [problem.what for problem in study.problems()] == [
        "1 of 2 topics have no reference or only an empty one: d2"
    ]
    assert study == Study(
        topics=(
            Topic("d1", documents=(Document("a.txt", "Long\nstory"), Document("2", "short"))),
            Topic("d2"),
            Topic("3"),
        ),
        summaries=(
            Summary("d1", "A", "One.\nTwo.", "reference"),
            Summary("d1", "2", "Second.", "reference"),
            Summary("3", "1", "only a text", "reference"),
            Summary("d1", "s1", "First.\nNext."),
            Summary("d1", "s2", " whole "),
            Summary("d2", "7", "a\nb"),
        ),
    )


def test_people_scored_like_systems_become_references_once(tmp_path: Path) -> None:
    a, b = ({"summarizer_id": name, "summarizer_type": "reference", "text": f"by {name}"} for name in "AB")
    path = write_lines(
        tmp_path,
        peer(references=[a]),
        peer(summarizer="A", summarizer_type="reference", summary={"text": "by A"}, references=[b]),
        peer(summarizer="C", summarizer_type="reference", summary={"text": "by C"}, references=[a, b]),
    )
    study, errors, warnings = read(path)
    assert (errors, warnings) == ([], [])
    assert [(s.system, s.text) for s in study.references] == [("A", "by A"), ("B", "by B"), ("C", "by C")]
    assert [s.system for s in study.peers] == ["s1"]


def test_one_of_differing_texts_is_kept_with_a_warning(tmp_path: Path) -> None:
    def reference(text: str) -> list[dict[str, str]]:
        return [{"summarizer_id": "A", "text": text}]

    path = write_lines(
        tmp_path,
        peer(references=reference("first"), documents=["first"]),
        peer(summarizer="s2", references=reference("second"), documents=["second"]),
    )
    study, errors, warnings = read(path)
    assert errors == []
    assert [s.text for s in study.references] == ["first"]
    assert study.topics[0].documents == (Document("1", "first"),)
    assert warnings == [
        f"{path}, line 2: text of reference A of d1 differs from an earlier one; the one that sorts first is kept",
        f"{path}, line 2: documents of d1 differ from an earlier line; those that sort first are kept",
    ]


def test_unknown_fields_are_named_once(tmp_path: Path) -> None:
    path = write_lines(tmp_path, peer(metrics={}), peer(summarizer="s2", metrics={}))
    assert read(path)[2] == [f"{path}, line 1: unknown field 'metrics' is ignored, here and below"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("{", "is not JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[1]", "is not a JSON object"),
        ('{"instance_id": "d", "summary": NaN}', "NaN is not a valid value; write null for a missing value"),
        ('{"instance_id": "\\ud800", "summary": "x"}', "holds half of a surrogate pair, which is not text"),
        ("[" * 100_000, "is nested too deeply"),
        ({"summarizer_id": "s", "summary": "x"}, "field 'instance_id' is missing"),
        ({"instance_id": "d", "summary": "x"}, "field 'summarizer_id' is missing"),
        (peer(instance_id=True), "field 'instance_id' must be text, not true"),
        (peer(summary=7), "field 'summary' has no 'text' that is text or a list of sentences"),
        (peer(summary={"text": ["a", 1]}), "field 'summary' has no 'text' that is text or a list of sentences"),
        (peer(summarizer_type="human"), "field 'summarizer_type' must be peer or reference, not 'human'"),
        (peer(references={"A": "x"}), "field 'references' must be a list"),
        (peer(references=["x", {}]), "reference 2 has no 'text' that is text or a list of sentences"),
        (peer(documents=[None]), "document 1 has no 'text' that is text or a list of sentences"),
        (peer("first"), "summary of first by s1 appears twice; the one that sorts first is kept"),
    ],
)
def test_a_bad_line_is_an_error_with_its_address(tmp_path: Path, line: dict[str, Any] | str, error: str) -> None:
    path = write_lines(tmp_path, peer("first"), line)
    study, errors, _ = read(path)
    assert errors == [f"{path}, line 2: {error}"]
    assert study.summaries == (Summary("first", "s1", "x"),)


def test_bytes_that_are_no_text_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(json.dumps(peer()).encode().replace(b'"x"', b'"\xe9"'))
    assert read(path)[1] == [f"{path}, line 1: byte 0xe9 is not UTF-8; save the file as UTF-8"]


def test_a_summary_of_null_is_an_error_and_missing(tmp_path: Path) -> None:
    references = [{"summarizer_id": "A", "text": "Rain fell."}]
    gone = {"instance_id": "d1", "summarizer_id": "s2", "summary": None, "references": references}
    path = write_lines(tmp_path, peer(), gone)
    study, errors, _ = read(path)
    assert errors == [f"{path}, line 2: field 'summary' is null: the summary of d1 by s2 is missing"]
    assert [s.system for s in study.peers] == ["s1"]
    assert [s.text for s in study.references] == ["Rain fell."]
    # Under --lenient it is missing, not 0, and the notes say so.
    with pytest.raises(pyr.InputError, match="is null"):
        pyr.load(path)
    table = pyr.score(pyr.load(path, lenient=True), "rouge")
    assert table.systems == ("s1",)
    assert any("the summary of d1 by s2 is missing" in str(note) for note in table.notes)


def test_what_is_kept_of_differing_lines_does_not_depend_on_their_order(tmp_path: Path) -> None:
    lines = [
        peer(references=[{"summarizer_id": "A", "text": text}], documents=[{"filename": "f", "text": text}])
        | {"summary": {"text": text}}
        for text in ("b", "a", "c")
    ]
    for order in permutations(lines):
        study, _, _ = read(write_lines(tmp_path, *order))
        assert {summary.text for summary in study.summaries} == {"a"}
        assert [document.text for document in study.topics[0].documents] == ["a"]


def test_recognised_by_the_first_line(tmp_path: Path) -> None:
    path = write_lines(tmp_path, peer())
    assert sacrerouge.recognises(path)
    assert not jsonl.recognises(path)
    assert not sacrerouge.recognises(EXAMPLE)
    assert not sacrerouge.recognises(tmp_path)
    assert sacrerouge.recognises(write_lines(tmp_path, {"instance_id": "d", "references": []}))
    assert not sacrerouge.recognises(write_lines(tmp_path, {"instance_id": "d", "metrics": {}}))
    assert not sacrerouge.recognises(write_lines(tmp_path, "not JSON"))
    assert not sacrerouge.recognises(write_lines(tmp_path))


# -- writing -------------------------------------------------------------------------------------------------


def test_one_line_a_peer(tmp_path: Path) -> None:
    study = Study(
        topics=(Topic("d", documents=(Document("a", "long"),)),),
        summaries=(Summary("d", "A", "ref", "reference"), Summary("d", "s", "é\r\n")),
    )
    assert write(study, tmp_path / "out.jsonl") == []
    lines = (tmp_path / "out.jsonl").read_bytes().decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "instance_id": "d",
            "summarizer_id": "s",
            "summarizer_type": "peer",
            "summary": {"text": "é\r\n"},
            "references": [{"summarizer_id": "A", "summarizer_type": "reference", "text": "ref"}],
            "documents": [{"filename": "a", "text": "long"}],
        }
    ]


def test_a_topic_without_peers_is_lost_with_a_warning(tmp_path: Path) -> None:
    study = Study(
        topics=(Topic("d"), Topic("e")), summaries=(Summary("d", "A", "r", "reference"), Summary("e", "s", "p"))
    )
    assert write(study, tmp_path / "out.jsonl") == [
        "topic d: is left out: every line holds a peer summary, and it has none"
    ]
    assert [topic.id for topic in read(tmp_path / "out.jsonl")[0].topics] == ["e"]


def test_titles_are_reported_as_lost() -> None:
    lost = losses(Study(topics=(Topic("d", "Title"),)), sacrerouge.FORMAT)
    assert [str(problem) for problem in lost] == ["sacrerouge: cannot hold topic titles; 1 left out"]


@st.composite
def contents(draw: st.DrawFn) -> Study:
    topics, summaries = [], []
    for id in draw(st.lists(st.sampled_from(["d1", "ü 2", "007"]), min_size=1, unique=True)):
        documents = draw(st.lists(TEXTS, max_size=2))
        topics.append(Topic(id, documents=tuple(Document(f"doc{n}", text) for n, text in enumerate(documents))))
        summaries += [Summary(id, name, draw(TEXTS), "reference") for name in draw(st.sets(st.sampled_from("AB")))]
        summaries += [Summary(id, name, draw(TEXTS)) for name in draw(st.sets(st.sampled_from("A12"), min_size=1))]
    return Study(topics=tuple(topics), summaries=tuple(summaries))


@given(contents())
def test_what_is_written_reads_back(original: Study) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "out.jsonl"
        assert write(original, path) == []
        study, errors, warnings = read(path)
        assert sacrerouge.recognises(path)
    assert (errors, warnings) == ([], [])
    assert study.topics == original.topics
    assert set(study.summaries) == set(original.summaries)
    assert len(study.summaries) == len(original.summaries)


@given(studies())
def test_any_study_keeps_its_texts(original: Study) -> None:
    with tempfile.TemporaryDirectory() as place:
        write(original, Path(place) / "out.jsonl")
        study, errors, _ = read(Path(place) / "out.jsonl")
    assert errors == []
    kept = {(s.topic, s.role, s.system, s.text) for s in original.summaries}
    assert {(s.topic, s.role, s.system, s.text) for s in study.summaries} == kept
    assert [topic.documents for topic in study.topics] == [topic.documents for topic in original.topics]
