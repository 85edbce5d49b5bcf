"""Tables, figures and published findings of a rows-per-commit run.

Source: Craig Shallahamer, OraPub, "Altering insert commit batch size", parts 1 to 4 (May-June 2010).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from redolab.analysis.compared import Compared
from redolab.analysis.exhibits import Column, Finding, Table
from redolab.analysis.time_based import UnitOfWork, units_of_work
from redolab.experiment.rows_per_commit import saving
from redolab.experiment.rows_per_commit.sweep import (
    PUBLISHED_ROWS,
    Sweep,
    averages,
    rows_of_a_sample,
    typical,
)
from redolab.records.sample import Sample
from redolab.stats.estimates import MISSING, Estimate, mean_estimate

SOURCE = "Craig Shallahamer, OraPub, Altering insert commit batch size, part 1, 28 May 2010"
_THEIR_SAVING, _THEIR_SHARE = 0.4806, 0.9514
_NEAR = 0.05
Scope = Literal["session", "instance"]


def tables(compared: Compared, found: Sequence[Sweep]) -> tuple[Table, ...]:
    """The collected saving, and the two published tables."""
    return (
        _collected(found),
        _elapsed(compared, found),
        _unit_of_work(compared.sessions, found, "session"),
        _unit_of_work(compared.instance, found, "instance"),
    )


def findings(sweep: Sweep) -> tuple[Finding, ...]:
    """The published findings next to those of the baseline's settings."""
    fewest, most = min(sweep.names), max(sweep.names)
    same_ends = sweep.measured and (fewest, most) == (1, 32768)
    saved = sweep.saving() if same_ends else MISSING
    share, from_rows = MISSING, MISSING
    if same_ends and PUBLISHED_ROWS in sweep.names:
        share = sweep.collected(PUBLISHED_ROWS)
        from_rows = sweep.reached(0.9)
    return (
        _finding(
            "rows-per-commit-saving",
            "time saved by 32,768 rows per commit against 1",
            "48.1 %",
            saved.scaled(100),
            "%",
            _near(saved, _THEIR_SAVING),
            "What batching can save is the commit's share of the time of one row, which depends on the log "
            "device and on what the insert itself costs.",
        ),
        _finding(
            "rows-per-commit-32",
            "share of the saving of 32,768 rows per commit that 32 rows bring",
            "95.1 %",
            share.scaled(100),
            "%",
            _near(share, _THEIR_SHARE),
            "This share depends little on the machine: where a commit costs the same whatever it holds, n "
            "rows per commit bring 1 - 1/n of the saving.",
        ),
        _finding(
            "rows-per-commit-ninety",
            "rows per commit from which on 90 % of the saving is collected",
            "32 (of the powers of two measured)",
            from_rows,
            "rows",
            None if from_rows.point is None else 16 <= from_rows.point <= 64,
            "Powers of two were measured, so one step to either side counts as agreement.",
        ),
    )


def _collected(found: Sequence[Sweep]) -> Table:
    rows = []
    for sweep in found:
        by_rows = saving.means(sweep.times)
        for number, name in sweep.names.items():
            rows.append(
                {
                    "setting": name,
                    "time_per_row_ms": typical(sweep.times[number]).scaled(1e3),
                    "change_pct": _change(by_rows.get(number), by_rows.get(min(sweep.names))),
                    "collected": sweep.collected(number) if sweep.measured else MISSING,
                }
            )
    whenever = any(sweep.so_far for sweep in found)
    interval = "that holds whenever a run ends" if whenever else "for ratios (Fieller's) over the blocks"
    return Table(
        "rows-per-commit-collected",
        "Saving collected by rows per commit",
        (
            _setting_column(found),
            Column("time_per_row_ms", "Time per row", "estimate", "ms"),
            Column("change_pct", "Change", "change", "%"),
            Column("collected", "Share of the saving", "share", "%"),
        ),
        rows,
        note=(
            "Time per row is wall time over rows, the geometric mean over the blocks. The saving is the time "
            "that the most rows per commit save against the fewest; shares of the saving have an interval "
            f"{interval}."
        ),
        first=True,
    )


def _elapsed(compared: Compared, found: Sequence[Sweep]) -> Table:
    fixed = rows_of_a_sample(compared)
    rows = []
    for sweep in found:
        first = _elapsed_per_row(compared.samples[sweep.names[min(sweep.names)]])
        for name in sweep.names.values():
            elapsed = _elapsed_per_row(compared.samples[name])
            rows.append(
                {
                    "setting": name,
                    "rows": fixed,
                    "samples": len(compared.samples[name]),
                    "elapsed_s": elapsed.scaled(fixed),
                    "change_pct": _change(elapsed.point, first.point),
                }
            )
    return Table(
        "rows-per-commit-elapsed",
        "Elapsed time, as published",
        (
            _setting_column(found),
            Column("rows", "Rows", "count"),
            Column("samples", "Samples", "count"),
            Column("elapsed_s", "Elapsed", "estimate", "s"),
            Column("change_pct", "Change", "change", "%"),
        ),
        rows,
        note="Only whole commits are inserted, and samples that would be too short insert the rows several "
        f"times, so a sample may have more rows than {fixed:,}; elapsed is the mean time per row times "
        f"{fixed:,}.",
    )


def _elapsed_per_row(samples: Sequence[Sample]) -> Estimate:
    return mean_estimate(item.elapsed_s / units_of_work(item) for item in samples)


def _unit_of_work(
    accounts: Mapping[str, Sequence[UnitOfWork]], found: Sequence[Sweep], scope: Scope
) -> Table:
    rows = []
    for sweep in found:
        base = averages(accounts[sweep.names[min(sweep.names)]])
        for name in sweep.names.values():
            mine = averages(accounts[name])
            changes = {f"{key}_change_pct": _change(mine[key], base[key]) for key in mine}
            rows.append({"setting": name, **mine, **changes})
    columns = [_setting_column(found)]
    for key, title, unit in (
        ("arrival_rate_per_ms", "Arrival rate", "inserts/ms"),
        ("service_time_ms", "Service time", "ms/insert"),
        ("queue_time_ms", "Queue time", "ms/insert"),
        ("response_time_ms", "Response time", "ms/insert"),
    ):
        columns += [Column(key, title, "number", unit), Column(f"{key}_change_pct", "Change", "change", "%")]
    whose = {"session": "the working sessions", "instance": "every server process"}[scope]
    return Table(
        f"rows-per-commit-unit-of-work-{scope}",
        f"Time per insert, {scope} scope, as published",
        columns,
        rows,
        note=(
            f"The figures are means over the samples, of the time of {whose}. Queue time is all time that is "
            "neither CPU nor idle."
        ),
    )


def _setting_column(found: Sequence[Sweep]) -> Column:
    return Column("setting", "Rows per commit" if len(found) == 1 else "Setting", "text")


def _change(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else 100 * (value / base - 1)


def _near(ours: Estimate, theirs: float) -> bool | None:
    """Inside our interval, or within 5 points of our figure."""
    if ours.point is None:
        return None
    inside = ours.low is not None and ours.high is not None and ours.low <= theirs <= ours.high
    return inside or abs(ours.point - theirs) <= _NEAR


def _finding(
    key: str, finding: str, theirs: str, ours: Estimate, unit: str, agrees: bool | None, why: str
) -> Finding:
    unless = (
        "This run did not show a saving from 1 to 32,768 rows per commit, with 32 rows per commit measured "
        "too."
    )
    return Finding.judged(key, finding, theirs, ours, unit, agrees, why, unless, SOURCE)
