"""Make a release and check it, up to the upload, which is yours: python scripts/release.py [--rehearse]

Builds the source distribution and the wheel into build/release/dist, looks at what is in them, and installs the wheel
into an empty environment of every supported Python on this machine, where it runs the commands a new user would. Then
it writes the release notes and prints the commands that publish. Nothing is uploaded or tagged.

`make release` installs what this needs. Pythons are searched on the path and among those of pyenv and uv; name others
with --python. A missing one is an error unless you say --allow-missing.
"""

from __future__ import annotations

import argparse
import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MOST_MEGABYTES = 300
"""What the core may take on disk, without compiled caches: docs/adr/0027-size-of-the-core.md."""


class NotReadyError(Exception):
    """Something is in the way of a release; the message says what to do about it."""


@dataclass(frozen=True)
class Trial:
    """A command that a new user runs in an empty folder, what it must print, and the file it must leave there."""

    command: tuple[str, ...]
    prints: str
    writes: str = ""


def trials(version: str) -> list[Trial]:
    """What to run in an environment that has only the wheel. `python` is the environment's own."""
    call = "import pyramidion as pyr; print(pyr.score_pairs(['The dam broke.'], ['The dam broke on Monday.'])[0])"
    said = f"^pyramidion {re.escape(version)}$"
    return [
        Trial(("pyramidion", "--version"), said),
        Trial(("pyramidion-eval", "--version"), said),
        Trial(("pyramidion", "demo"), "paraphrase", "pyramidion-demo/report.html"),
        Trial(("python", "-c", call), r"^(0\.\d+|1\.0)$"),
    ]


class Project:
    """What the files of a project say about it before anything is built."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._settings = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
        self.name: str = self._settings["project"]["name"]
        self.version: str = self._settings["project"]["version"]
        self.sources = Path(self._settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"][0])

    @property
    def pythons(self) -> list[str]:
        """The versions of Python that the classifiers promise."""
        named = (c.rpartition(" :: ")[2] for c in self._settings["project"]["classifiers"])
        return [name for name in named if re.fullmatch(r"3\.\d+", name)]

    @property
    def tracked(self) -> set[str]:
        """Every file under version control."""
        return set(_run(["git", "ls-files", "-z"], self.root).split("\0")) - {""}

    @property
    def notes(self) -> str:
        """The top section of the changelog, without its heading."""
        return self._top_section()[1]

    def obstacles(self) -> Iterator[str]:
        """Why this commit cannot be released as it is."""
        if changed := _run(["git", "status", "--porcelain"], self.root).splitlines():
            yield f"{len(changed)} files differ from the last commit, such as {changed[0][3:]}: commit or remove them"
        heading = self._top_section()[0]
        if not re.fullmatch(re.escape(self.version) + r" \(\d{4}-\d\d-\d\d\)", heading):
            yield (
                f"CHANGELOG.md starts with {heading!r}, pyproject.toml has version {self.version}: the top section "
                f"must be '## {self.version} (YYYY-MM-DD)'"
            )
        cited = re.search(r"^version: (.+)$", (self.root / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
        if not cited or cited[1].strip("\"'") != self.version:
            yield f"CITATION.cff has version {cited[1] if cited else '(none)'}, pyproject.toml {self.version}"

    def _top_section(self) -> tuple[str, str]:
        text = (self.root / "CHANGELOG.md").read_text("utf-8")
        section = re.search(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
        if section is None:
            raise NotReadyError("CHANGELOG.md has no section: start one with '## VERSION (DATE)'")
        return section[1].strip(), section[2].strip()


@dataclass(frozen=True)
class Built:
    """The files of a release."""

    sdist: Path
    wheel: Path


def build(project: Project, folder: Path, *, isolated: bool = True) -> Built:
    """Build the source distribution, and from it the wheel; check that the source tree gives the same wheel."""
    command = [sys.executable, "-m", "build", *([] if isolated else ["--no-isolation"])]
    _run([*command, "--outdir", str(folder), "."], project.root)
    built = Built(_only(folder, "*.tar.gz"), _only(folder, "*.whl"))
    with tempfile.TemporaryDirectory() as other:
        _run([*command, "--wheel", "--outdir", other, "."], project.root)
        ours, again = _contents(built.wheel), _contents(_only(Path(other), "*.whl"))
    if different := sorted(name for name in ours.keys() | again.keys() if ours.get(name) != again.get(name)):
        raise NotReadyError(
            f"the source distribution gives another wheel than the source tree does: {_listed(different)}"
        )
    return built


def problems(project: Project, built: Built) -> Iterator[str]:
    """What is wrong with the files: something missing, something that does not belong, or what the index refuses."""
    package = project.sources.name
    parent = project.sources.parent.as_posix()
    wanted = {
        name.removeprefix(f"{parent}/") for name in project.tracked if name.startswith(f"{project.sources.as_posix()}/")
    }
    files = _contents(built.wheel)
    info = f"{re.sub(r'[-_.]+', '_', project.name).lower()}-{project.version}.dist-info/"
    packed = {name for name in files if not name.startswith(info)}
    if missing := sorted(wanted - packed):
        yield f"{built.wheel.name} lacks {_listed(missing)}"
    if foreign := sorted(packed - wanted):
        yield f"{built.wheel.name} holds what is not a file of {package} under version control: {_listed(foreign)}"
    with tarfile.open(built.sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    if foreign := sorted(names - project.tracked - {"PKG-INFO"}):
        yield f"{built.sdist.name} holds what is not under version control: {_listed(foreign)}"
    yield from _metadata_problems(project, files, info)
    check = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", str(built.sdist), str(built.wheel)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"twine check: {done.stdout.strip()} {done.stderr.strip()}"


def _metadata_problems(project: Project, files: Mapping[str, bytes], info: str) -> Iterator[str]:
    about = email.message_from_bytes(files.get(f"{info}METADATA", b""))
    if (about["Name"], about["Version"]) != (project.name, project.version):
        yield f"the wheel calls itself {about['Name']} {about['Version']}, not {project.name} {project.version}"
    if f"\n{project.name} = " not in files.get(f"{info}entry_points.txt", b"").decode():
        yield f"the wheel has no command {project.name}, which `uvx {project.name}` would start"
    for name in about.get_all("License-File", []):
        if f"{info}licenses/{name}" not in files:
            yield f"the wheel lacks the licence file {name}"
    page = about.get_payload()
    if local := re.findall(r"\]\((?!https?://|#)([^)]*)\)", page if isinstance(page, str) else ""):
        yield f"the page on the package index would have links that lead nowhere: {_listed(local)}"


def find_pythons(versions: Iterable[str], named: Sequence[str] = ()) -> dict[str, str]:
    """An interpreter of each version that this machine has; those that were named come first."""
    wanted = list(versions)
    home = Path.home()
    stores = [Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions", home / ".local/share/uv/python"]
    candidates = [*named, *(f"python{version}" for version in wanted)]
    candidates += [str(path) for store in stores for path in sorted(store.glob("*/bin/python3"))]
    found: dict[str, str] = {}
    for candidate in candidates:
        version = _version_of(candidate)
        if version is None and candidate in named:
            raise NotReadyError(f"--python {candidate}: this does not run as a Python interpreter")
        if version in wanted:
            found.setdefault(version, candidate)
    return {version: found[version] for version in wanted if version in found}


def _version_of(python: str) -> str | None:
    question = "import sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", question], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


@dataclass(frozen=True)
class Install:
    """What an empty environment holds after the wheel was installed, in bytes without compiled caches."""

    packages: int
    sizes: Counter[str]

    @property
    def megabytes(self) -> float:
        return self.sizes.total() / 1e6

    def __str__(self) -> str:
        largest = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in self.sizes.most_common(5))
        return f"{self.packages} packages, {self.megabytes:.0f} MB ({largest})"


def install(python: str, wheel: Path, folder: Path) -> Install:
    """Make an empty environment in ``folder`` and install the wheel there as a user would."""
    _run([python, "-m", "venv", "--without-pip", str(folder)], folder.parent)
    inside = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", inside, "--disable-pip-version-check"]
    _run([*pip, "install", "--quiet", "--no-compile", str(wheel)], folder.parent)
    _run([*pip, "check"], folder.parent)
    places = _run([inside, "-c", "import sysconfig as s; print(s.get_path('purelib')); print(s.get_path('platlib'))"])
    sizes: Counter[str] = Counter()
    packages = 0
    for place in sorted({Path(line).resolve() for line in places.splitlines()}):
        packages += len(list(place.glob("*.dist-info")))
        for path in place.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                sizes[path.relative_to(place).parts[0].removesuffix(".libs")] += path.stat().st_size
    return Install(packages, sizes)


def run_trials(folder: Path, wanted: Iterable[Trial]) -> Iterator[str]:
    """Run what a new user runs, in an empty folder and with an empty home; say what went wrong."""
    for trial in wanted:
        with tempfile.TemporaryDirectory() as place:
            home, work = Path(place, "home"), Path(place, "work")
            home.mkdir()
            work.mkdir()
            environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
            command = [str(folder / "bin" / trial.command[0]), *trial.command[1:]]
            done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
            shown = " ".join(trial.command[:2])
            if done.returncode:
                yield f"`{shown}` ended with exit code {done.returncode}: {done.stderr.strip()[-500:]}"
            elif not re.search(trial.prints, done.stdout, re.MULTILINE):
                yield f"`{shown}` printed {done.stdout.strip()[-500:]!r}, which lacks {trial.prints!r}"
            elif trial.writes and not (work / trial.writes).is_file():
                yield f"`{shown}` wrote no {trial.writes}"


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def _only(folder: Path, pattern: str) -> Path:
    files = list(folder.glob(pattern))
    if len(files) != 1:
        raise NotReadyError(f"{folder} should hold one file {pattern}, and holds {len(files)}")
    return files[0]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _run(command: Sequence[str], folder: Path | None = None) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotReadyError(f"`{' '.join(command)}` failed:\n{(done.stdout + done.stderr).strip()[-2000:]}")
    return done.stdout


def _fail_on(found: Iterable[str]) -> None:
    if listed := list(found):
        raise NotReadyError("\n".join(listed))


def release(project: Project, options: argparse.Namespace) -> None:
    obstacles = list(project.obstacles())
    if obstacles and not options.rehearse:
        raise NotReadyError("\n".join(obstacles))
    for obstacle in obstacles:
        print(f"rehearsal: {obstacle}")
    pythons = find_pythons(project.pythons, options.python)
    missing = [version for version in project.pythons if version not in pythons]
    if missing and not options.allow_missing:
        raise NotReadyError(
            f"no Python {', '.join(missing)} on this machine: install it, name it with --python PATH, or go on without "
            "it with --allow-missing"
        )

    folder = project.root / "build" / "release"
    shutil.rmtree(folder, ignore_errors=True)
    built = build(project, folder / "dist")
    _fail_on(problems(project, built))
    for path in (built.sdist, built.wheel):
        print(f"built    {path.relative_to(project.root)}, {path.stat().st_size / 1e6:.1f} MB")
    for version, python in pythons.items():
        with tempfile.TemporaryDirectory() as place:
            environment = Path(place, "environment")
            result = install(python, built.wheel, environment)
            _fail_on(f"Python {version}: {problem}" for problem in run_trials(environment, trials(project.version)))
        print(f"tried    Python {version}: {result}")
        if result.megabytes > MOST_MEGABYTES:
            raise NotReadyError(f"the core takes more than {MOST_MEGABYTES} MB: see docs/adr/0027-size-of-the-core.md")
    for version in missing:
        print(f"NOT TRIED: Python {version}, which the classifiers promise and this machine does not have")

    notes = folder / "notes.md"
    notes.write_text(project.notes + "\n", "utf-8")
    print(f"wrote    {notes.relative_to(project.root)}, the release notes from CHANGELOG.md")
    if obstacles:
        print("This was a rehearsal: see above what is in the way of a release.")
        return
    tag, dist = f"v{project.version}", (folder / "dist").relative_to(project.root)
    print("\nNothing was uploaded. To publish, run:")
    print(f"  git tag --annotate {tag} --cleanup=verbatim --file {notes.relative_to(project.root)}")
    print(f"  git push origin {tag}")
    print(f"  {Path(sys.executable).name} -m twine upload {dist}/*")


def main(arguments: Sequence[str] | None = None) -> int:
    summary, _, details = str(__doc__).partition("\n\n")
    parser: Any = argparse.ArgumentParser(
        description=summary.partition(":")[0] + ".", epilog=details, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rehearse", action="store_true", help="go on with uncommitted changes and an open changelog")
    parser.add_argument("--allow-missing", action="store_true", help="go on without Pythons this machine does not have")
    parser.add_argument("--python", action="append", default=[], metavar="PATH", help="an interpreter; repeatable")
    try:
        release(Project(ROOT), parser.parse_args(arguments))
    except NotReadyError as error:
        print(f"Not released. {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
