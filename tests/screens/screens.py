"""Which terminal screens are kept, and how they are made.

`python tests/screens/screens.py` writes every one anew.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from redolab.report.terminal import print_terminal

HERE = Path(__file__).parent
RUNS = ("log_bound", "cpu_bound", "interrupted", "durability")
WIDTHS = (80, 100)


def screen(run: str, width: int, encoding: str = "utf-8") -> str:
    """What the terminal shows of a stored run, without colours."""
    results = json.loads((HERE.parent / "report" / "data" / f"results_{run}.json").read_text())
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=output, width=width, color_system=None, highlight=False)
    print_terminal(results, Path(results["run"]) / "report.html", console)
    output.seek(0)
    return "".join(line.rstrip() + "\n" for line in output.read().splitlines())


def kept() -> Iterator[tuple[str, int, Path]]:
    for run in RUNS:
        for width in WIDTHS:
            yield run, width, HERE / f"{run}_{width}.txt"


if __name__ == "__main__":
    for name, columns, place in kept():
        place.write_text(screen(name, columns), encoding="utf-8")
