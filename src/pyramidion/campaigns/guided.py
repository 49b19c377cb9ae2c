"""Judging campaigns that a model guides: which settings fit together, what the design costs, and what it is in plain
sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal

from pyramidion.analysis.answer import count, listed
from pyramidion.analysis.cost import Cost, campaign_cost, hourly_wage, money
from pyramidion.analysis.effort import minutes_of
from pyramidion.analysis.stopping import Goal
from pyramidion.campaigns.sampling import Part, Stratum, check_share, strata_of
from pyramidion.errors import Problem, UsageError, check_choice
from pyramidion.scoring.choice import own_references
from pyramidion.stats.combining import LEAST_TOPICS, QUESTIONS
from pyramidion.study import Pyramid, Settings, Study
from pyramidion.study.tasks import TaskKind

GUIDED = ("share", "until", "looks", "budget", "question", "minutes_per_summary", "minutes_per_unit")
"""Settings that do nothing without a model."""


def check_guided(kind: TaskKind, settings: Settings) -> None:
    """Refuse settings that contradict each other or would do nothing."""
    default = Settings.for_kind(kind)
    if not settings.model:
        for part in fields(Settings):
            if part.name in GUIDED and getattr(settings, part.name) != getattr(default, part.name):
                raise UsageError(f"the setting {part.name} has no effect without a model that guides what is asked")
        return
    if kind != "judge":
        raise UsageError(f"a model guides judging only, not a campaign of kind {kind}")
    check_choice("question", settings.question, QUESTIONS)
    if settings.until:
        Goal.parse(settings.until)
    if settings.looks != default.looks and not settings.until:
        raise UsageError("the setting looks has no effect without a goal: everything is asked in one round")
    if settings.units_per_topic != default.units_per_topic:
        raise UsageError("the setting units_per_topic has no effect with a model, which judges all units; use share")


def check_size(pyramids: Mapping[str, Pyramid], systems: Sequence[str], settings: Settings) -> None:
    """Refuse what no interval could be given for, however much is asked."""
    if len(systems) < 2:
        raise UsageError(f"a model guides comparisons of at least 2 systems; there is {', '.join(systems)}")
    if settings.question == "topics" and len(pyramids) < LEAST_TOPICS:
        raise UsageError(
            f"intervals for topics of this kind need at least {LEAST_TOPICS} topics, not {len(pyramids)}; ask about "
            "these topics alone with --set question=these"
        )
    check_share(pyramids, settings.largest_share)


def human_peers(study: Study, pyramids: Mapping[str, Pyramid]) -> Iterator[Problem]:
    """A note on peers that are asked about but not part of an estimate."""
    names = sorted({system for topic, system in own_references(study) if topic in pyramids})
    if names:
        what = "are references themselves; they are asked about, but estimates with a model leave them out"
        yield Problem("human peers", f"{listed(names)} {what} (--system chooses systems)", "warning")


@dataclass(frozen=True)
class Guide:
    """What a campaign costs that a model guides, beside one about everything in tasks of full size. A question is one
    unit of one summary: how many there are, and how many are asked. ``settings`` are those that were given; the
    campaign's pay for its shorter tasks."""

    first: Cost
    most: Cost
    everything: Cost
    systems: int
    questions: int
    asked: int
    settings: Settings


def guide(study: Study, parts: Sequence[Part], given: Settings, paid: Settings) -> Guide:
    """``given`` are the settings for tasks of full size, ``paid`` those of the campaign."""
    peers = Counter(peer.topic for peer in study.peers)
    rates = {"pay": str(paid.pay), "fee": str(paid.fee), "currency": paid.currency}
    first, all_rounds = (
        campaign_cost(sum(peers[part.topic] for part in some) * paid.workers, **rates)
        for some in ([p for p in parts if p.round == 1], [p for p in parts if p.round])
    )
    each, budget = Decimal(str(paid.pay)) * (1 + Decimal(str(paid.fee))), Decimal(str(paid.budget))
    if 0 < budget < all_rounds.total:
        all_rounds = campaign_cost(int(budget // each), **rates)
    units = Counter[str]()
    for part in parts:
        units[part.topic] += len(part.units)
    tasks = sum(peers[topic] * -(-number // given.units_per_task) for topic, number in units.items())
    return Guide(
        first,
        all_rounds,
        campaign_cost(tasks * given.workers, pay=str(given.pay), fee=str(given.fee), currency=given.currency),
        len({peer.system for peer in study.peers if peer.topic in units}),
        sum(peers[topic] * number for topic, number in units.items()),
        sum(peers[part.topic] * len(part.units) for part in parts if part.round),
        given,
    )


def sentences(parts: Sequence[Part], guide: Guide, paid: Settings) -> list[str]:
    """The design for whoever has to pay for it."""
    return [
        _what(parts, guide),
        _how_chosen(parts, strata_of(parts), paid.model),
        _task([len(part.units) for part in parts], guide, paid),
        *_money(parts, guide, paid),
    ]


def _what(parts: Sequence[Part], guide: Guide) -> str:
    asked = sum(len(part.units) for part in parts if part.round)
    total = sum(len(part.units) for part in parts)
    most = "at most " if max(part.round for part in parts) > 1 else ""
    return (
        f"People are asked about {most}{asked:,} of {count(total, 'unit')}, each for {_all(guide.systems)}: "
        f"{guide.asked:,} of {count(guide.questions, 'question')} ({_percent(guide.asked / guide.questions)})."
    )


def _all(systems: int) -> str:
    return f"all {systems} systems" if systems > 1 else "one system"


def _how_chosen(parts: Sequence[Part], strata: Sequence[Stratum], model: str) -> str:
    drawn = [f"{s.asked} of {s.parts} ({_percent(s.probability)})" for s in strata]
    if len(strata) == 1:
        return f"The units are cut into {len(parts)} parts; {drawn[0]} are drawn at random."
    return (
        f"The units are cut into {len(parts)} parts, in {len(strata)} strata by how unsure {model} is. From the surest "
        f"to the least sure, parts drawn at random are {', '.join(drawn)}."
    )


def _task(sizes: Sequence[int], guide: Guide, paid: Settings) -> str:
    size = f"{min(sizes)} to {max(sizes)} units" if min(sizes) < max(sizes) else count(sizes[0], "unit")
    check = " and one with a known answer" if paid.gold_rate else ""
    minutes = minutes_of(paid, sum(sizes) / len(sizes))
    wage = money(hourly_wage(paid.pay, minutes * 60), paid.currency)
    full = guide.settings
    return (
        f"A task is one summary with {size}{check}, for {paid.workers} workers; it takes about {minutes:.1f} minutes "
        f"and pays {_pay(paid)}, which is {wage} per hour ({_pay(full)} is the pay for {full.units_per_task} units)."
    )


def _pay(settings: Settings) -> str:
    return money(Decimal(str(settings.pay)), settings.currency)


def _money(parts: Sequence[Part], guide: Guide, paid: Settings) -> Iterator[str]:
    rounds = max(part.round for part in parts)
    if rounds > 1 or paid.until:
        yield f"Round 1 of at most {rounds}: {guide.first}."
        yield f"Tasks are released until {_goal(paid.until)}; systems that it no longer needs leave."
    yield f"Cost at most: {guide.most}."
    total = money(guide.everything.total, guide.everything.currency)
    full = guide.settings
    yield f"Asking about everything, in tasks of up to {full.units_per_task} units at {_pay(full)}, would cost {total}."
    if guide.first.total >= guide.everything.total:
        yield (
            "That is less than the first round: short tasks mean more reading. With so few units plan without a model, "
            "or lower minutes_per_summary if summaries are read faster."
        )
    elif guide.most.total > guide.everything.total:
        yield "That is less than this may cost at most; --budget sets a limit."


def _goal(until: str) -> str:
    goal = Goal.parse(until)
    return {
        "top": "the best system is known",
        "ranking": "the order of all systems is known",
        "width": f"no score's interval is wider than {goal.target:g}",
        "pairs": f"{100 * goal.target:g}% of all pairs of systems are decided",
    }[goal.kind]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.095 else f"{100 * share:.1f}%"
