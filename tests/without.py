"""Redolab's command line with packages taken away: `python -m tests.without PACKAGE,... COMMAND ...`."""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib.machinery import PathFinder
from typing import Any


def take_away(packages: Collection[str]) -> None:
    """Let nobody find these packages any more, as if they were not installed."""
    find_spec = PathFinder.find_spec

    def find(name: str, *others: Any) -> Any:
        return None if name.partition(".")[0] in packages else find_spec(name, *others)

    PathFinder.find_spec = find  # type: ignore[method-assign,assignment]


if __name__ == "__main__":
    take_away(sys.argv[1].split(","))
    del sys.argv[1]
    from redolab.cli import main

    main()
