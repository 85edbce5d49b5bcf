"""Stored results to report from, made by the analysis from the made-up runs of its own tests.

`log_bound` has an emulated log device and a spoiled sample; `cpu_bound` settles as equivalent;
`interrupted` ended after three samples on a server without CPU accounts; `durability` is a run of
hard kills; `servers` has two side by side; `watch` is a period of a watched server against another one;
`advised` has forecasts of changes, `wide` 16 settings, `bare` no database (see `tests.report.made_up`).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAMES = ("log_bound", "cpu_bound", "interrupted", "durability", "wide", "bare", "advised", "servers", "watch")
HOSTILE = "</script><img src=x onerror=alert(1)>&\"'{{7*7}}%{x}<b>"


def stored(name: str) -> dict[str, Any]:
    path = Path(__file__).with_name("data") / f"results_{name}.json"
    results: dict[str, Any] = json.loads(path.read_text())
    return results


def hostile() -> dict[str, Any]:
    """Results in which every name a user or a server can choose is hostile."""
    text = json.dumps(stored("log_bound"))
    for name in ("nowait/batch", "IO:WalSync", "ext4", "Made-up CPU", "synchronous_commit"):
        text = text.replace(json.dumps(name), json.dumps(f"{name} {HOSTILE}"))
    results: dict[str, Any] = json.loads(text)
    results["verdict"]["text"] = f"{HOSTILE}. {HOSTILE}"
    results["warnings"] = [HOSTILE]
    results["diagnostics"][0]["text"] = HOSTILE
    results["run"] = HOSTILE
    return results


def hostile_wide() -> dict[str, Any]:
    """Results in which all that an experiment adds of its own is hostile."""
    results = stored("wide")
    results["tables"][0]["rows"][0]["part"] = HOSTILE
    results["published"][0]["finding"] = HOSTILE
    over_rows, by_kind = results["figures"]
    over_rows["caption"] = HOSTILE
    over_rows["series"][0]["name"] = HOSTILE
    for series in by_kind["series"]:
        series["x"][0] = HOSTILE
    return results
