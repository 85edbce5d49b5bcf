"""Files that the script of `redolab oracle-pack` spools: two readings of an instance, which make one report.

Each line is a kind, `begin` or `end`, and fields between bars. Other lines are left out, such as the errors
for views that this user may not see.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files

from redolab.errors import UsageError
from redolab.importers.header import Header
from redolab.importers.printed import Printed
from redolab.importers.sections import bounded, entry
from redolab.records.report import Entry

FIRST, LAST = "REDOLAB-PACK 1", "REDOLAB-PACK END"
_NAME = re.compile(r"[\w$#.+-]{1,128}")
_RELEASE = re.compile(r"\d{1,2}\.\d{1,3}(?:\.\d{1,6}){0,3}")
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,9})?")
_MOST_NAME = 120
_FIELDS = {"I": 8, "S": 5, "E": 9, "T": 5, "O": 4, "H": 6, "P": 4}
"""Fields of each kind of line, its kind and phase among them."""
_MOST_FIELDS = max(_FIELDS.values())
_TIME = "%Y-%m-%d %H:%M:%S.%f"
_LEAST_S = 1.0
_NO_END_US = 2**32
_LOST = "this counter was lower in the second reading than in the first"
_NOT_THERE = "this counter is in the second reading but not in the first"


@dataclass
class _Phase:
    """One reading."""

    instance: Sequence[str] = ()
    statistics: dict[str, float] = field(default_factory=dict)
    events: dict[str, tuple[str, tuple[float, ...]]] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    machine: dict[str, float] = field(default_factory=dict)
    buckets: dict[tuple[str, int], float] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)


def script() -> str:
    """The script, as a DBA runs it: both readings ask the same."""
    whole, reading = (
        (files("redolab.importers") / name).read_text() for name in ("oracle_pack.sql", "oracle_reading.sql")
    )
    return whole.replace("-- {reading}\n", reading)


def pack_of(text: str, what: str) -> tuple[Header, list[Entry]]:
    """The report of a pack.

    Args:
        text: the file.
        what: its name, for the error.

    Raises:
        UsageError: it does not name its instance, or the instance was restarted between its readings.
        OutOfBoundsError: it has more figures than any instance.
    """
    phases = {"begin": _Phase(), "end": _Phase()}
    for line in text.splitlines():
        parts = line.rstrip().split("|", _MOST_FIELDS)
        if len(parts) > 2 and parts[1] in phases and len(parts) == _FIELDS.get(parts[0]):
            _READERS[parts[0]](phases[parts[1]], parts[2:])
    before, after = phases["begin"], phases["end"]
    header = _header(before, after, what)
    readers = (_statistics, _events, _times, _machine, _histograms, _parameters)
    return header, list(bounded(item for read in readers for item in read(before, after)))


def _header(before: _Phase, after: _Phase, what: str) -> Header:
    first, last = before.instance, after.instance
    if not first or not last:
        raise UsageError(
            f"{what} does not name the instance of both its readings, because V$INSTANCE could not be read. "
            "GRANT SELECT ON SYS.V_$INSTANCE to the user, and run the script again."
        )
    if (first[0], first[5]) != (last[0], last[5]):
        raise UsageError(
            f"{what} has two readings that do not belong together: between them the instance was restarted, "
            "or another instance answered. Run the script again."
        )
    instance, database, unique, release = first[:4]
    begin, end = _time(first[4]), _time(last[4])
    named = all(_NAME.fullmatch(name) for name in (instance, database, unique)) and _RELEASE.fullmatch(
        release
    )
    if not named or begin is None or end is None:
        raise UsageError(
            f"{what} has a name of its instance or database, a release or a time that cannot be read. Run "
            "the script again."
        )
    elapsed_s = (end - begin).total_seconds()
    if elapsed_s < 0:
        raise UsageError(
            f"{what} has a second reading that is {-elapsed_s:g} s earlier than its first: the server's "
            "clock was set back between them. Run the script again."
        )
    if elapsed_s < _LEAST_S:
        raise UsageError(
            f"{what} has two readings {elapsed_s:g} s apart. The script waits between the readings with a "
            "command of the operating system. On Windows, set `define wait = 'timeout /t'` in it, and run it "
            "again."
        )
    return Header(
        database, unique, instance, "1", release, begin, end, None, 0, Printed(elapsed_s, 0.001, None), ()
    )


def _time(text: str) -> datetime | None:
    try:
        # The script writes the database's own time, but not its time zone.
        return datetime.strptime(text, _TIME)  # noqa: DTZ007
    except ValueError:
        return None


def _statistics(before: _Phase, after: _Phase) -> Iterator[Entry]:
    for name, value in after.statistics.items():
        yield entry("statistic", name, "total", _grown(before.statistics.get(name, 0.0), value))


def _times(before: _Phase, after: _Phase) -> Iterator[Entry]:
    for name, value in after.times.items():
        yield entry("time model", name, "seconds", _grown(before.times.get(name), value).times(1e-6))


def _machine(before: _Phase, after: _Phase) -> Iterator[Entry]:
    for name, key in (("cpus", "NUM_CPUS"), ("cores", "NUM_CPU_CORES"), ("sockets", "NUM_CPU_SOCKETS")):
        if key in after.machine:
            yield entry("host", name, "value", Printed(after.machine[key], 0.0, None))
    for name, value in after.machine.items():
        if name.endswith("_TIME"):
            yield entry("os", name, "value", _grown(before.machine.get(name), value))


def _events(before: _Phase, after: _Phase) -> Iterator[Entry]:
    """Waits of sessions, and waits of the background: all waits less those of sessions."""
    for name, (wait_class, last) in after.events.items():
        _, first = before.events.get(name, (wait_class, (0.0,) * 4))
        waits, time_us, waits_fg, time_fg_us = (end - begin for begin, end in zip(first, last, strict=True))
        yield from _event("foreground event", name, wait_class, waits_fg, time_fg_us)
        yield from _event("background event", name, wait_class, waits - waits_fg, time_us - time_fg_us)


def _event(section: str, name: str, wait_class: str, waits: float, time_us: float) -> Iterator[Entry]:
    if waits < 0 or time_us < 0:
        yield entry(section, name, "waits", Printed(None, None, _LOST))
    elif waits:
        time_s = time_us / 1e6
        yield entry(section, name, "waits", Printed(waits, 0.0, None))
        yield entry(section, name, "seconds", Printed(time_s, 5e-7, None))
        yield entry(section, name, "mean_s", Printed(time_s / waits, 5e-7 / waits, None))
        yield Entry(0, section, name, "class", None, None, wait_class or None, None)


def _histograms(before: _Phase, after: _Phase) -> Iterator[Entry]:
    events: dict[str, dict[int, float]] = {}
    for event, _ in after.buckets:
        events.setdefault(event, {})
    for (event, below_us), value in sorted(after.buckets.items()):
        events[event][below_us] = value - before.buckets.get((event, below_us), 0.0)
    for event, counts in events.items():
        whole = sum(counts.values())
        if whole <= 0 or min(counts.values()) < 0:
            continue
        yield entry("histogram", event, "total", Printed(whole, 0.0, None))
        begin = 0.0
        for below_us, count in counts.items():
            share = Printed(100 * count / whole, 0.0, None)
            end = below_us / 1e6
            between = f"{begin:g} and more" if below_us >= _NO_END_US else f"{begin:g} to {end:g}"
            yield entry("histogram", event, between, share)
            begin = end


def _parameters(before: _Phase, after: _Phase) -> Iterator[Entry]:
    for name, value in before.parameters.items():
        yield Entry(0, "parameter", name, "begin", None, None, value, None)
        if after.parameters.get(name, value) != value:
            yield Entry(0, "parameter", name, "end", None, None, after.parameters[name], None)


def _grown(before: float | None, after: float) -> Printed:
    if before is None:
        return Printed(None, None, _NOT_THERE)
    return Printed(after - before, 0.0, None) if after >= before else Printed(None, None, _LOST)


def _number(text: str) -> float | None:
    found = float(text) if _NUMBER.fullmatch(text) else math.nan
    return found if math.isfinite(found) else None


def _read_instance(phase: _Phase, fields: Sequence[str]) -> None:
    phase.instance = phase.instance or tuple(fields)


def _of_whole(con_id: str, name: object, known: Container[object]) -> bool:
    """Whether a row counts: rows of the whole database (CON_ID 0) come before rows of its containers."""
    return con_id == "0" or name not in known


def _read_total(known: dict[str, float], fields: Sequence[str]) -> None:
    name, value, con_id = fields
    number = _number(value)
    if number is not None and _of_whole(con_id, name, known):
        known[name[:_MOST_NAME]] = number


def _read_event(phase: _Phase, fields: Sequence[str]) -> None:
    name, wait_class, *values, con_id = fields
    numbers = [_number(value) for value in values]
    if None not in numbers and _of_whole(con_id, name, phase.events):
        known = tuple(number for number in numbers if number is not None)
        phase.events[name[:_MOST_NAME]] = wait_class[:_MOST_NAME], known


def _read_machine(phase: _Phase, fields: Sequence[str]) -> None:
    number = _number(fields[1])
    if number is not None:
        phase.machine[fields[0][:_MOST_NAME]] = number


def _read_bucket(phase: _Phase, fields: Sequence[str]) -> None:
    name, below, value, con_id = fields
    bound, number = _number(below), _number(value)
    if bound is not None and number is not None:
        key = name[:_MOST_NAME], int(bound)
        if _of_whole(con_id, key, phase.buckets):
            phase.buckets[key] = number


def _read_parameter(phase: _Phase, fields: Sequence[str]) -> None:
    phase.parameters[fields[0][:_MOST_NAME]] = fields[1][:_MOST_NAME]


_READERS: Mapping[str, Callable[[_Phase, Sequence[str]], None]] = {
    "I": _read_instance,
    "S": lambda phase, fields: _read_total(phase.statistics, fields),
    "E": _read_event,
    "T": lambda phase, fields: _read_total(phase.times, fields),
    "O": _read_machine,
    "H": _read_bucket,
    "P": _read_parameter,
}
