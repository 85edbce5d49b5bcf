"""The parts of a results object that every experiment has: what was run, where and how."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redolab.analysis.overhead import Overhead
from redolab.analysis.time_based import units_of_work
from redolab.records.run import Run
from redolab.records.sample import Sample
from redolab.stats.estimates import mean_estimate

_DEVICES = ("log_device_ms", "binlog_device_ms")

FORMAT = 1
WORDING = 13
"""Version of the sentences in a results object: a new number means new words for the same figures."""


def heading(run: Run) -> dict[str, Any]:
    """The first keys of a results object: which run this is."""
    manifest = run.manifest
    design = manifest["design"]
    return {
        "format": FORMAT,
        "wording": WORDING,
        "experiment": manifest["experiment"],
        "run": str(run.path),
        "question": manifest.get("question", ""),
        "unit": manifest.get("unit", "commit"),
        "status": manifest["status"],
        "engine": dict(manifest["engine"]),
        "load": {
            **manifest.get("load", {}),
            "seconds": design.get("seconds"),
            "warmup_s": design.get("warmup_s"),
        },
    }


def emulated_device(manifest: Mapping[str, Any], samples: Sequence[Sample]) -> dict[str, Any]:
    """Delays asked of the emulated log device and delays that it gave, ms per flush; empty without one.

    Two devices have one mean of the delays given, over both.
    """
    requested = requested_devices(manifest)
    if not requested:
        return {}
    flushed = [sample for sample in samples if sample.device_flushes]
    delivered = mean_estimate(
        sample.device_delivered_s / sample.device_flushes * 1e3
        for sample in flushed
        if sample.device_delivered_s is not None and sample.device_flushes
    )
    requested["log_device_ms"] |= {
        "delivered": delivered.as_json(),
        "flushes": sum(sample.device_flushes or 0 for sample in flushed),
    }
    return requested


def requested_devices(manifest: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Delays asked of the emulated log devices, ms, as results have them; empty without one."""
    return {
        name: {"requested": delay_ms}
        for name, delay_ms in zip(_DEVICES, log_devices_ms(manifest), strict=False)
    }


def log_device_ms(manifest: Mapping[str, Any]) -> float | None:
    """The delay asked of the emulated log device, milliseconds; None for a real one.

    The delay of the redo log where there are two logs.
    """
    return next(iter(log_devices_ms(manifest)), None)


def log_devices_ms(manifest: Mapping[str, Any]) -> tuple[float, ...]:
    """The delays asked of the emulated log devices, milliseconds: one for all logs, or one for each."""
    emulated = manifest["engine"].get("emulated") or {}
    return tuple(float(emulated[name]) for name in _DEVICES if emulated.get(name) is not None)


def method(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """How it was measured, as the manifest has it; the order as setting names per block."""
    blocks: defaultdict[int, list[str]] = defaultdict(list)
    for trial in manifest.get("order", ()):
        blocks[trial["block"]].append(trial["setting"])
    return {
        "design": manifest["design"],
        "started_at": manifest.get("started_at"),
        "finished_at": manifest.get("finished_at"),
        "machine": manifest.get("machine", {}),
        "parameter_changes": list(manifest.get("parameter_changes", ())),
        "not_measured": list(manifest.get("not_measured", ())),
        "redolab_version": manifest.get("redolab_version"),
        "mapping": list(manifest.get("mapping", ())),
        "order": [blocks[block] for block in sorted(blocks)],
        "command": manifest.get("command"),
        **({"continued": list(manifest["continued"])} if manifest.get("continued") else {}),
    }


def instrument(samples: Sequence[Sample], source: str, overhead: Overhead) -> dict[str, Any]:
    """How well the wait sampler kept time, what CPU it took, and what it did to the load.

    Args:
        samples: all of the run.
        source: where the wait events were read.
        overhead: throughput with it on over off.
    """
    # Runs stored before the sampler had turns sampled all the time.
    sampled = sum(sample.elapsed_s if sample.sampled_s is None else sample.sampled_s for sample in samples)
    ticks = sum(sample.ticks for sample in samples)
    late = sum(sample.ticks_late for sample in samples)
    lost = sum(sample.ticks_lost for sample in samples)
    cpu = sum(sample.sampler_cpu_s for sample in samples)
    looks = _known_sum(sample.looks for sample in samples)
    torn = _known_sum(sample.looks_torn for sample in samples)
    rate = ticks / sampled if sampled > 0 else None
    share = 100 * cpu / sampled if sampled > 0 else None
    if not ticks or rate is None or share is None:
        text = "No wait events were sampled."
    else:
        text = (
            f"Wait events were read from {source} {rate:.0f} times a second at random moments ({late} of "
            f"{ticks} late, {lost} lost), which took {share:.2f} % of one CPU. {overhead.text}"
        )
    return {
        "source": source,
        "rate_per_s": rate,
        "sampled_s": sampled,
        "ticks": ticks,
        "late": late,
        "lost": lost,
        "looks": looks,
        "torn": torn,
        "torn_share": torn / looks if torn is not None and looks else None,
        "cpu_s": cpu,
        "cpu_pct_of_core": share,
        "cpu_per_look_us": 1e6 * cpu / looks if looks else None,
        "realtime": _always({sample.sampler_realtime for sample in samples}),
        "overhead": overhead.ratio.as_json() if overhead.ratio.point is not None else None,
        "pairs": overhead.pairs,
        "text": text,
    }


def timeline(samples: Sequence[Sample]) -> list[dict[str, Any]]:
    """Every sample in the order measured, spoiled ones too."""
    return [
        {
            "sample": sample.sample,
            "block": sample.block,
            "position": sample.position,
            "setting": sample.setting,
            "role": sample.role,
            "start_s": sample.start_s,
            "elapsed_s": sample.elapsed_s,
            "throughput_per_s": units_of_work(sample) / sample.elapsed_s if sample.elapsed_s > 0 else None,
            "cpu_use": _per(sample.host_busy_s, sample.host_cpus, sample.elapsed_s),
            "run_queue": _per(sample.instance_run_queue_s, 1, sample.elapsed_s),
            "spoiled": sample.spoiled,
            "checkpoints": sample.checkpoints,
            "vacuums": sample.vacuums,
        }
        for sample in samples
    ]


def _per(seconds: float | None, each: int | None, elapsed_s: float) -> float | None:
    """Seconds for each of so many in every second; None where one of them is not known."""
    return seconds / each / elapsed_s if seconds is not None and each and elapsed_s > 0 else None


def _known_sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _always(seen: set[bool | None]) -> bool | None:
    """Whether it was so in every sample that knows; None when none does."""
    known = seen - {None}
    return all(known) if known else None
