"""Which terminal screens are kept, and how they are made.

`python -m tests.screens.screens` writes every one anew.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from redolab.report.screen.forecast import print_forecast
from redolab.report.screen.profile import print_profile
from redolab.report.screen.terminal import print_terminal
from redolab.report.screen.values import print_values
from redolab.values.figures import analyse_values
from redolab.values.file import read_values
from tests.screens import forecasts, profiles

HERE = Path(__file__).parent
RUNS = ("log_bound", "cpu_bound", "interrupted", "durability", "wide", "bare", "advised", "servers", "watch")
PROFILES = {
    "profile": profiles.busy,
    "profile_session": profiles.busy,
    "profile_remote": profiles.remote,
    "profile_quiet": profiles.quiet,
}
# Of docs/guide/commit-times.csv: all of them, and by mode.
VALUES = {"values": None, "values_groups": "mode"}
FORECASTS = forecasts.stored()
SCREENS = (*RUNS, *PROFILES, *VALUES, *FORECASTS)
WIDTHS = (80, 100)


def screen(name: str, width: int, encoding: str = "utf-8") -> str:
    """What the terminal shows of a stored run, a live profile or a forecast, without colours."""
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=output, width=width, color_system=None, highlight=False)
    if name in PROFILES:
        print_profile(PROFILES[name](), profiles.SESSION if name == "profile_session" else None, console)
    elif name in VALUES:
        print_values(column(VALUES[name]), console)
    elif name in FORECASTS:
        print_forecast(FORECASTS[name], console)
    else:
        results = json.loads((HERE.parent / "report" / "data" / f"results_{name}.json").read_text())
        print_terminal(results, Path(results["run"]) / "report.html", console)
    output.seek(0)
    return "".join(line.rstrip() + "\n" for line in output.read().splitlines())


def column(group: str | None) -> dict[str, Any]:
    """What `redolab analyze` says of the guide's file."""
    path = HERE.parents[1] / "docs" / "guide" / "commit-times.csv"
    results = analyse_values(read_values(str(path), "commit_ms", group))
    return results | {"source": results["source"] | {"file": path.name}}


def kept() -> Iterator[tuple[str, int, Path]]:
    for name in SCREENS:
        for width in WIDTHS:
            yield name, width, HERE / f"{name}_{width}.txt"


if __name__ == "__main__":
    for made, columns, place in kept():
        place.write_text(screen(made, columns), encoding="utf-8")
