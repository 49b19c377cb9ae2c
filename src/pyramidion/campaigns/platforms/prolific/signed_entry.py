"""Entry that Prolific has signed, so that nobody comes in under somebody else's id.

A study whose ``is_external_study_url_secure`` is on sends people with a JSON Web Token in the parameter
``prolific_token``: RS256, valid for two minutes, for the address of the study and the ids in the link. Its public keys
are at ``/.well-known/study/jwks.json``: https://docs.prolific.com/api-reference.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from pyramidion.campaigns.platforms import Arrival, PlatformError, check_web_address, load_httpx
from pyramidion.campaigns.platforms.prolific.client import BASE_URL, check_private
from pyramidion.errors import InputError, Problem, UsageError, needs_extra

PARAMETER = "prolific_token"
KEYS_URL = f"{BASE_URL}/.well-known/study/jwks.json"
ISSUER = "https://www.prolific.com"
ALGORITHM = "RS256"
CLOCK_SKEW = 30.0
"""Seconds that Prolific's clock and ours may be apart."""
DAY = 24 * 3600.0
WEEK = 7 * DAY
PAUSE = 30.0
"""Seconds between two requests for the keys, however many people come with unknown ones."""
MAX_KEYS_SIZE = 100_000
MAX_TOKEN = 8000
MIN_KEY_BITS = 2048
AGAIN = "open the study again from Prolific"


def _load_jwt() -> Any:
    with needs_extra("Signed entry", "server"):
        import jwt
    return jwt


class PublishedKeys:
    """The public keys of a platform by their ids: fetched when first needed, again every day, and when somebody comes
    with an unknown one, since keys change. While they cannot be fetched, those of the last week still serve."""

    def __init__(
        self, url: str = KEYS_URL, *, timeout: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = check_private("the address of the platform's keys", url)
        self._timeout = timeout
        self._clock = clock
        self._keys: dict[str, Any] = {}
        self._fetched = self._tried = float("-inf")
        self._problem = ""
        self._lock = threading.Lock()

    def get(self, id: str) -> Any:
        """The key with this id, None where the platform has no such key; raises PlatformError where it is not known
        which keys it has."""
        with self._lock:  # whoever comes meanwhile waits for the same answer
            now = self._clock()
            if (id not in self._keys or now - self._fetched >= DAY) and now - self._tried >= PAUSE:
                self._tried = now
                self._fetch(now)
            if now - self._fetched >= WEEK:
                self._keys = {}
            if id not in self._keys and self._problem:
                raise PlatformError(f"the keys of the platform could not be fetched from {self._url}: {self._problem}")
            return self._keys.get(id)

    def _fetch(self, now: float) -> None:
        httpx = load_httpx("Signed entry")
        try:
            content = self._read(httpx)
            self._keys = _read_keys(content)
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            self._problem = str(error) or type(error).__name__
        else:
            self._fetched, self._problem = now, ""

    def _read(self, httpx: Any) -> Any:
        raw = b""
        with httpx.stream("GET", self._url, timeout=self._timeout) as response:
            response.raise_for_status()
            for piece in response.iter_bytes():
                raw += piece
                if len(raw) > MAX_KEYS_SIZE:
                    raise ValueError("the reply is too long")
        return json.loads(raw)


def _read_keys(content: Any) -> dict[str, Any]:
    """Keys for checking RS256 signatures; other keys, which may be there for other purposes, are left out."""
    jwt = _load_jwt()
    listed = content.get("keys") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise ValueError("the reply is not a set of keys")
    keys = {}
    for item in listed:
        if isinstance(item, dict) and item.get("kty") == "RSA" and item.get("alg", ALGORITHM) == ALGORITHM:
            try:
                key = jwt.PyJWK(item, algorithm=ALGORITHM)
            except (jwt.PyJWTError, ValueError, TypeError):
                continue
            long_enough = key.key.key_size >= MIN_KEY_BITS
            if isinstance(key.key_id, str) and item.get("use", "sig") == "sig" and long_enough:
                keys[key.key_id] = key
    if not keys:
        raise ValueError("the reply has no key for signatures")
    return keys


@cache
def published_keys(url: str = KEYS_URL) -> PublishedKeys:
    """The same for everybody in this process, so that keys are fetched once."""
    return PublishedKeys(url)


class SignedEntry:
    """Checks tokens for one campaign; ``address`` is what people open, without the query: its domain and path must be
    those that the token was made for."""

    def __init__(self, address: str, keys: PublishedKeys | None = None) -> None:
        self._address = check_web_address("the address of a campaign", address) if address else ""
        self._keys = keys

    def verify(self, arrival: Arrival, params: Mapping[str, str]) -> None:
        """Raise InputError unless Prolific signed, just now, that this person comes with this session to this study,
        here."""
        if not self._address:
            raise UsageError("signed entry needs the public address of this server: start it with --base-url")
        token = params.get(PARAMETER, "")
        if not token:
            _refuse(f"the link is not signed by Prolific; {AGAIN}")
        claims = self._open(token)
        if not _same_place(claims["aud"], self._address):
            # Named for whoever runs the server and has given it a wrong --base-url.
            _refuse(f"was made for another address, not for {self._address}")
        named = claims["prolific"] if isinstance(claims["prolific"], dict) else {}
        if named.get("STUDY_ID") != arrival.study:
            _refuse("was made for another study")
        if named.get("PROLIFIC_PID") != arrival.external:
            _refuse(f"was made for another person; {AGAIN}")
        if named.get("SESSION_ID") != arrival.session or claims["sub"] != arrival.session:
            _refuse(f"was made for another session; {AGAIN}")

    def _open(self, token: str) -> dict[str, Any]:
        """What a token says, once its signature and its times are checked."""
        jwt = _load_jwt()
        if len(token) > MAX_TOKEN:
            _refuse("is too long")
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") != ALGORITHM:
                _refuse(f"is not signed as Prolific signs; {AGAIN}")
            key = (self._keys or published_keys()).get(str(header.get("kid", "")))
            if key is None:
                _refuse(f"is signed with a key that Prolific does not publish; {AGAIN}")
            options = {
                "require": ["exp", "iat", "iss", "aud", "sub", "prolific"],
                "verify_aud": False,  # an address with a query: compared by the caller
            }
            claims: dict[str, Any] = jwt.decode(
                token, key, algorithms=[ALGORITHM], issuer=ISSUER, leeway=CLOCK_SKEW, options=options
            )
        except jwt.ExpiredSignatureError:
            _refuse(f"has expired, since links are valid for two minutes; {AGAIN}")
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError):
            _refuse(f"is not one that Prolific signed; {AGAIN}")
        return claims


def _refuse(why: str) -> NoReturn:
    raise InputError(Problem(f"parameter {PARAMETER}", why))


def _same_place(audience: Any, address: str) -> bool:
    """Whether an address, with or without a query, is on the same domain and path."""
    try:
        return isinstance(audience, str) and _place(audience) == _place(address)
    except ValueError:  # half an IPv6 address, a port of letters
        return False


def _place(address: str) -> tuple[str, str | None, int | None, str]:
    parts = urlsplit(address)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port, unquote(parts.path).rstrip("/")
