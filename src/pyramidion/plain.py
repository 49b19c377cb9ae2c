"""Calls on plain texts, for those who have no study: `evaluate`, `score_pairs` and `Metric`."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any, overload

from pyramidion import plugins
from pyramidion.engines import Advance, Engine, ThisProcess, Where, Work, prepared_ahead, started
from pyramidion.errors import InputError, Problem, UsageError, check_choice, needs_extra
from pyramidion.evaluation import Evaluation, Evaluator, choices_of, score, with_results
from pyramidion.formats.pairs import read_pairs, read_units
from pyramidion.jobs import TEXTS_AT_ONCE, TopicBatch, TopicJob
from pyramidion.judges import make_judge
from pyramidion.judging import judge_study
from pyramidion.pyramids.build import NAME
from pyramidion.pyramids.choices import Choices
from pyramidion.scoring import auto, rouge
from pyramidion.scoring.explain import UnitJudgments, unit_judgments
from pyramidion.scoring.explanation import Explanation
from pyramidion.scoring.methods import score as score_study
from pyramidion.study import ContentUnit, Pyramid, ScoreTable, Signature, Study, Summary, Topic

if TYPE_CHECKING:
    import pandas

SHOWN_FROM = 20
"""Fewer pairs are scored before a progress bar would be seen."""


def evaluate(
    references: str | Sequence[str] | Mapping[str, str | Sequence[str]],
    peers: Mapping[str, str] | Mapping[str, Mapping[str, str]],
    **choices: Any,
) -> ScoreTable:
    """Score summaries by what the references say, without any judgments.

    ``references``: the texts of one topic, or texts by topic. ``peers``: a text by system, or by topic and system.
    Choices are e.g. ``partitioner="edua-g"``, ``matcher="wmin"``; the table's signature names them all.
    """
    return score(_study(references, peers), **choices)


def _study(references: Any, peers: Any) -> Study:
    if not isinstance(peers, Mapping):
        raise UsageError("peers must be texts by system, or by topic and system")
    nested = any(isinstance(value, Mapping) for value in peers.values())
    if isinstance(references, Mapping) != nested:
        raise UsageError("give references and peers both by topic, or both of one topic")
    by_topic, candidates = (references, peers) if nested else ({"topic": references}, {"topic": peers})
    summaries = []
    for topic, given in by_topic.items():
        texts = [given] if isinstance(given, str) else list(given)
        if not all(isinstance(text, str) for text in texts):
            raise UsageError(f"topic {topic}: references must be texts")
        summaries += [Summary(topic, str(number), text, "reference") for number, text in enumerate(texts, 1)]
    summaries += [Summary(topic, system, text) for topic, texts in candidates.items() for system, text in texts.items()]
    study = Study(tuple(Topic(topic) for topic in dict.fromkeys([*by_topic, *candidates])), tuple(summaries))
    if problems := [problem for problem in study.problems() if problem.severity == "error"]:
        raise InputError(problems)
    return study


# -- pairs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class PairScores(Sequence["float | None"]):
    """One score for each pair, in order, by the main measure; the others are in ``columns``. A score is None where the
    references are empty."""

    columns: Mapping[str, tuple[float | None, ...]]
    signature: Signature
    notes: tuple[Problem, ...] = ()

    @property
    def measure(self) -> str:
        """The main measure: the first one."""
        return next(iter(self.columns))

    @overload
    def __getitem__(self, place: int) -> float | None: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[float | None, ...]: ...
    def __getitem__(self, place: int | slice) -> float | tuple[float | None, ...] | None:
        return self.columns[self.measure][place]

    def __len__(self) -> int:
        return len(self.columns[self.measure])

    def mean(self, measure: str | None = None) -> float | None:
        """Over the pairs that have a score."""
        values = [value for value in self.columns[measure or self.measure] if value is not None]
        return fsum(values) / len(values) if values else None

    def to_pandas(self) -> pandas.DataFrame:
        """A row per pair, a column per measure."""
        with needs_extra("PairScores.to_pandas", "pandas"):
            import pandas
        return pandas.DataFrame(dict(self.columns))

    def __repr__(self) -> str:
        means = ", ".join(f"{measure} {_shown(self.mean(measure))}" for measure in self.columns)
        return f"<PairScores: {self._pairs}; mean {means}>"

    @property
    def _pairs(self) -> str:
        return f"{len(self)} pair{'s' * (len(self) != 1)}"

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(measure)}</th>" for measure in self.columns)
        means = "".join(f"<td>{_shown(self.mean(measure))}</td>" for measure in self.columns)
        notes = "".join(f"<p>{html.escape(str(note))}</p>" for note in self.notes[:5])
        return (
            f"<table><thead><tr><th>mean of {self._pairs}</th>{head}</tr></thead>"
            f"<tbody><tr><td></td>{means}</tr></tbody></table>{notes}"
            f"<details><summary>Signature</summary><code>{html.escape(str(self.signature))}</code></details>"
        )


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def score_pairs(
    predictions: Any,
    references: Any = None,
    *,
    method: str = "auto",
    units: Sequence[Sequence[str]] | None = None,
    prediction: str | None = None,
    reference: str | Sequence[str] | None = None,
    progress: bool | None = None,
    engine: Where = None,
    **choices: Any,
) -> PairScores:
    """Score each prediction by its own reference, or references.

    ``predictions`` and ``references`` are texts in the same order, or by the same keys; references may be lists of
    texts. Or give one table (a data frame, an Arrow table, a `datasets` object, rows or columns in plain Python) and
    the names of its columns ``prediction`` and ``reference``; common names are recognised. ``method``: auto, rouge, or
    a judge such as align, with ``units`` to look for in each prediction (references may be left out then) or else those
    of automatic pyramids. To call it many times, make a `Metric` once. ``engine`` is where the work is done:
    ``processes:4``, ``dask``, ``dask://HOST:PORT`` or an executor of `concurrent.futures`; by default it is here.
    """
    metric = Metric(method, **choices)
    return metric(
        predictions,
        references,
        units=units,
        prediction=prediction,
        reference=reference,
        progress=progress,
        engine=engine,
    )


class Metric:
    """A method with its choices made and its models loaded once, to be called often: ``metric(predictions,
    references)`` gives a `PairScores`."""

    def __init__(self, method: str = "auto", **choices: Any) -> None:
        self._load(method, choices)

    @classmethod
    def _of_worker(cls, method: str, choices: Mapping[str, Any], threads: int | None) -> Metric:
        """One that shares a machine with others."""
        metric = cls.__new__(cls)
        metric._load(method, choices, threads)
        return metric

    def _load(self, method: str, choices: Mapping[str, Any], threads: int | None = None) -> None:
        self.method = method
        self._choices = dict(choices)
        self._score: Callable[[Sequence[_Group], bool], Iterator[tuple[_Group, Evaluation]]]
        if method == "auto":
            self._evaluator = Evaluator(choices_of(choices), threads=threads)
            self._score = self._by_pyramids
        elif method in (of_texts := ["rouge", *plugins.added("methods")]):
            self._score = self._by_words
        else:
            check_choice("method", method.partition(":")[0], ["auto", *of_texts, *plugins.names("judges")])
            self._judge = make_judge(method, choices, threads=threads)
            self._evaluator = Evaluator(Choices(), threads=threads)
            self._score = self._by_judge

    def __call__(
        self,
        predictions: Any,
        references: Any = None,
        *,
        units: Sequence[Sequence[str]] | None = None,
        prediction: str | None = None,
        reference: str | Sequence[str] | None = None,
        progress: bool | None = None,
        engine: Where = None,
    ) -> PairScores:
        texts, wanted = read_pairs(predictions, references, prediction, reference, optional=units is not None)
        groups = self._groups(texts, wanted, units)
        values: dict[str, list[float | None]] = {}
        notes: list[Problem] = [
            Problem(f"pair {place}", "its references are empty, so it has no score", "warning")
            for group in groups
            if not group.scorable
            for place in group.places
        ]
        signature = Signature.of(self.method, **self._choices)
        with _progress(len(texts), progress) as advance, started(engine) as running:
            for group, table in self._tables([group for group in groups if group.scorable], running):
                signature = table.signature
                for measure in table.measures:
                    column = values.setdefault(measure, [None] * len(texts))
                    for place in group.places:
                        column[place] = table.value(str(place), measure, group.topic)
                advance(len(group.peers))
        columns = values or dict.fromkeys(self._measures, [None] * len(texts))
        return PairScores({name: tuple(column) for name, column in columns.items()}, signature, tuple(notes))

    def _tables(self, groups: Sequence[_Group], running: Engine) -> Iterator[tuple[_Group, ScoreTable]]:
        """Each group with a table that has its scores, as they are finished."""
        if isinstance(running, ThisProcess):
            yield from ((group, made.table) for group, made in self._score(groups, False))
            return
        make = partial(_make_scoring, self.method, self._choices)
        for batch, tables in running.run(make, map(_Groups, _some(groups))):
            yield from zip(batch.groups, tables, strict=True)

    def explain(
        self, prediction: str, references: str | Sequence[str], *, units: Sequence[str] | None = None
    ) -> Explanation:
        """Why a prediction has its score: ``measures`` are those of a call, ``expressed``, ``perhaps`` and ``missed``
        the units behind them, of which rouge has none. Where the references are empty, there are no measures."""
        texts, wanted = read_pairs([prediction], [references])
        [group] = self._groups(texts, wanted, None if units is None else [units])
        if not group.scorable:
            return Explanation(Summary(group.topic, "0", prediction), Pyramid(group.topic, (), ()), {}, judged=False)
        [(_, made)] = self._score([group], True)
        [explanation] = self._judged(made.study).explanations(made.study.peers, made.table)
        if self._score == self._by_judge:  # the score is the mean of all probabilities, however small
            degrees = {judgment.unit: judgment.value for judgment in made.study.judgments if judgment.value is not None}
            return replace(explanation, degrees=degrees)
        return explanation

    def _groups(
        self,
        texts: Sequence[str],
        references: Sequence[tuple[str, ...]],
        units: Sequence[Sequence[str]] | None,
    ) -> list[_Group]:
        if units is not None and self._score != self._by_judge:
            raise UsageError(f"units are for judges, such as method='align'; method {self.method!r} makes its own")
        return _group(texts, references, None if units is None else read_units(units, len(texts)))

    @property
    def _measures(self) -> Sequence[str]:
        if self._score == self._by_pyramids:
            return auto.MEASURES
        if self._score == self._by_judge:
            return ("lite",)
        return self._choices.get("measures") or (rouge.DEFAULT if self.method == "rouge" else (self.method,))

    def _judged(self, study: Study) -> UnitJudgments:
        if self._score == self._by_words:
            return UnitJudgments()
        if self._score == self._by_judge:
            return unit_judgments(study, "lite", judges=self._judge.name)
        return unit_judgments(study, "auto")

    def _by_pyramids(self, groups: Sequence[_Group], explain: bool) -> Iterator[tuple[_Group, Evaluation]]:
        """Scores by automatic pyramids. Sentences of many pairs are encoded together, while those before are scored."""
        signature = self._evaluator.choices.signature(pyramid=NAME, built=True)

        def prepare(some: Sequence[_Group]) -> None:
            self._evaluator.prepare(TopicBatch(tuple(group.job() for group in some)))

        for some in prepared_ahead(list(_some(groups)), prepare):
            for group in some:
                result = self._evaluator.run(replace(group.job(), explain=explain))
                study = with_results(_peers_of([group]), [result]) if explain else Study()
                yield group, Evaluation(ScoreTable.of_summaries(result.scores, signature), study)

    def _by_words(self, groups: Sequence[_Group], _explain: bool) -> Iterator[tuple[_Group, Evaluation]]:
        choices = self._choices | ({"own": {}} if self.method == "rouge" else {})  # see _peers_of
        for some in _some(groups):
            study = _study_of(some)
            made = Evaluation(score_study(study, self.method, **choices), study)
            yield from ((group, made) for group in some)

    def _by_judge(self, groups: Sequence[_Group], explain: bool) -> Iterator[tuple[_Group, Evaluation]]:
        for some in _some(groups):
            unread = [text for group in some if group.units is None for text in group.references.values()]
            self._evaluator.builder.segmenter.segment(unread)  # all at once, which is faster
            pyramids = [self._pyramid(group) for group in some]
            made = judge_study(replace(_peers_of(some), pyramids=tuple(pyramids)), self._judge, evidence=explain)
            yield from ((group, made) for group in some)

    def _pyramid(self, group: _Group) -> Pyramid:
        if group.units is None:
            return self._evaluator.builder.build(group.topic, group.references).pyramid
        units = tuple(ContentUnit(f"unit-{number}", label) for number, label in enumerate(group.units, 1))
        return Pyramid(group.topic, tuple(group.references), units, "given")


@dataclass(frozen=True)
class _Group:
    """Pairs with the same references, which are a topic; each prediction is a system named by the pair's place."""

    topic: str
    references: Mapping[str, str]
    units: tuple[str, ...] | None
    peers: dict[str, str]

    def job(self) -> TopicJob:
        return TopicJob(self.topic, self.references, self.peers)

    @property
    def places(self) -> Iterator[int]:
        return map(int, self.peers)

    @property
    def scorable(self) -> bool:
        return bool(self.units) or any(any(map(str.isalnum, text)) for text in self.references.values())


@dataclass(frozen=True)
class _Groups:
    """Groups that are scored together."""

    groups: list[_Group]

    @property
    def size(self) -> int:
        return sum(len(group.peers) for group in self.groups)


def _make_scoring(method: str, choices: Mapping[str, Any], threads: int | None) -> Work[_Groups, list[ScoreTable]]:
    metric = Metric._of_worker(method, choices, threads)

    def work(batch: _Groups, _advance: Advance) -> list[ScoreTable]:
        tables = {group.topic: made.table for group, made in metric._score(batch.groups, False)}
        return [tables[group.topic] for group in batch.groups]

    return work


def _group(
    texts: Sequence[str], references: Sequence[tuple[str, ...]], units: Sequence[Sequence[str]] | None
) -> list[_Group]:
    groups: dict[tuple[tuple[str, ...], tuple[str, ...] | None], _Group] = {}
    for place, (text, wanted) in enumerate(zip(texts, references, strict=True)):
        asked = None if units is None else tuple(units[place])
        if (wanted, asked) not in groups:
            named = {str(number): reference for number, reference in enumerate(wanted, 1)}
            groups[wanted, asked] = _Group(f"pair {place}", named, asked, {})
        groups[wanted, asked].peers[str(place)] = text
    return list(groups.values())


def _some(groups: Iterable[_Group]) -> Iterator[list[_Group]]:
    """As many as are encoded together."""
    some: list[_Group] = []
    for group in groups:
        some.append(group)
        if sum(len(each.peers) + len(each.references) for each in some) >= TEXTS_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _peers_of(groups: Sequence[_Group]) -> Study:
    """The predictions only: one that repeats its reference is not a human peer, to be compared with the others."""
    peers = (Summary(group.topic, f"{place}", text) for group in groups for place, text in group.peers.items())
    return Study(tuple(Topic(group.topic) for group in groups), tuple(peers))


def _study_of(groups: Sequence[_Group]) -> Study:
    references = (
        Summary(group.topic, name, text, "reference") for group in groups for name, text in group.references.items()
    )
    study = _peers_of(groups)
    return replace(study, summaries=(*references, *study.summaries))


@contextmanager
def _progress(pairs: int, asked: bool | None) -> Iterator[Callable[[int], object]]:
    """A bar on the terminal, where somebody looks at it."""
    if asked is False or (asked is None and (pairs < SHOWN_FROM or not sys.stderr.isatty())):
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Scoring pairs", total=pairs)
        yield lambda done: bar.advance(task, done)
