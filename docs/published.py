"""Write docs/published.md: every published finding compared with ours, from stored runs.

    python docs/published.py RUN...     takes the findings of finished runs into docs/published.json
    python docs/published.py            renders docs/published.md from that file alone

A run replaces an earlier one of the same experiment, load, engine and emulated log device. What is
kept of a run does not show its directory or the host that made it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from redolab.experiment import EXPERIMENTS
from redolab.report.tables import cells
from redolab.report.tables import tables
from redolab.records.store import open_run, read_results

DATA = Path(__file__).with_name("published.json")
PAGE = Path(__file__).with_name("published.md")
_OUTCOMES = ("agrees", "differs", "not comparable")
_INTRODUCTION = """\
# Compared with the published figures

This page compares every finding of the published experiments that Redolab repeats with our own figure. A
figure in the column "here" has a 95 % interval unless stated otherwise. Whether our figure `agrees` with a
finding or `differs` is decided by the rule in the column "why"; for a finding that is `not comparable` the
column "why" gives the reason. Other machines and other databases are expected to give other figures than the
published ones; the reason for a difference is the result. A run that cannot compare a finding is left out
where another run can. `docs/published.py` writes this page from stored runs; no figure in it is typed by
hand.
"""


class Unusable(Exception):
    """A run whose findings must not be on the page."""


def taken(data: Mapping[str, Any], results: Mapping[str, Any]) -> dict[str, Any]:
    """The data with the findings of one run, in place of the findings of an earlier run like it.

    Raises:
        Unusable: the run's experiment is not a published one, it was not finished, its verdict is withheld,
            or it shares a key with another experiment.
    """
    entry = _entry(results)
    others = [run for run in data["runs"] if _identity(run) != _identity(entry)]
    foreign = {key for run in others if run["experiment"] != entry["experiment"] for key in _keys(run)}
    if foreign & _keys(entry):
        raise Unusable(f"another experiment has the finding {', '.join(sorted(foreign & _keys(entry)))}")
    return {"runs": sorted([*others, entry], key=_identity)}


def page(data: Mapping[str, Any]) -> str:
    """docs/published.md as Markdown."""
    parts = [_INTRODUCTION, _summary(data)]
    parts += [_experiment(name, _of(name, data)) for name in EXPERIMENTS if _of(name, data)]
    return "\n".join(parts)


def not_yet_run(data: Mapping[str, Any]) -> list[str]:
    """The experiments without a run on the page."""
    return [name for name in EXPERIMENTS if not _of(name, data)]


def _entry(results: Mapping[str, Any]) -> dict[str, Any]:
    if results["experiment"] not in EXPERIMENTS:
        raise Unusable(f"{results['experiment']!r} is not a published experiment")
    if results["status"] != "finished":
        raise Unusable(f"the run is {results['status']}")
    if results["verdict"]["outcome"] == "withheld":
        raise Unusable("its verdict is withheld, because its A/A check failed")
    engine, method = results["engine"], results["method"]
    device = (engine.get("emulated") or {}).get("log_device_ms")
    machine = method["machine"]
    return {
        "experiment": results["experiment"],
        "load": results["load"].get("name") or "",
        "work": tables.load(results),
        "engine": engine["name"],
        "server": _servers(results),
        "log_device_ms": device["requested"] if device else None,
        "cpus": machine["cpus"],
        "cpu_model": machine["cpu_model"],
        "date": str(method["started_at"])[:10],
        "seed": method["design"]["seed"],
        "blocks": method["design"]["blocks"],
        "redolab_version": method["redolab_version"],
        "findings": list(results.get("published") or ()),
    }


def _servers(results: Mapping[str, Any]) -> str:
    named = tables.servers(results) if tables.is_database(results) else []
    return ", ".join(server for _, server in named)


def _identity(run: Mapping[str, Any]) -> tuple[str, str, str, float]:
    return run["experiment"], run["load"], run["engine"], run["log_device_ms"] or 0.0


def _keys(run: Mapping[str, Any]) -> set[str]:
    return {finding["key"] for finding in run["findings"]}


def _summary(data: Mapping[str, Any]) -> str:
    agreements = [
        finding["agreement"]
        for name in EXPERIMENTS
        for _, finding in _shown(_of(name, data))
    ]
    counts = ", ".join(f"{agreements.count(outcome)} {outcome}" for outcome in _OUTCOMES)
    lines = [f"The tables of this page have {len(agreements)} rows: {counts}.\n"] if agreements else []
    missing = not_yet_run(data)
    if missing:
        lines.append(f"Not yet run: {', '.join(f'`{name}`' for name in missing)}.\n")
    return "\n".join(lines)


def _of(name: str, data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [run for run in data["runs"] if run["experiment"] == name]


def _experiment(name: str, runs: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"## `{name}`", ""]
    lines += [f"{number}. {_described(run)}" for number, run in enumerate(runs, start=1)]
    shown = _shown(runs)
    if not shown:
        return "\n".join([*lines, "", "No published finding can be compared with this experiment.", ""])
    rows = [
        (finding["finding"], finding["theirs"], _ours(finding), f"`{finding['agreement']}`", finding["why"], number)
        for number, finding in shown
    ]
    sources = dict.fromkeys(finding["source"] for _, finding in shown)
    return "\n".join(
        [
            *lines,
            "",
            *_table(("finding", "published", "here", "outcome", "why", "run"), rows),
            "",
            "Published in:",
            "",
            *(f"- {source}" for source in sources),
            "",
        ]
    )


def _shown(runs: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """An experiment's findings to show, each with the number of its run, in the analysis's order."""
    every = [(number, finding) for number, run in enumerate(runs, start=1) for finding in run["findings"]]
    keys = list(dict.fromkeys(finding["key"] for _, finding in every))
    shown = []
    for key in keys:
        findings = [item for item in every if item[1]["key"] == key]
        shown += [item for item in findings if item[1]["agreement"] != "not comparable"] or findings[:1]
    return shown


def _described(run: Mapping[str, Any]) -> str:
    device = run["log_device_ms"]
    parts = [
        f"Measured on {run['date']}",
        run["server"],
        run["work"],
        f"EMULATED log device {device:g} ms" if device else "",
        f"{run['cpus']} CPUs ({run['cpu_model']})",
        f"{run['blocks']} blocks, seed {run['seed']}",
        f"redolab {run['redolab_version']}",
    ]
    return ", ".join(part for part in parts if part)


def _ours(finding: Mapping[str, Any]) -> str:
    cell = cells.estimate(finding["ours"])
    if cell.text == cells.NOT_AVAILABLE:
        return cell.text
    interval = f" ({cell.interval})" if cell.interval else ""
    return f"{cell.text} {finding['unit']}".strip() + interval


def _table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [" | ".join(titles), " | ".join("---" for _ in titles)]
    lines += [" | ".join(" ".join(str(cell).replace("|", "\\|").split()) for cell in row) for row in rows]
    return [f"| {line} |" for line in lines]


def main(places: Sequence[str]) -> int:
    """Take the runs' findings, and write the data and the page."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    for place in places:
        try:
            data = taken(data, read_results(open_run(Path(place))))
        except Unusable as refusal:
            print(f"{place} was not taken: {refusal}. Nothing was written.", file=sys.stderr)
            return 1
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
