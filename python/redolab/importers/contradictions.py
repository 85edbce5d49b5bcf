"""Sums of a report that contradict one another: what is printed twice must agree to within its rounding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from redolab import units
from redolab.importers.header import Header
from redolab.importers.printed import Printed
from redolab.records.report import Entry
from redolab.stats.rounded import Rounded, printed

_EVENTS = ("top event", "foreground event", "background event", "event")
_CLOCK_S = 2.0
"""Largest difference of the elapsed time from the snapshots' times, which are printed in whole seconds."""
_CPUS = 0.05
"""Part by which the time of the CPUs may differ from elapsed time times CPUs: snapshots take a while."""
_SLACK = 1.001
"""Factor on the rounding: printed numbers were computed from numbers that were not printed."""
_MOST = 20
_TOTALS = (
    ("redo size", "Redo size (bytes)", "Redo size"),
    ("user calls", "User calls"),
    ("execute count", "Executes (SQL)", "Executes"),
)

_Found = Mapping[tuple[str, str, str], Printed]


def contradictions(header: Header, entries: Sequence[Entry]) -> list[str]:
    """Contradictions of a report, a sentence each; at most twenty.

    These are compared: the times of the snapshots with the elapsed time, and their numbers; figures per
    second and per transaction with totals; the mean of an event times its waits with its time; the time of
    the CPUs.
    """
    found = {
        (item.section, item.name, item.measure): Printed(item.value, item.rounding, item.reason)
        for item in entries
    }
    return [*_interval(header), *_rates(header, found), *_events(found), *_cpus(header, found)][:_MOST]


def _interval(header: Header) -> Iterator[str]:
    if header.begin_snapshot is not None and header.end_snapshot <= header.begin_snapshot:
        yield (
            f"The number of the last snapshot, {header.end_snapshot}, is not above the number of the first, "
            f"{header.begin_snapshot}."
        )
    elapsed, rounding = header.elapsed.value, header.elapsed.rounding
    between = (header.end - header.begin).total_seconds()
    if elapsed is None or rounding is None:
        return
    if between <= 0:
        yield "The last snapshot is not later than the first: the database's clock was set back."
    elif abs(between - elapsed) > rounding + _CLOCK_S:
        yield (
            f"The elapsed time is {units.duration(elapsed)}, but the snapshots are {units.duration(between)} "
            "apart."
        )


def _rates(header: Header, found: _Found) -> Iterator[str]:
    for statistic, *names in _TOTALS:
        total = found.get(("statistic", statistic, "total"))
        for name in names:
            yield from _product(
                f"{name} per second times the elapsed time", found.get(("load profile", name, "per_s")),
                header.elapsed, f"the total of {statistic}", total,
            )  # fmt: skip
    commits = found.get(("statistic", "user commits", "total"))
    rollbacks = found.get(("statistic", "user rollbacks", "total"), Printed(0.0, 0.0, None))
    redo = found.get(("statistic", "redo size", "total"))
    if commits is not None and commits.value is not None and rollbacks.value is not None:
        transactions = Printed(commits.value + rollbacks.value, 1.0, None)
        yield from _product(
            "Transactions per second times the elapsed time",
            found.get(("load profile", "Transactions", "per_s")),
            header.elapsed,
            "commits and rollbacks",
            transactions,
        )
        yield from _product(
            "Redo per transaction times commits and rollbacks",
            found.get(("statistic", "redo size", "per_transaction")),
            transactions,
            "the total of redo size",
            redo,
        )


def _events(found: _Found) -> Iterator[str]:
    for section, name, measure in found:
        if section in _EVENTS and measure == "seconds":
            yield from _product(
                f"The mean of {name} ({section}) times its waits",
                found.get((section, name, "mean_s")),
                found.get((section, name, "waits")),
                "its time",
                found[section, name, measure],
            )


def _cpus(header: Header, found: _Found) -> Iterator[str]:
    busy, idle = (found.get(("os", name, "value")) for name in ("BUSY_TIME", "IDLE_TIME"))
    cpus = found.get(("os", "NUM_CPUS", "value")) or found.get(("host", "cpus", "value"))
    values = [item.value if item is not None else None for item in (busy, idle, cpus, header.elapsed)]
    if None in values:
        return
    busy_cs, idle_cs, number, elapsed = (value or 0.0 for value in values)
    there = number * elapsed
    if there > 0 and abs((busy_cs + idle_cs) / 100 / there - 1) > _CPUS:
        yield (
            f"Busy and idle time of the CPUs add up to {units.duration((busy_cs + idle_cs) / 100)}, but "
            f"{number:g} CPUs have {units.duration(there)} in that interval."
        )


def _product(
    left: str, one: Printed | None, two: Printed | None, right: str, whole: Printed | None
) -> Iterator[str]:
    """A sentence where one times two cannot be the whole, whatever was rounded away."""
    ends = [_rounded(item) for item in (one, two, whole)]
    known = [item for item in ends if item is not None]
    if len(known) < len(ends):
        return
    product, printed_whole = known[0] * known[1], known[2]
    if product.low > printed_whole.high or product.high < printed_whole.low:
        yield (
            f"{left} is {units.significant(product.value)}, but {right} is "
            f"{units.significant(printed_whole.value)}."
        )


def _rounded(item: Printed | None) -> Rounded | None:
    if item is None or item.value is None or item.rounding is None:
        return None
    return printed(item.value, item.rounding * _SLACK)
