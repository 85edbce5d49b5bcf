"""Forecasts judged as changes: a setting's throughput and times as multiples of today's.

Both are measured inside the same blocks, so that what drifts from block to block cancels.
`benches/forecast.py` writes the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import forecast_grid
from held import Held, errors, families
from markdown import in_percent, table

from redolab.forecast.checks.league import standings
from redolab.forecast.costs.direct.measured import log_ratios_of_blocks
from redolab.forecast.models.quantities import RATIOS
from redolab.forecast.track_record import Score, Silence
from redolab.records.store import Run
from redolab.stats.estimates import Estimate, exact_share

CLOSE = 0.03
"""Half of the interval of a ratio that is measured well, as a share of it."""
_THROUGHPUT, _COMMIT_TIME = RATIOS["throughput_per_s"], RATIOS["commit_time_ms"]


def repeated(run: Run, loop: str, device_ms: str) -> list[float]:
    """What measuring a ratio of throughputs again differs by, of each setting of a system; no unit.

    The ratios of two halves of the blocks differ by the square root of two more than those of two whole
    measurements.
    """
    today = forecast_grid.calibration_settings(loop, device_ms)[0]
    logs = log_ratios_of_blocks(run, today)
    found = []
    for item in run.manifest["settings"]:
        levels, name = item["levels"], item["name"]
        if (levels["loop"], levels["log_device_ms"]) != (loop, device_ms) or "pause_ms" in levels:
            continue
        of_setting = logs.get(name, {}).get(_THROUGHPUT, ())
        if name != today and len(of_setting) > 1:
            one, two = of_setting[::2], of_setting[1::2]
            apart = sum(one) / len(one) - sum(two) / len(two)
            found.append(math.exp(abs(apart) / math.sqrt(2)) - 1)
    return found


def page(
    held: Sequence[Held],
    scores: Sequence[Score],
    silences: Sequence[Silence],
    again: Sequence[float],
    model: str,
) -> list[str]:
    """The part of the page about changes, of settings in which sessions loop.

    Args:
        held: the settings of one measurement.
        scores: of all measurements, with the intervals that were given.
        silences: of all measurements.
        again: what measuring a ratio again differs by.
        model: the one that forecasts.
    """
    closed = [item for item in held if item.ratios and item.family != "open arrivals"]
    corners = [item for item in closed if _corner(item)]
    well = [item for item in closed if _close(item.ratios[_THROUGHPUT])]
    groups: list[tuple[str, Iterable[Held]]] = [
        ("all", closed),
        (f"measured to within {100 * CLOSE:g} %", well),
        ("up to 32 sessions", [item for item in closed if item.scenario.sessions <= 32]),
        ("the corners", corners),
        *((name, [item for item in closed if item.family == name]) for name in families(closed)),
    ]
    models = list(dict.fromkeys(name for item in closed for name in item.said))
    lines = [
        "Judged as changes: each setting as a multiple of today's, 32 sessions with one row, measured inside"
    ]
    lines += ["the same blocks. Absolute error in percent, median / 90th percentile.", ""]
    lines += table(
        ["settings", "count", "throughput", "commit time"],
        [
            [
                name,
                str(len(list(group))),
                *(errors(group, model, key) for key in (_THROUGHPUT, _COMMIT_TIME)),
            ]
            for name, group in groups
        ],
    )
    lines += ["", f"Measuring a ratio of throughputs again differs by {in_percent(again)}.", ""]
    lines += ["The same of every model, over all these settings", ""]
    lines += table(
        ["model", "settings", "throughput", "commit time"],
        [
            [
                name,
                str(sum(_THROUGHPUT in item.said.get(name, {}) for item in closed)),
                *(errors(closed, name, key) for key in (_THROUGHPUT, _COMMIT_TIME)),
            ]
            for name in models
        ],
    )
    lines += [
        "",
        "The league of all measurements: forecast / measured - 1 of the ratio of throughputs, its mean with",
    ]
    lines += [
        "its 95 % interval, whether the errors are normal, and the shares of 90 % intervals that held it",
        "",
    ]
    lines += table(["model", "count", "mean, %", "errors are", "coverage, %"], _league(scores, silences))
    lines += ["", "The corners: the ratio of throughputs, measured with its 95 % interval", ""]
    lines += table(
        ["system", "sessions", "rows", "forecast", "measured", "from", "to", "off, %"],
        [_of_corner(item, model) for item in corners],
    )
    return lines


def coverage(scores: Iterable[Score], quantity: str, model: str, family: str | None = None) -> str:
    """The share of intervals that held what was measured, with its exact 95 % interval, and the count."""
    inside = [
        bool(score.inside)
        for score in scores
        if (score.model, score.quantity) == (model, quantity)
        and score.inside is not None
        and family in (None, score.family)
    ]
    if not inside:
        return ""
    share = exact_share(sum(inside), len(inside))
    return f"{_of_hundred(share)} of {len(inside)}"


def _league(scores: Sequence[Score], silences: Sequence[Silence]) -> list[list[str]]:
    words = {True: "normal", False: "not normal", None: ""}
    rows = []
    for row in standings(scores, silences):
        if row["quantity"] == _THROUGHPUT:
            mean = Estimate(**row["error_mean"])
            normal = words[row["error_normal"]["normal"]]
            covered = _of_hundred(Estimate(**row["coverage"]))
            rows.append([row["model"], str(row["forecasts"]), _of_hundred(mean, 1), normal, covered])
    return rows


def _of_hundred(share: Estimate, digits: int = 0) -> str:
    """In percent, with its interval."""
    if share.point is None:
        return ""
    if share.low is None or share.high is None:
        return f"{100 * share.point:.{digits}f}"
    return f"{100 * share.point:.{digits}f} ({100 * share.low:.{digits}f} to {100 * share.high:.{digits}f})"


def _of_corner(item: Held, model: str) -> list[str]:
    said, seen = item.said.get(model, {}).get(_THROUGHPUT), item.ratios[_THROUGHPUT]
    ends = ["" if end is None else f"{end:.3g}" for end in (seen.point, seen.low, seen.high)]
    off = f"{100 * (said / seen.point - 1):+.0f}" if said and seen.point else ""
    asked = [str(item.scenario.sessions), str(item.scenario.rows_per_commit)]
    return [item.system, *asked, "" if said is None else f"{said:.3g}", *ends, off]


def _corner(item: Held) -> bool:
    return (item.scenario.sessions, item.scenario.rows_per_commit) in forecast_grid.CORNERS


def _close(ratio: Estimate) -> bool:
    if ratio.point is None or ratio.low is None or ratio.high is None:
        return False
    return max(ratio.high / ratio.point, ratio.point / ratio.low) - 1 <= CLOSE
