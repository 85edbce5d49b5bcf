"""The explorer of a page: its controls, its data for the scripts, and its content without scripts.

What the scripts show comes from the WebAssembly module `explore.wasm`, made from the crate redolab-explore
(`make wasm`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Any

from redolab.forecast.explored import Explored
from redolab.forecast.models import scenario_forecast
from redolab.report.page.packing import packed
from redolab.report.tables import cells
from redolab.report.tables.cells import Cell, ShownColumn, ShownTable
from redolab.report.tables.forecast import BEYOND, NAMES, ROWS, UNSAID

WASM = "explore.wasm"

_DOUBLED = tuple(2**power for power in range(11))
_SESSIONS = (
    *range(1, 9), 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256,
    320, 384, 448, 512,
)  # fmt: skip
_DELAYS_US = (0, 10, 20, 50, 100, 150, 200, 300, 400, 500, 700, 1000, 1400, 2000)
_DEVICES_MS = (0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50)
_CPUS = (*range(1, 9), 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)
_FACTORS = (0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2)
_THINK_MS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
_MOST_RATE = 1e7
_SWEPT = (
    "throughput_per_s",
    "response_time_ms",
    "response_time_ms_p95",
    "cpu_utilization",
    "device_utilization",
)
"""Quantities of the sweep that a page shows."""
STATES: Mapping[str, str] = {
    "cpu": "on CPU", "queue": "waiting for a CPU", "wait1": "waiting for another's flush",
    "wait2": "its own flush", "wait3": "commit delay", "wait4": "in the client",
    "wait5": "waiting for a session",
}  # fmt: skip
"""The looks of the parts of a bar, and what they are."""


@dataclass(frozen=True)
class Control:
    """A slider with a field for its number."""

    factor: str
    label: str
    unit: str
    steps: Sequence[float | None]
    """Its levels; empty where they depend on what is asked."""
    none: str = ""
    """The name of None, where it may be None."""
    whole: bool = False

    @property
    def limits(self) -> dict[str, Any]:
        """The least and the greatest number that may be asked for."""
        numbers = [step for step in self.steps if step is not None] or [1e-3, _MOST_RATE]
        return {"least": min(numbers), "most": max(numbers), "whole": self.whole}


@dataclass(frozen=True)
class Explorer:
    """An explorer as the page's template shows it."""

    controls: Sequence[Control]
    row_known: bool
    data: Mapping[str, Any]
    """For the scripts."""
    costs: str
    """Its numbers, gzip in base64."""
    sweep: ShownTable
    """Today's setting with other numbers of sessions."""


def explorer(explored: Explored) -> Explorer:
    """The explorer of a run's costs."""
    controls, known = _controls(explored), explored.as_json()
    data = {
        **known,
        # For an installation that cannot forecast: `kept_explorer` reads them back.
        "only_seen": explored.only_seen,
        "sweep": [
            {
                "scenario": asdict(swept.scenario),
                "forecast": {name: asdict(swept.forecast[name]) for name in _SWEPT if name in swept.forecast},
            }
            for swept in explored.sweep
        ],
        "controls": [
            {key: getattr(item, key) for key in ("factor", "label", "unit", "steps", "none", "whole")}
            for item in controls
        ],
        "limits": {item.factor: item.limits for item in controls},
        "rows": [[name, _title(title), scale] for name, (title, scale) in ROWS.items()],
        "names": dict(NAMES),
        "usual": {**known["today"], "rows_per_commit": 1, "commit_wait": "wait", **UNSAID},
        "states": dict(STATES),
        "fitting": list(scenario_forecast.FITTING),
        "throughput_per_s": _today(explored),
        "words": {
            "beyond": BEYOND,
            "unverified": scenario_forecast.UNVERIFIED,
            "quicker": scenario_forecast.SHORTER if explored.only_seen else scenario_forecast.QUICKER,
            "lost": scenario_forecast.LOST,
            "misfit": scenario_forecast.MISFIT,
            "outside": scenario_forecast.OUTSIDE,
            "quantities": dict(scenario_forecast.FORECAST),
        },
    }
    return Explorer(
        controls=controls,
        row_known=explored.row_known,
        data=data,
        costs=packed(explored.numbers),
        sweep=_sweep(explored),
    )


def _title(title: str) -> str:
    """A quantity's title; what belongs to the one above begins with a dash."""
    return f"– {title.strip()}" if title.startswith(" ") else title


def _controls(explored: Explored) -> list[Control]:
    rows = _DOUBLED if explored.row_known else (1,)
    return [
        Control("sessions", "Sessions", "", _with(_SESSIONS, explored.today.sessions), whole=True),
        Control("arrival_rate_per_s", "Arrivals", "per s", ()),
        Control("rows_per_commit", "Rows per commit", "", rows, whole=True),
        Control("commit_delay_us", "Commit delay", "µs", _DELAYS_US, whole=True),
        Control("log_device_ms", "Log device", "ms", (None, *_DEVICES_MS), none="as measured"),
        Control("cpus", "CPUs", "", (None, *_CPUS), none="as measured"),
        Control("cpu_factor", "CPU per transaction", "times", _FACTORS),
        Control("think_time_ms", "Think time", "ms", _THINK_MS),
    ]


def _with(steps: Sequence[int], today: int) -> list[int]:
    return sorted({*steps, today})


def _today(explored: Explored) -> float:
    """Today's throughput as forecast, from which the rates of arrivals are chosen."""
    for swept in explored.sweep:
        if swept.scenario.sessions == explored.today.sessions and swept.forecast:
            return swept.forecast["throughput_per_s"].point
    return 1.0


def _sweep(explored: Explored) -> ShownTable:
    """Today's setting with other numbers of sessions, its intervals from the record alone."""
    columns = [
        ShownColumn("Sessions"),
        ShownColumn("Commits per s"),
        ShownColumn(f"{100 * explored.as_json()['level']:.0f} % interval"),
        ShownColumn("R", "ms"),
        ShownColumn("R p95", "ms"),
        ShownColumn("CPUs", "% busy"),
        ShownColumn("Log", "% busy"),
    ]
    rows = []
    for swept in explored.sweep:
        throughput = swept.forecast.get("throughput_per_s")
        said = cells.estimate(None if throughput is None else throughput.__dict__)
        rows.append(
            [
                Cell(f"{swept.scenario.sessions:,}"),
                Cell(said.text),
                Cell(said.interval),
                *(
                    Cell(cells.number(scale * value.point) if (value := swept.forecast.get(name)) else "")
                    for name, scale in (
                        ("response_time_ms", 1.0),
                        ("response_time_ms_p95", 1.0),
                        ("cpu_utilization", 100.0),
                        ("device_utilization", 100.0),
                    )
                ),
            ]
        )
    note = "R: response time, from the beginning of a transaction to its end."
    return ShownTable(
        "explorer-sweep", "Today's setting with other numbers of sessions, forecast", columns, rows, note
    )


@functools.cache
def packed_module() -> str:
    """The WebAssembly module, gzip in base64."""
    return packed(resources.files("redolab.report.page").joinpath("assets", WASM).read_bytes())
