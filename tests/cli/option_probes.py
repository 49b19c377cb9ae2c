"""A probe for each option of each command: a call without it, and what is added to the call.

The files that calls name are made by the fixture `place` in test_options.py.
"""

from __future__ import annotations

from tests.campaigns.platforms.fake_prolific import TOKEN

Words = list[str]
Probe = tuple[Words, Words]
"""The call without the option, and what is added to it."""

STUDY, SECOND = "study.jsonl", "second.jsonl"
"""The bundled example, and the same with a second annotator and head-to-head votes."""
SMALL, SMALL_SECOND = "small.jsonl", "small-second.jsonl"
"""The same for two topics and three systems."""
TINY, BUILT = "tiny.jsonl", "built.jsonl"
"""One topic and two systems; and with an automatic pyramid beside the expert's and the crowd's."""
MODELLED = "modelled.jsonl"
PARTLY = "partly.jsonl"
RATED = "rated.jsonl"
"""The small study, of which two models have judged the crowd's units."""
ORDERED = "ordered.jsonl"
"""The bundled example with assignments, in which the crowd leaves every fifth unit blank."""
CORRECTED = "corrections.txt"
"""A correction of the small study's annotator; the folder `made` has feedback pages without it."""
TABLE, LONG = "scores.csv", "long.csv"
YEARS = ["2008.jsonl", "2009.jsonl", "2010.jsonl"]
"""Three years of the same annotators; features are in wide.csv, scores by a metric in 2008.csv."""
DB, TEXTS, EMPTY = "study.db", "texts.db", "empty.db"
"""Databases: of a campaign `judge` that is done, `open` and `paid` ones and annotations; of `write`; of nothing."""
REHEARSED = "rehearsed.db"
"""The copy of an earlier rehearsal of `open`."""
WORKER, REJECTED, APPROVED, PAID = "WORKER", "REJECTED", "APPROVED", "PAID"
"""Stand for the ids of workers of `judge`; the answers of the second are rejected, those of the third approved."""
ROUNDS = "rounds.db"
"""A database of campaigns that ask in rounds: `judge` has reached its goal, and of `due` a look says how to go on."""
RECEIPTS = "receipts.jsonl"
"""Of answers that no database has."""

SIZES = ["--campaigns", "20", "--topics", "10", "--units", "10", "--workers", "3", "--json"]
PILOT = [SMALL, *SIZES]
GRID = [TINY, "--percentile", "70,83", "--alpha", "10", "--beta", "2.5", "--resamples", "20", "--json"]
KEPT = [*GRID, "--keep", "kept"]
MATCHED = [*GRID, "--matcher", "wmin", "--keep", "kept"]
GREEDY = ["--partitioner", "edua-g"]
ASSESSED = [YEARS[0], "--scores", "2008.csv", "--resamples", "20"]
TRAINED = [*YEARS, "--features", "wide.csv"]
DECIDED = [DB, "judge", "--worker", WORKER, "--reason", "because"]
UNAPPROVED = [DB, "judge", "--worker", APPROVED, "--reason", "because"]
RESTORED = [DB, "judge", "--worker", REJECTED, "--reason", "because"]
REVIEWED = [DB, WORKER, "--reason", "because"]
REMOVED = [*REVIEWED, "--remove-answers", "--campaign", "judge"]
COMPAT = ["--compat", "litepyramids-2019"]
ANNA = [DB, "out.jsonl", "--name", "anna"]

GUIDED = [DB, "judge", "--name", "new", "--yes", "--with-model", "lexical", "--set", "question=these"]

BASE: dict[str, Words] = {
    "demo": [],
    "validate": [STUDY],
    "convert": [STUDY, "out.jsonl"],
    "score": [STUDY, "-m", "lite"],
    "show": [STUDY, "--system", "lead"],
    "doctor": [],
    "cache": [],
    "report": [SMALL],
    "feedback": [SMALL, "-o", "pages"],
    "diff": [SMALL, SMALL_SECOND],
    "judge": [SMALL, "--judge", "lexical"],
    "autoannotate": [SMALL, "-o", "out.jsonl"],
    "init": ["new.db"],
    "import": [EMPTY, TINY],
    "account": [DB, "zoe"],
    "serve": [DB],
    "backup": [DB, "copy.db"],
    "restore": [DB, "copy.db"],
    "move": [DB, "moved.db"],
    "verify": [DB],
    "campaign plan": [DB, "judge", "--name", "new", "--yes"],
    "campaign status": [DB],
    "campaign close": [DB, "judge"],
    "campaign invite": [DB, "open"],
    "campaign units": [TEXTS, "write", "--yes"],
    "campaign export": [DB, "out.jsonl"],
    "campaign rehearse": [DB, "open", "--workers", "5"],
    "campaign forget-worker": [DB, WORKER],
    "campaign forget-expired": [DB],
    "campaign approve": [DB, "judge", "--worker", WORKER],
    "campaign reject": DECIDED,
    "campaign reopen": DECIDED,
    "campaign restore": RESTORED,
    "campaign unapprove": UNAPPROVED,
    "campaign exclude": REVIEWED,
    "campaign include": REVIEWED,
    "campaign block": REVIEWED,
    "campaign unblock": REVIEWED,
    "campaign bonus": [DB, "judge", WORKER, "0.5"],
    "campaign pay": [DB, "paid", "--token", TOKEN],
    "campaign payments": [DB, "paid"],
    "campaign settle": [DB, "paid", "1", "--paid"],
    "campaign places": [DB, "paid", "5", "--token", TOKEN],
    "campaign request-return": [DB, "paid", PAID, "--reason", "the answers are of another text", "--token", TOKEN],
    "campaign follow": [DB, "paid", "--token", TOKEN],
    "campaign looks": [ROUNDS, "judge"],
    "campaign advance": [ROUNDS, "due"],
    "campaign go-on": [ROUNDS, "judge", "--reason", "because"],
    "annotate list": [DB],
    "annotate export": ANNA,
    "annotate store": [DB, "--name", "anna"],
    "annotate blind": [DB],
    "analyze significance": [TABLE],
    "analyze correlate": [TABLE, "--gold", "modified"],
    "analyze metric-accuracy": [LONG, "--gold", "modified"],
    "analyze compare": [SECOND, "--resamples", "50"],
    "analyze agreement": [SMALL, "--resamples", "50"],
    "analyze stand-in": [MODELLED, "--resamples", "50"],
    "analyze combine": [PARTLY],
    "analyze reliability": [SMALL_SECOND, "--resamples", "50"],
    "analyze calibrate": [STUDY, "--experts", "rater1"],
    "analyze stability": [SMALL, "--repetitions", "3"],
    "analyze plan": PILOT,
    "analyze grid": KEPT,
    "analyze consistency": ASSESSED,
    "analyze trained-metric": TRAINED,
    "analyze pyramids": [BUILT],
    "auto build": [TINY, "-o", "out.jsonl"],
    "auto score": [TINY],
    "auto run": [TINY, "-o", "out"],
    "auto train-wtmf": ["corpus.txt", "-o", "model.npz", "--dimensions", "5", "--rounds", "3"],
}

EVERYWHERE: dict[str, Words | Probe] = {
    "--from": ["--from", "mturk"],
    "--columns": ["--columns", "summary=output"],
    "--json": ["--json"],
    "--quiet": ["--quiet"],
}
"""What many commands take."""
ASKED: dict[str, Words | Probe] = {
    "--output": ["-o", "answer.csv"],
    "--latex": ["--latex", "answer.tex"],
    "--plot": ["--plot", "answer.svg"],
}
"""What every question takes."""


def working(*call: str) -> dict[str, Words | Probe]:
    """Where long work runs: the same options of every command that works for long."""
    return {
        "--jobs": ["--jobs", "2"],
        "--engine": ["--engine", "dask"],
        "--dashboard": ([*call, "--engine", "dask"], ["--dashboard"]),
    }


def building(*call: str) -> dict[str, Words | Probe]:
    """How pyramids are built: the same options of three commands."""
    return {
        "--partitioner": GREEDY,
        "--segmenter": ["--segmenter", "clauses-apart"],
        "--similarity": ["--similarity", "cosine"],
        "--embedder": ([*call, "--similarity", "cosine"], ["--embedder", "wtmf:wtmf.npz"]),
        "--percentile": ["--percentile", "50"],
        "--alpha": ([*call, *GREEDY], ["--alpha", "2"]),
        "--beta": ([*call, *GREEDY], ["--beta", "5"]),
        **working(*call),
    }


def matching(*call: str) -> dict[str, Words | Probe]:
    """How units are found in peers: the same options of two commands."""
    return {
        "--matcher": ["--matcher", "wmin"],
        "--top-k": ([*call, "--matcher", "wmin", "--threshold", "0.3"], ["--top-k", "1"]),
        "--threshold": ([*call, "--matcher", "wmin"], ["--threshold", "0.3"]),
    }


CHATTING: dict[str, Words | Probe] = {
    "--base-url": ["--base-url", "http://127.0.0.1:9"],
    "--cache": ["--cache", "replies"],
    "--temperature": ["--temperature", "1"],
    "--seed": ["--seed", "1"],
    "--concurrency": ["--concurrency", "2"],
    "--prompt": ["--prompt", "people.txt"],
    "--schema": ["--no-schema"],
    "--price": ["--price", "1/2"],
    "--yes": ["--yes"],
}
"""How a chat model is asked, which nobody else takes: tests/cli/test_chat_models.py has what it does to a request."""


PROBES: dict[str, dict[str, Words | Probe]] = {
    "demo": {"--output": ["-o", "elsewhere.html"]},
    "validate": {},
    "convert": {"--to": ["--to", "folder"], "--force": ([STUDY, TABLE], ["--force"])},
    "score": {
        "--method": ["-m", "rouge"],
        "--measure": ([STUDY, "-m", "pyramid"], ["--measure", "raw"]),
        "--output": ["-o", "out.csv"],
        "--by": ["--by", "summary"],
        "--pyramid": ["--pyramid", "expert"],
        "--judges": ["--judges", "worker1"],
        "--aggregate": ["--aggregate", "mean"],
        "--tie": ["--tie", "present"],
        "--min-agreement": ["--min-agreement", "0"],
        "--rounds": ([STUDY, "-m", "lite", "--min-agreement", "0.7"], ["--rounds", "2"]),
        "--agreement": ([ORDERED, "-m", "lite"], ["--agreement", "sequence"]),
        "--compat": ([ORDERED, "-m", "lite"], COMPAT),
        "--seed": ([STUDY, "-m", "rouge"], ["--seed", "1"]),
        "--weights": ([SECOND, "-m", "pyramid"], ["--weights", "references"]),
        "--annotators": ([SECOND, "-m", "pyramid"], ["--annotators", "consensus"]),
        "--rounding": ([STUDY, "-m", "pyramid"], ["--rounding", "floor"]),
        "--clip": ([STUDY, "-m", "lite"], ["--clip"]),
        "--combine": ([STUDY, "-m", "rouge"], ["--combine", "best"]),
        "--tokens": ([STUDY, "-m", "rouge"], ["--tokens", "unicode"]),
        "--stem": ([STUDY, "-m", "rouge"], ["--no-stem"]),
    },
    "show": {
        "--topic": ["--topic", "reef-nursery"],
        "--system": ([STUDY], ["--system", "lead"]),
        "--ideal": ([STUDY], ["--ideal", "3"]),
        "--method": ["--method", "lite"],
        "--pyramid": ["--pyramid", "crowd"],
        "--judges": ([SECOND, "--system", "extract"], ["--judges", "second"]),
        "--weights": ([SECOND, "--system", "extract"], ["--weights", "references"]),
        "--annotators": ([SECOND, "--system", "extract"], ["--annotators", "consensus"]),
        "--compat": ([ORDERED, "--system", "paraphrase", "-m", "lite"], COMPAT),
    },
    "doctor": {},
    "cache": {"--empty": ["--empty"]},
    "report": {
        "--output": ["-o", "page.html"],
        "--figures": ["--figures", "figures"],
        "--latex": ["--latex", "tables.tex"],
        "--scores": ["--scores", TABLE],
        "--method": ["--method", "lite"],
        "--pyramid": ["--pyramid", "crowd"],
        "--judges": ([SMALL_SECOND], ["--judges", "second"]),
        "--weights": ([SMALL_SECOND], ["--weights", "references"]),
        "--annotators": ([SMALL_SECOND], ["--annotators", "consensus"]),
        "--compat": ([ORDERED, "-m", "lite"], COMPAT),
        "--pay": ["--pay", "1"],
        "--fee": ([SMALL, "--pay", "1"], ["--fee", "0.5"]),
        "--currency": ([SMALL, "--pay", "1"], ["--currency", "EUR"]),
        "--seed": ["--seed", "1"],
        "--jobs": ([SMALL, "-o", "pages"], ["--jobs", "2"]),
        "--engine": ([SMALL, "-o", "pages"], ["--engine", "dask"]),
        "--dashboard": ([SMALL, "-o", "pages", "--engine", "dask"], ["--dashboard"]),
    },
    "feedback": {
        "--output": ["-o", "elsewhere"],
        "--system": ["--system", "lead"],
        "--method": ["--method", "lite"],
        "--pyramid": ["--pyramid", "crowd"],
        "--judges": ([SMALL_SECOND, "-o", "pages"], ["--judges", "second"]),
        "--weights": ([SMALL_SECOND, "-o", "pages"], ["--weights", "references"]),
        "--annotators": ([SMALL_SECOND, "-o", "pages"], ["--annotators", "consensus"]),
        "--compat": ([ORDERED, "-o", "pages", "-m", "lite"], COMPAT),
        "--corrections": ["--corrections", CORRECTED],
        "--save": ([SMALL, "-o", "pages", "--corrections", CORRECTED], ["--save", "corrected.jsonl"]),
        "--replace": ([SMALL, "-o", "made"], ["--replace"]),
    },
    "diff": {"--measure": ["--measure", "modified"]},
    "judge": {
        "--judge": ["--judge", "align"],
        "--threshold": ["--threshold", "0.5"],
        "--soft": ([SMALL, "--judge", "lexical", "--threshold", "0.5"], ["--soft"]),
        "--pyramid": ["--pyramid", "expert"],
        "--output": ["-o", "out.csv"],
        "--save": ["--save", "judged.jsonl"],
        "--workers": ["--workers"],
        "--by": ["--by", "summary"],
        "--lines": ["--lines"],
        "--batch": ["--batch", "5"],
        "--keep": ["--keep", "judged"],
        **working(SMALL, "--judge", "lexical"),
        **CHATTING,
    },
    "analyze significance": {
        "--compat": ([ORDERED, "--measure", "lite", "--json"], COMPAT),
        "--measure": ["--measure", "lite"],
        "--test": ["--test", "wilcoxon"],
        "--units": ([STUDY], ["--units"]),
        "--factor": ([TABLE, "--json"], ["--factor", "none"]),
        "--correction": ([TABLE, "--test", "permutation"], ["--correction", "none"]),
        "--level": ["--level", "0.4"],
        "--system": ["--system", "l*", "--system", "vague"],
        "--topic": ([STUDY, "--test", "mcnemar"], ["--topic", "reef-nursery"]),
        "--judges": ([SECOND, "--test", "mcnemar"], ["--judges", "annotator"]),
        "--pyramid": ([STUDY, "--test", "mcnemar"], ["--pyramid", "crowd"]),
        "--resamples": ([LONG], ["--resamples", "200"]),
        "--seed": ([LONG], ["--seed", "1"]),
    },
    "analyze correlate": {
        "--compat": ([ORDERED, "--gold", "lite", "--resamples", "0", "--json"], COMPAT),
        "--gold": ([TABLE], ["--gold", "modified"]),
        "--metric": ["--metric", "lite"],
        "--level": ["--level", "pooled"],
        "--kind": ["--kind", "kendall"],
        "--system": ["--system", "[l-z]*"],
        "--topic": ["--topic", "[a-m]*"],
        "--matrix": ["--matrix"],
        "--means": ([TABLE, "--gold", "modified", "--topic", "[a-m]*"], ["--means", "given"]),
        "--resamples": ["--resamples", "0"],
        "--seed": ["--seed", "1"],
    },
    "analyze metric-accuracy": {
        "--compat": ([ORDERED, "--gold", "lite", "--level", "0.2"], COMPAT),
        "--gold": ([TABLE], ["--gold", "modified"]),
        "--metric": ["--metric", "charm"],
        "--system": ["--system", "[l-z]*"],
        "--topic": ["--topic", "t1*"],
        "--samples": ["--samples", "7"],
        "--subset": ["--subset", "12"],
        "--level": ["--level", "0.3"],
        "--seed": ([LONG, "--gold", "modified", "--subset", "12", "--samples", "9"], ["--seed", "1"]),
    },
    "analyze compare": {
        "--aspect": ["--aspect", "clearer"],
        "--judges": ["--judges", "ann"],
        "--prior": ["--prior", "3"],
        "--resamples": ["--resamples", "0"],
        "--seed": ([SECOND, "--resamples", "50", "--json"], ["--seed", "1"]),
    },
    "analyze agreement": {
        "--aspect": ["--aspect", "overall"],
        "--distance": ["--distance", "interval"],
        "--judges": ([SMALL_SECOND, "--pyramid", "expert"], ["--judges", "second"]),
        "--pyramid": ([SMALL_SECOND], ["--pyramid", "expert"]),
        "--resamples": ["--resamples", "0"],
        "--removals": ["--removals", "20"],
        "--seed": ["--seed", "1"],
    },
    "analyze stand-in": {
        "--model": ["--model", "lexical"],
        "--judges": ["--judges", "worker1"],
        "--pyramid": ["--pyramid", "expert"],
        "--threshold": ["--threshold", "0.9"],
        "--resamples": ["--resamples", "0"],
        "--seed": ["--seed", "1"],
    },
    "analyze reliability": {
        "--pyramid": ["--pyramid", "crowd"],
        "--judge": ["--judge", "second", "--judge", "nobody"],
        "--resamples": ["--resamples", "0"],
        "--seed": ["--seed", "1"],
    },
    "analyze calibrate": {
        "--gold": ([STUDY], ["--gold", TABLE, "--gold-measure", "modified"]),
        "--gold-measure": ([STUDY, "--gold", TABLE, "--gold-measure", "modified"], ["--gold-measure", "lite"]),
        "--aspect": ["--aspect", "information"],
        "--experts": ["--experts", "rater2"],
        "--adjust": ["--adjust", "shift"],
        "--scores": ["--scores", "adjusted.csv"],
    },
    "analyze combine": {
        "--people": ["--people", "w0"],
        "--model": ["--model", "other"],
        "--question": ["--question", "these"],
        "--aspect": ([RATED, "--model", "rater"], ["--aspect", "overall"]),
        "--aggregate": ["--aggregate", "mean"],
        "--chances": ["--chances", "chances.csv"],
        "--assume-random": (["unrecorded.jsonl"], ["--assume-random"]),
        "--scores": ["--scores", "both.csv"],
        "--topic": (["unrecorded.jsonl", "--assume-random"], ["--topic", "t0*"]),
        "--pyramid": (["twice.jsonl", "--assume-random"], ["--pyramid", "second"]),
        "--level": ["--level", "0.1"],
    },
    "analyze stability": {
        "--vary": ["--vary", "topics"],
        "--gold": ["--gold", "pyramid"],
        "--gold-measure": ([SMALL, "--repetitions", "3", "--gold", "pyramid"], ["--gold-measure", "raw"]),
        "--rerun": ([SMALL], ["--rerun", SMALL_SECOND]),
        "--drop": ([SMALL, "--gold", "pyramid"], ["--drop", "0.5"]),
        "--measure": ([SMALL, "--vary", "references"], ["--measure", "original"]),
        "--held-out": ([SMALL, "--vary", "references"], ["--held-out", "references"]),
        "--repetitions": ["--repetitions", "4"],
        "--min-agreement": ["--min-agreement", "0"],
        "--pyramid": ["--pyramid", "expert"],
        "--judges": ["--judges", "worker1"],
        "--seed": ["--seed", "1"],
        **working(SMALL, "--repetitions", "3"),
    },
    "autoannotate": {
        "--output": ["-o", "elsewhere.jsonl"],
        "--judge": ["--judge", "robot"],
        "--only-missing": ["--only-missing"],
        "--pyramid": ["--pyramid", "crowd"],
        "--judges": ([SMALL_SECOND, "-o", "out.jsonl"], ["--judges", "second"]),
        "--to": ["--to", "ducview"],
        "--force": ([SMALL, "-o", SECOND], ["--force"]),
    },
    "init": {
        "--title": ["--title", "Floods"],
        "--manager": ["--manager", "zoe"],
        "--password": ["--password", "a long password"],
    },
    "import": {"--judge": ["--judge", "anna"]},
    "account": {
        "--role": ["--role", "expert"],
        "--password": ["--password", "a long password"],
        "--remove": ["--remove"],
        "--force": ([DB, "manager", "--remove"], ["--force"]),
        "--sessions": ([DB], ["--sessions"]),
        "--end": ([DB, "manager"], ["--end", "all"]),
        "--quiet": ([DB], ["--quiet"]),
    },
    "serve": {
        "--host": ["--host", "0.0.0.0"],
        "--port": ["--port", "9"],
        "--processes": ["--processes", "3"],
        "--base-url": ["--base-url", "https://example.org"],
        "--webhook-secret": ["--webhook-secret", "s3cret"],
    },
    "backup": {"--force": ([DB, EMPTY], ["--force"])},
    "restore": {"--force": ([DB, EMPTY], ["--force"])},
    "move": {"--force": ([DB, EMPTY], ["--force"]), "--undo": ([DB], ["--undo"])},
    "verify": {"--against": ["--against", EMPTY], "--receipts": ["--receipts", RECEIPTS]},
    "campaign plan": {
        "--name": ["--name", "another"],
        "--set": ["--set", "workers=3"],
        "--topic": ["--topic", "reef-nursery"],
        "--system": ["--system", "lead"],
        "--pyramid": ["--pyramid", "expert"],
        "--with-model": ["--with-model", "lexical", "--set", "question=these"],
        "--share": (GUIDED, ["--share", "0.5"]),
        "--until": ([*GUIDED, "--share", "0.9"], ["--until", "top"]),
        "--budget": ([*GUIDED, "--share", "0.9"], ["--budget", "40"]),
        "--yes": ([DB, "rate"], ["--yes"]),
    },
    "campaign close": {"--yes": ["--yes"]},
    "campaign invite": {
        "--count": ["--count", "2"],
        "--people": ["--people", "people.txt"],
        "--base-url": ["--base-url", "https://example.org"],
    },
    "campaign units": {"--seed": ["--seed", "1"], "--yes": ([TEXTS, "write"], ["--yes"])},
    "campaign export": {"--to": ["--to", "folder"]},
    "campaign rehearse": {
        "--workers": ["--workers", "6"],
        "--careless": ["--careless", "1"],
        "--adversarial": ["--careless", "0", "--adversarial", "0.5"],
        "--bots": ["--careless", "0", "--bots", "0.5"],
        "--copiers": ["--careless", "0", "--copiers", "0.5"],
        "--speeders": ["--careless", "0", "--speeders", "0.5"],
        "--straight-liners": ["--careless", "0", "--straight-liners", "0.5"],
        "--colluders": ["--careless", "0", "--colluders", "0.5"],
        "--abandon": ["--abandon", "0.6"],
        "--seed": ["--seed", "1"],
        "--copy": ["--copy", "another.db"],
        "--force": ([DB, "open", "--workers", "5", "--copy", REHEARSED], ["--force"]),
        "--in-place": ["--in-place", "--yes"],
        "--yes": ([DB, "open", "--workers", "5", "--in-place"], ["--yes"]),
    },
    "campaign forget-worker": {
        "--yes": ["--yes"],
        "--unpaid": ([DB, PAID, "--yes"], ["--unpaid"]),
        "--dry-run": ["--dry-run"],
    },
    "campaign forget-expired": {"--dry-run": ["--dry-run"]},
    "campaign approve": {
        "--worker": ([DB, "judge"], ["--worker", WORKER]),
        "--unflagged": ([DB, "judge"], ["--unflagged"]),
        "--reason": ["--reason", "fine"],
        "--dry-run": ["--dry-run"],
    },
    **{
        f"campaign {action}": {
            "--reason": ["--reason", "another"],
            "--worker": ([*call[:2], *call[4:]], call[2:4]),
            "--dry-run": ["--dry-run"],
        }
        for action, call in (("reject", DECIDED), ("reopen", DECIDED), ("restore", RESTORED), ("unapprove", UNAPPROVED))
    },
    **{f"campaign {action}": {"--reason": ["--reason", "another"]} for action in ("exclude", "include", "unblock")},
    "campaign block": {
        "--reason": ["--reason", "another"],
        "--remove-answers": ["--remove-answers", "--campaign", "judge"],
        "--campaign": (REMOVED, ["--campaign", "open"]),
        "--dry-run": (REMOVED, ["--dry-run"]),
    },
    "campaign bonus": {"--reason": ["--reason", "another"]},
    "campaign advance": {"--token": ["--token", TOKEN]},
    "campaign go-on": {"--reason": ["--reason", "another"]},
    "campaign pay": {"--token": ["--token", "wrong"], "--dry-run": ["--dry-run"]},
    "campaign settle": {"--paid": ([DB, "paid", "1"], ["--paid"])},
    "campaign places": {"--token": ["--token", "wrong"]},
    "campaign request-return": {"--token": ["--token", "wrong"], "--reason": ["--reason", "another"]},
    "campaign follow": {"--token": ["--token", "wrong"]},
    "annotate list": {"--id": ["--id", "1"], "--name": ["--name", "ben"], "--topic": ["--topic", "museum-theft"]},
    "annotate export": {
        "--id": ["--id", "1"],
        "--name": ["--name", "ben"],
        "--topic": ["--topic", "museum-theft"],
        "--to": ["--to", "ducview"],
        "--force": ([DB, SECOND, "--name", "anna"], ["--force"]),
    },
    "annotate store": {"--id": ["--id", "1"], "--name": ["--name", "ben"], "--topic": ["--topic", "museum-theft"]},
    "annotate blind": {"--on": ["--on"]},
    "analyze plan": {
        **working(*SIZES),
        "--topics": ["--topics", "12"],
        "--units": ["--units", "5"],
        "--workers": ["--workers", "2"],
        "--max-topics": (["--campaigns", "5", "--units", "10", "--workers", "3"], ["--max-topics", "8"]),
        "--budget": ["--budget", "1"],
        "--power": ["--power", "0.5"],
        "--level": ["--level", "0.3"],
        "--pair": ["--pair", "lead", "--pair", "vague"],
        "--systems": (SIZES, ["--systems", "3"]),
        "--difference": (SIZES, ["--difference", "0.1"]),
        "--accuracy": (SIZES, ["--accuracy", "0.6"]),
        "--mean": (SIZES, ["--mean", "0.2"]),
        "--campaigns": ["--campaigns", "30"],
        "--references": ["--references", "2"],
        "--judging-pay": ["--judging-pay", "1"],
        "--writing-pay": ["--writing-pay", "1"],
        "--fee": ["--fee", "0.5"],
        "--currency": ["--currency", "EUR"],
        "--with-model": ([MODELLED, "--json"], ["--with-model", "align", "--question", "these"]),
        "--correlation": (["--with-model", "align", "--json"], ["--correlation", "0.4"]),
        "--question": (["--with-model", "align", "--json"], ["--question", "these"]),
        "--pyramid": ["--pyramid", "expert"],
        "--judges": ["--judges", "worker1"],
        "--seed": ["--seed", "1"],
        "--json": (SIZES[:-1], ["--json"]),
        "--quiet": (SIZES[:-1], ["--quiet"]),
    },
    "analyze grid": {
        "--gold": ["--gold", "lite"],
        "--gold-measure": ([*KEPT, "--gold", "pyramid"], ["--gold-measure", "original"]),
        "--percentile": ["--percentile", "60,83"],
        "--alpha": ["--alpha", "2"],
        "--beta": ["--beta", "1"],
        "--top-k": (MATCHED, ["--top-k", "1"]),
        "--threshold": (MATCHED, ["--threshold", "0.3"]),
        "--measure": ["--measure", "raw"],
        "--by": ["--by", "system"],
        "--kind": ["--kind", "kendall"],
        "--axes": ["--axes", "percentile,beta"],
        "--partitioner": [*GREEDY, "--partitioner", "edua-x"],
        "--matcher": ["--matcher", "wmin"],
        "--segmenter": ["--segmenter", "clauses-apart"],
        "--similarity": ["--similarity", "cosine"],
        "--embedder": ([*KEPT, "--similarity", "cosine"], ["--embedder", "wtmf:wtmf.npz"]),
        "--resamples": ([SMALL, *GRID[1:]], ["--resamples", "0"]),
        "--seed": ([SMALL, *GRID[1:], "--resamples", "3"], ["--seed", "1"]),
        "--keep": (GRID, ["--keep", "elsewhere"]),
        **working(*GRID),
        "--json": (KEPT[:-3] + KEPT[-2:], ["--json"]),
        "--quiet": (KEPT[:-3] + KEPT[-2:], ["--quiet"]),
    },
    "analyze consistency": {
        "--scores": ([YEARS[0], "--resamples", "20"], ["--scores", "2008.csv"]),
        "--exclude": ["--exclude", "1"],
        "--set": ["--set", "main"],
        "--peers": ["--peers", "no-models"],
        "--human": ["--human", "s3"],
        "--pyramid": ["--pyramid", "crowd"],
        "--resamples": ["--resamples", "0"],
        "--seed": ["--seed", "1"],
    },
    "analyze trained-metric": {
        "--target": ["--target", "overall"],
        "--features": (
            [*YEARS, "--feature", "words", "--exclude", "0"],
            ["--features", "wide.csv", "--feature", "noise"],
        ),
        "--feature": ["--feature", "noise"],
        "--predict": ["--predict", "predicted.csv"],
        "--exclude": ["--exclude", "0"],
        "--exclude-by": ["--exclude-by", "alpha"],
        "--set": ["--set", "main"],
        "--peers": ["--peers", "all"],
        "--human": ["--human", "s3"],
        "--pyramid": ["--pyramid", "crowd"],
    },
    "analyze pyramids": {
        "--pyramid": ["--pyramid", "crowd"],
        "--against": ["--against", "crowd"],
        "--least": ["--least", "0.8"],
        "--topic": ["--topic", "nothing*"],
    },
    "auto build": {
        **building(TINY, "-o", "out.jsonl"),
        "--output": ["-o", "elsewhere.jsonl"],
        "--name": ["--name", "another"],
        "--builder": ["--builder", "llm:m", "--cache", "replies"],
        "--statements": ["--statements", "3"],
        "--units-per-topic": ["--units-per-topic", "3"],
        "--units-per-task": ["--units-per-task", "3"],
        **CHATTING,
    },
    "auto score": {
        **building(TINY),
        **matching(TINY),
        "--output": ["-o", "out.csv"],
        "--save": ["--save", "out.jsonl"],
        "--pyramid": ["--pyramid", "expert"],
        "--by": ["--by", "summary"],
    },
    "auto run": {
        **building(TINY, "-o", "out"),
        **matching(TINY, "-o", "out"),
        "--output": ["-o", "elsewhere"],
        "--pyramid": ["--pyramid", "expert"],
    },
    "auto train-wtmf": {
        "--output": ["-o", "elsewhere.npz"],
        "--dimensions": ["--dimensions", "6"],
        "--rounds": ["--rounds", "4"],
        "--absent-weight": ["--absent-weight", "0.5"],
        "--regularisation": ["--regularisation", "1"],
        "--min-count": ["--min-count", "1"],
        "--seed": ["--seed", "1"],
    },
}

REFUSED: dict[str, list[tuple[Words, str]]] = {
    "feedback": [([SMALL, "-o", "pages"], "--save corrected.jsonl")],
    "campaign plan": [
        ([DB, "write", "--name", "new", "--yes"], "--system lead"),
        ([DB, "rate", "--yes"], "--pyramid crowd"),
        *(([DB, "judge", "--name", "new", "--yes"], words) for words in ("--share 0.5", "--until top", "--budget 9")),
    ],
    "campaign invite": [([DB, "open", "--people", "people.txt"], "--count 2")],
    "auto score": [
        ([BUILT], "--partitioner edua-g"),
        ([BUILT], "--percentile 50"),
        ([BUILT], "--similarity cosine"),
        ([TINY, "--pyramid", "expert"], "--percentile 50"),
        ([TINY], "--embedder minilm"),
    ],
    "auto build": [([TINY, "-o", "out.jsonl"], f"{option} 1") for option in ("--temperature", "--seed", "--price")],
    "auto run": [([TINY, "-o", "out", "--pyramid", "expert"], "--percentile 50")],
    "analyze grid": [(KEPT, "--embedder minilm")],
    "analyze calibrate": [
        ([STUDY, "--experts", "rater1"], "--gold-measure lite"),
        ([STUDY, "--gold", TABLE, "--gold-measure", "modified"], "--experts rater1"),
    ],
    "analyze agreement": [([SMALL, "--aspect", "overall"], "--pyramid crowd")],
    "analyze combine": [
        ([RATED, "--model", "rater", "--aspect", "overall"], "--pyramid crowd"),
        ([PARTLY, "--chances", "chances.csv"], "--assume-random"),
    ],
    "analyze plan": [
        (SIZES, "--lenient"),
        (SIZES, "--correlation 0.5"),
        (SIZES, "--question these"),
        *((["--with-model", "align"], words) for words in ("--power 0.5", "--budget 9", "--campaigns 5")),
        ([MODELLED, "--with-model", "align", "--question", "these"], "--seed 1"),
        ([MODELLED, "--with-model", "align", "--question", "these"], "--correlation 0.5"),
    ],
    "analyze significance": [([TABLE, "--test", "tukey"], "--seed 1"), ([TABLE, "--test", "wilcoxon"], "--seed 1")],
    "analyze stability": [
        ([SMALL, "--repetitions", "3"], "--gold-measure raw"),
        ([SMALL, "--rerun", SMALL_SECOND], "--seed 1"),
        ([STUDY, "--gold", "pyramid", "--drop", "0.25"], "--seed 1"),
        ([SMALL, "--vary", "references"], "--seed 1"),
    ],
    "analyze trained-metric": [
        ([*TRAINED, "--exclude", "0"], "--exclude-by alpha"),
        ([*YEARS, "--feature", "words", "--exclude", "0"], "--features wide.csv"),
    ],
}
"""Options of no use beside others: the call alone works, with the option it says so."""
