"""Places on a platform follow the rounds: people who have finished there do not come back, so each round needs others.

How many the study should have in all is written down before the platform is asked, and the platform is asked for a
total, never for more. So asking again, after a crash or a lost reply, changes nothing.
"""

from __future__ import annotations

import math

from pyramidion.campaigns.desk import CampaignDesk
from pyramidion.campaigns.platforms import Platform
from pyramidion.campaigns.rounds import Round
from pyramidion.study import Campaign

RECRUITING = frozenset({"prolific"})
"""Platforms whose places can be raised from here."""


def people_for(desk: CampaignDesk, campaign: Campaign, tasks: int) -> int:
    """How many new people so many tasks need: a task needs distinct workers, and each person does as many tasks as they
    may, or as people have done here on average so far."""
    settings = campaign.settings
    per_person = float(settings.most_per_worker)
    if not per_person:
        done, people = desk.campaigns.count_done(campaign.name)
        per_person = done / people if people else 1.0
    return max(settings.workers, math.ceil(tasks * settings.workers / per_person))


def lacking_places(campaign: Campaign, last: Round) -> bool:
    """Whether people have yet to be let in for a round. For the first one this was done with the study itself."""
    return campaign.settings.platform in RECRUITING and last.number > 1 and last.placed is None


def recruit(desk: CampaignDesk, name: str, platform: Platform) -> int | None:
    """Let in as many people as the last round needs; returns how many places there are now, None if nothing was due.

    Raises PlatformError where the platform refuses or cannot be reached; it is then still due.
    """
    campaign = desk.campaigns.get(name)
    released = desk.rounds.released(name)
    if not released or not lacking_places(campaign, released[-1]) or not released[-1].tasks:
        return None
    last = released[-1]
    wanted = last.places
    if wanted is None:
        there = platform.count_places()
        wanted = desk.rounds.want_places(name, last.number, there + people_for(desk, campaign, last.tasks))
    places = platform.ensure_places(wanted)
    desk.rounds.mark_placed(name, places)
    return places
