"""Whether others put something next to Redolab's tables, which a run would execute with its own rights."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.errors import RefusedError


class Planted:
    """The objects there that are not plain tables of Redolab's, by kind; at first nothing."""

    def __init__(self, mend: str) -> None:
        """Take what an administrator does about it: a sentence."""
        self._mend = mend
        self._expected: Mapping[str, int] | None = {}

    def take_as_meant(self) -> None:
        """Take what the next look finds as meant: a user's own list made it."""
        self._expected = None

    def check(self, seen: Mapping[str, int]) -> None:
        """Make sure that nothing came or went.

        Raises:
            RefusedError: something did.
        """
        if self._expected is None:
            self._expected = dict(seen)
        for kind, count in seen.items():
            if count != self._expected.get(kind, 0):
                raise RefusedError(
                    f"Somebody else put {kind} next to Redolab's tables during the run. Whatever such "
                    "foreign objects call would be executed with the rights of this run, so the run ends. "
                    + self._mend
                )
