"""Years of evaluations with planted assessors, who overlook more or less of what they marked elsewhere."""

from __future__ import annotations

import numpy as np

from pyramidion.study import (
    ContentUnit,
    Contributor,
    Judge,
    Judgment,
    Judgments,
    Pyramid,
    Score,
    ScoreTable,
    Signature,
    Span,
    Study,
    Summary,
    Topic,
)

OVERLOOKED = {"careful": 0.0, "fair": 0.1, "sloppy": 0.5}
FACTS = 12


def annotated_year(seed: int, topics: int = 12, systems: int = 8, year: str = "08") -> tuple[Study, ScoreTable]:
    """Systems copy some of a topic's facts, the better ones more; s0 and s1 are two runs with the same output.

    Three annotators share the topics, which are main (A) and update (B); each overlooks some facts. Person H1 wrote a
    reference of every topic and is a peer, too. The table counts the facts (with noise) and has a feature of no use.
    """
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.9, 0.2, systems)
    held: list[Topic] = []
    summaries: list[Summary] = []
    pyramids: list[Pyramid] = []
    judgments: list[Judgment] = []
    scores: list[Score] = []
    for number in range(topics):
        topic = f"D{year}{number // 2:02}-{'AB'[number % 2]}"
        who = list(OVERLOOKED)[number // 2 % 3]
        facts = [f"Fact {word} of {topic} was reported." for word in "abcdefghijkl"[:FACTS]]
        references = {f"H{i}": sorted(rng.choice(FACTS, 8, replace=False).tolist()) for i in (1, 2, 3)}
        chosen = {f"s{i}": np.flatnonzero(rng.random(FACTS) < skill[i]).tolist() for i in range(systems)}
        chosen |= {"s1": chosen["s0"], "H1": references["H1"]}
        held.append(Topic(topic))
        for role, texts in (("reference", references), ("peer", chosen)):
            for name, picked in texts.items():
                summaries.append(Summary(topic, name, " ".join(facts[i] for i in picked), role))  # type: ignore[arg-type]
        units = tuple(
            ContentUnit(f"u{i}", facts[i], tuple(Contributor(name) for name, has in references.items() if i in has))
            for i in range(FACTS)
        )
        pyramids.append(Pyramid(topic, tuple(references), units))
        for name, picked in sorted(chosen.items()):
            text = " ".join(facts[i] for i in picked)
            for i in range(FACTS):
                seen = i in picked and rng.random() >= OVERLOOKED[who]
                start = text.find(facts[i])
                evidence = ((Span(start, start + len(facts[i])),),) if seen else ()
                judgments.append(Judgment(topic, name, who, int(seen), unit=f"u{i}", evidence=evidence))
            scores.append(Score(topic, name, "facts", len(picked) + float(rng.normal())))
            scores.append(Score(topic, name, "noise", float(rng.normal())))
    study = Study(
        topics=tuple(held),
        summaries=tuple(summaries),
        pyramids=tuple(pyramids),
        judges=tuple(Judge(name, "expert") for name in OVERLOOKED),
        judgments=Judgments(judgments),
    )
    return study, ScoreTable.of_summaries(scores, Signature.of("test"))
