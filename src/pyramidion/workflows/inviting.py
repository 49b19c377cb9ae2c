"""Invitation links to a campaign: for anybody, or for people by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pyramidion.errors import UsageError
from pyramidion.platforms.local import Local, invite, person_of
from pyramidion.workflows.campaign import Desk


class Invited(NamedTuple):
    """``name`` and ``worker`` are empty where the link is for anybody."""

    name: str
    worker: str
    link: str


def invite_people(desk: Desk, campaign: str, names: Iterable[str], base_url: str) -> list[Invited]:
    """A link for each name; an empty name stands for a person of whom nothing is known.

    Whoever has a name gets the same link whenever they are invited, and is one worker in all campaigns of the study:
    only so is it known that they do not judge a topic they wrote for.
    """
    if desk.campaigns.get(campaign).state == "closed":
        raise UsageError(f"campaign {campaign} is closed, so nobody would get a task")
    secret = desk.database.secret
    found = []
    for name in names:
        person = person_of(secret, name) if name else ""
        worker = desk.workers.pseudonym(Local.name, person) if name else ""
        found.append(Invited(name, worker, f"{base_url.rstrip('/')}/join/{invite(secret, campaign, person)}"))
    return found


def names_in(path: Path) -> list[str]:
    """The names in a text file, one a line, each once."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a text file in UTF-8") from None
    if not (names := names_of(lines)):
        raise UsageError(f"{path} names nobody")
    return names


def names_of(lines: Iterable[str]) -> list[str]:
    """Names without the space around them, each once; empty lines are none."""
    return list(dict.fromkeys(name for line in lines if (name := line.strip())))
