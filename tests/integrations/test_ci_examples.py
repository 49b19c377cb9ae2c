"""The examples for continuous integration do what they say: they pass, and they fail with a reason."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "example" / "ci"
MISSES = "The worst summary, flood, misses:\n  - Ten families had to leave their homes\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project"))


def shorten(project: Path) -> None:
    """A new version of the system forgets the families."""
    table = project / "summaries.csv"
    text = table.read_text("utf-8")
    assert ", and ten families fled." in text
    table.write_text(text.replace(", and ten families fled.", "."), "utf-8")


def run(project: Path, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **variables}
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_pytest_example_fails_when_coverage_drops(project: Path) -> None:
    pytest_run = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    quick = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = run(project, *pytest_run, **quick)
    assert done.returncode == 0, done.stdout
    shorten(project)
    done = run(project, *pytest_run, **quick)
    assert done.returncode == 1
    assert f"extent 0.577 is below 0.6. {MISSES}" in done.stdout


def workflow() -> Any:
    return yaml.safe_load((EXAMPLE / "coverage.yml").read_text("utf-8"))


def run_job(project: Path) -> subprocess.CompletedProcess[str]:
    """The job's own commands, each as GitHub runs it, up to the first that fails; this checkout is installed."""
    job = workflow()["jobs"]["coverage"]
    for step in job["steps"]:
        if "run" in step and step["name"] != "Install":
            script = project / "step.sh"
            script.write_text(step["run"], "utf-8")
            done = run(project, "bash", "-e", script, **job["env"])
            if done.returncode:
                break
    return done


def test_the_workflow_has_the_form_that_github_reads() -> None:
    whole = workflow()
    assert set(whole) == {"name", True, "permissions", "jobs"}, "YAML reads the key `on` as true; GitHub does not"
    [job] = whole["jobs"].values()
    assert set(job) == {"runs-on", "env", "steps"}
    for step in job["steps"]:
        assert ("run" in step) != ("uses" in step)
        assert set(step) <= {"name", "run", "uses", "with", "if"}
    [install] = [step["run"] for step in job["steps"] if step.get("name") == "Install"]
    name = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["name"]
    assert install == f"pip install {name}", "another project may have this name"


def test_the_workflow_fails_when_coverage_drops(project: Path) -> None:
    done = run_job(project)
    assert (done.returncode, done.stdout) == (0, "summaries: extent 0.643, bar 0.6\n"), done.stderr
    shorten(project)
    done = run_job(project)
    assert done.returncode == 1
    assert done.stderr == "::error::extent is below 0.6: summaries\n"


def test_the_workflow_shows_why_a_file_cannot_be_scored(project: Path) -> None:
    (project / "summaries.csv").write_text("id,summary\n1,A text.\n", "utf-8")
    done = run_job(project)
    assert done.returncode == 1
    assert '"error":' in done.stdout


@pytest.mark.parametrize("name", ["test_coverage.py", "coverage.yml", "summaries.csv"])
def test_the_page_shows_the_files_as_they_are(name: str) -> None:
    page = (ROOT / "docs" / "howto" / "integrations.md").read_text("utf-8")
    assert f"\n{(EXAMPLE / name).read_text('utf-8')}```\n" in page
