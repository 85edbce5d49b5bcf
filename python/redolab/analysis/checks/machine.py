"""Checks of the machine during the samples: its speed, its busiest CPU, and the log writer's waiting."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from redolab import units
from redolab.analysis.checks.diagnostic import Diagnostic
from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.analysis.reading import Sightings
from redolab.analysis.waits import NOTHING
from redolab.records.sample import ProcessTime, Sample
from redolab.stats.shifts import FEWEST, level_shifts

_FASTER = 1.1
"""The smallest ratio of two speeds that is named; a CPU's clock alone varies by less."""
_SHIFTED = 0.01
_WHOLE_CPU, _IDLE = 0.9, 0.5
"""Shares of time: one process has a CPU to itself from the one on, and the others idle up to the other."""
_WAITED = 0.05
"""The share of time for which a log writer may wait for a CPU before that is a finding."""
_MOST_SAMPLES = 0.5
_NAMED = 3


def machine_checks(
    samples: Sequence[Sample], sightings: Sightings, labels: Mapping[str, str] = MappingProxyType({})
) -> tuple[Diagnostic, ...]:
    """Checks of the machine, by the columns that a run has; none for a run stored before there were any.

    Args:
        samples: those that count.
        sightings: what each process did in them.
        labels: those of the settings whose names are keys.
    """
    return (
        *_where(samples, lambda item: bool(item.cpu_loop_s), machine_speed),
        *_where(
            samples, lambda item: item.busiest_cpu is not None, lambda them: one_cpu(them, sightings, labels)
        ),
        *_where(
            samples,
            lambda item: item.log_writer_run_queue_s is not None,
            lambda them: log_writer(them, labels),
        ),
    )


def _where(
    samples: Sequence[Sample],
    noted: Callable[[Sample], bool],
    check: Callable[[Sequence[Sample]], Diagnostic],
) -> tuple[Diagnostic, ...]:
    """The check of the samples that have what it needs; nothing where none has."""
    known = [sample for sample in samples if noted(sample)]
    return (check(known),) if known else ()


def machine_speed(samples: Sequence[Sample]) -> Diagnostic:
    """Whether a fixed CPU loop went from one speed to another in the course of the run.

    Args:
        samples: those whose loop was timed.
    """
    name = "speed of the machine"
    ordered = sorted((item for item in samples if item.cpu_loop_s), key=lambda item: item.start_s)
    times = [sample.cpu_loop_s or math.nan for sample in ordered]
    if len(times) < FEWEST:
        return Diagnostic(name, "not_available", f"Not checked: {len(times)} samples are too few.")
    shifts = level_shifts(times, least_ratio=_FASTER, alpha=_SHIFTED)
    if not shifts:
        middle = statistics.median(times)
        return Diagnostic(
            name, "passed", f"A fixed CPU loop before each sample took {units.duration(middle)} all the time."
        )
    told = []
    for shift in shifts[:_NAMED]:
        first = ordered[shift.place]
        # A loop that takes less time is a faster machine.
        faster = shift.before > shift.after
        ratio = max(shift.before, shift.after) / min(shift.before, shift.after)
        told.append(
            f"The machine became {ratio:.2g} times as {'fast' if faster else 'slow'} at {_time_of(first)}, "
            f"{units.clock(first.start_s)} into the run: a fixed CPU loop took "
            f"{units.duration(shift.before)} before and {units.duration(shift.after)} after "
            f"(p = {shift.pvalue:.2g})."
        )
    if len(shifts) > _NAMED:
        told.append(f"Its speed changed {units.counted(len(shifts) - _NAMED, 'further time')}.")
    return Diagnostic(name, "warning", f"{' '.join(told)} Comparisons inside blocks allow for it.")


def _time_of(sample: Sample) -> str:
    """The time of day, as the log of a server has it."""
    return f"{datetime.fromisoformat(sample.started_at).astimezone(UTC):%H:%M} UTC"


@dataclass(frozen=True)
class _BusyCpu:
    """One CPU that was busy while the others idled, in one sample."""

    who: str
    """The process that had the CPU, with a verb: the beginning of a sentence."""
    share: float
    """How busy it was, 0 to 1."""
    others: float
    """How busy the other CPUs were."""


def one_cpu(
    samples: Sequence[Sample], sightings: Sightings, labels: Mapping[str, str] = MappingProxyType({})
) -> Diagnostic:
    """Whether under a setting one process had one CPU to itself while the others idled.

    A single session that works all the time does not count, because nothing else has work then.

    Args:
        samples: those whose busiest CPU is known.
        sightings: what each process did in them.
        labels: those of the settings.
    """
    name = "one busy CPU"
    by_setting: defaultdict[str, list[_BusyCpu | None]] = defaultdict(list)
    for sample in samples:
        by_setting[sample.setting].append(_busy_cpu(sample, sightings.get(sample.sample, NOTHING).processes))
    told = []
    for setting, each in by_setting.items():
        found = [busy for busy in each if busy is not None]
        if len(found) <= _MOST_SAMPLES * len(each):
            continue
        who = statistics.mode(busy.who for busy in found)
        mine = [busy for busy in found if busy.who == who]
        told.append(
            f"Under {labels.get(setting, setting)} {who} for "
            f"{units.percent(statistics.fmean(busy.share for busy in mine))} of the time while the others "
            f"were busy for {units.percent(statistics.fmean(busy.others for busy in mine))} "
            f"({len(mine)} of {len(each)} samples)."
        )
    if told:
        more = f" So it was under {units.counted(len(told) - _NAMED, 'further setting')}."
        text = " ".join(told[:_NAMED]) + (more if len(told) > _NAMED else "")
        return Diagnostic(
            name, "warning", f"{text} Further CPUs or sessions do not help where one is the limit."
        )
    mean = units.percent(statistics.fmean(sample.busiest_cpu or 0.0 for sample in samples))
    return Diagnostic(
        name,
        "passed",
        "No process alone kept one CPU busy while the other CPUs were idle. The busiest CPU was busy for "
        f"{mean} of the time.",
    )


def _busy_cpu(sample: Sample, processes: Sequence[ProcessTime]) -> _BusyCpu | None:
    """None where no CPU was busy alone, or where that is a single session's."""
    cpus, share = sample.host_cpus or 0, sample.busiest_cpu or 0.0
    if cpus < 2 or sample.host_busy_s is None or sample.sessions < 2:
        return None
    whole = [item for item in processes if item.cpu_ns / 1e9 >= _WHOLE_CPU * sample.elapsed_s]
    if len(whole) > 1 or (not whole and share < _WHOLE_CPU):
        return None
    if whole:
        share = whole[0].cpu_ns / 1e9 / sample.elapsed_s
        who = "one session" if whole[0].scope == "session" else f"the server's process {whole[0].kind}"
        who = f"{who} had one CPU to itself"
    else:
        who = "one CPU was busy, although no process of the server had it alone,"
        if not processes:
            who = "one CPU, it is not known by which process, was busy"
    others = max(0.0, sample.host_busy_s / sample.elapsed_s - share) / (cpus - 1)
    return None if others > _IDLE else _BusyCpu(who, share, others)


def log_writer(samples: Sequence[Sample], labels: Mapping[str, str] = MappingProxyType({})) -> Diagnostic:
    """Whether the process that writes the log had to wait for a CPU.

    Args:
        samples: those in which its run queue is known.
        labels: those of the settings.
    """
    name = "log writer"
    waited: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for sample in samples:
        queue_s, cpu_s = sample.log_writer_run_queue_s or 0.0, sample.log_writer_cpu_s or 0.0
        waited[sample.setting].append((queue_s / sample.elapsed_s, cpu_s / sample.elapsed_s))
    shares = {
        setting: tuple(statistics.fmean(values) for values in zip(*each, strict=True))
        for setting, each in waited.items()
    }
    if not any(map(any, shares.values())):
        return Diagnostic(name, "not_available", "The log writer had nothing to do: sessions wrote the log.")
    worst = sorted(shares, key=lambda setting: shares[setting][0], reverse=True)
    most = units.percent(shares[worst[0]][0])
    if shares[worst[0]][0] < _WAITED:
        return Diagnostic(name, "passed", f"The log writer waited for a CPU for at most {most} of the time.")
    told = [
        f"{units.percent(shares[setting][0])} of the time under {labels.get(setting, setting)}, where it "
        f"had one for {units.percent(shares[setting][1])}"
        for setting in worst[:_NAMED]
        if shares[setting][0] >= _WAITED
    ]
    return Diagnostic(
        name,
        "warning",
        f"The log writer waited for a CPU for {'; '.join(told)}. What waits for the log waits as well, and "
        "commits that do not wait for it can be lost for longer: leave it a CPU, or give it a higher "
        "priority.",
    )


def machine_figures(samples: Sequence[Sample]) -> tuple[Figure, ...]:
    """How fast the machine was before each sample; nothing for a run that did not note it.

    Args:
        samples: all of the run.
    """
    timed = sorted((sample for sample in samples if sample.cpu_loop_s), key=lambda sample: sample.start_s)
    if not timed:
        return ()
    times = {
        "CPU time of a fixed loop": [sample.cpu_loop_s for sample in timed],
        "flush of a small file next to the data": [sample.flush_s for sample in timed],
    }
    series = [
        Series(name, [sample.start_s for sample in timed], [None if s is None else 1e3 * s for s in values])
        for name, values in times.items()
        if any(values)
    ]
    return (
        Figure(
            "machine",
            "How fast the machine was before each sample",
            "It is measured before anything is done under the setting. A flush is that of the real device, "
            "also where the server's log has an emulated one.",
            Axis("Time from the beginning of the run", "s"),
            Axis("Time", "ms", logarithmic=True),
            series,
        ),
    )
