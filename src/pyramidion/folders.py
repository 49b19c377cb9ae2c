"""Where this package keeps what can be made or asked for again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The user's cache folder for this package; it need not exist."""
    folder = os.environ.get("XDG_CACHE_HOME")
    return (Path(folder) if folder else Path("~/.cache").expanduser()) / "pyramidion"
