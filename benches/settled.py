"""How soon a run decides: many starts of a run that ends when everything is decided.

    python -m benches.settled great [STARTS]
    python -m benches.settled small [STARTS]
    python -m benches.settled demo [STARTS]

`great`: wait against nowait on an emulated log of 5 ms. `small`: a commit that takes about 10 % longer, on an
emulated log of 1 ms (`benches/small_effect.toml`). `demo`: what `make demo` runs. For each start: the outcome
of each comparison, seconds of load and of the clock until the run ended, seconds until
the first comparison was decided, and whether the verdict was
withheld. Raw rows go to benches/results/settled.csv.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from redolab import open_run
from redolab.analysis.reading import read_samples
from redolab.commands.run import RunOptions, execute
from redolab.experiment.answers import analyse
from redolab.measure.settling import Settling
from redolab.records.sample import Sample

_HERE = Path(__file__).parent
_RESULTS = _HERE / "results" / "settled.csv"
_ASKED: dict[str, dict[str, Any]] = {
    "great": {"experiment": "commit-mode", "settings": "wait,nowait", "log_device_ms": "5", "quick": True},
    "small": {"list_file": _HERE / "small_effect.toml", "log_device_ms": "1", "quick": True},
    "demo": {"experiment": "commit-mode", "quick": True},
}


@dataclass(frozen=True)
class Start:
    """One comparison of one start."""

    what: str
    start: int
    setting: str
    outcome: str
    blocks: int
    ratio: float | None
    low: float | None
    high: float | None
    load_s: float
    """Seconds of load until the run ended, warm-ups included."""
    run_s: float
    """Seconds of the clock from the first sample to the end of the last."""
    first_s: float | None
    """Seconds of the clock from the first sample until the first comparison was decided; None: none was."""
    withheld: bool
    """Whether the verdict was."""


def measure(what: str, start: int, out: Path) -> list[Start]:
    """Run once, and read what it decided."""
    outcome = execute(RunOptions(**_ASKED[what], seed=1_000 + start, out=out))
    if outcome.error is not None:
        raise outcome.error
    run = outcome.run
    results, samples = analyse(run), read_samples(open_run(out))
    warmup_s = run.manifest["design"]["warmup_s"]
    load_s = sum(sample.elapsed_s + warmup_s for sample in samples)
    run_s = max(sample.start_s + sample.elapsed_s for sample in samples)
    first_s = _first_decided_s(run.manifest, samples)
    withheld = results["verdict"]["outcome"] == "withheld"
    return [
        Start(
            what, start, item["a"], item["outcome"], item["blocks"],
            item["ratio"]["point"], item["ratio"]["low"], item["ratio"]["high"], load_s, run_s, first_s,
            withheld,
        )
        for item in results["comparisons"]
        if item["metric"] == "throughput_per_s"
    ]  # fmt: skip


def _first_decided_s(manifest: Mapping[str, Any], samples: Sequence[Sample]) -> float | None:
    """The run's own reading after every block, once more."""
    settling = Settling(manifest)
    for sample, following in zip(samples, [*samples[1:], None], strict=True):
        settling.take(sample)
        if (following is None or following.block != sample.block) and settling.news():
            return sample.start_s + sample.elapsed_s
    return None


def main() -> None:
    """Measure and store."""
    what, starts = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
    new = not _RESULTS.exists()
    with _RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Start)])
        if new:
            writer.writeheader()
        for start in range(1, starts + 1):
            with tempfile.TemporaryDirectory() as place:
                began = time.monotonic()
                for row in measure(what, start, Path(place) / "run"):
                    writer.writerow(asdict(row))
                    print(row, f"{time.monotonic() - began:.0f} s in all", flush=True)
            file.flush()


if __name__ == "__main__":
    main()
