"""What a long run has finished, in files: a run that was interrupted continues after it.

`Parts` keeps results that belong to names, such as topics, each in a file of its own; `append_lines` keeps one long
file of JSON Lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pyramidion.errors import UsageError
from pyramidion.formats.files import new_file


def fingerprint(*inputs: object) -> str:
    """The same for the same inputs, and for nothing else."""
    return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


class Parts:
    """Finished parts of a run, each in a file of its own; without a folder nothing is kept.

    A part counts only under the key it was written with, which says what it was made from.
    """

    def __init__(self, folder: Path | None, suffix: str = ".json") -> None:
        self._folder, self._suffix = folder, suffix

    def read(self, name: str, key: str | None = None) -> dict[str, Any]:
        """What is kept; nothing where it was made from something else, if that matters, or cannot be read."""
        try:
            held = json.loads(self._path(name).read_bytes()) if self._folder else {}
            return held if key is None or held["key"] == key else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}

    def write(self, name: str, key: str, content: Mapping[str, Any]) -> None:
        if self._folder is not None:
            with new_file(self._path(name)) as file:
                json.dump({"key": key, **content}, file, ensure_ascii=False)

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}{self._suffix}"


JsonLine = dict[str, Any]


def append_lines(
    target: Path, make: Callable[[int], Iterable[JsonLine]], continues: Callable[[int, JsonLine], bool]
) -> Iterator[JsonLine]:
    """Write lines of JSON as they come. They wait beside the target in ``.part``, which takes its name at the end.

    ``make`` gives the lines after the first so many, which an interrupted run has written; ``continues`` says whether
    the last of those is ours. Yields each new line when it is written.
    """
    part = target.with_name(target.name + ".part")
    done, last = _whole_lines(part) if part.exists() else (0, b"")
    if done and not continues(done, json.loads(last)):
        raise UsageError(f"{part} was written from another file or with other choices; remove it to begin again")
    with part.open("a", buffering=1, encoding="utf-8") as file:  # line by line, also if this process is killed
        for line in make(done):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            yield line
    part.replace(target)


def _whole_lines(part: Path) -> tuple[int, bytes]:
    """How many lines there are, and the last. What was cut off in the middle of a line is taken away."""
    done, end, last = 0, 0, b""
    with part.open("rb") as file:
        for raw in file:
            if raw.endswith(b"\n"):
                done, end, last = done + 1, end + len(raw), raw
    with part.open("ab") as file:
        file.truncate(end)
    return done, last
