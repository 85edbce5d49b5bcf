"""Redolab with packages taken away: `python -m tests.without PACKAGE,... COMMAND ... + COMMAND ...`."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from importlib.machinery import PathFinder
from typing import Any


def take_away(packages: Collection[str]) -> None:
    """Let nobody find these packages any more, as if they were not installed."""
    find_spec = PathFinder.find_spec

    def find(name: str, *others: Any) -> Any:
        return None if name.partition(".")[0] in packages else find_spec(name, *others)

    PathFinder.find_spec = find  # type: ignore[method-assign,assignment]


def run_all(words: Sequence[str]) -> None:
    """Run commands that stand between `+`; how each ended is said on the standard error."""
    from redolab.cli import main

    for command in "\0".join(words).split("\0+\0"):
        sys.argv = ["redolab", *command.split("\0")]
        try:
            main()
        except SystemExit as ended:
            print(f"ended {ended.code}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    take_away(sys.argv[1].split(","))
    run_all(sys.argv[2:])
