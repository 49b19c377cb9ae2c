"""Invited people: links that nobody can forge, and the cookie that keeps a worker signed in.

A sealed text is ``1.BODY.MAC``: a version, JSON in base64, and its HMAC-SHA256 in base64. The MAC is made over the
encoded body and compared as text, so that of several base64 spellings of the same bytes only ours opens. The purpose of
a text is part of the MAC: an invitation is never a cookie. Anybody can read a sealed text, but nobody can change it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pyramidion.campaigns.platforms import Arrival, WithoutMoney, check_study, check_web_address
from pyramidion.errors import InputError, Problem, UsageError

Purpose = Literal["invitation", "worker", "person"]

VERSION = "1"
MIN_SECRET = 16
MAX_NAME = 100
MAX_SEALED = 2000
CLOCK_SKEW = 60.0
"""Seconds that the clocks of two servers of one study may be apart."""


class Invitation(NamedTuple):
    campaign: str
    person: str


def invite(secret: bytes, campaign: str, person: str = "") -> str:
    """A token for a link that lets one person into a campaign. A person without a name gets a random one."""
    person = person or secrets.token_urlsafe(12)
    for what, name in (("campaign", campaign), ("person", person)):
        if not 1 <= len(name) <= MAX_NAME:
            raise UsageError(f"the name of a {what} must have 1 to {MAX_NAME} characters")
    return _seal(secret, "invitation", [campaign, person])


def person_of(secret: bytes, name: str) -> str:
    """Who somebody is in every invitation to this study; does not reveal their name to people who see a link."""
    return _mac(secret, "person", name)[:22]


def open_token(secret: bytes, token: str) -> Invitation:
    """Who a token invites, and to what; raises InputError for any token that ``invite`` did not make."""
    campaign, person = _open(secret, "invitation", token)
    return Invitation(campaign, person)


class Pass(NamedTuple):
    """What a worker's cookie says: who they are, and by which entry they came to which campaign."""

    worker: str
    campaign: str
    entry: int


def sign_pass(secret: bytes, who: Pass, issued: float) -> str:
    """A cookie with a pass and the time."""
    return _seal(secret, "worker", [*who, int(issued)])


def read_pass(secret: bytes, cookie: str, max_age: float, *, now: float | None = None) -> Pass:
    """The pass in a cookie; raises InputError where it is forged or older than ``max_age`` seconds."""
    content = _open(secret, "worker", cookie)
    age = (time.time() if now is None else now) - content[-1]
    if len(content) != 4 or not -CLOCK_SKEW <= age <= max_age:  # releases up to 0.1 gave one cookie for all campaigns
        raise InputError(Problem("cookie", "has expired; open your link again"))
    return Pass(*content[:3])


def _seal(secret: bytes, purpose: Purpose, content: list[Any]) -> str:
    body = _base64(json.dumps(content, separators=(",", ":")).encode())
    return f"{VERSION}.{body}.{_mac(secret, purpose, body)}"


def _open(secret: bytes, purpose: Purpose, sealed: str) -> Any:
    well_formed = len(sealed) <= MAX_SEALED and sealed.isascii() and sealed.count(".") == 2
    version, body, mac = sealed.split(".") if well_formed else ("", "", "")
    if version != VERSION or not hmac.compare_digest(mac, _mac(secret, purpose, body)):
        raise InputError(Problem(purpose, "is not valid; open the link exactly as you received it"))
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


def _mac(secret: bytes, purpose: Purpose, body: str) -> str:
    if len(secret) < MIN_SECRET:
        raise UsageError(f"a secret must have at least {MIN_SECRET} bytes")
    message = f"pyramidion\0{purpose}\0{VERSION}\0{body}".encode()
    return _base64(hmac.new(secret, message, hashlib.sha256).digest())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Local(WithoutMoney):
    """Entry by ``/join/TOKEN``: the token is the parameter ``token``."""

    name = "local"

    def __init__(self, secret: bytes, campaign: str, completion: str = "") -> None:
        self._secret = secret
        self._campaign = campaign
        self._completion = check_web_address("the completion URL", completion) if completion else None

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        if not params.get("token"):
            raise InputError(Problem("parameter token", "is missing from the link"))
        invited = open_token(self._secret, params["token"])
        check_study(invited.campaign, self._campaign)
        return Arrival(self.name, invited.person, study=invited.campaign, verified=True)

    def completion_url(self, _session: str, /, *, early: bool = False) -> str | None:
        return None if early else self._completion
