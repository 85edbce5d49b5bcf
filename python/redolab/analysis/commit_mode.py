"""Every figure of a commit-mode run, from the stored run alone.

The same run gives the same object, to the last digit: `redolab verify` recomputes and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from redolab.analysis import as_published, envelope, significance, time_based
from redolab.analysis.curves import curve
from redolab.analysis.density import density
from redolab.analysis.drift import diagnose
from redolab.analysis.estimates import Estimate, mean_estimate
from redolab.analysis.joint import joint
from redolab.analysis.overhead import overhead
from redolab.analysis.profile import by_sample, log_sync_share, profile, unaccounted_text
from redolab.analysis.published_tests import published_tests
from redolab.analysis.reading import (
    Sightings,
    counting,
    read_overhead,
    read_samples,
    read_sightings,
    setting_names,
)
from redolab.analysis.time_based import UnitOfWork, instance_account, session_account
from redolab.analysis.verdict import Circumstances, Regime, regime, verdict
from redolab.analysis.waits import NOTHING
from redolab.sample import Sample
from redolab.store import Run

Samples = Mapping[str, Sequence[Sample]]
"""The samples that count, by setting."""


def analyse(run: Run) -> dict[str, Any]:
    """The results object of a commit-mode run, finished or not; plain JSON types only.

    A run without any sample that counts gives an object with nulls, never an error.
    """
    manifest = run.manifest
    design, names = manifest["design"], setting_names(manifest)
    baseline, seed, margin = design["baseline"], int(design["seed"]), float(design["margin"])
    everything, seen = read_samples(run), read_sightings(run)
    good = counting(everything)
    samples = {name: [item for item in good if item.setting == name] for name in names}

    blocks = {metric: significance.block_values(good, metric) for metric in significance.METRICS}
    null = significance.null_test(blocks["throughput_per_s"], baseline, seed)
    comparisons = [
        item
        for metric in significance.METRICS
        for item in significance.compare(blocks[metric], names, baseline, metric, margin=margin, seed=seed)
    ]
    found = _regime(samples.get(baseline, ()), seen, baseline, envelope.log_device_ms(manifest))
    answer = verdict(
        found,
        null,
        [item for item in comparisons if item.metric == "throughput_per_s"],
        Circumstances(
            baseline=baseline,
            blocks_done=_complete_blocks(manifest, good),
            blocks_planned=int(design["blocks"]),
            log_device_ms=envelope.log_device_ms(manifest),
            tiers={setting["name"]: setting["tier"] for setting in manifest["settings"]},
            margin=margin,
        ),
    )
    friedman = significance.friedman(blocks["throughput_per_s"], names)
    sessions = {name: [session_account(item) for item in samples[name]] for name in names}
    instance = {
        name: [instance_account(item, seen.get(item.sample, NOTHING)) for item in samples[name]]
        for name in names
    }
    source = manifest["sampler"]["source"]
    effect = overhead(read_overhead(run), {item.sample for item in good})
    heading = envelope.heading(run)
    heading["engine"]["emulated"] = envelope.emulated_device(manifest, everything)
    return heading | {
        "verdict": answer.as_json(),
        "regime": found.as_json(),
        "null_test": null.as_json(),
        "settings": [_setting(declared, samples, everything, seen) for declared in manifest["settings"]],
        "comparisons": [
            item.as_json() | ({"outcome": "withheld"} if null.passed is False else {}) for item in comparisons
        ],
        "friedman": None if friedman is None else {"statistic": friedman[0], "pvalue": friedman[1]},
        "as_published": {
            "unit_of_work": {
                "session": as_published.unit_of_work(sessions, baseline),
                "instance": as_published.unit_of_work(instance, baseline),
            },
            "overview": as_published.overview(samples, seen),
            "tests": [test.as_json() for test in published_tests(_response_times(sessions), baseline)],
            "sources": list(as_published.SOURCES),
        },
        "diagnostics": [item.as_json() for item in diagnose(everything, seen, baseline, source)],
        "curve": curve(sessions, _sessions(manifest, good)),
        "timeline": envelope.timeline(everything),
        "method": envelope.method(manifest),
        "instrument": envelope.instrument(everything, source, effect),
        "warnings": _warnings(manifest, everything, good),
    }


def _setting(
    declared: Mapping[str, Any], samples: Samples, everything: Sequence[Sample], seen: Sightings
) -> dict[str, Any]:
    name = declared["name"]
    mine = samples[name]
    session = [session_account(item) for item in mine]
    instance = [instance_account(item, seen.get(item.sample, NOTHING)) for item in mine]
    session_times, instance_times = by_sample(mine, seen)
    units = [item.commits for item in mine]
    responses = [1e3 * item.response_time for item in session if item.response_time is not None]
    places, heights = density(responses)
    rows = profile(zip(session_times, units, strict=True))
    return {
        "name": name,
        "levels": dict(declared["levels"]),
        "tier": declared["tier"],
        "tier_text": declared.get("tier_text", ""),
        "parameters": dict(declared["parameters"]),
        "samples": len(mine),
        "spoiled": sum(item.setting == name for item in everything) - len(mine),
        "throughput_per_s": mean_estimate(item.arrival_rate for item in session).as_json(),
        **_times(session),
        "run_queue_time_ms": _milliseconds(session, lambda item: item.run_queue_time).as_json(),
        "instance": _times(instance),
        "commits_per_flush": mean_estimate(map(time_based.commits_per_flush, mine)).as_json(),
        "flush_time_ms": mean_estimate(map(time_based.flush_time_s, mine)).scaled(1e3).as_json(),
        "wal_bytes_per_commit": mean_estimate(map(time_based.wal_bytes_per_commit, mine)).as_json(),
        "failed": sum(item.failed for item in everything if item.setting == name),
        "profile": [row.as_json() for row in rows],
        "unaccounted_text": unaccounted_text(rows, declared["levels"]),
        "joint": joint(mine, seen),
        "instance_profile": [row.as_json() for row in profile(zip(instance_times, units, strict=True))],
        "density": {"x_ms": places, "density": heights, "values_ms": responses},
    }


def _times(accounts: Sequence[UnitOfWork]) -> dict[str, Any]:
    return {
        "service_time_ms": _milliseconds(accounts, lambda item: item.service_time).as_json(),
        "queue_time_ms": _milliseconds(accounts, lambda item: item.queue_time).as_json(),
        "response_time_ms": _milliseconds(accounts, lambda item: item.response_time).as_json(),
    }


def _milliseconds(accounts: Sequence[UnitOfWork], pick: Callable[[UnitOfWork], float | None]) -> Estimate:
    return mean_estimate(map(pick, accounts)).scaled(1e3)


def _regime(samples: Sequence[Sample], seen: Sightings, baseline: str, emulated_ms: float | None) -> Regime:
    times, _ = by_sample(samples, seen)
    watched = [item.ticks > 0 for item in samples]
    sync = mean_estimate(
        log_sync_share(row) if known else None for row, known in zip(times, watched, strict=True)
    )
    busy = mean_estimate(
        (item.session_cpu_s + item.session_run_queue_s) / item.session_elapsed_s
        for item in samples
        if item.session_cpu_s is not None and item.session_run_queue_s is not None
    )
    return regime(sync, busy, baseline, emulated_ms)


def _complete_blocks(manifest: Mapping[str, Any], good: Sequence[Sample]) -> int:
    """Blocks of which every sample was taken and counts."""
    design = manifest["design"]
    whole = len(design["settings"]) + bool(design.get("null_pair", True))
    taken: dict[int, set[tuple[str, str]]] = {}
    for sample in good:
        taken.setdefault(sample.block, set()).add((sample.setting, sample.role))
    return sum(len(entries) >= whole for entries in taken.values())


def _response_times(accounts: Mapping[str, Sequence[UnitOfWork]]) -> dict[str, list[float]]:
    return {
        name: [item.response_time for item in items if item.response_time is not None]
        for name, items in accounts.items()
    }


def _sessions(manifest: Mapping[str, Any], good: Sequence[Sample]) -> int:
    return good[0].sessions if good else int(manifest.get("load", {}).get("sessions", 0))


def _warnings(manifest: Mapping[str, Any], everything: Sequence[Sample], good: Sequence[Sample]) -> list[str]:
    found = [str(text) for text in manifest.get("conditions", ())]
    emulated = envelope.log_device_ms(manifest)
    if emulated is not None:
        found.append(f"The log device is emulated: every flush of the log took at least {emulated:g} ms.")
    if manifest["status"] != "finished":
        planned = len(manifest.get("order", ()))
        found.append(f"The run is {manifest['status']}: {len(everything)} of {planned} samples were taken.")
    failed = sum(sample.failed for sample in good)
    if failed:
        found.append(f"{failed} units of work failed or changed no row.")
    return found
