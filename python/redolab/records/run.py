"""A stored run in memory: what its manifest says, and its tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Run:
    """A stored run as `redolab.records.store` reads it, without any database."""

    path: Path
    manifest: dict[str, Any]
    samples: pa.Table
    waits: pa.Table
    profile: pa.Table
    overhead: pa.Table
    latency: pa.Table
    entries: pa.Table
