"""The machine itself as an engine, without a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening

if TYPE_CHECKING:
    from redolab.engine.base import Engine


def _open(opening: Opening) -> Engine:  # noqa: ARG001
    from redolab.engine.machine.engine import MachineEngine

    return MachineEngine()


OFFERS = (Offer("machine", "this machine, no database", frozenset({"cpu_work"}), _open),)
