"""People who are not there, to rehearse a campaign: how they read, how well and how fast they work, and how they cheat.

careful         reads the instructions; right 85 to 98% of the time
careless        skims them; right 55 to 75% of the time, often uniformly and fast
adversarial     reads them, and mostly says the opposite
bot             reads nothing and answers at random, in no time
copier          copies the text's sentences as statements; elsewhere gives the same answers in every task
speeder         knows what to do and hardly looks
straight-liner  gives one answer to everything in a task
colluder        one of a pair who send the same answers
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from pyramidion.campaigns.checks import Check
from pyramidion.encoder.sentences import sentence_spans
from pyramidion.errors import UsageError, check_choice

WorkerKind = Literal["careful", "careless", "adversarial", "bot", "copier", "speeder", "straight-liner", "colluder"]
WORKER_KINDS: tuple[WorkerKind, ...] = get_args(WorkerKind)


@dataclass(frozen=True, slots=True)
class SimulatedWorker:
    """Chances are from 0 to 1.

    ``accuracy``   to answer a question rightly; otherwise the opposite is said
    ``bias``       added to the chance of saying "present" (of a high rating, of preferring the first summary)
    ``seconds``    the usual time for a task
    ``laziness``   to give the same answer to everything in a task
    ``abandon``    to leave a task without an answer
    ``twice``      to submit an answer twice, as an impatient double click does
    ``reading``    to know the answer to a question about the instructions; otherwise it is guessed
    ``pair``       the name of the pair that a colluder belongs to
    """

    name: str
    accuracy: float = 0.9
    bias: float = 0.0
    seconds: float = 60.0
    laziness: float = 0.0
    abandon: float = 0.0
    twice: float = 0.0
    reading: float = 1.0
    kind: WorkerKind = "careful"
    pair: str = ""

    def __post_init__(self) -> None:
        for what in ("accuracy", "laziness", "abandon", "twice", "reading"):
            _check_share(f"worker {self.name}: {what}", getattr(self, what))
        if not -1 <= self.bias <= 1:
            raise UsageError(f"worker {self.name}: bias is from -1 to 1, not {self.bias}")
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"worker {self.name}: seconds must be above 0, not {self.seconds}")

    def working_time(self, rng: np.random.Generator, kind: str = "judge") -> float:
        """Seconds for one task: around the usual time, now and then much longer. Writing takes three times as long."""
        return (3 if kind == "write" else 1) * self.seconds * math.exp(0.3 * rng.standard_normal())

    def answer_check(self, check: Check, rng: np.random.Generator) -> dict[str, str]:
        """What this person answers to the questions about the instructions.

        A guess is drawn as a distance from the right option: every option is as likely as any other, and a seed gives
        the same campaign again although each study has an order of its own.
        """
        answers = {}
        for question in check.questions:
            options = len(question.options)
            distance = 0 if rng.random() < self.reading else int(rng.integers(options))
            answers[question.id] = str((question.right - 1 + distance) % options + 1)
        return answers


class _Traits(NamedTuple):
    """Between which values the people of a kind are."""

    accuracy: tuple[float, float]
    most_bias: float
    seconds: float
    laziness: float
    reading: tuple[float, float]


_TRAITS: dict[WorkerKind, _Traits] = {
    "careful": _Traits((0.85, 0.98), 0.03, 90.0, 0.0, (0.93, 1.0)),
    "careless": _Traits((0.55, 0.75), 0.15, 25.0, 0.25, (0.5, 0.9)),
    "adversarial": _Traits((0.02, 0.2), 0.0, 15.0, 0.1, (0.8, 1.0)),
    "bot": _Traits((0.5, 0.5), 0.0, 2.0, 0.0, (0.0, 0.0)),
    "copier": _Traits((0.5, 0.5), 0.0, 80.0, 0.0, (0.6, 1.0)),
    "speeder": _Traits((0.65, 0.85), 0.05, 8.0, 0.1, (0.6, 1.0)),
    "straight-liner": _Traits((0.5, 0.5), 0.0, 80.0, 1.0, (0.6, 1.0)),
    "colluder": _Traits((0.6, 0.8), 0.05, 80.0, 0.0, (0.6, 1.0)),
}


def crowd(
    count: int,
    rng: np.random.Generator,
    *,
    shares: Mapping[WorkerKind, float] | None = None,
    careless: float = 0.2,
    adversarial: float = 0.05,
    abandon: float = 0.0,
    twice: float = 0.0,
    prefix: str = "worker",
) -> list[SimulatedWorker]:
    """A mixed crowd in random order: shares of each kind, and the rest careful. Colluders come in pairs."""
    asked: dict[WorkerKind, float] = {**(shares or {}), "careless": careless, "adversarial": adversarial}
    for kind, share in asked.items():
        _check_share(f"the share of {kind}s", share)
    if count < 0 or sum(asked.values()) > 1 + 1e-9:
        raise UsageError("a crowd needs 0 or more people, and its shares must sum to at most 1")
    kinds: list[WorkerKind] = []
    for kind, share in reversed(asked.items()):
        size = 2 * round(count * share / 2) if kind == "colluder" else round(count * share)
        kinds += [kind] * min(size, count - len(kinds))
    kinds += ["careful"] * (count - len(kinds))
    width = len(str(count))
    people = [
        _person(f"{prefix}-{number:0{width}}", kinds[i], rng, abandon, twice)
        for number, i in enumerate(rng.permutation(count), 1)
    ]
    return _in_pairs(people, prefix)


def _person(name: str, kind: WorkerKind, rng: np.random.Generator, abandon: float, twice: float) -> SimulatedWorker:
    traits = _TRAITS[kind]
    return SimulatedWorker(
        name,
        accuracy=float(rng.uniform(*traits.accuracy)),
        bias=float(rng.uniform(-traits.most_bias, traits.most_bias)),
        seconds=float(traits.seconds * rng.uniform(0.7, 1.5)),
        laziness=traits.laziness,
        abandon=abandon,
        twice=twice,
        reading=float(rng.uniform(*traits.reading)),
        kind=kind,
    )


def _in_pairs(people: list[SimulatedWorker], prefix: str) -> list[SimulatedWorker]:
    """The same people, with every second colluder as skilled as the one before and in one pair with them."""
    pairs: dict[str, str] = {}
    colluders = [person.name for person in people if person.kind == "colluder"]
    for place, name in enumerate(colluders):
        pairs[name] = f"{prefix}-pair-{place // 2 + 1}"
    first = {pairs[person.name]: person for person in reversed(people) if person.name in pairs}
    return [
        replace(person, pair=pair, accuracy=first[pair].accuracy, bias=first[pair].bias)
        if (pair := pairs.get(person.name, ""))
        else person
        for person in people
    ]


def _check_share(what: str, share: float) -> None:
    if not 0 <= share <= 1:
        raise UsageError(f"{what} must be between 0 and 1, not {share}")


# ----------------------------------------------------------------------
# Statements cut from a text as a hasty crowd would: one clause each, with the subject of its sentence before it.

MIN_WORDS, MAX_WORDS = 4, 20
MAX_CHARACTERS = 500
WINDOW = 8

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_CLAUSE = re.compile(r",?\s+(?:and|but|while|because|although)\s+|,\s+(?:which|who)\s+")
_OPENING = re.compile(r"\A(?:and|but|so|also|however|moreover|meanwhile|then)\b,?\s+", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:The|An?|This|These|His|Her|Its|Their)\s+\w+|[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*")
_OWN_SUBJECT = re.compile(r"[A-Z\d]|(?:the|an?|this|these|no|some|many|his|her|its|their|he|she|it|they|there)\b")


class Cutter:
    """Cuts statements from one text; everything it gives is short enough for the server."""

    def __init__(self, text: str, rng: np.random.Generator) -> None:
        self._sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
        self._rng = rng

    def statements(self, count: int) -> list[str]:
        """This many different statements, spread over the text and in its order."""
        written = self._some(_distinct(self._pieces()), count)
        if len(written) < count:
            more = _distinct([*written, *self._windows()])[len(written) :]
            written += self._some(more, count - len(written))
        # The text may be too short for that many: fill up with statements that say so.
        return written + [f"Nothing more is said in place {place}." for place in range(len(written) + 1, count + 1)]

    def _some(self, pieces: list[str], count: int) -> list[str]:
        return [pieces[i] for i in sorted(self._rng.permutation(len(pieces))[:count])]

    def too_long(self) -> str:
        """A statement with two or more sentences, which workers are told not to write."""
        start = int(self._rng.integers(max(len(self._sentences) - 2, 0) + 1))
        return " ".join(self._sentences[start : start + 3])[:MAX_CHARACTERS].strip() or "Nothing is said. Nothing."

    def _pieces(self) -> Iterator[str]:
        for sentence in self._sentences:
            clauses = _CLAUSE.split(_OPENING.sub("", sentence.strip(), count=1))
            subject = _SUBJECT.match(clauses[0])
            for place, clause in enumerate(clauses):
                alone = place == 0 or _OWN_SUBJECT.match(clause) or subject is None
                statement = clause if alone or subject is None else f"{subject[0]} {clause}"
                if MIN_WORDS <= len(statement.split()) <= MAX_WORDS:
                    yield _as_sentence(statement)

    def _windows(self) -> Iterator[str]:
        """Pieces of sentences, wherever they begin: bad statements, but statements."""
        for words in map(str.split, self._sentences):
            for start in range(max(len(words) - WINDOW, 0) + 1):
                yield _as_sentence(" ".join(words[start : start + WINDOW]))


def _as_sentence(statement: str) -> str:
    plain = statement.strip(" ,;:.!?\t\n")[: MAX_CHARACTERS - 1].strip()
    return f"{plain[:1].upper()}{plain[1:]}." if plain else ""


def _distinct(statements: Iterable[str]) -> list[str]:
    """The first of those with the same words, without empty ones."""
    first: dict[frozenset[str], str] = {}
    for statement in statements:
        if statement.strip(" ."):
            first.setdefault(frozenset(re.findall(r"\w+", statement.casefold())), statement)
    return list(first.values())


# ----------------------------------------------------------------------
# What a simulated worker answers to a task page of any kind.
#
# The right answer comes from ``truth`` where it is known: 0 or 1 for a unit, a rating for an aspect, the qualities of
# ``first`` and ``second`` in a comparison. Otherwise shared words decide: a unit is present when most of its words
# are in the summary, and a summary is as good as the share of the references' words that it has.

Page = Mapping[str, Any]
Truth = Mapping[str, float]

NOT_KNOWN: Truth = MappingProxyType({})
PRESENT = 0.6
"""A summary with at least this share of a unit's words is taken to express it."""
SAME = 0.02
"""Summaries whose qualities differ less are equally good."""
NOISE = 0.08
"""Standard deviation of a rating, as a share of the scale."""


def answer(worker: SimulatedWorker, page: Page, truth: Truth | None, rng: np.random.Generator) -> dict[str, Any]:
    """A complete answer to a task page; right or wrong, but always one that the server accepts."""
    check_choice("kind of task", page["kind"], _ANSWERS)
    if worker.kind == "bot":
        return _random_answer(page, rng)
    if worker.kind == "copier":
        return _copy(page) if page["kind"] == "write" else _random_answer(page, own_generator(worker.name))
    shared = own_generator(worker.pair, page.get("task", "")) if worker.kind == "colluder" else rng
    return _ANSWERS[page["kind"]](worker, page, truth or NOT_KNOWN, shared)


def own_generator(*names: str) -> np.random.Generator:
    """Draws the same for the same names: what a pair has agreed on, or somebody always answers."""
    return np.random.default_rng(list("\0".join(names).encode()))


def _random_answer(page: Page, rng: np.random.Generator) -> dict[str, Any]:
    """What somebody clicks who has read nothing."""
    if page["kind"] == "judge":
        return _with_evidence(page, {unit["id"]: int(rng.integers(2)) for unit in page["units"]})
    if page["kind"] == "rate":
        bounds = {a["id"]: (math.ceil(a["low"]), math.floor(a["high"])) for a in page["aspects"]}
        return {"aspects": {id: int(rng.integers(low, high + 1)) for id, (low, high) in bounds.items()}}
    if page["kind"] == "compare":
        return {"winner": ("first", "second", "tie")[int(rng.integers(3))]}
    words = " ".join(page["references"]).split() or ["word"]
    lines = [" ".join(words[i] for i in rng.integers(len(words), size=WINDOW)) for _ in range(page["statements"])]
    return {"statements": [line[:MAX_CHARACTERS] for line in lines], "pasted": []}


def _copy(page: Page) -> dict[str, Any]:
    """The text's own sentences, in its order; from the beginning again where there are too few."""
    sentences = [s.strip()[:MAX_CHARACTERS] for s in _SENTENCE_END.split(" ".join(page["references"])) if s.strip()]
    copied = (sentences or ["Nothing is said."]) * page["statements"]
    return {"statements": copied[: page["statements"]], "pasted": copied[:1]}


def _judge(worker: SimulatedWorker, page: Page, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    units = page["units"]
    if rng.random() < worker.laziness:
        return _with_evidence(page, dict.fromkeys((unit["id"] for unit in units), _says_yes(worker, 0.5, rng)))
    return _with_evidence(page, {unit["id"]: _presence(worker, unit, page, truth, rng) for unit in units})


def _with_evidence(page: Page, units: dict[str, int]) -> dict[str, Any]:
    """Where words have to be marked, the sentence that shares most with the unit; in an empty text nothing is found."""
    text, labels = page["summary"], {unit["id"]: unit["label"] for unit in page["units"]}
    if not page.get("evidence") or not (sentences := sentence_spans(text)):
        return {"units": dict.fromkeys(units, 0) if page.get("evidence") else units}
    best = {id: max(sentences, key=lambda span: _share(labels[id], span.of(text))) for id in units}
    return {"units": units, "evidence": {id: [list(best[id])] for id, value in units.items() if value}}


def _presence(worker: SimulatedWorker, unit: Page, page: Page, truth: Truth, rng: np.random.Generator) -> int:
    known = truth.get(unit["id"])
    present = _share(unit["label"], page["summary"]) >= PRESENT if known is None else known >= 0.5
    return _says_yes(worker, worker.accuracy if present else 1 - worker.accuracy, rng)


def _says_yes(worker: SimulatedWorker, chance: float, rng: np.random.Generator) -> int:
    return int(rng.random() < chance + worker.bias)


def _rate(worker: SimulatedWorker, page: Page, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    if rng.random() < worker.laziness:
        # "Usually all 10s": Gillick and Liu 2010, section 3.
        return {"aspects": {aspect["id"]: math.floor(aspect["high"]) for aspect in page["aspects"]}}
    quality = _quality(page["summary"], page["references"])
    right = rng.random() < worker.accuracy
    return {"aspects": {a["id"]: _rating(worker, a, truth.get(a["id"]), quality, right, rng) for a in page["aspects"]}}


def _rating(
    worker: SimulatedWorker,
    aspect: Page,
    known: float | None,
    quality: float,
    right: bool,
    rng: np.random.Generator,
) -> int:
    low, high = aspect["low"], aspect["high"]
    place = quality if known is None else (known - low) / (high - low)
    seen = (place if right else 1 - place) + worker.bias + NOISE * rng.standard_normal()
    return int(min(max(round(low + seen * (high - low)), math.ceil(low)), math.floor(high)))


def _compare(worker: SimulatedWorker, page: Page, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    if rng.random() < worker.laziness:
        return {"winner": "first"}
    first, second = (
        truth.get(name, _quality(text, page["references"]))
        for name, text in zip(("first", "second"), page["candidates"], strict=True)
    )
    if abs(first - second) < SAME:
        if rng.random() < worker.accuracy:
            return {"winner": "tie"}
        chance = 0.5
    else:
        chance = worker.accuracy if first > second else 1 - worker.accuracy
    return {"winner": "first" if _says_yes(worker, chance, rng) else "second"}


def _write(worker: SimulatedWorker, page: Page, _truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    cutter = Cutter(" ".join(page["references"]), rng)
    wanted = page["statements"]
    written = cutter.statements(wanted)
    if rng.random() < worker.laziness:
        return {"statements": written[:1] * wanted, "pasted": []}
    for number in range(wanted):
        if rng.random() >= worker.accuracy:
            written[number] = cutter.too_long() if number == 0 or rng.random() < 0.5 else written[number - 1]
    return {"statements": written, "pasted": []}


_ANSWERS: dict[str, Callable[[SimulatedWorker, Page, Truth, np.random.Generator], dict[str, Any]]] = {
    "write": _write,
    "judge": _judge,
    "rate": _rate,
    "compare": _compare,
}


# -- shared words --------------------------------------------------------------------------------------------


def _quality(text: str, references: list[str]) -> float:
    """The quality from 0 to 1; 0.5 if there is nothing to compare with."""
    told = [_share(reference, text) for reference in references if reference.strip()]
    # The root, since good summaries share only a quarter of their words: ratings then use the whole scale.
    return math.sqrt(sum(told) / len(told)) if told else 0.5


def _share(wanted: str, text: str) -> float:
    """The share of one text's words that another has."""
    words = _words(wanted)
    return len(words & _words(text)) / len(words) if words else 0.0


def _words(text: str) -> set[str]:
    """Words of more than three letters, which are mostly content; all of them where a text has only short ones."""
    words = set(re.findall(r"\w+", text.casefold()))
    return {word for word in words if len(word) > 3} or words
