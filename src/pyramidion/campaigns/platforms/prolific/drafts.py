"""A study as Prolific is asked to make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pyramidion.campaigns.platforms import check_id, check_web_address
from pyramidion.errors import UsageError, check_choice

PLACEHOLDERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
DEVICES = ("desktop", "tablet", "mobile")


@dataclass(frozen=True, slots=True)
class StudyDraft:
    """A study to be published on Prolific by a person. ``reward`` is in cents or pence, ``minutes`` the usual time.

    ``early_code``     a second completion code, for those who stop early
    ``early_reward``   what these get at once, in cents or pence, less than the reward; 0 means that their submission
                       waits for your review like the others
    ``signed``         links are signed by Prolific: see the setting ``signed_entry``
    """

    name: str
    description: str
    url: str
    code: str
    places: int
    minutes: int
    reward: int
    devices: tuple[str, ...] = DEVICES
    early_code: str = ""
    early_reward: int = 0
    signed: bool = False

    def payload(self) -> dict[str, Any]:
        check_web_address("the address of the campaign", self.url)
        for what, number in (("places", self.places), ("minutes", self.minutes), ("reward", self.reward)):
            if number < 1:
                raise UsageError(f"{what} of a Prolific study must be at least 1, not {number}")
        for device in self.devices:
            check_choice("device", device, DEVICES)
        made: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "external_study_url": f"{self.url}{'&' if urlsplit(self.url).query else '?'}{PLACEHOLDERS}",
            "prolific_id_option": "url_parameters",
            "completion_codes": self._codes(),
            "total_available_places": self.places,
            "estimated_completion_time": self.minutes,
            "reward": self.reward,
            "device_compatibility": list(self.devices),
        }
        # Only some workspaces have it, so that others are not refused for a field they did not ask for.
        return {**made, "is_external_study_url_secure": True} if self.signed else made

    def _codes(self) -> list[dict[str, Any]]:
        check_id("the completion code", self.code)
        review = {"action": "MANUALLY_REVIEW"}
        codes = [{"code": self.code, "code_type": "COMPLETED", "actions": [review]}]
        if not self.early_code:
            if self.early_reward:
                raise UsageError("a reward for those who stop early needs their completion code")
            return codes
        if check_id("the completion code for those who stop early", self.early_code) == self.code:
            raise UsageError("those who stop early need a completion code of their own")
        if not self.early_reward:
            return [*codes, {"code": self.early_code, "code_type": "OTHER", "actions": [review]}]
        if not 0 < self.early_reward < self.reward:
            raise UsageError(f"who stops early gets less than the reward of {self.reward}, not {self.early_reward}")
        pay = {
            "action": "FIXED_SCREEN_OUT_PAYMENT",
            "fixed_screen_out_reward": self.early_reward,
            "slots": self.places,
        }
        return [*codes, {"code": self.early_code, "code_type": "FIXED_SCREENOUT", "actions": [pay]}]
