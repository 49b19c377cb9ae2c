"""A report as a folder: a first page that opens at once, and a page per topic, read only when somebody opens it.

The pages are linked and each is one file with its own script and style, so they open without a server, and one can be
sent alone. The folder appears when all of it is written.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from pyramidion.engines import Advance, Where, ignore, mapped
from pyramidion.errors import UsageError
from pyramidion.formats.files import new_folder, write_rows, write_text
from pyramidion.report.collect import Findings
from pyramidion.report.data import (
    SCORE_COLUMNS,
    UNIT_COLUMNS,
    Place,
    TopicSheet,
    compact_json,
    head,
    score_rows,
    to_csv,
    topic_data,
    topic_sheets,
    unit_rows,
)
from pyramidion.report.page import STYLE, start_page
from pyramidion.report.rendering import embedded_json, packed, render
from pyramidion.report.tables import file_name

INDEX, TOPICS, SCORES, UNITS, EVERYTHING = "index.html", "topics", "scores.csv", "units.csv", "report.json"
MOST_IN_ONE_FILE = 10_000
"""Summaries of which one file still opens within about a second. A report of more is by default a folder."""
SCRIPT = ("shared/dom.js", "shared/format.js", "parcels.js", "data.js", "tables.js", "views.js", "topic.js")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))}


class RenderedTopic(NamedTuple):
    """A topic's page, and its part of the files with everything."""

    page: str
    data: str
    units: str


def render_topic(sheet: TopicSheet) -> RenderedTopic:
    """Needs nothing but the sheet, so it can run in any process."""
    data = compact_json(topic_data(sheet))
    places: dict[str, Place | None] = {"before": sheet.before, "after": sheet.after}
    about = head(sheet.systems, sheet.measures) | {"folder": "./", "start": f"../{INDEX}", "page": sheet.place.page}
    about |= {name: place and place.to_json() for name, place in places.items()}
    topic = sheet.content.topic
    page = render(
        "topic.html",
        style=STYLE,
        script=SCRIPT,
        title=f"{topic.id}: {topic.title}" if topic.title else topic.id,
        version=sheet.version,
        simulated=sheet.simulated,
        start=f"../{INDEX}",
        head=embedded_json(about),
        parcels={"topic": packed(data)},
    )
    return RenderedTopic(page, data, to_csv(UNIT_COLUMNS, unit_rows(sheet)).split("\n", 1)[1])


def write_report_folder(
    findings: Findings,
    folder: str | Path,
    *,
    engine: Where = None,
    advance: Advance = ignore,
) -> Path:
    """Write the report into a folder, in the place of an earlier report, and return where its first page is.
    ``advance`` hears of every topic."""
    folder = Path(folder)
    refuse_other_folder(folder)
    names = page_names([topic.id for topic in findings.topics])
    sheets = topic_sheets(findings, {id: quote(name) for id, name in names.items()})
    with new_folder(folder, instead_of=True) as place:
        (place / TOPICS).mkdir()
        with (
            (place / UNITS).open("w", encoding="utf-8", newline="") as units,
            (place / EVERYTHING).open("w", encoding="utf-8", newline="") as everything,
        ):
            units.write(to_csv(UNIT_COLUMNS, ()))
            everything.write(_beginning(findings, sheets))
            rendered = mapped(engine, render_topic, sheets, advance)
            for number, (sheet, topic) in enumerate(zip(sheets, rendered, strict=True)):
                write_text(place / TOPICS / names[sheet.place.id], topic.page)
                units.write(topic.units)
                everything.write(f"{',' if number else ''}\n{topic.data}")
            everything.write("\n]}\n")
        with (place / SCORES).open("w", encoding="utf-8", newline="") as scores:
            write_rows(scores, SCORE_COLUMNS, score_rows(findings))
        write_text(place / INDEX, start_page(findings, sheets, folder=f"{TOPICS}/"))
    return folder / INDEX


def refuse_other_folder(folder: Path) -> None:
    """Refuse a folder that holds anything but an earlier report, or nothing."""
    refuse_strange_files(folder, EVERYTHING, (INDEX, SCORES, UNITS, EVERYTHING, f"{TOPICS}/*.html"), "a report's pages")


def _beginning(findings: Findings, sheets: Sequence[TopicSheet]) -> str:
    """The file with everything up to its topics, which are written one after the other."""
    names = head(findings.systems, ((scored.method, scored.measure) for scored in findings.scored))
    scores = [[sheet.scores[at] for sheet in sheets] for at in range(len(findings.scored))]
    return compact_json(names | {"scores": scores}).removesuffix("}") + ',"topics":['


def page_names(ids: Sequence[str]) -> dict[str, str]:
    """A file name for each id. Names that some system takes for the same, or for a device, end in a hash of the id."""
    shared = Counter(file_name(id).casefold() for id in ids)

    def name(id: str) -> str:
        plain = file_name(id)
        unclear = shared[plain.casefold()] > 1 or plain.split(".", 1)[0].strip().casefold() in _RESERVED
        return f"{plain}-{hashlib.sha256(id.encode()).hexdigest()[:12]}.html" if unclear else f"{plain}.html"

    return {id: name(id) for id in ids}


LEFT_BY_SYSTEMS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""What looking into a folder leaves there."""


def refuse_strange_files(folder: Path, first: str, names: Sequence[str], what: str) -> None:
    """Refuse to replace anything but files that were made here: those with these names, and among them the first."""
    if not folder.exists():
        return
    files = (path for path in folder.rglob("*") if not path.is_dir() and path.name not in LEFT_BY_SYSTEMS)
    inside = [path.relative_to(folder) for path in files]
    depth = {name: name.count("/") + 1 for name in names}
    strange = [
        path for path in inside if not any(len(path.parts) == depth[name] and path.match(name) for name in names)
    ]
    if not folder.is_dir() or strange or (inside and Path(first) not in inside):
        why = f"it holds {min(strange)}" if strange else f"it is not a folder of {what}"
        raise UsageError(f"{folder} is not replaced: {why}; choose another name, or move that away first")
