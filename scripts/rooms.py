"""Draw which room of the source tree imports which, from the imports themselves: python scripts/rooms.py [--check]

Rows are the layers of the import contract in pyproject.toml. An arrow is left out where others imply it (the picture
shows the transitive reduction), so that what is drawn can be followed.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Mapping
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "pyramidion"
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
WIDTH, BOX, GAP, ROW, TOP = 900, 126, 14, 78, 16
PURPOSE = {
    "cli": "commands",
    "server": "app, security",
    "integrations": "in other tools",
    "report": "pages, plots",
    "campaigns": "the crowd",
    "annotation": "the experts",
    "analysis": "questions, answers",
    "plain": "texts in, scores out",
    "judging": "any judge asked",
    "evaluation": "build, judge, score",
    "jobs": "topic by topic",
    "pyramids": "references → units",
    "judges": "unit in text?",
    "scoring": "judgments → scores",
    "formats": "read and write",
    "store": "databases",
    "engines": "where work runs",
    "encoder": "words in context",
    "study": "texts, units, scores",
    "stats": "arrays → numbers",
    "plugins": "parts by name",
    "terminal": "tables that fit",
    "remote": "calls that may fail",
    "errors": "what goes wrong",
    "distribution": "name and version",
    "folders": "where caches are",
}


def layers() -> list[list[str]]:
    """The rooms from the top layer down, as the import contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return [row.split(" | ") for row in contract["layers"] if row != "__main__"]


def imports(rooms: set[str]) -> dict[str, set[str]]:
    """The rooms that each room imports, wherever in a module it does so."""
    needed: dict[str, set[str]] = {room: set() for room in rooms}
    for path in SOURCE.rglob("*.py"):
        here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if here not in rooms or path.parent.name == "api":  # pages see the server's context: see the contract
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            parts = [name.split(".") for name in names if name.startswith("pyramidion.")]
            needed[here] |= {name[1] for name in parts if name[1] in rooms and name[1] != here}
    return needed


def reduced(needed: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """The arrows that no chain of other arrows implies."""

    def reach(room: str) -> set[str]:
        return needed[room] | {far for near in needed[room] for far in reach(near)}

    return sorted(
        (room, near)
        for room, below in needed.items()
        for near in below
        if not any(near in reach(other) for other in below if other != near)
    )


def draw(rows: list[list[str]], arrows: list[tuple[str, str]]) -> str:
    place = {}
    for level, row in enumerate(rows):
        width = len(row) * BOX + (len(row) - 1) * GAP
        for number, room in enumerate(row):
            place[room] = ((WIDTH - width) // 2 + number * (BOX + GAP), TOP + level * ROW)
    parts = []
    for room, below in arrows:
        x1, y1, x2, y2 = place[room][0] + BOX // 2, place[room][1] + 44, place[below][0] + BOX // 2, place[below][1]
        bend = (y2 - y1) // 2
        parts.append(f'<path d="M{x1} {y1}C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2 - 3}" marker-end="url(#tip)"/>')
    for room, (x, y) in place.items():
        middle = x + BOX // 2
        parts.append(f'<rect x="{x}" y="{y}" width="{BOX}" height="44" rx="6"/>')
        parts.append(f'<text x="{middle}" y="{y + 19}" class="room">{escape(room)}</text>')
        parts.append(f'<text x="{middle}" y="{y + 35}">{escape(PURPOSE[room])}</text>')
    height = TOP * 2 + (len(rows) - 1) * ROW + 44
    style = (
        "rect{fill:#f4f1ea;stroke:#8a7f6a}text{font:11px system-ui,sans-serif;text-anchor:middle;fill:#333}"
        ".room{font-weight:600;font-size:14px}path{fill:none;stroke:#8a7f6a;opacity:.75}.tip{fill:#8a7f6a}"
        "@media(prefers-color-scheme:dark){rect{fill:#2b2a27;stroke:#a89c84}text{fill:#e8e4da}}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The rooms of the source tree and what they import</title>",
            f"<style>{style}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
            *parts,
            "</svg>\n",
        ]
    )


def main() -> None:
    rows = layers()
    picture = draw(rows, reduced(imports({room for row in rows for room in row})))
    if "--check" in sys.argv[1:]:
        if not PICTURE.exists() or PICTURE.read_text("utf-8") != picture:
            sys.exit(f"{PICTURE.relative_to(ROOT)} is out of date; run: python scripts/rooms.py")
        return
    PICTURE.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
