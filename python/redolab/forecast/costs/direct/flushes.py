"""Times of a lone session's flushes: of each log, on the device and on a CPU."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redolab.analysis.commit_times import Histogram, means_of_parts_us
from redolab.forecast.costs.costs import LEAST_S, after_idle
from redolab.forecast.costs.direct.settings import Chosen, SampledSetting
from redolab.forecast.costs.logs import Logs
from redolab.model.distribution import quantiles

QUANTILES = 200


@dataclass(frozen=True)
class LoneFlushes:
    """The flushes of a lone session, of all logs that a commit waits for."""

    elapsed_s: float
    """Time in them per commit, by the server's clock or by how much longer a commit takes that waits."""
    cpu_s: float
    """CPU time of one, of either log."""
    device_s: tuple[float, ...]
    """Mean time of one on its device, of each log."""
    parts: tuple[float, ...]
    """The part of the devices' time per commit that is each log's; they sum to 1."""
    late_s: float
    """How much of the time of one passes once the device is done, until its process is there; 0 where that is
    not known."""


def flushes_of(chosen: Chosen, logs: Logs) -> LoneFlushes:
    """Times of the lone session's flushes, together and of each log.

    Args:
        chosen: settings of a run.
        logs: of its server.
    """
    lone, warm = chosen.lone, chosen.lone_nowait
    if lone.untimed and warm is not None:
        elapsed_s = max(lone.elapsed_s - warm.elapsed_s, LEAST_S)
        cpu_s = max(lone.cpu_s - warm.cpu_s, LEAST_S) / lone.flushes
    else:
        elapsed_s = lone.flushing_s
        cpu_s = max(lone.cpu_s - max(lone.elapsed_s - elapsed_s, LEAST_S), LEAST_S) / lone.flushes
    device_s = tuple(max(each_s - cpu_s, LEAST_S) for each_s in _of_each_log(lone, elapsed_s, logs))
    per_commit_s = [each_s * lone.of(log).flushes for each_s, log in zip(device_s, lone.logs, strict=True)]
    both_s = math.fsum(per_commit_s)
    # An emulated device is done after the time that it was asked for.
    asked_s = lone.per_commit("device_requested_s")
    late_s = max(both_s - asked_s, 0.0) / lone.flushes if asked_s else 0.0
    return LoneFlushes(elapsed_s, cpu_s, device_s, tuple(each_s / both_s for each_s in per_commit_s), late_s)


def _of_each_log(lone: SampledSetting, elapsed_s: float, logs: Logs) -> list[float]:
    """Time of a flush of each log: as timed, or its part of what is left, CPU time with it."""
    untimed = lone.untimed
    timed_s = math.fsum(lone.of(log).flushing_s for log in lone.logs if log not in untimed)
    left_s = max(elapsed_s - timed_s, LEAST_S)
    weights = dict(zip(lone.logs, logs.weights(), strict=True))
    shares = math.fsum(weights[log] * lone.of(log).flushes for log in untimed)
    return [weights[log] / shares * left_s if log in untimed else lone.of(log).flush_s for log in lone.logs]


def flush_quantiles(
    lone: SampledSetting, histograms: Mapping[int, Histogram], device_s: float, part: float = 1.0
) -> tuple[float, ...]:
    """The shape of a lone session's commit times, shifted and scaled to the mean time of the device.

    Of several flushes in a commit each has its part of the commit times' variance, as if they varied
    independently.

    Args:
        lone: the session's setting.
        histograms: of commit times, by sample.
        device_s: that mean.
        part: of the devices' time per commit that is this log's.
    """
    counts: Counter[float] = Counter()
    for sample in lone.samples:
        counts.update(histograms.get(sample.sample, {}))
    if not counts:
        return (device_s, device_s)
    times = [math.sqrt(part) * 1e-6 * time_us for time_us in means_of_parts_us(counts, QUANTILES)]
    shift_s = sum(times) / len(times) - device_s
    shifted = [max(time - shift_s, 0.3 * device_s) for time in times]
    scale = device_s / quantiles(shifted).mean_s
    return tuple(scale * time for time in shifted)


def per_byte_s(chosen: Chosen, after_idle_s: Sequence[tuple[float, float]]) -> float:
    """Time of the first log's device per byte: the log writer's flushes are large, those of lone commits not.

    The log writer's come after the device has idled. Where the server does not time them it is nothing.
    """
    first = chosen.lone.logs[0]
    lone = chosen.lone.of(first)
    writer = next(
        (item.of(first) for item in chosen.nowait if item.scenario.sessions == 1 and item.of(first).flushes),
        None,
    )
    if writer is None or writer.untimed:
        return 0.0
    longer_s = writer.usual_flush_s - lone.flush_s - after_idle(after_idle_s, writer.idle_s)
    return max(0.0, longer_s / (writer.per_commit("log_bytes") / writer.flushes))


def after_idle_s(chosen: Chosen) -> tuple[tuple[float, float], ...]:
    """How much longer a flush takes, by how long the device idled: from a lone session that pauses.

    Of two logs it is the first, before whose flush the session pauses.
    """
    first = chosen.lone.logs[0]
    lone = chosen.lone.of(first)
    paused = [item.of(first) for item in chosen.paused]
    if lone.untimed or not paused:
        return ()
    return (
        (lone.idle_s, 0.0),
        *((item.pause_s + lone.idle_s, max(0.0, item.usual_flush_s - lone.flush_s)) for item in paused),
    )
