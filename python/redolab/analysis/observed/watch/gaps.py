"""Times that were not watched, and stretches that do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from redolab import units
from redolab.analysis.exhibits import Column, Table
from redolab.analysis.observed.watch.stretches import Stretches

_SHORTEST_S = 1.0
"""Longest time between two stretches that does not count as a gap: the first reading of a start, clocks that
are set."""
_MOST = 100
"""Rows of a table of gaps or spoiled stretches; the rest is counted."""


@dataclass(frozen=True)
class Gap:
    """A time that was not watched."""

    from_s: float
    """Seconds since 1970."""
    to_s: float
    restart: bool
    """Whether the watching was started anew after it."""

    @property
    def length_s(self) -> float:
        """How long it was."""
        return self.to_s - self.from_s


def gaps(stretches: Stretches) -> list[Gap]:
    """The times between one stretch and the next that nobody watched, spoiled ones too."""
    if not len(stretches):
        return []
    ended = np.fmax.accumulate(np.nan_to_num(stretches.ended, nan=-np.inf))[:-1]
    apart = stretches.began[1:] - ended
    return [
        Gap(
            float(ended[at]),
            float(stretches.began[at + 1]),
            bool(stretches.starts[at] != stretches.starts[at + 1]),
        )
        for at in np.flatnonzero(np.isfinite(apart) & (apart > _SHORTEST_S))
    ]


def moment_text(second: float) -> str:
    """A moment in words, UTC."""
    return units.moment(iso(second), seconds=True)


def iso(second: float) -> str:
    """A moment as ISO 8601 has it, UTC, to the millisecond."""
    # A time in a damaged run must not leave the calendar.
    kept = min(max(second, _EARLIEST), _LATEST)
    return datetime.fromtimestamp(kept, UTC).isoformat(timespec="milliseconds")


_EARLIEST = datetime(1, 1, 2, tzinfo=UTC).timestamp()
_LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def gaps_table(found: Sequence[Gap]) -> Table:
    """The longest gaps, in the order of time."""
    longest = sorted(sorted(found, key=lambda gap: -gap.length_s)[:_MOST], key=lambda gap: gap.from_s)
    rows: list[dict[str, Any]] = [
        {
            "from": moment_text(gap.from_s),
            "to": moment_text(gap.to_s),
            "minutes": gap.length_s / 60,
            "why": "Redolab was not watching" if gap.restart else "nothing could be read",
        }
        for gap in longest
    ]
    more = f" {len(found) - _MOST:,} shorter gaps are left out." if len(found) > _MOST else ""
    return Table(
        "gaps",
        "When nothing was watched",
        (
            Column("from", "From", "text"),
            Column("to", "To", "text"),
            Column("minutes", "Length", "number", "min"),
            Column("why", "Why", "text"),
        ),
        rows,
        f"No figure of the report includes the times in this table.{more}",
    )


def spoiled_table(stretches: Stretches) -> Table:
    """The stretches that do not count, and why."""
    which = np.flatnonzero(~stretches.counts)
    rows: list[dict[str, Any]] = [
        {
            "began": moment_text(float(stretches.began[at])),
            "seconds": float(stretches.columns["elapsed_s"][at]),
            "why": stretches.spoiled[at],
        }
        for at in which[:_MOST]
    ]
    more = f"This table leaves {len(which) - _MOST:,} more stretches out." if len(which) > _MOST else ""
    return Table(
        "spoiled",
        "Stretches that do not count",
        (
            Column("began", "Began", "text"),
            Column("seconds", "Length", "number", "s"),
            Column("why", "Why", "text"),
        ),
        rows,
        more,
    )


def reasons(stretches: Stretches) -> list[tuple[str, int]]:
    """Why stretches do not count and how many for each reason, the most frequent first."""
    return Counter(reason for reason in stretches.spoiled if reason is not None).most_common()
