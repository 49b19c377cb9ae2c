"""Train src/pyramidion/data/segmenter.npz: where do clause-like units start, and which words are their subjects?

    pip install torch
    python models/train_segmenter.py FOLDER    # train.jsonl and dev.jsonl: GUM sentences with units and dependencies

A head of two small convolutions over all six layers of the frozen encoder: F .834 for boundaries inside the development
sentences, .904 for words of subjects. In trials on pieces instead of words, the last layer alone gave .53, layers 2, 4
and 6 .81, all six .84; with the whole encoder tuned as well, .86.
The data are the elementary discourse units of the GUM corpus (Zeldes 2017), genres under CC BY and CC BY-SA licences.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
from pyramidion.encoder.minilm import (  # noqa: E402
    HIDDEN,
    Encoder,
)

LAYERS, WIDTH, REACH = 6, 192, 1
EPOCHS, BATCH, RATE, DROPOUT, SEED = 8, 64, 1e-3, 0.3, 1


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Head(nn.Module):
    """The same as pyramidion.pyramids.clauses computes with numpy."""

    def __init__(self) -> None:
        super().__init__()
        self.narrow = nn.Linear(HIDDEN * LAYERS, WIDTH)
        self.around1, self.around2 = (nn.Conv1d(WIDTH, WIDTH, 2 * REACH + 1, padding=REACH) for _ in range(2))
        self.out = nn.Linear(WIDTH, 2)
        self.drop = nn.Dropout(DROPOUT)

    def forward(self, x: Any, mask: Any) -> Any:
        gelu = nn.functional.gelu
        x = (self.drop(gelu(self.narrow(self.drop(x)))) * mask[..., None]).transpose(1, 2)
        for around in (self.around1, self.around2):
            x = (x + gelu(around(x))) * mask[:, None]
        return self.out(self.drop(x.transpose(1, 2)))


class Labels(NamedTuple):
    """Of a token: whether a unit starts here (unknown for the first one), and whether it is part of a subject."""

    starts: float
    subject: float


UNKNOWN = -1.0


def read(path: Path) -> list[tuple[str, dict[int, Labels]]]:
    """Sentences, and the labels of their tokens by the place where each starts."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        glued, starts, subjects, text, places = (
            set(row["no_space_after"]),
            set(row["clause_start"]),
            subject(row),
            "",
            {},
        )
        for number, token in enumerate(row["tokens"]):
            places[len(text)] = Labels(float(number in starts) if number else UNKNOWN, float(number in subjects))
            text += token + ("" if number in glued else " ")
        found.append((text.rstrip(), places))
    return found


def subject(row: dict[str, Any]) -> set[int]:
    """The words of all subjects that stand before their verb, without the clauses that hang on them."""
    heads, relations = [head - 1 for head in row["head"]], row["deprel"]
    found = set()
    for number in range(len(heads)):
        above = number
        while above >= 0 and not relations[above].startswith(("nsubj", "csubj", "acl", "advcl", "parataxis", "conj")):
            above = heads[above]
        if above >= 0 and relations[above].startswith("nsubj") and number < heads[above]:
            found.add(number)
    return found


class Row(NamedTuple):
    """A sentence: its words' layers, their labels, and how many boundaries lie where no word starts."""

    layers: Any
    labels: Any
    lost: int


def encoded(sentences: list[tuple[str, dict[int, Labels]]]) -> list[Row]:
    found = []
    nothing = Labels(UNKNOWN, UNKNOWN)
    for (_, places), words in zip(sentences, Encoder().encode((s for s, _ in sentences), layers=True), strict=True):
        firsts = {span.start for span in words.spans}
        lost = sum(label.starts == 1 for place, label in places.items() if place not in firsts)
        labels = torch.tensor([places.get(span.start, nothing) for span in words.spans])
        found.append(Row(torch.from_numpy(words.layers).half(), labels, lost))
    return found


def batch(rows: list[Row]) -> tuple[Any, Any, Any]:
    layers = nn.utils.rnn.pad_sequence([row.layers for row in rows], batch_first=True).float()
    labels = nn.utils.rnn.pad_sequence([row.labels for row in rows], batch_first=True, padding_value=2 * UNKNOWN)
    return layers.to(DEVICE), labels.to(DEVICE), (labels[..., 0] > 2 * UNKNOWN).float().to(DEVICE)


def train(rows: list[Row]) -> Head:
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    head = Head().to(DEVICE)
    optimiser = torch.optim.AdamW(head.parameters(), RATE, weight_decay=0.01)
    steps = EPOCHS * (len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps, pct_start=0.1)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows) - BATCH + 1, BATCH):
            layers, labels, mask = batch([rows[i] for i in order[start : start + BATCH]])
            known = labels >= 0
            loss = nn.functional.binary_cross_entropy_with_logits(head(layers, mask)[known], labels[known])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}", flush=True)
    return head.eval()


class Quality(NamedTuple):
    precision: float
    recall: float
    f: float

    def __str__(self) -> str:
        return f"precision {self.precision:.3f}, recall {self.recall:.3f}, F {self.f:.3f}"


@torch.no_grad()
def quality(head: Head, rows: list[Row], label: int) -> Quality:
    """Of boundaries inside sentences (0) or words of subjects (1). Boundaries where no word starts count as missed."""
    hits = wrong = missed = 0
    for row in rows:
        truth = row.labels[:, label]
        layers, _, mask = batch([row])
        found = head(layers, mask)[0, :, label].cpu() > 0
        hits += int((found & (truth == 1)).sum())
        wrong += int((found & (truth == 0)).sum())
        missed += int((~found & (truth == 1)).sum()) + (row.lost if label == 0 else 0)
    precision, recall = hits / (hits + wrong), hits / (hits + missed)
    return Quality(precision, recall, 2 * precision * recall / (precision + recall))


def main(folder: Path) -> None:
    training, development = (encoded(read(folder / f"{name}.jsonl")) for name in ("train", "dev"))
    head = train(training)
    print(f"{len(development)} development sentences, boundaries inside them: {quality(head, development, 0)}")
    print(f"words of subjects: {quality(head, development, 1)}")
    arrays = {
        name.replace(".", "_"): p.detach().cpu().numpy().astype(np.float16) for name, p in head.named_parameters()
    }
    np.savez_compressed(ROOT / "src/pyramidion/data/segmenter.npz", **arrays)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
