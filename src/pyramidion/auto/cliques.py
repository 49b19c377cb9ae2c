"""Every clique of a graph whose nodes belong to groups, level by level: pairs, then triples, then fours...

All cliques count, not only maximal ones, because each is a candidate unit. A level is one array, made from the one
before by set operations on whole arrays: the later neighbours that all members share are a row of bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint8]

_BLOCK = 1 << 25  # bits unpacked at a time
_ONES = np.array([value.bit_count() for value in range(256)], dtype=np.uint8)


@dataclass(frozen=True)
class Cliques:
    """Cliques by size. ``members[k]`` has one row of k ascending node numbers each; ``attraction[k]`` the mean edge.

    The most attractive come first; equally attractive ones are ordered by their members.
    """

    members: Mapping[int, Indices]
    attraction: Mapping[int, Floats]

    @property
    def count(self) -> int:
        return sum(map(len, self.members.values()))

    @property
    def sizes(self) -> list[int]:
        """The sizes that occur, greatest first."""
        return sorted(self.members, reverse=True)


def find_cliques(similarity: Floats, edges: Flags, *, limit: int) -> Cliques | None:
    """All cliques of two and more nodes, or None as soon as there are more than ``limit``; nothing larger is built."""
    nodes = len(edges)
    later = np.packbits(np.triu(edges, 1), axis=1)
    members: Indices = np.arange(nodes, dtype=np.int32)[:, None]
    common, total = later, np.zeros(nodes)
    levels: list[tuple[Indices, Floats]] = []
    count = 0
    while (more := int(_ONES[common].sum(dtype=np.int64))) > 0:
        count += more
        if count > limit:
            return None
        row, column = _set_bits(common, nodes)
        members_so_far = members[row]
        total = total[row]
        for place in range(members.shape[1]):
            total += similarity[members_so_far[:, place], column]
        members = np.concatenate([members_so_far, column[:, None]], axis=1)
        common = common[row] & later[column]
        levels.append((members, total))
    return _ordered(levels)


def _ordered(levels: list[tuple[Indices, Floats]]) -> Cliques:
    """Every level by attraction. Rows come by ascending members, and a stable sort keeps that among equals."""
    members: dict[int, Indices] = {}
    attraction: dict[int, Floats] = {}
    for rows, total in levels:
        size = rows.shape[1]
        mean = total / (size * (size - 1) / 2)
        order = np.argsort(-mean, kind="stable")
        members[size], attraction[size] = rows[order], mean[order]
    return Cliques(members, attraction)


def _set_bits(bits: Bits, columns: int) -> tuple[NDArray[np.intp], Indices]:
    """Row and column of every set bit."""
    step = max(1, _BLOCK // max(columns, 1))
    parts = []
    for start in range(0, len(bits), step):
        flat = np.flatnonzero(np.unpackbits(bits[start : start + step], axis=1, count=columns).view(np.bool_))
        row = flat // columns
        parts.append((row + start, (flat - row * columns).astype(np.int32)))
    rows, found = zip(*parts, strict=True)
    return np.concatenate(rows), np.concatenate(found)
