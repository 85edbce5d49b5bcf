"""The load that a forecast is about: measured by `calibrate`, and checked with by `verify-forecast`."""

from __future__ import annotations

from redolab.records.load import Inserts

# As in rows-per-commit: a row with its header takes 64 bytes.
_PADDING_BYTES = 10


def check_load(sessions: int, client: bool) -> Inserts:
    """The load that a forecast is about, and that it is checked with.

    Args:
        sessions: of the busiest setting.
        client: whether the loop runs in a client.
    """
    loop = "client" if client else "server"
    return Inserts("inserts", sessions, "session", _PADDING_BYTES, loop, timed=True, unit="commit")
