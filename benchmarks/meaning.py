"""Does a judge see who did what to whom, and does it see through paraphrase? python benchmarks/meaning.py [JUDGE ...]

Two sets written and checked by hand over the bundled example, in benchmarks/data: 50 role swaps, whose two texts have
the same words but exchange who did what to whom, from where to where, before and after, more and less; and 50
paraphrases, whose first text says the unit in other words, and whose second has as many words of it but says something
else. Every unit is asked as a study asks it, beside the references of its topic and the whole pyramid. No judge is
fitted on them. JUDGE is any judge: align (the default), lexical, nli:MODEL, llm:MODEL; --write records the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

import pyramidion as pyr
from pyramidion.judges import PresenceJudge, TopicToJudge, make_judge, questions, texts_by_topic
from pyramidion.study import Pyramid

HERE = Path(__file__).parent
TARGET = HERE / "results" / "meaning.md"
SETS = {"role swaps": "role-swaps.jsonl", "paraphrases": "paraphrases.jsonl"}
Doubles = NDArray[np.float64]


class Pair(NamedTuple):
    """A unit of the example, a text that expresses it, and one that does not."""

    topic: str
    unit: str
    label: str
    said: str
    not_said: str
    kind: str


@dataclass(frozen=True)
class Shares:
    """How often a judge says each of the three, of texts of one sort."""

    expressed: float
    perhaps: float
    not_found: float


@dataclass(frozen=True)
class Measured:
    """How well a judge tells the texts of a set apart: over all texts, and within each pair."""

    auc: float
    right_order: float
    said: Shares
    not_said: Shares
    right_order_by_kind: dict[str, float]


def load_pairs(name: str) -> list[Pair]:
    lines = (HERE / "data" / SETS[name]).read_text("utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def measure(judge: str | PresenceJudge = "align") -> dict[str, Measured]:
    """Both sets, by name; any object with `judge` and `threshold` will do."""
    asked = make_judge(judge) if isinstance(judge, str) else judge
    return {name: _measured(load_pairs(name), asked) for name in SETS}


def probabilities(pairs: list[Pair], judge: PresenceJudge) -> Doubles:
    """Pairs x (said, not said)."""
    example = pyr.example()
    references = texts_by_topic(example.references)
    homes = {(held.topic, unit.id): held for held in example.pyramids for unit in held.units}

    def ask(pair: Pair, pyramid: Pyramid) -> TopicToJudge:
        known = [text for name, text in references[pair.topic].items() if name in pyramid.references]
        return TopicToJudge(pyramid, {"said": pair.said, "not_said": pair.not_said}, known)

    # The units of a topic are one block; of its questions only one unit is asked, beside all that a judge may look at.
    blocks = questions(ask(pair, homes[pair.topic, pair.unit]) for pair in pairs)
    single = (block._replace(units=[pair.label]) for pair, block in zip(pairs, blocks, strict=True))
    return np.array([verdicts.probability[0] for verdicts in judge.judge(single)], float)


def _measured(pairs: list[Pair], judge: PresenceJudge) -> Measured:
    said, not_said = probabilities(pairs, judge).T
    ranks = rankdata([*said, *not_said])[: len(said)].sum()
    order = (said > not_said) + 0.5 * (said == not_said)
    kinds = {kind: [pair.kind == kind for pair in pairs] for kind in dict.fromkeys(pair.kind for pair in pairs)}
    bounds = _bounds(judge)
    return Measured(
        float((ranks - len(said) * (len(said) + 1) / 2) / (len(said) * len(not_said))),
        float(order.mean()),
        _shares(said, *bounds),
        _shares(not_said, *bounds),
        {kind: float(order[rows].mean()) for kind, rows in kinds.items()},
    )


def _bounds(judge: PresenceJudge) -> tuple[float, float]:
    """From where "expressed" and "perhaps" begin; judges without such bounds know yes and no only."""
    card = json.loads(files("pyramidion.data").joinpath("judge.json").read_text("utf-8"))
    if judge.name == "align" and "expressed" in card:
        return card["expressed"], card["perhaps"]
    return judge.threshold, judge.threshold


def _shares(probability: Doubles, expressed: float, perhaps: float) -> Shares:
    sure, found = float((probability >= expressed).mean()), float((probability >= perhaps).mean())
    return Shares(sure, found - sure, 1 - found)


def _lines(judges: list[str]) -> list[str]:
    lines, kinds = [HEAD], ["", KINDS]
    for judge in judges:
        for name, found in measure(judge).items():
            shares = [share for each in (found.said, found.not_said) for share in asdict(each).values()]
            shown = " | ".join(f"{share:.2f}" for share in (found.auc, found.right_order, *shares))
            lines.append(f"| `{judge}` | {name} | {shown} |")
            kinds += [
                f"| `{judge}` | {name} | {kind} | {share:.2f} |" for kind, share in found.right_order_by_kind.items()
            ]
    return [*lines, *kinds]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("judges", nargs="*", default=["align"], metavar="JUDGE")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    page = "\n".join(_lines(options.judges)) + "\n"
    sys.stdout.write(page)
    if options.write:
        TARGET.write_text(page, "utf-8")


HEAD = """# Who did what to whom, and paraphrase

Two sets of 50 pairs of texts, written and checked by hand over the units of the bundled example
(`benchmarks/data/role-swaps.jsonl`, `benchmarks/data/paraphrases.jsonl`); no judge was fitted on them. In a role swap,
the text that does not express the unit has the same words as the one that does; in a paraphrase, it shares as few words
with the unit as the one that does. AUC is over all 100 texts of a set; "right order" is the share of pairs in which the
text that expresses the unit gets the higher probability (a tie counts half; chance is 0.50). Then, for the texts that
express the unit and for those that do not, the share that is judged expressed, perhaps and not found; a judge without
bounds for the three says yes or no by its threshold.

| judge | set | AUC | right order | said: expressed | perhaps | not found | not said: expressed | perhaps | not found |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"""
KINDS = """The right order by kind of pair.

| judge | set | kind | right order |
|---|---|---|---:|"""

if __name__ == "__main__":
    main()
