"""The published findings of the commit-write facility, next to those of a commit-mode run.

Source: Craig Shallahamer, OraPub, "Speed Sometimes Means Changing The Rules" (21 February 2012).
"""

from __future__ import annotations

import math
from statistics import fmean

from redolab.analysis.compared import Compared
from redolab.analysis.exhibits import Agreement, Finding
from redolab.analysis.time_based import session_account
from redolab.analysis.verdict import Regime
from redolab.stats.blocks import Metric
from redolab.stats.estimates import MISSING, Estimate, ratio_estimate

SOURCE = "Craig Shallahamer, OraPub, Speed Sometimes Means Changing The Rules, 21 February 2012"
_WAIT, _NOWAIT = "wait/immediate", "nowait/immediate"
_SMALL = 0.05
"""Largest change that counts as small, like the published 2 %."""


def findings(compared: Compared, found: Regime) -> list[Finding]:
    """Published findings for this run's regime, log-bound or CPU-bound, next to the run's own figures.

    A published size belongs to the machine it was measured on: a finding agrees when the run shows the same
    thing happening, and both figures are shown.
    """
    if not {_WAIT, _NOWAIT} <= set(compared.names):
        return []
    speed, time = _ratio(compared, "throughput_per_s"), _ratio(compared, "response_time_ms")
    log, cpu = found.name == "log-bound", found.name == "cpu-bound"
    return [
        Finding(
            "commit-mode-log-share",
            "Under a load that is bound by log writes, log sync is most of a commit's time",
            "84 % of CPU + wait",
            found.log_sync_share.scaled(100) if log else None,
            "% of commit time",
            *_judged(log, found, found.log_sync_share, low=0.5),
            SOURCE,
        ),
        Finding(
            "commit-mode-log-throughput",
            "Under a load that is bound by log writes, not waiting for the log multiplies the commits per "
            "second",
            "25 times (+2,400 %)",
            speed if log else None,
            "times",
            *_judged(log, found, speed, low=2.0),
            SOURCE,
        ),
        Finding(
            "commit-mode-log-response",
            "Under a load that is bound by log writes, not waiting for the log takes nearly all of a "
            "commit's time away",
            "-96 %",
            _change(time) if log else None,
            "% change of R",
            *_judged(log, found, time, high=0.5),
            SOURCE,
        ),
        Finding(
            "commit-mode-log-cpu",
            "Under a load that is bound by log writes, a commit that does not wait takes less CPU",
            "-48 %",
            _change(_cpu_ratio(compared)) if log else None,
            "% change of CPU per commit",
            *_judged(log, found, _cpu_ratio(compared), high=1.0),
            SOURCE,
        ),
        Finding(
            "commit-mode-cpu-response",
            "Under a load that is bound by CPU, not waiting hardly changes a commit's time",
            "about -2 %",
            _change(time) if cpu else None,
            "% change of R",
            *_judged(cpu, found, time, low=1 - _SMALL, high=1 + _SMALL),
            SOURCE,
        ),
    ]


def _judged(
    here: bool, found: Regime, ours: Estimate, low: float = 0.0, high: float = float("inf")
) -> tuple[Agreement, str]:
    """Whether `ours` lies between `low` and `high` with its whole interval, and the reason in words."""
    if not here:
        return (
            "not comparable",
            f"This run's baseline is {found.name}: the finding is about another kind of load.",
        )
    if ours.low is None or ours.high is None:
        return "not comparable", "This run has too few samples for an interval."
    bounds = [f"above {low:g}" if low > 0 else "", f"below {high:g}" if high < float("inf") else ""]
    rule = " and ".join(text for text in bounds if text)
    if low < ours.low and ours.high < high:
        return (
            "agrees",
            f"The whole interval of the ratio is {rule}, so the same happens here; how strongly depends on "
            "the machine.",
        )
    return "differs", f"The interval of the ratio is not wholly {rule}."


def _ratio(compared: Compared, metric: Metric) -> Estimate:
    for item in compared.comparisons:
        if item.setting == _NOWAIT and item.metric == metric and item.baseline == _WAIT:
            return item.ratio
    return MISSING


def _cpu_ratio(compared: Compared) -> Estimate:
    """CPU per commit under nowait over that under wait, from the blocks that have both."""
    by_block: dict[int, dict[str, list[float]]] = {}
    for sample in compared.good:
        cpu = session_account(sample).service_time
        if cpu:
            by_block.setdefault(sample.block, {}).setdefault(sample.setting, []).append(cpu)
    return ratio_estimate(
        _log_ratio(block) for block in by_block.values() if {_WAIT, _NOWAIT} <= block.keys()
    )


def _log_ratio(block: dict[str, list[float]]) -> float:
    return math.log(fmean(block[_NOWAIT]) / fmean(block[_WAIT]))


def _change(ratio: Estimate) -> Estimate:
    """A ratio as percent of change."""

    def percent(value: float | None) -> float | None:
        return None if value is None else 100 * (value - 1)

    return Estimate(percent(ratio.point), percent(ratio.low), percent(ratio.high), ratio.level)
