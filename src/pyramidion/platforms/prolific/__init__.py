"""Prolific: participants with ids in the link, a completion code, an API for drafts, reviews and bonuses, webhooks."""

from pyramidion.platforms.prolific.api import Client, StudyDraft
from pyramidion.platforms.prolific.platform import Prolific
from pyramidion.platforms.prolific.webhooks import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    Event,
    Webhooks,
    read_webhook,
    verify_webhook,
)

__all__ = [
    "SIGNATURE_HEADER",
    "TIMESTAMP_HEADER",
    "Client",
    "Event",
    "Prolific",
    "StudyDraft",
    "Webhooks",
    "read_webhook",
    "verify_webhook",
]
