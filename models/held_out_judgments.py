"""Judgments by a model beside people's, for replays: every document is judged by a model that never saw its labels.

    git show e02bd2e:src/pyramidion/data/encoder.onnx > untuned.onnx    # or `build_encoder.py` without tuned weights
    python models/held_out_judgments.py untuned.onnx DATA OUT

The shipped `align` was fitted on PyrXSum and half of REALSumm, so what it says of them is too good to replay a campaign
with. Here its features come from the encoder as it was published, before it was tuned on any label, and its answer is
fitted anew for each of five folds of documents, on the others; it is a weaker judge than the shipped one. What is left
of the labels in it: which features there are, and six constants of `encoder.alignment`.

QAPyramid's labels come without texts, so nothing can judge them. The model there is made up of the majority's answer
and seeded noise, of the strength and with the shares by unit and by summary that the real model's errors have on
REALSumm.

OUT gets pyrxsum.csv, realsumm.csv and qapyramid.csv (topic, system, unit, people, model), and realsumm_crowd.csv and
qapyramid_crowd.csv with the answers of single workers (topic, system, unit, answer, value). It takes a minute or two.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from train_judge import FOLDS, READ, WEIGHT, Document, Doubles, auc, best_threshold, fit

import pyramidion as pyr
from pyramidion.encoder.minilm import Encoder, session_of
from pyramidion.encoder.words import Bag, bags
from pyramidion.judges.presence import JudgedUnits, PresenceModel
from pyramidion.judges.wording import credited, verbatim
from pyramidion.study import Study

SEED = 19
R = 0.6
"""The correlation of the made-up model with people's labels."""
Key = tuple[str, str, str]
"""Topic, system, unit."""


# -- people ------------------------------------------------------------------------------------------------------


def single_answers(study: Study, folder: Path) -> dict[Key, list[float]]:
    """The answers of REALSumm's workers, by the ids of the labels. A file is of one system; `bart_out` is the name of
    two, told apart by the folder."""
    experts = [pyramid for pyramid in study.pyramids if pyramid.name == "expert"]
    units = {(p.topic, u.label.strip().lower()): u.id for p in experts for u in p.units}
    systems = {peer.system for peer in study.peers}
    answers: dict[Key, list[float]] = {}
    for path in sorted(folder.glob("*/*.csv")):
        held = pyr.load(path, lenient=True)
        labels = {(p.topic, u.id): u.label.strip().lower() for p in held.pyramids for u in p.units}
        for j in held.judgments:
            if j.unit and j.value is not None:
                kinds = (path.parent.name, "abs", "ext")
                system = next(f"{kind}_{j.system}" for kind in kinds if f"{kind}_{j.system}" in systems)
                answers.setdefault((j.topic, system, units[j.topic, labels[j.topic, j.unit]]), []).append(j.value)
    return answers


# -- a model that has not seen the document ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Read:
    """A topic with its texts encoded: units x systems."""

    collection: str
    topic: str
    systems: list[str]
    units: list[str]
    labels: list[str]
    texts: list[str]
    references: list[str]
    encoded: Mapping[str, Bag]
    present: Doubles
    soft: Doubles

    def judged(self, model: PresenceModel | None = None) -> JudgedUnits:
        units, texts, references = ([self.encoded[t] for t in g] for g in (self.labels, self.texts, self.references))
        known = credited(self.labels, self.texts, (*self.references, *self.labels))
        return JudgedUnits(units, texts, references, units, known, verbatim(self.labels, self.texts), model)

    def document(self) -> Document:
        return Document(self.collection, self.labels, self.present, self.soft, self.judged().features)


def read(name: str, study: Study, single: Mapping[Key, Sequence[float]], encoder: Encoder) -> Iterator[Read]:
    people = {(j.topic, j.system, j.unit): float((j.value or 0) >= 0.5) for j in study.judgments}
    for topic in study.topics:
        pyramid = study.pyramid(topic.id, "expert")
        assert pyramid is not None
        peers = {peer.system: peer.text for peer in study.peers if peer.topic == topic.id}
        references = [summary.text for summary in study.references if summary.topic == topic.id]
        units, labels = [u.id for u in pyramid.units], [u.label for u in pyramid.units]
        keys = [[(topic.id, system, unit) for system in peers] for unit in units]
        present = np.array([[people[key] for key in row] for row in keys])
        soft = np.array([[np.mean(single.get(key, people[key])) for key in row] for row in keys])
        texts = list(dict.fromkeys([*labels, *peers.values(), *references]))
        encoded = dict(zip(texts, bags(texts, encoder), strict=True))
        yield Read(
            name, topic.id, list(peers), units, labels, list(peers.values()), references, encoded, present, soft
        )  # fmt: skip


def folds(topics: Sequence[Read]) -> list[set[int]]:
    """A share of every collection, as `tune_encoder.py` draws them."""
    held: list[set[int]] = [set() for _ in range(FOLDS)]
    for name in sorted(WEIGHT):
        numbers = [n for n, topic in enumerate(topics) if topic.collection == name]
        for place, chosen in enumerate(np.random.default_rng(0).permutation(len(numbers)).tolist()):
            held[place % FOLDS].add(numbers[chosen])
    return held


def held_out(topics: Sequence[Read]) -> list[Doubles]:
    """Units x systems, for every topic: how likely, by a model fitted on the other folds."""
    documents = [topic.document() for topic in topics]
    found: list[Doubles] = [np.empty(0)] * len(topics)
    for held in folds(topics):
        seen = [document for number, document in enumerate(documents) if number not in held]
        answer = fit(seen, READ)
        p = np.concatenate([answer.probability(document).ravel() for document in seen])
        threshold = best_threshold(p, np.concatenate([document.present.ravel() for document in seen]))
        weights = {"constant": answer.constant, **dict(zip(READ, answer.weights.tolist(), strict=True))}
        for number in held:
            found[number] = topics[number].judged(PresenceModel({}, weights, threshold)).probability()
    return found


# -- a made-up model ---------------------------------------------------------------------------------------------


class Noise(NamedTuple):
    """Which shares of the variance of a model's errors are common to a unit and to a summary."""

    unit: float
    summary: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Noise:
        """By the correlation of errors of pairs with the same unit, and the same summary."""
        topic, system, unit = (np.array([getattr(row, name) for row in rows]) for name in ("topic", "system", "unit"))
        people, model = (np.array([getattr(row, name) for row in rows]) for name in ("people", "model"))
        slope = np.polyfit(people, model, 1)
        error = model - np.polyval(slope, people)
        error = (error - error.mean()) / error.std()
        return cls(*(_common(error, topic, other) for other in (unit, system)))

    def draw(self, rows: Sequence[Row], rng: np.random.Generator) -> Doubles:
        """Errors of mean 0 and variance 1, one per row."""
        total: Doubles = np.sqrt(1 - self.unit - self.summary) * rng.normal(size=len(rows))
        for share, name in ((self.unit, "unit"), (self.summary, "system")):
            groups = [(row.topic, getattr(row, name)) for row in rows]
            place = {group: number for number, group in enumerate(dict.fromkeys(groups))}
            total += np.sqrt(share) * rng.normal(size=len(place))[[place[group] for group in groups]]
        return total


def _common(error: Doubles, topic: Any, other: Any) -> float:
    """The mean product of two errors of a group."""
    _, groups = np.unique(np.char.add(np.char.add(topic, "\t"), other), return_inverse=True)
    size, sums, squares = (np.bincount(groups, w) for w in (None, error, error**2))
    return max(0.0, float((sums**2 - squares).sum() / (size * (size - 1)).sum()))


class Row(NamedTuple):
    topic: str
    system: str
    unit: str
    people: float
    model: float


def qapyramid(path: Path, noise: Noise) -> tuple[list[Row], dict[Key, list[float]]]:
    """The majority (half is absent) with the made-up model, and the single answers."""
    answers: dict[Key, list[float]] = {}
    with path.open(encoding="utf-8") as file:
        for held in map(json.loads, file):
            key = held["document"], held["system"], f"{held['predicate']}: {held['unit']}"
            answers.setdefault(key, []).append(float(held["present"]))
    rows = [Row(*key, float(np.mean(values) > 0.5), 0.0) for key, values in answers.items()]
    people = np.array([row.people for row in rows])
    errors = noise.draw(rows, np.random.default_rng(SEED))
    low, high = 0.0, 10.0  # clipping costs correlation: search the strength that leaves R
    for _ in range(40):
        strength = (low + high) / 2
        model = np.clip(0.25 + 0.5 * people + strength * errors, 0, 1)
        low, high = (strength, high) if np.corrcoef(people, model)[0, 1] > R else (low, strength)
    return [row._replace(model=float(value)) for row, value in zip(rows, model, strict=True)], answers


# -- files -------------------------------------------------------------------------------------------------------


def write(path: Path, names: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *rows])


def write_answers(path: Path, answers: Mapping[Key, Sequence[float]]) -> None:
    rows = ((*key, number, int(value)) for key, values in answers.items() for number, value in enumerate(values, 1))
    write(path, ("topic", "system", "unit", "answer", "value"), rows)


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    write(path, Row._fields, ((*row[:3], int(row.people), f"{row.model:.5f}") for row in rows))
    people, model = (np.array([getattr(row, name) for row in rows]) for name in ("people", "model"))
    r = np.corrcoef(people, model)[0, 1]
    print(f"{path.name}: {len(rows):,} judgments, r {r:.3f}, AUC {auc(model, people):.3f}; {_differences(rows)}")


def _differences(rows: Sequence[Row]) -> str:
    """How the model does where systems differ in a unit: all pairs of systems of every unit."""
    units: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        units.setdefault((row.topic, row.unit), []).append(row)
    one, other = np.triu_indices(max(map(len, units.values())), 1)
    people, model = (
        np.array([[getattr(row, name) for row in held] for held in units.values()]) for name in ("people", "model")
    )
    ours, theirs = (table[:, one] - table[:, other] for table in (model, people))
    apart = theirs != 0
    right = auc(ours[apart], (theirs[apart] > 0).astype(float))
    return f"of differences r {np.corrcoef(ours.ravel(), theirs.ravel())[0, 1]:.3f}, AUC {right:.3f}"


def main(encoder_file: Path, data: Path, target: Path) -> None:
    encoder = Encoder()
    encoder._session = session_of(encoder_file)
    encoder._disk = None  # holds what the shipped encoder made
    studies = {name: pyr.load(data / name) for name in WEIGHT}
    single = single_answers(studies["realsumm-half"], data / "realsumm-half" / "crowd")
    topics = [topic for name, study in studies.items() for topic in read(name, study, single, encoder)]
    found = held_out(topics)
    target.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[Row]] = {name: [] for name in WEIGHT}
    for topic, model in zip(topics, found, strict=True):
        rows[topic.collection] += [
            Row(topic.topic, system, unit, topic.present[i, j], float(model[i, j]))
            for i, unit in enumerate(topic.units)
            for j, system in enumerate(topic.systems)
        ]
    write_rows(target / "pyrxsum.csv", rows["pyrxsum"])
    write_rows(target / "realsumm.csv", rows["realsumm-half"])
    write_answers(target / "realsumm_crowd.csv", single)
    noise = Noise.of(rows["realsumm-half"])
    print(f"errors on realsumm: {noise.unit:.0%} of their variance by unit, {noise.summary:.0%} by summary")
    made, answers = qapyramid(data / "qapyramid-presence" / "judgments.jsonl", noise)
    write_rows(target / "qapyramid.csv", made)
    write_answers(target / "qapyramid_crowd.csv", answers)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(*map(Path, sys.argv[1:]))
