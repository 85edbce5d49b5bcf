"""Hands groups of tests to the workers of pytest-xdist."""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.side_by_side import TIMED, group_of

BESIDE_TIMED = 2
"""Workers while time is measured: one that measures, and one that computes beside it."""


class Groups(LoadScopeScheduling):  # type: ignore[misc]  # xdist comes without types
    """Each group goes to one worker as a whole; those beyond two begin when the timed tests are over.

    xdist's own groups do nothing under pytest 9.2: they write into the name that a test had before it.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0])

    def _assign_work_unit(self, node: WorkerController) -> None:
        if not self._is_held(node):
            super()._assign_work_unit(node)

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        was_held = any(map(self._is_held, self.nodes))
        super().mark_test_complete(node, item_index, duration)
        if was_held:
            # A worker does not run the last test it was given before it was given another.
            for _ in range(2):
                for other in self.nodes[BESIDE_TIMED:]:
                    self._reschedule(other)

    def _is_held(self, node: WorkerController) -> bool:
        return node in self.nodes[BESIDE_TIMED:] and self._is_timing()

    def _is_timing(self) -> bool:
        units: list[dict[str, Any]] = [self.workqueue, *self.assigned_work.values()]
        return any(not all(unit[TIMED].values()) for unit in units if TIMED in unit)
