"""A stored run in memory: its manifest and its tables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import pyarrow as pa

_Found = TypeVar("_Found")


# Runs are equal only to themselves, so that results computed from a run can be kept by it.
@dataclass(frozen=True, eq=False)
class Run:
    """A stored run as `redolab.records.store` reads it, without any database."""

    path: Path
    manifest: dict[str, Any]
    samples: pa.Table
    waits: pa.Table
    profile: pa.Table
    overhead: pa.Table
    latency: pa.Table
    entries: pa.Table


def once_for_a_run(read: Callable[[Run], _Found]) -> Callable[[Run], _Found]:
    """Let `read` compute its answer for each run once; an error is raised again each time."""
    known: WeakKeyDictionary[Run, _Found] = WeakKeyDictionary()

    @functools.wraps(read)
    def once(run: Run) -> _Found:
        if run not in known:
            known[run] = read(run)
        return known[run]

    return once
