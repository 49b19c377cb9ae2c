"""`pyramidion cache`."""

from __future__ import annotations

from typing import Annotated

import typer

from pyramidion.cli.options import Printing, grouped
from pyramidion.cli.output import counted
from pyramidion.errors import UsageError
from pyramidion.terminal import TerminalTable


@grouped
def cache(
    empty: Annotated[
        bool, typer.Option("--empty", help="Remove the encodings. Replies of chat models stay: they were paid for.")
    ] = False,
    *,
    printing: Printing,
) -> None:
    """Show what is kept on disk between runs: encodings of sentences and replies of chat models.

    PYRAMIDION_ENCODINGS_MB sets how much the encodings may take, in megabytes (500 by default); 0 keeps none.
    """
    from pyramidion.encoder.encodings import EncodingCache, encodings_file, megabytes
    from pyramidion.remote.replies import default_cache

    output, most = printing.out, megabytes()
    file, replies = encodings_file(), default_cache()
    held = EncodingCache(file, most * 1_000_000)
    before = held.content()
    if empty:
        held.empty()
    after = held.content()
    if empty and after.entries:
        raise UsageError(f"{file} could not be emptied; end the programs that use it, or delete the file")
    size = replies.stat().st_size if replies.exists() else 0
    output.result(
        {
            "encodings": {"file": str(file), "bytes": after.size, "entries": after.entries, "most_megabytes": most},
            "replies": {"file": str(replies), "bytes": size},
            **({"removed": before.entries} if empty else {}),
        }
    )
    if empty:
        output.say(f"Removed {counted(before.entries, 'encodings')}.")
    limit = f"at most {most:,} MB" if most else "off"
    rows = [
        ("encodings", _megabytes(after.size), f"{after.entries:,} entries, {limit}", str(file)),
        ("replies of chat models", _megabytes(size), "", str(replies)),
    ]
    output.show(TerminalTable(("what", "MB", "", "file"), rows))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}"
