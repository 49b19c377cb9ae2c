"""Draw what the demo prints, as the picture at the top of the README: python scripts/picture.py"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SHOTS = {
    "demo.svg": [["demo"]],
    "show.svg": [["show", "pyramidion-demo/study.jsonl", "--topic", "reef-nursery", "--system", "extract"]],
}


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": "100"}
    with tempfile.TemporaryDirectory() as folder:
        for name, commands in SHOTS.items():
            console = Console(record=True, width=112, file=io.StringIO())
            for command in commands:
                run = [sys.executable, "-c", "from pyramidion.cli.main import main; main()", *command]
                done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True, check=True)
                console.print(Text.assemble(("$ ", "bold green"), ("pyramidion " + " ".join(command), "bold")))
                console.print(Text.from_ansi(done.stdout))
            drawn = console.export_svg(title="pyramidion")
            # Rich links a web font; a picture must not fetch anything, so the viewer's own monospace font is used.
            drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
            (IMAGES / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
