"""Child processes end with their parent, however it ends: even kill -9 closes its pipes."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection

GRACE_SECONDS = 5
"""For requests under way, when a server stops."""
LAST_SECONDS = 10.0
"""Until a process that does not stop is killed."""


def end_with_parent(lifeline: Connection) -> None:
    """Stop this process when the other end of a pipe is closed, which nobody but its parent has."""

    def watch() -> None:
        with suppress(EOFError, OSError):
            while True:
                lifeline.recv()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS + LAST_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent", daemon=True).start()
