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
    (target / "static").mkdir()
    shutil.copyfile(MENU.with_name("site.css"), target / "static" / "site.css")


def mend(html: str) -> str:
    """Add what the theme leaves out for people who use a keyboard or hear the page: the level of headings in the menu,
    names for both side bars, a way into what scrolls, a heading on the page that searches; and no empty headings."""
    html = html.replace('role="heading">', 'role="heading" aria-level="2">')
    html = html.replace('<aside class="sidebar-drawer"', '<aside aria-label="All pages" class="sidebar-drawer"')
    html = html.replace('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer')
    html = html.replace("<pre>", '<pre tabindex="0">').replace(
        '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
    )
    if "<h1" not in html:
        html = re.sub(r'(id="furo-main-content">)', r"\1<h1>Search</h1>", html)
    return re.sub(r'<th class="head([^"]*)"><p></p></th>', r'<td class="head\1"></td>', html)


def main(site: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        gather(Path(folder))
        build = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "--fail-on-warning", "--keep-going"]
        done = subprocess.run([*build, "-d", f"{folder}/.doctrees", folder, str(site)], check=False)
    if done.returncode == 0:
        for page in site.rglob("*.html"):
            page.write_text(mend(page.read_text("utf-8")), encoding="utf-8")
        (site / "index.html").write_text(INDEX, encoding="utf-8")
        print(f"Open {site / 'index.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"))
