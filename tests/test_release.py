"""The release script on a small project that is really built and installed, and the wheel of this project."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path
from types import ModuleType

import pytest
from readme_renderer.markdown import render

from pyramidion import distribution

ROOT = Path(__file__).parents[1]


def script() -> ModuleType:
    """scripts/ is not a package, so the module is loaded from its file."""
    spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["release"] = module  # where dataclasses look for their annotations
    spec.loader.exec_module(module)
    return module


release = script()

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "small-case"
version = "1.2.0"
description = "A small case."
readme = "README.md"
license = "MIT"
license-files = ["LICENSE"]
classifiers = ["Programming Language :: Python :: 3.11", "Programming Language :: Python :: 3.12"]

[project.scripts]
small-case = "small:main"

[tool.hatch.build.targets.wheel]
packages = ["src/small"]

[tool.hatch.build.targets.sdist]
include = ["src"]
"""
FILES = {
    ".gitignore": "*.log\n",
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0 (2026-01-31)\n\n- A thing.\n\n### More\n\n- Another.\n\n## 1.1\n\n- O.\n",
    "CITATION.cff": "cff-version: 1.2.0\nversion: 1.2.0\n",
    "LICENSE": "Do as you like.\n",
    "README.md": "# Small\n\nA case.\n",
    "pyproject.toml": PYPROJECT,
    "src/small/__init__.py": "def main():\n    open('made.txt', 'w').close()\n    print('small 1.2.0')\n",
    "src/small/words.json": "{}\n",
    "tests/test_small.py": "def test(): pass\n",
}


def git(root: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    root = tmp_path / "small"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(root, "init", "--quiet")
    commit(root)
    return root


def commit(root: Path, *changes: tuple[str, str, str]) -> None:
    for name, old, new in changes:
        path = root / name
        text = path.read_text("utf-8") if path.exists() else ""
        assert old in text
        path.write_text(text.replace(old, new, 1) if old else text + new, "utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "A change")


def found(root: Path, out: Path) -> list[str]:
    project = release.Project(root)
    return list(release.problems(project, release.build(project, out, isolated=False)))


def test_a_project_that_is_ready(small: Path) -> None:
    project = release.Project(small)
    assert list(project.obstacles()) == []
    assert project.pythons == ["3.11", "3.12"]
    assert project.notes == "- A thing.\n\n### More\n\n- Another."


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("CHANGELOG.md", "## 1.2.0 (2026-01-31)", "## Unreleased", "starts with 'Unreleased'.*has version 1.2.0"),
        ("CHANGELOG.md", " (2026-01-31)", "", "must be '## 1.2.0 .YYYY-MM-DD.'"),
        ("CITATION.cff", "\nversion: 1.2.0", "\nversion: 1.1.0", "CITATION.cff has version 1.1.0"),
        ("pyproject.toml", 'version = "1.2.0"', 'version = "1.3.0"', "has version 1.3.0"),
    ],
)
def test_versions_that_disagree_are_in_the_way(small: Path, name: str, old: str, new: str, message: str) -> None:
    commit(small, (name, old, new))
    assert re.search(message, "\n".join(release.Project(small).obstacles()))


def test_changes_that_were_not_committed_are_in_the_way(small: Path) -> None:
    (small / "src/small/new.py").write_text("")
    (obstacle,) = release.Project(small).obstacles()
    assert "1 files differ from the last commit, such as src/small/new.py" in obstacle


def test_a_changelog_without_a_section_is_refused(small: Path) -> None:
    (small / "CHANGELOG.md").write_text("# Changelog\n")
    with pytest.raises(release.NotReadyError, match="has no section"):
        list(release.Project(small).obstacles())


@pytest.mark.slow
def test_a_whole_wheel_passes_installs_and_runs(small: Path, tmp_path: Path) -> None:
    project = release.Project(small)
    built = release.build(project, tmp_path / "dist", isolated=False)
    assert list(release.problems(project, built)) == []

    environment = tmp_path / "environment"
    result = release.install(sys.executable, built.wheel, environment)
    assert result.packages == 1
    assert set(result.sizes) == {"small", "small_case-1.2.0.dist-info"}
    assert result.sizes["small"] == sum(len(FILES[f"src/small/{name}"]) for name in ("__init__.py", "words.json"))
    trial = release.Trial
    assert list(release.run_trials(environment, [trial(("small-case",), "^small 1.2.0$", "made.txt")])) == []
    wrong = [
        trial(("small-case",), "^small 9"),
        trial(("small-case",), "small", "other.txt"),
        trial(("python", "-c", "import pyramidion"), ""),  # an empty environment sees nothing from around it
    ]
    messages = list(release.run_trials(environment, wrong))
    for message, part in zip(messages, ["lacks '^small 9'", "wrote no other.txt", "No module named"], strict=True):
        assert part in message


@pytest.mark.slow
def test_what_is_wrong_with_a_wheel_is_named(small: Path, tmp_path: Path) -> None:
    commit(
        small,
        ("pyproject.toml", 'packages = ["src/small"]', 'packages = ["src/small", "tests"]\nexclude = ["*.json"]'),
        ("pyproject.toml", 'include = ["src"]', 'include = ["src", "tests"]\nartifacts = ["*.log"]'),
        ("pyproject.toml", "small-case = ", "other = "),
        ("README.md", "A case.", "A [case](docs/case.md)."),
    )
    (small / "src/small/run.log").write_text("ignored by git, and not by the build\n")
    messages = "\n".join(found(small, tmp_path / "dist"))
    assert "lacks small/words.json" in messages
    assert "not a file of small under version control: tests/test_small.py" in messages
    assert "tar.gz holds what is not under version control: src/small/run.log" in messages
    assert "no command small-case" in messages
    assert "lead nowhere: docs/case.md" in messages


@pytest.mark.slow
def test_what_the_package_index_would_refuse_is_named(small: Path, tmp_path: Path) -> None:
    commit(small, ("pyproject.toml", 'readme = "README.md"\n', ""))
    assert "twine check" in "\n".join(found(small, tmp_path / "dist"))


@pytest.mark.slow
def test_a_source_distribution_that_lacks_something_is_refused(small: Path, tmp_path: Path) -> None:
    commit(small, ("pyproject.toml", 'include = ["src"]', 'include = ["src"]\nexclude = ["*.json"]'))
    with pytest.raises(release.NotReadyError, match=r"another wheel.*small/words.json"):
        release.build(release.Project(small), tmp_path / "dist", isolated=False)


def test_pythons_are_known_by_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file called python3.99 that is a Python 3.11 is Python 3.11."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "python3.99").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "python3.99").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert release.find_pythons(["3.98", "3.99"]) == {}
    assert release.find_pythons([here], [sys.executable]) == {here: sys.executable}
    with pytest.raises(release.NotReadyError, match="nothing-here: this does not run"):
        release.find_pythons([here], ["nothing-here"])


def test_a_missing_python_stops_the_release(
    small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(small, ("pyproject.toml", ":: 3.12", ":: 3.99"))
    monkeypatch.setattr(release, "ROOT", small)
    assert release.main([]) == 1
    assert "no Python 3.99 on this machine" in capsys.readouterr().err
    assert not (small / "build").exists()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), "."]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.mark.slow
def test_the_wheel_of_this_project(wheel: Path) -> None:
    assert wheel.name.startswith(f"{distribution.NAME.replace('-', '_')}-")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        info = next(name for name in names if name.endswith("/METADATA"))
        about = message_from_string(archive.read(info).decode())
        commands = archive.read(info.replace("METADATA", "entry_points.txt")).decode()
    sources = ROOT / "src"
    wanted = {p.relative_to(sources).as_posix() for p in sources.rglob("*") if p.is_file()}
    assert {name for name in names if "dist-info" not in name} == {n for n in wanted if "__pycache__" not in n}
    assert about["Name"] == distribution.NAME
    assert about.get_all("License-File") == ["LICENSE", "NOTICE"]
    for command in ("pyramidion", distribution.NAME):
        assert f"\n{command} = pyramidion.cli.main:main" in commands
    page = render(about.get_payload())
    assert page is not None
    assert "pip install pyramidion-eval" in page
    assert not re.findall(r'(?:src|href)="(?!https?://|#)[^"]*"', page), "on the package index such links lead nowhere"


ELSEWHERE = re.compile(
    r"(?:pip3? install|pipx run|pipx install|uvx|uv add|uv pip install)\s[^\n`]*\bpyramidion(?![-\w/.])"
    r"|\bpyramidion\\?\[[a-z]"
)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("pip install pyramidion", True),
        ("pip install --upgrade 'pyramidion'", True),
        ("uvx pyramidion demo", True),
        ("'pyramidion[server]'", True),
        (r"pyramidion\[server\]", True),
        ("pip install 'pyramidion-eval[server]'", False),
        ("uvx pyramidion-eval demo", False),
        ("pip install ./pyramidion/dist", False),
    ],
)
def test_what_counts_as_the_package_of_somebody_else(text: str, wrong: bool) -> None:
    assert bool(ELSEWHERE.search(text)) == wrong


def test_nothing_says_to_install_the_package_of_somebody_else() -> None:
    """The bare name on the package index is an unrelated package."""
    folders = ("src", "docs", "scripts", "example", "benchmarks", "models", "tests")
    kinds = {".py", ".md", ".toml", ".yml", ".yaml", ".html", ".js", ".cff", ".sh", ".txt", ""}
    paths = [p for p in ROOT.iterdir() if p.is_file()] + [p for f in folders for p in (ROOT / f).rglob("*")]
    read = [p for p in paths if p.is_file() and p.suffix in kinds and "node_modules" not in p.parts]
    assert {ROOT / "README.md", ROOT / "docs/reference/install.md", ROOT / "Containerfile"} <= set(read)
    wrong = [p for p in read if not p.samefile(__file__) and ELSEWHERE.search(p.read_text("utf-8", errors="replace"))]
    assert not wrong
