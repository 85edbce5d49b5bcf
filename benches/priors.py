"""Priors of forecasts from watching: what calibrations on this machine say of how costs are to each other.

    python benches/priors.py measure DIR     runs `redolab run calibrate` on each system, loop and log device
    python benches/priors.py learn DIR       writes benches/results/calibrations.json and Redolab's priors

All of them are of one machine, which says nothing of how costs differ between machines: so `one_machine`
and a spread of two are written. Calibrations of other machines belong beside these: `learn` takes any
directory of runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from redolab import open_run
from redolab.forecast.costs.costs import LEAST_S
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.direct.settings import server_measured
from redolab.forecast.costs.inferred import priors
from redolab.forecast.costs.logs import logs_of
from redolab.records.run import Run

HERE = Path(__file__).parent
MYSQL = "REDOLAB_MYSQL"
"""Names the directory of a mysqld that is not on PATH."""
ENGINES = ("embedded", "mariadb", "mariadb:skip-log-bin", "mysql", "mysql:skip-log-bin")
DEVICES_MS = (None, 1, 5)
SPREAD = 2.0
# Whatever else ran on the machine lowers them, so that the most is what there is without it.
MOST = ("available", "available_waiting")
# It raises these, which are differences of elapsed times: the least is what there is without it. A
# calibration in which the difference is nothing does not tell them.
LEAST = ("cold_s",)
DIFFERENCES = (*LEAST, "flush_cpu_s", "wake_s", "client_wake_s")


def measure(out: Path) -> None:
    """A run of `calibrate` for each system and log device, where there is none yet."""
    out.mkdir(parents=True, exist_ok=True)
    for device_ms in DEVICES_MS:
        for engine in ENGINES:
            for loop in ("client", "server") if engine == "embedded" else ("client",):
                device = "real" if device_ms is None else f"{device_ms}ms"
                place = out / f"{engine.replace(':', '_')}-{loop}-{device}"
                if (place / "manifest.json").exists():
                    continue
                command = ["redolab", "run", "calibrate", "--engine", engine, "--full", "--out", str(place)]
                command += ["--client"] if loop == "client" and engine == "embedded" else []
                command += [] if device_ms is None else ["--log-device-ms", str(device_ms)]
                env = dict(os.environ)
                if engine.startswith("mysql") and MYSQL in env:
                    env["PATH"] = f"{env[MYSQL]}:{env['PATH']}"
                done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
                print(place.name, done.returncode, done.stderr[-300:] if done.returncode else "", flush=True)


def stored(run: Run) -> dict[str, Any]:
    """A calibration, and what it is of."""
    engine, machine = server_measured(run), run.manifest["machine"]
    point = calibrate(run).point
    emulated = engine.get("emulated") or {}
    return {
        "engine": {"name": engine["name"], "version": engine.get("version")},
        "logs": len(logs_of(engine).columns),
        "loop": point.loop,
        "log_device_ms": emulated.get("log_device_ms") or None,
        "machine": {name: machine.get(name) for name in ("cpu_model", "cpus", "disk_queues", "kernel")},
        "redolab_version": run.manifest["redolab_version"],
        "calibration": asdict(point),
        "as_prior": priors.prior_costs(point),
    }


def learn(out: Path) -> None:
    """The priors, of all calibrations in a directory."""
    found = [stored(open_run(place.parent)) for place in sorted(out.glob("*/manifest.json"))]
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for item in found:
        name = item["engine"]["name"].lower()
        name = "postgresql" if name == "embedded" else name
        groups.setdefault((name, item["logs"], item["loop"]), []).append(item)
    learned = []
    for (engine, logs, loop), items in groups.items():
        every = [item["as_prior"] for item in items]
        costs = {name: _one_of(name, every, [item["as_prior"] for item in found]) for name in every[0]}
        learned.append(
            {"engine": engine, "logs": logs, "loop": loop, "calibrations": len(items)} | _rounded(costs)
        )
    written = {
        "format": 1,
        "one_machine": len({json.dumps(item["machine"], sort_keys=True) for item in found}) == 1,
        "spread": SPREAD,
        "made_by": "benches/priors.py",
        "priors": learned,
    }
    _write(Path(priors.__file__).parent / priors.FILE, written)
    _write(HERE / "results" / "calibrations.json", {"format": 1, "calibrations": _rounded(found)})
    for item in learned:
        print({name: value for name, value in item.items() if not isinstance(value, list)})


def _one_of(name: str, mine: list[dict[str, Any]], all_of_them: list[dict[str, Any]]) -> Any:
    """A cost of one system: of its own calibrations, or where none tells it of all that do."""
    if name in MOST:
        return max(one[name] for one in mine)
    if name not in DIFFERENCES:
        return priors.between([one[name] for one in mine])
    told = [one[name] for one in mine if one[name] > 2 * LEAST_S]
    told = told or [one[name] for one in all_of_them if one[name] > 2 * LEAST_S]
    return min(told) if name in LEAST else priors.between(told)


def _rounded(value: Any) -> Any:
    """Numbers with five digits: more say nothing."""
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _write(place: Path, content: dict[str, Any]) -> None:
    place.write_text(json.dumps(content, allow_nan=False) + "\n")


if __name__ == "__main__":
    {"measure": measure, "learn": learn}[sys.argv[1]](Path(sys.argv[2]))
