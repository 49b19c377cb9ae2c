"""Answers that nobody thought about: copied from the text, from one's own other tasks, or from another worker.

Like the other signs (pyramidion.campaigns.signs) they are a reason to look, not a verdict, so the limits are such
that they hardly ever point at people who work by themselves:

copied            nine of ten statements, and at least eight, are whole sentences of the text. Workers are told to copy
                  where they can, so some will be; but some sentences tell several facts or need the one before.
repeated answers  the same varied sequence of answers to three tasks or more about different units, where answers given
                  at the person's own rates would repeat like that less than once in a million times.
same as another   two workers agree more than people of their skill do by chance, or have three of four written
                  statements in common where others have far fewer: over all pairs of a campaign, the chance to flag
                  anybody who works alone is about 1%. Tasks with the same answer throughout are left out: people
                  who give one answer to everything agree without knowing each other, and are flagged for that.

What two workers should disagree on follows from how far each of them disagrees with the others on the same tasks, and
these with each other: agreement beyond chance is the product of what each shares with the truth. Hard and easy tasks,
careless and careful others change all of these alike. Answers are compared only on tasks that at least two others have
done; without them nobody can say what is usual.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Literal

from pyramidion.encoder.sentences import sentence_spans

MIN_COPIED, MIN_COPIED_SHARE = 8, 0.9
MIN_REPEATED_TASKS, REPEATED_BY_CHANCE = 3, 1e-6
SAME_BY_CHANCE = 0.01
"""The chance that any pair of a campaign is flagged although everybody works alone."""
MIN_OTHERS = 2
MIN_SAME_SHARE = 0.75
"""Two writers with fewer statements in common have each written something."""
MIN_USUAL = 0.05
"""At least this share of statements may be the same by chance, however rarely it happens in a campaign."""


def normal(text: str) -> str:
    """A text without differences in case and spacing."""
    return " ".join(text.casefold().split())


def _bare(text: str) -> str:
    return normal(text).strip(" .,;:!?\"'“”‘’")


# -- from the text -------------------------------------------------------------------------------------------


def count_copied(statements: Iterable[str], source: str) -> int:
    """How many statements are whole sentences of the source, or what is between its semicolons."""
    return sum(_bare(statement) in _pieces(source) for statement in statements)


@lru_cache(maxsize=1000)
def _pieces(source: str) -> frozenset[str]:
    sentences = [span.of(source) for span in sentence_spans(source)]
    return frozenset(_bare(piece) for sentence in sentences for piece in (sentence, *sentence.split(";")))


# -- from one's own other tasks ------------------------------------------------------------------------------

Sequences = Mapping[str, tuple[frozenset[str], tuple[float | None, ...]]]
"""What one worker answered, by task: the units asked about, and the answers in the order of the page."""


def repeated_tasks(work: Sequences) -> list[str]:
    """The tasks of one worker that have the same varied answers, by what is asked; empty where that may be chance."""
    tasks: dict[tuple[float | None, ...], dict[frozenset[str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for task, (units, answers) in work.items():
        if len(set(answers)) > 1:
            tasks[answers][units].append(task)
    given = Counter(answer for _, answers in work.values() for answer in answers)
    different = len({units for units, _ in work.values()})
    repeated = []
    for answers, same in tasks.items():
        # The same units for another summary may rightly have the same answers: they count once.
        if len(same) >= MIN_REPEATED_TASKS:
            likely = math.prod(given[answer] / given.total() for answer in answers)
            if math.comb(different, len(same)) * likely ** (len(same) - 1) <= REPEATED_BY_CHANCE:
                repeated += [task for found in same.values() for task in found]
    return sorted(repeated)


# -- from another worker -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Twin:
    """Whose answers are the same as somebody's, in which tasks, and how that shows."""

    judge: str
    detail: str
    tasks: tuple[str, ...]


Answers = Mapping[str, Mapping[str, Sequence[Hashable]]]
"""Answers by task and judge; in each task everybody answers the same questions in the same order."""


@dataclass
class _Pair:
    """Disagreements of two judges on the tasks they share: with each other, of either with the others, of the others
    among themselves, and of answers to different questions; each with the number of comparisons."""

    tasks: set[str] = field(default_factory=set)
    different: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    compared: Counter[str] = field(default_factory=Counter)

    def add(self, who: str, disagreements: float, comparisons: int) -> None:
        self.different[who] += disagreements
        self.compared[who] += comparisons

    def rate(self, who: str) -> float:
        return self.different[who] / self.compared[who] if self.compared[who] else 0.0

    @property
    def expected(self) -> float:
        """The share of questions on which the two should disagree, at least: each part of the estimate is one standard
        error off, in the direction in which the two may rightly be more alike."""
        chance = self.rate("chance")
        if not chance:
            return 0.0
        first, second, others = (1 - self.rate(who) / chance for who in ("first", "second", "others"))
        others -= self._error("others") / chance
        sign = 1 if first + second > 0 else -1  # people who say the opposite are alike, too
        first, second = (sign * k + self._error(who) / chance for k, who in ((first, "first"), (second, "second")))
        alike = first * second / others if others > 0 else 1.0
        return chance * (1 - min(max(alike, 0.0), 1.0))

    def _error(self, who: str) -> float:
        """The standard error of a rate. Comparisons on one question hang together: all of one judge's are one, those of
        the others among themselves as many as there are couples of different people."""
        rate, questions = self.rate(who), self.compared["pair"]
        number = self.compared["first"] / 2 if who == "others" else questions
        return math.sqrt(rate * (1 - rate) / number)

    @property
    def by_chance(self) -> float:
        """How likely so few disagreements are, at most."""
        return _tail(self.compared["pair"], 1 - self.rate("pair"), 1 - self.expected)


def _tail(number: int, seen: float, expected: float) -> float:
    """At most so likely is at least this share of so many trials (Chernoff's bound for a binomial)."""
    if seen <= expected:
        return 1.0
    distance = seen * math.log(seen / expected) if expected else math.inf
    if seen < 1:
        distance += (1 - seen) * math.log((1 - seen) / (1 - expected))
    return math.exp(-number * distance)


_Pairs = dict[tuple[str, str], _Pair]


def find_twins(work: Answers) -> dict[str, Twin]:
    """Judges who agree with another one more than people do by chance, each with the judge that is most alike.

    Once a pair is found, one of the two is left out: answers that were given twice do not show what is usual.
    """
    left = {task: dict(work[task]) for task in sorted(work)}
    pairs: _Pairs = defaultdict(_Pair)
    for task, answers in left.items():
        _count(pairs, task, answers)
    limit = SAME_BY_CHANCE / max(1, len(pairs))
    found: dict[str, Twin] = {}
    while pairs:
        names, pair = min(pairs.items(), key=lambda item: (item[1].by_chance, item[0]))
        if pair.by_chance > limit:
            break
        number = pair.compared["pair"]
        same, usual = number - round(pair.different["pair"]), number * (1 - pair.expected)
        for judge, other in (names, names[::-1]):
            detail = f"the same answer as {other} to {same} of {number} questions, where {usual:.0f} would be usual"
            found.setdefault(judge, Twin(other, detail, tuple(sorted(pair.tasks))))
        _leave_out(pairs, left, names[1])
    return found


def _leave_out(pairs: _Pairs, work: dict[str, dict[str, Sequence[Hashable]]], judge: str) -> None:
    for task, answers in work.items():
        if judge in answers:
            _count(pairs, task, answers, -1)
            del answers[judge]
            _count(pairs, task, answers)
    for names in [names for names in pairs if judge in names]:
        del pairs[names]


def _count(pairs: _Pairs, task: str, answers: Mapping[str, Sequence[Hashable]], sign: Literal[1, -1] = 1) -> None:
    """Count a task in, or out again. At least two others must have done it."""
    judges = sorted(answers)
    others = len(judges) - 2
    if others < MIN_OTHERS:
        return
    questions = min(len(answers[judge]) for judge in judges)
    differ = {
        (a, b): sum(x != y for x, y in zip(answers[a], answers[b], strict=False)) for a, b in combinations(judges, 2)
    }
    with_anybody: Counter[str] = Counter()
    for (a, b), number in differ.items():
        with_anybody[a] += number
        with_anybody[b] += number
    given = Counter(answer for judge in judges for answer in answers[judge])
    chance = 1 - sum((count / given.total()) ** 2 for count in given.values()) if given else 0.0
    everything = sum(differ.values())
    for (a, b), number in differ.items():
        pair = pairs[a, b]
        pair.tasks ^= {task}
        rest = everything - with_anybody[a] - with_anybody[b] + number
        pair.add("pair", sign * number, sign * questions)
        pair.add("first", sign * (with_anybody[a] - number), sign * questions * others)
        pair.add("second", sign * (with_anybody[b] - number), sign * questions * others)
        pair.add("others", sign * rest, sign * questions * math.comb(others, 2))
        pair.add("chance", sign * chance * questions, sign * questions)


def find_twin_writers(work: Answers) -> dict[str, Twin]:
    """Writers most of whose statements are those of another one, far more than any two have in common."""
    shared: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    written: Counter[tuple[str, str]] = Counter()
    for task, answers in sorted(work.items()):
        texts = {judge: {_bare(str(text)) for text in answers[judge]} for judge in answers}
        for pair in combinations(sorted(texts), 2):
            first, second = (texts[judge] for judge in pair)
            shared[pair][task] += len(first & second)
            written[pair] += max(len(first), len(second))
    usual = sum(tasks.total() for tasks in shared.values()) / max(1, written.total())
    usual = max(usual, MIN_USUAL)
    found: dict[str, Twin] = {}
    for names, tasks in sorted(shared.items(), key=lambda item: (-item[1].total(), item[0])):
        same, number = tasks.total(), written[names]
        if same < MIN_SAME_SHARE * number or _tail(number, same / number, usual) > SAME_BY_CHANCE / len(shared):
            continue
        for judge, other in (names, names[::-1]):
            detail = f"{same} of {number} statements as {other} wrote them, where {usual * number:.0f} would be usual"
            found.setdefault(judge, Twin(other, detail, tuple(sorted(+tasks))))
    return found
