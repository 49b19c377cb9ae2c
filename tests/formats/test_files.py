"""Hostile files in, whole files out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyramidion.errors import Problems, UsageError
from pyramidion.formats import files
from pyramidion.formats.files import (
    from_file_name,
    new_file,
    new_folder,
    plain_cell,
    read_lines,
    read_rows,
    safe_cell,
    to_file_name,
)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "scores.csv"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), new_file(target) as file:
        file.write(f"half of the ne{1 / 0}")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["scores.csv"]


def test_a_failed_folder_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), new_folder(tmp_path / "out") as folder:
        folder.write_text("a folder is no file")
    assert list(tmp_path.iterdir()) == []


def test_a_full_folder_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "keep.txt").write_text("mine")
    with pytest.raises(UsageError, match="already exists"), new_folder(tmp_path):
        pass
    assert (tmp_path / "keep.txt").read_text() == "mine"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30))
def test_file_names_turn_back(id: str) -> None:
    name = to_file_name(id)
    assert from_file_name(name) == id
    assert "/" not in name
    assert name not in {".", ".."}
    assert not name.startswith(".")


@given(st.text(max_size=20))
def test_safe_cells_turn_back_and_never_start_a_formula(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text
    assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))


DISGUISED = (
    "\uff1d1+1",
    "\ufe66x",
    "\uff0bx",
    "\uff0dx",
    "\uff20x",
    "\u200b=1",
    "\ufeff\u00a0@x",
    "\ufe0f+1",
    "\u2212x",
)
INVISIBLE = ("\u3164=1", "\n=1", " =1", "\u202e=1", "\u200b\tx", "\u2060'=1")


@pytest.mark.parametrize("text", DISGUISED + INVISIBLE)
def test_disguised_formulas_are_guarded_and_turn_back(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert plain_cell(safe_cell(text)) == text


@pytest.mark.parametrize("text", ["\u200bplain", "\u00e9t\u00e9", "'quoted", "\u6f22", "1=1", ""])
def test_harmless_cells_stay_as_they_are(text: str) -> None:
    assert safe_cell(text) == text
    assert plain_cell(text) == text


def test_long_lines_are_reported_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 1000)
    path = tmp_path / "x.jsonl"
    path.write_text("first\n" + "x" * 5000 + "\nthird\n")
    problems = Problems()
    assert list(read_lines(path, problems)) == [(1, "first"), (3, "third")]
    assert [p.where for p in problems] == [f"{path}, line 2"]


def test_bad_bytes_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes("\ufeffgood ü\n".encode() + "latin ü\n".encode("latin-1") + b"good")
    problems = Problems()
    assert list(read_lines(path, problems)) == [(1, "good ü"), (3, "good")]
    assert [str(p) for p in problems] == [f"{path}, line 2: byte 0xfc is not UTF-8; save the file as UTF-8"]
    assert files.read_every_line(path, Problems()) == ["good ü", None, "good"]
    assert files.read_text(path, problems := Problems()) is None
    assert [str(p) for p in problems] == [f"{path}: line 2: byte 0xfc is not UTF-8; save the file as UTF-8"]


def test_rows_with_bad_bytes_are_left_out_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b'a,b\n1,"two\nl\xefnes"\n3,4\n5,\xe9\n6,7\n')
    problems = Problems()
    assert [row for _, row in read_rows(path, problems)] == [{"a": "3", "b": "4"}, {"a": "6", "b": "7"}]
    assert [p.where for p in problems.errors] == [f"{path}, line 3", f"{path}, line 5"]
    assert [str(p) for p in problems.warnings] == [f"{path}: 2 of 4 rows cannot be read and are left out"]


def test_a_line_too_long_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 1000)
    path = tmp_path / "x.txt"
    path.write_text("first\n" + "x" * 5000 + "\nthird\r\n")
    assert files.read_every_line(path, Problems()) == ["first", None, "third"]


def test_rows_with_missing_cells_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('a,b\n1,"two\nlines"\n3\n4,5\n')
    problems = Problems()
    assert [row for _, row in read_rows(path, problems)] == [{"a": "1", "b": "two\nlines"}, {"a": "4", "b": "5"}]
    assert [str(p) for p in problems] == [
        f"{path}, line 4: has 1 cells, but the header has 2",
        f"{path}: 1 of 3 rows cannot be read and are left out",
    ]
