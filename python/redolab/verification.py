"""Does a stored run still say what it said? Hashes, recomputed figures, and the figures in the page."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from redolab.errors import UsageError
from redolab.experiment import analyse
from redolab.sealed import FILE as SEALED
from redolab.sealed import seal_differences
from redolab.store import Run, file_hash

_TOLERANCE = 1e-9
_EMBEDDED = re.compile(r'<script type="application/json" id="results">(.*?)</script>', re.DOTALL)


def verify_run(run: Run) -> list[str]:
    """Every difference between the stored run and what its data say, one sentence each."""
    found = []
    for name, expected in run.manifest["hashes"].items():
        path = run.path / name
        if not path.exists():
            found.append(f"{name} is missing")
        elif file_hash(path) != expected:
            found.append(f"{name} was changed (its hash differs)")
    try:
        found += _seal(run)
        stored = run.results()
    except UsageError as error:
        return [*found, str(error)]
    # Where the run lies is no figure: it may have been moved, or be named another way.
    recomputed = analyse(run) | {"run": stored.get("run")}
    found += compare(stored, recomputed, "")
    page = run.path / "report.html"
    if not page.exists():
        return [*found, "report.html is missing"]
    embedded = _EMBEDDED.search(page.read_text())
    if embedded is None:
        return [*found, "report.html holds no figures"]
    return found + [f"report.html: {text}" for text in compare(stored, json.loads(embedded[1]), "")]


def _seal(run: Run) -> list[str]:
    sealed = run.document(SEALED)
    if sealed is None:
        return []
    began = run.samples.column("started_at").to_pylist()
    return seal_differences(sealed, min(began, default=None))


def compare(stored: Any, recomputed: Any, place: str) -> list[str]:
    """Where two results objects differ, by path."""
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        if stored.keys() != recomputed.keys():
            odd = sorted(stored.keys() ^ recomputed.keys())
            return [f"{place or 'the results'} differ in their keys ({', '.join(odd)})"]
        return [
            text
            for key in stored
            for text in compare(stored[key], recomputed[key], f"{place}.{key}" if place else key)
        ]
    if isinstance(stored, list) and isinstance(recomputed, list):
        if len(stored) != len(recomputed):
            return [f"{place} has {len(stored)} entries stored and {len(recomputed)} recomputed"]
        return [
            text
            for number, pair in enumerate(zip(stored, recomputed, strict=True))
            for text in compare(*pair, f"{place}[{number}]")
        ]
    if isinstance(stored, float) and isinstance(recomputed, int | float):
        same = math.isclose(stored, recomputed, rel_tol=_TOLERANCE, abs_tol=1e-15)
    else:
        same = stored == recomputed
    return [] if same else [f"{place} is {stored!r} and recomputes to {recomputed!r}"]
