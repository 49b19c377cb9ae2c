"""Docs are part of the feature: complete, up to date, and every command in the tutorials runs as shown."""

from __future__ import annotations

import doctest
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pyramidion import plugins
from pyramidion.scoring import lite, pyramid, rouge

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])


def read(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.slow
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


@pytest.mark.slow
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


@dataclass
class Step:
    """Something a reader does: saves a file, or types a command and sees what is printed."""

    command: str = ""
    shown: str = ""
    file: str = ""
    text: str = ""


def steps(page: str) -> Iterator[Step]:
    """The steps of a page, in order: commands of console blocks with the output below each, and blocks of code whose
    first line is a comment with a file's name. In the output, ``...`` stands for anything, also for several lines.
    """
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", page, re.DOTALL | re.MULTILINE):
        if language == "console":
            for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield Step(command, shown)
        elif named := re.match(r"# ([\w-]+\.\w+)\n", block):
            yield Step(file=named[1], text=block)


FINE = re.compile(r"\d+\.\d{4}\b")


def same(shown: str, printed: str) -> bool:
    """Blank lines and spaces at the end of lines are the terminal's business. The fourth decimal is the processor's:
    the encoder rounds sums whose last bits depend on it."""
    wanted, got = ("\n".join(filter(None, map(str.rstrip, text.splitlines()))) for text in (shown, printed))
    pattern = r"(\d+\.\d{4})".join(map(re.escape, FINE.split(wanted))).replace(re.escape("..."), ".*?")
    found = re.fullmatch(pattern, got, re.DOTALL)
    fine = [float(number) for number in FINE.findall(wanted)]
    return found is not None and [float(number) for number in found.groups()] == pytest.approx(fine, rel=5e-4, abs=2e-4)


def test_what_counts_as_the_same_output() -> None:
    assert same("a  \n\n...\nd\n", "a\nb 1\nc\n\nd")
    assert same("took ... s", "took 0.31 s")
    assert not same("a\nd", "a\nb\nd")
    assert not same("a\n...\nd", "a\nb\ne")
    assert same("x 0.5285 16.9245 0.90", "x 0.5286 16.9259 0.90")
    assert not same("x 0.5285", "x 0.5289")
    assert not same("x 0.90", "x 0.91")


TUTORIALS = sorted(page for page in (DOCS / "tutorials").glob("*.md") if page.stem != "tour")  # which is in pictures


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_print_what_they_show(page: Path, tmp_path: Path) -> None:
    todo = list(steps(page.read_text(encoding="utf-8")))
    assert sum(bool(step.command) for step in todo) >= 5
    follow(todo, tmp_path)


@pytest.mark.slow
def test_other_tools_print_what_the_page_about_them_shows(tmp_path: Path) -> None:
    todo = list(steps(read("howto/integrations.md")))
    assert sum(bool(step.command) for step in todo) >= 3
    follow(todo, tmp_path, TRANSFORMERS_NO_ADVISORY_WARNINGS="1", XDG_DATA_HOME=str(tmp_path / "data"))


# What a slow machine adds: how far long work is, and how long it took.
WAITED = re.compile(r"^.*: (?:.* so far.*|done in .*)\n", re.MULTILINE)


def follow(todo: Iterable[Step], tmp_path: Path, **variables: str) -> None:
    """Take the steps of a page in an empty folder, at somebody's whose home is empty too."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path / "home"),
        **variables,
    }
    place = tmp_path / "work"
    place.mkdir()
    for step in todo:
        if step.file:
            (place / step.file).write_text(step.text, encoding="utf-8")
            continue
        done = subprocess.run(
            step.command, shell=True, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{step.command}\n{done.stderr}"
        printed = done.stdout + WAITED.sub("", done.stderr)
        assert same(step.shown, printed), f"$ {step.command}\n{printed}"


@pytest.mark.parametrize("page", ["tutorials/first.md", "tutorials/ranking.md", "reference/python.md"])
def test_python_examples_give_what_they_show(page: str) -> None:
    source = read(page).replace("```", "")  # the closing fence would count as expected output
    examples = doctest.DocTestParser().get_doctest(source, {}, page, page, 0)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_the_first_screen_of_the_readme_works(tmp_path: Path) -> None:
    """The one line of Python, and the one command on a table with the columns it names."""
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    imported, call, shown = re.search(r"```python\n(import .*)\n\n(list\(.*\))  # (.*)\n```", page).groups()  # type: ignore[union-attr]
    names: dict[str, object] = {}
    exec(imported, names)
    assert eval(call, names) == eval(shown)
    command, columns = re.search(r"\$ (pyramidion auto score summaries\.csv) +# columns ([\w, ]+);", page).groups()  # type: ignore[union-attr]
    rows = [columns.replace(" ", ""), "floods,bart,The Aller rose.,The river Aller rose."]
    (tmp_path / "summaries.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", *command.split()], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "bart" in done.stdout
    assert "coverage" in done.stdout


def test_the_map_names_what_exists() -> None:
    """Every dotted name on the page about the architecture can be imported."""
    rooms = {path.stem for path in (ROOT / "src" / "pyramidion").iterdir()}
    names = re.findall(r"`([a-z_]+(?:\.\w+)+)`", read("explanation/architecture.md"))
    known = [name for name in names if name.split(".")[0] in rooms]
    assert len(known) > 30
    assert not [name for name in known if not _importable(f"pyramidion.{name}")]


def test_the_map_names_every_room() -> None:
    mapped = re.findall(r"^  (\w+)(?:/|\.py) ", read("explanation/architecture.md"), re.MULTILINE)
    parts = [path for path in (ROOT / "src" / "pyramidion").iterdir() if path.is_dir() or path.suffix == ".py"]
    assert sorted(mapped) == sorted(path.stem for path in parts if path.name != "__pycache__")


def _importable(name: str) -> bool:
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_the_picture_of_the_rooms_is_up_to_date() -> None:
    script = ROOT / "scripts" / "rooms.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
