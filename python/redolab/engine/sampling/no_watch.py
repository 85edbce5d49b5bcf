"""A wait sampler for engines that have no waits, or whose waits cannot be read: it sees nothing."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from redolab.records.sample import Ticks


class NoWatch:
    """Reads nothing."""

    ticks = Ticks()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing was begun."""
