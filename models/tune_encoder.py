"""Tune the encoder for finding units in summaries, on a GPU if there is one, and cross-validate by document.

    python models/tune_encoder.py prepare WHEEL DATA OUT      # needs pyramidion; texts cut into word pieces
    python tune_encoder.py fold OUT NUMBER                    # needs torch; features of the documents held out
    python tune_encoder.py transfer OUT FROM to TO            # trained on one collection, features of the other
    python tune_encoder.py all OUT                            # weights trained on everything

WHEEL is that of `build_encoder.py`, DATA holds pyrxsum, realsumm-half (with the answers of single workers in crowd/)
and gum-clauses. Late interaction, as in `pyramidion.judges.presence`, with the same features, so that the vectors of
words are tuned for exactly what is asked of them. What keeps the encoder general: a pull of every word's vector towards
the one it had (`KEEP`), also on sentences of GUM; few steps; the mean of the weights of six runs. `build_encoder.py`
makes the shipped file of the weights, `train_judge.py` fits the judge to the features of documents held out.
"""

from __future__ import annotations

import gzip
import math
import pickle
import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

EPOCHS, RATE, DOCUMENTS, KEEP, SEEDS, FOLDS, GENERAL = 4, 1e-4, 3, 0.1, 6, 5, 32
"""Documents are those of a step, and GENERAL the sentences of GUM beside them."""
FINDING = {"power": 0.8, "softness": 6.0, "cosine": 8.7, "stem": 0.7, "number": -0.9, "constant": -4.2}
"""How a word is found; near what a first run found when it could choose, and fixed so that all folds give the same
features."""
SURE = 0.6
"""A word of a unit takes the vector of its word in the reference if they have one stem or are as similar as this."""
WITH = ("mean", "weakest", "numbers_lost", "negation_lost", "one", "mean_read", "weakest_read", "one_read",
        "source", "reference", "pyramid", "length")  # fmt: skip


NEGATIONS = frozenset(["no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot", "t"])
LONGEST = 250
"""Word pieces of a sentence that are read."""


class Word(NamedTuple):
    """A word of a sentence that is no sign: its number among all words, and what alignment sees of it."""

    place: int
    stem: int
    rarity: float
    number: bool
    negation: bool


class Sentence(NamedTuple):
    pieces: list[list[int]]
    words: list[Word]


Text = list[int]
"""The numbers of its sentences."""


@dataclass
class Document:
    """``soft`` is the share of people who say present: units x summaries."""

    collection: str
    labels: list[str]
    units: list[Text]
    summaries: list[Text]
    references: list[Text]
    present: Any
    soft: Any


@dataclass
class Material:
    sentences: list[Sentence]
    documents: list[Document]
    general: Text
    start: int
    end: int
    weights: dict[str, Any]
    table: Any


# -- preparing ---------------------------------------------------------------------------------------------------


def prepare(wheel: Path, data: Path, target: Path) -> None:
    """Everything that training needs, in one file; weights in 16 bits and the table of word pieces in 8, as shipped."""
    sys.path.insert(0, str(Path(__file__).parent))
    from build_encoder import read_weights

    from pyramidion.encoder.minilm import wordpiece

    cutter = wordpiece()
    sentences = _Sentences(cutter)
    documents = [each for name in ("pyrxsum", "realsumm-half") for each in _read(data / name, name, sentences)]
    general = sentences.of_gum(data / "gum-clauses" / "train.jsonl")
    weights = read_weights(wheel)
    rows = weights.pop("embeddings.word_embeddings.weight")
    used = {piece for sentence in sentences.all for pieces in sentence.pieces for piece in pieces}
    kept = np.array(sorted({cutter.start, cutter.end, *used}))  # the table stays as it is, so no other row is needed
    rows, number = rows[kept], {int(piece): place for place, piece in enumerate(kept)}
    held = [Sentence([[number[p] for p in pieces] for pieces in each.pieces], each.words) for each in sentences.all]
    scale = np.abs(rows).max(1, keepdims=True) / 127
    small = {name: array.astype(np.float16) for name, array in weights.items()}
    table = np.round(rows / scale).astype(np.int8), scale.astype(np.float32)
    material = Material(held, documents, general, number[cutter.start], number[cutter.end], small, table)
    with gzip.open(target, "wb", compresslevel=6) as file:
        pickle.dump(material, file)
    print(f"{len(documents)} documents, {len(sentences.all):,} sentences, {target.stat().st_size / 1e6:.0f} MB")


class _Sentences:
    """Distinct sentences, cut as the encoder cuts them."""

    def __init__(self, cutter: Any) -> None:
        self.all: list[Sentence] = []
        self._known: dict[str, int] = {}
        self._cutter = cutter

    def of(self, text: str) -> Text:
        from pyramidion.encoder.sentences import sentence_spans

        return [self._number(span.of(text)) for span in sentence_spans(text)] or [self._number(text)]

    def of_gum(self, path: Path) -> Text:
        import json

        numbers = []
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            joined = set(row["no_space_after"])
            words = "".join(word + "" * (n in joined) + " " * (n not in joined) for n, word in enumerate(row["tokens"]))
            if 4 <= len(row["tokens"]) <= 60:
                numbers.append(self._number(words.strip()))
        return numbers

    def _number(self, sentence: str) -> int:
        from pyramidion.encoder.words import is_word, rarity, stem_code

        if sentence not in self._known:
            cut = self._cutter.words(sentence)
            words = []
            for place, (span, pieces) in enumerate(zip(cut.spans, cut.pieces, strict=True)):
                shown = span.of(sentence).lower()
                if is_word(shown):
                    digits = any(character.isdigit() for character in shown)
                    words.append(Word(place, stem_code(shown), rarity(pieces), digits, shown in NEGATIONS))
            self._known[sentence] = len(self.all)
            self.all.append(_shortened(Sentence([list(pieces) for pieces in cut.pieces], words)))
        return self._known[sentence]


def _shortened(sentence: Sentence) -> Sentence:
    kept = int(np.searchsorted(np.cumsum([len(pieces) for pieces in sentence.pieces]), LONGEST, side="right"))
    return Sentence(sentence.pieces[:kept], [word for word in sentence.words if word.place < kept])


def _read(folder: Path, name: str, sentences: _Sentences) -> list[Document]:
    import pyramidion as pyr

    study = pyr.load(folder)
    answers = {(j.topic, j.system, j.unit): float(j.value or 0) for j in study.judgments}
    single = _single_answers(folder / "crowd")
    documents = []
    for topic in study.topics:
        pyramid = study.pyramid(topic.id, "expert")
        assert pyramid is not None
        peers = {peer.system: peer.text for peer in study.peers if peer.topic == topic.id}
        present = np.array([[answers[topic.id, system, unit.id] for system in peers] for unit in pyramid.units])
        soft = [
            [single.get((unit.label.strip().lower(), system), answers[topic.id, system, unit.id]) for system in peers]
            for unit in pyramid.units
        ]
        references = [summary.text for summary in study.references if summary.topic == topic.id]
        documents.append(
            Document(
                name,
                [unit.label for unit in pyramid.units],
                [sentences.of(unit.label) for unit in pyramid.units],
                [sentences.of(text) for text in peers.values()],
                [sentences.of(text) for text in references],
                (present >= 0.5).astype(np.float32),
                np.array(soft, np.float32),
            )
        )
    return documents


def _single_answers(folder: Path) -> dict[tuple[str, str], float]:
    """The share of workers who say present, by the words of a unit and by system."""
    import pyramidion as pyr

    if not folder.is_dir():
        return {}
    study = pyr.load(folder, lenient=True)
    labels = {(p.topic, unit.id): unit.label.strip().lower() for p in study.pyramids for unit in p.units}
    shares: dict[tuple[str, str], list[float]] = {}
    for judgment in study.judgments:
        if judgment.unit and judgment.value is not None:
            for kind in ("", "abs_", "ext_"):  # how the collections name a system
                key = labels[judgment.topic, judgment.unit], kind + judgment.system
                shares.setdefault(key, []).append(judgment.value)
    return {key: float(np.mean(values)) for key, values in shares.items()}


# -- the encoder in torch ----------------------------------------------------------------------------------------


def _torch() -> Any:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = True
    return torch


def make_encoder(material: Material) -> Any:
    """The published encoder; the tables of word pieces and places stay as they are."""
    torch = _torch()
    nn = torch.nn
    weights = {name: torch.tensor(array.astype(np.float32)) for name, array in material.weights.items()}

    def linear(name: str) -> Any:
        layer = nn.Linear(weights[f"{name}.weight"].shape[1], weights[f"{name}.weight"].shape[0])
        layer.weight.data, layer.bias.data = weights[f"{name}.weight"].clone(), weights[f"{name}.bias"].clone()
        return layer

    def norm(name: str) -> Any:
        layer = nn.LayerNorm(len(weights[f"{name}.weight"]), eps=1e-12)
        layer.weight.data, layer.bias.data = weights[f"{name}.weight"].clone(), weights[f"{name}.bias"].clone()
        return layer

    class Layer(nn.Module):  # type: ignore[name-defined, misc]
        PARTS = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
                 "intermediate.dense", "output.dense")  # fmt: skip

        def __init__(self, number: int) -> None:
            super().__init__()
            name = f"encoder.layer.{number}"
            self.parts = nn.ModuleDict({part.replace(".", "/"): linear(f"{name}.{part}") for part in self.PARTS})
            self.norms = nn.ModuleList([norm(f"{name}.attention.output.LayerNorm"), norm(f"{name}.output.LayerNorm")])

        def forward(self, x: Any, mask: Any) -> Any:
            query, key, value, out, up, down = self.parts.values()

            def heads(y: Any) -> Any:
                return y.view(*y.shape[:2], HEADS, -1).transpose(1, 2)

            mixed = nn.functional.scaled_dot_product_attention(
                heads(query(x)), heads(key(x)), heads(value(x)), attn_mask=mask[:, None, None, :]
            )
            x = self.norms[0](x + out(mixed.transpose(1, 2).reshape(x.shape)))
            return self.norms[1](x + down(nn.functional.gelu(up(x))))

    class TorchEncoder(nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            whole, scale = material.table
            self.register_buffer("table", torch.tensor(whole.astype(np.float32) * scale))
            places = weights["embeddings.position_embeddings.weight"]
            self.register_buffer("places", places + weights["embeddings.token_type_embeddings.weight"][0])
            self.norm = norm("embeddings.LayerNorm")
            self.layers = nn.ModuleList([Layer(number) for number in range(LAYERS)])

        def forward(self, ids: Any, mask: Any) -> Any:
            x = self.norm(self.table[ids] + self.places[: ids.shape[1]])
            for layer in self.layers:
                x = layer(x, mask)
            return x

        def published(self) -> dict[str, Any]:
            """Under the names that the published weights have, in 16 bits."""
            named = {"embeddings.LayerNorm": self.norm}
            for number, layer in enumerate(self.layers):
                named |= {
                    f"encoder.layer.{number}.{part.replace('/', '.')}": each for part, each in layer.parts.items()
                }
                named[f"encoder.layer.{number}.attention.output.LayerNorm"] = layer.norms[0]
                named[f"encoder.layer.{number}.output.LayerNorm"] = layer.norms[1]
            return {
                f"{name}.{part}": getattr(each, part).detach().cpu().numpy().astype(np.float16)
                for name, each in named.items()
                for part in ("weight", "bias")
            }

    return TorchEncoder().to(_device())


HEADS, LAYERS, HIDDEN, AT_ONCE = 12, 6, 384, 256


def _device() -> str:
    return "cuda" if _torch().cuda.is_available() else "cpu"


class Encoded(NamedTuple):
    """The vectors of all words of some sentences, and the row of each sentence's first."""

    vectors: Any
    first: dict[int, int]


def encode(encoder: Any, material: Material, numbers: set[int]) -> Encoded:
    torch, device = _torch(), _device()
    order = sorted(numbers, key=lambda number: (sum(map(len, material.sentences[number].pieces)), number))
    first: dict[int, int] = {}
    parts, rows, sizes = [], [], []
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        pieces = [[p for word in material.sentences[number].pieces for p in word] for number in some]
        ids = np.zeros((len(some), max(map(len, pieces)) + 2), np.int64)
        mask = np.zeros(ids.shape, bool)
        take = []
        for row, (number, held) in enumerate(zip(some, pieces, strict=True)):
            ids[row, : len(held) + 2], mask[row, : len(held) + 2] = [material.start, *held, material.end], True
            sentence = material.sentences[number]
            starts = np.cumsum([1, *map(len, sentence.pieces)])
            first[number] = len(sizes)
            for word in sentence.words:
                places = range(starts[word.place], starts[word.place + 1])
                take += [row * ids.shape[1] + place for place in places]
                rows += [len(sizes)] * len(places)
                sizes.append(len(places))
        with torch.autocast("cuda", torch.bfloat16, enabled=device == "cuda"):
            hidden = encoder(torch.tensor(ids, device=device), torch.tensor(mask, device=device)).float()
        parts.append(hidden.reshape(-1, HIDDEN)[torch.tensor(take, device=device, dtype=torch.long)])
    sums = torch.zeros((len(sizes), HIDDEN), device=device).index_add(
        0, torch.tensor(rows, device=device, dtype=torch.long), torch.cat(parts)
    )
    return Encoded(torch.nn.functional.normalize(sums / torch.tensor(sizes, device=device)[:, None], dim=1), first)


# -- features, as the judge has them -----------------------------------------------------------------------------


@dataclass
class Group:
    """The words of some texts: ``text`` and ``sentence`` number theirs, ``of`` the text of each sentence."""

    vectors: Any
    stem: Any
    rarity: Any
    number: Any
    negated: Any
    text: Any
    sentence: Any
    of: Any
    texts: int


def group(material: Material, encoded: Encoded, texts: list[Text]) -> Group:
    torch, device = _torch(), _device()
    held = [(text, number) for text, numbers in enumerate(texts) for number in numbers]
    rows = [
        (encoded.first[number] + place, word, text, sentence)
        for sentence, (text, number) in enumerate(held)
        for place, word in enumerate(material.sentences[number].words)
    ]

    def column(values: Any, kind: Any) -> Any:
        return torch.tensor(list(values), device=device, dtype=kind)

    negated = torch.zeros(len(texts), device=device)
    negated[[text for _, word, text, _ in rows if word.negation]] = 1.0
    return Group(
        encoded.vectors[column((row for row, *_ in rows), torch.long)],
        column((word.stem for _, word, *_ in rows), torch.long),
        column((word.rarity for _, word, *_ in rows), torch.float32),
        column((word.number for _, word, *_ in rows), torch.float32),
        negated,
        column((text for *_, text, _ in rows), torch.long),
        column((sentence for *_, sentence in rows), torch.long),
        column((text for text, _ in held), torch.long),
        len(texts),
    )


def largest(values: Any, where: Any, count: int, least: float) -> Any:
    """The largest value of each row among the columns of every group."""
    torch = _torch()
    filled = torch.full((len(values), count), least, device=values.device)
    return filled.scatter_reduce(1, where[None].expand(len(values), -1), values, "amax")


def sums(words: Group, values: Any) -> Any:
    torch = _torch()
    return torch.zeros((words.texts, values.shape[1]), device=values.device).index_add(0, words.text, values)


class Looked(NamedTuple):
    """Texts x summaries: the share found, the weakest word, the share in the best sentence; words x summaries: whether
    the summary has the stem."""

    mean: Any
    weakest: Any
    one: Any
    same: Any


def look(words: Group, summaries: Group) -> Looked:
    """How much of each text is found in each summary."""
    torch = _torch()
    weight = words.rarity ** FINDING["power"]
    share = (weight / sums(words, weight[:, None]).clamp_min(1e-9)[words.text, 0])[:, None]
    cosine = words.vectors @ summaries.vectors.T
    same = (words.stem[:, None] == summaries.stem[None]).float()

    def found(where: Any, count: int) -> Any:
        odds = FINDING["cosine"] * largest(cosine, where, count, -1.0)
        odds = odds + FINDING["stem"] * largest(same, where, count, 0.0)
        return torch.sigmoid(odds + FINDING["constant"] + FINDING["number"] * words.number[:, None])

    whole = found(summaries.text, summaries.texts)
    weakest = sums(words, share * torch.exp(-FINDING["softness"] * whole)).clamp_min(1e-9)
    by_sentence = sums(words, share * found(summaries.sentence, len(summaries.of)))
    return Looked(
        sums(words, share * whole),
        -torch.log(weakest) / FINDING["softness"],
        largest(by_sentence, summaries.of, summaries.texts, 0.0),
        largest(same, summaries.text, summaries.texts, 0.0),
    )


def read_in_context(units: Group, sentences: Group) -> tuple[Group, list[int]]:
    """The units with the vectors that their words have in the sentence of a reference they come from, and which."""
    torch = _torch()
    cosine = units.vectors @ sentences.vectors.T
    with torch.no_grad():
        same = (units.stem[:, None] == sentences.stem[None]).float()
        like = largest(cosine + same, sentences.sentence, len(sentences.of), -1.0)
        home = sums(units, units.rarity[:, None] * like).argmax(1)
        outside = sentences.sentence[None] != home[units.text][:, None]
        best = (cosine + same).masked_fill(outside, -9.0).argmax(1)
        rows = torch.arange(len(best), device=best.device)
        sure = (same[rows, best] > 0) | (cosine[rows, best] > SURE)
    vectors = torch.where(sure[:, None], sentences.vectors[best], units.vectors)
    return replace(units, vectors=vectors), home.tolist()


def features(material: Material, encoded: Encoded, document: Document) -> dict[str, Any]:
    """Units x summaries, by name."""
    units, summaries, references = (
        group(material, encoded, texts) for texts in (document.units, document.summaries, document.references)
    )
    sentences = [number for text in document.references for number in text]
    read, home = read_in_context(units, references)
    plain, in_context = look(units, summaries), look(read, summaries)
    source = look(group(material, encoded, [[sentences[number]] for number in home]), summaries)
    number = units.number[:, None]
    every = (units.texts, -1)
    torch = _torch()
    return {
        "mean": plain.mean,
        "weakest": plain.weakest,
        "numbers_lost": sums(units, number * (1 - plain.same)) / sums(units, number).clamp_min(1),
        "negation_lost": units.negated[:, None] * (1 - summaries.negated)[None],
        "one": plain.one,
        "mean_read": in_context.mean,
        "weakest_read": in_context.weakest,
        "one_read": in_context.one,
        "source": source.mean,
        "reference": look(references, summaries).mean.mean(0, keepdim=True).expand(*every),
        "pyramid": in_context.mean.mean(0, keepdim=True).expand(*every),
        "pyramid_alone": plain.mean.mean(0, keepdim=True).expand(*every),
        "length": torch.full_like(plain.mean, math.log1p(len(references.rarity) / references.texts)),
    }


# -- training ----------------------------------------------------------------------------------------------------


def sentences_of(document: Document) -> set[int]:
    return {n for texts in (document.units, document.summaries, document.references) for text in texts for n in text}


def train(material: Material, documents: list[Document], seed: int) -> Any:
    torch = _torch()
    torch.manual_seed(seed)
    rng = random.Random(seed)  # noqa: S311
    encoder, before = make_encoder(material), make_encoder(material).eval()
    answer = torch.nn.Linear(len(WITH), 1).to(_device())
    torch.nn.init.zeros_(answer.weight)
    answer.weight.data[0, [0, 1]], answer.bias.data[:] = 2.5, -4.5
    groups = [
        {"params": list(answer.parameters()), "lr": 0.1, "weight_decay": 0.0},
        {"params": [each for each in encoder.parameters() if each.requires_grad], "lr": RATE, "weight_decay": 0.01},
    ]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    steps = EPOCHS * math.ceil(len(documents) / DOCUMENTS)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * max(0.0, 1 - step / steps)
    )
    for _ in range(EPOCHS):
        order = rng.sample(documents, len(documents))
        for start in range(0, len(order), DOCUMENTS):
            some = order[start : start + DOCUMENTS]
            numbers = set().union(*map(sentences_of, some), rng.sample(material.general, GENERAL))
            now = encode(encoder, material, numbers)
            with torch.no_grad():
                then = encode(before, material, numbers)
            loss = KEEP * (1 - (now.vectors * then.vectors).sum(1)).mean()  # the same order of words
            judged = sum(document.soft.size for document in some)
            for document in some:
                found = features(material, now, document)
                odds = answer(torch.stack([found[name] for name in WITH], -1))[..., 0]
                soft = torch.tensor(document.soft, device=odds.device)
                wrong = torch.nn.functional.binary_cross_entropy_with_logits(odds, soft, reduction="sum")
                loss = loss + wrong / judged
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return encoder


def mean_of_runs(material: Material, documents: list[Document]) -> Any:
    """Runs that start from the same weights can be averaged, weight by weight."""
    torch = _torch()
    encoders = [train(material, documents, seed) for seed in range(SEEDS)]
    held = [encoder.state_dict() for encoder in encoders]
    encoders[0].load_state_dict({name: torch.stack([each[name] for each in held]).mean(0) for name in held[0]})
    return encoders[0].eval()


def tell_features(material: Material, encoder: Any, numbers: list[int], target: Path) -> None:
    with _torch().no_grad():
        for number in numbers:
            document = material.documents[number]
            found = features(material, encode(encoder, material, sentences_of(document)), document)
            told = {name: value.cpu().numpy().astype(np.float32) for name, value in found.items()}
            about = {"collection": document.collection, "labels": np.array(document.labels)}
            people = {"present": document.present, "soft": document.soft}
            np.savez_compressed(target / f"{number:03}.npz", **about, **people, **told)


def save(encoder: Any, target: Path) -> None:
    """What `build_encoder.py` reads, in files of a size that travels."""
    target.mkdir(exist_ok=True)
    tuned = encoder.published()
    for part in range(LAYERS):
        names = [name for name in tuned if f"layer.{part}." in name or (not part and "layer." not in name)]
        np.savez(target / f"{part}.npz", **{name: tuned[name] for name in names})


def folds(material: Material) -> list[set[int]]:
    """The documents of each fold, by number: a share of every collection."""
    held: list[set[int]] = [set() for _ in range(FOLDS)]
    for name in sorted({document.collection for document in material.documents}):
        numbers = [n for n, document in enumerate(material.documents) if document.collection == name]
        for place, chosen in enumerate(np.random.default_rng(0).permutation(len(numbers)).tolist()):
            held[place % FOLDS].add(numbers[chosen])
    return held


def main(step: str, *given: str) -> None:
    if step == "prepare":
        prepare(*map(Path, given))
        return
    folder = Path(given[0])
    with gzip.open(folder / "material.pkl.gz", "rb") as file:
        material = pickle.load(file)  # noqa: S301
    target = folder / "-".join([step, *given[1:]])
    target.mkdir(parents=True, exist_ok=True)
    every = range(len(material.documents))
    if step == "fold":
        held = sorted(folds(material)[int(given[1])])
        encoder = mean_of_runs(material, [material.documents[n] for n in every if n not in held])
        tell_features(material, encoder, held, target)
    elif step == "transfer":
        seen, asked = ([n for n in every if material.documents[n].collection == name] for name in (given[1], given[3]))
        encoder = mean_of_runs(material, [material.documents[n] for n in seen])
        tell_features(material, encoder, asked, target)
        save(encoder, target / "weights")
    elif step == "all":
        save(mean_of_runs(material, material.documents), target)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
