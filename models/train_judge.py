"""Fit src/pyramidion/data/judge.json, the numbers of `pyramidion.judges.presence`, and say how good they are.

    python models/train_judge.py FOLDER DATA    # what `tune_encoder.py` wrote: fold-0 ... fold-4, transfer-...

Every document's features come from an encoder that was not tuned on it; whether a summary has a unit's numbers and
names is looked up in the texts, in DATA as `tune_encoder.py` read them. A logistic answer is fitted to them, with and
without what the references tell, by maximum likelihood with a weak pull towards 0; the collections count alike
(`WEIGHT`). It is measured by five folds over documents, the same ones, and by transfer: encoder and answer fitted on
one collection, measured on the other. It takes seconds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import pearsonr, rankdata

ROOT = Path(__file__).resolve().parent.parent
Doubles = NDArray[np.float64]
FOLDS, PULL = 5, 1e-3
WEIGHT = {"pyrxsum": 2.5, "realsumm-half": 1.0}
"""PyrXSum has 4,780 judgments, REALSumm's half 13,250."""
ALONE = ("mean", "weakest", "one", "lost", "pyramid_alone")
READ = ("mean", "weakest", "one", "lost", "weakest_read", "one_read", "source", "reference", "pyramid", "length")
"""Tried and left out: the share of the words found in context, and a negation that the summary does not have."""
SURE, ABSENT = 0.81, 0.902
"""How often "expressed" and "not found" must be right: four times in five, nine in ten, and a margin."""


@dataclass(frozen=True, eq=False)
class Document:
    """The units of one document against the summaries of all systems; ``present`` is units x systems."""

    collection: str
    labels: list[str]
    present: Doubles
    soft: Doubles
    features: Mapping[str, Doubles]

    def table(self, names: Sequence[str]) -> Doubles:
        return np.stack([self.features[name] for name in names], -1)


def read(folder: Path, lost: Sequence[Doubles]) -> dict[int, Document]:
    """By number; ``lost`` is what `lost_in` gives."""
    found = {}
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as held:
            features = {name: held[name].astype(np.float64) for name in {*ALONE, *READ} - {"lost"}}
            features["lost"] = lost[int(path.stem)]
            found[int(path.stem)] = Document(
                str(held["collection"]),
                list(map(str, held["labels"])),
                held["present"].astype(np.float64),
                held["soft"].astype(np.float64),
                features,
            )
    return found


def lost_in(data: Path) -> list[Doubles]:
    """By number of the document: units x systems, 1 where a summary lacks a number or a name of the unit."""
    import pyramidion as pyr
    from pyramidion.judges.wording import credited

    found = []
    for study in (pyr.load(data / name) for name in WEIGHT):
        for topic in study.topics:
            pyramid = study.pyramid(topic.id, "expert")
            assert pyramid is not None
            peers, references = (
                [summary.text for summary in summaries if summary.topic == topic.id]
                for summaries in (study.peers, study.references)
            )
            found.append(1.0 - credited([unit.label for unit in pyramid.units], peers, references))
    return found


class Answer(NamedTuple):
    """What each feature adds to the log-odds of "present"."""

    names: tuple[str, ...]
    weights: Doubles
    constant: float

    def probability(self, document: Document) -> Doubles:
        return np.asarray(1 / (1 + np.exp(-(document.table(self.names) @ self.weights + self.constant))))


def fit(documents: Sequence[Document], names: tuple[str, ...]) -> Answer:
    x = np.concatenate([document.table(names).reshape(-1, len(names)) for document in documents])
    y = np.concatenate([document.soft.ravel() for document in documents])
    weight = np.concatenate([np.full(d.soft.size, WEIGHT[d.collection]) for d in documents])
    weight /= weight.sum()
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = np.column_stack([(x - mean) / spread, np.ones(len(x))])

    def loss(numbers: Doubles) -> tuple[float, Doubles]:
        odds = z @ numbers
        pulled = PULL * np.append(numbers[:-1], 0.0)
        likelihood = weight @ (y * odds - np.logaddexp(0, odds))
        slope = z.T @ (weight * (1 / (1 + np.exp(-odds)) - y))
        return float(pulled @ numbers - likelihood), slope + 2 * pulled

    found = minimize(loss, np.zeros(z.shape[1]), jac=True, method="L-BFGS-B").x
    weights = found[:-1] / spread
    return Answer(names, weights, float(found[-1] - weights @ mean))


class Quality(NamedTuple):
    system: float
    summary: float
    auc: float
    calibration_error: float
    mean: float
    mean_of_people: float

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in self._asdict().items())


def quality(documents: Sequence[Document], found: Sequence[Doubles]) -> Quality:
    ours = np.array([p.mean(0) for p in found])
    people = np.array([document.present.mean(0) for document in documents])
    levels = [pearsonr(a, b)[0] for a, b in zip(ours, people, strict=True) if a.std() and b.std()]
    p, y = np.concatenate([x.ravel() for x in found]), np.concatenate([d.present.ravel() for d in documents])
    return Quality(
        float(pearsonr(ours.mean(0), people.mean(0))[0]),
        float(np.mean(levels)),
        auc(p, y),
        calibration_error(p, y),
        float(p.mean()),
        float(y.mean()),
    )


def auc(p: Doubles, y: Doubles) -> float:
    ones = y.sum()
    return float((rankdata(p)[y == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(y) - ones)))


def calibration_error(p: Doubles, y: Doubles) -> float:
    """The expected one, over ten bins of equal width."""
    bins = np.clip((p * 10).astype(int), 0, 9)
    return float(sum(abs(p[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in np.unique(bins)))


def best_threshold(p: Doubles, y: Doubles) -> float:
    """Where saying "present" gives the greatest F."""
    order = np.argsort(-p)
    hits = np.cumsum(y[order])
    f = 2 * hits / (np.arange(1, len(y) + 1) + y.sum())
    return float(p[order][int(f.argmax())])


def kinds(unit: str) -> list[str]:
    words = unit.split()
    found = ["number"] if any(c.isdigit() for c in unit) else []
    found += ["name"] if any(word[:1].isupper() for word in words[1:]) else []
    found += ["negation"] if {"not", "no", "never", "n't", "without"} & {w.lower() for w in words} else []
    return found or ["none of these"]


def by_kind(documents: Sequence[Document], found: Sequence[Doubles], threshold: float) -> dict[str, Any]:
    rows: dict[str, list[tuple[Doubles, Doubles]]] = {}
    for document, p in zip(documents, found, strict=True):
        for i, unit in enumerate(document.labels):
            for kind in kinds(unit):
                rows.setdefault(kind, []).append((p[i], document.present[i]))
    table = {}
    for kind, parts in sorted(rows.items()):
        p, y = (np.concatenate(column) for column in zip(*parts, strict=True))
        right = float(((p >= threshold) == y).mean())
        table[kind] = {"judgments": len(y), "auc": round(auc(p, y), 3), "accuracy": round(right, 3)}
    return table


class Bounds(NamedTuple):
    """From which probability on a unit reads as expressed, and from which on as perhaps; and from which on it counts as
    present where only yes and no are asked for."""

    expressed: float
    perhaps: float
    threshold: float


class Flat(NamedTuple):
    """All judgments of a collection: the probability, what people say, and whether the summary lacks a name."""

    p: Doubles
    y: Doubles
    lost: Doubles

    @classmethod
    def of(cls, documents: Sequence[Document], found: Sequence[Doubles]) -> Flat:
        columns = zip(*((p, d.present, d.features["lost"]) for d, p in zip(documents, found, strict=True)), strict=True)
        return cls(*(np.concatenate([part.ravel() for part in column]) for column in columns))

    def bounds(self) -> tuple[float, float]:
        """From where on "expressed" is right often enough, and below where "not found" is: the widest such ranges."""
        credited = self.lost == 0
        sure = _widest(-self.p[credited], self.y[credited], SURE)
        return -sure, _widest(self.p, 1 - self.y, ABSENT)

    def shown(self, bounds: Bounds) -> dict[str, float]:
        """How often the words that a person reads are right, and how much they catch."""
        yes, no = (self.p >= bounds.expressed) & (self.lost == 0), self.p < bounds.perhaps
        return {
            "expressed_right": round(float(self.y[yes].mean()), 3),
            "not_found_right": round(float(1 - self.y[no].mean()), 3),
            "recall": round(float(self.y[yes].sum() / self.y.sum()), 3),
            "perhaps": round(float((~yes & ~no).mean()), 3),
        }


def _widest(value: Doubles, right: Doubles, share: float) -> float:
    """The largest value up to which this share is right."""
    order = np.argsort(value)
    reached = np.flatnonzero(np.cumsum(right[order]) / np.arange(1, len(right) + 1) >= share)
    return float(value[order[reached[-1]]])


def cross_validate(
    documents: Mapping[int, Document], folds: Sequence[set[int]], names: tuple[str, ...]
) -> dict[int, Doubles]:
    found = {}
    for held in folds:
        answer = fit([document for number, document in documents.items() if number not in held], names)
        found |= {number: answer.probability(documents[number]) for number in held}
    return found


def tell(what: str, documents: Mapping[int, Document], found: Mapping[int, Doubles]) -> dict[str, Any]:
    told = {}
    for collection in WEIGHT:
        numbers = [number for number in sorted(found) if documents[number].collection == collection]
        if numbers:
            measured = quality([documents[n] for n in numbers], [found[n] for n in numbers])
            print(f"{what}, {collection}: {measured}")
            told[collection] = {name: round(value, 3) for name, value in measured._asdict().items()}
    return told


def main(folder: Path, data: Path) -> None:
    lost = lost_in(data)
    parts = [read(folder / f"fold-{number}", lost) for number in range(FOLDS)]
    documents = {number: document for part in parts for number, document in part.items()}
    folds = [set(part) for part in parts]
    numbers = sorted(documents)
    card: dict[str, Any] = {}
    weights: dict[str, dict[str, float]] = {}
    flat: dict[tuple[str, str], Flat] = {}
    for kind, names in (("alone", ALONE), ("read", READ)):
        found = cross_validate(documents, folds, names)
        card[kind] = tell(f"held out, {kind}", documents, found)
        for name in WEIGHT:
            mine = [n for n in numbers if documents[n].collection == name]
            flat[kind, name] = Flat.of([documents[n] for n in mine], [found[n] for n in mine])
        answer = fit(list(documents.values()), names)
        named = {name.removesuffix("_alone"): round(float(w), 4) for name, w in zip(names, answer.weights, strict=True)}
        weights[kind] = {"constant": round(answer.constant, 4), **named}
    chosen = [flat["read", name].bounds() for name in WEIGHT]  # as a study asks, which has references
    every = Flat.of([documents[n] for n in numbers], [found[n] for n in numbers])
    bounds = Bounds(max(b for b, _ in chosen), min(b for _, b in chosen), best_threshold(every.p, every.y))
    for (kind, name), each in flat.items():
        card[kind][name] |= each.shown(bounds)
    card["by_kind_of_unit"] = by_kind([documents[n] for n in numbers], [found[n] for n in numbers], bounds.threshold)
    for path in sorted(folder.glob("transfer-*")):
        other = read(path, lost)
        source = path.name.removeprefix("transfer-").split("-to-")[0]
        answer = fit([d for d in documents.values() if d.collection == source], READ)
        card[path.name] = tell(path.name, other, {number: answer.probability(d) for number, d in other.items()})
    held = {
        "model": weights,
        **{name: round(value, 3) for name, value in bounds._asdict().items()},
        "trained_on": "PyrXSum (4,780 presence labels) and 50 documents of REALSumm (13,250)",
        "held_out": card,
    }
    path = ROOT / "src/pyramidion/data/judge.json"
    path.write_text(json.dumps(held, indent=2) + "\n", "utf-8")
    print(path.read_text("utf-8"))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(*map(Path, sys.argv[1:]))
