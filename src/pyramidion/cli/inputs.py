"""What commands read: a study in any format, or a study database that they change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyramidion.cli.output import Output
from pyramidion.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from pyramidion.campaigns.desk import CampaignDesk
    from pyramidion.study import Study


def load_study(path: str, format: str | None, lenient: bool, output: Output) -> Study:
    """Read a study or stop with every error; warnings are shown and do not stop anything."""
    from pyramidion.formats import load

    with output.busy(f"Reading {path}"):
        study = load(path, format=format, lenient=lenient)
    output.warn(study.notes)
    return study


def refuse_same(source: str, target: Path) -> None:
    """Refuse to overwrite what the command reads."""
    if target.exists() and Path(source).exists() and target.samefile(source):
        raise UsageError(f"{target} is the study itself; choose another name for the result")


def open_desk(place: str) -> CampaignDesk:
    """Open the study database at a place; it is not created if it does not exist."""
    try:
        from pyramidion.campaigns.desk import CampaignDesk
    except ImportError:
        raise MissingExtraError("Running campaigns", "server") from None
    return CampaignDesk.open(place)
