"""Build the documentation site, strictly: python scripts/site.py [FOLDER]

Pages stay where readers of the repository find them. They are copied with what they link to, at the same relative
places, so that every link works in both. A link to nothing and a page in no menu (docs/site/menu.md) are errors.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ["*.md", "docs/*.md", "docs/*/*.md", "benchmarks/results/*.md", "models/*.md"]
MENU = ROOT / "docs" / "site" / "menu.md"
DECISIONS = "\n```{toctree}\n:glob:\n:hidden:\n0*\n```\n"
INDEX = """<!doctype html><html lang="en"><meta charset="utf-8"><title>pyramidion</title>
<meta http-equiv="refresh" content="0; url=docs/start.html">
<main><h1>pyramidion</h1><p><a href="docs/start.html">Where to start</a></p></main></html>
"""
LINK = re.compile(r"\]\(([^)#\s]+)")


def gather(target: Path) -> None:
    """Copy every page and the files here that pages link to; pages that lead to others get their menu."""
    pages = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern)) if path != MENU]
    linked = [(page.parent / link).resolve() for page in pages for link in LINK.findall(page.read_text("utf-8"))]
    for path in dict.fromkeys([*pages, *(path for path in linked if path.is_file() and path.is_relative_to(ROOT))]):
        copy = target / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    for page, menu in (("README.md", MENU.read_text("utf-8")), ("docs/adr/README.md", DECISIONS)):
        with (target / page).open("a", encoding="utf-8") as file:
            file.write(menu)
    shutil.copyfile(MENU.with_name("conf.py"), target / "conf.py")


def main(site: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        gather(Path(folder))
        build = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "--fail-on-warning", "--keep-going"]
        done = subprocess.run([*build, "-d", f"{folder}/.doctrees", folder, str(site)], check=False)
    if done.returncode == 0:
        (site / "index.html").write_text(INDEX, encoding="utf-8")
        print(f"Open {site / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"))
