"""The shape of the project: public names, light imports, small modules, few dependencies."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

import pytest

import pyramidion as pyr
from pyramidion import distribution

SOURCE = Path(pyr.__file__).parent
HEAVY = {
    "numpy",
    "scipy",
    "pandas",
    "rouge_score",
    "nltk",
    "crowdkit",
    "sklearn",
    "transformers",
    "pyarrow",
    "torch",
    "matplotlib",
    "onnxruntime",
}


def test_the_public_names_are_these() -> None:
    assert pyr.__all__ == sorted(pyr.__all__)
    assert set(pyr.__all__) == {
        "ContentUnit",
        "Contributor",
        "InputError",
        "Judge",
        "Judgment",
        "Judgments",
        "Metric",
        "PairScores",
        "Problem",
        "Pyramid",
        "PyramidionError",
        "Score",
        "ScoreTable",
        "Signature",
        "Span",
        "Study",
        "Summary",
        "Topic",
        "UsageError",
        "combine",
        "compare_systems",
        "compare_units",
        "evaluate",
        "example",
        "judge",
        "load",
        "read_scores",
        "save",
        "score",
        "score_pairs",
        "write_scores",
    }
    for name in pyr.__all__:
        assert getattr(pyr, name) is not None
    with pytest.raises(AttributeError, match="nothing_like_this"):
        pyr.nothing_like_this  # noqa: B018


@pytest.mark.parametrize(
    "what", ["import pyramidion", "sys.argv = ['pyramidion', '--help']; from pyramidion.cli.main import main; main()"]
)
def test_heavy_imports_knock(what: str) -> None:
    code = f"import sys, atexit; atexit.register(lambda: print('MODULES', *sys.modules, file=sys.stderr)); {what}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stderr.split("MODULES", 1)[1].split()
    assert not HEAVY & {name.partition(".")[0] for name in modules}
    assert len(modules) < 600


def core_packages() -> set[str]:
    """Everything `pip install pyramidion-eval` brings, by following what installed packages require."""
    found: set[str] = set()
    waiting = [distribution.NAME]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            needs = requires(name) or []
        except PackageNotFoundError:
            continue
        waiting += [re.match(r"[\w.-]+", need)[0].lower().replace("_", "-") for need in needs if "extra ==" not in need]  # type: ignore[index]
    return found


HEAVY_PACKAGES = {"torch", "transformers", "pandas", "nltk", "scikit-learn", "crowd-kit", "krippendorff", "pingouin"}


def test_the_core_is_small() -> None:
    """How much it takes on disk is measured by scripts/release.py, in an environment that has nothing else."""
    packages = core_packages()
    assert {"numpy", "typer", "rich"} <= packages
    assert len(packages) < 30
    assert not packages & HEAVY_PACKAGES


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_no_dumping_grounds_and_no_giants() -> None:
    assert not [path for path in modules() if path.stem in {"utils", "util", "helpers", "helper", "common", "misc"}]
    assert not [f"{path}: {n}" for path in modules() if (n := len(path.read_text().splitlines())) > 420]


def test_every_module_says_what_it_is_for() -> None:
    assert not [path for path in modules() if not ast.get_docstring(ast.parse(path.read_text()))]


def test_no_module_touches_global_randomness() -> None:
    pattern = re.compile(r"\brandom\.(random|seed|shuffle|choice|sample)\(|np\.random\.(?!default_rng|Generator)")
    assert not [path for path in modules() if pattern.search(path.read_text())]


def test_every_extra_is_known_to_the_doctor_and_documented() -> None:
    from pyramidion.cli.doctor import EXTRAS

    declared = set(metadata(distribution.NAME).get_all("Provides-Extra")) - {"test"}
    assert set(EXTRAS) == declared
    page = (Path(__file__).parents[1] / "docs" / "reference" / "install.md").read_text("utf-8")
    assert not [name for name in declared if f"`{name}`" not in page]


def test_a_public_class_has_a_name_of_its_own() -> None:
    """A name means one thing in the whole tree."""
    places: dict[str, list[Path]] = {}
    for path in modules():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(path)
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}
