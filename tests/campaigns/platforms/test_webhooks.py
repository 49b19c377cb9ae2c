"""Messages from Prolific count only when it signed these very bytes, just now, and only once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyramidion as pyr
from pyramidion.campaigns.platforms.prolific import WebhookEvent, Webhooks, read_webhook, sign_webhook, verify_webhook

SECRET = "whsec"
NOW = 1_700_000_000
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
    verify_webhook(SECRET, BODY, str(NOW), SIGNED, now=NOW + 300)
    assert read_webhook(BODY) == WebhookEvent("submission.status.change", "s1", "RETURNED", "p1", "study1")
    submission = read_webhook(BODY).submission
    assert submission is not None
    assert (submission.session, submission.outcome) == ("s1", "withdraw")


def test_milliseconds_are_understood() -> None:
    stamp = f"{NOW}123"
    verify_webhook(SECRET, BODY, stamp, sign_webhook(SECRET, BODY, stamp), now=NOW)


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


@pytest.mark.parametrize("now", [NOW + 301, NOW - 301, 0])
def test_old_messages_are_refused(now: float) -> None:
    with pytest.raises(pyr.InputError, match="five minutes"):
        verify_webhook(SECRET, BODY, str(NOW), SIGNED, now=now)
    with pytest.raises(pyr.InputError, match="five minutes"):
        verify_webhook(SECRET, BODY, str(NOW), SIGNED)


def test_a_new_timestamp_does_not_refresh_an_old_message() -> None:
    with pytest.raises(pyr.InputError, match="wrong signature"):
        verify_webhook(SECRET, BODY, str(NOW + 1000), SIGNED, now=NOW + 1000)


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


def test_a_replay_is_taken_in_once() -> None:
    now = [float(NOW)]
    hooks = Webhooks(SECRET, lambda: now[0])
    first = hooks.receive(BODY, str(NOW), SIGNED)
    assert first is not None
    assert first.resource == "s1"
    now[0] += 299
    assert hooks.receive(BODY, str(NOW), SIGNED) is None
    now[0] += 2
    with pytest.raises(pyr.InputError, match="five minutes"):
        hooks.receive(BODY, str(NOW), SIGNED)


def test_a_message_from_ahead_of_our_clock_is_taken_in_once() -> None:
    now = [float(NOW - 300)]
    hooks = Webhooks(SECRET, lambda: now[0])
    assert hooks.receive(BODY, str(NOW), SIGNED) is not None
    now[0] = NOW + 300
    assert hooks.receive(BODY, str(NOW), SIGNED) is None


def test_what_was_seen_is_forgotten_in_time() -> None:
    now = [float(NOW)]
    hooks = Webhooks(SECRET, lambda: now[0])
    for _ in range(100):
        now[0] += 100
        stamp = str(int(now[0]))
        assert hooks.receive(BODY, stamp, sign_webhook(SECRET, BODY, stamp)) is not None
    assert len(hooks._seen) <= 7


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
    ],
)
def test_messages_that_say_nothing_are_refused(content: Any) -> None:
    with pytest.raises(pyr.InputError, match="webhook"):
        read_webhook(json.dumps(content).encode())


@given(st.binary(max_size=100) | st.just(b"[" * 100_000))
def test_garbage_is_refused(garbage: bytes) -> None:
    with pytest.raises(pyr.InputError):
        read_webhook(garbage)
