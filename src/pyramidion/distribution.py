"""What this package is called where it is installed from: not `pyramidion`, which is somebody else's on PyPI."""

from __future__ import annotations

from functools import cache
from importlib import metadata

NAME = "pyramidion-eval"
"""The distribution. The package to import and the command are `pyramidion`; a command of this name does the same."""


@cache  # looking into installed packages takes milliseconds
def version() -> str:
    """The installed version, or "unknown" in a source tree that was never installed."""
    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        return "unknown"


def install_command(extra: str) -> str:
    """What a user types to add an optional part."""
    return f"pip install '{NAME}[{extra}]'"
