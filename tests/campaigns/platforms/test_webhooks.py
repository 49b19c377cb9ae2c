"""Messages from Prolific count only when it signed these very bytes, not long ago; each can be told from others."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.campaigns.platforms import Submission
from pyramidion.campaigns.platforms.prolific import WebhookEvent, Webhooks, read_webhook, sign_webhook, verify_webhook

SECRET = "whsec"
NOW = 1_700_000_000
DAY = 24 * 3600
BODY = json.dumps(
    {
        "event_type": "submission.status.change",
        "resource_id": "s1",
        "status": "RETURNED",
        "participant_id": "p1",
        "study_id": "study1",
    }
).encode()
SIGNED = sign_webhook(SECRET, BODY, str(NOW))


def test_the_signature_is_the_one_prolific_makes() -> None:
    """printf '1700000000{"a": 1}' | openssl dgst -sha256 -hmac whsec -binary | base64"""
    expected = "Yrxr4nE8FfTc3AEQBnX6Y9umMzUo001drTmYr+bap2E="
    assert sign_webhook(SECRET, b'{"a": 1}', "1700000000") == expected


def test_signed_messages_pass() -> None:
    assert verify_webhook(SECRET, BODY, str(NOW), SIGNED, now=NOW + DAY) == NOW
    event = Webhooks(SECRET, lambda: NOW).receive(BODY, str(NOW), SIGNED, "event-1")
    expected = WebhookEvent("submission.status.change", "s1", "RETURNED", "p1", "study1", "event-1", NOW)
    assert replace(event, digest="") == expected
    submission = event.submission
    assert submission == Submission("s1", "p1", "RETURNED", "study1")
    assert submission is not None
    assert submission.outcome == "withdraw"


def test_milliseconds_are_understood() -> None:
    stamp = f"{NOW}123"
    assert verify_webhook(SECRET, BODY, stamp, sign_webhook(SECRET, BODY, stamp), now=NOW) == NOW + 0.123


@pytest.mark.parametrize(
    "signature", ["", "x", SIGNED[:-1], SIGNED + "=", SIGNED.lower(), SIGNED.rstrip("="), "ä", "\ud800"]
)
def test_bad_signatures_are_refused(signature: str) -> None:
    with pytest.raises(pyr.InputError, match="wrong signature"):
        verify_webhook(SECRET, BODY, str(NOW), signature, now=NOW)


def test_other_secrets_are_refused() -> None:
    with pytest.raises(pyr.InputError, match="wrong signature"):
        verify_webhook("other", BODY, str(NOW), SIGNED, now=NOW)
    with pytest.raises(pyr.UsageError, match="secret"):
        verify_webhook("", BODY, str(NOW), sign_webhook("x", BODY, str(NOW)), now=NOW)


@given(place=st.integers(0, len(BODY) - 1), byte=st.integers(0, 255))
def test_a_changed_body_is_refused(place: int, byte: int) -> None:
    changed = BODY[:place] + bytes([byte]) + BODY[place + 1 :]
    if changed != BODY:
        with pytest.raises(pyr.InputError, match="wrong signature"):
            verify_webhook(SECRET, changed, str(NOW), SIGNED, now=NOW)


def test_the_same_json_in_other_bytes_is_refused() -> None:
    with pytest.raises(pyr.InputError, match="wrong signature"):
        verify_webhook(SECRET, BODY.replace(b": ", b":"), str(NOW), SIGNED, now=NOW)


@pytest.mark.parametrize("now", [NOW + DAY + 1, NOW - 301, 0])
def test_old_messages_are_refused(now: float) -> None:
    with pytest.raises(pyr.InputError, match="older than a day"):
        verify_webhook(SECRET, BODY, str(NOW), SIGNED, now=now)
    with pytest.raises(pyr.InputError, match="older than a day"):
        verify_webhook(SECRET, BODY, str(NOW), SIGNED)


def test_a_new_timestamp_does_not_refresh_an_old_message() -> None:
    with pytest.raises(pyr.InputError, match="wrong signature"):
        verify_webhook(SECRET, BODY, str(NOW + 2 * DAY), SIGNED, now=NOW + 2 * DAY)


@pytest.mark.parametrize("stamp", ["", "x", "-1", "1e9", "٣", "9" * 14, " 1", "nan"])
def test_timestamps_are_numbers(stamp: str) -> None:
    with pytest.raises(pyr.InputError, match="timestamp"):
        verify_webhook(SECRET, BODY, stamp, sign_webhook(SECRET, BODY, stamp), now=NOW)


def test_digits_do_not_move_between_timestamp_and_body() -> None:
    """timestamp + body has no mark between them; a body is JSON, and JSON objects do not begin with a digit."""
    stamp = str(NOW)
    shifted = stamp[-1].encode() + BODY
    verify_webhook(SECRET, shifted, stamp[:-1], SIGNED, now=NOW // 10)
    with pytest.raises(pyr.InputError, match="JSON object"):
        read_webhook(shifted)


def receive(body: bytes = BODY, stamp: int = NOW, event_id: str = "") -> WebhookEvent:
    signature = sign_webhook(SECRET, body, str(stamp))
    return Webhooks(SECRET, lambda: NOW).receive(body, str(stamp), signature, event_id)


def test_another_delivery_of_an_event_has_its_id() -> None:
    """Prolific tries again with another timestamp, so that the signature differs."""
    first, again = receive(event_id="event-1"), receive(stamp=NOW + 60, event_id="event-1")
    assert first.id == again.id == "event-1"
    assert first.digest != again.digest
    assert (first.at, again.at) == (NOW, NOW + 60)


def test_a_copy_of_a_delivery_has_its_digest() -> None:
    """The id is not signed: whoever copies a message can change it."""
    first, copied = receive(event_id="event-1"), receive(event_id="event-2")
    assert first.id != copied.id
    assert first.digest == copied.digest
    assert first.digest != receive(BODY.replace(b"s1", b"s2")).digest


def test_an_event_without_an_id_is_known_by_its_digest() -> None:
    event = receive()
    assert event.id == event.digest == receive().id


@pytest.mark.parametrize("id", ["a b", "x" * 101, "ä", "a\n", "\ud800"])
def test_event_ids_are_sound(id: str) -> None:
    with pytest.raises(pyr.InputError, match="X-Event-ID"):
        receive(event_id=id)


def test_unknown_events_are_read_and_left_alone() -> None:
    event = read_webhook(b'{"event_type": "study.status.change", "resource_id": "study1", "status": "RETURNED"}')
    assert (event.kind, event.submission) == ("study.status.change", None)
    approved = WebhookEvent("submission.status.change", "s1", "APPROVED", "p1").submission
    assert approved is not None
    assert (approved.person, approved.outcome) == ("p1", "approve")


@pytest.mark.parametrize(
    "content",
    [
        [],
        {},
        {"event_type": 1},
        {"event_type": "submission.status.change"},
        {"event_type": "submission.status.change", "resource_id": "../x", "status": "RETURNED"},
        {"event_type": "submission.status.change", "resource_id": "s1", "status": ["RETURNED"]},
        {"event_type": "submission.status.change", "resource_id": "s1", "status": "RETURNED", "study_id": "a/b"},
        {
            "event_type": "submission.status.change",
            "resource_id": "s1",
            "status": "RETURNED",
            "participant_id": "\ud800",
        },
    ],
)
def test_messages_that_say_nothing_are_refused(content: Any) -> None:
    with pytest.raises(pyr.InputError, match="webhook"):
        read_webhook(json.dumps(content).encode())


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = ("event_type", "resource_id", "status", "participant_id", "study_id")


@given(
    st.binary(max_size=100)
    | st.just(b"[" * 100_000)
    | st.dictionaries(st.sampled_from(FIELDS), JSON | st.just("submission.status.change")).map(
        lambda made: json.dumps(made).encode()
    ),
    st.text(max_size=20),
)
def test_whatever_comes_is_read_or_refused(raw: bytes, id: str) -> None:
    with suppress(pyr.InputError):
        assert receive(raw, event_id=id).kind


@given(st.binary(max_size=50), st.text(max_size=20), st.text(max_size=50), st.text(max_size=20))
def test_nothing_unsigned_is_read(raw: bytes, stamp: str, signature: str, id: str) -> None:
    with pytest.raises(pyr.InputError):
        Webhooks(SECRET).receive(raw, stamp, signature, id)
