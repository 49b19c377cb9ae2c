"""A report as a folder: the same numbers as in one file, whole or not at all, names that harm nothing."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.test_page import NASTY, parcel, tags_of

import pyramidion as pyr
from pyramidion.report import report_page, write_report_folder
from pyramidion.report.collect import Findings, findings
from pyramidion.report.data import TopicSheet, topic_sheets
from pyramidion.report.folder import page_names, render_topic


@pytest.fixture(scope="module")
def found() -> Findings:
    return findings(pyr.example(), resamples=50)


@pytest.fixture(scope="module")
def folder(found: Findings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report_folder(found, tmp_path_factory.mktemp("reports") / "report").parent


def overview(page: str) -> dict[str, list[dict[str, object]]]:
    held: dict[str, list[dict[str, object]]] = json.loads(parcel(page, "parcel-overview"))
    return held


def test_its_numbers_are_those_of_one_file(found: Findings, folder: Path) -> None:
    page, index = report_page(found), (folder / "index.html").read_text("utf-8")
    topics = [json.loads(parcel(page, f"topic-{place}")) for place in range(len(found.topics))]
    for topic in topics:
        own = (folder / "topics" / f"{topic['id']}.html").read_text("utf-8")
        assert json.loads(parcel(own, "topic")) == topic
    for name in ("scores.csv", "units.csv"):
        assert (folder / name).read_text("utf-8") == parcel(page, f"file-{name}")
    everything = json.loads((folder / "report.json").read_text("utf-8"))
    assert everything["topics"] == topics
    assert everything["scores"] == [[topic["scores"][at] for topic in topics] for at in range(len(found.scored))]
    one, many = overview(page), overview(index)
    pages = [topic.pop("page") for topic in many["topics"]]
    assert pages == [f"{topic.id}.html" for topic in found.topics]
    assert many == one
    # What is markup is the same but for the script's data and how files are downloaded.
    assert parts(index) == parts(page)


def parts(page: str) -> list[str]:
    """The sections that are markup, without the buttons and links of downloads."""
    return [part for part in re.findall(r"<section.*?</section>", page) if "downloads" not in part]


def test_scores_of_a_topic_are_those_of_the_table(found: Findings, folder: Path) -> None:
    table = pyr.score(pyr.example(), "pyramid").per_summary("modified")
    held = json.loads(parcel((folder / "topics" / "drought-plan.html").read_text("utf-8"), "topic"))
    for system, value in zip(found.systems, held["scores"][0], strict=True):
        assert value == pytest.approx(table["drought-plan", system], abs=5e-5)


def test_a_topic_is_rendered_from_its_sheet_alone(found: Findings, folder: Path) -> None:
    sheets = topic_sheets(found, {topic.id: f"{topic.id}.html" for topic in found.topics})
    sheet: TopicSheet = pickle.loads(pickle.dumps(sheets[1]))
    assert render_topic(sheet) == render_topic(sheets[1])
    assert render_topic(sheet).page == (folder / "topics" / sheet.place.page).read_text("utf-8")


def test_pages_load_nothing_and_texts_stay_texts(found: Findings, tmp_path: Path) -> None:
    [first, *rest] = found.topics
    nasty = replace(found, topics=(replace(first, topic=replace(first.topic, id=NASTY, title=NASTY)), *rest))
    index = write_report_folder(nasty, tmp_path / "report")
    pages = [index, *index.parent.glob("topics/*.html")]
    assert len(pages) == 1 + len(found.topics)
    for page in pages:
        text = page.read_text("utf-8")
        assert "<img" not in text
        assert sum(tag == "script" and a.get("type") == "module" for tag, a in tags_of(text)) == 1
        for tag, attributes in tags_of(text):
            assert "src" not in attributes, tag
            assert not [name for name in attributes if name.startswith("on")], tag


@given(
    st.lists(st.text(min_size=1, max_size=150) | st.sampled_from(["a", "A", "CON", "nul", "..", "a/b"]), unique=True)
)
def test_every_topic_has_a_file_of_its_own_on_every_system(ids: list[str]) -> None:
    ids = [id for id in ids if not any("\ud800" <= c <= "\udfff" for c in id)]
    names = page_names(ids)
    assert len({name.casefold() for name in names.values()}) == len(ids)
    for name in names.values():
        assert re.fullmatch(r"[^/\\:*?\"<>|\x00-\x1f]{1,200}\.html", name)
        assert name.split(".")[0].strip().lower() not in {"", "con", "nul", "aux", "prn"}
    assert page_names(ids[::-1]) == names


def test_other_processes_render_the_same_pages(found: Findings, tmp_path: Path) -> None:
    for name, engine in (("here", None), ("there", "processes:2")):
        write_report_folder(found, tmp_path / name, engine=engine)
    here, there = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("here", "there")
    )
    assert here == there


def test_an_older_report_is_replaced_only_by_a_whole_one(found: Findings, tmp_path: Path) -> None:
    target = tmp_path / "report"
    write_report_folder(found, target)
    before = {path: path.read_bytes() for path in target.rglob("*.*")}

    done: list[int] = []

    def interrupted(_topic: int) -> None:
        done.append(1)
        if len(done) == 3:
            raise KeyboardInterrupt

    fewer = replace(found, title="Another", topics=found.topics[:2])
    with pytest.raises(KeyboardInterrupt):
        write_report_folder(replace(fewer, topics=found.topics[:3]), target, advance=interrupted)
    assert {path: path.read_bytes() for path in target.rglob("*.*")} == before
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    write_report_folder(fewer, target)
    assert len(list(target.glob("topics/*.html"))) == 2
    assert "Another" in (target / "index.html").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.parametrize("strange", ["notes.txt", "topics/data.csv", "deeper/index.html", "other/topics/a.html"])
def test_what_is_not_a_report_is_not_replaced(strange: str, found: Findings, tmp_path: Path) -> None:
    write_report_folder(found, tmp_path / "report")
    (tmp_path / "report" / strange).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "report" / strange).write_text("mine")
    with pytest.raises(pyr.UsageError, match="is not replaced: it holds"):
        write_report_folder(found, tmp_path / "report")
    assert (tmp_path / "report" / strange).read_text() == "mine"


def test_somebody_s_own_pages_are_not_replaced(found: Findings, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(pyr.UsageError, match="it is not a folder of a report's pages"):
        write_report_folder(found, tmp_path)
