"""Tables, figures and published findings of a rows-per-commit run.

Source: Craig Shallahamer, OraPub, "Altering insert commit batch size", parts 1 to 4 (May-June 2010).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from redolab.analysis.compared import Compared
from redolab.analysis.exhibits import Agreement, Axis, Column, Figure, Finding, Series, Table
from redolab.analysis.time_based import UnitOfWork, units_of_work
from redolab.experiment.rows_per_commit import saving as figures_of
from redolab.experiment.rows_per_commit.saving import Times
from redolab.model.queueing import response_time_cpu, solve_servers
from redolab.records.sample import Sample
from redolab.stats.estimates import MISSING, Estimate, mean_estimate, ratio_estimate

SOURCE = "Craig Shallahamer, OraPub, Altering insert commit batch size, part 1, 28 May 2010"
PUBLISHED_ROWS = 32
"""Rows per commit that the published series names as enough."""
_THEIR_SAVING, _THEIR_SHARE = 0.4806, 0.9514
_NEAR = 0.05
_STEPS, _FULLEST = 60, 0.98

Scope = Literal["session", "instance"]


@dataclass(frozen=True)
class Sweep:
    """The settings that differ in their rows per commit alone."""

    label: str
    """Their other levels in words, such as `sessions 4, loop client`; empty where there are none."""
    names: Mapping[int, str]
    """Rows per commit to the setting's name, in rising order."""
    times: Times
    """Wall time over rows, seconds: with several sessions they insert at the same time."""

    @property
    def measured(self) -> bool:
        """Whether its fewest and its most rows per commit have a block in common."""
        first, last = (self.times[rows] for rows in (min(self.names), max(self.names)))
        return len(self.names) > 1 and not set(first).isdisjoint(last)


def sweeps(compared: Compared) -> tuple[Sweep, ...]:
    """The settings of a run by what they have in common; the one of the baseline first."""
    named: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for setting in compared.manifest["settings"]:
        levels = dict(setting["levels"])
        rows = int(levels.pop("rows_per_commit"))
        named[", ".join(f"{factor} {level}" for factor, level in levels.items())][rows] = setting["name"]
    found = []
    for label, names in named.items():
        ordered = dict(sorted(names.items()))
        times = {rows: _block_times(compared.samples[name]) for rows, name in ordered.items()}
        found.append(Sweep(label, ordered, times))
    return tuple(sorted(found, key=lambda sweep: compared.baseline not in sweep.names.values()))


def rows_of_a_sample(compared: Compared) -> int:
    """The rows that elapsed times are stated for."""
    return int(compared.manifest["design"]["units"] or 1)


def tables(compared: Compared) -> tuple[Table, ...]:
    """What is collected, and the two published tables."""
    found = sweeps(compared)
    return (
        _collected(found),
        _elapsed(compared, found),
        _unit_of_work(compared.sessions, found, "session"),
        _unit_of_work(compared.instance, found, "instance"),
    )


def figures(compared: Compared) -> tuple[Figure, ...]:
    """Time per row over rows per commit, and the published response-time curve."""
    found = sweeps(compared)
    return (_time_figure(found), _curve_figure(compared, found[0]))


def findings(compared: Compared) -> tuple[Finding, ...]:
    """The published findings beside those of the baseline's settings."""
    sweep = sweeps(compared)[0]
    fewest, most = min(sweep.names), max(sweep.names)
    same_ends = sweep.measured and (fewest, most) == (1, 32768)
    saved = figures_of.saving(sweep.times) if same_ends else MISSING
    share, from_rows = MISSING, MISSING
    if same_ends and PUBLISHED_ROWS in sweep.names:
        share = figures_of.collected(sweep.times, PUBLISHED_ROWS)
        from_rows = figures_of.reached(sweep.times, 0.9)
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
            "It depends little on the machine: where a commit costs the same whatever it holds, n rows per "
            "commit bring 1 - 1/n of the saving.",
        ),
        _finding(
            "rows-per-commit-ninety",
            "rows per commit from which on 90 % of the saving is collected",
            "32 (of the powers of two measured)",
            from_rows,
            "rows",
            _agreement(from_rows, from_rows.point is not None and 16 <= from_rows.point <= 64),
            "Powers of two were measured, so one step to either side counts as agreement.",
        ),
    )


def _block_times(samples: Sequence[Sample]) -> dict[int, float]:
    """Seconds per row by block; the mean of two where the baseline stands twice."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        found[sample.block].append(sample.elapsed_s / units_of_work(sample))
    return {block: sum(values) / len(values) for block, values in found.items()}


def _collected(found: Sequence[Sweep]) -> Table:
    rows = []
    for sweep in found:
        by_rows = figures_of.means(sweep.times)
        for number, name in sweep.names.items():
            rows.append(
                {
                    "setting": name,
                    "time_per_row_ms": _typical(sweep.times[number]).scaled(1e3),
                    "change_pct": _change(by_rows.get(number), by_rows.get(min(sweep.names))),
                    "collected": figures_of.collected(sweep.times, number) if sweep.measured else MISSING,
                }
            )
    return Table(
        "rows-per-commit-collected",
        "What is collected by how many rows per commit",
        (
            _setting_column(found),
            Column("time_per_row_ms", "Time per row", "estimate", "ms"),
            Column("change_pct", "Change", "change", "%"),
            Column("collected", "Of the saving", "share", "%"),
        ),
        rows,
        note="Time per row is wall time over rows, the geometric mean over the blocks. The saving is "
        "what the most rows per commit save against "
        "the fewest; its parts have Fieller's interval over the blocks.",
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
        note="Whole commits alone are inserted, and samples that would be too short do the rows several "
        f"times over, so a sample may have more rows than {fixed:,}; elapsed is the mean time per row times "
        f"{fixed:,}.",
    )


def _elapsed_per_row(samples: Sequence[Sample]) -> Estimate:
    return mean_estimate(item.elapsed_s / units_of_work(item) for item in samples)


def _typical(by_block: Mapping[int, float]) -> Estimate:
    """The geometric mean, with Student's t interval on the logarithms."""
    return ratio_estimate(math.log(seconds) for seconds in by_block.values())


def _unit_of_work(
    accounts: Mapping[str, Sequence[UnitOfWork]], found: Sequence[Sweep], scope: Scope
) -> Table:
    rows = []
    for sweep in found:
        base = _averages(accounts[sweep.names[min(sweep.names)]])
        for name in sweep.names.values():
            mine = _averages(accounts[name])
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
        note=f"Means over the samples, time of {whose}. Queue time is all that is neither CPU nor idle.",
    )


def _averages(items: Sequence[UnitOfWork]) -> dict[str, float | None]:
    def milliseconds(values: Sequence[float | None]) -> float | None:
        return mean_estimate(values).scaled(1e3).point

    return {
        "arrival_rate_per_ms": mean_estimate(item.arrival_rate for item in items).scaled(1e-3).point,
        "service_time_ms": milliseconds([item.service_time for item in items]),
        "queue_time_ms": milliseconds([item.queue_time for item in items]),
        "response_time_ms": milliseconds([item.response_time for item in items]),
    }


def _time_figure(found: Sequence[Sweep]) -> Figure:
    series = []
    for sweep in found:
        means = figures_of.means(sweep.times)
        points = [_typical(sweep.times[rows]).scaled(1e3) for rows in means]
        series.append(
            Series(
                sweep.label or "measured",
                list(means),
                [item.point for item in points],
                [item.low for item in points],
                [item.high for item in points],
            )
        )
    caption = "Wall time over rows: geometric means with 95 % intervals over the blocks."
    measured = figures_of.means(found[0].times)
    fitted = figures_of.fit_decay(measured)
    if fitted is not None:
        series.append(
            Series(
                "a + b/n^c",
                list(measured),
                [1e3 * fitted.at(rows) for rows in measured],
                style="dashed",
            )
        )
        caption += (
            f" Dashed: a + b/n^c with a = {1e3 * fitted.floor:.3g} ms, b = {1e3 * fitted.commit:.3g} ms and "
            f"c = {fitted.power:.2f}, fitted to all points; it misses one of them by "
            f"{100 * figures_of.worst_misfit(fitted, measured):.0f} %, so the verdict is read from the "
            "points."
        )
    return Figure(
        "rows-per-commit-time",
        "Time per row over rows per commit",
        caption,
        Axis("Rows per commit", logarithmic=True),
        Axis("Time per row", "ms"),
        series,
    )


def _curve_figure(compared: Compared, sweep: Sweep) -> Figure:
    means = {rows: _averages(compared.sessions[name]) for rows, name in sweep.names.items()}
    known = [item for item in means.values() if item["response_time_ms"] is not None]
    series = [
        Series(
            "measured",
            [item["arrival_rate_per_ms"] or 0.0 for item in known],
            [item["response_time_ms"] for item in known],
        )
    ]
    first = means[min(means)]
    arrival, service, response = (
        first[key] for key in ("arrival_rate_per_ms", "service_time_ms", "response_time_ms")
    )
    caption = "Each point is a setting of one number of rows per commit (session scope)."
    servers = None
    if arrival is not None and service is not None and response is not None:
        servers = solve_servers(service, arrival, response)
    if servers is not None and service is not None and arrival is not None:
        # From a tenth of the point to saturation, by equal factors: the axes are logarithmic.
        start, end = arrival / 10, _FULLEST * servers / service
        rates = [start * (end / start) ** (step / _STEPS) for step in range(_STEPS + 1)]
        series.append(
            Series(
                "R = S/(1-(S L/M)^M)",
                rates,
                [response_time_cpu(service, rate, servers) for rate in rates],
                style="line",
            )
        )
        caption += (
            f" The curve is the published one with S of {min(means)} row per commit and M = {servers:.4g} "
            "solved there, as published. The load is closed, so the curve passes through that point and "
            "forecasts none of the others: more rows per commit change S itself."
        )
    return Figure(
        "rows-per-commit-curve",
        "Response time over arrival rate, as published",
        caption,
        Axis("Arrival rate", "inserts/ms", logarithmic=True),
        Axis("Response time", "ms/insert", logarithmic=True),
        series,
    )


def _setting_column(found: Sequence[Sweep]) -> Column:
    return Column("setting", "Rows per commit" if len(found) == 1 else "Setting", "text")


def _change(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else 100 * (value / base - 1)


def _near(ours: Estimate, theirs: float) -> Agreement:
    """Inside our interval, or within 5 points of our figure."""
    if ours.point is None:
        return "not comparable"
    inside = ours.low is not None and ours.high is not None and ours.low <= theirs <= ours.high
    return _agreement(ours, inside or abs(ours.point - theirs) <= _NEAR)


def _agreement(ours: Estimate, agrees: bool) -> Agreement:
    if ours.point is None:
        return "not comparable"
    return "agrees" if agrees else "differs"


def _finding(
    key: str, finding: str, theirs: str, ours: Estimate, unit: str, agreement: Agreement, why: str
) -> Finding:
    if agreement == "not comparable":
        why = "This run did not show a saving between 1 and 32,768 rows per commit with 32 among them."
    known = None if ours.point is None else ours
    return Finding(key, finding, theirs, known, unit, agreement, why, SOURCE)
