"""Is an automatic pyramid like a manual one? Gao et al. 2019, table 2 and figures 1 and 7.

Table 2 counts the units of each weight. Figure 1 aligns a unit of one pyramid with a unit of the other that says the
same, and compares their contributors and weights (5 and 4). Here all units are aligned so: one to one, with the
greatest sum of Dice over the characters of the references that contribute (`methods.annotate.compare`); units without
marked words are compared by the content words of their labels. Two units that share too little are no pair: ``least``.

Figure 7 shows what that leaves over: one automatic unit has the words of two manual ones, so that one of these has no
partner. For every heavy unit without one, the answer therefore names the unit that has most of its words.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from pyramidion.analysis.answer import Answer, count, listed
from pyramidion.analysis.pairs_answer import (
    EVERY,
    Likeness,
    LoneUnit,
    PairedUnits,
    PyramidPairs,
    figure,
    sentence,
    tables,
)
from pyramidion.errors import Problem, UsageError
from pyramidion.methods.annotate.compare import UnitPair, compare_pyramids, is_marked, unit_words
from pyramidion.model import Contributor, Pyramid, Signature, Span, Study
from pyramidion.stats.correlation import correlation

LEAST = 0.25
"""Chosen so that a manual unit of figure 7 and the automatic one with twice its words, in three of its four references,
are a pair (.44), and units that have a name or a date in common are not."""


def pyramid_pairs(
    study: Study,
    *,
    pyramid: str | Sequence[str] = "auto",
    against: str = "expert",
    least: float = LEAST,
    topics: Collection[str] | None = None,
) -> Answer[PyramidPairs]:
    """Compare pyramids (one, or several as in table 2) with another of the same topics. ``topics`` may be patterns."""
    names = tuple(dict.fromkeys([pyramid] if isinstance(pyramid, str) else pyramid))
    if not 0 < least <= 1:
        raise UsageError(f"the least overlap of a pair is above 0 and at most 1, not {least:g}")
    _check_names(study, names, against)
    chosen, notes = _topics(study, names, against, topics)
    pairs, alone, alike = [], [], []
    for name in names:
        here = []
        for topic in chosen:
            mine, other = _pyramid(study, topic, name), _pyramid(study, topic, against)
            notes += _differing_references(mine, other)
            found = compare_pyramids(mine, other, least=least)
            paired = [_paired(name, topic, pair) for pair in found if pair.first and pair.second]
            here += paired
            alone += _alone(mine, other, found)
            alike.append(_likeness(name, topic, [mine], [other], paired))
        mine_all, others = ([_pyramid(study, topic, each) for topic in chosen] for each in (name, against))
        alike.append(_likeness(name, EVERY, mine_all, others, here))
        pairs += here
        notes += _by_labels(name, here, mine_all, others)
    tiers = {
        (name, topic): {weight: len(units) for weight, units in _pyramid(study, topic, name).tiers.items()}
        for name in (against, *names)
        for topic in chosen
    }
    result = PyramidPairs(against, names, chosen, tiers, tuple(alike), tuple(pairs), tuple(alone))
    signature = Signature.of(
        "pyramids", pyramid="/".join(names), against=against, overlap="dice", least=f"{least:g}", pairing="assignment"
    )
    return Answer("pyramids", sentence(result), tables(result), signature, result, (figure(result),), tuple(notes))


def _check_names(study: Study, names: Sequence[str], against: str) -> None:
    if not names:
        raise UsageError("name at least one pyramid to compare")
    if against in names:
        raise UsageError(f"pyramid {against} would be compared with itself; name two different pyramids")
    known = listed(study.pyramid_names) or "none"
    for name in names:
        if name not in study.pyramid_names:
            named = "" if name == "auto" else f" --name {name}"
            how = (
                f"to build one from its references: pyramidion auto build STUDY -o NEW.jsonl{named}"
                if study.references
                else "and no references to build one from"
            )
            raise UsageError(f"the study has no pyramid called {name!r} (it has: {known}); {how}")
    if against not in study.pyramid_names:
        raise UsageError(
            f"the study has no pyramid called {against!r} to compare with (it has: {known}); name one of its pyramids, "
            "or bring a manual one: .pyr files of DUCView, or pyramidion annotate"
        )


def _topics(
    study: Study, names: Sequence[str], against: str, wanted: Collection[str] | None
) -> tuple[tuple[str, ...], list[Problem]]:
    """The topics that have all pyramids, by id."""
    ids = sorted({pyramid.topic for pyramid in study.pyramids if pyramid.name in {*names, against}})
    if wanted is not None:
        ids = [id for id in ids if any(fnmatch.fnmatchcase(id, pattern) or id == pattern for pattern in wanted)]
        if not ids:
            raise UsageError(f"no topic with a pyramid is called {' or '.join(sorted(wanted))}")
    notes = []
    kept = [id for id in ids if all(study.pyramid(id, name) for name in (*names, against))]
    for name in (*names, against):
        if missing := [id for id in ids if study.pyramid(id, name) is None]:
            notes.append(Problem(f"topics {listed(missing)}", f"have no pyramid {name}; left out", "warning"))
    if not kept:
        raise UsageError(f"no topic has the pyramids {', '.join((*names, against))}")
    return tuple(kept), notes


def _pyramid(study: Study, topic: str, name: str) -> Pyramid:
    """A pyramid with units and contributors by name: what is shown must not depend on their order."""
    found = study.pyramid(topic, name)
    assert found is not None
    units = (replace(unit, contributors=tuple(sorted(unit.contributors, key=_place))) for unit in found.units)
    return replace(found, units=tuple(sorted(units, key=lambda unit: unit.id)))


def _place(contributor: Contributor) -> tuple[str, tuple[Span, ...]]:
    return contributor.reference, contributor.spans


def _differing_references(mine: Pyramid, other: Pyramid) -> list[Problem]:
    if not (differing := sorted(set(mine.references) ^ set(other.references))):
        return []
    what = f"{mine.name} and {other.name} have different references ({listed(differing)} in one only)"
    return [Problem(f"topic {mine.topic}", f"{what}, so weights are on different scales", "warning")]


def _paired(name: str, topic: str, pair: UnitPair) -> PairedUnits:
    """``contributors``: references in which both have words, some of them the same; without marked words, all that
    both come from."""
    assert pair.first is not None
    assert pair.second is not None
    shared = pair.first.references & pair.second.references
    if not pair.by_label:
        words = unit_words(pair.first) & unit_words(pair.second)
        shared &= {word[0] for word in words if isinstance(word, tuple)}
    return PairedUnits(name, topic, pair.first, pair.second, pair.shared, len(shared), pair.by_label)


def _alone(mine: Pyramid, other: Pyramid, found: Iterable[UnitPair]) -> list[LoneUnit]:
    """Units of either pyramid in at least half of its references that have no partner, the heaviest first."""
    lone = []
    for pair in found:
        if pair.first is not None and pair.second is not None:
            continue
        unit, owner, rest = (pair.first, mine, other) if pair.first is not None else (pair.second, other, mine)
        if unit is None or unit.weight < max(1, (len(owner.references) + 1) // 2):
            continue
        words = unit_words(unit)
        inside = {each.id: len(words & unit_words(each)) / len(words) for each in rest.units if words}
        nearest = max(rest.units, key=lambda each: (inside[each.id], each.weight, each.id), default=None)
        share = inside[nearest.id] if nearest and inside else 0.0
        lone.append(LoneUnit(owner.name, owner.topic, unit, rest.name, nearest if share else None, share))
    return sorted(lone, key=lambda each: (each.pyramid != other.name, -each.unit.weight, each.unit.id))


def _likeness(
    name: str, topic: str, mine: Sequence[Pyramid], others: Sequence[Pyramid], pairs: Sequence[PairedUnits]
) -> Likeness:
    weights = np.array([pair.unit.weight for pair in pairs], dtype=np.float64)
    partners = np.array([pair.other.weight for pair in pairs], dtype=np.float64)
    apart = np.abs(weights - partners)
    return Likeness(
        pyramid=name,
        topic=topic,
        units=sum(len(pyramid.units) for pyramid in mine),
        weight=sum(pyramid.contributor_count for pyramid in mine),
        other_units=sum(len(pyramid.units) for pyramid in others),
        other_weight=sum(pyramid.contributor_count for pyramid in others),
        pairs=len(pairs),
        paired_weight=int(weights.sum()),
        other_paired_weight=int(partners.sum()),
        contributors=sum(pair.contributors for pair in pairs),
        overlap=float(np.mean([pair.overlap for pair in pairs])) if pairs else None,
        pearson=correlation(weights, partners).r,
        spearman=correlation(weights, partners, "spearman").r,
        difference=float((weights - partners).mean()) if pairs else None,
        equal=int((apart == 0).sum()),
        within_one=int((apart <= 1).sum()),
    )


def _by_labels(
    name: str, pairs: Sequence[PairedUnits], mine: Sequence[Pyramid], others: Sequence[Pyramid]
) -> list[Problem]:
    notes = []
    for pyramids in (mine, others):
        units = [unit for pyramid in pyramids for unit in pyramid.units]
        bare = [unit for unit in units if not is_marked(unit)]
        blank = [unit for unit in bare if not unit.label.strip()]
        if bare:
            what = "have no marked words in the references and are compared by their labels"
            notes.append(Problem(f"{len(bare)} of {count(len(units), 'unit')} of {pyramids[0].name}", what, "warning"))
        if blank:
            notes.append(Problem(count(len(blank), "unit"), "have neither words nor label: not comparable", "warning"))
    if not pairs:
        notes.append(Problem(name, "has no unit in common with the other pyramid", "warning"))
    return notes
