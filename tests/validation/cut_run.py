"""Cut a run of `benches/forecast_grid.py` to what `test_group_commit_measured` needs of it.

python -m tests.validation.cut_run GRID
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from redolab import open_run
from redolab.analysis.reading import read_samples
from redolab.records.sample import LatencyRow
from redolab.records.writing.writer import RunWriter

MEASURED = Path(__file__).parent / "data" / "group_commit_measured"
SYSTEM = {"loop": "server", "log_device_ms": "1"}
ROWS = ("1", "32")
LEFT_OUT = ("hashes", "status", "order", "mapping", "parameter_changes", "format", "command")


def cut(grid: Path, out: Path) -> None:
    """Store what was measured in one system of single rows, batches of 32 and pauses, as a run at `out`."""
    run = open_run(grid)
    kept = [
        item
        for item in run.manifest["settings"]
        if SYSTEM.items() <= item["levels"].items() and item["levels"]["rows_per_commit"] in ROWS
    ]
    names = [item["name"] for item in kept]
    design = {**run.manifest["design"], "settings": names, "baseline": names[0]}
    manifest = {key: value for key, value in run.manifest.items() if key not in LEFT_OUT}
    latency: defaultdict[int, list[LatencyRow]] = defaultdict(list)
    for row in run.latency.to_pylist():
        latency[row["sample"]].append(LatencyRow(**row))
    writer = RunWriter(out, {**manifest, "settings": kept, "design": design})
    for sample in read_samples(run):
        if sample.setting in names:
            writer.append(sample, latency=latency[sample.sample])
    writer.finish("finished")


if __name__ == "__main__":
    cut(Path(sys.argv[1]), MEASURED)
