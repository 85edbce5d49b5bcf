"""The figures of a cpu-capacity run, as data."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.cpu_capacity.capacity import Room, Spun, by_processes, mean_of
from redolab.stats.estimates import Estimate


def elapsed_figure(spun: Sequence[Spun], room: Room) -> Figure:
    """Elapsed time over the number of processes, with the times that cores and threads would give."""
    groups = by_processes(spun)
    elapsed = {processes: mean_of(items, lambda item: item.elapsed_s) for processes, items in groups.items()}
    one = elapsed[1].point if 1 in elapsed else None
    series = [_points("measured", elapsed)]
    for name, servers in _servers(room):
        if one is None:
            break
        numbers = list(range(1, max(elapsed) + 1))
        shared = [one * max(1.0, number / servers) for number in numbers]
        series.append(Series(f"{name}, time shared", numbers, shared, style="line"))
        if servers == int(servers):
            turns = [one * math.ceil(number / servers) for number in numbers]
            series.append(Series(f"{name}, in turns (as published)", numbers, turns, style="dashed"))
    return Figure(
        key="cpu-elapsed",
        title="Elapsed time over the number of processes",
        caption=(
            "Where the points leave the flat line, the machine is full. An operating system shares the CPUs "
            "among all processes, so elapsed time grows with every further process; the published ideal lets "
            "each process run to its end before the next."
        ),
        x=Axis("processes"),
        y=Axis("elapsed", "s"),
        series=series,
    )


def throughput_figure(spun: Sequence[Spun], room: Room) -> Figure:
    """Rate of work over the number of processes, in processes' worth."""
    ones = [item.per_cpu_s for item in spun if item.processes == 1]
    worth = statistics.fmean(ones) if ones else None
    speed = {
        processes: mean_of(items, lambda item: item.spins / item.elapsed_s / worth)
        for processes, items in by_processes(spun).items()
        if worth
    }
    series = [_points("measured", speed)]
    numbers = list(range(1, max(speed, default=1) + 1))
    for name, servers in _servers(room):
        ideal = [min(float(number), servers) for number in numbers]
        series.append(Series(name, numbers, ideal, style="line"))
    return Figure(
        key="cpu-throughput",
        title="Work done per second over the number of processes",
        caption="The unit is a process's worth: the work that one process alone does in a second on a CPU.",
        x=Axis("processes"),
        y=Axis("processes' worth of work"),
        series=series,
    )


def _servers(room: Room) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = [(f"{room.cores} cores", room.cores)]
    if room.threads != room.cores:
        found.append((f"{room.threads} threads", room.threads))
    if room.quota is not None:
        found.append((f"quota of {room.quota:g} CPUs", room.limit))
    return found


def _points(name: str, values: Mapping[int, Estimate]) -> Series:
    return Series(
        name,
        list(values),
        [value.point for value in values.values()],
        [value.low for value in values.values()],
        [value.high for value in values.values()],
    )
