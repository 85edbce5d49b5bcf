"""A random generator in the place of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redolab.engine.offer import Offer, Opening

if TYPE_CHECKING:
    from redolab.engine.base import Engine


def _open(opening: Opening) -> Engine:
    from redolab.engine.generator.engine import GeneratorEngine

    return GeneratorEngine(opening.seed)


OFFERS = (Offer("generator", "random generator, no database", frozenset({"draws"}), _open),)
