"""What automatic evaluation has to do, topic by topic, and what there is to say about a study beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyramidion.errors import InputError, Problem
from pyramidion.pyramids.build import NAME, is_built
from pyramidion.scoring.choice import own_references
from pyramidion.scoring.missing import scored_by_others
from pyramidion.study import Pyramid, Study, Summary


@dataclass(frozen=True)
class TopicJob:
    """What is to be done for one topic. Where there is no pyramid yet, one is built from the references.

    ``own`` names the reference that a human peer is, by system: it is scored against the others.
    """

    topic: str
    references: Mapping[str, str]
    peers: Mapping[str, str]
    pyramid: Pyramid | None = None
    name: str = NAME
    explain: bool = False
    own: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How much work it is, in peers; building a pyramid counts as one."""
        return len(self.peers) + 1

    @property
    def contributing(self) -> tuple[str, ...]:
        """The references that the pyramid has, or will have."""
        if self.pyramid is not None:
            return self.pyramid.references
        return tuple(name for name, text in self.references.items() if _has_words(text))

    def peers_by_own_reference(self) -> dict[str, list[tuple[str, str]]]:
        """Systems and texts by the reference they are, and by nothing where they are none."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for system, text in self.peers.items():
            groups.setdefault(self.own.get(system, ""), []).append((system, text))
        return groups


def topic_jobs(
    study: Study, *, pyramid: str | None = None, peers: bool = True, rebuild: bool = False, explain: bool = False
) -> list[TopicJob]:
    """A job for each topic that has a pyramid or references; refuses a study without any such topic.

    ``pyramid`` names the one to use, whoever made it; by default it is the one that was built here. A topic without it
    gets one from its references, and so do all topics where ``rebuild`` says so.
    """
    references, candidates = _by_topic(study.references), _by_topic(study.peers if peers else ())
    own = own_references(study) if peers else {}
    name = pyramid or NAME
    found = []
    for topic in study.topics:
        mine, theirs = references.get(topic.id, {}), candidates.get(topic.id, {})
        held = None if rebuild else study.pyramid(topic.id, name)
        if held is not None and pyramid is None and not is_built(held):
            held = None
        job = TopicJob(topic.id, mine, theirs, held, name, explain)
        if not job.contributing and held is None:
            continue
        same = {system: ref for system in theirs if (ref := own.get((topic.id, system))) in job.contributing}
        found.append(replace(job, own=same))
    if not found:
        problems = [replace(problem, severity="error") for problem in without_references(study, found, peers=peers)]
        raise InputError(problems or Problem("study", "there are no topics with references"))
    return found


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def without_references(study: Study, jobs: Iterable[TopicJob], *, peers: bool = True) -> Iterator[Problem]:
    """Topics, of those that have ``peers`` where these matter, with nothing to build a pyramid from."""
    done = {job.topic for job in jobs}
    known = {summary.topic for summary in study.references}
    wanted = {summary.topic for summary in study.peers} if peers else {topic.id for topic in study.topics}
    for topic in study.topics:
        if topic.id in wanted - done:
            what = "its references are empty" if topic.id in known else "has no references"
            yield Problem(f"topic {topic.id}", f"{what}, so there is nothing to build a pyramid from", "warning")


def _by_topic(summaries: Iterable[Summary]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for summary in summaries:
        found.setdefault(summary.topic, {})[summary.system] = summary.text
    return found


# -- what is said about them ----------------------------------------------------------------------------------


def human_peers(jobs: Sequence[TopicJob]) -> Iterator[Problem]:
    """What is said about peers that are references: they are scored against the others, if there are any."""
    own = {(job.topic, system): reference for job in jobs for system, reference in job.own.items()}
    return scored_by_others(own, {job.topic for job in jobs if len(job.contributing) == 1})


def foreign(study: Study) -> list[Problem]:
    """One warning for all texts mostly in other letters than the segmenter and the encoder were trained on."""
    strange = [s for s in study.summaries if _is_foreign(s.text)]
    if not strange:
        return []
    first = f"{strange[0].role} {strange[0].system} of topic {strange[0].topic}"
    what = (
        f"mostly not in Latin letters (the first is {first}); segmenter and encoder know English, so clauses and "
        "similarities are less reliable"
    )
    return [Problem(f"{len(strange)} of {len(study.summaries)} texts", what, "warning")]


def _is_foreign(text: str) -> bool:
    if text.isascii():
        return False
    letters = [character for character in text if character.isalpha()]
    latin = sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters)
    return latin * 2 < len(letters)
