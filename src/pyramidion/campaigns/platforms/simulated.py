"""Nobody real: a platform without people, and people who are not there, to rehearse a campaign from end to end."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np

from pyramidion.campaigns.platforms import (
    Amount,
    Arrival,
    Submission,
    cents,
    check_id,
    check_places,
    check_study,
    check_web_address,
    read_ids,
)
from pyramidion.errors import UsageError, check_choice


class Simulated:
    """Keeps its books in memory: everything the port promises, at no cost.

    Entry by the parameters ``worker``, ``session`` and ``study``. It pays as Prolific does: a bonus that is paid twice
    is paid twice. References are counted, so that the same calls always get the same ones.
    """

    name = "simulated"
    pays = True

    def __init__(self, study: str = "rehearsal", completion: str = "", places: int = 0) -> None:
        self._study = check_id("the study id", study)
        self._completion = check_web_address("the completion URL", completion) if completion else None
        self._states: dict[str, str] = {}
        self._people: dict[str, str] = {}
        self._prepared: dict[str, tuple[str, Decimal]] = {}
        self.places = places
        self.reasons: dict[str, str] = {}
        self.return_requests: dict[str, tuple[str, ...]] = {}
        self.bonuses: list[tuple[str, Decimal]] = []

    def arrival(self, params: Mapping[str, str], /) -> Arrival:
        worker, session, study = read_ids(params, ("worker", "session", "study"))
        check_study(study, self._study)
        self._states.setdefault(session, "ACTIVE")
        self._people[session] = worker
        return Arrival(self.name, worker, session, study)

    def completion_url(self, _session: str, /, *, early: bool = False) -> str | None:
        return None if early else self._completion

    def set_state(self, session: str, state: str) -> None:
        """What a person does there: finish (AWAITING REVIEW), give up (RETURNED), run out of time (TIMED-OUT)."""
        self._must_know(session)
        self._states[session] = state

    def approve(self, sessions: Sequence[str], /) -> None:
        for session in sessions:
            self._must_know(session)
        self._states.update(dict.fromkeys(sessions, "APPROVED"))

    def reject(self, session: str, reason: str, _category: str = "OTHER", /) -> None:
        self._must_know(session)
        self._states[session] = "REJECTED"
        self.reasons[session] = reason

    def request_return(self, session: str, reasons: Sequence[str], /) -> None:
        self._must_know(session)
        self.return_requests[session] = tuple(reasons)

    def prepare_bonus(self, session: str, amount: Amount, /) -> str:
        self._must_know(check_id("a session id", session))
        reference = f"bonus-{len(self._prepared) + 1}"
        self._prepared[reference] = (session, cents(amount))
        return reference

    def pay_bonus(self, reference: str, /) -> None:
        if reference not in self._prepared:
            raise UsageError(f"the platform {self.name} has no bonus {reference!r}")
        self.bonuses.append(self._prepared[reference])

    def bonuses_paid(self, session: str, /) -> Decimal | None:
        self._must_know(session)
        return sum((amount for paid, amount in self.bonuses if paid == session), Decimal("0.00"))

    def add_places(self, more: int, /) -> int:
        self.places += check_places(more)
        return self.places

    def submissions(self) -> list[Submission]:
        return [Submission(session, self._people[session], state) for session, state in self._states.items()]

    def _must_know(self, session: str) -> None:
        if session not in self._states:
            raise UsageError(f"the platform {self.name} has no session {session!r}")


# ----------------------------------------------------------------------
# Simulated workers: how well, how fast and how reliably they work.


@dataclass(frozen=True, slots=True)
class SimulatedWorker:
    """Chances are from 0 to 1.

    ``accuracy``   to answer a question rightly; otherwise the opposite is said
    ``bias``       added to the chance of saying "present" (of a high rating, of preferring the first summary)
    ``seconds``    the usual time for a task
    ``laziness``   to give the same answer to everything in a task
    ``abandon``    to leave a task without an answer
    ``twice``      to submit an answer twice, as an impatient double click does
    """

    name: str
    accuracy: float = 0.9
    bias: float = 0.0
    seconds: float = 60.0
    laziness: float = 0.0
    abandon: float = 0.0
    twice: float = 0.0

    def __post_init__(self) -> None:
        for what in ("accuracy", "laziness", "abandon", "twice"):
            _check_share(f"worker {self.name}: {what}", getattr(self, what))
        if not -1 <= self.bias <= 1:
            raise UsageError(f"worker {self.name}: bias is from -1 to 1, not {self.bias}")
        if not 0 < self.seconds < math.inf:
            raise UsageError(f"worker {self.name}: seconds must be above 0, not {self.seconds}")

    def working_time(self, rng: np.random.Generator) -> float:
        """Seconds for one task: around the usual time, now and then much longer."""
        return self.seconds * math.exp(0.3 * rng.standard_normal())


def crowd(
    count: int,
    rng: np.random.Generator,
    *,
    careless: float = 0.2,
    adversarial: float = 0.05,
    abandon: float = 0.0,
    twice: float = 0.0,
    prefix: str = "worker",
) -> list[SimulatedWorker]:
    """A mixed crowd in random order: shares of careless and adversarial people, and the rest careful.

    The careful are right 85 to 98% of the time, the careless 55 to 75%, often uniformly and fast; the adversarial
    mostly say the opposite.
    """
    _check_share("careless", careless)
    _check_share("adversarial", adversarial)
    if count < 0 or careless + adversarial > 1:
        raise UsageError("a crowd needs 0 or more people, and its shares must sum to at most 1")
    careless_count, adversarial_count = round(count * careless), round(count * adversarial)
    careless_count = min(careless_count, count - adversarial_count)
    kinds = ["careless"] * careless_count + ["adversarial"] * adversarial_count
    kinds += ["careful"] * (count - len(kinds))
    width = len(str(count))
    return [
        _person(f"{prefix}-{number:0{width}}", kinds[i], rng, abandon, twice)
        for number, i in enumerate(rng.permutation(count), 1)
    ]


def _person(name: str, kind: str, rng: np.random.Generator, abandon: float, twice: float) -> SimulatedWorker:
    low, high, bias, seconds, laziness = _KINDS[kind]
    return SimulatedWorker(
        name,
        accuracy=float(rng.uniform(low, high)),
        bias=float(rng.uniform(-bias, bias)),
        seconds=float(seconds * rng.uniform(0.7, 1.5)),
        laziness=laziness,
        abandon=abandon,
        twice=twice,
    )


_KINDS = {
    # accuracy from, to, most bias, seconds, laziness
    "careful": (0.85, 0.98, 0.03, 90.0, 0.0),
    "careless": (0.55, 0.75, 0.15, 25.0, 0.25),
    "adversarial": (0.02, 0.2, 0.0, 15.0, 0.1),
}


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
    return _ANSWERS[page["kind"]](worker, page, truth or NOT_KNOWN, rng)


def _judge(worker: SimulatedWorker, page: Page, truth: Truth, rng: np.random.Generator) -> dict[str, Any]:
    units = page["units"]
    if rng.random() < worker.laziness:
        return {"units": dict.fromkeys((unit["id"] for unit in units), _says_yes(worker, 0.5, rng))}
    return {"units": {unit["id"]: _presence(worker, unit, page, truth, rng) for unit in units}}


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
