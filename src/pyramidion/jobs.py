"""What an automatic evaluation has to do, topic by topic, and which topics are worked on together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.formats.resumable import fingerprint
from pyramidion.judges import TopicToJudge, texts_by_topic
from pyramidion.pyramids.build import NAME, is_built
from pyramidion.pyramids.choices import Choices
from pyramidion.scoring.choice import own_references, scored_by_others, without_references
from pyramidion.study import Pyramid, Study

TEXTS_AT_ONCE = 128
"""Texts of small topics that are encoded together, and lost where a run is interrupted."""


@dataclass(frozen=True)
class TopicJob:
    """What is to be done for one topic; without a pyramid, one is built from the references. ``own`` names the
    reference that a human peer is, by system: it is scored against the others."""

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
        return tuple(name for name, text in self.references.items() if any(map(str.isalnum, text)))

    def peers_by_own_reference(self) -> dict[str, dict[str, str]]:
        """Texts by system, grouped by the reference they are; those that are none come under an empty name."""
        groups: dict[str, dict[str, str]] = {}
        for system, text in self.peers.items():
            groups.setdefault(self.own.get(system, ""), {})[system] = text
        return groups


@dataclass(frozen=True)
class TopicBatch:
    """Topics that are worked on together."""

    jobs: tuple[TopicJob, ...]

    @property
    def size(self) -> int:
        return sum(job.size for job in self.jobs)


def topic_batches(jobs: Sequence[TopicJob], workers: int = 1) -> Iterator[TopicBatch]:
    """Topics in their order: a large one by itself, small ones together, but so that every worker has some."""
    share = sum(len(job.references) + len(job.peers) for job in jobs) // workers
    most = min(TEXTS_AT_ONCE, share)
    batch: list[TopicJob] = []
    texts = 0
    for job in jobs:
        size = len(job.references) + len(job.peers)
        if batch and texts + size > most:
            yield TopicBatch(tuple(batch))
            batch, texts = [], 0
        batch.append(job)
        texts += size
    if batch:
        yield TopicBatch(tuple(batch))


def topic_jobs(
    study: Study, *, pyramid: str | None = None, peers: bool = True, rebuild: bool = False, explain: bool = False
) -> list[TopicJob]:
    """A job for each topic that has a pyramid or references; refuses a study without any such topic. ``pyramid`` names
    the one to use, whoever made it; by default it is the one that was built here. A topic without it gets one from its
    references; with ``rebuild``, all topics do."""
    references, candidates = texts_by_topic(study.references), texts_by_topic(study.peers if peers else ())
    own = own_references(study) if peers else {}
    name = pyramid or NAME
    jobs = []
    for topic in study.topics:
        mine, theirs = references.get(topic.id, {}), candidates.get(topic.id, {})
        held = None if rebuild else study.pyramid(topic.id, name)
        if held is not None and pyramid is None and not is_built(held):
            held = None
        job = TopicJob(topic.id, mine, theirs, held, name, explain)
        if job.contributing or held is not None:
            same = {system: ref for system in theirs if (ref := own.get((topic.id, system))) in job.contributing}
            jobs.append(replace(job, own=same))
    if not jobs:
        problems = [replace(problem, severity="error") for problem in without_references(study, (), peers=peers)]
        raise InputError(problems or Problem("study", "there are no topics with references"))
    return jobs


def check_pyramid(study: Study, name: str | None) -> None:
    """Refuse an unknown pyramid name: only pyramids called `auto` are built."""
    if name not in {None, NAME, *study.pyramid_names}:
        known = ", ".join(study.pyramid_names) or "none"
        raise UsageError(
            f"the study has no pyramid called {name!r} (it has: {known}); only {NAME!r} is built if it is missing"
        )


def human_peers(jobs: Sequence[TopicJob]) -> Iterator[Problem]:
    """Peers that are references: they are scored against the others, if there are any."""
    own = {(job.topic, system): reference for job in jobs for system, reference in job.own.items()}
    return scored_by_others(own, {job.topic for job in jobs if len(job.contributing) == 1})


@cache
def models_digest() -> str:
    """A digest of what the package ships: a run by other models does not go on where this one ends."""
    held = files("pyramidion.data")
    parts = (held.joinpath(name).read_bytes() for name in ("encoder.onnx", "judge.json", "segmenter.npz"))
    return sha256(b"".join(parts)).hexdigest()


def job_key(job: TopicJob, choices: Choices) -> str:
    """The same for the same texts, choices, models and version, and for nothing else."""
    model = Path(choices.embedder.partition(":")[2])
    trained = sha256(model.read_bytes()).hexdigest() if model.is_file() else ""
    signature = str(choices.signature(pyramid=job.name))
    return fingerprint(signature, models_digest(), trained, dict(job.references), dict(job.peers), repr(job.pyramid))


def judged_topics(study: Study, pyramid: str) -> list[TopicToJudge]:
    """The pyramids of a name, each with the peers of its topic and the references it comes from; refuses a study
    without any. A peer that is a reference itself is asked about beside the others only."""
    peers, references, own = texts_by_topic(study.peers), texts_by_topic(study.references), own_references(study)
    asked = []
    for held in study.pyramids:
        if held.name == pyramid and held.topic in peers:
            groups: dict[str, dict[str, str]] = {}
            for system, text in peers[held.topic].items():
                groups.setdefault(own.get((held.topic, system), ""), {})[system] = text
            known = {name: text for name, text in references.get(held.topic, {}).items() if name in held.references}
            for mine, texts in groups.items():
                others = held.without(mine) if mine in held.references else held
                texts_of_others = [text for name, text in known.items() if name != mine]
                if others.units:
                    asked.append(TopicToJudge(others, texts, texts_of_others))
    if not asked:
        raise InputError(Problem(f"pyramid {pyramid}", "no topic has both this pyramid and peers to judge"))
    return asked
