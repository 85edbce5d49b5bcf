"""Records out of a stored run's tables."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from redolab.analysis.time_based import units_of_work
from redolab.analysis.waits import SampledProcesses
from redolab.records.run import Run, once_for_a_run
from redolab.records.sample import Kill, OverheadRow, ProcessTime, Sample, WaitRow

Sightings = Mapping[int, SampledProcesses]
"""Observations of the server's processes, by the number of the sample."""


@once_for_a_run
def read_samples(run: Run) -> tuple[Sample, ...]:
    """Every sample of the run in the order measured, spoiled ones too."""
    return tuple(sorted((Sample(**row) for row in run.samples.to_pylist()), key=_number))


@once_for_a_run
def read_kills(run: Run) -> tuple[Kill, ...]:
    """Every kill of a durability run in the order made, spoiled ones too."""
    return tuple(sorted((Kill(**row) for row in run.samples.to_pylist()), key=_number))


@once_for_a_run
def read_sightings(run: Run) -> Sightings:
    """Records of the wait sampler and of the kernel's accounts for every process, by sample."""
    waits: defaultdict[int, list[WaitRow]] = defaultdict(list)
    processes: defaultdict[int, list[ProcessTime]] = defaultdict(list)
    for row in run.waits.to_pylist():
        waits[row["sample"]].append(WaitRow(**row))
    for row in run.profile.to_pylist():
        processes[row["sample"]].append(ProcessTime(**row))
    return {
        sample: SampledProcesses(tuple(waits[sample]), tuple(processes[sample]))
        for sample in sorted(waits.keys() | processes.keys())
    }


@once_for_a_run
def read_overhead(run: Run) -> tuple[OverheadRow, ...]:
    """Every on/off pair of the run; none in a run stored before they were measured."""
    return tuple(OverheadRow(**row) for row in run.overhead.to_pylist())


def read_latency(run: Run, kind: str = "commit") -> Mapping[int, Mapping[float, int]]:
    """Commits by the upper bound of their time in microseconds, by sample; empty where none was noted.

    Args:
        run: the stored run.
        kind: the kind of time: `commit`, `response` or `lag`, see `redolab.records.sample.LatencyRow`.
    """
    return _latency(run)[kind]


@once_for_a_run
def _latency(run: Run) -> Mapping[str, Mapping[int, Mapping[float, int]]]:
    """The times of every kind."""
    found: defaultdict[str, defaultdict[int, dict[float, int]]] = defaultdict(
        functools.partial(defaultdict, dict)
    )
    for row in run.latency.to_pylist():
        # A run stored before there were other times has no kinds.
        found[row.get("kind") or "commit"][row["sample"]][row["upper_us"]] = row["commits"]
    return found


def counting(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """The samples that count: not spoiled, with time and work in them."""
    return tuple(
        sample
        for sample in samples
        if sample.spoiled is None and units_of_work(sample) > 0 and sample.elapsed_s > 0
    )


def setting_names(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The settings of the run, in the order of its design."""
    return tuple(setting["name"] for setting in manifest["settings"])


def _number(record: Sample | Kill) -> int:
    return record.sample
