"""With signed entry, only people whom Prolific sent with its signature come in, as themselves, here, and now."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.campaigns.platforms.fake_prolific import STUDY, FakeProlific, Fault, fake_prolific
from tests.campaigns.platforms.signed_links import ADDRESS, SigningKey
from tests.server.servers import make_study, served_here, start_campaign

import pyramidion as pyr
from pyramidion.campaigns.platforms import Arrival, PlatformError
from pyramidion.campaigns.platforms.prolific import Prolific, PublishedKeys, SignedEntry, signed_entry
from pyramidion.campaigns.platforms.prolific.signed_entry import DAY, PAUSE, WEEK
from pyramidion.campaigns.sync import platform_of
from pyramidion.study import Campaign
from pyramidion.study.tasks import Settings

PARAMS = {"PROLIFIC_PID": "p1", "STUDY_ID": STUDY, "SESSION_ID": "s1"}


@cache
def key(id: str, bits: int = 2048) -> SigningKey:
    """Making one takes a while."""
    return SigningKey(id, bits)


@dataclass
class Door:
    """A campaign with signed entry, the platform's keys, and a clock for their age."""

    fake: FakeProlific
    now: list[float] = field(default_factory=lambda: [0.0])

    def __post_init__(self) -> None:
        self.fake.keys = [key("a").public]
        self.keys = PublishedKeys(self.fake.keys_url, timeout=1.0, clock=lambda: self.now[0])
        self.platform = Prolific(STUDY, signed=SignedEntry(ADDRESS, self.keys))

    def enter(self, token: str, **params: str) -> Arrival:
        return self.platform.arrival({**PARAMS, **params, "prolific_token": token})

    @property
    def fetched(self) -> int:
        return len(self.fake.calls)


@pytest.fixture
def door() -> Iterator[Door]:
    with fake_prolific() as fake:
        yield Door(fake)


def test_whoever_comes_with_a_signed_link_is_verified(door: Door) -> None:
    expected = Arrival("prolific", "p1", "s1", STUDY, verified=True)
    assert door.enter(key("a").sign(PARAMS)) == expected
    assert door.enter(key("a").sign(PARAMS), utm_source="x") == expected
    assert door.fetched == 1, "keys are fetched once"
    assert door.fake.calls[0].authorization == "", "and without our token"


def test_without_the_setting_nobody_is_verified() -> None:
    assert not Prolific(STUDY).arrival({**PARAMS, "prolific_token": key("a").sign(PARAMS)}).verified


@pytest.mark.parametrize("params", [PARAMS, {**PARAMS, "prolific_token": ""}])
def test_an_unsigned_link_is_refused(door: Door, params: dict[str, str]) -> None:
    with pytest.raises(pyr.InputError, match="not signed by Prolific; open the study again"):
        door.platform.arrival(params)
    assert door.fetched == 0


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"exp": 1_700_000_000}, "has expired"),
        ({"exp": None}, "not one that Prolific signed"),
        ({"iat": 4_000_000_000, "exp": 4_000_000_120}, "not one that Prolific signed"),
        ({"iss": "https://evil.example"}, "not one that Prolific signed"),
        ({"iss": None}, "not one that Prolific signed"),
        ({"aud": None}, "not one that Prolific signed"),
        ({"sub": None}, "not one that Prolific signed"),
        ({"prolific": None}, "not one that Prolific signed"),
        ({"aud": "https://evil.example/enter/judge"}, "another address"),
        ({"aud": "https://study.example.org.evil.example/enter/judge"}, "another address"),
        ({"aud": "https://study.example.org@evil.example/enter/judge"}, "another address"),
        ({"aud": "http://study.example.org/enter/judge"}, "another address"),
        ({"aud": "https://study.example.org:8443/enter/judge"}, "another address"),
        ({"aud": "https://study.example.org/enter/write"}, "another address"),
        ({"aud": "https://study.example.org/"}, "another address"),
        ({"aud": "https://["}, "another address"),
        ({"aud": ["https://study.example.org/enter/judge"]}, "another address"),
        ({"aud": 5}, "another address|not one"),
        ({"sub": "s2"}, "another session"),
        ({"prolific": {**PARAMS, "STUDY_ID": "other"}}, "another study"),
        ({"prolific": {**PARAMS, "PROLIFIC_PID": "p2"}}, "another person"),
        ({"prolific": {**PARAMS, "SESSION_ID": "s2"}}, "another session"),
        ({"prolific": {"PROLIFIC_PID": "p1", "STUDY_ID": STUDY}}, "another session"),
        ({"prolific": {}}, "another study"),
        ({"prolific": "p1"}, "another study"),
        ({"prolific": [["STUDY_ID", STUDY]]}, "another study"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else None,
)
def test_a_token_for_anything_else_is_refused(door: Door, changed: dict[str, Any], why: str) -> None:
    """Signed with the right key, but for another time, place, person, session or study."""
    with pytest.raises(pyr.InputError, match=why):
        door.enter(key("a").sign(PARAMS, **changed))


def test_somebody_elses_ids_in_the_link_are_refused(door: Door) -> None:
    """The attack: one's own token, with the ids of another in the link."""
    mine = key("a").sign(PARAMS)
    with pytest.raises(pyr.InputError, match="another person"):
        door.enter(mine, PROLIFIC_PID="p2")
    with pytest.raises(pyr.InputError, match="another session"):
        door.enter(mine, SESSION_ID="s2")
    with pytest.raises(pyr.InputError, match="another study"):
        door.enter(mine, STUDY_ID="other")


@pytest.mark.parametrize(
    "address", ["https://study.example.org/enter/judge/", "https://STUDY.example.org:443/enter/%6Audge"]
)
def test_the_same_address_may_be_spelled_otherwise(door: Door, address: str) -> None:
    assert door.enter(key("a").sign(PARAMS, address)).verified


# -- forged signatures ---------------------------------------------------------------------------------------


def encoded(content: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


def forge(header: dict[str, Any], signature: bytes = b"") -> str:
    """The claims of a good token under another header."""
    claims = key("a").sign(PARAMS).split(".")[1]
    made = base64.urlsafe_b64encode(signature).decode().rstrip("=")
    return f"{encoded(header)}.{claims}.{made}"


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "", None, 5, "HS256", "RS512", "PS256", "ES256"])
def test_other_algorithms_are_refused(door: Door, alg: Any) -> None:
    for signature in (b"", b"x" * 256):
        with pytest.raises(pyr.InputError, match="prolific_token"):
            door.enter(forge({"alg": alg, "kid": "a", "typ": "JWT"}, signature))
    with pytest.raises(pyr.InputError, match="prolific_token"):
        door.enter(forge({"kid": "a", "typ": "JWT"}))


def test_a_public_key_is_not_a_shared_secret(door: Door) -> None:
    """HS256 with the public key as its secret, which everybody knows."""
    public = key("a").private.public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    for header in ({"alg": "HS256", "kid": "a", "typ": "JWT"}, {"alg": "RS256", "kid": "a", "typ": "JWT"}):
        for secret in (pem, pem.strip(), json.dumps(key("a").public).encode()):
            start = ".".join(forge(header).split(".")[:2])
            mac = hmac.new(secret, start.encode(), hashlib.sha256).digest()
            with pytest.raises(pyr.InputError, match="prolific_token"):
                door.enter(forge(header, mac))


def test_keys_in_the_token_itself_are_not_used(door: Door) -> None:
    import jwt

    own = key("mine")
    claims = jwt.decode(key("a").sign(PARAMS), options={"verify_signature": False})
    for headers in (
        {"kid": "a", "jwk": own.public},
        {"kid": "mine", "jku": door.fake.keys_url, "jwk": own.public},
        {"jwk": own.public},
    ):
        with pytest.raises(pyr.InputError, match="prolific_token"):
            door.enter(jwt.encode(claims, own.private, algorithm="RS256", headers=headers))


def test_a_changed_token_is_refused(door: Door) -> None:
    header, claims, signature = key("a").sign(PARAMS).split(".")
    other = key("a").sign({**PARAMS, "PROLIFIC_PID": "p2"}).split(".")
    for changed in (
        f"{header}.{other[1]}.{signature}",
        f"{header}.{claims}.{other[2]}",
        f"{header}.{claims}.",
        f"{header}.{claims}",
        f".{claims}.{signature}",
        f"{header}..{signature}",
        f"{header}.{claims}.{signature}.{signature}",
    ):
        with pytest.raises(pyr.InputError, match="not one that Prolific signed"):
            door.enter(changed)


DEEP = base64.urlsafe_b64encode(b"[" * 5000).decode().rstrip("=")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60) | st.sampled_from(["x" * 9000, f"{DEEP}.e30.x", "..", "a.b.c", "\x00.\ud800.ä"]))
def test_whatever_comes_is_refused(door: Door, token: str) -> None:
    with pytest.raises(pyr.InputError):
        door.enter(token)


@pytest.mark.filterwarnings("ignore:The RSA key is 1024 bits long")
def test_short_keys_are_refused(door: Door) -> None:
    door.fake.keys = [key("short", 1024).public, key("a").public]
    with pytest.raises(pyr.InputError, match="does not publish"):
        door.enter(key("short", 1024).sign(PARAMS))


# -- keys come and go ----------------------------------------------------------------------------------------


def test_a_new_key_is_fetched_when_somebody_comes_with_it(door: Door) -> None:
    door.enter(key("a").sign(PARAMS))
    door.fake.keys = [key("a").public, key("b").public]
    door.now[0] += PAUSE
    assert door.enter(key("b").sign(PARAMS)).verified
    assert door.enter(key("a").sign(PARAMS)).verified
    assert door.fetched == 2


def test_made_up_key_ids_do_not_make_us_ask_again_and_again(door: Door) -> None:
    door.enter(key("a").sign(PARAMS))
    for _ in range(20):
        with pytest.raises(pyr.InputError, match="does not publish"):
            door.enter(key("mine").sign(PARAMS))
    assert door.fetched == 1
    door.now[0] += PAUSE
    for _ in range(20):
        with pytest.raises(pyr.InputError, match="does not publish"):
            door.enter(key("mine").sign(PARAMS))
    assert door.fetched == 2


def test_a_withdrawn_key_opens_nothing_after_a_day(door: Door) -> None:
    old = key("a").sign(PARAMS)
    door.enter(old)
    door.fake.keys = [key("b").public]
    door.now[0] += DAY - 1
    door.enter(old)
    door.now[0] += 1
    with pytest.raises(pyr.InputError, match="does not publish"):
        door.enter(old)
    assert door.enter(key("b").sign(PARAMS)).verified
    assert door.fetched == 2


@pytest.mark.parametrize("fault", [Fault(status=503), Fault(hang=True), Fault()], ids=["503", "hang", "drop"])
def test_known_keys_serve_while_prolific_is_down(door: Door, fault: Fault) -> None:
    token = key("a").sign(PARAMS)
    door.enter(token)
    door.fake.faults.extend([fault] * 3)
    door.now[0] += DAY
    assert door.enter(token).verified
    assert door.enter(token).verified
    assert door.fetched == 2, "it is left alone for a while"
    with pytest.raises(PlatformError, match="could not be fetched"):
        door.enter(key("b").sign(PARAMS))  # which may be a new one: we cannot know
    door.now[0] += WEEK
    with pytest.raises(PlatformError, match="could not be fetched"):
        door.enter(token)


ODD_KEYS: dict[str, Callable[[], Any]] = {
    "text": lambda: "none",
    "no key": list,
    "a number": lambda: [5],
    "half a key": lambda: [{"kty": "RSA"}],
    "shared secret": lambda: [{"kty": "oct", "k": "c2VjcmV0", "kid": "a", "alg": "HS256"}],
    "for encryption": lambda: [{**key("a").public, "use": "enc"}],
    "other algorithm": lambda: [{**key("a").public, "alg": "RS512"}],
    "no modulus": lambda: [{**key("a").public, "n": "!"}],
    "no id": lambda: [{**key("a").public, "kid": 5}],
    "endless": lambda: [{**key("a").public, "n": "A" * 200_000}],
}


@pytest.mark.parametrize("odd", ODD_KEYS.values(), ids=ODD_KEYS.keys())
def test_keys_that_are_none_let_nobody_in(odd: Callable[[], Any]) -> None:
    with fake_prolific(checked=False) as fake:
        door = Door(fake)
        fake.keys = odd()
        with pytest.raises(PlatformError, match="could not be fetched"):
            door.enter(key("a").sign(PARAMS))
        fake.keys = [key("a").public]
        door.now[0] += PAUSE
        assert door.enter(key("a").sign(PARAMS)).verified


def test_an_odd_key_does_not_hide_a_sound_one() -> None:
    with fake_prolific(checked=False) as fake:
        door = Door(fake)
        fake.keys = [{"kty": "EC"}, "x", {**key("b").public, "e": ""}, key("a").public]
        assert door.enter(key("a").sign(PARAMS)).verified


@pytest.mark.parametrize("url", ["http://api.prolific.com/keys", "ftp://x/keys", "/keys"])
def test_keys_are_never_fetched_in_the_clear(url: str) -> None:
    with pytest.raises(pyr.UsageError, match="https://"):
        PublishedKeys(url)


def test_without_an_address_nobody_comes_in(door: Door) -> None:
    platform = Prolific(STUDY, signed=SignedEntry("", door.keys))
    with pytest.raises(pyr.UsageError, match="--base-url"):
        platform.arrival({**PARAMS, "prolific_token": key("a").sign(PARAMS)})


# -- through the server --------------------------------------------------------------------------------------


def test_only_signed_links_open_a_campaign_with_signed_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make_study(tmp_path / "study.db")
    settings = {"platform": "prolific", "platform_study": STUDY, "check": False, "topics": ("museum-theft",)}
    for name, signed in (("judge", True), ("open", False)):
        start_campaign(desk, desk.studies.load(), "judge", name, signed_entry=signed, **settings)
    with fake_prolific() as fake, served_here(tmp_path / "study.db") as server:
        fake.keys = [key("a").public]
        keys = PublishedKeys(fake.keys_url)
        monkeypatch.setattr(signed_entry, "published_keys", lambda: keys)

        def enter(campaign: str, token: str = "", **params: str) -> httpx.Response:
            signed = {"prolific_token": token} if token else {}
            return httpx.get(f"{server.url}/enter/{campaign}", params={**PARAMS, **params, **signed})

        here = key("a").sign(PARAMS, f"{server.url}/enter/judge")
        elsewhere = key("a").sign(PARAMS, f"{server.url}/enter/open")
        for refused in (enter("judge"), enter("judge", elsewhere), enter("judge", here, PROLIFIC_PID="p2")):
            assert (refused.status_code, "set-cookie" in refused.headers) == (400, False)
            assert "prolific_token" in refused.text
        welcome = enter("judge", here)
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/work/judge")
        assert "pyramidion_worker" in welcome.cookies
        assert enter("open").status_code == 303, "as before"
    desk.database.close()


@pytest.mark.parametrize("setting", [{"signed_entry": True}, {"early_code": "EARLY"}])
def test_settings_for_prolific_are_refused_elsewhere(setting: dict[str, Any]) -> None:
    campaign = Campaign("judge", "judge", Settings(platform="local", **setting))
    with pytest.raises(pyr.UsageError, match=f"{next(iter(setting))} is for the platform prolific, not for local"):
        platform_of(campaign, b"0123456789abcdef")
