"""A program as a judge: ask it about every unit and every peer, keep what it says like anybody's judgments, score."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyramidion.errors import InputError, Problem, UsageError
from pyramidion.judges import Mention, Part, PresenceJudge, Questions, Verdicts, cut, make_judge
from pyramidion.scoring import lite
from pyramidion.scoring.choice import TO_BE_JUDGED, named_pyramid
from pyramidion.study import Judge, Judgment, Judgments, ScoreTable, Signature, Study
from pyramidion.study.judgments import JudgmentsBuilder

DEFAULT = "align"
T = TypeVar("T")


class Job(NamedTuple):
    """The units of a topic's pyramid and the texts of its peers, by id and by system."""

    topic: str
    units: Mapping[str, str]
    peers: Mapping[str, str]


@dataclass(frozen=True)
class JudgedStudy:
    """Scores, and the study with the judgments behind them."""

    table: ScoreTable
    study: Study = field(repr=False)


def judge_study(
    study: Study,
    judge: str | PresenceJudge = DEFAULT,
    *,
    pyramid: str | None = None,
    threshold: float | None = None,
    evidence: bool = True,
) -> JudgedStudy:
    """Judge and score all peers: by probabilities, or by yes and no from a threshold on."""
    asked = make_judge(judge) if isinstance(judge, str) else judge
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"a threshold is a probability from 0 to 1, not {threshold}")
    name = named_pyramid(study.pyramid_names, pyramid, prefer=TO_BE_JUDGED)
    found = JudgmentsBuilder()
    for judgment in judgments(jobs(study, name), asked, threshold=threshold, evidence=evidence):
        found.add(judgment)
    judged = with_judgments(study, asked.name, found.build())
    table = lite.score(judged, pyramid=name, judges=asked.name, aggregate="mean", min_agreement=None)
    values = "soft" if threshold is None else f"from-{threshold:g}"
    signature = Signature.of("lite", pyramid=name, judges=asked.name, kind="model", values=values)
    notes = (*study.notes, *_empty(study, name), *table.notes)
    return JudgedStudy(replace(table, signature=signature, notes=notes), judged)


def jobs(study: Study, pyramid: str) -> list[Job]:
    """One for each topic that has the pyramid and peers; refuses a study without any."""
    peers: dict[str, dict[str, str]] = {}
    for peer in study.peers:
        peers.setdefault(peer.topic, {})[peer.system] = peer.text
    found = [
        Job(held.topic, {unit.id: unit.label for unit in held.sampled}, peers[held.topic])
        for held in study.pyramids
        if held.name == pyramid and held.topic in peers
    ]
    if not found:
        raise InputError(Problem(f"pyramid {pyramid}", "no topic has both this pyramid and peers to judge"))
    return found


def questions(asked: Iterable[Job]) -> Iterator[Questions]:
    """Everything that would be asked, for an estimate."""
    for job in asked:
        yield from (part.questions for part in cut(list(job.units.values()), list(job.peers.values())))


def judgments(
    asked: Iterable[Job], judge: PresenceJudge, *, threshold: float | None = None, evidence: bool = True
) -> Iterator[Judgment]:
    """As the topics come, so that neither they nor the judgments need fit into memory.

    Evidence is given for what is present by the threshold, or by the judge's own where values are probabilities.
    """
    parts = ((job, part) for job in asked for part in cut(list(job.units.values()), list(job.peers.values())))
    least = judge.threshold if threshold is None else threshold
    for (job, part), verdicts in answered(parts, judge):
        units = list(job.units)[part.units.start : part.units.stop]
        systems = list(job.peers)[part.summaries.start : part.summaries.stop]
        for column, system in enumerate(systems):
            for row, unit in enumerate(units):
                probability = float(verdicts.probability[row, column])
                present = probability >= least
                value = probability if threshold is None else float(present)
                mention = verdicts.evidence(row, column) if evidence and present else ()
                yield Judgment(job.topic, system, judge.name, value, unit=unit, evidence=(mention,) if mention else ())


def answered(parts: Iterable[tuple[T, Part]], judge: PresenceJudge) -> Iterator[tuple[tuple[T, Part], Verdicts]]:
    """Each part with its verdicts; the judge reads ahead as far as it likes."""
    waiting: deque[tuple[T, Part]] = deque()

    def ask() -> Iterator[Questions]:
        for each in parts:
            waiting.append(each)
            yield each[1].questions

    for verdicts in judge.judge(ask()):
        yield waiting.popleft(), verdicts


def with_judgments(study: Study, judge: str, new: Judgments) -> Study:
    """The study with these judgments of a model, in place of what it said before about the same units."""
    held = next((known for known in study.judges if known.id == judge), None)
    if held is not None and held.kind != "model":
        raise UsageError(f"the study has a judge {judge!r} of kind {held.kind}; rename it before a model judges")
    again = {(judgment.topic, judgment.system, judgment.unit) for judgment in new}
    kept = [j for j in study.judgments if j.judge != judge or (j.topic, j.system, j.unit) not in again]
    judges = study.judges if held else (*study.judges, Judge(judge, "model"))
    return replace(study, judges=judges, judgments=Judgments([*kept, *new]))


def _empty(study: Study, pyramid: str) -> list[Problem]:
    topics = {held.topic for held in study.pyramids if held.name == pyramid}
    return [
        Problem(f"topic {peer.topic}, system {peer.system}", "is empty, so every unit is absent", "warning")
        for peer in study.peers
        if peer.topic in topics and not peer.text.strip()
    ]


# -- without a study -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """Units x summaries: the probability that each unit is in each summary; numpy takes it for an array.

    ``evidence`` says where, by (unit, summary), for what is present; it is filled where asked for.
    """

    probability: NDArray[np.float64]
    threshold: float
    evidence: Mapping[tuple[int, int], Mention] = field(default_factory=dict)

    @property
    def present(self) -> NDArray[np.bool_]:
        return self.probability >= self.threshold

    @property
    def shape(self) -> tuple[int, ...]:
        return self.probability.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.probability, dtype=dtype, copy=copy)

    def __getitem__(self, place: Any) -> Any:
        return self.probability[place]

    def __len__(self) -> int:
        return len(self.probability)


def judge(
    units: Sequence[str],
    summaries: Sequence[str],
    *,
    judge: str | PresenceJudge = DEFAULT,
    threshold: float | None = None,
    evidence: bool = False,
) -> Presence:
    """Is each unit in each summary? Probabilities as a matrix, units x summaries.

    >>> import pyramidion as pyr
    >>> found = pyr.judge(["The river rose."], ["On Friday the river rose.", "The shop will close."], evidence=True)
    >>> found.present.tolist()
    [[True, False]]
    """
    for what, texts in (("units", units), ("summaries", summaries)):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{what} are a list of texts")
    asked = _remembered(judge) if isinstance(judge, str) else judge
    least = asked.threshold if threshold is None else threshold
    probability = np.zeros((len(units), len(summaries)))
    where: dict[tuple[int, int], Mention] = {}
    for (_, part), verdicts in answered(((None, part) for part in cut(units, summaries)), asked):
        first, left = part.units.start, part.summaries.start
        probability[first : part.units.stop, left : part.summaries.stop] = verdicts.probability
        if evidence:
            for row, column in np.argwhere(verdicts.probability >= least).tolist():
                where[first + row, left + column] = verdicts.evidence(row, column)
    return Presence(probability, least, where)


@cache
def _remembered(spec: str) -> PresenceJudge:
    """Loading a model takes longer than most questions."""
    return make_judge(spec)
