"""From a study to what a report shows: scores by every method, rankings, agreement, and each summary explained."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pyramidion import analysis
from pyramidion.analysis.agreement import Agreement
from pyramidion.analysis.answer import Answer, count
from pyramidion.analysis.correlate import Correlations
from pyramidion.analysis.inputs import dependence, measures_of
from pyramidion.analysis.ranking import ranking
from pyramidion.analysis.sources import scored_by_all, scored_by_models
from pyramidion.analysis.systems import compare_systems, main_measure
from pyramidion.errors import Problem, UsageError
from pyramidion.report.findings import Fact, Findings, Scored
from pyramidion.scoring.choice import Weights, choose
from pyramidion.scoring.explaining import KINDS, MIN_AGREEMENT, UnitsFound, shown_summaries, shown_topic, units_found
from pyramidion.scoring.methods import fitting_method, score
from pyramidion.scoring.pyramid import Annotators
from pyramidion.scoring.screening import WorkerAgreement, screen
from pyramidion.study import ScoreTable, Study


def findings(
    study: Study,
    *,
    method: str | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    weights: Weights | None = None,
    annotators: Annotators | None = None,
    metrics: Mapping[str, ScoreTable] | None = None,
    cost: str = "",
    resamples: int = 1000,
    seed: int = 0,
    progress: Callable[[str], object] = lambda _: None,
) -> Findings:
    """Score and analyse a study for a report.

    ``method`` is what the report is mainly about: by default the one that fits the study. ``pyramid``, ``judges``,
    ``weights`` and ``annotators`` are its choices. ``metrics`` are further score tables to correlate with it.
    """
    progress("Scoring")
    choices = {"pyramid": pyramid, "judges": judges, "weights": weights, "annotators": annotators}
    tables = _tables(study, method, choices)
    progress("Testing systems")
    scored = tuple(_scored(study, name, table, pyramid, judges, resamples, seed) for name, table in tables.items())
    main = scored[0]
    judged = UnitsFound()
    with suppress(UsageError):  # a study without pyramids
        how: dict[str, Any] = {"weights": weights or "contributors", "annotators": annotators or "mean"}
        judged = units_found(study, main.method, pyramid, judges, **how)
    progress("Measuring agreement")
    agreements = tuple(_agreements(study, tables, resamples, seed))
    progress("Correlating metrics")
    models = _models(main, scored_by_models(study, tables))
    correlations = _correlations(main, {**tables, **models, **(metrics or {})}, resamples, seed)
    progress("Explaining summaries")
    topics = tuple(shown_topic(study, topic.id, judged) for topic in study.topics)
    return Findings(
        study.title,
        tuple(_facts(study)),
        tuple(_protocol(study, judged, cost)),
        scored,
        topics,
        tuple(shown_summaries(study, judged, topics, main.measure)),
        agreements,
        judged.workers.workers if judged.workers else _crowd_workers(study, tables),
        correlations,
        _notes(study, tables),
    )


def _notes(study: Study, tables: Mapping[str, ScoreTable]) -> tuple[Problem, ...]:
    """What every method has to say, each thing once."""
    found = dict.fromkeys(note for table in tables.values() for note in table.notes)
    if study.references and "rouge" not in tables:
        what = f"not computed for {len(study.peers):,} summaries; score it once and give the table with --scores"
        found[Problem("ROUGE", what, "warning")] = None
    return tuple(found)


def _tables(study: Study, method: str | None, choices: dict[str, Any]) -> dict[str, ScoreTable]:
    """Scores by every method that applies, the main one first and made with the choices given."""
    given = {name: value for name, value in choices.items() if value is not None}
    found: dict[str, ScoreTable] = {}
    if method is not None or given:
        main = fitting_method(study, given) if method is None else method
        found[main] = score(study, main, **given)
    return found | scored_by_all(study, known=found, quick=True)


def _scored(
    study: Study,
    method: str,
    table: ScoreTable,
    pyramid: str | None,
    judges: str | None,
    resamples: int,
    seed: int,
) -> Scored:
    measure = main_measure(method, table)
    groups = None
    with suppress(UsageError):  # one system, or one topic: there is nothing to test
        chosen = dict(table.signature.choices)
        groups = compare_systems(
            study,
            table=table,
            measure=measure,
            pyramid=chosen.get("pyramid", pyramid),
            judges=chosen.get("judges", judges),
            seed=seed,
        )
    found = ranking(table, measure=measure, groups=groups, resamples=resamples, seed=seed)
    return Scored(method, measure, table, found)


def _agreements(
    study: Study, tables: Mapping[str, ScoreTable], resamples: int, seed: int
) -> Iterable[Answer[Agreement]]:
    for method, table in tables.items():
        chosen = dict(table.signature.choices)
        asked: dict[str, Any] = {"aspect": table.measures[0]} if method == "responsiveness" else {}
        if method in KINDS:
            asked = {"kind": KINDS[method], "pyramid": chosen.get("pyramid"), "judges": chosen.get("judges")}
        elif method != "responsiveness":
            continue
        with suppress(UsageError):
            found = analysis.agreement(study, **asked, resamples=min(resamples, 500), seed=seed)
            if found.result.alpha.items:  # a single annotator has nobody to agree with
                yield found


def _models(main: Scored, tables: Mapping[str, ScoreTable]) -> dict[str, ScoreTable]:
    """Scores by models' judgments, one measure each: the main one, or the first where a model's table lacks that."""
    found = {}
    for label, table in tables.items():
        same = f"{label}:{main.measure}"
        shown = same if same in table.measures else table.measures[0]
        found[label] = replace(table, scores=tuple(score for score in table if score.measure == shown))
    return found


def _correlations(
    main: Scored, tables: Mapping[str, ScoreTable], resamples: int, seed: int
) -> Answer[Correlations] | None:
    known = measures_of(tables)
    gold = next(m for m in known if m.table is main.table and m.measure == main.measure)
    metrics = [m.name for m in known if m.table is not main.table and not dependence(gold, m)]
    if not metrics:
        return None
    with suppress(UsageError):  # fewer than two common systems
        return analysis.correlate(
            tables,
            gold=gold.name,
            metrics=metrics,
            levels=("system", "summary"),
            kinds=("pearson", "spearman"),
            resamples=min(resamples, 500),
            permutations=0,
            seed=seed,
        )
    return None


def _crowd_workers(study: Study, tables: Mapping[str, ScoreTable]) -> tuple[WorkerAgreement, ...]:
    if "lite" not in tables:
        return ()
    chosen = dict(tables["lite"].signature.choices)
    choice = choose(study, kind="crowd", pyramid=chosen["pyramid"], judges=chosen["judges"])
    return screen(choice.on_units, minimum=MIN_AGREEMENT).workers


# -- what was done -------------------------------------------------------------------------------------------------


def _facts(study: Study) -> Iterable[Fact]:
    counts = study.counts()
    for name in ("topics", "systems", "peers", "references", "units", "judgments"):
        if counts[name]:
            yield Fact("summaries" if name == "peers" else name, f"{counts[name]:,}")
    if judging := len({*study.judgments.judge}):
        yield Fact("judges", f"{judging:,}")


def _protocol(study: Study, judged: UnitsFound, cost: str) -> Iterable[Fact]:
    """Who judged what, in words."""
    kinds = {judge.id: judge.kind for judge in study.judges}
    active = {kinds.get(name, "unknown") for name in {*study.judgments.judge}}
    by_kind = {kind: sum(kinds.get(name) == kind for name in {*study.judgments.judge}) for kind in sorted(active)}
    nouns = {"expert": "expert", "crowd": "crowd worker", "model": "model"}
    if by_kind:
        who = ", ".join(count(number, nouns.get(kind, kind)) for kind, number in by_kind.items())
        yield Fact("Judges", who)
    for name in study.pyramid_names:
        held = [p for p in study.pyramids if p.name == name]
        units = sum(len(p.units) for p in held)
        shown = " (shown below)" if judged.choice and judged.choice.pyramid == name else ""
        yield Fact(f"Pyramid {name}{shown}", f"{count(units, 'unit')} for {count(len(held), 'topic')}")
    if study.tasks:
        yield Fact("Tasks", f"{len(study.tasks):,}")
    seconds = [work.seconds for work in study.assignments if work.seconds is not None]
    if seconds:
        yield Fact("Working time", f"{sum(seconds) / 3600:.1f} hours in {count(len(seconds), 'assignment')}")
    if cost:
        yield Fact("Cost", cost)
