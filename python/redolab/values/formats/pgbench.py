"""Logs of `pgbench -l`: a line for each transaction, or with `--aggregate-interval` for each interval.

Source: PostgreSQL's documentation of pgbench, "Per-Transaction Logging" and "Aggregated Logging".
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from redolab import units
from redolab.errors import UsageError
from redolab.values.content import Content
from redolab.values.formats.sheet import Sheet, SheetNumbers
from redolab.values.reading.table import Floats

_WHOLE = r"\d{1,20}"
_TRANSACTION = re.compile(
    rf"{_WHOLE} {_WHOLE} (?:{_WHOLE}|skipped|failed|serialization|deadlock) {_WHOLE} \d{{9,10}} \d{{1,6}}"
    rf"((?: -?{_WHOLE}){{0,2}})"
)
_INTERVAL = re.compile(r"\d{9,10} \d{1,20} \d{1,20} \d{1,20} \d{1,20} \d{1,20}((?: \d{1,20}){0,9})")
_NO_TIME = ("skipped", "failed", "serialization", "deadlock")
_NAMES = ("client", "transaction", "latency", "script", "time_s", "time_us")
_FURTHER: dict[int, tuple[str, ...]] = {0: (), 1: ("lag_or_retries",), 2: ("lag", "retries")}
_SUMS = ("time_s", "transactions", "sum_us", "sum_us2", "minimum", "maximum")
_LAGS = ("sum_lag_us", "sum_lag_us2", "minimum_lag", "maximum_lag", "skipped")
_RETRIES = ("retried", "retries", "serialization_failures", "deadlock_failures")
_INTERVALS: dict[int, tuple[str, ...]] = {
    0: (), 2: _RETRIES[:2], 4: _LAGS[:4], 5: _LAGS, 7: (*_LAGS, *_RETRIES[:2]), 9: (*_LAGS, *_RETRIES),
}  # fmt: skip
"""Further columns by how many they are, of PostgreSQL 14 and older and of newer ones."""
_LOOKED_AT = 200


def read_pgbench(content: Content, head: str) -> Sheet | None:
    """The log as columns, latency in ms; None for a file in another format.

    Raises:
        UsageError: one of its lines differs from all others.
    """
    lines = head.splitlines()[:_LOOKED_AT]
    first = lines[0] if lines else ""
    # The last line of a log that is still being written is cut short; reading it reports that.
    whole = lines[1:-1]
    if (found := _TRANSACTION.fullmatch(first)) and all(map(_TRANSACTION.fullmatch, whole)):
        return _transactions(content, (*_NAMES, *_FURTHER[found[1].count(" ")]), lines)
    found = _INTERVAL.fullmatch(first)
    if found and found[1].count(" ") in _INTERVALS and _is_interval(first) and all(map(_is_interval, whole)):
        return _intervals(content, (*_SUMS, *_INTERVALS[found[1].count(" ")]))
    return None


def _is_interval(line: str) -> bool:
    if not _INTERVAL.fullmatch(line):
        return False
    count, total, _, smallest, largest = map(int, line.split()[1:6])
    return smallest <= largest and count * smallest <= total <= count * largest


def _transactions(content: Content, names: tuple[str, ...], lines: list[str]) -> Sheet:
    read = _read(content, names)
    columns = {
        "latency": SheetNumbers(read["latency"] / 1000, "ms"),
        "time": SheetNumbers(read["time_s"] + read["time_us"] / 1e6, "s"),
    }
    for name in names[len(_NAMES) :]:
        columns[name] = SheetNumbers(read[name] / 1000, "ms") if name == "lag" else SheetNumbers(read[name])
    notes = [*_sampled(lines), *_threads(content)]
    without = int(np.isnan(read["latency"]).sum())
    if without:
        notes.append(f"{units.counted(without, 'transaction')} failed or were skipped and have no latency.")
    if "lag_or_retries" in names:
        notes.append(
            "The seventh figure of each line, lag_or_retries, is the schedule lag in µs if pgbench ran with "
            "--rate, else the number of retries."
        )
    texts = {name: partial(_named, read[name]) for name in ("client", "script")}
    return Sheet("a log of pgbench -l", columns, texts, "latency", tuple(notes))


def _named(values: Floats) -> list[str]:
    return [str(int(value)) for value in values]


def _sampled(lines: list[str]) -> list[str]:
    """Whether numbers of transactions are left out, as --sampling-rate does."""
    numbers = defaultdict(list)
    for client, transaction, *_ in (line.split() for line in lines if _TRANSACTION.fullmatch(line)):
        numbers[client].append(int(transaction))
    skipped = sum(found[-1] - found[0] + 1 - len(found) for found in numbers.values())
    if skipped <= 0:
        return []
    return [
        "Some transaction numbers are missing between its lines, so the log holds only a sample of the "
        "transactions (--sampling-rate), and its counts are too low."
    ]


def _threads(content: Content) -> list[str]:
    """Logs of further threads in the same directory that were not named."""
    path = Path(content.place)
    another = path.with_name(f"{path.name}.1")
    if isinstance(content.source, Path) and re.fullmatch(r".*\.\d+", path.name) and another.is_file():
        return [
            f"Other threads of pgbench wrote logs in the same directory: {another} and so on. Name these "
            "logs too to analyse all transactions."
        ]
    return []


def _intervals(content: Content, names: tuple[str, ...]) -> Sheet:
    read = _read(content, names)
    count, total = read["transactions"], read["sum_us"]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(count > 0, total / count, np.nan)
    columns = {
        "latency_mean": SheetNumbers(mean / 1000, "ms"),
        "latency_minimum": SheetNumbers(np.where(count > 0, read["minimum"], np.nan) / 1000, "ms"),
        "latency_maximum": SheetNumbers(np.where(count > 0, read["maximum"], np.nan) / 1000, "ms"),
        "transactions": SheetNumbers(count),
        **{name: SheetNumbers(read[name]) for name in names[len(_SUMS) :]},
    }
    all_of_them = float(count.sum())
    notes = ["Each value is the mean of an interval; single transactions vary more than these means."]
    if all_of_them:
        over_all = float(total.sum()) / all_of_them
        square = float(read["sum_us2"].sum()) / all_of_them - over_all**2
        notes.append(
            f"Over all {all_of_them:,.0f} transactions, the mean is {units.significant(over_all / 1000)} ms "
            f"and the standard deviation {units.significant(max(square, 0.0) ** 0.5 / 1000)} ms."
        )
    return Sheet(
        "a log of pgbench -l --aggregate-interval", columns, {}, "latency_mean", tuple(notes), in_time=True
    )


def _read(content: Content, names: tuple[str, ...]) -> dict[str, Floats]:
    import pyarrow as pa
    import pyarrow.csv as arrow

    source: Any = (
        pa.OSFile(str(content.source))
        if isinstance(content.source, Path)
        else pa.BufferReader(content.source)
    )
    with source:
        try:
            table = arrow.read_csv(
                source,
                arrow.ReadOptions(column_names=list(names)),
                arrow.ParseOptions(delimiter=" ", quote_char=False),
                arrow.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.float64()), null_values=["", *_NO_TIME]
                ),
            )
        except pa.ArrowInvalid as error:
            raise _wrong_line(content, len(names)) from error
    return {name: np.asarray(table[name].to_numpy(), dtype=float) for name in names}


def _wrong_line(content: Content, width: int) -> UsageError:
    for number, line in enumerate(content.lines(), 1):
        cells = line.split(" ")
        if len(cells) != width or not all(re.fullmatch(r"-?\d+", cell) or cell in _NO_TIME for cell in cells):
            return UsageError(
                f"{content.place}, line {number:,}: {line[:60]!r} is not a line of this pgbench log, which "
                f"has {width} figures in each line. If pgbench is still writing, the last line is "
                "incomplete: remove it."
            )
    return UsageError(f"{content.place} cannot be read as a log of pgbench.")
