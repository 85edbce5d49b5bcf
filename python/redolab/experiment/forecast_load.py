"""The load that a forecast is about: measured by `calibrate` and `response-curve`, and used for checks by
`verify-forecast`; and the settings from which its costs are read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from redolab.experiment.base import Levels, setting_name
from redolab.records.load import Inserts
from redolab.records.sample import Scope

# As in rows-per-commit: a row with its header takes 64 bytes.
_PADDING_BYTES = 10
PER_CPU = 16
"""Sessions of today's setting for each CPU, where their number is not given."""
_TIMES = 2
"""Factor by which more sessions are also measured."""
_ROWS, _FEWER_PER_CPU = 32, 4
PAUSES_MS = (1, 8, 50)
"""Idle times of the log device before a lone session commits again, milliseconds."""


def check_load(sessions: int, loop: str, scope: Scope = "session") -> Inserts:
    """The load that a forecast is about, and that it is checked with.

    Args:
        sessions: those of the busiest setting.
        loop: where it runs, `server` or `client`.
        scope: how the parameters of a setting are put in force.
    """
    return Inserts("inserts", sessions, scope, _PADDING_BYTES, timed=True, unit="commit", loop=loop)


def looping(sessions: int, rows_per_commit: int, commit_wait: str) -> Levels:
    """The levels of sessions that begin their next transaction at once."""
    return {
        "sessions": str(sessions),
        "rows_per_commit": str(rows_per_commit),
        "commit_wait": commit_wait,
    }


def calibration_settings(busy: int, cpus: int, loops: Collection[str]) -> Mapping[str, Levels]:
    """Settings from which costs are read: today's sessions first, then a lone one, twice as many, and many
    with rows.

    Commits that do not wait separate the CPU time of a commit and of a row from the CPU time of waiting.
    Twice as many sessions show how both grow beyond today's. A lone session that pauses lets the device idle.

    Args:
        busy: today's sessions, at least 2.
        cpus: of the machine.
        loops: where the engine lets a session's loop run.
    """
    pausing = "server" if "server" in loops else "client"
    fewer, more = min(busy, _FEWER_PER_CPU * cpus), _TIMES * busy
    return {
        setting_name(levels): levels
        for levels in (
            looping(busy, 1, "wait"),
            looping(1, 1, "wait"),
            looping(more, 1, "wait"),
            looping(busy, _ROWS, "wait"),
            looping(1, 1, "nowait"),
            looping(busy, 1, "nowait"),
            looping(more, 1, "nowait"),
            looping(fewer, _ROWS, "nowait"),
            *(_paused(pause_ms, pausing) for pause_ms in PAUSES_MS),
        )
    }


def _paused(pause_ms: int, loop: str) -> Levels:
    """A lone session that pauses, whatever the others are: inside the server it can pause on its CPU."""
    return {**looping(1, 1, "wait"), "loop": loop, "pause_ms": str(pause_ms)}
