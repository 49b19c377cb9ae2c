"""Numbers that published data must give.

Skipped, and said so, where the data may not be part of this repository and is not beside the checkout.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import pyramidion as pyr
from pyramidion.analysis import correlate
from pyramidion.scoring.screening import screen
from pyramidion.stats.alpha import alpha
from pyramidion.stats.correlation import correlation
from pyramidion.study import Judgment, Judgments


def test_duc_2005_pyramid_against_responsiveness(real_data: Path) -> None:
    # Shapira et al. 2019, Table 1: .81 and .77 for the 10 topics they used and the 25 automatic systems.
    folder = real_data / "litepyramids-2005"
    table = pyr.read_scores(folder / "2005ManualScoresAvg.csv")
    lines = (folder / "relevant_topics.txt").read_text().split("DUC 2006")[0].split()
    topics = [line for line in lines if line.startswith("D") and line[1:].isdigit()]
    assert len(topics) == 10
    pyramid, responsiveness = (table.per_summary(measure) for measure in ("pyramid", "responsiveness"))
    systems = sorted({system for _, system in pyramid if system.isdigit()})
    assert len(systems) == 25

    def mean(scores: dict[tuple[str, str], float | None], system: str) -> float:
        return fmean(v for topic in topics if (v := scores[topic, system]) is not None)

    x, y = ([mean(scores, system) for system in systems] for scores in (pyramid, responsiveness))
    assert correlation(x, y).r == pytest.approx(0.8120, abs=5e-5)
    assert correlation(x, y, "spearman").r == pytest.approx(0.7673, abs=5e-5)


def test_duc_2005_pyramid_against_rouge(real_data: Path) -> None:
    folder = real_data / "litepyramids-2005"
    manual, rouge = (pyr.read_scores(folder / f"2005{kind}ScoresAvg.csv") for kind in ("Manual", "Rouge"))
    pyramid = {s: v for s, v in manual.per_system("pyramid").items() if s.isdigit()}
    two, su4 = (rouge.per_system(f"ROUGE-{name} recall") for name in ("2", "SU4"))
    columns = [[scores[system] for system in sorted(pyramid)] for scores in (pyramid, two, su4)]
    assert correlation(columns[0], columns[1]).r == pytest.approx(0.861, abs=5e-4)
    assert correlation(columns[0], columns[2]).r == pytest.approx(0.835, abs=5e-4)
    assert correlation(columns[1], columns[2]).r == pytest.approx(0.982, abs=5e-4)


def test_duc_2005_measures_with_each_other(real_data: Path) -> None:
    """The system section of the released files, as `analyze correlate --matrix --means given` reads it."""
    folder = real_data / "litepyramids-2005"
    tables = [pyr.read_scores(folder / f"2005{kind}ScoresAvg.csv") for kind in ("Manual", "Rouge")]
    answer = correlate(
        tables,
        gold="pyramid",
        metrics=["ROUGE-2 recall", "ROUGE-SU4 recall"],
        levels=["system"],
        kinds=["pearson"],
        systems=["[0-9]*"],
        means="given",
        permutations=0,
        matrix=True,
    )
    [found] = answer.result.matrices
    assert found.of("pyramid", "ROUGE-2 recall") == pytest.approx(0.861, abs=5e-4)
    assert found.of("pyramid", "ROUGE-SU4 recall") == pytest.approx(0.835, abs=5e-4)
    assert found.of("ROUGE-2 recall", "ROUGE-SU4 recall") == pytest.approx(0.982, abs=5e-4)


def test_pyrxsum_scores_equal_the_mean_of_the_labels(real_data: Path) -> None:
    study = pyr.load(real_data / "pyrxsum")
    counts = study.counts()
    assert (counts["topics"], counts["systems"]) == (100, 10)
    assert sum(len(p.units) for p in study.pyramids if p.name == "expert") == 478
    table = pyr.score(study, "lite")
    for path in sorted((real_data / "pyrxsum" / "labels").glob("*.label")):
        lines = [list(map(int, line.split("\t"))) for line in path.read_text().splitlines()]
        per_example = [fmean(labels) for labels in lines]
        assert table.value(path.stem, "lite") == pytest.approx(fmean(per_example), abs=1e-15)
        by_topic = [table.value(path.stem, "lite", topic.id) for topic in study.topics]
        assert by_topic == per_example


def test_qapyramid_alpha_and_screening_at_real_size(qapyramid: Path) -> None:
    rows = [json.loads(line) for line in qapyramid.open()]
    items = {key: i for i, key in enumerate(dict.fromkeys((r["system"], r["predicate"], r["unit"]) for r in rows))}
    found = alpha([items[r["system"], r["predicate"], r["unit"]] for r in rows], [r["present"] for r in rows])
    assert len(items) == 8910
    assert found.value == pytest.approx(0.648, abs=5e-4)
    judgments = Judgments(
        Judgment(
            r["document"],
            r["system"],
            r["worker"],
            r["present"],
            unit=f"{r['predicate']} {r['unit']}",
            task=r["predicate"],
        )
        for r in rows
    )
    workers = {w.judge: w.agreement for w in screen(judgments).workers}
    assert len(workers) == 16
    assert {w: share for w, share in workers.items() if share is not None} == pytest.approx(_agreement_by_loops(rows))


def _agreement_by_loops(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The definition of scoring/screening.py, word for word and slowly."""
    tasks: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for row in rows:
        task = tasks.setdefault((row["system"], row["predicate"]), {})
        task.setdefault(row["worker"], {})[row["unit"]] = row["present"]
    shares: dict[str, list[float]] = {}
    for task in tasks.values():
        for worker, mine in task.items():
            for other, theirs in task.items():
                if worker != other and (both := mine.keys() & theirs.keys()):
                    shares.setdefault(worker, []).append(fmean(mine[unit] == theirs[unit] for unit in both))
    return {worker: fmean(found) for worker, found in shares.items()}


def test_realsumm_labels_come_from_answers_as_the_released_script_counts_them(real_data: Path, tmp_path: Path) -> None:
    """REALSumm (Bhandari et al. 2020) was judged with LitePyramids' files: 3 or 4 answers, ties absent. Its workers
    are anonymous, so nobody is screened. The published score of a summary is the share of its units labelled 1."""
    folder = real_data / "realsumm-half"
    ids = (folder / "ids.txt").read_text().split()
    answers = {(p.parent.name, p.stem.split("_Batch")[0]): p for p in folder.glob("crowd/*/*.csv")}
    exact = summaries = 0
    for labels in sorted((folder / "labels").glob("*.label")):
        kind, system = labels.stem.split("_", 1)
        file = answers.get((kind, system)) or answers["abs", system]
        study = pyr.load(_with_hits(file, tmp_path / f"{labels.stem}.csv"))
        table = pyr.score(study, "lite", compat="litepyramids-2019", min_agreement=None)
        for id, line in zip(ids, labels.read_text().splitlines(), strict=True):
            summaries += 1
            exact += table.value(system, "lite", id) == pytest.approx(fmean(map(int, line.split("\t"))), abs=1e-12)
    assert (exact, summaries) == (1250, 1250)


def _with_hits(path: Path, target: Path) -> Path:
    """The file with a HIT for each document and a worker for each row, and without the statements called BLANK."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row |= {"HITId": row["Input.eventId"], "AssignmentId": f"A{number}", "WorkerId": f"W{number}"}
        shown = [name for name in row if name.startswith("Input.statement_") and row[name] == "BLANK"]
        row |= dict.fromkeys(shown, "")
        ids = json.loads(row["Input.qIdList"].replace("'", '"'))
        row["Input.qIdList"] = ";".join(ids[: len(ids) - len(shown)])
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return target
