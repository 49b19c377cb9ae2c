"""Invitations and worker cookies: nobody makes, changes or mixes them up without the secret."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.campaigns.platforms.local import Pass, invite, open_token, read_pass, sign_pass

SECRET = b"0123456789abcdef0123456789abcdef"
names = st.text(min_size=1, max_size=100)


@given(campaign=names, person=names)
def test_what_was_invited_comes_back(campaign: str, person: str) -> None:
    opened = open_token(SECRET, invite(SECRET, campaign, person))
    assert opened == (campaign, person)
    assert opened.campaign == campaign


def test_people_without_a_name_get_a_random_one() -> None:
    people = {open_token(SECRET, invite(SECRET, "judge")).person for _ in range(50)}
    assert len(people) == 50
    assert all(len(person) >= 16 for person in people)


def test_tokens_fit_into_a_link() -> None:
    token = invite(SECRET, "judge", "Jörg & <b>")
    assert set(token) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    assert len(invite(SECRET, "judge")) < 110


@pytest.mark.parametrize(("campaign", "person"), [("", "p"), ("c" * 101, "p"), ("c", "p" * 101)])
def test_names_have_limits(campaign: str, person: str) -> None:
    with pytest.raises(pyr.UsageError, match="1 to 100"):
        invite(SECRET, campaign, person)


WHO = Pass("wabc", "judge", 7)
TOKENS = (invite(SECRET, "judge", "ann"), sign_pass(SECRET, WHO, 1000.0))


def refused(sealed: str, kind: int) -> None:
    with pytest.raises(pyr.InputError, match="not valid"):
        _ = open_token(SECRET, sealed) if kind == 0 else read_pass(SECRET, sealed, 10, now=1000.0)


@pytest.mark.parametrize("kind", [0, 1])
@settings(max_examples=100)
@given(where=st.floats(0, 1, exclude_max=True), other=st.characters())
def test_a_change_at_any_position_is_seen(kind: int, where: float, other: str) -> None:
    token = TOKENS[kind]
    place = int(where * len(token))
    if other != token[place]:
        refused(token[:place] + other + token[place + 1 :], kind)
    refused(token[:place] + token[place + 1 :], kind)
    refused(token[:place] + other + token[place:], kind)


@pytest.mark.parametrize("kind", [0, 1])
def test_every_other_base64_letter_at_any_position_is_seen(kind: int) -> None:
    """Unused bits at the end of base64 would let several spellings mean the same bytes."""
    token = TOKENS[kind]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=."
    for place in range(len(token)):
        for letter in letters.replace(token[place], ""):
            refused(token[:place] + letter + token[place + 1 :], kind)
    for letter in letters:
        refused(token + letter, kind)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_garbage_is_refused(garbage: str) -> None:
    refused(garbage, 0)
    refused(garbage, 1)


def test_endless_tokens_are_refused() -> None:
    refused("1." + "a" * 10_000_000 + ".b", 0)


def test_tokens_of_another_study_are_refused() -> None:
    with pytest.raises(pyr.InputError, match="not valid"):
        open_token(b"another study's secret, as long.", TOKENS[0])


def test_an_invitation_is_no_cookie_and_a_cookie_no_invitation() -> None:
    refused(TOKENS[1], 0)
    refused(TOKENS[0], 1)
    assert sign_pass(SECRET, WHO, 5).split(".")[1] != ""


def test_another_version_is_refused() -> None:
    refused("2" + TOKENS[0][1:], 0)


def test_cookies_expire() -> None:
    cookie = sign_pass(SECRET, WHO, 1000.9)
    assert read_pass(SECRET, cookie, 60, now=1000.0) == WHO
    assert read_pass(SECRET, cookie, 60, now=1060.0) == WHO
    for now in (1061.0, 900.0, 0.0):
        with pytest.raises(pyr.InputError, match="expired"):
            read_pass(SECRET, cookie, 60, now=now)
    with pytest.raises(pyr.InputError, match="expired"):
        read_pass(SECRET, cookie, 60)


def test_a_short_secret_signs_nothing() -> None:
    for secret in (b"", b"short"):
        with pytest.raises(pyr.UsageError, match="16 bytes"):
            invite(secret, "judge")
        with pytest.raises(pyr.UsageError, match="16 bytes"):
            open_token(secret, TOKENS[0])


def test_the_body_is_plain_json() -> None:
    body = TOKENS[0].split(".")[1]
    assert json.loads(base64.urlsafe_b64decode(body + "==")) == ["judge", "ann"]
