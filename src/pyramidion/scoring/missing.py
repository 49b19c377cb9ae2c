"""Missing cells of a system-by-topic table are reported, never silently skipped."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from pyramidion.errors import Problem
from pyramidion.study import Score, Study


def unscored(study: Study, scores: Sequence[Score]) -> Iterator[Problem]:
    """What is missing in a system-by-topic table, so that nobody compares means over different topics unawares."""
    have = {(score.topic, score.system) for score in scores}
    systems = sorted({system for _, system in have} | set(study.systems))
    for topic in sorted(topic.id for topic in study.topics):
        for why, wanted in (("nothing to score them by", True), ("no summary", False)):
            missing = [s for s in systems if (topic, s) not in have and bool(study.summary(topic, s)) == wanted]
            if missing:
                yield Problem(f"topic {topic}", f"not scored, {why}: {', '.join(missing)}", "warning")
    yield from _undefined_scores(scores)


def without_references(study: Study, topics: Collection[str], *, peers: bool = True) -> Iterator[Problem]:
    """Topics besides these with nothing to build a pyramid from; only such as have ``peers``, where these matter."""
    known = {summary.topic for summary in study.references}
    wanted = {summary.topic for summary in study.peers} if peers else {topic.id for topic in study.topics}
    for topic in study.topics:
        if topic.id in wanted.difference(topics):
            what = "its references are empty" if topic.id in known else "has no references"
            yield Problem(f"topic {topic.id}", f"{what}, so there is nothing to build a pyramid from", "warning")


def _undefined_scores(scores: Sequence[Score]) -> Iterator[Problem]:
    """Measures that are undefined for some summaries only, which their systems' means leave out."""
    for measure in dict.fromkeys(score.measure for score in scores):
        measured = [score for score in scores if score.measure == measure]
        undefined = [score for score in measured if score.value is None]
        if 0 < len(undefined) < len(measured):
            for topic in dict.fromkeys(str(score.topic) for score in undefined):
                systems = ", ".join(score.system for score in undefined if score.topic == topic)
                yield Problem(f"topic {topic}", f"{measure} is undefined for: {systems}", "warning")


def scored_by_others(own: Mapping[tuple[str, str], str], alone: Collection[str] = ()) -> Iterator[Problem]:
    """One note on all peers that are references themselves, and one on those whose topic has no other reference.

    ``own`` says which reference each such peer is, ``alone`` which topics have one reference only.
    """
    without = {key: name for key, name in own.items() if key[0] in alone}
    others = {key: name for key, name in own.items() if key[0] not in alone}
    for peers, one, several in (
        (others, "so it is scored against the others only", "so each is scored against the others only"),
        (without, "and its topic has no other, so it has no score", "and their topics have no other: no score"),
    ):
        if peers:
            listed = [f"{system} on {topic} is {name}" for (topic, system), name in sorted(peers.items())]
            some = "; ".join(listed[:3]) + ("; ..." if len(listed) > 3 else "")
            who = "1 peer is itself a reference" if len(peers) == 1 else f"{len(peers)} peers are references themselves"
            yield Problem("human peers", f"{who} ({some}), {one if len(peers) == 1 else several}", "warning")
