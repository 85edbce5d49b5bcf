"""Progress of `pgbench -P` while it runs: a line for each interval; and its summary, which has no values.

Source: PostgreSQL's `pgbench.c`, `printProgressReport` and `printResults`, of 9.4 to 18.
"""

from __future__ import annotations

import re

import numpy as np

from redolab.errors import UsageError
from redolab.values.content import Content
from redolab.values.formats.sheet import Sheet, SheetNumbers, floats
from redolab.values.reading.table import Floats

_NUMBER = r"(-?\d{1,15}(?:\.\d{1,9})?|-?nan)"
_LINE = re.compile(
    rf"progress: {_NUMBER} s, {_NUMBER} tps, lat {_NUMBER} ms stddev {_NUMBER}"
    rf"(?:, {_NUMBER} failed)?(?:, lag {_NUMBER} ms)?(?:, {_NUMBER} skipped)?"
    rf"(?:, {_NUMBER} retried, {_NUMBER} retries)?"
)
_NAMES = ("time", "tps", "latency_mean", "latency_stddev", "failed", "lag", "skipped", "retried", "retries")
_UNITS = {"time": "s", "tps": "tps", "latency_mean": "ms", "latency_stddev": "ms", "lag": "ms"}
_OF_TRANSACTIONS = ("latency_mean", "latency_stddev", "lag")
"""Figures that an interval without a transaction does not have; pgbench prints 0 then."""
_OWN = re.compile(
    r"(latency average = [\d.]+ ms|latency stddev = [\d.]+ ms|tps = [\d.]+)(?: \((?:without|excl|incl).*\))?"
)
_LOOKED_AT = 200


def read_pgbench_progress(content: Content, head: str) -> Sheet | None:
    """The intervals as columns, latency in ms; None for a file in another format.

    Raises:
        UsageError: it holds only a summary, or a line that is not whole.
    """
    lines = head.splitlines()[:_LOOKED_AT]
    has_lines = any(line.startswith("progress: ") and " tps, lat " in line for line in lines)
    is_summary = any(line.startswith("transaction type: ") for line in lines) and any(
        line.startswith("latency average = ") for line in lines
    )
    if not has_lines and not is_summary:
        return None
    rows: list[list[float]] = []
    own: list[str] = []
    for number, line in enumerate(content.lines(), 1):
        text = line.strip()
        if found := _LINE.fullmatch(text):
            rows.append([float("nan" if cell is None else cell) for cell in found.groups()])
        elif text.startswith("progress: "):
            raise UsageError(
                f"{content.place}, line {number:,}: {text[:60]!r} is not a complete progress line of "
                "pgbench. If pgbench is still running, remove that line."
            )
        elif said := _OWN.fullmatch(text):
            own.append(said[1])
    if not rows:
        said_too = f" ({'; '.join(own)})" if own else ""
        raise UsageError(
            f"{content.place} holds only pgbench's summary, not single values{said_too}. Let pgbench log "
            "each transaction with -l, or report intervals with -P 1."
        )
    return _sheet(np.array(rows), own)


def _sheet(table: Floats, own: list[str]) -> Sheet:
    columns = {name: table[:, place] for place, name in enumerate(_NAMES)}
    idle = columns["tps"] == 0
    for name in _OF_TRANSACTIONS:
        columns[name] = np.where(idle, np.nan, columns[name])
    figures = {
        name: SheetNumbers(floats(list(columns[name])), _UNITS.get(name))
        for name in ("latency_mean", *(name for name in _NAMES if name != "latency_mean"))
        if not np.isnan(table[:, _NAMES.index(name)]).all()
    }
    notes = ["Each value is the mean of an interval; single transactions vary more than these means."]
    if own:
        notes.append(f"pgbench reports for the whole run: {'; '.join(own)}.")
    return Sheet("progress of pgbench -P", figures, {}, "latency_mean", tuple(notes), in_time=True)
