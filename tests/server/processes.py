"""What Linux knows about the processes of a server: which they are, and which of them holds which connection."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

ESTABLISHED = "01"


def is_running(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def children_of(pid: int) -> set[int]:
    """Those that do work; Python's resource tracker only tidies up."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                command = (entry / "cmdline").read_bytes()
                if b"spawn_main" in command:
                    found.add(int(entry.name))
    return found


def clients_of(pid: int, port: int) -> dict[int, set[int]]:
    """For a server's process and each of its children, the ports of the clients that it is connected with."""
    client_of = {}
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, state, *_, inode = line.split()[:10]
        if state == ESTABLISHED and int(local.rpartition(":")[2], 16) == port:
            client_of[f"socket:[{inode}]"] = int(remote.rpartition(":")[2], 16)
    return {one: {client_of[name] for name in open_files(one) & client_of.keys()} for one in (pid, *children_of(pid))}


def open_files(pid: int) -> set[str]:
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.add(str(entry.readlink()))
    return found
