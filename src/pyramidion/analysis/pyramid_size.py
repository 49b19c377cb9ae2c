"""How many references does a pyramid need? Nenkova et al. 2007, section 3, Figure 2 and Tables I and II.

Every sub-pyramid of n references (without the other contributors and the units left empty) scores the held-out
summaries:

    peers       annotated summaries
    references  the references themselves, each by pyramids of the others
    five        five references drawn at random from each topic, by pyramids of the rest: the design of Table II

Reported for each n, and for each summary its least, mean and greatest score:

    range the mean over summaries of the greatest minus the least score
    diverged    pairs in which the least score of the better summary is above the greatest of the worse one
    E1          the two seem the same with n references but differ with all of them
    E2          they seem to differ but are the same with all
    E3          they seem to differ the other way round
    Spearman    the mean rank correlation with the ranking by all references (of references: by all the others)
    ranked      how many summaries were ranked at least; the paper ranks five, and fewer than three are not ranked

Two scores are the same if they differ by less than 0.06. E1 to E3 are shares of all comparisons (pairs of summaries
of a topic x sub-pyramids); the table also gives them as the paper defines them, given the verdict with n references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import comb
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pyramidion.analysis.answer import Answer, Figure, Lines, Series, Table, count
from pyramidion.analysis.inputs import Floats, column_means
from pyramidion.analysis.size_verdicts import (
    CLEAR,
    FIVE,
    SAME,
    Held,
    ScoreRange,
    SizeRow,
    mean_divergence,
    score_ranges,
    size_row,
)
from pyramidion.errors import Problems, UsageError, check_choice
from pyramidion.scoring.choice import choose
from pyramidion.scoring.pyramid import peer_scores
from pyramidion.study import Pyramid, Signature, Study
from pyramidion.study.judgments import listed

HeldOut = Literal["peers", "references", "five"]
Measure = Literal["modified", "original"]
_Content = tuple[list[bool], int | None]
"""The units of a pyramid that a summary expresses, and X, the number of all its content units."""


@dataclass(frozen=True)
class PyramidSizes:
    held_out: str
    measure: str
    rows: tuple[SizeRow, ...]
    ranges: tuple[ScoreRange, ...]
    mean_divergence: float | None
    clear_pairs: int
    topics: tuple[Held, ...]


def pyramid_size(
    study: Study,
    *,
    held_out: HeldOut = "peers",
    measure: Measure = "modified",
    pyramid: str | None = None,
    judges: str | None = None,
    draws: int = 1,
    most: int = 2000,
    seed: int = 0,
) -> Answer[PyramidSizes]:
    """Score held-out summaries by every sub-pyramid; if there are more than ``most`` of one size, by that many drawn
    at random. ``draws`` is how many times five references are drawn from a topic; the paper draws them once."""
    check_choice("held_out", held_out, get_args(HeldOut))
    check_choice("measure", measure, get_args(Measure))
    if draws < 1:
        raise UsageError(f"references must be drawn at least once, not {draws} times")
    problems = Problems()
    rng = np.random.default_rng(seed)
    study = replace(study, pyramids=tuple(map(_in_order, study.pyramids)))
    five = partial(_of_five, draws=draws)
    held: dict[str, Callable[..., Iterator[Held]]] = {"peers": _of_peers, "references": _of_references, "five": five}
    topics = tuple(held[held_out](study, measure, pyramid, judges, most, rng, problems))
    if not topics:
        raise UsageError(_nothing(held_out))
    sizes = range(1, max(int(t.sizes.max()) for t in topics) + 1)
    rows = tuple(size_row(n, topics) for n in sizes)
    _warn_of_few(rows, problems)
    divergence, clear = mean_divergence(topics)
    result = PyramidSizes(held_out, measure, rows, tuple(score_ranges(topics)), divergence, clear, topics)
    drawn = {"draws": draws} if held_out == "five" else {}
    signature = Signature.of(
        "stability", study="pyramid-size", held=held_out, **drawn, measure=measure, same=SAME, seed=seed
    )
    figures = tuple(_figures(result))
    tables = (_table(result), _range_table(result))
    return Answer("stability", _sentence(result), tables, signature, result, figures, tuple(problems))


def _nothing(held_out: HeldOut) -> str:
    if held_out == "five":
        return f"no topic has {FIVE + 1} references, which --held-out five needs; use --held-out references instead"
    return "no topic has two scored summaries and two references, so no size can be compared"


def _warn_of_few(rows: Iterable[SizeRow], problems: Problems) -> None:
    few = [row for row in rows if row.ranked < FIVE]
    if few:
        least = count(min(row.ranked for row in few), "held-out summary", "held-out summaries")
        what = f"rank as few as {least}; the paper ranks {FIVE}, and Spearman says little about fewer"
        problems.warning(f"pyramids of {', '.join(str(row.references) for row in few)} references", what)


def _of_peers(
    study: Study,
    measure: Measure,
    pyramid: str | None,
    judges: str | None,
    most: int,
    rng: np.random.Generator,
    problems: Problems,
) -> Iterator[Held]:
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges)
    found: dict[str, dict[str, list[_Content]]] = {}
    for peer in peer_scores(choice, problems):
        if (peer.topic, peer.system) in choice.own:
            what = (
                "is itself a reference, so sub-pyramids that contain it cannot score it; use --held-out references "
                "instead"
            )
            problems.warning(f"topic {peer.topic}, system {peer.system}", what)
            continue
        said = [([listed(s.expressed.get(u.id, 0)) > 0 for u in s.pyramid.units], s.size) for s in peer.by.values()]
        found.setdefault(peer.topic, {})[peer.system] = said
    for topic, peers in found.items():
        base = choice.pyramids[topic]
        if len(peers) > 1 and len(base.references) > 1 and base.units:
            members = _subsets(len(base.references), most, rng, topic, problems)
            annotations = [said for system in sorted(peers) for said in peers[system]]
            owners = np.repeat(np.arange(len(peers)), [len(peers[system]) for system in sorted(peers)])
            each = _scores(base, members, annotations, measure)
            scores = np.array([column_means(each[owners == number]) for number in range(len(peers))])
            if not np.isnan(scores).all():
                full = scores[:, members.sum(axis=1) == len(base.references)][:, 0]
                yield Held(topic, tuple(sorted(peers)), base.references, members.sum(axis=1), scores, full)


def _of_references(
    study: Study,
    measure: Measure,
    pyramid: str | None,
    judges: str | None,
    most: int,
    rng: np.random.Generator,
    problems: Problems,
) -> Iterator[Held]:
    """A reference expresses the units it contributes to; pyramids with itself do not score it."""
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges or "all")
    for topic, base in sorted(choice.pyramids.items()):
        if len(base.references) < 3 or not base.units:
            problems.warning(
                f"topic {topic}", "has fewer than 3 references or no units; holding one out leaves too few"
            )
            continue
        members = _subsets(len(base.references), most, rng, topic, problems)
        members = members[members.sum(axis=1) < len(base.references)]
        scores = _scores(base, members, _told(base), measure)
        scores[members.T.astype(bool)] = np.nan
        yield Held(topic, base.references, base.references, members.sum(axis=1), scores, _by_all_others(base, measure))


def _of_five(
    study: Study,
    measure: Measure,
    pyramid: str | None,
    judges: str | None,
    most: int,
    rng: np.random.Generator,
    problems: Problems,
    *,
    draws: int,
) -> Iterator[Held]:
    """Five references drawn at random, by all pyramids of the rest; compared with all references but the one scored."""
    choice = choose(study, kind="expert", pyramid=pyramid, judges=judges or "all")
    for topic, base in sorted(choice.pyramids.items()):
        names = base.references
        if len(names) <= FIVE or not base.units:
            what = f"has {count(len(names), 'reference')} and {count(len(base.units), 'unit')}; left out, for five are"
            problems.warning(f"topic {topic}", f"{what} held out and pyramids are made of the rest")
            continue
        told, full = _told(base), _by_all_others(base, measure)
        subsets = _subsets(len(names) - FIVE, most, rng, topic, problems)
        for _ in range(draws):
            order = rng.permutation(len(names))
            out, rest = np.sort(order[:FIVE]), np.sort(order[FIVE:])
            members = np.zeros((len(subsets), len(names)), dtype=np.int64)
            members[:, rest] = subsets
            scores = _scores(base, members, [told[i] for i in out], measure)
            left, right = (tuple(names[i] for i in part) for part in (out, rest))
            yield Held(topic, left, right, members.sum(axis=1), scores, full[out])


def _told(base: Pyramid) -> list[tuple[list[bool], int | None]]:
    """The units that each reference contributes to, which is all its content."""
    told = [[reference in unit.references for unit in base.units] for reference in base.references]
    return [(row, sum(row)) for row in told]


def _by_all_others(base: Pyramid, measure: Measure) -> Floats:
    """Each reference by the one pyramid of all the others."""
    itself = np.eye(len(base.references), dtype=np.int64)
    scores = _scores(base, 1 - itself, _told(base), measure)
    return column_means(np.where(itself, scores, np.nan))


def _in_order(pyramid: Pyramid) -> Pyramid:
    """The pyramid with references and units by name: which of its parts are drawn must not depend on their order."""
    return replace(
        pyramid,
        references=tuple(sorted(pyramid.references)),
        units=tuple(sorted(pyramid.units, key=lambda unit: unit.id)),
    )


def _subsets(references: int, most: int, rng: np.random.Generator, topic: str, problems: Problems) -> NDArray[np.int64]:
    """Which references are in each sub-pyramid, from single ones up to all of them."""
    rows = []
    for n in range(1, references + 1):
        if comb(references, n) <= most:
            chosen = [list(members) for members in combinations(range(references), n)]
        else:
            problems.warning(f"topic {topic}", f"{most} of {comb(references, n):,} pyramids of {n} references drawn")
            chosen = [rng.permutation(references)[:n].tolist() for _ in range(most)]
        rows += [[int(reference in members) for reference in range(references)] for members in chosen]
    return np.array(rows, dtype=np.int64)


def _scores(base: Pyramid, members: NDArray[np.int64], summaries: list[_Content], measure: Measure) -> Floats:
    """All summaries by all sub-pyramids at once: weights are counts of a unit's contributors from members."""
    sources = [[contributor.reference for contributor in unit.contributors] for unit in base.units]
    told_by = np.array([[source.count(reference) for reference in base.references] for source in sources])
    weights = members @ told_by.T.astype(np.int64)  # sub-pyramids x units
    expressed = np.array([row for row, _ in summaries], dtype=np.int64)
    raw = (expressed @ weights.T).astype(np.float64)  # summaries x sub-pyramids
    best = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(-np.sort(-weights, axis=1), axis=1)], axis=1)
    units = best.shape[1] - 1
    if measure == "modified":
        average = np.floor(weights.sum(axis=1) / members.sum(axis=1) + 0.5).astype(np.int64)
        reach = np.tile(np.minimum(average, units), (len(summaries), 1))
    else:
        # What a smaller pyramid lacks becomes unmatched content, so X, all content of the summary, stays the same.
        size = np.array([-1 if x is None else min(x, units) for _, x in summaries])
        reach = np.tile(size[:, None], (1, len(weights)))
    ideal = np.where(reach >= 0, best[np.arange(len(weights)), np.maximum(reach, 0)], 0.0)
    empty = (reach == 0) & (measure == "original") & (best[:, -1] > 0)  # a summary without content scores 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(empty, 0.0, np.where(ideal > 0, raw / ideal, np.nan)))


# -- how people see it ---------------------------------------------------------------------------------------------


def _sentence(result: PyramidSizes) -> str:
    last = result.rows[-1].references
    # The largest pyramids are what verdicts are compared with, unless five references are in none of them.
    small = result.rows if result.held_out == "five" else result.rows[:-1]
    safe = next((r for r in small if r.error is not None and r.error <= 0.1), None)
    topics = count(len({held.topic for held in result.topics}), "topic")
    text = f"Up to {count(last, 'reference')} per pyramid, {topics}:"
    if safe is not None and safe.error is not None:
        text += (
            f" with {safe.references}, {safe.error:.0%} of the verdicts on two summaries differ from those with "
            "all references."
        )
    else:
        text += " even one reference fewer than all changes more than 10% of the verdicts on two summaries."
    if result.mean_divergence is not None:
        pairs = count(result.clear_pairs, "clearly different pair")
        text += f" {pairs} diverge at {result.mean_divergence:.1f} references on average."
    return text


def _table(result: PyramidSizes) -> Table:
    return Table(
        f"Pyramid size: {result.measure} scores of {_held(result)}",
        (
            "references",
            "pyramids",
            "range",
            "diverged",
            "E1",
            "E2",
            "E3",
            "any error",
            "E1 of same",
            "E2 of different",
            "E3 of different",
            "Spearman",
            "ranked",
        ),
        tuple(
            (
                r.references,
                r.pyramids,
                r.range,
                r.diverged,
                r.e1,
                r.e2,
                r.e3,
                r.error,
                r.given_same,
                r.given_different_same,
                r.given_different_reversed,
                r.spearman,
                r.ranked,
            )
            for r in result.rows
        ),
        f"diverged: of pairs that differ by more than {CLEAR} with all references. E1: seem the same, differ with all; "
        f"E2: seem to differ, are the same; E3: order reversed; scores less than {SAME} apart are the same. "
        "Spearman: with the ranking by all; ranked: how many summaries at least.",
    )


def _held(result: PyramidSizes) -> str:
    return "five held-out references" if result.held_out == "five" else f"held-out {result.held_out}"


def _range_table(result: PyramidSizes) -> Table:
    return Table(
        f"{result.measure.capitalize()} scores of each held-out summary over all pyramids of a size",
        ("topic", "summary", "references", "pyramids", "minimum", "mean", "maximum"),
        tuple((r.topic, r.summary, r.references, r.pyramids, r.least, r.mean, r.greatest) for r in result.ranges),
    )


def _figures(result: PyramidSizes) -> Iterator[Figure]:
    x = tuple(float(r.references) for r in result.rows)
    yield Lines(
        "Verdicts on two summaries that change with more references",
        "references in the pyramid",
        "share of verdicts",
        (
            Series("E1 seem the same", x, tuple(r.e1 for r in result.rows)),
            Series("E2 seem to differ", x, tuple(r.e2 for r in result.rows)),
            Series("E3 reversed", x, tuple(r.e3 for r in result.rows)),
            Series("any", x, tuple(r.error for r in result.rows)),
        ),
    )
    spearman = Series("", x, tuple(r.spearman for r in result.rows))
    yield Lines("Ranking by n references and by all", "references in the pyramid", "mean Spearman", (spearman,))
    yield from _example(result)


def _example(result: PyramidSizes) -> Iterator[Lines]:
    """Two summaries of a topic as in Figure 2: the range of their scores narrows until they part."""
    for held in result.topics:
        order = [int(i) for i in np.argsort(-np.nan_to_num(held.full, nan=-1.0))]
        pair = next(((a, b) for a, b in combinations(order, 2) if held.full[a] - held.full[b] > CLEAR), None)
        if pair is None:
            continue
        series = []
        for name in (held.summaries[i] for i in pair):
            # the first draw, where five are drawn several times
            mine = [r for r in result.ranges if (r.topic, r.summary) == (held.topic, name)][
                : len(np.unique(held.sizes))
            ]
            x = tuple(float(r.references) for r in mine)
            low, mean, high = (tuple(getattr(r, part) for r in mine) for part in ("least", "mean", "greatest"))
            series.append(Series(name, x, mean, low, high))
        title = f"{held.topic}: least, mean and greatest score over all pyramids of a size"
        yield Lines(title, "references in the pyramid", result.measure, tuple(series))
        return
