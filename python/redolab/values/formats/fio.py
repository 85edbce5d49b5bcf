"""Files of fio: its logs (`--write_lat_log`, `--write_bw_log`, `--write_iops_log`), and its JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from redolab.bounds import MOST_JSON_BYTES
from redolab.errors import UsageError
from redolab.files.documents import parse_json_object
from redolab.units import significant
from redolab.values.content import Content
from redolab.values.formats.counts import expanded
from redolab.values.formats.sheet import Sheet, SheetNumbers, floats

_LOG = re.compile(r".*_(lat|clat|slat|bw|iops)(?:\.\d+)?\.log(?:\.gz)?")
_LINE = re.compile(r"\d+, ?\d+, ?[0-3], ?\d+(?:, ?(?:0x)?[0-9a-fA-F]+){0,3}")
_DIRECTIONS = {"0": "read", "1": "write", "2": "trim", "3": "sync"}
_UNITS = {"bw": "KiB/s", "iops": "IOPS"}
_TERSE = re.compile(r"[2-5];fio-\d")
_NORMAL = re.compile(r".{1,200}: \(g=\d+\): rw=|.{1,200}: \(groupid=\d+, jobs=\d+\): err=")
_LOOKED_AT = 200
_INSTEAD = "Let fio write --output-format=json+, which has the histogram, or --write_lat_log."
_KINDS = ("clat_ns", "lat_ns", "slat_ns")


def read_fio(content: Content, head: str) -> Sheet | None:
    """The values of a log or the histogram of a JSON file; None where the file is neither.

    Raises:
        UsageError: a line does not belong to the log, or the JSON holds only a summary.
    """
    lines = head.splitlines()
    if '"fio version"' in head and "{" in lines[:_LOOKED_AT]:
        return _json(content)
    if lines and (_TERSE.match(lines[0]) or any(map(_NORMAL.match, lines[:_LOOKED_AT]))):
        raise UsageError(f"{content.place} holds only fio's summary, not single values. {_INSTEAD}")
    first = next(iter(head.splitlines()), "")
    named = _LOG.fullmatch(PurePath(content.place).name)
    return _log(content, named[1], first.count(",") + 1) if named and _LINE.fullmatch(first.strip()) else None


def _log(content: Content, kind: str, width: int) -> Sheet:
    """Columns of a log, one line for each value."""
    times: list[float] = []
    values: list[float] = []
    sizes: list[float] = []
    directions: list[str] = []
    for number, line in enumerate(content.lines(), 1):
        if not line.strip():
            continue
        if not _LINE.fullmatch(line.strip()) or line.count(",") + 1 != width:
            raise UsageError(
                f"{content.place}, line {number:,}: {line[:60]!r} is not a line of this fio log, which has "
                f"{width} figures separated by commas."
            )
        time, value, direction, size = (cell.strip() for cell in line.split(",")[:4])
        times.append(float(time))
        values.append(float(value))
        sizes.append(float(size))
        directions.append(_DIRECTIONS[direction])
    unit, notes = _unit(kind, width)
    name = {"bw": "bandwidth", "iops": "iops"}.get(kind, f"{kind}ency")
    scaled = floats(values) / 1e6 if unit == "ms" else floats(values)
    return Sheet(
        "a log of fio",
        {
            name: SheetNumbers(scaled, unit),
            "time": SheetNumbers(floats(times), "ms"),
            "block_size": SheetNumbers(floats(sizes), "B"),
        },
        {"direction": lambda: directions},
        name,
        (
            *notes,
            "With log_avg_msec or log_hist_msec, each value represents many I/Os. The log does not show "
            "whether these options were set.",
        ),
    )


def _unit(kind: str, width: int) -> tuple[str | None, tuple[str, ...]]:
    """The unit of the values of a log, and notes on it."""
    if kind in _UNITS:
        return _UNITS[kind], ()
    if width > 5:
        return "ms", ()
    return None, (
        "The values are as printed in the log: in ns since fio 3, in µs before. A log with so few columns "
        "does not show which version wrote it.",
    )


def _json(content: Content) -> Sheet:
    """The histograms of `--output-format=json+`, of all jobs and directions."""
    jobs = parse_json_object(_object(content), content.place).get("jobs")
    found = list(_distributions(jobs if isinstance(jobs, list) else []))
    values: list[float] = []
    counts: list[int] = []
    tags: list[str | None] = []
    for tag, one in found:
        bins = one.get("bins")
        for value, count in sorted((bins if isinstance(bins, dict) else {}).items(), key=_by_number):
            values.append(_by_number((value, count)) / 1e6)
            counts.append(_count(content, count))
            tags.append(tag)
    if any(map(math.isnan, values)):
        raise UsageError(f"{content.place} has a histogram with values that are not whole numbers of ns.")
    if not values:
        raise UsageError(
            f"{content.place} holds only fio's summary, not single values{_summaries(found)}. {_INSTEAD}"
        )
    notes = (
        "The values come from fio's histogram of completion latency. The histogram's buckets are less than "
        "1.6 % wide, so each value is exact to 1.6 %.",
        *(f"fio's own figures for {tag}: {_own(one)}." for tag, one in found[:_MOST_SAID]),
    )
    return expanded(content.place, "a JSON file of fio", np.array(values), counts, "ms", notes, tags)


_MOST_SAID = 6


def _object(content: Content) -> bytes:
    """The JSON without what fio printed before or after it: warnings, or its summary as text."""
    with content.open() as file:
        text = file.read(MOST_JSON_BYTES + 1)
    if len(text) > MOST_JSON_BYTES:
        return text
    found = re.search(rb"^\{\s*$.*^\}\s*$", text, re.MULTILINE | re.DOTALL)
    return text if found is None else found[0]


def _distributions(jobs: list[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Latency of each job and direction that did anything; its name is `job read`."""
    for job in jobs:
        for direction in ("read", "write", "trim"):
            side = job.get(direction) if isinstance(job, dict) else None
            kinds = [side.get(kind) for kind in _KINDS] if isinstance(side, dict) else []
            for one in kinds:
                if isinstance(one, dict) and isinstance(one.get("N"), int) and one["N"] > 0:
                    yield f"{str(job.get('jobname', 'job'))[:100]} {direction}", one
                    break


def _by_number(item: tuple[str, Any]) -> float:
    return float(item[0]) if re.fullmatch(r"\d{1,20}", item[0]) else math.nan


def _count(content: Content, count: object) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise UsageError(
            f"{content.place} has a histogram with the count {str(count)[:40]!r}, which is not a whole "
            "number from 0 on."
        )
    return count


def _own(one: Mapping[str, Any]) -> str:
    """Mean, largest value and the percentiles that it has, in ms."""
    said = [
        f"{name} {significant(float(one[name]) / 1e6)} ms"
        for name in ("mean", "max")
        if _is_number(one.get(name))
    ]
    percentiles = one.get("percentile")
    said += [
        f"{float(name):g} % {significant(float(percentiles[name]) / 1e6)} ms"
        for name in ("50.000000", "99.000000")
        if isinstance(percentiles, dict) and _is_number(percentiles.get(name))
    ]
    return ", ".join(said)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _summaries(found: list[tuple[str, Mapping[str, Any]]]) -> str:
    said = "; ".join(f"{tag}: {_own(one)}" for tag, one in found[:_MOST_SAID])
    return f" ({said})" if said else ""
