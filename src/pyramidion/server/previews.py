"""Previews of campaigns: each is a small database in a folder for temporary files, served by the workers' own pages and
routes. All processes of a server find it there; the oldest ones are removed."""

from __future__ import annotations

import os
import re
import secrets
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.preview import PREFIX, make_preview
from pyramidion.campaigns.tasks import Gold
from pyramidion.errors import UnknownError
from pyramidion.store.database import Database
from pyramidion.study import Campaign, Study, Task

if TYPE_CHECKING:
    from pyramidion.server.context import Context

KEPT, KEPT_SECONDS = 20, 12 * 3600.0
OPEN = 4
"""So many are open at a time in a process."""
_TOKEN = re.compile(r"[0-9a-f]{32}")


def is_preview(campaign: str) -> bool:
    return campaign.startswith(PREFIX)


class Previews:
    """``make`` makes what the handlers share out of a desk."""

    def __init__(self, make: Callable[[CampaignDesk], Context]) -> None:
        self._make = make
        self._open: OrderedDict[str, Context] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, study: Study, campaign: Campaign, tasks: Sequence[Task], gold: Mapping[str, Gold]) -> str:
        """Make a preview; returns the token by which it is found."""
        self._tidy()
        token = secrets.token_hex(16)
        make_preview(study, campaign, tasks, gold, _path(token), f"{PREFIX}{token}")
        return token

    def context(self, campaign: str) -> Context:
        """What the handlers of a worker's page share, over the preview's own database."""
        token = campaign.removeprefix(PREFIX)
        with self._lock:
            if token not in self._open:
                if not _TOKEN.fullmatch(token) or not _path(token).is_file():
                    raise UnknownError("this preview is over; make a new one")
                self._open[token] = self._make(CampaignDesk(Database.open(_path(token))))
            self._open.move_to_end(token)
            while len(self._open) > OPEN:
                self._open.popitem(last=False)[1].close()
            return self._open[token]

    def close(self) -> None:
        with self._lock:
            for one in self._open.values():
                one.close()
            self._open.clear()

    def _tidy(self) -> None:
        """Remove the oldest. A file that another process still has open goes when that is done."""
        made = sorted(_folder().glob("*.db"), key=lambda path: path.stat().st_mtime, reverse=True)
        for number, path in enumerate(made, 1):
            if number >= KEPT or time.time() - path.stat().st_mtime > KEPT_SECONDS:
                for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
                    with suppress(OSError):
                        each.unlink()


def _folder() -> Path:
    """For this user alone: the files hold texts of studies."""
    folder = Path(tempfile.gettempdir()) / f"pyramidion-previews-{os.getuid() if hasattr(os, 'getuid') else 0}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and (folder.is_symlink() or folder.stat().st_uid != os.getuid()):
        raise UnknownError(f"{folder} belongs to somebody else, so no preview can be made")
    return folder


def _path(token: str) -> Path:
    return _folder() / f"{token}.db"
