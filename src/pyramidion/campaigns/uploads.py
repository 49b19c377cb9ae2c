"""Texts that a manager sends through the browser: looked at first, added when they say so.

The files are in a folder of their own, under the names they had; formats/ reads them like any others, and they are
added as `pyramidion import` adds them. What is said about them is for people without a command line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyramidion import formats
from pyramidion.campaigns.change_log import ChangeLog
from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.errors import InputError, Problem, UsageError, group_alike
from pyramidion.formats.archives import innermost, is_archive, unpacked
from pyramidion.formats.columns import ROLES
from pyramidion.formats.rows import first_row, is_table
from pyramidion.study import Study

DATABASE = "database"
MOST_TOPICS, MOST_PROBLEMS, MOST_TEXT = 100, 200, 1200
FIRST_TOPICS, FIRST_TEXTS = 3, 3
"""Of so many topics so many references and as many summaries are shown."""


@dataclass(frozen=True)
class ReadChoices:
    """How the files are to be read, as for `import`: the format and columns where they are not recognised, a name for
    their only judge, and whether to go on without what has errors."""

    format: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    judge: str = ""
    lenient: bool = False


def preview_upload(desk: CampaignDesk, _study: Study, folder: str, how: ReadChoices) -> bytes:
    """What would be added, and every problem with it. Nothing is."""
    with _place(Path(folder)) as place:
        columns = [*first_row(place)] if is_table(place) else []
        try:
            loaded = _inspect(place, how)
        except UsageError as error:
            refused = {"refused": _for_the_page(str(error)), "columns": columns, "roles": list(ROLES)}
            return json.dumps({**refused, "can_add": False}).encode()
        new, unfit = desk.check_import(loaded.study)
    errors = [*loaded.errors, *unfit]
    fits = not unfit and (how.lenient or not loaded.errors) and _holds_something(loaded.study)
    shown = [_problem(one) for one in group_alike([*unfit, *loaded.problems])]
    said = {
        "format": loaded.format,
        "title": formats.get(loaded.format).title,
        "recognised": _for_the_page(loaded.recognised),
        "counts": loaded.study.counts(),
        "new": new.counts(),
        "topics": list(_topics(loaded.study)),
        "systems": Counter(peer.system for peer in loaded.study.peers).most_common(),
        "texts": list(_texts(loaded.study)),
        "judges": [judge.id for judge in loaded.study.judges][:20],
        "problems": shown[:MOST_PROBLEMS],
        "more_problems": max(0, len(shown) - MOST_PROBLEMS),
        "errors": len(errors),
        "conflicts": len(unfit),
        "columns": columns,
        "roles": list(ROLES),
        "can_add": fits,
    }
    return json.dumps(said).encode()


def add_upload(desk: CampaignDesk, _study: Study, folder: str, how: ReadChoices, actor: str, files: int) -> bytes:
    """Add the texts to the study, all or none, and note who did."""
    with _place(Path(folder)) as place:
        loaded = _inspect(place, how)
    if loaded.errors and not how.lenient:
        raise InputError(loaded.errors)
    if not _holds_something(loaded.study):
        raise UsageError("there is nothing in these files that could be added")
    with desk.database.together():
        added = desk.import_study(loaded.study)
        about: dict[str, Any] = {"counts": loaded.study.counts(), "format": loaded.format}
        ChangeLog(desk.database).add("import", actor=actor, files=files, records=added, **about)
    return json.dumps({"added": added, "counts": desk.studies.load().counts()}).encode()


@contextmanager
def _place(folder: Path) -> Iterator[Path]:
    """What was sent: a folder, a file, or what is in an archive."""
    sent = innermost(folder)
    if is_archive(sent):
        with unpacked(sent) as place:
            yield place
    else:
        yield sent


def _inspect(place: Path, how: ReadChoices) -> formats.Loaded:
    with formats.addressed_inside(place):
        if how.format == DATABASE or formats.is_database(place):
            raise UsageError("this is a study database, not a file of texts; whoever runs the server can import it")
        loaded = formats.inspect(place, format=how.format or None, columns=dict(how.columns) or None)
    loaded = formats.with_addresses_inside(loaded, place)
    return replace(loaded, study=formats.with_judge_called(loaded.study, how.judge)) if how.judge else loaded


def _holds_something(study: Study) -> bool:
    return any(study.counts().values())


def readable_formats() -> list[dict[str, str]]:
    """The formats that files may be in, for a list to choose from."""
    return [{"name": one.name, "title": one.title} for one in formats.all_formats() if one.name != DATABASE]


def _topics(study: Study) -> Iterator[dict[str, Any]]:
    """The first topics, each with its title and how many references, summaries and units there are of it."""
    references, peers = Counter(s.topic for s in study.references), Counter(s.topic for s in study.peers)
    units = Counter[str]()
    for pyramid in study.pyramids:
        units[pyramid.topic] += len(pyramid.units)
    for topic in study.topics[:MOST_TOPICS]:
        yield {
            "id": topic.id,
            "title": topic.title,
            "references": references[topic.id],
            "peers": peers[topic.id],
            "units": units[topic.id],
        }


def _texts(study: Study) -> Iterator[dict[str, str]]:
    """The first texts of the first topics, cut where they are long."""
    for topic in study.topics[:FIRST_TOPICS]:
        for held in (study.references, study.peers):
            for summary in [one for one in held if one.topic == topic.id][:FIRST_TEXTS]:
                cut = f"{summary.text[:MOST_TEXT]} …" if len(summary.text) > MOST_TEXT else summary.text
                yield {"topic": topic.id, "role": summary.role, "system": summary.system, "text": cut}


def _problem(problem: Problem) -> dict[str, str]:
    return replace(problem, what=_for_the_page(problem.what)).as_dict()


_WORDS = {
    "database, ducview": "ducview",
    "say which with --from": "say which under “Layout”",
    "--from names a format": "These layouts can be chosen under “Layout”",
    "--columns": "the fields under “Columns”:",
}


def _for_the_page(text: str) -> str:
    """What a reader says, with the fields of the page in place of options of a command."""
    for option, field_ in _WORDS.items():
        text = text.replace(option, field_)
    return text
