"""`pyramidion doctor`."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from pyramidion import distribution
from pyramidion.cli.options import Printing, grouped
from pyramidion.terminal import TerminalTable

CORE = ("numpy", "scipy", "onnxruntime", "defusedxml", "jinja2", "typer", "rich")
EXTRAS = {
    "pandas": ("pandas", "data frames: ScoreTable.to_pandas()"),
    "parquet": ("pyarrow", "studies and score tables in Parquet"),
    "crowd": ("crowdkit", "Dawid-Skene, MACE and GLAD aggregation"),
    "server": ("fastapi", "study databases, campaigns and their pages"),
    "postgres": ("psycopg", "study databases on PostgreSQL"),
    "plots": ("matplotlib", "plots and figures for papers"),
    "dask": ("distributed", "long work on a Dask cluster"),
    "nli": ("torch", "entailment models as judges"),
    "nli-onnx": ("tokenizers", "entailment models as judges, from ONNX files"),
    "llm": ("httpx", "chat models as judges and writers"),
    "openai": ("httpx", "embeddings from an endpoint"),
    "sentence-transformers": ("sentence_transformers", "any sentence encoder from Hugging Face"),
    "spacy": ("spacy", "clauses from a spaCy pipeline"),
    "evaluate": ("evaluate", "the metric for Hugging Face evaluate"),
    "inspect": ("inspect_ai", "the scorer for Inspect"),
}


@grouped
def doctor(*, printing: Printing) -> None:
    """Show what is installed: versions, formats, optional parts and how to add them."""
    from pyramidion import formats, plugins

    output = printing.out
    core = {name: _installed(name) for name in CORE}
    extras = {
        extra: {
            "installed": find_spec(module) is not None,
            "for": purpose,
            "install": distribution.install_command(extra),
        }
        for extra, (module, purpose) in EXTRAS.items()
    }
    known = {
        format.name: {"about": format.title, "writes": format.write is not None} for format in formats.all_formats()
    }
    report = {
        "pyramidion": distribution.version(),
        "python": platform.python_version(),
        "core": core,
        "extras": extras,
        "formats": known,
        "methods": plugins.names("methods"),
        "aggregators": plugins.names("aggregators"),
    }
    output.result(report)
    versions = ", ".join(f"{name} {number}" for name, number in core.items())
    output.show(f"pyramidion {report['pyramidion']} on Python {report['python']}\n{versions}\n")
    rows = [
        (name, str(extra["for"]), "installed" if extra["installed"] else str(extra["install"]))
        for name, extra in extras.items()
    ]
    output.show(TerminalTable(("optional part", "what for", "state"), rows, title="Extras"))
    rows = [(name, "both" if about["writes"] else "reads", str(about["about"])) for name, about in known.items()]
    output.show(TerminalTable(("format", "reads / writes", "what"), rows, title="Formats"))
    output.show(f"Methods: {', '.join(plugins.names('methods'))}")
    output.show(f"Aggregators: {', '.join(plugins.names('aggregators'))}")


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
