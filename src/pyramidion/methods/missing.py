"""Missing cells of a system-by-topic table are reported, never silently skipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyramidion.errors import Problem
from pyramidion.model import Score, Study


def unscored(study: Study, scores: Sequence[Score], topics: set[str]) -> Iterator[Problem]:
    """One warning for each system and topic without a score, so that nobody compares means over different topics."""
    have = {(score.topic, score.system) for score in scores}
    systems = sorted({system for _, system in have} | set(study.systems))
    for topic in sorted(topics):
        for system in systems:
            if (topic, system) not in have:
                why = "no judgments" if study.summary(topic, system) else "no summary"
                yield Problem(f"topic {topic}, system {system}", f"not scored: {why}", "warning")
