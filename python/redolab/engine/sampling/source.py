"""Interface of what watches the processes of a server of any database: for a run, and for a live profile."""

from __future__ import annotations

from typing import Protocol

from redolab.records.observation import Observation


class Source(Protocol):
    """Watches a server from its construction until `stop`.

    A run holds it in turns and counts its observation (`tick_counts`). An observer of a live server
    reads it again and again, each database's together with what it asks the server.
    """

    def pause(self) -> None:
        """Look at nothing until `resume`."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...

    def stop(self) -> Observation:
        """The observation since the last reading, and end."""
        ...
