"""Nothing depends on the order of rows: every analysis and every method gives the same answer to shuffled input.

Which functions there are comes from the package itself: one that is added needs a case here.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.combined_studies import rated_study, study_of
from tests.strategies import crowds

import pyramidion as pyr
from pyramidion import analysis, plugins
from pyramidion.analysis import ScoredSettings
from pyramidion.analysis.differences import differences as differences_between
from pyramidion.analysis.systems import ranking
from pyramidion.analysis.votes import unit_votes
from pyramidion.campaigns.plan import Plan, plan
from pyramidion.study import Judge, Judgment, Judgments, Pyramid, Score, ScoreTable, Settings, Signature, Study

Thing = TypeVar("Thing")
Ask = Callable[[Callable[[Any], Any]], Any]
"""A case gets a function that shuffles (or leaves) each of its inputs, and returns the answer."""


# -- shuffling -----------------------------------------------------------------------------------------------------


def shuffled(thing: Any, rng: random.Random) -> Any:
    """The same thing with its rows in another order. The order of aspects, years and columns means something."""
    if isinstance(thing, Study):
        return _shuffled_study(thing, rng)
    if isinstance(thing, ScoreTable):
        return replace(thing, scores=_mixed(thing.scores, rng))
    if isinstance(thing, Mapping):
        return {key: shuffled(value, rng) for key, value in thing.items()}
    if isinstance(thing, ScoredSettings):
        return _shuffled_settings(thing, rng)
    return thing


def _mixed(rows: tuple[Thing, ...], rng: random.Random) -> tuple[Thing, ...]:
    return tuple(rng.sample(rows, len(rows)))


def _shuffled_study(study: Study, rng: random.Random) -> Study:
    def pyramid(held: Pyramid) -> Pyramid:
        units = (replace(unit, contributors=_mixed(unit.contributors, rng)) for unit in held.units)
        return replace(held, references=_mixed(held.references, rng), units=_mixed(tuple(units), rng))

    return replace(
        study,
        topics=_mixed(tuple(replace(t, documents=_mixed(t.documents, rng)) for t in study.topics), rng),
        summaries=_mixed(study.summaries, rng),
        pyramids=_mixed(tuple(map(pyramid, study.pyramids)), rng),
        judges=_mixed(study.judges, rng),
        judgments=Judgments(_mixed(tuple(study.judgments), rng)),
        tasks=_mixed(tuple(replace(t, units=_mixed(t.units, rng)) for t in study.tasks), rng),
        assignments=_mixed(study.assignments, rng),
    )


def _shuffled_settings(scored: ScoredSettings, rng: random.Random) -> ScoredSettings:
    order = [rng.sample(range(len(part)), len(part)) for part in (scored.settings, scored.topics, scored.systems)]
    settings, topics, systems = (
        tuple(part[place] for place in places)
        for part, places in zip((scored.settings, scored.topics, scored.systems), order, strict=True)
    )
    return replace(scored, settings=settings, topics=topics, systems=systems, scores=scored.scores[np.ix_(*order)])


def differences(one: Any, other: Any, where: str = "answer") -> Iterator[str]:
    """Where two answers are not the same; numbers may differ by rounding errors."""
    if isinstance(one, float) and isinstance(other, float):
        if one != pytest.approx(other, rel=1e-12, abs=1e-12, nan_ok=True):
            yield f"{where}: {one!r} and {other!r}"
    elif isinstance(one, np.ndarray):
        yield from differences(one.tolist(), other.tolist(), where)
    elif is_dataclass(one) and not isinstance(one, type) and type(one) is type(other):
        for part in fields(one):
            yield from differences(getattr(one, part.name), getattr(other, part.name), f"{where}.{part.name}")
    elif isinstance(one, tuple | list) and isinstance(other, tuple | list) and len(one) == len(other):
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{place}]")
    elif isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{where}[{key!r}]")
    elif one != other:
        yield f"{where}: {one!r} and {other!r}"


@cache
def expected(kind: str, name: str, number: int) -> Any:
    return case(kind, name, number)(lambda thing: thing)


def case(kind: str, name: str, number: int) -> Ask:
    if kind == "analysis":
        return ANALYSES[name][number]
    choices = METHODS[name][number]
    return lambda mix: pyr.score(mix(STUDY), name, **choices)


def assert_order_does_not_matter(kind: str, name: str, number: int, seed: int) -> None:
    rng = random.Random(seed)
    found = case(kind, name, number)(lambda thing: shuffled(thing, rng))
    assert list(differences(expected(kind, name, number), found))[:5] == []
    assert str(found) == str(expected(kind, name, number))


# -- inputs --------------------------------------------------------------------------------------------------------


def example() -> Study:
    """The bundled example with a second annotator and with head-to-head votes."""
    study = pyr.example()
    rng = random.Random(5)
    first = [j for j in study.judgments if j.judge == "annotator"]
    second = [replace(j, judge="second", value=_other(j, rng), evidence=()) for j in first]
    votes = [
        Judgment(topic.id, one, f"rater{1 + n % 2}", rng.choice([0.0, 0.5, 1.0]), aspect="overall", other=other)
        for topic in study.topics
        for n, (one, other) in enumerate(combinations(study.systems, 2))
    ]
    judgments = Judgments([*study.judgments, *second, *votes])
    return replace(study, judges=(*study.judges, Judge("second", "expert")), judgments=judgments)


def _other(judgment: Judgment, rng: random.Random) -> float | None:
    if judgment.value is None or not judgment.unit or rng.random() < 0.85:
        return judgment.value
    return float(judgment.value == 0)


STUDY = example()


def fractions(seed: int, measures: tuple[str, ...] = ("modified", "zeta", "alpha")) -> ScoreTable:
    """Scores whose sums depend on the order of adding, with some missing, over the example's topics and systems."""
    rng = random.Random(seed)
    systems = [*STUDY.systems, *(f"extra{n}" for n in range(3))]
    topics = [*(topic.id for topic in STUDY.topics), *(f"topic{n}" for n in range(8))]
    scores = [
        Score(topic, system, measure, None if rng.random() < 0.05 else rng.random() + 0.03 * number)
        for measure in measures
        for topic in topics
        for number, system in enumerate(systems)
    ]
    return ScoreTable.of_summaries(scores, Signature.of("drawn"))


def settings() -> ScoredSettings:
    rng = np.random.default_rng(4)
    grid = tuple((a, b) for a in (1.0, 2.0, 3.0) for b in (0.1, 0.2))
    topics, systems = tuple(topic.id for topic in STUDY.topics), STUDY.systems
    scores = rng.random((len(grid), len(topics), len(systems)))
    scores[3] = scores[1]  # two settings are equally good
    return ScoredSettings("coverage", ("alpha", "beta"), grid, topics, systems, scores, default=grid[2])


def years() -> dict[str, Study]:
    """Three years of the example, each with identical summaries in every topic and ratings of its own."""
    found = {}
    for place, year in enumerate(("2009", "2010", "2011")):
        rng = random.Random(place)
        texts = {(s.topic, s.system): s.text for s in STUDY.peers}
        copied = {"paraphrase": "extract"}
        summaries = tuple(
            replace(s, text=texts[s.topic, copied[s.system]]) if s.role == "peer" and s.system in copied else s
            for s in STUDY.summaries
        )
        judgments = Judgments(
            replace(j, value=min(10.0, max(1.0, (j.value or 0) + rng.choice([-1, 0, 1]))))
            if j.aspect == "overall"
            else j
            for j in STUDY.judgments
            if not j.other
        )
        found[year] = replace(STUDY, summaries=summaries, judgments=judgments)
    return found


def rivals() -> Study:
    """The example with a second pyramid of each topic: the expert's without every third unit."""
    held = [pyramid for pyramid in STUDY.pyramids if pyramid.name == "expert"]
    made = (
        replace(p, name="rival", units=tuple(replace(u, id=f"r{u.id}") for n, u in enumerate(p.units) if n % 3))
        for p in held
    )
    return replace(STUDY, pyramids=(*STUDY.pyramids, *made))


def with_model(missing: float = 0.05) -> Study:
    """The example with a model's judgments on the crowd's units, some of them missing."""
    rng = random.Random(6)
    asked = {(j.topic, j.system, j.unit) for j in STUDY.judgments if j.judge in STUDY.judges_of("crowd") and j.unit}
    answers = [
        Judgment(topic, system, "drawn", None if rng.random() < missing else rng.random(), unit=unit)
        for topic, system, unit in sorted(asked)
    ]
    judges = (*STUDY.judges, Judge("drawn", "model"))
    return replace(STUDY, judges=judges, judgments=Judgments([*STUDY.judgments, *answers]))


# -- analyses ------------------------------------------------------------------------------------------------------

ANALYSES: dict[str, list[Ask]] = {
    "agreement": [
        lambda mix: analysis.agreement(mix(STUDY), resamples=50, removals=20),
        lambda mix: analysis.agreement(mix(STUDY), aspect="overall", resamples=50, removals=20),
        lambda mix: analysis.agreement(mix(STUDY), pyramid="expert", kind="expert", distance="dice", resamples=50),
    ],
    "calibrate": [
        lambda mix: analysis.calibrate(mix(STUDY), aspect="overall", experts="rater1"),
        lambda mix: analysis.calibrate(mix(STUDY), mix(fractions(1)), aspect="content", adjust="shift"),
    ],
    "combine": [
        lambda mix: analysis.combine(mix(study_of(topics=8))),
        lambda mix: analysis.combine(mix(study_of(topics=8, drawn=False)), assume_random=True, aggregate="mean"),
        lambda mix: analysis.combine(mix(rated_study()), model="rater", aspect="overall", question="these"),
    ],
    "compare": [lambda mix: analysis.compare(mix(STUDY), resamples=50)],
    "consistency": [lambda mix: analysis.consistency(mix(years()), mix({"2010": fractions(2)}), resamples=50)],
    "correlate": [
        lambda mix: analysis.correlate(mix({"a": fractions(1), "b": fractions(2)}), gold="a:modified", resamples=50),
        lambda mix: analysis.correlate(mix(fractions(3)), gold="alpha", resamples=0, levels=["summary", "pooled"]),
    ],
    "differences": [
        lambda mix: differences_between(mix({"a": fractions(1)}), mix({"a": fractions(2)})),
        lambda mix: differences_between(
            {"a": fractions(1)}, {"a": fractions(1)}, studies=(mix(STUDY), mix(pyr.example()))
        ),
    ],
    "drop_topics": [lambda mix: analysis.drop_topics(mix(STUDY), mix(fractions(2)), share=0.25)],
    "grid_search": [lambda mix: analysis.grid_search(mix(settings()), mix(fractions(4)))],
    "metric_accuracy": [lambda mix: analysis.metric_accuracy(mix(fractions(5)), gold="modified", samples=10)],
    "plan": [lambda mix: analysis.plan(mix(STUDY), topics=(5,), units=(8,), workers=(3,), campaigns=10)],
    "plan_with_model": [
        lambda mix: analysis.plan_with_model(mix(with_model(missing=0.0)), "drawn", question="these"),
    ],
    "pyramid_pairs": [
        lambda mix: analysis.pyramid_pairs(mix(rivals()), pyramid="rival"),
        lambda mix: analysis.pyramid_pairs(mix(STUDY), pyramid="crowd"),
    ],
    "pyramid_size": [
        lambda mix: analysis.pyramid_size(mix(STUDY), judges="annotator"),
        lambda mix: analysis.pyramid_size(mix(STUDY), held_out="references", judges="annotator", most=3),
    ],
    "ranking": [lambda mix: ranking(mix(fractions(11)), resamples=50)],
    "reliability": [lambda mix: analysis.reliability(mix(STUDY), resamples=50)],
    "rerun": [lambda mix: analysis.rerun(mix(fractions(6)), mix(fractions(7)))],
    "resampling": [
        lambda mix: analysis.resampling(mix(STUDY), mix(fractions(8)), repetitions=3),
        lambda mix: analysis.resampling(mix(STUDY), repetitions=3, min_agreement=None),
    ],
    "significance": [
        lambda mix: analysis.significance(mix(fractions(9))),
        lambda mix: analysis.significance(mix(fractions(9)), test="wilcoxon", measure="zeta"),
        lambda mix: analysis.significance(mix(fractions(9)), test="bootstrap"),
    ],
    "trained_metric": [
        lambda mix: analysis.trained_metric(
            mix(years()),
            target="overall",
            features=mix({year: fractions(20, ("b", "a")) for year in years()}),
            lenient=True,  # some are missing
        )
    ],
    "stand_in": [lambda mix: analysis.stand_in(mix(with_model()), resamples=50)],
    "tukey": [
        lambda mix: analysis.tukey(mix(STUDY)),
        lambda mix: analysis.tukey(mix(fractions(10))),
    ],
    "unit_significance": [
        lambda mix: analysis.unit_significance(mix(STUDY)),
        lambda mix: analysis.unit_significance(mix(STUDY), kind="crowd", pyramid="crowd", test="permutation"),
    ],
}


PARTS = {"differences", "ranking"}
"""Analyses that other commands are made of."""


def test_every_analysis_has_a_case() -> None:
    public = {name for name in analysis.__all__ if inspect.isfunction(getattr(analysis, name))}
    assert set(ANALYSES) - PARTS == public, "an analysis that is added needs a case with shuffled rows"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, cases in ANALYSES.items() for number in range(len(cases))]
)
@hypothesis.settings(max_examples=3)
@given(seed=st.integers(0, 2**32))
def test_analyses_do_not_depend_on_the_order_of_rows(name: str, number: int, seed: int) -> None:
    assert_order_does_not_matter("analysis", name, number, seed)


# -- methods -------------------------------------------------------------------------------------------------------

MODELS = {"dawid-skene", "glad", "mace"}
"""Aggregators that take seconds; tests/scoring/test_crowd.py shuffles the rows they get."""

METHODS: dict[str, list[dict[str, Any]]] = {
    "pyramid": [{}, {"judges": "annotator"}],
    "lite": [
        *({"aggregate": name, "min_agreement": None} for name in plugins.names("aggregators") if name not in MODELS),
        {"aggregate": "wawa", "tie": "present"},
        {"compat": "litepyramids-2019", "min_agreement": None},  # its screening has an order: test_litepyramids.py
        {"rounds": 2},
    ],
    "responsiveness": [{}],
    "rouge": [{}, {"combine": "jackknife"}],
    "auto": [{}],
}


def test_every_method_has_a_case() -> None:
    assert set(METHODS) == set(plugins.names("methods")), "a method that is added needs a case with shuffled rows"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, cases in METHODS.items() for number in range(len(cases))]
)
@hypothesis.settings(max_examples=1)
@given(seed=st.integers(0, 2**32))
def test_methods_do_not_depend_on_the_order_of_rows(name: str, number: int, seed: int) -> None:
    assert_order_does_not_matter("method", name, number, seed)


@given(study=crowds(), seed=st.integers(0, 2**32))
def test_small_crowds_in_any_order(study: Study, seed: int) -> None:
    """Ties, gaps, single workers and single units, by what is fast enough for many of them."""
    mixed = shuffled(study, random.Random(seed))
    for ask in (
        *(lambda s, name=name: pyr.score(s, "lite", aggregate=name) for name in ("majority", "mean", "wawa")),
        lambda s: analysis.agreement(s, resamples=5, removals=5),
        lambda s: analysis.resampling(s, repetitions=2),
        lambda s: analysis.unit_significance(s, kind="crowd"),
    ):
        found = [_told(ask, s) for s in (study, mixed)]
        assert list(differences(*found))[:5] == []
        assert str(found[0]) == str(found[1])


def _told(ask: Callable[[Study], Any], study: Study) -> Any:
    """The answer, or why there is none."""
    try:
        return ask(study)
    except pyr.PyramidionError as error:
        return str(error)


def test_a_unit_asked_in_two_tasks_keeps_all_its_answers() -> None:
    # Two campaigns asked about u1 in tasks of their own: four workers, of whom three find it.
    answers = [("first", "w1", 1.0), ("first", "w2", 1.0), ("second", "w3", 1.0), ("second", "w4", 0.0)]
    judgments = [Judgment("t", "s", w, v, unit="u1", task=task) for task, w, v in answers]
    judgments += [Judgment("t", "s", "w1", 0.0, unit="u2", task="first")]
    units = tuple(pyr.ContentUnit(f"u{n}", "", (pyr.Contributor("A"),)) for n in (1, 2))
    study = Study(
        topics=(pyr.Topic("t"),),
        summaries=(pyr.Summary("t", "s", "text"),),
        pyramids=(Pyramid("t", ("A",), units, "crowd"),),
        judges=tuple(Judge(f"w{n}") for n in range(1, 5)),
        judgments=Judgments(judgments),
    )
    for order in permutations(judgments):
        votes = unit_votes(replace(study, judgments=Judgments(order)), min_agreement=None)
        np.testing.assert_array_equal(votes.answers[0, 0], [[1, 1, 1, 0], [0, np.nan, np.nan, np.nan]])
        assert votes.summary_scores().tolist() == [[0.5]]


def test_a_seeded_plan_does_not_depend_on_the_order_of_the_study() -> None:
    chosen = Settings.for_kind("judge", units_per_topic=6, units_per_task=3)
    for pyramid in ("crowd", "expert"):
        first, second = (
            plan(study, "judge", "judge", chosen, pyramid=pyramid)
            for study in (STUDY, shuffled(STUDY, random.Random(1)))
        )
        assert _asked(first) == _asked(second)


def test_a_seeded_plan_with_a_model_does_not_depend_on_the_order_of_the_study() -> None:
    chosen = Settings.for_kind("judge", model="drawn", question="these", share=0.5, until="top")
    study = with_model(missing=0.0)
    first, second = (plan(each, "judge", "judge", chosen) for each in (study, shuffled(study, random.Random(2))))
    assert first.parts == second.parts
    assert _asked(first) == _asked(second)


def _asked(planned: Plan) -> set[tuple[str, str, frozenset[str]]]:
    return {(task.topic, task.system, frozenset(task.units)) for task in planned.tasks}


# -- defaults ------------------------------------------------------------------------------------------------------


def test_the_default_measure_of_a_long_table_does_not_depend_on_its_rows(tmp_path: Path) -> None:
    table = fractions(1)
    answers = []
    for seed in range(4):
        path = tmp_path / f"{seed}.csv"
        pyr.write_scores(replace(table, scores=_mixed(table.scores, random.Random(seed))), path)
        answers.append(analysis.significance(pyr.read_scores(path)))
    assert {answer.result.measure for answer in answers} == {"modified"}
    assert len({answer.sentence for answer in answers}) == 1


def test_the_columns_of_a_wide_table_are_an_order(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("topic,system,zeta,alpha\nt1,a,1,2\nt1,b,2,1\n")
    assert pyr.read_scores(path).measures == ("zeta", "alpha")


@pytest.mark.parametrize("name", ["pyramid", "responsiveness", "rouge"])
def test_what_a_method_shows_first_is_the_default_of_its_saved_table(name: str, tmp_path: Path) -> None:
    table = pyr.score(STUDY, name)
    pyr.write_scores(table, tmp_path / "scores.csv")
    assert pyr.read_scores(tmp_path / "scores.csv").measures == table.measures
