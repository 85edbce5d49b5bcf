"""Figures of a database's own report on an interval: the rows of an imported run.

A run directory made of reports has a row of `samples` for each of them (`Report`), and a row of `entries` for
each figure that was read (`Entry`). Sections and measures have the same names whatever the report's layout.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BLANK = "nothing is printed there"
"""The reason of a figure whose place in a report is empty."""


@dataclass(frozen=True)
class Report:
    """One report (a row of an imported run's `samples.parquet`)."""

    sample: int = field(metadata={"doc": "1, 2, 3 ... in the order of time"})
    block: int = field(metadata={"doc": "1"})
    position: int = field(metadata={"doc": "the same as sample"})
    setting: str = field(metadata={"doc": "database, instance and pluggable database"})
    started_at: str = field(metadata={"doc": "first snapshot, ISO 8601, in the database's own time zone"})
    start_s: float = field(metadata={"doc": "seconds from the first snapshot of the first report"})
    elapsed_s: float = field(metadata={"doc": "seconds between the snapshots, as the report prints them"})
    spoiled: str | None = field(metadata={"doc": "why this report does not count; null when it does"})

    file: str = field(metadata={"doc": "name of the file, without its directory"})
    layout: str = field(metadata={"doc": "kind of report: AWR (HTML, text), AWR-Miner or Statspack"})
    release: str | None = field(metadata={"doc": "release of the database, as printed"})
    begin_snapshot: int | None = field(metadata={"doc": "number of the first snapshot"})
    end_snapshot: int | None = field(metadata={"doc": "number of the last snapshot"})


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure of a report (a row of `entries.parquet`)."""

    sample: int = field(metadata={"doc": "number of the report"})
    section: str = field(metadata={"doc": "table of the report, see `redolab.importers.sections`"})
    name: str = field(metadata={"doc": "event, statistic or parameter, as printed"})
    measure: str = field(
        metadata={"doc": "what the value measures: waits, seconds, mean_s, total, per_s ..."}
    )
    value: float | None = field(
        metadata={"doc": "value, in seconds where it is a time; null where it is not known"}
    )
    rounding: float | None = field(
        metadata={"doc": "rounding error: half of the last printed place, same unit"}
    )
    text: str | None = field(metadata={"doc": "a parameter's value or a class's name; null for numbers"})
    reason: str | None = field(metadata={"doc": "reason why there is no value; null where there is one"})
