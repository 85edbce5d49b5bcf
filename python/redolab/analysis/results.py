"""The results object of a run of samples, from the run compared and a question's own verdict and exhibits.

The same run gives the same object, to the last digit: `redolab verify` recomputes and compares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from redolab.analysis import as_published, common_sections, time_based
from redolab.analysis.checks.diagnostics import diagnose
from redolab.analysis.checks.machine import machine_figures
from redolab.analysis.commit_times import PERCENTS, commit_time_ms
from redolab.analysis.compared import Compared
from redolab.analysis.curves import curve
from redolab.analysis.equal_workload import equal_workload
from redolab.analysis.evidence import evidence_figures
from redolab.analysis.exhibits import Figure, Finding, Table
from redolab.analysis.joint import joint
from redolab.analysis.levels import Level
from redolab.analysis.overhead import overhead
from redolab.analysis.profile import profile, time_accounts, unaccounted_text
from redolab.analysis.reading import (
    read_overhead,
)
from redolab.analysis.servers.pairs import Group
from redolab.analysis.statements.to_set import statements
from redolab.analysis.time_based import UnitOfWork
from redolab.analysis.verdict import Verdict
from redolab.dialect.known import dialect_of
from redolab.records.sample import Sample
from redolab.records.servers import server_of
from redolab.stats import blocks as significance
from redolab.stats.density import density
from redolab.stats.estimates import Estimate, mean_estimate
from redolab.stats.published_tests import published_tests

_Value = TypeVar("_Value")
_Told = TypeVar("_Told")


def results(
    compared: Compared,
    verdict: Verdict,
    tables: Sequence[Table] = (),
    figures: Sequence[Figure] = (),
    published: Sequence[Finding] = (),
    sources: Sequence[str] = (),
    warnings: Sequence[str] = (),
    levels: Sequence[Level] = (),
) -> dict[str, Any]:
    """The results object of a run of samples, finished or not; plain JSON types only.

    `redolab.experiment.answers.analyse` adds the results of forecasts.

    Args:
        compared: the run.
        verdict: the experiment's answer.
        tables: the experiment's own tables.
        figures: its own figures.
        published: published findings, next to those of this run.
        sources: where the experiment was published.
        warnings: those of this experiment, in addition to the warnings of every run.
        levels: the recommended numbers, of a run that ends as soon as they are settled.
    """
    manifest, names = compared.manifest, compared.names
    sessions, instance = compared.sessions, compared.instance
    everything, seen, baseline = compared.everything, compared.seen, compared.baseline
    friedman = significance.friedman(compared.blocks["throughput_per_s"], names)
    source, groups = manifest["sampler"]["source"], compared.groups
    effect = overhead(read_overhead(compared.run), {item.sample for item in compared.good})
    checks = diagnose(everything, seen, baseline, source, compared.labels, short=compared.until_settled)
    # Where numbers are recommended, evidence that a setting differs from the baseline ends nothing.
    evidence = () if levels else evidence_figures(compared)
    heading = common_sections.heading(compared.run)
    heading["engine"]["emulated"] = common_sections.emulated_device(manifest, everything)
    return heading | {
        "verdict": verdict.as_json(),
        "statements": statements(compared, verdict),
        "null_test": compared.null.as_json(),
        "settings": [_setting(declared, compared) for declared in manifest["settings"]],
        **({"levels": [level.as_json() for level in levels]} if levels else {}),
        "comparisons": [item.as_json() for item in compared.comparisons],
        "friedman": None if friedman is None else {"statistic": friedman[0], "pvalue": friedman[1]},
        "tables": [table.as_json() for table in tables],
        "figures": [figure.as_json() for figure in (*figures, *evidence, *machine_figures(everything))],
        "published": [finding.as_json() for finding in published],
        "as_published": {
            "unit_of_work": {
                "session": _each(groups, sessions, as_published.unit_of_work),
                "instance": _each(groups, instance, as_published.unit_of_work),
            },
            "overview": as_published.overview(compared.samples, seen, _write_flushes(manifest)),
            "tests": [test.as_json() for test in _each(groups, _response_times(sessions), published_tests)],
            "sources": list(sources),
        },
        "diagnostics": [item.as_json() for item in checks],
        "curve": _curve(sessions, compared),
        "timeline": common_sections.timeline(everything),
        "method": common_sections.method(manifest),
        "instrument": common_sections.instrument(everything, source, effect),
        "warnings": [*_warnings(compared), *warnings],
        **({"baselines": {group.server: group.baseline for group in groups}} if len(groups) > 1 else {}),
    }


def _write_flushes(manifest: Mapping[str, Any]) -> set[str]:
    """The settings on servers where one call writes the log and flushes it."""
    return {
        item["name"]
        for item in manifest["settings"]
        if dialect_of(str(server_of(manifest["engine"], item["levels"]).get("name", ""))).write_flushes
    }


def _each(
    groups: Sequence[Group],
    values: Mapping[str, _Value],
    tell: Callable[[Mapping[str, _Value], str], Iterable[_Told]],
) -> list[_Told]:
    """Rows on the settings against their baseline, server after server."""
    return [
        told
        for group in groups
        for told in tell({name: values[name] for name in group.names}, group.baseline)
    ]


def _curve(sessions: Mapping[str, Sequence[UnitOfWork]], compared: Compared) -> dict[str, Any]:
    found = curve(sessions, _working_sessions(compared))
    # Where work came at random its rate was the setting's own; servers promise different things at one rate.
    arrivals = any("arrival_rate_per_s" in item["levels"] for item in compared.manifest["settings"])
    one_rate = not arrivals and len(compared.groups) == 1
    same = equal_workload(found["points"], found["published"], compared.baseline) if one_rate else None
    return {**found, "equal_workload": same}


def _setting(declared: Mapping[str, Any], compared: Compared) -> dict[str, Any]:
    name = declared["name"]
    mine, session = compared.samples[name], compared.sessions[name]
    of_sessions, of_instance = time_accounts(mine, compared.seen)
    units = [time_based.units_of_work(item) for item in mine]
    responses = [1e3 * item.response_time for item in session if item.response_time is not None]
    places, heights = density(responses)
    rows = profile(zip(of_sessions, units, strict=True))
    risk = compared.at_risk.get(name)
    engine = str(server_of(compared.manifest["engine"], declared["levels"])["name"])
    return {
        "name": name,
        "levels": dict(declared["levels"]),
        "tier": declared["tier"],
        "tier_text": declared.get("tier_text", ""),
        "parameters": dict(declared["parameters"]),
        "at_risk": None if risk is None else risk.as_json(),
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
        "unaccounted_text": unaccounted_text(rows, declared["levels"], engine),
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
    """Fate of work that came at random moments; nothing where it did not."""
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
    devices_ms = common_sections.log_devices_ms(manifest)
    if any(devices_ms):
        found.append(
            f"The log device is emulated: every flush of the log took at least {devices_ms[0]:g} ms"
            + "".join(f", every flush of the binary log {second:g} ms" for second in devices_ms[1:])
            + "."
        )
    if manifest["status"] != "finished":
        planned = len(manifest.get("order", ()))
        found.append(f"The run is {manifest['status']}: {len(everything)} of {planned} samples were taken.")
    failed = sum(sample.failed for sample in compared.good)
    if failed:
        found.append(f"{failed} units of work failed or changed no row.")
    return found
