"""DUCView files, in which the expert pyramids of DUC and TAC were made: ``.pyr`` pyramids and ``.pan`` annotations.

A ``.pyr`` holds the references of a topic in one text and the units marked in it; a ``.pan`` holds a peer, how often it
expresses each unit, and a copy of the pyramid. The errors of the 1,481 real files of DUC 2006 and 2007 are repaired
here and reported as warnings, and no contributor loses its weight; what cannot be repaired is an error and is left out.
"""

from __future__ import annotations

from pyramidion.formats import Format
from pyramidion.formats.ducview.reading import read, recognises
from pyramidion.formats.ducview.writing import write

__all__ = ["FORMAT", "read", "recognises", "write"]

FORMAT = Format(
    name="ducview",
    title="DUCView pyramids (.pyr) and peer annotations (.pan)",
    recognises=recognises,
    read=read,
    write=write,
    holds=frozenset(
        {
            "references",
            "peers",
            "pyramids",
            "contributor spans",
            "unit comments",
            "unit judgments",
            "unmatched counts",
            "evidence",
        }
    ),
)
