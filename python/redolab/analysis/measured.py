"""What a run measured of each setting, in the quantities that are forecast."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from redolab.analysis.commit_times import PERCENTS, Histogram, percentile_us
from redolab.analysis.estimates import Estimate, mean_estimate
from redolab.analysis.reading import counting, read_latency, read_samples
from redolab.analysis.time_based import commits_per_flush, responding_s
from redolab.sample import Sample
from redolab.store import Run

Histograms = Mapping[int, Histogram]
"""By the number of the sample."""


def measured_settings(run: Run) -> dict[str, dict[str, Estimate]]:
    """Of every setting the quantities of `redolab.model.forecast.QUANTITIES` that were measured."""
    commits, responses = read_latency(run), read_latency(run, "response")
    by_setting: dict[str, list[Sample]] = {}
    for sample in counting(read_samples(run)):
        if sample.commits:
            by_setting.setdefault(sample.setting, []).append(sample)
    return {name: quantities(samples, commits, responses) for name, samples in by_setting.items()}


def quantities(samples: Sequence[Sample], commits: Histograms, responses: Histograms) -> dict[str, Estimate]:
    """Those of one setting, per commit whatever the run's unit of work is: means with Student's t interval.

    CPU is that of the sessions and their client over all CPUs of the machine. The device is busy for as long
    as flush calls took by the server's account, or the emulated device by its own.

    Args:
        samples: those that count, with commits in them.
        commits: commit times, where they were noted.
        responses: times from the arrival, where transactions arrived.
    """

    def mean(pick: Callable[[Sample], float | None]) -> Estimate:
        return mean_estimate(map(pick, samples))

    def percentile(histograms: Histograms, percent: float) -> Estimate:
        return mean(lambda item: _milliseconds(percentile_us(histograms.get(item.sample, {}), percent)))

    found = {
        "throughput_per_s": mean(lambda item: item.commits / item.elapsed_s),
        "response_time_ms": mean(lambda item: 1e3 * responding_s(item) / item.commits),
        "response_time_ms_p95": percentile(responses, 95),
        "commit_time_ms": mean(lambda item: _mean_ms(commits.get(item.sample, {}))),
        **{f"commit_time_ms_p{percent}": percentile(commits, percent) for percent in PERCENTS},
        "cpu_utilization": mean(_cpu_utilization),
        "device_utilization": mean(_device_utilization),
        "commits_per_flush": mean(commits_per_flush),
    }
    return {name: value for name, value in found.items() if value.point is not None}


def _mean_ms(histogram: Histogram) -> float | None:
    count = sum(histogram.values())
    return math.fsum(upper * each for upper, each in histogram.items()) / count / 1e3 if count else None


def _milliseconds(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / 1e3


def _cpu_utilization(sample: Sample) -> float | None:
    if sample.session_cpu_s is None or not sample.host_cpus:
        return None
    return (sample.session_cpu_s + (sample.client_cpu_s or 0.0)) / (sample.elapsed_s * sample.host_cpus)


def _device_utilization(sample: Sample) -> float | None:
    busy = sample.device_delivered_s if sample.device_flushes else sample.wal_flush_time_s
    return None if busy is None else busy / sample.elapsed_s
