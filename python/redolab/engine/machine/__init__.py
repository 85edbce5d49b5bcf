"""The machine itself as an engine, without a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening
from redolab.records.capability import CAPABILITIES

if TYPE_CHECKING:
    from redolab.engine.base import Engine


def _open(opening: Opening) -> Engine:  # noqa: ARG001
    from redolab.engine.machine.engine import MachineEngine

    return MachineEngine()


OFFERS = (
    Offer(
        name="machine",
        title="this machine, no database",
        text="the machine itself, without a database",
        capabilities=frozenset({"cpu_work"}),
        lacks=dict.fromkeys(CAPABILITIES, "The engine machine only computes: it has no database."),
        open=_open,
    ),
)
