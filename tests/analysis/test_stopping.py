"""Looks at a campaign that asks in rounds."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from tests.combined_studies import SYSTEMS, study_of

import pyramidion as pyr
from pyramidion.analysis.stopping import Goal, Look, take_look
from pyramidion.study import Judgments, Study

SHARES = (0.12, 0.2, 0.4, 1.0)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("top", Goal("top")),
        ("ranking", Goal("ranking")),
        ("pairs=90%", Goal("pairs", 0.9)),
        ("pairs=0.5", Goal("pairs", 0.5)),
        ("width=0.03", Goal("width", 0.03)),
        (" width = 0.03 ", Goal("width", 0.03)),
    ],
)
def test_goals(text: str, goal: Goal) -> None:
    assert Goal.parse(text) == goal
    assert Goal.parse(str(goal)) == goal


@pytest.mark.parametrize(
    "text", ["", "best", "top=1", "pairs", "pairs=0", "pairs=120%", "width", "width=3%", "width=x"]
)
def test_unknown_goals_are_refused(text: str) -> None:
    with pytest.raises(pyr.UsageError, match="use top, ranking, pairs=90% or width="):
        Goal.parse(text)


def round_of(study: Study, share: float, left: frozenset[str] = frozenset()) -> Study:
    """What is known when this share of the parts has been asked; systems that left were asked about half as much."""

    def asked(place: int, places: int, system: str) -> bool:
        return place <= share * places / (2 if system in left else 1)

    tasks = {t.id: t for t in study.tasks if asked(t.place, t.places, t.system)}
    kept = Judgments(j for j in study.judgments if not j.task or j.task in tasks)
    return replace(study, tasks=tuple(tasks.values()), judgments=kept)


@pytest.fixture(scope="module")
def study() -> Study:
    return study_of(topics=60, asked=1.0, mistakes=0.0, step=0.08)


def looks(study: Study, goal: str, question: str = "these") -> list[Look]:
    found: list[Look] = []
    for number, share in enumerate(SHARES, 1):
        part = round_of(study, share)
        found.append(
            take_look(
                part,
                model="align",
                goal=Goal.parse(goal),
                number=number,
                shares=SHARES,
                question=question,  # type: ignore[arg-type]
                earlier=found[-1] if found else None,
            )
        )
        if found[-1].reached:
            break
    return found


def test_a_ranking_is_reached_when_every_pair_is_decided(study: Study) -> None:
    found = looks(study, "ranking")
    last = found[-1]
    assert last.reached
    assert len(last.decided) == last.pairs == 6
    ranked = sorted(last.standings, key=lambda s: -s.score)
    assert [s.system for s in ranked] == list(SYSTEMS)
    assert all(SYSTEMS.index(p.better) < SYSTEMS.index(p.worse) for p in last.decided)
    assert last.active == ()
    early = [pair for pair in last.decided if pair.look < last.number]
    assert {("alpha", "delta")} <= {(p.better, p.worse) for p in early}
    assert list(found[0].decided) == [p for p in last.decided if p.look == 1]


def test_for_the_top_only_systems_that_may_be_best_are_asked_about(study: Study) -> None:
    found = looks(study, "top")
    assert found[-1].reached
    beaten = {pair.worse for pair in found[0].decided}
    assert set(found[0].active) == set(SYSTEMS) - beaten
    assert {p.better for p in found[-1].decided if p.worse in SYSTEMS} >= {"alpha"}
    assert "delta" not in found[0].active


def test_a_share_of_the_pairs(study: Study) -> None:
    half, most = (looks(study, goal)[-1] for goal in ("pairs=50%", "pairs=100%"))
    assert half.reached
    assert len(half.decided) >= 3
    assert half.number <= most.number


def test_intervals_become_as_narrow_as_wanted(study: Study) -> None:
    found = looks(study, "width=0.1")
    widths = [max(s.high - s.low for s in look.standings) for look in found]
    assert widths == sorted(widths, reverse=True)
    assert found[-1].reached
    assert widths[-1] <= 0.1
    assert len(found) > 1


def test_few_parts_decide_nothing_and_say_why() -> None:
    small = study_of(topics=8, asked=1.0, mistakes=0.0)
    look = take_look(
        round_of(small, 0.5), model="align", goal=Goal("ranking"), number=1, shares=(0.5, 1), question="these"
    )
    assert not look.decided
    assert look.active == tuple(sorted(SYSTEMS))
    assert "nothing is decided yet: people answered 24 drawn parts" in look.notes[0]


def test_what_was_decided_stays_decided_and_who_left_stays_away(study: Study) -> None:
    first = looks(study, "top")[0]
    left = frozenset(SYSTEMS) - set(first.active)
    later = take_look(
        round_of(study, 0.5, left),
        model="align",
        goal=Goal("top"),
        number=2,
        shares=SHARES,
        question="these",
        earlier=first,
    )
    assert later.decided[: len(first.decided)] == first.decided
    assert not left & set(later.active)


def test_a_look_survives_json(study: Study) -> None:
    look = looks(study, "pairs=50%", "topics")[0]
    assert Look.of(json.loads(json.dumps(asdict(look)))) == look


@pytest.mark.parametrize(
    ("number", "shares", "message"),
    [
        (0, (0.5,), "look 0 of 1"),
        (2, (0.5,), "look 2 of 1"),
        (1, (0.5, 0.25), "must rise"),
        (1, (0.0, 1.0), "must rise"),
    ],
)
def test_unplanned_looks_are_refused(study: Study, number: int, shares: tuple[float, ...], message: str) -> None:
    with pytest.raises(pyr.UsageError, match=message):
        take_look(round_of(study, 0.5), model="align", goal=Goal("top"), number=number, shares=shares)
