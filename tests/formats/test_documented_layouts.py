"""Every layout in the reference has an example of two files, which is read as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion.formats import inspect

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "formats.md"
EACH_ALONE = {
    *("One row per summary", "One column per system"),
    *("One row per answer", "One column per scale", "One row per item"),
}
"""Layouts of one file; the second shows another kind of file."""
REFERENCE, SUMMARY = "The river rose.", "Water came."


def examples() -> dict[tuple[str, str], dict[str, str]]:
    """Files by the format and the layout that they are an example of."""
    found = {}
    for format, section in re.findall(r"^## `([\w-]+)`\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.S | re.M):
        for layout, part in re.findall(r"^### (.*?)\n(.*?)(?=^### |\Z)", section, re.S | re.M):
            files = re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```", part, re.S | re.M)
            found[format, layout] = dict(files)
    return found


LAYOUTS = examples()


def test_all_layouts_have_an_example_of_two_files() -> None:
    assert {format for format, _ in LAYOUTS} >= {"table", "judgments", "folder", "by-system", "lines", "file-names"}
    assert {len(files) for files in LAYOUTS.values()} == {2}
    assert len(LAYOUTS) == 11


@pytest.mark.parametrize(("format", "layout"), LAYOUTS, ids=lambda part: part.replace(" ", "-"))
def test_the_examples_are_read(format: str, layout: str, tmp_path: Path) -> None:
    for name, text in LAYOUTS[format, layout].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    alone = [tmp_path / name for name in LAYOUTS[format, layout]]
    for path in alone if layout in EACH_ALONE else [tmp_path]:
        loaded = inspect(path)
        assert (loaded.format, loaded.errors) == (format, ())
        assert format == "folder" or loaded.recognised.startswith(path.name)
        if format == "judgments":
            assert len(loaded.study.judgments)
            table = pyr.score(loaded.study)
            system = "items" if path.name == "items.csv" else "bart"
            assert table.value(system, table.measures[0]) is not None
        else:
            assert {s.text.strip() for s in loaded.study.references} == {REFERENCE}
            assert {(s.system, s.text.strip()) for s in loaded.study.peers} == {("bart", SUMMARY)}
