"""What the script of `redolab oracle-pack` spools, written from the truth: a reading before, one after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from tests.written_reports.truth import BOUNDS, Event, Truth, all_events, all_statistics

_BOUND_US = {"us": 1, "ms": 1024, "s": 2**20, "m": 2**26}
STATISTICS = (
    "execute count", "redo blocks written", "redo entries", "redo size", "redo synch time",
    "redo synch writes", "redo wastage", "redo write time", "redo writes", "user calls", "user commits",
    "user rollbacks",
)  # fmt: skip


def oracle_pack(truth: Truth, began_at: float = 3.0) -> str:
    """Both readings; at the first the counters stood at so many times what they then grew by."""
    lines = ["REDOLAB-PACK 1", *_phase(truth, "begin", began_at), *_phase(truth, "end", began_at + 1)]
    return "\n".join([*lines, "REDOLAB-PACK END", ""])


def _phase(truth: Truth, phase: str, times: float) -> Iterator[str]:
    at = truth.begin if phase == "begin" else truth.begin + timedelta(seconds=truth.elapsed_s)
    yield _line(
        "I", phase, truth.instance, truth.database, f"{truth.database}_a", truth.release,
        at.isoformat(sep=" ", timespec="milliseconds"), truth.startup.isoformat(sep=" "),
    )  # fmt: skip
    statistics = all_statistics(truth)
    for name in STATISTICS:
        yield _line("S", phase, name, round(times * statistics.get(name, 0)), 0)
    sessions = {event.name: event for event in truth.foreground}
    for event in all_events(truth):
        mine = sessions.get(event.name, Event(event.name, event.wait_class, 0, 0.0))
        yield _line(
            "E", phase, event.name, event.wait_class, round(times * event.waits),
            round(times * event.seconds * 1e6), round(times * mine.waits),
            round(times * mine.seconds * 1e6), 0,
        )  # fmt: skip
    for name, seconds in _times(truth).items():
        yield _line("T", phase, name, round(times * seconds * 1e6), 0)
    machine = {
        "BUSY_TIME": truth.busy_cs, "IDLE_TIME": truth.idle_cs, "USER_TIME": truth.user_cs,
        "SYS_TIME": truth.sys_cs,
    }  # fmt: skip
    for name, busy_cs in machine.items():
        yield _line("O", phase, name, round(times * busy_cs))
    yield _line("O", phase, "NUM_CPUS", truth.cpus)
    yield _line("O", phase, "NUM_CPU_CORES", truth.cores)
    for event in all_events(truth):
        for bound in BOUNDS:
            if event.name.startswith("log file ") and bound in event.histogram:
                waits = round(times * event.waits * event.histogram[bound] / 100)
                yield _line("H", phase, event.name, _below_us(bound), waits, 0)
    for name, value in truth.parameters.items():
        if name.startswith("commit_"):
            yield _line("P", phase, name, value)


def _times(truth: Truth) -> Mapping[str, float]:
    return {
        "DB time": truth.db_time_s, "DB CPU": truth.db_cpu_s,
        "background elapsed time": truth.background_elapsed_s, "background cpu time": truth.background_cpu_s,
    }  # fmt: skip


def _below_us(bound: str) -> int:
    """Of `<4ms` 4096: buckets end at powers of two of a microsecond, which reports print rounded."""
    text = bound.removeprefix("<").removeprefix("1/")
    unit = text.lstrip("0123456789")
    number = int(text.removesuffix(unit))
    return _BOUND_US[unit] // number if "/" in bound else _BOUND_US[unit] * number


def _line(*fields: object) -> str:
    return "|".join(map(str, fields))
