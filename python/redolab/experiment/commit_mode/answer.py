"""Every figure of a commit-mode run, from the stored run alone."""

from __future__ import annotations

from typing import Any

from redolab.analysis import as_published, common_sections
from redolab.analysis.compared import Compared, circumstances
from redolab.analysis.profile import by_sample, log_sync_share
from redolab.analysis.results import results
from redolab.analysis.servers.pairs import Group
from redolab.analysis.servers.tables import between_servers, promises
from redolab.analysis.servers.verdict import verdict_on_servers
from redolab.analysis.verdict import Regime, regime, verdict
from redolab.experiment.commit_mode.findings import findings
from redolab.records.run import Run
from redolab.stats.estimates import mean_estimate


def analyse(run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a commit-mode run, finished or not; plain JSON types only.

    A run without any sample that counts gives an object with nulls, never an error.

    Args:
        run: the stored run.
        compared: the same, compared.
    """
    emulated_ms = common_sections.log_device_ms(run.manifest)
    regimes = {group.server: _regime(group, compared, emulated_ms) for group in compared.groups}
    found = next(iter(regimes.values()))
    around = circumstances(compared, "commits", "committed")
    several = len(regimes) > 1
    answer = (
        verdict_on_servers(compared, around, regimes)
        if several
        else verdict(found, compared.null, compared.throughputs, around)
    )
    tables = (between_servers(compared), promises(run.manifest)) if several else ()
    published = findings(compared, found)
    return results(compared, answer, tables, published=published, sources=as_published.SOURCES) | {
        "regime": found.as_json()
    }


def _regime(group: Group, compared: Compared, emulated_ms: float | None) -> Regime:
    samples = compared.samples.get(group.baseline, ())
    times, _ = by_sample(samples, compared.seen)
    watched = [item.ticks > 0 for item in samples]
    sync = mean_estimate(
        log_sync_share(row) if known else None for row, known in zip(times, watched, strict=True)
    )
    busy = mean_estimate(
        (item.session_cpu_s + (item.session_run_queue_s or 0.0)) / item.session_elapsed_s
        for item in samples
        if item.session_cpu_s is not None
    )
    place = f"on {group.server}" if group.server else "here"
    return regime(sync, busy, compared.labels[group.baseline], emulated_ms, place)
