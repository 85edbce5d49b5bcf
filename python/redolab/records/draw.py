"""The record of values drawn at random, which have no server and no load."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Draw:
    """Values drawn under one setting (a row of a sampling-distribution run's `samples.parquet`)."""

    sample: int = field(metadata={"doc": "1, 2, 3 ... in the order drawn"})
    block: int = field(metadata={"doc": "1, 2, 3 ...: the repetition"})
    position: int = field(metadata={"doc": "place inside the block, from 1"})
    setting: str = field(metadata={"doc": "name of the setting"})
    started_at: str = field(metadata={"doc": "UTC, ISO 8601"})
    start_s: float = field(metadata={"doc": "seconds since the run began"})
    elapsed_s: float = field(metadata={"doc": "time that drawing took"})
    spoiled: str | None = field(metadata={"doc": "why this repetition does not count; null when it does"})

    groups: int = field(metadata={"doc": "groups that the values are cut into"})
    values: tuple[float, ...] = field(metadata={"doc": "the values, group after group"})
