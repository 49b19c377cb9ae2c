"""How many labels of automatic units read alone, label by label: python benchmarks/labels.py [DATA] [--write]

DATA has gum-summaries/ and is ../shared/data by default; without it only the bundled example is looked at. Units are
built again, from all references of a topic and from each reference alone, and looked up in labels.csv, which has two
readings of a sample of labels (``after``), in different orders, of labels as they were before sentences were cut only
where both sides read alone (``before``), and one reading of labels from texts that nobody looked at while the rules
were written (``unseen``: the summaries of one system of REALSumm, as if they were references). The texts of GUM and
REALSumm are not ours to copy: their labels are known by a hash. A language model, which also wrote the rules, read
them; no person has checked its verdicts yet.

A label is a whole statement (``yes``), is one but leaves open what a pronoun in it means (``pronoun``), or is none
(``no``, with a reason): no finite verb with its subject, something left hanging, cut off, or without content.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pyramidion as pyr
from pyramidion.pyramids.build import Builder
from pyramidion.pyramids.choices import Choices
from pyramidion.pyramids.labels import label_faults

ROOT = Path(__file__).resolve().parent.parent
READ = ROOT / "benchmarks/labels.csv"
RESULT = ROOT / "benchmarks/results/labels.md"


class ReadLabel(NamedTuple):
    """A label, the verdicts of both readings, and why it does not read alone."""

    sample: str
    document: str
    hash: str
    label: str
    first: str
    second: str
    reason: str


def read_labels(path: Path = READ) -> list[ReadLabel]:
    with path.open(encoding="utf-8", newline="") as file:
        return [ReadLabel(**row) for row in csv.DictReader(file)]


def hash_of(label: str) -> str:
    return sha256(label.encode()).hexdigest()[:12]


def documents(data: Path) -> Iterator[tuple[str, dict[str, str]]]:
    study = pyr.example()
    for topic in study.topics:
        yield f"example {topic.id}", {s.system: s.text for s in study.references if s.topic == topic.id}
    summaries = data / "gum-summaries/dev.jsonl"
    for line in summaries.read_text("utf-8").splitlines() if summaries.exists() else ():
        row = json.loads(line)
        yield row["doc"], {summary["by"]: summary["text"] for summary in row["summaries"]}


def labels(builder: Builder, document: str, references: Mapping[str, str]) -> list[str]:
    """All labels of a document, of all references together and of each alone, each once."""
    alone = ({name: text} for name, text in references.items())
    built = (builder.build(document, some).pyramid for some in (references, *alone))
    return list(dict.fromkeys(unit.label for pyramid in built for unit in pyramid.units))


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Cohen's kappa of two readings."""
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    same = sum(a == b for a, b in pairs) / len(pairs)
    chance = sum(first[verdict] * second[verdict] for verdict in first) / len(pairs) ** 2
    return (same - chance) / (1 - chance) if chance < 1 else 1.0


def shares(name: str, found: Sequence[ReadLabel], readings: Sequence[str] = ("first", "second")) -> Iterator[str]:
    for reading in readings:
        said = Counter(getattr(each, reading) for each in found)
        whole, named = said["yes"] + said["pronoun"], said["yes"]
        yield (
            f"| {name}, {reading} reading | {len(found)} | {whole} ({whole / len(found):.1%}) | "
            f"{named} ({named / len(found):.1%}) | {said['no']} |"
        )


def lines(data: Path) -> Iterator[str]:
    builder = Builder(Choices())
    known = {(each.document, each.hash): each for each in read_labels() if each.sample == "after"}
    before, unseen = ([each for each in read_labels() if each.sample == sample] for sample in ("before", "unseen"))
    built = [(document, label) for document, texts in documents(data) for label in labels(builder, document, texts)]
    now = [known[key] for document, label in built if (key := (document, hash_of(label))) in known]
    yield "# Labels that read alone\n"
    yield "Made by `python benchmarks/labels.py`. A whole statement has a finite verb with its subject and nothing that"
    yield "hangs on what is not there; the last but one column leaves out those with a pronoun that only other units"
    yield "explain. A language model, which also wrote the rules, read every label of the example and of GUM twice, in"
    yield "different orders, and those of unseen texts once; no person has checked its verdicts yet. The rules were"
    yield "written with the example and GUM in view.\n"
    yield "| labels | read | whole statements | and without an open pronoun | not |"
    yield "|---|---|---|---|---|"
    yield from shares("before", before)
    yield from shares("now", now)
    yield from shares("now, unseen texts", unseen, ["first"])
    yield ""
    for name, found in (("before", before), ("now", now)):
        pairs = [(each.first, each.second) for each in found]
        yield f"- Cohen's kappa of the two readings, {name}: {kappa(pairs):.2f}"
    unread = len(built) - len(now)
    yield f"- labels built now: {len(built)}, of which {unread} have no verdict yet"
    faulty = [label for _, label in built if label_faults(label)]
    yield f"- labels built now in which the automatic check finds a fault: {len(faulty)}\n"
    yield "Why labels do not read alone (either reading):\n"
    for name, found in (("before", before), ("now", now), ("now, unseen texts", unseen)):
        reasons = Counter(each.reason for each in found if "no" in (each.first, each.second))
        yield f"- {name}: " + ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("data", nargs="?", type=Path, default=ROOT.parent / "shared/data")
    asked.add_argument("--write", action="store_true", help="also write benchmarks/results/labels.md")
    options = asked.parse_args()
    made = list(lines(options.data))
    print("\n".join(made))
    if options.write:
        RESULT.write_text("\n".join([*made, ""]), "utf-8")


if __name__ == "__main__":
    main()
