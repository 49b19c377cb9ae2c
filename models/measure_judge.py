"""How `align` and `lexical` do away from what they were fitted on: python models/measure_judge.py PYRXSUM PAIRS.jsonl

- Several sentences: summaries put together from one to three systems' summaries of a PyrXSum document and one or two
  sentences about other documents. A unit is present if it is in any of the parts. Five folds by document, as in
  train_judge.py, whose numbers were fitted on single sentences.
- The bundled example: four topics, 17 to 20 units, six systems, four or five sentences a summary.
- Entailment pairs (premise, hypothesis, label, source a line): is the hypothesis in the premise?
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from train_judge import FOLDS, Document, Doubles, auc, fit, judged, quality, read

import pyramidion as pyr
from pyramidion.encoder import alignment as presence
from pyramidion.encoder.minilm import Encoder
from pyramidion.encoder.words import bags
from pyramidion.judges import judge, make_judge

MIXED_SYSTEMS, PAIRS_A_SOURCE = 20, 1500


def mixed(folder: Path, seed: int = 0) -> tuple[list[Document], list[list[str]]]:
    """The documents of PyrXSum with summaries of several sentences, and those summaries as text."""
    systems = sorted(path.stem for path in (folder / "summaries").iterdir())
    texts = [(folder / "summaries" / f"{name}.summary").read_text("utf-8").splitlines() for name in systems]
    documents, encoder, rng = read(folder), Encoder(), np.random.default_rng(seed)
    parts = [rng.choice(len(systems), size=rng.integers(1, 4), replace=False) for _ in range(MIXED_SYSTEMS)]
    made, shown = [], []
    for number, document in enumerate(documents):
        summaries = []
        for chosen in parts:
            others = [
                (number + 1 + int(rng.integers(len(documents) - 1))) % len(documents) for _ in range(rng.integers(1, 3))
            ]
            sentences = [texts[system][number] for system in chosen]
            sentences += [texts[int(rng.integers(len(systems)))][other] for other in others]
            summaries.append(" ".join(rng.permutation(np.array(sentences, object)).tolist()))
        present = np.stack([document.present[:, chosen].max(1) for chosen in parts], axis=1)
        made.append(document._replace(summaries=presence.Texts.of(list(bags(summaries, encoder))), present=present))
        shown.append(summaries)
    return made, shown


def held_out(single: list[Document], several: list[Document]) -> list[Doubles]:
    order = np.random.default_rng(0).permutation(len(single))
    found: list[Doubles] = [np.zeros(0)] * len(single)
    for fold in range(FOLDS):
        held = set(order[fold::FOLDS].tolist())
        model = fit([document for place, document in enumerate(single) if place not in held])
        for place in held:
            found[place] = judged([several[place]], model)[0]
    return found


def of_example() -> tuple[list[Document], list[list[str]]]:
    study, encoder = pyr.example(), Encoder()
    experts = study.judges_of("expert")
    said = {(j.topic, j.system, j.unit): float((j.value or 0) > 0) for j in study.judgments if j.judge in experts}
    documents, shown = [], []
    for pyramid in (p for p in study.pyramids if p.name == "expert"):
        peers = [peer for peer in study.peers if peer.topic == pyramid.topic]
        units = [unit.label for unit in pyramid.units]
        present = [[said.get((pyramid.topic, p.system, unit.id), 0.0) for p in peers] for unit in pyramid.units]
        summaries = [peer.text for peer in peers]
        of_units, of_peers = (presence.Texts.of(list(bags(texts, encoder))) for texts in (units, summaries))
        documents.append(Document(of_units, of_peers, np.array(present), units))
        shown.append(summaries)
    return documents, shown


def by_words(documents: list[Document], shown: list[list[str]]) -> list[Doubles]:
    return [
        judge(document.texts, summaries, judge="lexical").probability
        for document, summaries in zip(documents, shown, strict=True)
    ]


def entailment(path: Path) -> dict[str, tuple[float, float]]:
    """Source: the areas under the ROC curve of align and lexical."""
    pairs: dict[str, list[dict[str, str]]] = {}
    with path.open(encoding="utf-8") as file:
        for pair in map(json.loads, file):
            pairs.setdefault(pair["source"], []).append(pair)
    found = {}
    for source, held in pairs.items():
        some = [held[place] for place in np.random.default_rng(0).permutation(len(held))[:PAIRS_A_SOURCE]]
        entailed = np.array([float(pair["label"] == "entailment") for pair in some])
        areas = []
        for name in ("align", "lexical"):
            asked = make_judge(name)
            answers = [judge([p["hypothesis"]], [p["premise"]], judge=asked)[0, 0] for p in some]
            areas.append(auc(np.array(answers), entailed))
        found[source] = (areas[0], areas[1])
    return found


def main(pyrxsum: Path, pairs: Path) -> None:
    single = read(pyrxsum)
    several, shown = mixed(pyrxsum)
    print("several sentences, align, five folds:", quality(several, held_out(single, several)), flush=True)
    print("several sentences, lexical:", quality(several, by_words(several, shown)), flush=True)
    documents, texts = of_example()
    print("bundled example, align:", quality(documents, judged(documents, presence.default_model())), flush=True)
    print("bundled example, lexical:", quality(documents, by_words(documents, texts)), flush=True)
    for source, (aligned, lexical) in entailment(pairs).items():
        print(f"{source}: AUC align {aligned:.3f}, lexical {lexical:.3f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
