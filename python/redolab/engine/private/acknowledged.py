"""Commits that sessions were told of, against those that a killed server has after its recovery."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from redolab.engine.base import Recovery


class MayBeKilled(Protocol):
    """A server of Redolab's own."""

    def crash(self) -> float:
        """Kill every process of the server at once (SIGKILL); returns the monotonic time of it."""
        ...

    def restart(self) -> None:
        """Start it again; recovery runs before it answers."""
        ...


def what_is_missing(
    noted: Sequence[Sequence[float]],
    present: Collection[tuple[int, int]],
    *,
    killed_at: float,
    load_s: float,
    recovery_s: float,
) -> Recovery:
    """Compare what a server holds with what was acknowledged.

    Args:
        noted: of each session the monotonic time of each acknowledgement; commit n of it is its n-th entry.
        present: session and entry of the commits that the server has.
        killed_at: monotonic time of the kill.
        load_s: how long the sessions worked, seconds.
        recovery_s: from the restart to the first answer, seconds.
    """
    acknowledged = {
        (session, entry): at for session, times in enumerate(noted) for entry, at in enumerate(times)
    }
    held = frozenset(present)
    missing = [at for key, at in acknowledged.items() if key not in held]
    return Recovery(
        sessions=len(noted),
        acknowledged=len(acknowledged),
        missing=len(missing),
        unacknowledged=len(held - acknowledged.keys()),
        # One that was on its way at the kill is noted a moment after it.
        loss_window_s=max(0.0, killed_at - min(missing)) if missing else None,
        load_s=load_s,
        recovery_s=recovery_s,
    )
