"""The results of `redolab doctor` on the terminal: a line for each check, and under it what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from redolab.console import terminal
from redolab.report.screen.paper import Paper

_STYLES = {"works": "green", "limited": "bold yellow", "missing": "bold red", "n/a": "dim"}
_STATE_WIDTH, _NAME_WIDTH = 7, 23


def print_doctor(results: Mapping[str, Any], console: Console | None = None) -> None:
    """Print the results object."""
    console = console or terminal()
    paper = Paper(console.width, plain=console.options.ascii_only)
    console.print(paper.text(f"As the user {results['user']}", "bold"))
    for check in results["checks"]:
        _print(console, _line(paper, check["state"], check["name"], check["found"]))
        lost = (("costs", check["costs"]), ("mend", check["mend"]))
        _print(console, _under(paper, [(title, text) for title, text in lost if text]))
    console.print()
    console.print(paper.text("Experiments", "bold"))
    for experiment in results["experiments"]:
        _print(console, _line(paper, *_told(experiment)))
    if results["profile"] is not None:
        works = results["profile"]["works"]
        text = "on the server of the URL" if works else "cannot be made"
        _print(console, _line(paper, "works" if works else "missing", "profile", text))
    _print(console, paper.numbered("Why not", _reasons(results)))


def _told(experiment: Mapping[str, Any]) -> tuple[str, str, str]:
    """State, name and text of an experiment's line."""
    name, engines = experiment["name"], experiment["engines"]
    runs = [each["engine"] for each in engines if each["runs"]]
    if not any(each["applicable"] for each in engines):
        return "n/a", name, engines[0]["why"]
    return (
        ("works" if experiment["runs"] else "missing"),
        name,
        f"on {', '.join(runs)}" if runs else "cannot run",
    )


def _reasons(results: Mapping[str, Any]) -> list[str]:
    """Each reason once, with the experiments that it stops."""
    found: dict[tuple[str, str], list[str]] = {}
    for experiment in results["experiments"]:
        for each in experiment["engines"]:
            if each["applicable"] and not each["runs"]:
                found.setdefault((each["engine"], each["why"]), []).append(experiment["name"])
    if results["profile"] is not None and not results["profile"]["works"]:
        found.setdefault((results["engine"], results["profile"]["why"]), []).append("profile")
    return [f"{', '.join(names)} on {engine}: {why}" for (engine, why), names in found.items()]


def _line(paper: Paper, state: str, name: str, found: str) -> Iterator[RenderableType]:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=_STATE_WIDTH)
    grid.add_column(width=_NAME_WIDTH)
    grid.add_column(ratio=1)
    grid.add_row(Text(state, _STYLES[state]), paper.text(name), paper.text(found))
    yield Padding(grid, (0, 0, 0, 2))


def _under(paper: Paper, facts: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
    for facts_ in paper.facts(facts) if facts else ():
        yield Padding(facts_, (0, 0, 0, 4 + _STATE_WIDTH))


def _print(console: Console, parts: Iterator[RenderableType]) -> None:
    for part in parts:
        console.print(part)
