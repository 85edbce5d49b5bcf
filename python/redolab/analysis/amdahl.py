"""Amdahl's bound for every row of a time account: the most that removing a part of the time can give.

A part with share s of a whole can be removed once: then 1 - s of it is left, and the whole is done
1 / (1 - s) times as fast at the most. The bound holds as long as nothing else gets shorter with it. Rows that
get shorter together are also bounded together: the flush and the waits for that flush; CPU and the queue for
it.

Source: Gene M. Amdahl, "Validity of the single processor approach to achieving large scale computing
capabilities", AFIPS Spring Joint Computer Conference (1967), pages 483 to 485.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from redolab import units
from redolab.analysis.profile import ON_CPU, ON_CPU_OR_UNKNOWN, RUN_QUEUE, STEAL, UNACCOUNTED, Times
from redolab.dialect.log_waits import is_log_sync
from redolab.dialect.row_names import row_name
from redolab.stats.estimates import Estimate, mean_estimate

Kind = Literal["cpu", "run_queue", "steal", "log", "wait", "unknown"]
"""The use of a row's time, which decides what can be measured about it."""
LOG_TOGETHER = "waiting for the log"
CPU_TOGETHER = "CPU with its queue"
_ROUNDING = 1e-9
"""Rest of a whole after subtracting all its parts, by rounding alone."""


@dataclass(frozen=True)
class Bound:
    """A part of the time, and what removing all of it can give at the most."""

    name: str
    """In words."""
    kind: Kind
    rows: tuple[str, ...]
    """Rows of the time account."""
    share: Estimate
    """Share of the whole, 0 to 1."""
    most: Estimate
    """Largest speed-up, times as fast; an end that is None has no limit."""

    def sentence(self, whole: str) -> str:
        """The bound in plain words; `whole` is what the share is of."""
        share = self.share.scaled(100.0)
        if self.most.point is None:
            limit = "the gain from removing it has no upper limit"
        else:
            most = _with_interval(self.most, "×", "no limit")
            limit = f"without this time, and with all else unchanged, work is at most {most} as fast"
        return f"{self.name} is {_with_interval(share, ' %', '')} of {whole}: {limit}"


def bound(share: Estimate) -> Estimate:
    """1 / (1 - s): how many times as fast at the most, the interval of the share carried through.

    None where the share, or that end of its interval, is all of the time.
    """
    return Estimate(_bound(share.point), _bound(share.low), _bound(share.high), share.level)


def bounds_of_times(times: Sequence[Times]) -> tuple[Bound, ...]:
    """The bounds of a setting, the largest share first, from its samples' seconds per row.

    Shares are means over the samples with Student's t intervals. What is unaccounted has no name and cannot
    be removed; rows without time have no bound.
    """
    known = [item for item in times if math.fsum(item.values()) > 0]
    names = sorted({name for item in known for name, seconds in item.items() if seconds > 0})

    def share(rows: Sequence[str]) -> Estimate:
        return mean_estimate(
            math.fsum(item.get(row, 0.0) for row in rows) / math.fsum(item.values()) for item in known
        )

    return _bounds({rows: share(rows) for rows in [*((name,) for name in names), *_together(names)]})


def bounds_of_profile(
    rows: Sequence[Mapping[str, Any]], log_sync_share: Mapping[str, Any]
) -> tuple[Bound, ...]:
    """The bounds of a live profile, the largest share first.

    Args:
        rows: of a group's profile, as in the results object.
        log_sync_share: of the same group, as an estimate in the results object.
    """
    shares = {str(row["row"]): _estimate(row["share"]) for row in rows}
    found: dict[tuple[str, ...], Estimate] = {(name,): share for name, share in shares.items()}
    for together in _together([name for name, share in shares.items() if (share.point or 0.0) > 0]):
        if is_log_sync(together[0]):
            found[together] = _estimate(log_sync_share)
        else:
            found[together] = _sum([shares[name] for name in together])
    return _bounds(found)


def _together(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Rows that get shorter together."""
    log = tuple(name for name in names if is_log_sync(name))
    cpu = tuple(name for name in (ON_CPU, RUN_QUEUE) if name in names)
    return [rows for rows in (log, cpu) if len(rows) > 1]


def _bounds(shares: Mapping[tuple[str, ...], Estimate]) -> tuple[Bound, ...]:
    found = [
        Bound(_name(rows), _kind(rows[0]), rows, share, bound(share))
        for rows, share in shares.items()
        if rows != (UNACCOUNTED,) and share.point is not None and share.point > 0
    ]
    return tuple(sorted(found, key=lambda item: (-(item.share.point or 0.0), -len(item.rows), item.name)))


def _name(rows: tuple[str, ...]) -> str:
    if len(rows) == 1:
        return row_name(rows[0])
    return LOG_TOGETHER if is_log_sync(rows[0]) else CPU_TOGETHER


def _kind(row: str) -> Kind:
    if is_log_sync(row):
        return "log"
    named: Mapping[str, Kind] = {
        ON_CPU: "cpu",
        RUN_QUEUE: "run_queue",
        STEAL: "steal",
        ON_CPU_OR_UNKNOWN: "unknown",
    }
    return named.get(row, "wait")


def _bound(share: float | None) -> float | None:
    return None if share is None or 1 - share < _ROUNDING else 1 / (1 - share)


def _estimate(value: Mapping[str, Any]) -> Estimate:
    return Estimate(value["point"], value["low"], value["high"], value["level"])


def _sum(parts: Sequence[Estimate]) -> Estimate:
    """Shares of one whole added, end to end: what is uncertain is the whole, which they have in common."""

    def add(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return math.fsum(known) if len(known) == len(values) else None

    return Estimate(
        add([part.point for part in parts]),
        add([part.low for part in parts]),
        add([part.high for part in parts]),
        parts[0].level,
    )


def _with_interval(value: Estimate, unit: str, endless: str) -> str:
    """`12.0 % (11.2 to 12.8)`; an upper end that is None is `endless`, and without a word no interval."""
    point = f"{units.significant(value.point or 0.0)}{unit}"
    if value.low is None or (value.high is None and not endless):
        return point
    high = endless if value.high is None else units.significant(value.high)
    return f"{point} ({units.significant(value.low)} to {high})"
