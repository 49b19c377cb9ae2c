"""Fit src/pyramidion/data/judge.json, the dozen numbers of `pyramidion.encoder.alignment`, and cross-validate them.

    python models/train_judge.py FOLDER    # the Lite2-3Pyramid layout of PyrXSum: SCUs.txt, summaries/, labels/

Maximum likelihood with a weak pull towards where the search starts, so that what the data say nothing about stays
sensible. Folds are by document. Numpy and scipy are all it needs; it takes some minutes.

What was tried and not kept (held-out documents: system-level and mean summary-level Pearson, AUC):
- these numbers: .992 / .655 / .892, and where the search starts, with nothing fitted: .993 / .658 / .884;
- also the best single sentence and plain word recall as features: .992 / .650 / .893;
- also the cosine of sentence vectors: .992 / .648 / .896, and worse among sentences on other things;
- a learned 128-dimensional turn of the vectors and learned word weights: .991 / .641 / .904;
- the encoder's upper three layers tuned end to end on PyrXSum: .993 / .663 / .912, all six on 40,000 entailment pairs
  first: .994 / .648 / .910, on entailment pairs alone: .988 / .579 / .773. Too small a gain for a second encoder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import pearsonr, rankdata

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
from pyramidion.encoder import alignment as presence  # noqa: E402
from pyramidion.encoder.minilm import Encoder  # noqa: E402
from pyramidion.encoder.words import (  # noqa: E402
    Bag,
    bags,
)

START = presence.Model(1.0, 4.0, 8.0, 2.0, 0.0, -5.0, 4.0, 3.0, 0.0, 0.0, -4.0)
LOOSE = np.array([0.5, 2.0, 2.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 3.0])
"""How far each number may go before the pull is felt."""
PULL, FOLDS = 1e-3, 5

Doubles = NDArray[np.float64]


class Document(NamedTuple):
    """The units of one document against the summaries of all systems; ``present`` is units x systems."""

    units: presence.Texts
    summaries: presence.Texts
    present: Doubles
    texts: list[str]


def read(folder: Path) -> list[Document]:
    def lines(name: str) -> list[str]:
        return (folder / name).read_text("utf-8").splitlines()

    systems = sorted(path.stem for path in (folder / "summaries").iterdir())
    units = [line.split("\t") for line in lines("SCUs.txt")]
    summaries = list(zip(*(lines(f"summaries/{name}.summary") for name in systems), strict=True))
    labels = list(zip(*(lines(f"labels/{name}.label") for name in systems), strict=True))
    encoder = Encoder()

    def encoded(groups: Sequence[Sequence[str]]) -> list[list[Bag]]:
        found = bags([text for group in groups for text in group], encoder)
        return [[next(found) for _ in group] for group in groups]

    return [
        Document(
            presence.Texts.of(written),
            presence.Texts.of(texts),
            np.array([row.split("\t") for row in answers], float).T,
            shown,
        )
        for written, texts, answers, shown in zip(encoded(units), encoded(summaries), labels, units, strict=True)
    ]


def judged(documents: Sequence[Document], model: presence.Model) -> list[Doubles]:
    return [presence.Alignment(d.units, d.summaries, model).probability() for d in documents]


def fit(documents: Sequence[Document]) -> presence.Model:
    truth = np.concatenate([d.present.ravel() for d in documents])
    start = np.array(astuple(START))

    def loss(numbers: Doubles) -> float:
        model = presence.Model(*numbers)
        p = np.clip(np.concatenate([found.ravel() for found in judged(documents, model)]), 1e-9, 1 - 1e-9)
        likelihood = np.mean(truth * np.log(p) + (1 - truth) * np.log(1 - p))
        return float(PULL * np.sum(((numbers - start) / LOOSE) ** 2) - likelihood)

    found = minimize(loss, start, method="L-BFGS-B", options={"maxiter": 40}, tol=1e-6)
    return presence.Model(*map(float, found.x))


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
    people = np.array([d.present.mean(0) for d in documents])
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


def by_kind(documents: Sequence[Document], found: Sequence[Doubles], thresholds: Sequence[float]) -> dict[str, Any]:
    rows: dict[str, list[tuple[Doubles, Doubles, NDArray[np.bool_]]]] = {}
    for document, p, threshold in zip(documents, found, thresholds, strict=True):
        for i, unit in enumerate(document.texts):
            for kind in kinds(unit):
                rows.setdefault(kind, []).append((p[i], document.present[i], p[i] >= threshold))
    table = {}
    for kind, parts in sorted(rows.items()):
        p, y, said = (np.concatenate(column) for column in zip(*parts, strict=True))
        table[kind] = {"judgments": len(y), "auc": round(auc(p, y), 3), "accuracy": round(float((said == y).mean()), 3)}
    return table


def cross_validate(documents: list[Document]) -> dict[str, Any]:
    order = np.random.default_rng(0).permutation(len(documents))
    found: list[Any] = [None] * len(documents)
    thresholds = [0.5] * len(documents)
    for fold in range(FOLDS):
        held = set(order[fold::FOLDS].tolist())
        training = [d for i, d in enumerate(documents) if i not in held]
        model = fit(training)
        seen = np.concatenate([p.ravel() for p in judged(training, model)])
        threshold = best_threshold(seen, np.concatenate([d.present.ravel() for d in training]))
        for i in held:
            found[i] = judged([documents[i]], model)[0]
            thresholds[i] = threshold
        print(
            f"fold {fold + 1} of {FOLDS}: {quality([documents[i] for i in held], [found[i] for i in held])}", flush=True
        )
    result = quality(documents, found)
    print("held-out documents:", result)
    return {
        **{name: round(value, 3) for name, value in result._asdict().items()},
        "by_kind_of_unit": by_kind(documents, found, thresholds),
    }


def main(folder: Path) -> None:
    documents = read(folder)
    print("nothing fitted:", quality(documents, judged(documents, START)))
    held_out = cross_validate(documents)
    model = fit(documents)
    everything = np.concatenate([p.ravel() for p in judged(documents, model)])
    threshold = best_threshold(everything, np.concatenate([d.present.ravel() for d in documents]))
    card = {
        "model": {name: round(value, 4) for name, value in asdict(model).items()},
        "threshold": round(threshold, 3),
        "trained_on": "PyrXSum (Zhang and Bansal 2021): 100 documents, 478 units, 10 systems, 4,780 presence labels",
        "held_out": held_out,
    }
    path = ROOT / "src/pyramidion/data/judge.json"
    path.write_text(json.dumps(card, indent=2) + "\n", "utf-8")
    print(path.read_text("utf-8"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
