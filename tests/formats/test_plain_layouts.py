"""Texts as people have them besides topic folders: a folder for each system, or a line for each topic."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.errors import InputError, UsageError
from pyramidion.formats import inspect


def put(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        file = folder / f"{name.replace('__', '/')}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return folder


def held(study: pyr.Study) -> dict[tuple[str, str, str], str]:
    return {(s.role, s.topic, s.system): s.text for s in study.summaries}


def test_a_folder_for_each_system(tmp_path: Path) -> None:
    put(tmp_path, references__floods="The river rose.", references__storm="Wind blew.")
    put(tmp_path, mine__floods="Water came.", mine__storm="It blew.", other__floods="Rain.")
    loaded = inspect(tmp_path)
    assert (loaded.format, loaded.problems) == ("by-system", ())
    assert [topic.id for topic in loaded.study.topics] == ["floods", "storm"]
    assert held(loaded.study) == {
        ("reference", "floods", "reference"): "The river rose.",
        ("reference", "storm", "reference"): "Wind blew.",
        ("peer", "floods", "mine"): "Water came.",
        ("peer", "storm", "mine"): "It blew.",
        ("peer", "floods", "other"): "Rain.",
    }


def test_several_authors_have_a_folder_each(tmp_path: Path) -> None:
    put(tmp_path, references__anna__floods="The river rose.", references__ben__floods="A flood.", mine__floods="Water.")
    assert set(held(pyr.load(tmp_path))) == {
        ("reference", "floods", "anna"),
        ("reference", "floods", "ben"),
        ("peer", "floods", "mine"),
    }


def test_what_has_no_reference_and_what_holds_nothing_is_told(tmp_path: Path) -> None:
    put(tmp_path, references__floods="The river rose.", mine__floods="Water.", mine__quake="It shook.")
    (tmp_path / "empty").mkdir()
    told = [str(problem) for problem in inspect(tmp_path).problems]
    assert any(str(tmp_path / "mine") in line and "topic quake, which has no reference" in line for line in told)
    assert any(str(tmp_path / "empty") in line and "no .txt file" in line for line in told)


def test_documents_are_no_system_and_no_text_goes_missing_silently(tmp_path: Path) -> None:
    put(tmp_path, references__floods="The river rose.", mine__floods="Water.", documents__floods="A long story.")
    put(tmp_path, other__deeper__floods="Rain.")
    loaded = inspect(tmp_path)
    assert loaded.study.systems == ("mine",)
    assert loaded.study.topics[0].documents[0].text == "A long story."
    assert ["other" in str(problem) for problem in loaded.problems] == [True]


def test_folders_without_texts_are_nothing_of_ours(tmp_path: Path) -> None:
    for name in ("references", "mine"):
        (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match="in no known format"):
        pyr.load(tmp_path)


@pytest.mark.parametrize("also", ["peers", "documents"])
def test_a_single_topic_is_not_taken_for_systems(tmp_path: Path, also: str) -> None:
    put(tmp_path, references__anna="The river rose.", **{f"{also}__mine": "Water."})
    assert inspect(tmp_path).format == "folder"


def test_a_line_for_each_topic(tmp_path: Path) -> None:
    put(tmp_path, references="The river rose.\nWind blew.\n", mine="Water came.\n\n", other="Rain.\r\nIt blew.")
    loaded = inspect(tmp_path)
    assert loaded.format == "lines"
    assert [topic.id for topic in loaded.study.topics] == ["1", "2"]
    assert held(loaded.study) == {
        ("reference", "1", "reference"): "The river rose.",
        ("reference", "2", "reference"): "Wind blew.",
        ("peer", "1", "mine"): "Water came.",
        ("peer", "2", "mine"): "",
        ("peer", "1", "other"): "Rain.",
        ("peer", "2", "other"): "It blew.",
    }


def test_numbers_of_lines_sort_as_they_stand(tmp_path: Path) -> None:
    put(tmp_path, references="Rain.\n" * 12, mine="Wind.\n" * 12)
    ids = [topic.id for topic in pyr.load(tmp_path).topics]
    assert (ids[0], ids[-1]) == ("01", "12")
    assert ids == sorted(ids)


def test_lines_may_have_authors_ids_and_documents(tmp_path: Path) -> None:
    put(tmp_path, ids="floods\nstorm", documents="Long story.\nLonger story.", mine="Water.\nIt blew.")
    for author in ("anna", "ben"):
        (tmp_path / f"references.{author}.txt").write_text("The river rose.\nWind blew.\n")
    study = pyr.load(tmp_path)
    assert [(topic.id, topic.documents[0].text) for topic in study.topics] == [
        ("floods", "Long story."),
        ("storm", "Longer story."),
    ]
    assert {s.system for s in study.references} == {"anna", "ben"}
    assert {s.system for s in study.peers} == {"mine"}


def test_a_file_with_too_few_lines_is_an_error_that_names_both(tmp_path: Path) -> None:
    put(tmp_path, references="The river rose.\nWind blew.\n", mine="Water came.\n")
    with pytest.raises(InputError, match=r"mine\.txt: has 1 lines, but references\.txt has 2"):
        pyr.load(tmp_path)


@pytest.mark.parametrize("format", ["lines", "by-system"])
def test_a_folder_without_references_says_what_is_missing(tmp_path: Path, format: str) -> None:
    put(tmp_path, mine="Water came.", sub__mine="Water.")
    with pytest.raises(InputError, match="references"):
        pyr.load(tmp_path, format=format)
    with pytest.raises(UsageError, match=r"references\.txt and <system>\.txt"):
        pyr.load(tmp_path)


@pytest.mark.parametrize("layout", ["folder", "by-system", "lines"])
def test_a_text_that_cannot_be_read_is_missing_and_not_0(tmp_path: Path, layout: str) -> None:
    good, bad = b"The storm closed the harbour.", "The storm closed the harbour.".encode("utf-16")
    longer = b"The storm closed the harbour. Ships waited."  # seven words, of which a peer has five
    files = {
        "folder": {f"topics/{t}/peers/{p}.txt": good for t in ("t1", "t2") for p in ("s", "z")}
        | {f"topics/{t}/references/A.txt": longer for t in ("t1", "t2")}
        | {"topics/t1/peers/s.txt": bad},
        "by-system": {f"{p}/{t}.txt": good for t in ("t1", "t2") for p in ("s", "z")}
        | {f"references/{t}.txt": longer for t in ("t1", "t2")}
        | {"s/t1.txt": bad},
        "lines": {"references.txt": longer + b"\n" + longer + b"\n", "z.txt": good + b"\n" + good + b"\n"}
        | {"s.txt": b"\xff\xfe\n" + good + b"\n", "ids.txt": b"t1\nt2\n"},
    }[layout]
    for name, raw in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(raw)
    with pytest.raises(pyr.InputError, match="is not UTF-8"):
        pyr.load(tmp_path)
    table = pyr.score(pyr.load(tmp_path, lenient=True), "rouge", measures=["rouge-1-recall"])
    assert table.per_summary("rouge-1-recall") == pytest.approx(
        dict.fromkeys([("t1", "z"), ("t2", "s"), ("t2", "z")], 5 / 7)
    )
    assert table.value("s", "rouge-1-recall") == pytest.approx(5 / 7)
    notes = [str(note) for note in table.notes]
    assert any("is not UTF-8" in note for note in notes)
    assert "topic t1: not scored, no summary: s" in notes


def test_both_layouts_are_scored_alike(tmp_path: Path, example: pyr.Study) -> None:
    """Three ways to lay down the same texts of one author, one score."""
    kept = [s for s in example.summaries if s.role == "peer" or s.system == "A"]
    by_system, lines = tmp_path / "by-system", tmp_path / "lines"
    for s in kept:
        put(by_system / ("references" if s.role == "reference" else s.system), **{s.topic: s.text})
    topics = sorted({s.topic for s in kept})
    for system in {s.system for s in kept}:
        texts = {s.topic: " ".join(s.text.split()) for s in kept if s.system == system}
        put(lines, **{"references" if system == "A" else system: "\n".join(texts[topic] for topic in topics)})
    first, second = (pyr.score(pyr.load(path), "rouge").per_system("rouge-2-recall") for path in (by_system, lines))
    assert first == pytest.approx(second)
    assert set(first) == {s.system for s in kept if s.role == "peer"}


@pytest.mark.parametrize("name", ["gold", "targets", "target", "reference", "human", "model"])
def test_what_references_may_be_called(tmp_path: Path, name: str) -> None:
    put(tmp_path / "a", **{f"{name}__floods": "The river rose.", "mine__floods": "Water."})
    put(tmp_path / "b", **{name: "The river rose.", "mine": "Water."})
    for path, format in ((tmp_path / "a", "by-system"), (tmp_path / "b", "lines")):
        loaded = inspect(path)
        assert (loaded.format, loaded.problems) == (format, ())
        assert f"references from {name}" in loaded.recognised
        assert [s.text for s in loaded.study.references] == ["The river rose."]
        assert loaded.study.systems == ("mine",)


def test_beside_references_a_model_is_a_system(tmp_path: Path) -> None:
    put(tmp_path, gold__floods="The river rose.", model__floods="Water.")
    assert pyr.load(tmp_path).systems == ("model",)


def test_lines_as_fairseq_names_them(tmp_path: Path) -> None:
    for name, text in {
        "test.target": "One.\nTwo.\n",
        "test.source": "Long.\nLonger.\n",
        "bart.hypo": "A.\nB.\n",
    }.items():
        (tmp_path / name).write_text(text)
    study = pyr.load(tmp_path)
    assert set(held(study)) == {
        *(("reference", topic, "reference") for topic in "12"),
        *(("peer", topic, "bart") for topic in "12"),
    }
    assert [topic.documents[0].text for topic in study.topics] == ["Long.", "Longer."]


def test_names_of_files_with_underscores_of_their_own(tmp_path: Path) -> None:
    put(tmp_path, cnn_1_reference="One.", cnn_1_bart_large="A.", cnn_1_t5="B.", cnn_12_ref_2="Two.", cnn_12_t5="C.")
    loaded = inspect(tmp_path)
    assert (loaded.format, loaded.problems) == ("file-names", ())
    assert set(held(loaded.study)) == {
        ("reference", "cnn_1", "reference"),
        ("reference", "cnn_12", "2"),
        ("peer", "cnn_1", "bart_large"),
        ("peer", "cnn_1", "t5"),
        ("peer", "cnn_12", "t5"),
    }


@pytest.mark.parametrize("layout", ["folder", "by-system", "lines", "file-names"])
def test_marks_of_sentences_are_boundaries_in_every_layout(tmp_path: Path, layout: str) -> None:
    marked = "<t> The river rose . </t> <t> People left . </t>"
    paths = {
        "folder": {"references__a": marked, "peers__mine": "Water."},
        "by-system": {"references__floods": marked, "mine__floods": "Water."},
        "lines": {"references": marked, "mine": "Water."},
        "file-names": {"floods_reference": marked, "floods_mine": "Water."},
    }[layout]
    loaded = inspect(put(tmp_path, **paths))
    assert loaded.format == layout
    assert [s.text for s in loaded.study.references] == ["The river rose .\nPeople left ."]
