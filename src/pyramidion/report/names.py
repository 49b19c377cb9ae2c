"""Ids as names of files: harmless on every system, and short enough for it."""

from __future__ import annotations

import hashlib

from pyramidion.formats.files import to_file_name

LONGEST = 120


def file_name(id: str) -> str:
    """An id as a file name; a long one is cut and told apart by a hash."""
    name = to_file_name(id)
    if len(name) <= LONGEST:
        return name
    return f"{name[:LONGEST]}-{hashlib.sha256(id.encode()).hexdigest()[:12]}"
