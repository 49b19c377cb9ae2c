"""Docs are part of the feature: complete, up to date, and every command in the tutorial runs as shown."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyramidion import plugins
from pyramidion.methods import lite, pyramid, rouge

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_generated_reference_is_up_to_date() -> None:
    script = ROOT / "scripts" / "reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_measure_format_and_aggregator_is_documented() -> None:
    measures = read("reference/measures.md")
    for name in [*pyramid.MEASURES, *lite.MEASURES, *rouge.MEASURES, *plugins.names("aggregators")]:
        assert f"`{name}`" in measures
    for name in plugins.names("methods"):
        assert f"## Method `{name}`" in measures
    for name in plugins.names("formats"):
        assert f"## `{name}`" in read("reference/formats.md")


def test_every_public_name_is_documented() -> None:
    import pyramidion as pyr

    page = read("reference/python.md")
    assert not [name for name in pyr.__all__ if f"`{name}" not in page]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_is_broken(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if "://" not in link and not (page.parent / link).exists()]


def test_the_site_builds_without_a_warning_and_can_be_searched(tmp_path: Path) -> None:
    """A broken link or anchor, and a page that no menu leads to, are warnings."""
    build = [sys.executable, ROOT / "scripts" / "site.py", tmp_path / "site"]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    index = (tmp_path / "site" / "searchindex.js").read_text("utf-8")
    pages = [page.relative_to(ROOT).with_suffix("").as_posix() for page in PAGES if page.parent.name != "site"]
    assert not [page for page in pages if f'"{page}"' not in index]


def test_every_decision_is_listed() -> None:
    index = read("adr/README.md")
    assert not [path.name for path in (DOCS / "adr").glob("0*.md") if f"({path.name})" not in index]


def console_steps(text: str) -> list[tuple[str, list[str]]]:
    """Commands of console blocks, each with the output shown below it."""
    steps: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append((line[2:], []))
            else:
                steps[-1][1].append(line.rstrip())
    return steps


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    steps = console_steps(read("tutorial.md"))
    assert len(steps) >= 10
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command, shown in steps:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        printed = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
        assert [line for line in printed if line] == [line for line in shown if line], command


@pytest.mark.parametrize("page", ["tutorial.md", "reference/python.md"])
def test_python_examples_give_what_they_show(page: str) -> None:
    source = read(page).replace("```", "")  # the closing fence would count as expected output
    examples = doctest.DocTestParser().get_doctest(source, {}, page, page, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0
