"""A study database as a format: every command that reads a study can read the file of a running campaign."""

from __future__ import annotations

from pathlib import Path

from pyramidion.errors import Problems, needs_extra
from pyramidion.formats import Format, is_database, parts
from pyramidion.study import Study


def read(place: str | Path, problems: Problems) -> Study:
    """The study with everything its campaigns have collected; excluded workers are left out and reported."""
    with needs_extra("A study database", "server"):
        from pyramidion.campaigns.desk import CampaignDesk
    desk = CampaignDesk.open(place)
    try:
        study = desk.study()
    finally:
        desk.database.close()
    problems.extend(study.notes)
    return study


FORMAT = Format(
    name="database",
    title="a study database made by `pyramidion init`, with the answers of its campaigns (extra `server`)",
    recognises=is_database,
    read=read,
    holds=frozenset(parts(Study())),
)
