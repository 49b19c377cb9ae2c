"""Build the bundled example study from its sources: python example/build.py

The texts, pyramids, peer annotations, statements and ratings in topics/*.toml are written by hand; quotes become
character-exact spans here. The crowd is simulated from the expert annotation, because the example must be free of
anybody's personal work: six careful workers who err now and then, one careless worker who says "present" to almost
everything, and one adversarial worker who says the opposite of what is true. Everything is seeded.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np

from pyramidion.errors import Problems
from pyramidion.formats import jsonl
from pyramidion.study import (
    UNMATCHED,
    Aspect,
    ContentUnit,
    Contributor,
    Document,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Span,
    Study,
    Summary,
    Task,
    Topic,
)

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "pyramidion" / "data" / "example.jsonl"
SEED = 2019
WORKERS_PER_TASK = 5
CAREFUL = tuple(f"worker{number}" for number in range(1, 7))
CARELESS, ADVERSARIAL = "worker7", "worker8"
SLIP = 0.08
"""How often a careful worker answers wrongly."""


def spans(text: str, quotes: list[str]) -> tuple[Span, ...]:
    found = []
    for quote in quotes:
        if text.count(quote) != 1:
            raise SystemExit(f"quote occurs {text.count(quote)} times: {quote!r}")
        start = text.index(quote)
        found.append(Span(start, start + len(quote)))
    return tuple(sorted(found))


def expert_pyramid(source: dict[str, Any], references: dict[str, str]) -> Pyramid:
    units = tuple(
        ContentUnit(
            id=unit["id"],
            label=unit["label"],
            contributors=tuple(
                Contributor(name, spans(references[name], quotes))
                for name, quotes in sorted(unit["contributors"].items())
            ),
        )
        for unit in source["units"]
    )
    return Pyramid(source["id"], tuple(sorted(references)), units, "expert")


def crowd_pyramid(source: dict[str, Any], rng: np.random.Generator) -> Pyramid:
    """The statements as unmerged units, shuffled into two judging groups of 16."""
    groups = ["1"] * 16 + ["2"] * 16
    rng.shuffle(groups)
    units = tuple(
        ContentUnit(f"s{number:02}", s["text"], (Contributor(s["reference"]),), author=s["writer"], group=group)
        for number, (s, group) in enumerate(zip(source["statements"], groups, strict=True), 1)
    )
    return Pyramid(source["id"], tuple(sorted(source["references"])), units, "crowd")


def expert_judgments(source: dict[str, Any], system: str) -> list[Judgment]:
    peer, topic = source["peers"][system], source["id"]
    text, matches = peer["text"].strip(), peer.get("matches", {})
    found = []
    for unit in source["units"]:
        mentions = tuple(spans(text, quotes) for quotes in matches.get(unit["id"], []))
        found.append(Judgment(topic, system, "annotator", len(mentions), unit=unit["id"], evidence=mentions))
    mentions = tuple(spans(text, quotes) for quotes in peer.get("unmatched", []))
    found.append(Judgment(topic, system, "annotator", len(mentions), aspect=UNMATCHED, evidence=mentions))
    return found


def ratings(source: dict[str, Any], system: str) -> list[Judgment]:
    return [
        Judgment(source["id"], system, f"rater{number}", value, aspect=aspect)
        for aspect, values in source["peers"][system]["ratings"].items()
        for number, value in enumerate(values, 1)
    ]


def answer(worker: str, truth: int, rng: np.random.Generator) -> int:
    if worker == ADVERSARIAL:
        return 1 - truth
    if worker == CARELESS:
        return int(rng.random() < 0.9)
    return 1 - truth if rng.random() < SLIP else truth


def crowd_work(source: dict[str, Any], crowd: Pyramid, rng: np.random.Generator) -> tuple[list[Task], list[Judgment]]:
    tasks, judgments = [], []
    stated = {unit.id: s["unit"] for unit, s in zip(crowd.units, source["statements"], strict=True)}
    for system, peer in sorted(source["peers"].items()):
        for group in ("1", "2"):
            units = tuple(unit.id for unit in crowd.units if unit.group == group)
            task = Task(f"{source['id']}-{system}-{group}", source["id"], system, units)
            tasks.append(task)
            bad = [worker for worker in (CARELESS, ADVERSARIAL) if rng.random() < 0.5]
            careful = rng.choice(CAREFUL, size=WORKERS_PER_TASK - len(bad), replace=False)
            for worker in sorted([*map(str, careful), *bad]):
                for unit in units:
                    value = answer(worker, int(stated[unit] in peer.get("matches", {})), rng)
                    judgments.append(Judgment(source["id"], system, worker, value, unit=unit, task=task.id))
    return tasks, judgments


def build() -> Study:
    rng = np.random.default_rng(SEED)
    topics, summaries, pyramids, tasks, judgments = [], [], [], [], []
    for path in sorted((HERE / "topics").glob("*.toml")):
        source = tomllib.loads(path.read_text(encoding="utf-8"))
        topic = source["id"]
        document = Document("article", source["document"].strip())
        topics.append(Topic(topic, source["title"], source["description"], (document,)))
        references = {name: text.strip() for name, text in source["references"].items()}
        summaries += [Summary(topic, name, text, "reference") for name, text in sorted(references.items())]
        summaries += [Summary(topic, name, peer["text"].strip()) for name, peer in sorted(source["peers"].items())]
        crowd = crowd_pyramid(source, rng)
        pyramids += [expert_pyramid(source, references), crowd]
        for system in sorted(source["peers"]):
            judgments += expert_judgments(source, system) + ratings(source, system)
        made, answers = crowd_work(source, crowd, rng)
        tasks += made
        judgments += answers
    return Study(
        topics=tuple(topics),
        summaries=tuple(summaries),
        pyramids=tuple(pyramids),
        judges=(
            Judge("annotator", "expert"),
            *(Judge(f"rater{number}", "expert") for number in (1, 2)),
            *(Judge(worker, "crowd") for worker in (*CAREFUL, CARELESS, ADVERSARIAL)),
        ),
        judgments=Judgments(judgments),
        aspects=tuple(
            Aspect(id, 1, 10, title)
            for id, title in (
                ("overall", "Overall quality"),
                ("linguistic", "Linguistic quality"),
                ("content", "Information content"),
            )
        ),
        tasks=tuple(tasks),
        title="Four invented news topics, six summarizers",
    )


if __name__ == "__main__":
    study = build()
    if problems := study.problems():
        raise SystemExit("\n".join(map(str, problems)))
    jsonl.write(study, TARGET, Problems())
    print(f"{TARGET.name}: {study.counts()}")
