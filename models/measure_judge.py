"""How `align` and `lexical` do away from what they were fitted on: python models/measure_judge.py PAIRS.jsonl

- The bundled example: four topics, 17 to 20 units by experts, four references, six systems, four or five sentences a
  summary, asked as `judge` asks: beside the references and the whole pyramid.
- Entailment pairs (premise, hypothesis, label, source a line): is the hypothesis in the premise? Neither references nor
  a pyramid are known.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from train_judge import Document, Doubles, auc, quality

import pyramidion as pyr
from pyramidion.jobs import judged_topics
from pyramidion.judges import judge, make_judge, questions

PAIRS_A_SOURCE = 1500


def of_example(name: str) -> tuple[list[Document], list[Doubles]]:
    """What experts say, and what a judge says."""
    study = pyr.example()
    experts = study.judges_of("expert")
    said = {(j.topic, j.system, j.unit): float((j.value or 0) > 0) for j in study.judgments if j.judge in experts}
    asked = judged_topics(study, "expert")
    found = [verdicts.probability for verdicts in make_judge(name).judge(questions(asked))]
    documents = []
    for each in asked:
        labels = [unit.label for unit in each.pyramid.units]
        present = np.array(
            [[said.get((each.pyramid.topic, system, unit.id), 0.0) for system in each.texts]
             for unit in each.pyramid.units]
        )  # fmt: skip
        documents.append(Document("example", labels, present, present, {}))
    return documents, found


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


def main(pairs: Path) -> None:
    for name in ("align", "lexical"):
        print(f"bundled example, {name}:", quality(*of_example(name)), flush=True)
    for source, (aligned, lexical) in entailment(pairs).items():
        print(f"{source}: AUC align {aligned:.3f}, lexical {lexical:.3f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
