"""A random generator in the place of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening
from redolab.records.capability import CAPABILITIES

if TYPE_CHECKING:
    from redolab.engine.base import Engine


def _open(opening: Opening) -> Engine:
    from redolab.engine.generator.engine import GeneratorEngine

    return GeneratorEngine(opening.seed)


OFFERS = (
    Offer(
        name="generator",
        title="a random generator, no database",
        text="a random generator in this process; no database",
        capabilities=frozenset({"draws"}),
        lacks=dict.fromkeys(CAPABILITIES, "The engine generator only draws values: it has no database."),
        open=_open,
    ),
)
