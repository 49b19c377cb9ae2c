"""From a study to what a report and feedback show, as data: scores by every method, rankings, agreement, summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from pyramidion import analysis
from pyramidion.analysis.agreement import Agreement
from pyramidion.analysis.answer import Answer, Tier, Tiers, count
from pyramidion.analysis.correlate import Correlations
from pyramidion.analysis.inputs import dependence, measures_of
from pyramidion.analysis.sources import scored_by_all, scored_by_models
from pyramidion.analysis.systems import Ranking, compare_systems, main_measure, ranking
from pyramidion.errors import Problem, UsageError
from pyramidion.judges.accuracy import JudgeAccuracy, accuracy
from pyramidion.report.names import measure_title
from pyramidion.scoring.choice import Weights, choose
from pyramidion.scoring.explain import KINDS, UnitJudgments, unit_judgments
from pyramidion.scoring.explanation import Explanation
from pyramidion.scoring.litepyramids import Compat
from pyramidion.scoring.methods import fitting_method, score
from pyramidion.scoring.pyramid import Annotators
from pyramidion.scoring.screening import WorkerAgreement, screen
from pyramidion.study import ContentUnit, Judge, ScoreTable, Study, Topic


@dataclass(frozen=True)
class Scored:
    """One method's scores, ranked by one of its measures."""

    method: str
    measure: str
    table: ScoreTable
    ranking: Answer[Ranking]


class Fact(NamedTuple):
    name: str
    value: str


class Wording(NamedTuple):
    """How one reference says something."""

    reference: str
    text: str


@dataclass(frozen=True)
class TopicContent:
    """A topic, its references, and the units its summaries are compared with, from the top tier down."""

    topic: Topic
    references: tuple[Wording, ...] = ()
    units: tuple[ContentUnit, ...] = ()

    @property
    def id(self) -> str:
        return self.topic.id

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Where each unit is in the list, by its id."""
        return {unit.id: place for place, unit in enumerate(self.units)}

    def units_for(self, explanation: Explanation) -> tuple[ContentUnit, ...]:
        """The units that count for a summary and as they weigh for it, the heaviest first."""
        return tuple(sorted(explanation.pyramid.units, key=lambda unit: (-unit.weight, self.places[unit.id])))

    def wordings(self, unit: ContentUnit) -> tuple[Wording, ...]:
        texts = dict(self.references)
        return tuple(
            Wording(c.reference, " … ".join(span.of(texts.get(c.reference, "")) for span in c.spans))
            for c in unit.contributors
        )


@dataclass(frozen=True)
class Findings:
    """What was evaluated, how, and with what results. ``main`` is the method by which pyramids and summaries are shown.

    ``title`` is the study's own, or empty. ``judges`` are those who judged the units of the summaries, and those who
    corrected them; ``accuracy`` is how often they are right, where that is known.
    """

    title: str
    facts: tuple[Fact, ...]
    protocol: tuple[Fact, ...]
    scored: tuple[Scored, ...]
    topics: tuple[TopicContent, ...]
    summaries: tuple[Explanation, ...]
    agreements: tuple[Answer[Agreement], ...] = ()
    workers: tuple[WorkerAgreement, ...] = ()
    correlations: Answer[Correlations] | None = None
    notes: tuple[Problem, ...] = ()
    judges: tuple[Judge, ...] = ()
    accuracy: JudgeAccuracy | None = None

    def heading(self, who: str) -> str:
        """The study's title, or how many there are: "6 systems on 4 topics"."""
        return self.title or f"{count(len(self.systems), who)} on {count(len(self.topics), 'topic')}"

    @property
    def main(self) -> Scored:
        return self.scored[0]

    @property
    def simulated(self) -> bool:
        """Whether scores rest on the answers of a rehearsal."""
        return any(scored.table.is_simulated for scored in self.scored)

    def as_simulated(self) -> Findings:
        """The same with a mark on every answer; scores by words alone are real."""
        return replace(
            self,
            scored=tuple(
                replace(each, ranking=each.ranking.as_simulated()) if each.table.is_simulated else each
                for each in self.scored
            ),
            agreements=tuple(answer.as_simulated() for answer in self.agreements),
            correlations=self.correlations and self.correlations.as_simulated(),
        )

    @property
    def version(self) -> str:
        """Of the program that made the scores."""
        return str(self.main.table.signature).rsplit("|v:", 1)[-1]

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """From best to worst by the main measure; systems without a score last."""
        ranked = [s.system for s in self.main.ranking.result.systems]
        return (*ranked, *sorted({s.peer.system for s in self.summaries} - set(ranked)))

    @cached_property
    def main_scores(self) -> Mapping[tuple[str, str], float | None]:
        """The main measure of every summary, by topic and system."""
        return self.main.table.per_summary(self.main.measure)

    def summaries_of(self, topic: TopicContent) -> list[Explanation]:
        return self._by_topic.get(topic.id, [])

    @cached_property
    def _by_topic(self) -> Mapping[str, list[Explanation]]:
        by_topic: dict[str, list[Explanation]] = {}
        for summary in self.summaries:
            by_topic.setdefault(summary.peer.topic, []).append(summary)
        return by_topic

    def pyramid_figure(self, topic: TopicContent) -> Tiers:
        """A topic's pyramid; a unit's share is the share of judged summaries that express it."""
        judged = [summary for summary in self.summaries_of(topic) if summary.judged]
        times = Counter(unit.id for summary in judged for unit in summary.expressed)
        tiers: dict[int, list[float]] = {}
        for unit in topic.units:
            tiers.setdefault(unit.weight, []).append(times[unit.id] / len(judged) if judged else 0.0)
        drawn = tuple(Tier(weight, tuple(shares)) for weight, shares in tiers.items())
        return Tiers(f"Pyramid of {topic.id}", "share of summaries", drawn)

    def answers(self) -> tuple[Answer[Any], ...]:
        """Every analysis in the order of the report, for figures and tables of papers."""
        rankings = [scored.ranking for scored in self.scored]
        return (*rankings, *self.agreements, *([self.correlations] if self.correlations else []))


def findings(
    study: Study,
    *,
    method: str | None = None,
    pyramid: str | None = None,
    judges: str | None = None,
    weights: Weights | None = None,
    annotators: Annotators | None = None,
    compat: Compat | None = None,
    metrics: Mapping[str, ScoreTable] | None = None,
    cost: str = "",
    resamples: int = 1000,
    seed: int = 0,
    progress: Callable[[str], object] = lambda _: None,
) -> Findings:
    """Score and analyse a study for a report.

    ``method`` is the report's main method, by default the one that fits the study. ``pyramid``, ``judges``,
    ``weights``, ``annotators`` and ``compat`` are its choices. ``metrics`` are further score tables to correlate with
    it; those that are estimates of people and a model (`analysis.combine`) are shown beside the methods.
    """
    progress("Scoring")
    choices: dict[str, Any] = {"pyramid": pyramid, "judges": judges, "weights": weights, "annotators": annotators}
    choices["compat"] = compat
    tables = _tables(study, method, choices)
    progress("Testing systems")
    estimates = [table for table in (metrics or {}).values() if _is_estimate(table)]
    own = {name: table for at, (name, table) in enumerate(tables.items()) if not at or _tells_more(study, name, table)}
    shown = own | {f"{dict(table.signature.choices)['judges']} (estimate)": table for table in estimates}
    scored = tuple(_scored(study, name, table, pyramid, judges, resamples, seed) for name, table in shown.items())
    main = scored[0]
    judged = UnitJudgments()
    with suppress(UsageError):  # a study without pyramids
        judged = unit_judgments(study, main.method, **choices)
    progress("Measuring agreement")
    agreements = tuple(_agreements(study, tables, resamples, seed))
    progress("Correlating metrics")
    models = _models(main, scored_by_models(study, tables))
    correlations = _correlations(main, {**tables, **models, **(metrics or {})}, resamples, seed)
    progress("Explaining summaries")
    known = {topic.id for topic in study.topics}
    peers = [peer for peer in study.peers if peer.topic in known]
    made = Findings(
        study.title,
        tuple(_facts(study)),
        tuple(_protocol(study, judged, cost)),
        scored,
        _topics(study, judged),
        tuple(judged.explanations(peers, main.table)),
        agreements,
        judged.screening.workers if judged.screening else _crowd_workers(study, tables),
        correlations,
        _notes(study, tables),
        judged.judges,
        _accuracy(judged),
    )
    return made.as_simulated() if made.simulated else made


def _accuracy(judged: UnitJudgments) -> JudgeAccuracy | None:
    """How often the only judge is right. It was measured for probabilities: yes and no may have another threshold."""
    [*alone] = [judge for judge in judged.judges if not judge.corrects]
    if len(alone) != 1 or judged.choice is None:
        return None
    values = judged.choice.on_units.value
    return accuracy(*alone) if ((values > 0) & (values < 1)).any() else None


def _topics(study: Study, judged: UnitJudgments) -> tuple[TopicContent, ...]:
    references: dict[str, dict[str, str]] = {}
    for reference in study.references:
        references.setdefault(reference.topic, {})[reference.system] = reference.text
    return tuple(
        TopicContent(
            topic,
            tuple(Wording(*each) for each in references.get(topic.id, {}).items()),
            tuple(sorted(judged.pyramid(topic.id).units, key=lambda unit: -unit.weight)),
        )
        for topic in study.topics
    )


def _notes(study: Study, tables: Mapping[str, ScoreTable]) -> tuple[Problem, ...]:
    """The notes of all methods, each once."""
    notes = dict.fromkeys(note for table in tables.values() for note in table.notes)
    if study.references and "rouge" not in tables:
        what = f"not computed for {len(study.peers):,} summaries; score it once and give the table with --scores"
        notes[Problem("ROUGE", what, "warning")] = None
    return tuple(notes)


def _tables(study: Study, method: str | None, choices: dict[str, Any]) -> dict[str, ScoreTable]:
    """Scores by every method that applies, the main one first and made with the choices given."""
    given = {name: value for name, value in choices.items() if value is not None}
    tables: dict[str, ScoreTable] = {}
    if method is not None or given:
        main = fitting_method(study, given) if method is None else method
        tables[main] = score(study, main, **given)
    return tables | scored_by_all(study, known=tables, quick=True)


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
    if _is_estimate(table):  # of people and a model: what was asked about a summary does not make its score alone
        with suppress(UsageError):
            groups = compare_systems(table, measure=measure, seed=seed)
        ranked = ranking(table, measure=measure, groups=groups, seed=seed, naming=measure_title)
        return Scored(method, measure, table, ranked)
    with suppress(UsageError):  # one system, or one topic: there is nothing to test
        chosen = dict(table.signature.choices)
        groups = compare_systems(
            study,
            table=table,
            measure=measure,
            pyramid=chosen.get("pyramid", pyramid),
            judges=chosen.get("judges", judges),
            compat=chosen.get("compat"),  # type: ignore[arg-type]
            seed=seed,
        )
    ranked = ranking(table, measure=measure, groups=groups, resamples=resamples, seed=seed, naming=measure_title)
    return Scored(method, measure, table, ranked)


def _tells_more(study: Study, method: str, table: ScoreTable) -> bool:
    """Whether a method has scores to show beside the main one. Pyramid scores have none of their own where no unit has
    a contributor: nothing weighs anything, and what is left is the share of units that lite scores are."""
    name = dict(table.signature.choices).get("pyramid")
    weighed = any(unit.weight for pyramid in study.pyramids if pyramid.name == name for unit in pyramid.units)
    return any(score.value is not None for score in table) and (method != "pyramid" or weighed)


def _is_estimate(table: ScoreTable) -> bool:
    return dict(table.signature.choices).get("estimate") == "yes"


def _agreements(
    study: Study, tables: Mapping[str, ScoreTable], resamples: int, seed: int
) -> Iterator[Answer[Agreement]]:
    """One for each method with judges; methods that ask the same judges the same have one together."""
    known: list[Agreement] = []
    for method, table in tables.items():
        chosen = dict(table.signature.choices)
        asked: dict[str, Any] = {"aspect": table.measures[0]} if method == "responsiveness" else {}
        if method in KINDS:
            asked = {"kind": KINDS[method], "pyramid": chosen.get("pyramid"), "judges": chosen.get("judges")}
        elif method != "responsiveness":
            continue
        with suppress(UsageError):
            answer = analysis.agreement(study, **asked, resamples=min(resamples, 500), seed=seed, naming=measure_title)
            # A single annotator has nobody to agree with.
            if answer.result.alpha.items and answer.result not in known:
                known.append(answer.result)
                yield answer


def _models(main: Scored, tables: Mapping[str, ScoreTable]) -> dict[str, ScoreTable]:
    """Scores by models' judgments, one measure each: the main one, or the first where a model's table lacks that."""
    by_model = {}
    for label, table in tables.items():
        same = f"{label}:{main.measure}"
        measure = same if same in table.measures else table.measures[0]
        by_model[label] = replace(table, scores=tuple(score for score in table if score.measure == measure))
    return by_model


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
            naming=measure_title,
        )
    return None


def _crowd_workers(study: Study, tables: Mapping[str, ScoreTable]) -> tuple[WorkerAgreement, ...]:
    if "lite" not in tables:
        return ()
    chosen = dict(tables["lite"].signature.choices)
    choice = choose(study, kind="crowd", pyramid=chosen["pyramid"], judges=chosen["judges"])
    return screen(choice.on_units).workers


# -- what was done -------------------------------------------------------------------------------------------------


def _facts(study: Study) -> Iterable[Fact]:
    counts = study.counts()
    for name in ("topics", "systems", "peers", "references", "units", "judgments"):
        if counts[name]:
            noun = {"peers": "summary"}.get(name, name.removesuffix("s"))
            yield _counted(noun, counts[name])
    if judging := len({*study.judgments.judge}):
        yield _counted("judge", judging)


def _counted(noun: str, number: int) -> Fact:
    value, name = count(number, noun, "summaries" if noun == "summary" else "").split(" ")
    return Fact(name, value)


def _protocol(study: Study, judged: UnitJudgments, cost: str) -> Iterable[Fact]:
    """Who judged what, in words."""
    kinds = {judge.id: judge.kind for judge in study.judges}
    by_kind = Counter(kinds.get(name, "unknown") for name in {*study.judgments.judge})
    if by_kind:
        nouns = {"crowd": "crowd worker"}
        yield Fact("Judges", ", ".join(count(n, nouns.get(kind, kind)) for kind, n in sorted(by_kind.items())))
    for name in study.pyramid_names:
        pyramids = [p for p in study.pyramids if p.name == name]
        units = sum(len(p.units) for p in pyramids)
        shown = " (shown below)" if judged.choice and judged.choice.pyramid == name else ""
        yield Fact(f"Pyramid {name}{shown}", f"{count(units, 'unit')} for {count(len(pyramids), 'topic')}")
    if study.tasks:
        yield Fact("Tasks", f"{len(study.tasks):,}")
    seconds = [work.seconds for work in study.assignments if work.seconds is not None]
    if seconds:
        yield Fact("Working time", f"{sum(seconds) / 3600:.1f} hours in {count(len(seconds), 'assignment')}")
    if cost:
        yield Fact("Cost", cost)
