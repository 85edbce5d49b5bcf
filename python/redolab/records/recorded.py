"""What is read of a run, wherever it is kept: its manifest and its tables.

`redolab.records.store.Run` is one. Figures are computed from this alone, so that analysis knows no files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Recorded(Protocol):
    """A run's manifest and tables (fields and units: `redolab.records.sample`)."""

    @property
    def path(self) -> Path:
        """Where the run lies; a name for readers, nothing is opened."""

    @property
    def manifest(self) -> dict[str, Any]:
        """What the run says of itself."""

    @property
    def samples(self) -> pa.Table:
        """One row per sample."""

    @property
    def waits(self) -> pa.Table:
        """Ticks per sample, wait event and scheduler state."""

    @property
    def profile(self) -> pa.Table:
        """CPU and run queue per sample and server process."""

    @property
    def overhead(self) -> pa.Table:
        """Throughput with the wait sampler on and off, in pairs."""

    @property
    def latency(self) -> pa.Table:
        """Histograms of commit and response times per sample."""
