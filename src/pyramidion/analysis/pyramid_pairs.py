"""Is an automatic pyramid like a manual one? Gao et al. 2019, table 2 and figures 1 and 7.

Table 2 counts the units of each weight. Figure 1 aligns a unit of one pyramid with a unit of the other that says the
same, and compares their contributors and weights (5 and 4). Here all units are aligned so: one to one, with the
greatest sum of Dice over the characters of the references that contribute (`methods.annotate.compare`); units without
marked words are compared by the content words of their labels. Two units that share less than ``least`` are not paired.
Figure 7 shows a consequence: one automatic unit has the words of two manual ones, so one of these has no partner. For
every heavy unit without a partner, the answer therefore names the unit that has most of its words.
"""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

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
from pyramidion.encoder.sentences import content_stems
from pyramidion.errors import Problem, UsageError
from pyramidion.stats.correlation import correlation
from pyramidion.study import ContentUnit, Contributor, Pyramid, Signature, Span, Study

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
        raise UsageError(f"the minimum overlap of a pair must be above 0 and at most 1, not {least:g}")
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
            f"the study has no pyramid called {against!r} to compare with (it has: {known}); name one of its "
            "pyramids, or add a manual one: .pyr files of DUCView, or pyramidion annotate"
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
    what = f"{mine.name} and {other.name} have different references ({listed(differing)} in only one of them)"
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


Words = frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class UnitPair:
    """A unit of each pyramid, or of one of them. ``differing`` names the references they use differently; ``by_label``
    says that labels were compared."""

    first: ContentUnit | None
    second: ContentUnit | None
    shared: float
    differing: tuple[str, ...]
    by_label: bool = False

    @property
    def same(self) -> bool:
        return not self.differing and self.first is not None and self.second is not None


def compare_pyramids(first: Pyramid, second: Pyramid, *, least: float = 0.0) -> list[UnitPair]:
    """Every unit of both pyramids, those with the least in common first. Units that share less than ``least``, or
    nothing, are not paired."""
    here, there = (sorted(pyramid.units, key=lambda unit: unit.id) for pyramid in (first, second))
    alike = _unit_shares(here, there, least)
    partner = _assigned(here, there, alike)
    pairs = [
        _pair(unit, there[partner[place]], alike[place, partner[place]]) if place in partner else _pair(unit, None)
        for place, unit in enumerate(here)
    ]
    taken = set(partner.values())
    pairs += [_pair(None, unit) for place, unit in enumerate(there) if place not in taken]
    return sorted(pairs, key=lambda pair: (pair.same, pair.shared))


def dice(first: Words, second: Words) -> float:
    """2 |A and B| / (|A| + |B|); 1 where both are empty."""
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 1.0


def _pair(first: ContentUnit | None, second: ContentUnit | None, shared: float = 0.0) -> UnitPair:
    used: list[dict[str, Words]] = []
    for unit in (first, second):
        words: dict[str, set[Hashable]] = defaultdict(set)
        for contributor in unit.contributors if unit else ():
            words[contributor.reference] |= {place for span in contributor.spans for place in range(*span)}
        used.append({reference: frozenset(places) for reference, places in words.items()})
    differing = sorted(name for name in used[0].keys() | used[1].keys() if used[0].get(name) != used[1].get(name))
    by_label = bool(first and second) and not (is_marked(first) and is_marked(second))
    return UnitPair(first, second, shared, tuple(differing), by_label)


def is_marked(unit: ContentUnit | None) -> bool:
    """Whether words of a reference are marked for the unit."""
    return unit is not None and any(contributor.spans for contributor in unit.contributors)


def unit_words(unit: ContentUnit) -> Words:
    """The characters of a unit; a contributor without spans, or a unit without contributors, is represented by the
    label."""
    found: set[Hashable] = set() if unit.contributors else {unit.label}
    for contributor in unit.contributors:
        places = [(contributor.reference, place) for span in contributor.spans for place in range(*span)]
        found.update(places or [(contributor.reference, unit.label)])
    return frozenset(found)


Shares = Mapping[tuple[int, int], float]
"""How alike two units are, by their places; what is not there has nothing in common."""


def _unit_shares(here: Sequence[ContentUnit], there: Sequence[ContentUnit], least: float) -> Shares:
    words, others = ([unit_words(unit) for unit in units] for units in (here, there))
    users: dict[Hashable, list[int]] = defaultdict(list)
    for place, found in enumerate(others):
        for word in found:
            users[word].append(place)
    near = {(i, j) for i, found in enumerate(words) for word in found for j in users.get(word, ())}
    alike = {(i, j): dice(words[i], others[j]) for i, j in near}
    unmarked, unmarked_there = ({i for i, unit in enumerate(units) if not is_marked(unit)} for units in (here, there))
    if unmarked or unmarked_there:
        stems, other_stems = ([frozenset(content_stems(unit.label)) for unit in units] for units in (here, there))
        for i, j in product(range(len(here)), range(len(there))):
            if (i in unmarked or j in unmarked_there) and alike.get((i, j)) != 1 and stems[i] & other_stems[j]:
                alike[i, j] = dice(stems[i], other_stems[j])
    return {pair: shared for pair, shared in alike.items() if shared > 0 and shared >= least}


def _assigned(here: Sequence[ContentUnit], there: Sequence[ContentUnit], alike: Shares) -> dict[int, int]:
    """The partner of each place: one to one, with the greatest sum (Kuhn 1955).

    Among equals the same references and then the same id decide, by less than a character is worth.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment  # slow to import, so only when it is needed

    gain = np.zeros((len(here), len(there)))
    for (i, j), shared in alike.items():
        one, other = here[i], there[j]
        gain[i, j] = shared + 1e-9 * (one.references == other.references) + 1e-10 * (one.id == other.id)
    return {int(i): int(j) for i, j in zip(*linear_sum_assignment(gain, maximize=True), strict=True) if gain[i, j]}
