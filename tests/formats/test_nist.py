from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.errors import Problems
from pyramidion.formats import lite23, nist
from pyramidion.formats.plain_texts import FOLDER
from pyramidion.study import Study, Summary, Topic

SEE = """<html>
<head><title>D0601.M.250.A.9</title></head>
<body bgcolor="white">
<a size="11" name="1">[1]</a> <a href="#1" id=1>Rain &amp; wind
hit Port&nbsp;Ambry.</a>
<a size="13" name="2">[2]</a> <a href="#2" id=2>See [2] &lt;b&gt; &eacute;t&#233;.</a>
</body>
</html>
"""


def make(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    return root


def read(path: Path) -> tuple[Study, list[str], list[str]]:
    problems = Problems()
    study = nist.read(path, problems)
    return study, [str(p) for p in problems.errors], [str(p) for p in problems.warnings]


def test_models_are_references_and_peers_are_peers(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            "models/D0602.M.250.B.C": "By a person.\r\n",
            "models/D0601.M.250.A.A.txt": "Another.",
            "peers/D0601.M.250.A.09": " padded\n",
            "peers/D0601.M.250.A.C": "A person scored like a system.",
            "peers/D0801-A.M.100.A.12.spl": "\ufeffUpdate.",
        },
    )
    study, errors, warnings = read(tmp_path)
    assert (errors, warnings) == ([], [])
    assert [problem.what for problem in study.problems()] == [
        "1 of 2 topics have no reference or only an empty one: D0801-A"
    ]
    assert study == Study(
        topics=(Topic("D0601"), Topic("D0602"), Topic("D0801-A")),
        summaries=(
            Summary("D0601", "A", "Another.", "reference", source="D0601.M.250.A.A.txt"),
            Summary("D0602", "C", "By a person.\r\n", "reference", source="D0602.M.250.B.C"),
            Summary("D0601", "9", " padded\n", source="D0601.M.250.A.09"),
            Summary("D0601", "C", "A person scored like a system.", source="D0601.M.250.A.C"),
            Summary("D0801-A", "12", "Update.", source="D0801-A.M.100.A.12.spl"),
        ),
    )


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (SEE, "Rain & wind hit Port Ambry.\nSee [2] <b> été."),
        ("<HTML><BODY>\n<A NAME='1'>[1]</A> <A HREF='#1'>One.</A>\n<A NAME='2'>[2]</A> <A>Two.", "One.\nTwo."),
        ("<!DOCTYPE html>\n<html><head><title>t</title><body><p>One.<p>Two &eacute;<br>3", "One.\nTwo é\n3"),
        ("<body><a name=x>A named sentence.</a></body>", "A named sentence."),
        ("<html><title>only a title</title></html>", ""),
    ],
)
def test_html_becomes_one_sentence_a_line(tmp_path: Path, html: str, text: str) -> None:
    make(tmp_path, {"peers/D0601.M.250.A.9.html": html})
    study, errors, warnings = read(tmp_path)
    assert (errors, warnings) == ([], [])
    assert study.peers[0].text == text


@pytest.mark.parametrize("text", ["a <body> of water", "<3 this", "x < y", "<b>bold</b>"])
def test_other_text_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    make(tmp_path, {"peers/D0601.M.250.A.9": text})
    assert read(tmp_path)[0].peers[0].text == text


def test_old_encodings_are_read_with_a_warning(tmp_path: Path) -> None:
    make(tmp_path, {"models/D0601.M.250.A.A": b"one\ncaf\xe9\n"})
    study, errors, warnings = read(tmp_path)
    assert errors == []
    assert study.references[0].text == "one\ncafé\n"
    file = tmp_path / "models" / "D0601.M.250.A.A"
    assert warnings == [f"{file}: line 2: byte 0xe9 is not UTF-8; the file is read as Latin-1"]


def test_other_names_are_ignored_with_a_warning_each(tmp_path: Path) -> None:
    names = ["README", "D0601.M.250.A", "D0601.M.long.A.9", "D0601.M.250.A.9.pan", "D3.P.100.T.1.APW1.0240"]
    make(tmp_path, {**{f"Peers/{name}": "x" for name in names}, "Peers/D0601.M.250.A.9": "x", "Peers/.hidden": "x"})
    make(tmp_path, {"Peers/D0602.M.250.A.9/inner": "x"})
    study, errors, warnings = read(tmp_path)
    assert errors == []
    assert [summary.system for summary in study.summaries] == ["9"]
    ignored = sorted([*names, "D0602.M.250.A.9"])
    assert warnings == [
        f"{tmp_path / 'Peers' / name}: is ignored: its name is not of the form topic.type.length.selector.id"
        for name in ignored
    ]


def test_two_files_of_one_summary_are_an_error(tmp_path: Path) -> None:
    make(tmp_path, {"peers/D0601.M.250.A.09": "x", "peers/D0601.M.250.A.9": "y"})
    study, errors, _ = read(tmp_path)
    assert errors == [f"{tmp_path}/peers/D0601.M.250.A.9: is the same peer of the same topic as D0601.M.250.A.09"]
    assert [summary.text for summary in study.summaries] == ["x"]


def test_a_folder_without_summaries_is_an_error(tmp_path: Path) -> None:
    assert read(tmp_path)[1] == [f"{tmp_path}: has no folder 'peers' or 'models'"]
    assert read(tmp_path / "nowhere")[1] == [f"{tmp_path / 'nowhere'}: has no folder 'peers' or 'models'"]
    make(tmp_path, {"peers/x": ""})
    assert read(tmp_path)[1] == [f"{tmp_path}: has no file named topic.type.length.selector.id"]


def test_recognised_by_well_named_files_only(tmp_path: Path) -> None:
    assert nist.recognises(make(tmp_path / "upper", {"MODELS/D0601.M.250.A.A": "x"}))
    assert nist.recognises(make(tmp_path / "mixed", {"peers/README": "x", "peers/D0601.M.250.A.9.txt": "x"}))
    assert not nist.recognises(make(tmp_path / "badly", {"peers/system.txt": "x"}))
    plain = make(tmp_path / "plain", {"topics/t/peers/s.txt": "x", "peers/D0601.M.250.A.9": "x"})
    assert not nist.recognises(plain)
    assert FOLDER.recognises(plain)
    assert not nist.recognises(make(tmp_path / "lite", {"SCUs.txt": "", "references.txt": ""}))
    assert not lite23.recognises(tmp_path / "upper")
    assert not nist.recognises(tmp_path / "upper" / "MODELS" / "D0601.M.250.A.A")
    assert not nist.recognises(tmp_path / "nowhere")


def test_it_is_read_only() -> None:
    assert nist.FORMAT.write is None


PARTS = st.text(st.characters(codec="utf-8", exclude_characters="."), min_size=1, max_size=5)


@given(PARTS, PARTS, PARTS.filter(lambda id: not id.isdigit()), st.sampled_from(["", ".txt", ".HTML", ".spl"]))
def test_names_are_taken_apart(topic: str, selector: str, id: str, suffix: str) -> None:
    assert nist.parse_name(f"{topic}.M.250.{selector}.{id}{suffix}") == (topic, id)


@pytest.mark.parametrize(
    ("id", "system"), [("9", "9"), ("009", "9"), ("0", "0"), ("00", "0"), ("C", "C"), ("0A", "0A")]
)
def test_only_numbers_lose_their_padding(id: str, system: str) -> None:
    assert nist.parse_name(f"D0601.M.250.A.{id}") == ("D0601", system)
