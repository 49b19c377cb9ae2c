"""Every page has a picture, made by one script; every picture is in the docs, with words for whoever cannot see it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "screenshots.py"))


def shown() -> dict[Path, list[str]]:
    """What the docs say of each picture, by its file."""
    found: dict[Path, list[str]] = {}
    for page in PAGES:
        for text, place in IMAGE.findall(page.read_text(encoding="utf-8")):
            found.setdefault((page.parent / place).resolve(), []).append(text)
    return found


def test_every_page_has_a_picture(script: dict[str, Any]) -> None:
    folders = [ROOT / "src" / "pyramidion" / room / "templates" for room in ("report", "server")]
    pages = {path.name for folder in folders for path in folder.glob("*.html")} - set(script["PARTS"])
    assert pages == {template for picture in script["PICTURES"] for template in picture.templates}


def test_pictures_are_there_used_and_described(script: dict[str, Any]) -> None:
    names = [picture.name for picture in script["PICTURES"]]
    assert len(names) == len(set(names))
    assert {path.stem for path in IMAGES.glob("*.png")} == set(names)
    described = shown()
    files = {path.name for path in IMAGES.iterdir() if path.suffix in {".png", ".svg"}}
    assert files <= {path.name for path in described}
    short = [path.name for path, texts in described.items() for text in texts if len(text.split()) < 3]
    assert short == []
    light = {name.removesuffix("-dark") for name in names if name.endswith("-dark")}
    assert light >= {"report", "check", "feedback", "worker-judge", "manage-campaign", "annotate-pyramid"}


def test_pictures_stay_small() -> None:
    assert sum(path.stat().st_size for path in IMAGES.iterdir()) < 3_000_000


def test_everybody_finds_their_first_page() -> None:
    start = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    first = dict(re.findall(r"^\*\*An? (\w+)\*\*[^\[]*\[[^\]]+\]\(([^)]+)\)", start, re.MULTILINE))
    assert set(first) == {"researcher", "organiser", "annotator", "teacher"}
    assert all((ROOT / "docs" / place).is_file() for place in first.values())
