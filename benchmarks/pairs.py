"""How long plain pairs of texts take, and how that grows: python benchmarks/pairs.py [--quick] [--write]

Pairs are made of the bundled example's sentences with some words exchanged, so that no sentence occurs twice: a
reference of about 60 words, and a prediction that says most of it. Every case runs in a process of its own, which also
tells how much memory it takes. Beside it rouge-score, with the same measures for the same pairs, in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyramidion as pyr
from pyramidion.encoder.sentences import sentence_spans

TARGET = Path(__file__).parent / "results" / "pairs.md"
SIZES = (125, 250, 500, 1000, 2000)
WORDS = 60
ROUGE = ("rouge1", "rouge2", "rougeL")


def make_pairs(count: int, references: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """So many predictions with their references, of which so many are different."""
    rng = random.Random(seed)
    texts = [summary.text for summary in pyr.example().summaries]
    sentences = [span.of(text) for text in dict.fromkeys(texts) for span in sentence_spans(text)]
    words = sorted({word for sentence in sentences for word in sentence.split() if word.islower()})
    seen: set[str] = set()

    def other(sentence: str) -> str:
        said = sentence.split()
        while (new := " ".join(said)) in seen or new == sentence:
            said[rng.randrange(1, len(said) - 1)] = rng.choice(words)
        seen.add(new)
        return new

    made: list[list[str]] = []
    for _ in range(references):
        text: list[str] = []
        while sum(len(sentence.split()) for sentence in text) < WORDS - 8:
            text.append(other(rng.choice([each for each in sentences if len(each.split()) > 5])))
        made.append(text)
    wanted = [made[number % references] for number in range(count)]
    predictions = [" ".join(other(sentence) for sentence in text) for text in wanted]
    return predictions, [" ".join(text) for text in wanted]


def by_pyramidion(method: str) -> Callable[[list[str], list[str]], object]:
    metric = pyr.Metric(method)
    metric(["Rain fell."], ["Rain fell."])  # loads the models
    return metric


def by_rouge_score() -> Callable[[list[str], list[str]], object]:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(ROUGE), use_stemmer=True)
    return lambda predictions, references: [
        scorer.score(reference, prediction) for prediction, reference in zip(predictions, references, strict=True)
    ]


def run_case(method: str, count: int, references: int) -> None:
    """Run in a process of its own; prints seconds, seconds of processors, and the largest size in MB."""
    predictions, wanted = make_pairs(count, references)
    score = by_rouge_score() if method == "rouge-score" else by_pyramidion(method)
    start, used = time.perf_counter(), time.process_time()
    score(predictions, wanted)
    took = time.perf_counter() - start, time.process_time() - used
    print(json.dumps([*took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def measure(method: str, count: int, references: int) -> tuple[float, float, float]:
    case = [sys.executable, __file__, "--case", method, str(count), str(references)]
    seconds, processor, size = json.loads(subprocess.run(case, check=True, capture_output=True, text=True).stdout)
    return seconds, processor, size


def table(quick: bool) -> list[str]:
    lines = [
        "| method | pairs | different references | seconds | processor seconds | ms per pair | memory, MB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    sizes = SIZES[:2] if quick else SIZES
    cases = [("auto", size, size) for size in sizes]
    cases += [("auto", sizes[-2], sizes[-2] // 50), ("auto", sizes[-2], sizes[-2] // 10)]
    cases += [(method, sizes[-2], sizes[-2]) for method in ("align", "rouge", "rouge-score")]
    for method, count, references in cases:
        seconds, processor, size = measure(method, count, references)
        name = "rouge-score (the package)" if method == "rouge-score" else f"`{method}`"
        lines.append(
            f"| {name} | {count:,} | {references:,} | {seconds:.1f} | {processor:.1f} | {1000 * seconds / count:.1f} | "
            f"{size:.0f} |"
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true", help=f"write {TARGET.name}")
    parser.add_argument("--case", nargs=3, metavar=("METHOD", "PAIRS", "REFERENCES"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.case:
        run_case(given.case[0], *map(int, given.case[1:]))
        return
    load = os.getloadavg()[0]
    lines = table(given.quick)
    if given.write:
        machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, load {load:.1f}"
        text = f"""# Pairs of plain texts

`score_pairs(predictions, references)` on pairs of about {WORDS} words in which no sentence occurs twice, after the
models are loaded. `auto` builds a pyramid from each different reference; `align` looks for its units with the embedded
judge. ROUGE counts {", ".join(ROUGE)} (ours: its default measures), with stems.

{chr(10).join(lines)}

Made by `python benchmarks/pairs.py --write` ({machine} before it began).
"""
        TARGET.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
