"""Which figure comes from which column of Oracle's: for the reference page, and for whoever doubts one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadFigure:
    """One figure, and where it is read."""

    name: str
    """As reports call it."""
    statement: str
    """Name of the statement."""
    read: tuple[str, ...]
    """Columns, and the rows by name, as in the statement."""
    how: str
    """The computation with them, half a sentence."""


FIGURES = (
    ReadFigure(
        "a session's waits", "select_session_waits", ("e.total_waits", "e.time_waited_micro"),
        "difference of two readings, by event and class",
    ),
    ReadFigure(
        "a wait that has not ended", "select_sessions", ("s.state", "s.event", "s.wait_time_micro"),
        "added at the later reading, subtracted at the earlier, where STATE is WAITING",
    ),
    ReadFigure(
        "waiting for a client, main loops", "select_sessions", ("s.wait_class",),
        "waits of the class Idle; inside a transaction where an inactive session has one (TADDR)",
    ),
    ReadFigure(
        "CPU time of a session or a background process", "select_session_times",
        ("'DB CPU'", "'background cpu time'"), "difference of two readings",
    ),
    ReadFigure(
        "unaccounted", "select_session_times", ("t.value",),
        "elapsed time less CPU and waits: the run queue, and what Oracle does not time",
    ),
    ReadFigure(
        "CPU time of sessions that came and went", "select_times", ("'DB CPU'", "'background cpu time'"),
        "CPU time of the instance less that of the sessions seen",
    ),
    ReadFigure(
        "waits of the instance, their number and average", "select_waits",
        ("w.total_waits", "w.time_waited_micro"), "difference of two readings",
    ),
    ReadFigure(
        "flushes of the log and their time", "select_waits", ("w.event",),
        "waits for log file parallel write: one call writes and flushes",
    ),
    ReadFigure("transactions", "select_statistics", ("'user commits'",), "difference of two readings"),
    ReadFigure(
        "log written", "select_statistics", ("'redo size'", "'redo writes'"),
        "difference of two readings, bytes and calls",
    ),
    ReadFigure(
        "histograms of log sync and log write", "select_histograms", ("h.wait_time_micro", "h.wait_count"),
        "difference of two readings, by bucket",
    ),
    ReadFigure(
        "the machine's CPUs, and how busy they were", "select_machine", ("'NUM_CPUS'", "'BUSY_TIME'"),
        "difference of two readings; BUSY_TIME has hundredths of a second",
    ),
    ReadFigure("whether the instance was restarted", "select_instance", ("i.startup_time",), "compared"),
    ReadFigure(
        "whether waits are timed at all", "select_parameters", ("'timed_statistics'",),
        "FALSE is refused",
    ),
    ReadFigure(
        "which container is seen", "select_self", ("'CON_ID'", "'CON_NAME'"),
        "0: no containers; 1: the root; from 2 on a pluggable database",
    ),
    ReadFigure(
        "a scan's consistent gets, changes, copies of blocks, and undo", "select_session_statistics",
        ("'consistent gets'", "'consistent changes'", "'CR blocks created'",
         "'data blocks consistent reads - undo records applied'"),
        "of the scanning session, difference of two readings (columns of `samples.parquet`)",
    ),
)  # fmt: skip
