"""The stretches of a watched run as columns of numbers, in the order of time."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from redolab.errors import UsageError
from redolab.records.run import Run
from redolab.records.watched import BACKGROUND, LOG_SYNC, LOG_WRITE, SESSIONS, Watched

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_NOT_COUNTED = "its length is not known"
_LONGEST_S = 1e8
_TEXTS = frozenset({"setting", "started_at", "spoiled"})


@dataclass(frozen=True)
class Stretches:
    """Stretches in the order of time; what is not known of one is NaN."""

    numbers: npt.NDArray[np.int64]
    """Numbers of the samples."""
    starts: npt.NDArray[np.int64]
    """The start of the watching that each belongs to."""
    began: Floats
    """Beginnings, seconds since 1970, UTC."""
    columns: Mapping[str, Floats]
    """Every number of `Watched`; `core_s` and `thread_s`: time of all cores and of all threads; and
    `session_transactions`: transactions that sessions committed, where replication committed none."""
    spoiled: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def elapsed_s(self) -> float:
        """Time watched."""
        return float(np.nansum(self.columns["elapsed_s"]))

    @property
    def ended(self) -> Floats:
        """When each ended, seconds since 1970."""
        found: Floats = self.began + self.columns["elapsed_s"]
        return found

    @cached_property
    def counts(self) -> Flags:
        """Which of them count."""
        return np.array([reason is None for reason in self.spoiled], dtype=bool)

    def only(self, which: Flags) -> Stretches:
        """The stretches that are marked."""
        return self.at(np.flatnonzero(which))

    def at(self, places: Sequence[int] | npt.NDArray[np.intp]) -> Stretches:
        """The stretches at these places, which may come more than once."""
        return Stretches(
            self.numbers[places],
            self.starts[places],
            self.began[places],
            {name: values[places] for name, values in self.columns.items()},
            [self.spoiled[place] for place in places],
        )

    @property
    def counting(self) -> Stretches:
        """The stretches that count."""
        return self.only(self.counts)


def read_stretches(run: Run) -> Stretches:
    """Every stretch of a watched run, spoiled ones too.

    Raises:
        UsageError: a stretch has no time at which it began.
    """
    table = run.samples.sort_by([("started_at", "ascending"), ("sample", "ascending")])
    names = [item.name for item in dataclasses.fields(Watched) if item.name not in _TEXTS]
    unknown = np.full(table.num_rows, np.nan)
    there = set(table.column_names)
    # A watch that is older than a column does not have it.
    columns = {name: _numbers(table[name]) if name in there else unknown for name in names}
    elapsed = columns["elapsed_s"]
    columns["elapsed_s"] = np.where((elapsed > 0) & (elapsed <= _LONGEST_S), elapsed, np.nan)
    columns["core_s"] = columns["host_cores"] * columns["elapsed_s"]
    columns["thread_s"] = columns["host_cpus"] * columns["elapsed_s"]
    # What replication commits is in no session's time.
    columns["session_transactions"] = np.where(columns["replayers"] > 0, np.nan, columns["transactions"])
    spoiled = [
        _NOT_COUNTED if reason is None and not elapsed > 0 else reason
        for reason, elapsed in zip(table["spoiled"].to_pylist(), columns["elapsed_s"], strict=True)
    ]
    return Stretches(
        columns["sample"].astype(np.int64),
        columns["block"].astype(np.int64),
        np.array([_moment(text, run) for text in table["started_at"].to_pylist()], dtype=float),
        columns,
        spoiled,
    )


def read_rows(run: Run, section: str, stretches: Stretches) -> dict[str, Floats]:
    """A section of `entries`: for each of its names a value for each stretch, 0 where there is none.

    Names come with the largest sums first, and what is beyond `MOST_NAMES` of them is one name, `OTHERS`.
    Values that are not a number count as 0.
    """
    mine = _of_section(run, section, stretches)
    names, values = mine["name"].combine_chunks().dictionary_encode(), mine["value"].to_numpy()
    codes = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    known = names.dictionary.to_pylist()
    sums = np.bincount(codes, values, len(known))
    order = np.lexsort((np.array(known, dtype=str), -sums)) if known else np.empty(0, dtype=np.int64)
    kept = min(len(known), MOST_NAMES)
    row = np.empty(len(known), dtype=np.int64)
    row[order] = np.minimum(np.arange(len(known)), kept)
    found = np.zeros((kept + 1, len(stretches)))
    sorter = np.argsort(stretches.numbers)
    at = sorter[np.searchsorted(stretches.numbers, mine["sample"].to_numpy(), sorter=sorter)]
    np.add.at(found, (row[codes], at), values)
    rows = {known[place]: found[number] for number, place in enumerate(order[:kept])}
    return rows | ({OTHERS: found[kept]} if len(known) > kept else {})


def read_counts(run: Run, section: str, stretches: Stretches) -> dict[str, float]:
    """The sums of a section of `entries` over stretches, by name."""
    mine = _of_section(run, section, stretches)
    sums = mine.group_by("name").aggregate([("value", "sum")])
    return dict(zip(sums["name"].to_pylist(), sums["value_sum"].to_pylist(), strict=True))


MOST_NAMES = 60
"""Most rows of an account that have a name of their own."""
OTHERS = "other waits"


_MEASURES: Mapping[str, str] = {
    SESSIONS: "seconds",
    BACKGROUND: "seconds",
    LOG_SYNC: "waits",
    LOG_WRITE: "waits",
}


def _of_section(run: Run, section: str, stretches: Stretches) -> pa.Table:
    entries = run.entries
    wanted = pc.and_(
        pc.and_(pc.equal(entries["section"], section), pc.equal(entries["measure"], _MEASURES[section])),
        pc.is_in(entries["sample"], pa.array(stretches.numbers, pa.int64())),
    )
    mine = entries.filter(wanted)
    values = np.nan_to_num(_numbers(mine["value"]), nan=0.0)
    return pa.table({"sample": mine["sample"], "name": mine["name"], "value": pa.array(values)})


def _numbers(column: Any) -> Floats:
    """A column as floats; null and what is not finite is NaN."""
    values = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=float)
    return np.where(np.isfinite(values), values, np.nan)


def _moment(text: str, run: Run) -> float:
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"A stretch of {run.path} began at {text[:40]!r}, which is not a time in ISO 8601. "
            "The run's files were changed after the watch ended."
        ) from error
