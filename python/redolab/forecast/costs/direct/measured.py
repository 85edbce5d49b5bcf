"""Measured figures of a run's settings, in the quantities that are forecast."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from redolab.analysis.commit_times import PERCENTS, Histogram, commit_time_ms
from redolab.analysis.reading import counting, read_latency, read_samples
from redolab.analysis.time_based import responding_s
from redolab.records.run import Run
from redolab.records.sample import Sample
from redolab.stats.estimates import Estimate, mean_estimate, quotient_estimate, ratio_estimate


def measured_settings(run: Run) -> dict[str, dict[str, Estimate]]:
    """Measured figures of every setting, by the names in `forecast.models.quantities.QUANTITIES`."""
    histograms, responses = read_latency(run), read_latency(run, "response")
    by_setting: dict[str, list[Sample]] = {}
    for sample in counting(read_samples(run)):
        if sample.commits:
            by_setting.setdefault(sample.setting, []).append(sample)
    return {name: quantities(samples, histograms, responses) for name, samples in by_setting.items()}


def measured_ratios(run: Run, today: str) -> dict[str, dict[str, Estimate]]:
    """How many times today's every setting did, by the names in `forecast.models.quantities.RATIOS`.

    The ratio is the geometric mean over the blocks, with Student's t interval of its logarithm.

    Args:
        run: any run of samples.
        today: the setting that all are compared with.
    """
    return {
        setting: {name: ratio_estimate(logs) for name, logs in of_setting.items()}
        for setting, of_setting in log_ratios_of_blocks(run, today).items()
    }


def log_ratios_of_blocks(run: Run, today: str) -> dict[str, dict[str, list[float]]]:
    """The logarithms of these ratios, by setting and name, one for each block in their order; no unit.

    Each sample is compared with today's of the same block, so that what drifts from block to block cancels.

    Args:
        run: any run of samples.
        today: the setting that all are compared with.
    """
    histograms = read_latency(run)
    by_block: dict[int, dict[str, dict[str, float]]] = {}
    for sample in counting(read_samples(run)):
        if sample.commits:
            times_ms, commits = _times_ms(histograms.get(sample.sample, {}))
            by_block.setdefault(sample.block, {})[sample.setting] = {
                "throughput_ratio": sample.commits / sample.elapsed_s,
                "response_time_ratio": responding_s(sample) / sample.commits,
                **({"commit_time_ratio": times_ms / commits} if times_ms else {}),
            }
    logs: dict[str, dict[str, list[float]]] = {}
    for _, values in sorted(by_block.items()):
        for setting, figures in values.items():
            for name in figures.keys() & values.get(today, {}).keys():
                of_setting = logs.setdefault(setting, {}).setdefault(name, [])
                of_setting.append(math.log(figures[name] / values[today][name]))
    return logs


def quantities(
    samples: Sequence[Sample], histograms: Mapping[int, Histogram], responses: Mapping[int, Histogram]
) -> dict[str, Estimate]:
    """Measured figures of one setting, from its samples that count.

    Per commit, whatever the run's unit of work is. Each has Student's t interval. Throughput and use are
    means over the samples, times and commits per flush means over all commits and all flushes, percentiles
    geometric means over the samples. CPU is that of server and client over all CPUs of the machine. The
    device is busy for as long as flush calls took by the server's account, or the emulated device by its own;
    with two logs that is not known. Commits per flush are those of the first log.

    Args:
        samples: of the setting.
        histograms: of commit times, by sample.
        responses: of response times, by sample, where they were noted.
    """

    def mean(pick: Callable[[Sample], float | None]) -> Estimate:
        return mean_estimate(map(pick, samples))

    estimates = {
        "throughput_per_s": mean(lambda item: item.commits / item.elapsed_s),
        "response_time_ms": quotient_estimate((1e3 * responding_s(item), item.commits) for item in samples),
        "response_time_ms_p95": commit_time_ms(samples, responses, 95),
        "commit_time_ms": quotient_estimate(_times_ms(histograms.get(item.sample, {})) for item in samples),
        **{
            f"commit_time_ms_p{percent}": commit_time_ms(samples, histograms, percent) for percent in PERCENTS
        },
        "cpu_utilization": mean(_cpu_utilization),
        "device_utilization": mean(_device_utilization),
        "commits_per_flush": quotient_estimate(
            (item.commits, item.log_flushes) for item in samples if item.log_flushes is not None
        ),
    }
    return {name: value for name, value in estimates.items() if value.point is not None}


def _times_ms(histogram: Histogram) -> tuple[float, int]:
    """The commits' times together, and how many commits."""
    return math.fsum(upper * count for upper, count in histogram.items()) / 1e3, sum(histogram.values())


def _cpu_utilization(sample: Sample) -> float | None:
    if sample.instance_cpu_s is None or not sample.host_cpus:
        return None
    return _sum((sample.instance_cpu_s, sample.client_cpu_s)) / (sample.elapsed_s * sample.host_cpus)


def _device_utilization(sample: Sample) -> float | None:
    if sample.binlog_flushes:
        # Flushes of two logs overlap, or wait for each other: their times do not show a device's.
        return None
    busy = sample.device_delivered_s if sample.device_flushes else sample.log_flush_time_s
    return None if busy is None else busy / sample.elapsed_s


def _sum(values: Iterable[float | None]) -> float:
    return math.fsum(value for value in values if value is not None)
