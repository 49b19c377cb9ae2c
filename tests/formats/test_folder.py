"""Folders of text files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from tests.strategies import studies

import pyramidion as pyr
from pyramidion.errors import Problems
from pyramidion.formats.plain_texts import FOLDER


@given(studies())
def test_texts_survive_exactly(tmp_path_factory: pytest.TempPathFactory, study: pyr.Study) -> None:
    path = tmp_path_factory.mktemp("folder") / "study"
    FOLDER.write(study, path, Problems())
    problems = Problems()
    back = FOLDER.read(path, problems)
    assert set(back.topics) == set(study.topics)
    assert set(back.summaries) == {replace(summary, source="") for summary in study.summaries}
    assert not problems.errors


def test_what_a_person_writes_by_hand(tmp_path: Path) -> None:
    topic = tmp_path / "topics" / "floods"
    (topic / "references").mkdir(parents=True)
    (topic / "peers").mkdir()
    (topic / "topic.toml").write_text('title = "Floods"\ncolour = "blue"\n')
    (topic / "references" / "anna.txt").write_text("The river rose.")
    (topic / "peers" / "gpt.txt").write_text("Water came.")
    (topic / "peers" / ".DS_Store").write_text("junk")
    problems = Problems()
    study = FOLDER.read(tmp_path, problems)
    assert study.topics == (pyr.Topic("floods", "Floods"),)
    assert study.summaries == (
        pyr.Summary("floods", "anna", "The river rose.", "reference"),
        pyr.Summary("floods", "gpt", "Water came."),
    )
    assert [str(p) for p in problems] == [f"{topic / 'topic.toml'}: unknown key 'colour' is ignored"]


def test_problems_are_named(tmp_path: Path) -> None:
    topic = tmp_path / "topics" / "t"
    topic.mkdir(parents=True)
    (topic / "topic.toml").write_text("title = ")
    problems = Problems()
    FOLDER.read(tmp_path, problems)
    assert [p.where for p in problems.errors] == [str(topic / "topic.toml")]
    assert [p.what for p in problems.warnings] == ["has no references", "has no peers"]
    empty = Problems()
    FOLDER.read(tmp_path / "topics", empty)
    assert "neither a folder 'topics' nor" in str(empty.errors[0])


def test_the_folder_of_a_single_topic_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A teacher has one assignment: references and students, and no reason to make a folder of topics."""
    for place, name in (("references", "model-1"), ("peers", "ann")):
        (tmp_path / "essay" / place).mkdir(parents=True)
        (tmp_path / "essay" / place / f"{name}.txt").write_text(f"By {name}.")
    expected = (pyr.Summary("essay", "model-1", "By model-1.", "reference"), pyr.Summary("essay", "ann", "By ann."))
    assert pyr.load(tmp_path / "essay").summaries == expected
    monkeypatch.chdir(tmp_path / "essay")
    assert pyr.load(".").summaries == expected
