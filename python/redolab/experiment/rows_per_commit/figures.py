"""The figures of a rows-per-commit run, as data."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.compared import Compared
from redolab.analysis.exhibits import Axis, Figure, Series
from redolab.experiment.rows_per_commit import saving
from redolab.experiment.rows_per_commit.sweep import Sweep, averages, typical
from redolab.model.queueing import response_time_cpu, solve_servers

_STEPS, _FULLEST = 60, 0.98


def figures(compared: Compared, found: Sequence[Sweep]) -> tuple[Figure, ...]:
    """Time per row over rows per commit, and the published response-time curve."""
    return (_time_figure(found), _curve_figure(compared, found[0]))


def _time_figure(found: Sequence[Sweep]) -> Figure:
    series = []
    for sweep in found:
        means = saving.means(sweep.times)
        points = [typical(sweep.times[rows]).scaled(1e3) for rows in means]
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
    measured = saving.means(found[0].times)
    fitted = saving.fit_decay(measured)
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
            f"c = {fitted.power:.2f}, fitted to all points; the curve misses one point by "
            f"{100 * saving.worst_misfit(fitted, measured):.0f} %, so the verdict is read from the points."
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
    means = {rows: averages(compared.sessions[name]) for rows, name in sweep.names.items()}
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
            f" The curve is the published one with S (CPU time) of {min(means)} row per commit and M = "
            f"{servers:.4g} solved from that point, as published. The sessions work in a loop (a closed "
            "load), so the curve passes through that point and does not forecast the other points: more rows "
            "per commit change S itself."
        )
    return Figure(
        "rows-per-commit-curve",
        "Response time over arrival rate, as published",
        caption,
        Axis("Arrival rate", "inserts/ms", logarithmic=True),
        Axis("Response time", "ms/insert", logarithmic=True),
        series,
    )
