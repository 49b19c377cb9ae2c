"""Missing cells of a system-by-topic table are reported, never silently skipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyramidion.errors import Problem
from pyramidion.model import Score, Study


def unscored(study: Study, scores: Sequence[Score], topics: set[str]) -> Iterator[Problem]:
    """What a system-by-topic table lacks, so that nobody compares means over different topics unawares."""
    have = {(score.topic, score.system) for score in scores}
    systems = sorted({system for _, system in have} | set(study.systems))
    for topic in sorted(topics):
        for why, wanted in (("no judgments", True), ("no summary", False)):
            lacking = [s for s in systems if (topic, s) not in have and bool(study.summary(topic, s)) == wanted]
            if lacking:
                yield Problem(f"topic {topic}", f"not scored, {why}: {', '.join(lacking)}", "warning")
