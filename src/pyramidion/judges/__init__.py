"""Judges that are programs: which units of a pyramid are in which texts, to which degree, and where?

There is one port, `PyramidJudge`: a pyramid and texts in, judgments out. These judges are behind it:

- `LabelJudge` asks a presence judge about the label of each unit. ``align`` is the embedded model, ``lexical`` needs
  none, ``nli:MODEL`` asks any entailment model of Hugging Face, ``llm:MODEL`` any chat model behind an
  OpenAI-compatible endpoint. Others register as `pyramidion.judges`.
- `aligned.AlignedJudge` is ``auto``: the embedded model, asked in the same way, and what is outside of the pyramid.
- `contributors.ContributorJudge` is ``auto`` with a matcher, ``wmin`` or ``exact``, which looks for what the references
  say. Others register as `pyramidion.matchers`.
- `autoannotate.Autoannotator` looks for what people marked in other summaries.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import isnan
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyramidion import plugins
from pyramidion.errors import Problem, UsageError
from pyramidion.study import Judge, Judgment, Judgments, Pyramid, Study, Summary
from pyramidion.study.judgments import COVERED, PRESENT, Mention, verdict

DEFAULT = "align"
Doubles = NDArray[np.float64]
T = TypeVar("T")


class PyramidJudge(Protocol):
    """The port. ``texts`` are peers by system; ``references`` are the texts that the pyramid was made from, by name."""

    @property
    def name(self) -> str: ...

    def judge(self, pyramid: Pyramid, texts: Mapping[str, str], references: Mapping[str, str], /) -> Judgments: ...


# -- presence judges: questions in, probabilities out, and evidence when somebody asks for it ------------------


class Questions(NamedTuple):
    """Is each of these units in each of these summaries? A judge may look at the references that the units come from,
    and at all units of their pyramid."""

    units: Sequence[str]
    summaries: Sequence[str]
    references: Sequence[str] = ()
    pyramid: Sequence[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """Units x summaries: the probability of "present"; and, on request, where in a summary a unit is expressed.

    What the judge has not answered is NaN; ``missing`` says why, by (unit, summary). ``coverage`` is, by summary, how
    much it says of the references as a whole, if the judge knows.
    """

    probability: Doubles
    evidence: Callable[[int, int], Mention]
    missing: Mapping[tuple[int, int], str] = field(default_factory=dict)
    coverage: Doubles | None = None


class PresenceJudge(Protocol):
    """What a plugin provides. ``threshold`` is the probability from which a unit counts as present.

    It may also say from which probabilities on its answers read "expressed" and "perhaps", in attributes of these names
    (`bounds_of`).
    """

    @property
    def name(self) -> str: ...

    @property
    def threshold(self) -> float: ...

    def judge(self, questions: Iterable[Questions], /) -> Iterator[Verdicts]:
        """One answer for each of the questions, in order; a judge may read ahead to work in batches."""
        ...


class Bounds(NamedTuple):
    """The lowest probabilities that read "expressed" and "perhaps"."""

    expressed: float
    perhaps: float


YES_OR_NO = Bounds(PRESENT, PRESENT)


def bounds_of(judge: PresenceJudge) -> Bounds:
    """How a judge's answers read. One that only has a threshold never says "perhaps"."""
    expressed = float(getattr(judge, "expressed", judge.threshold))
    return Bounds(expressed, float(getattr(judge, "perhaps", expressed)))


def make_judge(spec: str, options: Mapping[str, Any] | None = None, *, threads: int | None = None) -> PresenceJudge:
    """The presence judge with a name: ``align``, or with its model ``nli:roberta-large-mnli``. One that computes with
    several ``threads`` is told how many."""
    name, _, model = spec.partition(":")
    factory = plugins.load("judges", name)
    accepted = {*inspect.signature(factory).parameters, *getattr(factory, "options", ())}
    if unknown := [option for option in options or {} if option not in accepted]:
        raise UsageError(f"judge {name} has no option {unknown[0]!r}")
    if "model" in accepted and not model:
        raise UsageError(f"judge {name} needs a model: {name}:MODEL")
    if model and "model" not in accepted:
        raise UsageError(f"judge {name} takes no model, so {spec!r} is not a judge")
    given = {"model": model} if model else {}
    computing = {"threads": threads} if threads and "threads" in accepted else {}
    judge: PresenceJudge = factory(**given, **computing, **(options or {}))
    return judge


class Block(NamedTuple):
    """Some of the units of a topic and some of its summaries."""

    units: range
    summaries: range
    questions: Questions


PAIRS_OF_WORDS = 4_000_000
"""A matrix of this size takes 16 MB: memory stays flat however many units there are and however long a summary is."""
WORDS_OF_SUMMARIES = 4_000


def cut(units: Sequence[str], summaries: Sequence[str], references: Sequence[str] = ()) -> Iterator[Block]:
    """Cut a topic into blocks that a judge can answer at once. Most topics are one block; texts are never cut."""
    for columns in _stretches(summaries, WORDS_OF_SUMMARIES):
        asked = summaries[columns.start : columns.stop]
        for rows in _stretches(units, PAIRS_OF_WORDS // max(1, sum(map(_size, asked)))):
            yield Block(rows, columns, Questions(units[rows.start : rows.stop], asked, references, units))


def _stretches(texts: Sequence[str], most: int) -> Iterator[range]:
    """Stretches of at most this many words, or of one longer text."""
    first, words = 0, 0
    for place, text in enumerate(texts):
        size = _size(text)
        if place > first and words + size > most:
            yield range(first, place)
            first, words = place, 0
        words += size
    if first < len(texts):
        yield range(first, len(texts))


def _size(text: str) -> int:
    """About as many words as it has; in a script without spaces every letter may be a word."""
    return max(1, len(text) // 6 if text.isascii() else len(text) // 2)


def answers(blocks: Iterable[tuple[T, Block]], judge: PresenceJudge) -> Iterator[tuple[T, Block, Verdicts]]:
    """Each block with its verdicts; the judge may read ahead."""
    waiting: deque[tuple[T, Block]] = deque()

    def ask() -> Iterator[Questions]:
        for each in blocks:
            waiting.append(each)
            yield each[1].questions

    for verdicts in judge.judge(ask()):
        yield *waiting.popleft(), verdicts


# -- pyramids by the labels of their units ----------------------------------------------------------------------


class TopicToJudge(NamedTuple):
    """A pyramid, texts by system, and the texts of the references that the pyramid comes from, none of which is among
    the others."""

    pyramid: Pyramid
    texts: Mapping[str, str]
    references: Sequence[str] = ()


@dataclass(frozen=True)
class LabelJudge:
    """Asks a presence judge whether each unit, in the words of its label, is in each text.

    Values are probabilities, or yes and no where there is a ``threshold``. Evidence is given for what is present by the
    threshold, or else for what is at least perhaps expressed. A unit that the presence judge did not answer has no
    value. ``called`` is another name for the judge, and with ``coverage`` it also says how much of the references each
    text says, if the presence judge knows.
    """

    presence: PresenceJudge
    threshold: float | None = None
    evidence: bool = True
    called: str = ""
    coverage: bool = False

    @property
    def name(self) -> str:
        return self.called or self.presence.name

    def judge(
        self, pyramid: Pyramid, texts: Mapping[str, str], references: Mapping[str, str] | None = None
    ) -> Judgments:
        return next(self.judge_all([TopicToJudge(pyramid, texts, list((references or {}).values()))]), Judgments())

    def judge_all(
        self, asked: Iterable[TopicToJudge], *, tell: Callable[[Problem], object] = lambda _: None
    ) -> Iterator[Judgments]:
        """Topic by topic as they come, so that neither topics nor judgments need fit into memory. ``tell`` is told
        which units stay without an answer, and why."""
        rows: list[Judgment] = []
        for (pyramid, texts, _), block, verdicts in answers(_blocks(asked), self.presence):
            rows += self._judgments(pyramid, list(texts), block, verdicts)
            for note in _missing(pyramid, list(texts), block, verdicts, self.name):
                tell(note)
            if block.units.stop == len(pyramid.sampled) and block.summaries.stop == len(texts):
                yield Judgments(rows)
                rows = []

    def _judgments(
        self, pyramid: Pyramid, systems: Sequence[str], block: Block, verdicts: Verdicts
    ) -> Iterator[Judgment]:
        own = min(self.presence.threshold, bounds_of(self.presence).perhaps)
        least = own if self.threshold is None else self.threshold
        units = pyramid.sampled[block.units.start : block.units.stop]
        for column, system in enumerate(systems[block.summaries.start : block.summaries.stop]):
            for row, unit in enumerate(units):
                probability = float(verdicts.probability[row, column])
                present = probability >= least
                value = None if isnan(probability) else probability if self.threshold is None else float(present)
                mention = verdicts.evidence(row, column) if self.evidence and present else ()
                evidence = (mention,) if mention else ()
                yield Judgment(pyramid.topic, system, self.name, value, unit=unit.id, evidence=evidence)
            if self.coverage and verdicts.coverage is not None and not block.units.start:
                said = float(verdicts.coverage[column])
                yield Judgment(pyramid.topic, system, self.name, said, aspect=COVERED)


def _missing(
    pyramid: Pyramid, systems: Sequence[str], block: Block, verdicts: Verdicts, judge: str
) -> Iterator[Problem]:
    """One note for all units of a summary that stay without an answer for the same reason."""
    alike: dict[tuple[int, str], list[str]] = {}
    for (row, column), reason in sorted(verdicts.missing.items(), key=lambda item: item[0][::-1]):
        alike.setdefault((column, reason), []).append(pyramid.sampled[block.units.start + row].id)
    for (column, reason), units in alike.items():
        where = f"topic {pyramid.topic}, system {systems[block.summaries.start + column]}"
        named = f"unit{'s' * (len(units) > 1)} {', '.join(units)}"
        yield Problem(where, f"{judge} gave no usable answer to {named}: {reason}", "warning")


def questions(asked: Iterable[TopicToJudge]) -> Iterator[Questions]:
    """Everything that a `LabelJudge` would ask, for an estimate."""
    return (block.questions for _, block in _blocks(asked))


def _blocks(asked: Iterable[TopicToJudge]) -> Iterator[tuple[TopicToJudge, Block]]:
    for each in asked:
        labels = [unit.label for unit in each.pyramid.sampled]
        for block in cut(labels, list(each.texts.values()), each.references):
            yield each, block


# -- studies -----------------------------------------------------------------------------------------------------


def texts_by_topic(summaries: Iterable[Summary]) -> dict[str, dict[str, str]]:
    """Texts by topic and system."""
    texts: dict[str, dict[str, str]] = {}
    for summary in summaries:
        texts.setdefault(summary.topic, {})[summary.system] = summary.text
    return texts


def with_judgments(study: Study, judge: str, new: Judgments, *, bounds: Bounds = YES_OR_NO) -> Study:
    """The study with these judgments of a model, replacing its earlier judgments on the same units."""
    held = next((known for known in study.judges if known.id == judge), Judge(judge, "model"))
    if held.kind != "model":
        raise UsageError(f"the study has a judge {judge!r} of kind {held.kind}; rename it before a model judges")
    known = study.judgments
    again = set(zip(new.topic, new.system, new.unit, strict=True))
    replaced = known.judge.is_in({judge})
    for row in np.flatnonzero(replaced).tolist():
        replaced[row] = (known.topic[row], known.system[row], known.unit[row]) in again
    judges = with_judge(study.judges, replace(held, **bounds._asdict()))
    return replace(study, judges=judges, judgments=known.take(~replaced) + new)


def with_judge(judges: Iterable[Judge], judge: Judge) -> tuple[Judge, ...]:
    """Judges with one more, in place of an earlier record of the same id."""
    return tuple(({known.id: known for known in judges} | {judge.id: judge}).values())


# -- without a study ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """Units x summaries: the probability that each unit is in each summary; numpy takes it for an array.

    ``evidence`` says where, by (unit, summary), for what is present or perhaps expressed; filled on request. What the
    judge did not answer is NaN, and ``missing`` says why. ``bounds`` say how probabilities read.
    """

    probability: Doubles
    threshold: float
    evidence: Mapping[tuple[int, int], Mention] = field(default_factory=dict)
    missing: Mapping[tuple[int, int], str] = field(default_factory=dict)
    bounds: Bounds = YES_OR_NO

    @property
    def present(self) -> NDArray[np.bool_]:
        return self.probability >= self.threshold

    @property
    def verdict(self) -> NDArray[np.str_]:
        """Units x summaries in words: "expressed", "perhaps" or "not found"; empty where there is no answer."""
        words = ["" if isnan(value) else verdict(value, *self.bounds) for value in self.probability.ravel().tolist()]
        return np.array(words, dtype=np.str_).reshape(self.shape)

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
    >>> found.verdict.tolist()
    [['expressed', 'not found']]
    """
    for what, texts in (("units", units), ("summaries", summaries)):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{what} must be a list of texts")
    asked = _remembered(judge) if isinstance(judge, str) else judge
    least = asked.threshold if threshold is None else threshold
    shown = min(least, bounds_of(asked).perhaps)
    probability = np.zeros((len(units), len(summaries)))
    mentions: dict[tuple[int, int], Mention] = {}
    missing: dict[tuple[int, int], str] = {}
    for _, block, verdicts in answers(((None, block) for block in cut(units, summaries)), asked):
        first, left = block.units.start, block.summaries.start
        probability[first : block.units.stop, left : block.summaries.stop] = verdicts.probability
        missing |= {(first + row, left + column): why for (row, column), why in verdicts.missing.items()}
        if evidence:
            for row, column in np.argwhere(verdicts.probability >= shown).tolist():
                mentions[first + row, left + column] = verdicts.evidence(row, column)
    return Presence(probability, least, mentions, missing, bounds_of(asked))


@cache
def _remembered(spec: str) -> PresenceJudge:
    """Loading a model takes longer than most questions."""
    return make_judge(spec)
