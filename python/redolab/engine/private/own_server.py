"""The interface of a server that Redolab started itself, for a database's room."""

from __future__ import annotations

from typing import Protocol

from redolab.engine.private.log_device import LogDevice


class OwnServer(Protocol):
    """A server that Redolab started, may kill, and will remove."""

    device: LogDevice | None
    log_filesystem: str | None

    def flush_s(self) -> float | None:
        """Time of a flush of a small file next to its data now, seconds; None where it cannot be done."""
        ...

    def crash(self) -> float:
        """Kill every process of the server at once (SIGKILL); returns the monotonic time of it."""
        ...

    def restart(self) -> None:
        """Start it again; recovery runs before it answers."""
        ...

    def revive(self) -> None:
        """Start it again if it has ended."""
        ...

    def stop(self) -> None:
        """Stop it and remove its directory."""
        ...
