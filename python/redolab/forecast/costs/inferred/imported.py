"""Costs from AWR and Statspack reports: their figures of commits, log writes, and sessions at work.

Sessions are those active on average (DB time by elapsed time), and the rest of their time is think
time, by Little's law. The background's CPU time is not theirs.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from redolab.analysis.observed.awr.cost import Cost, cost_of
from redolab.analysis.observed.awr.entries import read_figures, read_histogram
from redolab.analysis.observed.awr.shares import cumulative
from redolab.analysis.observed.awr.summary import Summary
from redolab.dialect.oracle import LOG_WRITE
from redolab.forecast.costs.inferred.fit import Workload
from redolab.forecast.costs.inferred.priors import prior_of, quantiles_of
from redolab.forecast.costs.inferred.uncertainty import inferred
from redolab.forecast.costs.logs import Logs
from redolab.forecast.costs.run_costs import WHOLE, Effort, NoCostsError, RunCosts
from redolab.records.run import Run
from redolab.stats.estimates import Estimate
from redolab.stats.rounded import Rounded, exactly
from redolab.units import duration

_ENOUGH_WRITES = 200
_FEWEST_COMMITS, _FEW_COMMITS = 100, 10_000
_NO_WAIT = 0.2
_SECONDS_TO_MS = 1e3
ROWS = (
    "Reports do not count the rows of a transaction. The work of a transaction counts as one row, and "
    "several rows per commit count as the work of that many transactions with one commit."
)
SHARED = (
    "Commits are assumed to share log writes in the way in which PostgreSQL's commits share flushes, where a "
    "session does the write."
)
BACKGROUND = (
    "The CPU time of background processes ({cpu} per commit) is assumed not to grow with the number of "
    "commits."
)
FEW = "The reports have only {commits} commits in all, so the costs of a commit are very uncertain."


@dataclass(frozen=True)
class _Figures:
    """Figures needed of one report, each with its rounding interval."""

    cost: Cost
    elapsed_s: Rounded
    commits: Rounded
    db_time_s: Rounded
    cpu_s: Rounded
    write_s: Rounded
    """Mean time of a log write."""
    writes: float
    """Log writes that it is the mean of."""
    sync_s: Rounded | None
    """Log file sync of all sessions."""
    cpus: int

    def drawn(self, rng: random.Random) -> _Figures:
        """The same with other figures that would have been printed alike, and as many commits as chance
        gives.
        """

        def within(item: Rounded) -> Rounded:
            return exactly(rng.uniform(item.low, item.high))

        commits = self.commits.value
        return replace(
            self,
            commits=exactly(max(1.0, rng.gauss(commits, math.sqrt(commits)))),
            elapsed_s=within(self.elapsed_s),
            db_time_s=within(self.db_time_s),
            cpu_s=within(self.cpu_s),
            write_s=within(self.write_s),
            sync_s=None if self.sync_s is None else within(self.sync_s),
        )


def calibrate_reports(run: Run, effort: Effort = WHOLE) -> RunCosts:
    """Costs with which the setting of imported reports gives their figures.

    Args:
        run: of `redolab import`; the reports of its first instance are used.
        effort: how many replicates there are, and the limits of the simulations.

    Raises:
        NoCostsError: they lack a figure that is needed; the text names it.
        SimulationTooLongError: the simulations take more.
    """
    setting = str(run.manifest["design"]["baseline"])
    costs = [
        cost_of(figures)
        for figures in read_figures(run)
        if figures.report.spoiled is None and figures.report.setting == setting
    ]
    read = [_figures(cost) for cost in costs]
    reports = [found for found in read if isinstance(found, _Figures)]
    if not reports:
        why = next((found for found in read if isinstance(found, str)), "no report counts")
        raise NoCostsError(
            run,
            f"The costs of a commit cannot be inferred, because {why}. A report of an hour of work with "
            "many commits has the figures that are needed. Or measure the database itself: `redolab run "
            "calibrate --engine URL`.",
        )
    if any(item.sync_s is not None for item in reports):
        # An hour that lists all events without log file sync had hardly any of it.
        reports = [_with_sync(item) for item in reports]
    commits = math.fsum(item.commits.value for item in reports)
    if commits < _FEWEST_COMMITS:
        raise NoCostsError(
            run,
            f"These reports have {commits:,.0f} commits in all, and at least {_FEWEST_COMMITS} are needed "
            "to infer the costs of a commit. Import reports of a time with more work.",
        )
    nearest = prior_of("oracle", 1)
    # A report shows neither clients nor statements, only transactions.
    alone = replace(nearest.prior, loop="server", client_s=((1.0, 0.0),), client_wake_s=0.0, exit_s=0.0)
    prior = replace(nearest, prior=alone)
    logs = Logs(product="Oracle Database")
    shape = _write_shape(run, {cost.figures.report.sample for cost in costs})
    seen = _seen(reports, shape)

    def drawn(rng: random.Random) -> Workload:
        return _seen([rng.choice(reports).drawn(rng) for _ in reports], shape)

    quantities = partial(_quantities, reports, seen)
    return inferred(run, seen, drawn, prior, logs, quantities, _cautions(reports), effort=effort)


def _figures(cost: Cost) -> _Figures | str:
    """The figures needed of a report, or a clause on the figure that it lacks."""
    cpus = cost.counted("cpus", "NUM_CPUS")
    needed = {
        "the statistic user commits": cost.commits,
        "DB time": cost.db_time_s,
        "DB CPU": cost.cpu_s,
        "the mean of log file parallel write": None if cost.write is None else cost.write.mean_s,
        "the waits of log file parallel write": None if cost.write is None else cost.write.waits,
        "the number of CPUs": None if cpus is None else exactly(cpus),
    }
    lacking = [name for name, found in needed.items() if found is None or found.value <= 0]
    if lacking:
        return f"{cost.figures.report.file} does not print {' or '.join(lacking)}"
    commits, db_time_s, cpu_s, write_s, writes, counted = (
        found for found in needed.values() if found is not None
    )
    return _Figures(
        cost,
        cost.elapsed_s,
        commits,
        db_time_s,
        cpu_s,
        write_s,
        writes.value,
        cost.columns["log_sync_s"],
        max(1, round(counted.value)),
    )


def _with_sync(item: _Figures) -> _Figures:
    unlisted = item.sync_s is None and item.cost.sync is None and item.cost.lists_waits
    return replace(item, sync_s=exactly(0.0)) if unlisted else item


def _seen(reports: Sequence[_Figures], shape: tuple[float, ...]) -> Workload:
    commits = math.fsum(item.commits.value for item in reports)
    elapsed_s = math.fsum(item.elapsed_s.value for item in reports)
    busy_s = math.fsum(item.db_time_s.value for item in reports) / commits
    cpu_s = min(math.fsum(item.cpu_s.value for item in reports) / commits, busy_s)
    writes = math.fsum(item.writes for item in reports)
    write_s = math.fsum(item.write_s.value * item.writes for item in reports) / writes
    synced = [item.sync_s.value for item in reports if item.sync_s is not None]
    sync_s = math.fsum(synced) / commits if len(synced) == len(reports) else None
    counted = _total("log_writes", reports)
    redo = _total("log_bytes", reports)
    return Workload(
        sessions=max(1, round(busy_s * commits / elapsed_s)),
        cpus=max(item.cpus for item in reports),
        commits_per_s=commits / elapsed_s,
        rows_per_commit=1,
        server_cpu_s=cpu_s,
        client_cpu_s=None,
        busy_s=busy_s,
        flush_s=write_s,
        flush_shape=shape,
        waiting_s=sync_s,
        commits_per_flush=commits / counted if counted else None,
        log_bytes=redo / commits if redo else None,
        commit_wait="nowait" if sync_s is not None and sync_s < _NO_WAIT * write_s else "wait",
        rows_counted=False,
    )


def _total(column: str, reports: Sequence[_Figures]) -> float | None:
    known = [found.value for item in reports if (found := item.cost.columns[column]) is not None]
    return math.fsum(known) if len(known) == len(reports) else None


def _write_shape(run: Run, counting: set[int]) -> tuple[float, ...]:
    """Times of log writes as quantiles at equal steps, in seconds; nothing where few were counted."""
    counts: defaultdict[float, float] = defaultdict(float)
    for sample, entries in read_histogram(run, LOG_WRITE).items():
        total = next((item.value for item in entries if item.measure == "total"), None)
        if sample not in counting or not total:
            continue
        before = 0.0
        for upper_s, below in (*cumulative(entries).items(), (math.inf, 1.0)):
            # Of two tables that were rounded apart the later may have less below its bound.
            if below > before:
                counts[_SECONDS_TO_MS * upper_s] += total * (below - before)
                before = below
    return quantiles_of(counts, _ENOUGH_WRITES)


def _quantities(reports: Sequence[_Figures], seen: Workload, think_s: float) -> dict[str, Estimate]:
    """Figures of the reports, with the intervals that the page shows."""
    page = Summary([item.cost for item in reports])
    used = [(item.cpu_s, item.elapsed_s.times(float(item.cpus))) for item in reports]
    response_ms = _SECONDS_TO_MS * (seen.sessions / seen.commits_per_s - think_s)
    found = {
        "throughput_per_s": page.estimate("arrival_rate_per_s"),
        "response_time_ms": Estimate(response_ms if response_ms > 0 else None, None, None),
        "cpu_utilization": page.quotient(used),
        "commits_per_flush": page.estimate("commits_per_log_write"),
    }
    return {name: value for name, value in found.items() if value.point}


def _cautions(reports: Sequence[_Figures]) -> list[str]:
    commits = math.fsum(item.commits.value for item in reports)
    background = [item.cost.background_cpu_s for item in reports]
    background_s = math.fsum(used.value for used in background if used is not None) / commits
    found = [ROWS, SHARED]
    if background_s:
        found.append(BACKGROUND.format(cpu=duration(background_s)))
    if commits < _FEW_COMMITS:
        found.append(FEW.format(commits=f"{commits:,.0f}"))
    return found
