"""What every run of samples has in common: its settings compared in blocks, and the results object.

An experiment's own analysis starts from `compare_run`, and hands its verdict, tables, figures and
findings to `results`. The same run gives the same object, to the last digit: `redolab verify`
recomputes and compares.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.analysis import as_published, envelope, time_based
from redolab.analysis.commit_times import PERCENTS, Histogram, commit_time_ms
from redolab.analysis.curves import curve
from redolab.analysis.diagnostics import diagnose
from redolab.analysis.exhibits import Figure, Finding, Table
from redolab.analysis.joint import joint
from redolab.analysis.overhead import overhead
from redolab.analysis.profile import Times, by_sample, profile, time_accounts, unaccounted_text
from redolab.analysis.reading import (
    Sightings,
    counting,
    read_latency,
    read_overhead,
    read_samples,
    read_sightings,
    setting_names,
)
from redolab.analysis.time_based import UnitOfWork, instance_account, session_account
from redolab.analysis.verdict import Circumstances, Verdict
from redolab.analysis.waits import NOTHING
from redolab.records.run import Run
from redolab.records.sample import Sample
from redolab.stats import blocks as significance
from redolab.stats.blocks import BlockValues, Comparison, Metric, NullTest
from redolab.stats.density import density
from redolab.stats.estimates import Estimate, mean_estimate
from redolab.stats.published_tests import published_tests


@dataclass(frozen=True)
class Compared:
    """A run's samples by setting, their accounts, and every setting against the baseline."""

    run: Run
    names: tuple[str, ...]
    """The settings, in the order of the design."""
    baseline: str
    margin: float
    """Ratios within 1 +- margin count as equivalent."""
    seed: int
    """Of the design: every resampling starts from it."""
    everything: tuple[Sample, ...]
    """In the order measured, spoiled ones too."""
    good: tuple[Sample, ...]
    """Those that count."""
    samples: Mapping[str, Sequence[Sample]]
    """Those that count, by setting."""
    seen: Sightings
    latency: Mapping[int, Histogram]
    """Commit times by sample, where they were noted."""
    responses: Mapping[int, Histogram]
    """Response times from the moment asked for, by sample, where work came at random moments."""
    lags: Mapping[int, Histogram]
    """The client's lag there, by sample."""
    sessions: Mapping[str, Sequence[UnitOfWork]]
    """Session accounts of `samples`."""
    instance: Mapping[str, Sequence[UnitOfWork]]
    """Instance accounts of `samples`."""
    blocks: Mapping[Metric, BlockValues]
    null: NullTest
    comparisons: tuple[Comparison, ...]
    """On every metric, with Holm over the settings of each."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What the run says of itself."""
        return self.run.manifest

    @property
    def unit(self) -> str:
        """The unit of work, singular."""
        return str(self.manifest.get("unit", "commit"))

    @property
    def throughputs(self) -> list[Comparison]:
        """The comparisons of throughput."""
        return [item for item in self.comparisons if item.metric == "throughput_per_s"]

    @property
    def blocks_done(self) -> int:
        """Blocks of which every sample was taken and counts."""
        planned: dict[int, set[tuple[str, str]]] = {}
        for trial in self.manifest.get("order", ()):
            planned.setdefault(trial["block"], set()).add((trial["setting"], trial["role"]))
        taken: dict[int, set[tuple[str, str]]] = {}
        for sample in self.good:
            taken.setdefault(sample.block, set()).add((sample.setting, sample.role))
        return sum(taken.get(block, set()) >= entries for block, entries in planned.items())

    @property
    def blocks_planned(self) -> int:
        """Blocks of the design."""
        return int(self.manifest["design"]["blocks"])


def compare_run(run: Run) -> Compared:
    """Read a run of samples and compare every setting with the baseline inside blocks.

    A run without any sample that counts gives empty samples and estimates without a point.
    """
    design, names = run.manifest["design"], setting_names(run.manifest)
    baseline, seed, margin = design["baseline"], int(design["seed"]), float(design["margin"])
    everything, seen = read_samples(run), read_sightings(run)
    good = counting(everything)
    samples = {name: [item for item in good if item.setting == name] for name in names}
    blocks = {metric: block_values(good, metric) for metric in significance.METRICS}
    return Compared(
        run=run,
        names=names,
        baseline=baseline,
        margin=margin,
        seed=seed,
        everything=everything,
        good=good,
        samples=samples,
        seen=seen,
        latency=read_latency(run),
        responses=read_latency(run, "response"),
        lags=read_latency(run, "lag"),
        sessions={name: [session_account(item) for item in samples[name]] for name in names},
        instance={
            name: [instance_account(item, seen.get(item.sample, NOTHING)) for item in samples[name]]
            for name in names
        },
        blocks=blocks,
        null=significance.null_test(blocks["throughput_per_s"], baseline, seed),
        comparisons=tuple(
            item
            for metric in significance.METRICS
            for item in significance.compare(
                blocks[metric], names, baseline, metric, margin=margin, seed=seed
            )
        ),
    )


def block_values(samples: Sequence[Sample], metric: Metric = "throughput_per_s") -> BlockValues:
    """Logarithms of a metric by block; `samples` are those that count.

    A setting that stands twice in a block under the same role keeps its later sample.
    """
    found: defaultdict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    for sample in samples:
        account = session_account(sample)
        value = account.arrival_rate if metric == "throughput_per_s" else account.response_time
        if value is not None and value > 0:
            found[sample.block][sample.setting, sample.role] = math.log(value)
    return dict(found)


def circumstances(compared: Compared, does: str = "works", did: str = "worked") -> Circumstances:
    """What a verdict must say beside the figures; `does` and `did` are its verb."""
    return Circumstances(
        baseline=compared.baseline,
        blocks_done=compared.blocks_done,
        blocks_planned=compared.blocks_planned,
        log_device_ms=envelope.log_device_ms(compared.manifest),
        tiers={setting["name"]: setting["tier"] for setting in compared.manifest["settings"]},
        margin=compared.margin,
        does=does,
        did=did,
    )


def results(
    compared: Compared,
    verdict: Verdict,
    tables: Sequence[Table] = (),
    figures: Sequence[Figure] = (),
    published: Sequence[Finding] = (),
    sources: Sequence[str] = (),
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """The results object of a run of samples, finished or not; plain JSON types only.

    What forecasts say of the run is joined to it by `redolab.experiment.answers.analyse`.

    Args:
        compared: the run.
        verdict: the experiment's answer.
        tables: the experiment's own tables.
        figures: its own figures.
        published: published findings beside those of this run.
        sources: where the experiment was published.
        warnings: what a reader must know beside what every run says of itself.
    """
    manifest, names = compared.manifest, compared.names
    sessions, instance = compared.sessions, compared.instance
    everything, seen, baseline = compared.everything, compared.seen, compared.baseline
    friedman = significance.friedman(compared.blocks["throughput_per_s"], names)
    source = manifest["sampler"]["source"]
    effect = overhead(read_overhead(compared.run), {item.sample for item in compared.good})
    heading = envelope.heading(compared.run)
    heading["engine"]["emulated"] = envelope.emulated_device(manifest, everything)
    return heading | {
        "verdict": verdict.as_json(),
        "null_test": compared.null.as_json(),
        "settings": [_setting(declared, compared) for declared in manifest["settings"]],
        "comparisons": [
            item.as_json() | ({"outcome": "withheld"} if compared.null.passed is False else {})
            for item in compared.comparisons
        ],
        "friedman": None if friedman is None else {"statistic": friedman[0], "pvalue": friedman[1]},
        "tables": [table.as_json() for table in tables],
        "figures": [figure.as_json() for figure in figures],
        "published": [finding.as_json() for finding in published],
        "as_published": {
            "unit_of_work": {
                "session": as_published.unit_of_work(sessions, baseline),
                "instance": as_published.unit_of_work(instance, baseline),
            },
            "overview": as_published.overview(compared.samples, seen),
            "tests": [test.as_json() for test in published_tests(_response_times(sessions), baseline)],
            "sources": list(sources),
        },
        "diagnostics": [item.as_json() for item in diagnose(everything, seen, baseline, source)],
        "curve": curve(sessions, _working_sessions(compared)),
        "timeline": envelope.timeline(everything),
        "method": envelope.method(manifest),
        "instrument": envelope.instrument(everything, source, effect),
        "warnings": [*_warnings(compared), *warnings],
    }


def session_times(compared: Compared) -> dict[str, tuple[Times, ...]]:
    """Seconds per row of the sessions' time account, by setting and sample that counts."""
    return {name: by_sample(items, compared.seen)[0] for name, items in compared.samples.items()}


def _setting(declared: Mapping[str, Any], compared: Compared) -> dict[str, Any]:
    name = declared["name"]
    mine, session = compared.samples[name], compared.sessions[name]
    of_sessions, of_instance = time_accounts(mine, compared.seen)
    units = [time_based.units_of_work(item) for item in mine]
    responses = [1e3 * item.response_time for item in session if item.response_time is not None]
    places, heights = density(responses)
    rows = profile(zip(of_sessions, units, strict=True))
    return {
        "name": name,
        "levels": dict(declared["levels"]),
        "tier": declared["tier"],
        "tier_text": declared.get("tier_text", ""),
        "parameters": dict(declared["parameters"]),
        "samples": len(mine),
        "spoiled": sum(item.setting == name for item in compared.everything) - len(mine),
        "throughput_per_s": mean_estimate(item.arrival_rate for item in session).as_json(),
        **_times(session),
        **{
            f"commit_time_ms_p{percent}": commit_time_ms(mine, compared.latency, percent).as_json()
            for percent in PERCENTS
        },
        **_arrivals(mine, compared),
        "run_queue_time_ms": _milliseconds(session, lambda item: item.run_queue_time).as_json(),
        "instance": _times(compared.instance[name]),
        "commits_per_flush": mean_estimate(map(time_based.commits_per_flush, mine)).as_json(),
        "flush_time_ms": mean_estimate(map(time_based.flush_time_s, mine)).scaled(1e3).as_json(),
        "wal_bytes_per_commit": mean_estimate(map(time_based.log_bytes_per_commit, mine)).as_json(),
        "failed": sum(item.failed for item in compared.everything if item.setting == name),
        "profile": [row.as_json() for row in rows],
        "unaccounted_text": unaccounted_text(rows, declared["levels"]),
        "joint": joint(mine, compared.seen),
        "instance_profile": [row.as_json() for row in profile(zip(of_instance, units, strict=True))],
        "density": {"x_ms": places, "density": heights, "values_ms": responses},
    }


def _times(accounts: Sequence[UnitOfWork]) -> dict[str, Any]:
    return {
        "service_time_ms": _milliseconds(accounts, lambda item: item.service_time).as_json(),
        "queue_time_ms": _milliseconds(accounts, lambda item: item.queue_time).as_json(),
        "response_time_ms": _milliseconds(accounts, lambda item: item.response_time).as_json(),
    }


def _arrivals(samples: Sequence[Sample], compared: Compared) -> dict[str, Any]:
    """What became of work that came at random moments; nothing where it did not."""
    mine = [sample for sample in samples if sample.response_s is not None]
    if not mine:
        return {}
    return {
        **{
            f"response_time_ms_p{percent}": commit_time_ms(mine, compared.responses, percent).as_json()
            for percent in PERCENTS
        },
        **{
            f"client_lag_ms_p{percent}": commit_time_ms(mine, compared.lags, percent).as_json()
            for percent in (50, 99)
        },
        "arrivals_waited": sum(sample.arrivals_waited or 0 for sample in mine),
        "arrivals_unserved": sum(sample.arrivals_unserved or 0 for sample in mine),
    }


def _milliseconds(accounts: Sequence[UnitOfWork], pick: Callable[[UnitOfWork], float | None]) -> Estimate:
    return mean_estimate(map(pick, accounts)).scaled(1e3)


def _response_times(accounts: Mapping[str, Sequence[UnitOfWork]]) -> dict[str, list[float]]:
    return {
        name: [item.response_time for item in items if item.response_time is not None]
        for name, items in accounts.items()
    }


def _working_sessions(compared: Compared) -> int | None:
    """The number of working sessions, where it is the same in every setting and they work all the time."""
    if any(sample.response_s is not None for sample in compared.good):
        return None
    seen = {sample.sessions for sample in compared.good}
    if not seen:
        return int(compared.manifest.get("load", {}).get("sessions", 0))
    return seen.pop() if len(seen) == 1 else None


def _warnings(compared: Compared) -> list[str]:
    manifest, everything = compared.manifest, compared.everything
    found = [str(text) for text in manifest.get("conditions", ())]
    emulated = envelope.log_device_ms(manifest)
    if emulated:
        found.append(f"The log device is emulated: every flush of the log took at least {emulated:g} ms.")
    if manifest["status"] != "finished":
        planned = len(manifest.get("order", ()))
        found.append(f"The run is {manifest['status']}: {len(everything)} of {planned} samples were taken.")
    failed = sum(sample.failed for sample in compared.good)
    if failed:
        found.append(f"{failed} units of work failed or changed no row.")
    return found
