"""From a study to tasks: what a campaign asks, how many workers, and what it costs. Nothing is stored here."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from pyramidion.analysis.cost import Cost, campaign_cost
from pyramidion.analysis.effort import in_proportion, time_of
from pyramidion.campaigns.checks import own_instructions, unexplained_scales
from pyramidion.campaigns.guided import Guide, check_guided, check_size, guide, human_peers, sentences
from pyramidion.campaigns.model_judgments import check_model, judged_pyramids
from pyramidion.campaigns.sampling import Part, draw_parts, tasks_of
from pyramidion.campaigns.scope import part_of, without_units
from pyramidion.campaigns.tasks import SCALES, AttentionCheck, ExpertRatings, Gold
from pyramidion.encoder.sentences import sentence_spans
from pyramidion.errors import InputError, Problem, Problems, UsageError, check_choice, group_alike
from pyramidion.pyramids.statements import MIN_TOKENS, sample_units, split_into_groups
from pyramidion.scoring.choice import TO_BE_JUDGED, named_pyramid
from pyramidion.study import Aspect, Campaign, ContentUnit, Pyramid, Settings, Study, Summary, Task
from pyramidion.study.tasks import KINDS, Scope, TaskKind

LIMITS: dict[str, tuple[float, float]] = {
    "workers": (1, 1000),
    "statements": (1, 100),
    "units_per_task": (1, 1000),
    "units_per_topic": (1, 10_000),
    "pay": (0, 10_000),
    "fee": (0, 10),
    "lease_minutes": (0.0001, 525_600),
    "minutes_per_task": (0, 1440),
    "gold_rate": (0, 1),
    "share": (0, 1),
    "looks": (1, 100),
    "minutes_per_summary": (0, 1440),
    "minutes_per_unit": (0.001, 1440),
    "min_agreement": (0, 1),
    "seed": (0, 2**53),
}
"""The smallest and the largest value of a setting; any other number may be 0 to a million."""
MAX_TEXT = 500

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True)
class Plan:
    """A campaign ready to start: ``gold`` holds known answers by task id, ``aspects`` the scales to add.

    Where a model guides what is asked, ``parts`` are all parts of the units, ``tasks`` those of the first round, and
    ``cost`` is the most that can be spent; otherwise all tasks are there and ``parts`` is empty.
    """

    campaign: Campaign
    tasks: tuple[Task, ...]
    cost: Cost
    gold: dict[str, Gold]
    aspects: tuple[Aspect, ...] = ()
    notes: tuple[Problem, ...] = ()
    parts: tuple[Part, ...] = ()
    guide: Guide | None = None

    @property
    def sentences(self) -> list[str]:
        """The design, where a model guides what is asked."""
        return sentences(self.parts, self.guide, self.campaign.settings) if self.guide else []

    @property
    def time(self) -> str:
        """How long it takes people, in a sentence; empty where nothing says how long a task takes."""
        settings = self.campaign.settings
        if self.campaign.kind != "judge" or self.guide:
            return ""
        return time_of(settings, sum(len(task.units) for task in self.tasks) / len(self.tasks), self.assignments)

    @property
    def assignments(self) -> int:
        return len(self.tasks) * self.campaign.settings.workers


def plan(
    study: Study,
    kind: TaskKind,
    name: str,
    settings: Settings | None = None,
    *,
    pyramid: str | None = None,
    topics: Sequence[str] = (),
    systems: Sequence[str] = (),
    without: Sequence[tuple[str, str]] = (),
    instructions: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a campaign over all topics and systems, or some of them, and all units but those ``without``, each a topic
    and a unit's id. The same seed gives the same plan."""
    check_choice("kind of campaign", kind, KINDS)
    scope = Scope(tuple(topics), tuple(systems), pyramid, tuple(without))
    made = _plan(study, kind, name, settings or Settings.for_kind(kind), scope)
    own = own_instructions(kind, instructions, checked=made.campaign.settings.check)
    if made.guide:
        full = made.guide.settings
        scope = replace(scope, full_task=(full.pay, full.min_seconds, full.minutes_per_task))
    notes = (*made.notes, *_about_scales(study)) if kind == "rate" and own is None else made.notes
    return replace(made, campaign=replace(made.campaign, scope=scope, instructions=own), notes=notes)


def _about_scales(study: Study) -> Iterator[Problem]:
    if names := unexplained_scales(study):
        what = "the usual questions are about content and language; write instructions and questions that fit"
        yield Problem(f"scales {', '.join(names)}", what, "warning")


def _plan(study: Study, kind: TaskKind, name: str, chosen: Settings, scope: Scope) -> Plan:
    check_plan(kind, name, chosen)
    rng = np.random.default_rng(chosen.seed)
    problems = Problems()
    part = part_of(study, scope.topics, scope.systems)
    if scope.without:
        part = without_units(part, kind, frozenset(scope.without))
    if chosen.model:
        return _guided(study, part, name, chosen, scope.pyramid)
    maker = _Drafts(part, chosen, rng, problems, scope.pyramid)
    makers = {"write": maker.write, "judge": maker.judge, "rate": maker.rate, "compare": maker.compare}
    drafts = list(makers[kind]())
    if not drafts:
        raise UsageError(f"there is nothing to {kind}; {_NEEDS[kind]}")
    tasks = _named(drafts, name, rng)
    gold = _gold(part, tasks, chosen, rng) if chosen.gold_rate else {}
    aspects = SCALES if kind == "rate" and not study.aspects else ()
    cost = campaign_cost(
        len(tasks) * chosen.workers, pay=str(chosen.pay), fee=str(chosen.fee), currency=chosen.currency
    )
    return Plan(Campaign(name, kind, chosen), tasks, cost, gold, aspects, tuple(problems))


def check_plan(kind: TaskKind, name: str, settings: Settings) -> None:
    """Refuse what no campaign can have, whatever it asks about."""
    if not NAME.fullmatch(name):  # it is part of addresses, task ids and file names
        raise UsageError(f"a campaign's name must have 1 to 60 letters, digits, dots, dashes or _, not {name!r}")
    check_settings(settings)
    check_guided(kind, settings)


def _guided(study: Study, part: Study, name: str, given: Settings, pyramid: str | None) -> Plan:
    """A judging campaign about those units that say most beside what a model says about all."""
    problems = Problems()
    pyramids = judged_pyramids(part, pyramid)
    if not pyramids:
        raise UsageError(f"there is nothing to judge; {_NEEDS['judge']}")
    for topic in part.topics:
        if topic.id not in pyramids:
            problems.warning(f"topic {topic.id}", "has no units to judge, or no peers, and is left out")
    check_size(pyramids, part.systems, given)
    check_model(study, pyramids, given.model, part.systems)
    problems.extend(human_peers(study, pyramids))
    drawn_parts = draw_parts(part, pyramids, given.model, given, np.random.default_rng(given.seed))
    # Strata of two campaigns must not be taken for one, so they are named after theirs.
    parts = tuple(replace(drawn, stratum=f"{name}-{drawn.stratum}") for drawn in drawn_parts)
    paid = in_proportion(given, sum(len(drawn.units) for drawn in parts) / len(parts))
    campaign = Campaign(name, "judge", paid)
    first, costs = release(part, campaign, parts, 1), guide(part, parts, given, paid)
    return Plan(campaign, first.tasks, costs.most, first.gold, (), tuple(problems), parts, costs)


@dataclass(frozen=True)
class Release:
    """The tasks of one round, named, and the known answers planted in them."""

    tasks: tuple[Task, ...]
    gold: dict[str, Gold]


def release(
    study: Study, campaign: Campaign, parts: Sequence[Part], number: int, systems: Sequence[str] = ()
) -> Release:
    """The tasks of a round of a campaign, for all systems or those that stay: always the same for the same round."""
    rng = np.random.default_rng((campaign.settings.seed, number))
    drafts = list(tasks_of((part for part in parts if part.round == number), study, systems))
    # A colon cannot be in a campaign's name, so that no other campaign has these task ids.
    tasks = _named(drafts, f"{campaign.name}:{number}", rng)
    gold = _gold(study, tasks, campaign.settings, rng) if campaign.settings.gold_rate and tasks else {}
    return Release(tasks, gold)


def _named(drafts: Sequence[Task], name: str, rng: np.random.Generator) -> tuple[Task, ...]:
    """In random order, numbered."""
    order = rng.permutation(len(drafts))
    return tuple(replace(drafts[i], id=f"{name}-{n:0{len(str(len(drafts)))}}") for n, i in enumerate(order, 1))


def check_settings(settings: Settings) -> None:
    """Refuse values that no campaign can run with; names everything that is wrong."""
    problems = Problems()
    for part in fields(Settings):
        value, kind = getattr(settings, part.name), type(part.default)
        low, high = LIMITS.get(part.name, (0, 1_000_000))
        is_whole, is_number = type(value) is int, type(value) in (int, float)
        if kind is bool and type(value) is not bool:
            problems.error(part.name, "must be yes or no")
        elif kind is str and (wrong := _wrong_text(value, part.metadata.get("longest"))):
            problems.error(part.name, wrong)
        elif kind is int and not (is_whole and low <= value <= high):
            problems.error(part.name, f"must be a whole number from {low:,g} to {high:,.16g}")
        elif kind is float and not (is_number and low <= value <= high):
            problems.error(part.name, f"must be a number from {low:g} to {high:,g}")
    if problems.errors:
        raise InputError(problems.errors)


def _wrong_text(value: object, longest: int | None) -> str:
    """What is wrong with the text of a setting; empty where nothing is. A long one may have several lines."""
    most = longest or MAX_TEXT
    lines = re.split(r"[\r\n\t]", value) if longest and isinstance(value, str) else [value]
    sound = isinstance(value, str) and len(value) <= most and all(str(line).isprintable() for line in lines)
    return "" if sound else f"must be text of at most {most:,} printable characters"


_NEEDS: dict[TaskKind, str] = {
    "write": "the study has no references",
    "judge": "it needs peers and a pyramid with units (after writing: pyramidion campaign units)",
    "rate": "the study has no peers",
    "compare": "a topic needs at least two peers",
}


def _systems(summaries: Iterable[Summary]) -> dict[str, list[str]]:
    """Who wrote summaries of each topic, by name."""
    found: dict[str, list[str]] = {}
    for summary in summaries:
        found.setdefault(summary.topic, []).append(summary.system)
    return {topic: sorted(systems) for topic, systems in found.items()}


_AT_MOST_ONE = ("no reference", "1 reference")


class _Drafts:
    """Tasks of each kind, not yet named or shuffled."""

    def __init__(
        self, study: Study, settings: Settings, rng: np.random.Generator, problems: Problems, pyramid: str | None
    ) -> None:
        self.study, self.settings, self.rng, self.problems, self.pyramid = study, settings, rng, problems, pyramid
        self.peers, self.references = _systems(study.peers), _systems(study.references)

    def write(self) -> Iterator[Task]:
        for topic in self.study.topics:
            for reference in self.references.get(topic.id, []):
                yield Task("", topic.id, kind="write", references=(reference,))

    def judge(self) -> Iterator[Task]:
        names = self.study.pyramid_names
        name = named_pyramid(names, self.pyramid, prefer=TO_BE_JUDGED) if names else ""
        for topic in self.study.topics:
            pyramid = self.study.pyramid(topic.id, name)
            groups = self._groups(pyramid) if pyramid else []
            if not groups:
                self.problems.warning(f"topic {topic.id}", "has no units to judge and is left out")
            for system in self.peers.get(topic.id, []):
                for units in groups:
                    yield Task("", topic.id, system, units)

    def _groups(self, pyramid: Pyramid) -> list[tuple[str, ...]]:
        """Units by judging group: as sampled before, or sampled now."""
        units: tuple[ContentUnit, ...] = tuple(unit for unit in pyramid.units if unit.group)
        if not units and any(len(unit.contributors) != 1 for unit in pyramid.units):
            return self._sample_of_merged(pyramid)
        if not units and pyramid.units:
            size = min(self.settings.units_per_topic, len(pyramid.units))
            sample = sample_units(pyramid.units, size=size, rng=self.rng)
            self.problems.extend(replace(p, where=f"topic {pyramid.topic}, {p.where}") for p in sample.shortfalls)
            units = split_into_groups(sample.units, group_size=self.settings.units_per_task, rng=self.rng)
        names = sorted({unit.group for unit in units})
        return [tuple(unit.id for unit in units if unit.group == name) for name in names]

    def _sample_of_merged(self, pyramid: Pyramid) -> list[tuple[str, ...]]:
        """Units that belong to several references cannot be balanced over them: a plain sample."""
        order = self.rng.permutation(len(pyramid.units))[: self.settings.units_per_topic]
        by_id = sorted(unit.id for unit in pyramid.units)
        ids = [by_id[i] for i in order]
        number = math.ceil(len(ids) / self.settings.units_per_task)
        bounds = [len(ids) * i // number for i in range(number + 1)]
        return [tuple(ids[low:high]) for low, high in pairwise(bounds)]

    def rate(self) -> Iterator[Task]:
        self._count_references("raters")
        for topic in self.study.topics:
            references = self.references.get(topic.id, [])
            for system in self.peers.get(topic.id, []):
                yield Task("", topic.id, system, kind="rate", references=self._two(references))

    def compare(self) -> Iterator[Task]:
        self._count_references("those who compare")
        for topic in self.study.topics:
            references = self.references.get(topic.id, [])
            for pair in combinations(self.peers.get(topic.id, []), 2):
                first, second = (pair[i] for i in self.rng.permutation(2))  # neither is always on the left
                shown = self._two(references)
                yield Task("", topic.id, first, kind="compare", other=second, references=shown)

    def _count_references(self, readers: str) -> None:
        held = {topic.id: len(self.references.get(topic.id, [])) for topic in self.study.topics}
        few = (
            Problem(f"topic {topic}", f"has {_AT_MOST_ONE[number]}; {readers} should see two", "warning")
            for topic, number in held.items()
            if number < 2
        )
        self.problems.extend(group_alike(few))

    def _two(self, references: list[str]) -> tuple[str, ...]:
        return tuple(references[i] for i in self.rng.permutation(len(references))[:2])


# -- items of known answer -----------------------------------------------------------------------------------
#
# Nobody should be able to tell where they are. Ratings by experts are known for summaries that look like any other. In
# judging, where a unit is added, every task gets one, so that none is longer than the others. It has a place drawn at
# random, and the length and the punctuation of the units around it. What it says still tells an attentive reader the
# answer; that is what it is for.


def _gold(study: Study, tasks: Sequence[Task], settings: Settings, rng: np.random.Generator) -> dict[str, Gold]:
    """Known answers: a statement of the summary itself or a unit of another topic for every judging task, ratings that
    experts have given for a share of the rating tasks.
    """
    share = 1.0 if tasks[0].kind == "judge" else settings.gold_rate
    chosen = sorted(rng.permutation(len(tasks))[: round(len(tasks) * share)])
    planted = _Planted(study, tasks, rng)
    gold: dict[str, Gold] = {}
    for place in chosen:
        task = tasks[place]
        known = planted.check(task) if task.kind == "judge" else _expert_ratings(study, task)
        if known:
            gold[task.id] = known
    return gold


class _Planted:
    """Units of known answer that look like the units that are asked about."""

    def __init__(self, study: Study, tasks: Sequence[Task], rng: np.random.Generator) -> None:
        self._study, self._rng = study, rng
        asked = {(task.topic, unit) for task in tasks for unit in task.units}
        units = [(p.topic, u) for p in study.pyramids for u in p.units if (p.topic, u.id) in asked]
        self._labels = {topic: [u.label for t, u in units if t == topic] for topic in sorted({t for t, _ in units})}
        lengths = [len(label.split()) for labels in self._labels.values() for label in labels]
        self._lengths = sorted(lengths) or [MIN_TOKENS]
        self._stop = "." if sum(u.label.rstrip().endswith(".") for _, u in units) * 2 > len(units) else ""

    def check(self, task: Task) -> AttentionCheck | None:
        peer = self._study.summary(task.topic, task.system)
        present = list(_assertions(peer.text)) if peer else []
        absent = [label for topic, labels in self._labels.items() if topic != task.topic for label in labels]
        if not present and not absent:  # a summary that says next to nothing does not say what another one says
            absent = [self._in_form(text) for text in self._said_by_others(task)]
        position = int(self._rng.integers(0, len(task.units) + 1))
        if present and (not absent or self._rng.integers(2)):
            return AttentionCheck(self._in_form(self._of_usual_length(present)), 1, position)
        if absent:
            return AttentionCheck(absent[int(self._rng.integers(len(absent)))], 0, position)
        return None

    def _said_by_others(self, task: Task) -> list[str]:
        peers = sorted((p for p in self._study.peers if p.topic == task.topic), key=lambda peer: peer.system)
        return [text for peer in peers if peer.system != task.system for text in _assertions(peer.text)]

    def _of_usual_length(self, texts: Sequence[str]) -> str:
        """One of those whose length is nearest to that of a unit drawn at random."""
        wanted = self._lengths[int(self._rng.integers(len(self._lengths)))]
        gaps = [abs(len(text.split()) - wanted) for text in texts]
        nearest = [text for text, gap in zip(texts, gaps, strict=True) if gap == min(gaps)]
        return nearest[int(self._rng.integers(len(nearest)))]

    def _in_form(self, text: str) -> str:
        plain = text.strip().rstrip(".;,: ")
        return f"{plain[:1].upper()}{plain[1:]}{self._stop}"


_MAIN_CLAUSES = re.compile(r";\s+|,\s+(?:and|but)\s+(?=(?:the|an?|it|its|they|he|she|[A-Z])\b)")
"""Between main clauses with subjects of their own: each says something by itself."""


def _assertions(text: str) -> Iterator[str]:
    """What a text says, in its own words: its sentences and their main clauses."""
    for span in sentence_spans(text):
        sentence = span.of(text)
        clauses = _MAIN_CLAUSES.split(sentence)
        yield from (part for part in {sentence: None, **dict.fromkeys(clauses)} if len(part.split()) >= MIN_TOKENS)


def _expert_ratings(study: Study, task: Task) -> ExpertRatings | None:
    experts = study.judges_of("expert")
    known: dict[str, list[float]] = {}
    scales = {aspect.id for aspect in study.aspects}
    for j in study.judgments:
        known_summary = (j.topic, j.system) == (task.topic, task.system)
        if known_summary and j.judge in experts and j.aspect in scales and j.value is not None:
            known.setdefault(j.aspect, []).append(j.value)
    return ExpertRatings({aspect: sum(v) / len(v) for aspect, v in known.items()}) if known else None
