"""The container file, as far as that can be checked without an engine: its commands run here, on a real server."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from shutil import copy, copytree

import pytest
from tests.server.servers import ENDS_WITHIN, STARTS_WITHIN, free_port, make_study

ROOT = Path(__file__).parents[2]
PORT = "8000"


def instructions() -> list[tuple[str, str]]:
    """The instructions and what they say, comments left out and continued lines joined."""
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    text = re.sub(r"\\\n\s*", " ", "\n".join(line for line in lines if not line.startswith("#")))
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)]


def last(word: str) -> str:
    return [rest for name, rest in instructions() if name == word][-1]


def health_command(port: int) -> list[str]:
    """The health check, by this Python and on another port."""
    command = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    assert command[0] == "python"
    assert command[2].count(PORT) == 1
    return [sys.executable, command[1], command[2].replace(PORT, str(port))]


def health(port: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(health_command(port), capture_output=True, text=True, check=False, timeout=60)


def wait_for(port: int, part: str, code: int) -> None:
    until = time.monotonic() + STARTS_WITHIN
    while (done := health(port)).returncode != code or part not in done.stdout:
        assert time.monotonic() < until, done
        time.sleep(0.1)


def test_the_base_is_one_version_and_the_server_is_no_root() -> None:
    known = instructions()
    assert re.fullmatch(r"PYTHON=3\.\d+\.\d+-slim-\w+", last("ARG"))
    assert {rest.split()[0] for word, rest in known if word == "FROM"} == {"docker.io/library/python:${PYTHON}"}
    words = [word for word, _ in known]
    user = len(words) - 1 - words[::-1].index("USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last("USER"))
    assert not {"RUN", "COPY"} & set(words[user:]), "nothing runs as root after the user was chosen"
    assert f"--uid {last('USER').partition(':')[0]} " in " ".join(rest for word, rest in known if word == "RUN")
    assert last("VOLUME") == last("WORKDIR")
    assert last("EXPOSE") == PORT
    assert last("STOPSIGNAL") == "SIGTERM"


@pytest.mark.server
def test_the_command_serves_is_watched_and_stops_in_order(tmp_path: Path) -> None:
    """The command of the image in the folder of a study, except that it listens where nobody else does."""
    make_study(tmp_path / "study.db").database.close()
    entry, command = json.loads(last("ENTRYPOINT")), json.loads(last("CMD"))
    assert entry == ["pyramidion"]
    assert command[-2:] == ["--host", "0.0.0.0"]
    port = free_port()
    assert health(port).returncode != 0, "nobody answers yet"
    here = [sys.executable, "-m", *entry, *command[:-1], "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(here, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            wait_for(port, '"ready"', 0)
            (tmp_path / "study.db").rename(tmp_path / "away.db")
            wait_for(port, '"lost"', 1)
            (tmp_path / "away.db").rename(tmp_path / "study.db")
            wait_for(port, '"ready"', 0)
            server.send_signal(getattr(signal, last("STOPSIGNAL")))
            assert server.wait(ENDS_WITHIN) == 0
        finally:
            server.kill()
    assert health(port).returncode != 0


@pytest.mark.slow
def test_the_image_is_built_from_what_the_wheel_needs(tmp_path: Path) -> None:
    """The context that .dockerignore leaves gives a wheel with every file of the package."""
    rules = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert rules[0] == "*"
    context = tmp_path / "context"
    context.mkdir()
    for name in (rule[1:] for rule in rules if rule.startswith("!")):
        if (ROOT / name).is_dir():
            copytree(ROOT / name, context / name)
        else:
            copy(ROOT / name, context)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(context)]
    subprocess.run(build, check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        packed = {name for name in archive.namelist() if name.startswith("pyramidion/")}
    sources = ROOT / "src"
    wanted = {p.relative_to(sources).as_posix() for p in sources.rglob("*") if p.is_file()}
    assert packed == {name for name in wanted if "__pycache__" not in name}
