"""What do people and a model say together? Scores from people's answers to a random part of the questions and a model's
judgments of all of them, with intervals that hold however bad the model is (stats/combining has the estimate).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import get_args

import numpy as np

from pyramidion.analysis.answer import Answer, Estimate, Intervals, Table, count, show
from pyramidion.analysis.asked_design import Chosen, asked_parts, choose_design, without_unasked
from pyramidion.analysis.asked_items import Items, Row, items_of_ratings, items_of_units
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.scoring.choice import PEOPLE
from pyramidion.stats.combining import LEAST_PARTS, LEAST_TOPICS, AskedParts, Combined, Floats, Question
from pyramidion.stats.combining import combine as estimate
from pyramidion.study import Score, ScoreTable, Signature, Study

ABOUT = {"these": "these topics", "topics": "topics of this kind"}


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """A system's score by both, and by people alone from the same answers; ``answered`` counts the questions."""

    system: str
    score: float
    low: float
    high: float
    people: float
    people_low: float
    people_high: float
    answered: int


@dataclass(frozen=True, slots=True)
class PairEstimate:
    """``differ``: the interval, which holds for this pair alone, does not contain 0."""

    better: str
    worse: str
    difference: float
    low: float
    high: float
    differ: bool


@dataclass(frozen=True)
class Combination:
    """``worth`` is the number of further questions that people alone would have had to answer for the same intervals;
    None where everything was asked. ``shared`` and ``apart`` are the weights of the model (lambda): in what it says
    about all systems, and about their differences. ``half_width`` is that of a difference, on average over pairs.
    ``table`` has the estimates for every other command.
    """

    question: Question
    measure: str
    systems: tuple[SystemEstimate, ...]
    pairs: tuple[PairEstimate, ...]
    answered: int
    questions: int
    topics: int
    shared: float
    apart: float
    correlation: float | None
    half_width: float
    people_half_width: float
    worth: float | None
    table: ScoreTable


def combine(
    study: Study,
    *,
    people: str = PEOPLE,
    model: str = "align",
    question: Question = "topics",
    aspect: str | None = None,
    pyramid: str | None = None,
    topics: Collection[str] | None = None,
    aggregate: str = "majority",
    chances: Mapping[Row, float] | None = None,
    assume_random: bool = False,
    level: float = 0.05,
) -> Answer[Combination]:
    """Combine the judgments of people on a random part of a study with those of a model on all of it.

    ``people`` and ``model`` are judges: a kind, "people" or an id. ``question`` is "topics" (topics of this kind) or
    "these" (these topics only); ``topics`` restricts the study to some, by name or pattern. With an ``aspect``, ratings
    are combined instead of judged units. ``chances`` are the probabilities with which units were asked, by (topic,
    unit), if the study's tasks do not record them; ``assume_random`` says that what was asked was drawn at random.
    """
    check_choice("question", question, get_args(Question))
    check_choice("aggregate", aggregate, ("majority", "mean", "wawa"))
    if not 0 < level < 1:
        raise UsageError(f"level must be between 0 and 1, not {level}")
    for (topic, unit), chance in (chances or {}).items():
        if not 0 < chance <= 1:
            raise UsageError(f"the probability of {unit} of {topic} must be above 0 and at most 1, not {chance:g}")
    if aspect is None:
        items = items_of_units(study, people=people, model=model, pyramid=pyramid, aggregate=aggregate)
    else:
        items = items_of_ratings(study, aspect, people=people, model=model)
    items = items.of_topics(topics)
    if chances is None:
        items = without_unasked(study, items)
    chosen = choose_design(study, items, chances=chances, assume_random=assume_random)
    parts = asked_parts(items, chosen)
    check_enough(parts, items.systems, question)
    both, alone = estimate(parts), estimate(parts, with_model=False)
    signature = _signature(items, chosen, question, model, aggregate if aspect is None else "mean", level)
    notes = (*items.notes, *chosen.notes, *_missing(items, chosen, both))
    measure = "lite" if aspect is None else aspect
    table = _score_table(items, both, question, level, measure, signature, notes)
    result = _combination(items, chosen, both, alone, question, level, measure, table)
    figure = Intervals(
        f"{measure}: {100 - 100 * level:g}% intervals, people and {model}",
        measure,
        tuple(Estimate(s.system, s.score, s.low, s.high) for s in result.systems),
    )
    return Answer(
        "combine", _sentence(result, model), _tables(result, model, level), signature, result, (figure,), notes
    )


def check_enough(parts: AskedParts, systems: tuple[str, ...], question: Question, least: int = LEAST_PARTS) -> None:
    """Refuse what is too little for an interval; says how much is needed."""
    if len(systems) < 2:
        raise UsageError(f"a comparison needs at least 2 systems; there is {', '.join(systems) or 'none'}")
    taken, places = parts.asked_about, parts.places
    short = (parts.taken < 2) & (parts.taken < places[:, None])
    few = int(np.argmin(taken.sum(axis=0)))
    total = int(taken[:, few].sum())
    if total < max(min(least, places.sum() - int(parts.absent[:, few].sum())), 2) or short.any():
        system = int(np.argmax(short.any(axis=0))) if short.any() else few
        raise UsageError(
            f"people answered {count(int(taken[:, system].sum()), 'drawn part')} about {systems[system]} (a part is "
            "what was drawn together: units of a topic, or a topic); an interval needs at least "
            f"{least}, and 2 in each stratum"
        )
    topics = parts.topics_of_system
    if question == "topics" and topics.min() < LEAST_TOPICS:
        fewest = int(np.argmin(topics))
        raise UsageError(
            f"an interval for topics of this kind needs at least {LEAST_TOPICS} topics, not {topics[fewest]} as for "
            f"{systems[fewest]}; ask about these topics instead (--question these)"
        )


# -- what it says --------------------------------------------------------------------------------------------


def _combination(
    items: Items,
    chosen: Chosen,
    both: Combined,
    alone: Combined,
    question: Question,
    level: float,
    measure: str,
    table: ScoreTable,
) -> Combination:
    scale = items.high - items.low
    with_model, by_people = both.intervals(question, level), alone.intervals(question, level)
    given = ~np.isnan(items.people) & chosen.asked

    def place(value: float) -> float:
        return float(items.low + scale * value)

    systems = [
        SystemEstimate(
            name,
            place(both.scores[i]),
            place(with_model.of_scores.low[i]),
            place(with_model.of_scores.high[i]),
            place(alone.scores[i]),
            place(by_people.of_scores.low[i]),
            place(by_people.of_scores.high[i]),
            int(given[:, i].sum()),
        )
        for i, name in enumerate(items.systems)
    ]
    order = sorted(range(len(systems)), key=lambda i: (-systems[i].score, systems[i].system))
    low, high = with_model.of_differences
    pairs = tuple(
        PairEstimate(
            items.systems[i],
            items.systems[j],
            float(scale * (both.scores[i] - both.scores[j])),
            float(scale * low[i, j]),
            float(scale * high[i, j]),
            bool(low[i, j] > 0 or high[i, j] < 0),
        )
        for i, j in combinations(order, 2)
    )
    upper = np.triu_indices(len(systems), 1)
    widths = [
        float(scale * (found.of_differences.high - found.of_differences.low)[upper].mean() / 2)
        for found in (with_model, by_people)
    ]
    answered, total = int(given.sum()), int(items.exist.sum())
    return Combination(
        question=question,
        measure=measure,
        systems=tuple(systems[i] for i in order),
        pairs=pairs,
        answered=answered,
        questions=total,
        topics=len(both.by_topic),
        shared=both.lambdas[0],
        apart=both.lambdas[1],
        correlation=_correlation(items.people[given], items.model[given]),
        half_width=widths[0],
        people_half_width=widths[1],
        worth=_worth(both, alone, answered, total),
        table=table,
    )


def _correlation(people: Floats, model: Floats) -> float | None:
    if len(people) < 3 or np.ptp(people) == 0 or np.ptp(model) == 0:
        return None
    return float(np.corrcoef(people, model)[0, 1])


def _worth(both: Combined, alone: Combined, answered: int, total: int) -> float | None:
    """Further answers by people alone for the same variance of a difference: as the sample grows, that variance falls
    with 1/n - 1/N."""
    upper = np.triu_indices(both.by_topic.shape[1], 1)
    mine, theirs = (found.variance_of_differences("these")[upper].mean() for found in (both, alone))
    if answered >= total or theirs <= 0:
        return None
    wanted = mine / theirs * (1 / answered - 1 / total) + 1 / total
    return float(max(1 / wanted - answered, 0.0))


def _score_table(
    items: Items,
    both: Combined,
    question: Question,
    level: float,
    measure: str,
    signature: Signature,
    notes: tuple[Problem, ...],
) -> ScoreTable:
    scale = items.high - items.low
    cells = items.low + scale * both.by_topic
    scores = [
        Score(topic, system, measure, float(cells[t, s]))
        for t, topic in enumerate(items.topics)
        for s, system in enumerate(items.systems)
        if not np.isnan(cells[t, s])
    ]
    table = ScoreTable.of_summaries(scores, signature, notes)
    low, high = both.intervals(question, level).of_scores
    ends = tuple(
        Score(None, system, f"{measure}-{name}", float(items.low + scale * end[s]))
        for s, system in enumerate(items.systems)
        for name, end in (("low", low), ("high", high))
    )
    return ScoreTable(table.scores + ends, signature, notes, (measure, f"{measure}-low", f"{measure}-high"))


def _signature(items: Items, chosen: Chosen, question: Question, model: str, aggregate: str, level: float) -> Signature:
    answered = int((~np.isnan(items.people) & chosen.asked).sum())
    return Signature.of(
        "lite" if items.pyramid else "responsiveness",
        **({"pyramid": items.pyramid} if items.pyramid else {}),
        judges=f"{items.judges}+{model}",
        estimate=True,
        about=question,
        asked=f"{chosen.design} {answered} of {int(items.exist.sum())}",
        aggregate=aggregate,
        level=level,
    )


def _missing(items: Items, chosen: Chosen, both: Combined) -> list[Problem]:
    """Questions that were asked and not answered, and the most that their answers could change."""
    lacking = chosen.asked & np.isnan(items.people) & items.exist
    number = int(lacking.sum())
    if not number:
        return []
    changes = []
    for value in (0.0, 1.0):
        filled = np.where(lacking, value, items.people)
        changes.append(np.abs(estimate(asked_parts(items, chosen, filled)).scores - both.scores).max())
    most = float(max(changes)) * (items.high - items.low)
    what = (
        f"{number:,} of {int(chosen.asked.sum()):,} questions that were asked have no answer; the estimate takes them "
        f"to be missing at random. If all were answered alike, no score would change by more than {show(most)}"
    )
    return [Problem("missing answers", what, "warning")]


# -- how people see it ---------------------------------------------------------------------------------------


def _sentence(result: Combination, model: str) -> str:
    percent = 100 * result.answered / result.questions
    start = f"People answered {result.answered:,} of {result.questions:,} questions ({percent:.3g}%). "
    about = f"For {ABOUT[result.question]}, the difference between two systems is known to "
    with_model, alone = (f"±{width:.3f}" for width in (result.half_width, result.people_half_width))
    if result.answered == result.questions:
        return f"{start}{about}{alone} on average; where everything was answered, {model} adds nothing."
    if result.worth is None:
        told = f"{start}{about}{with_model} on average with {model}"
        return f"{told}; people answered everything alike, so nothing can be said about its worth."
    text = f"{start}{about}{with_model} on average with {model}, and would be to {alone} by people alone: "
    worth = round(result.worth)
    if not worth:
        return f"{text}{model} was worth nothing."
    share = 100 * result.worth / result.answered
    return f"{text}{model} was worth {count(worth, 'further answer')} (+{share:.0f}%)."


def _tables(result: Combination, model: str, level: float) -> tuple[Table, ...]:
    confidence = f"{100 - 100 * level:g}%"
    systems = Table(
        f"{result.measure} by people and {model}, with {confidence} intervals for {ABOUT[result.question]}",
        ("system", result.measure, "low", "high", "people", "people low", "people high", "answered"),
        tuple(
            (s.system, s.score, s.low, s.high, s.people, s.people_low, s.people_high, s.answered)
            for s in result.systems
        ),
        "people: what the same answers give without the model. answered: questions about this system.",
        heads=("system", result.measure, "low", "high", "people", "low", "high", "answered"),
    )
    trust = Table(
        f"How far {model} is trusted",
        ("what", "value"),
        (
            ("correlation with people, question by question", result.correlation),
            ("lambda for what systems share", result.shared),
            ("lambda for what sets them apart", result.apart),
        ),
        "lambda: 0 leaves the model out, 1 takes it at its word; learnt from the other topics.",
    )
    pairs = Table(
        "Pairs of systems",
        ("better", "worse", "difference", "low", "high", "differ"),
        tuple((p.better, p.worse, p.difference, p.low, p.high, p.differ) for p in result.pairs),
        f"Each interval holds for its pair with {confidence}; of many pairs some differ by chance.",
        naming=2,
    )
    return systems, trust, pairs
