"""A file in a format of its own, as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from redolab.values.reading.table import Floats


@dataclass(frozen=True)
class SheetNumbers:
    """One column of numbers."""

    values: Floats
    """Not a number where a row has none."""
    unit: str | None = None


Texts = Sequence[str | None]


@dataclass(frozen=True)
class Sheet:
    """What a program wrote that is no file of separated values."""

    format: str
    """What wrote it."""
    figures: Mapping[str, SheetNumbers]
    """By name; of as many rows each."""
    texts: Mapping[str, Callable[[], Texts]]
    """Columns of names, of as many rows."""
    default: str | None
    """The column of numbers that a user means who names none; None where that cannot be said."""
    notes: tuple[str, ...] = ()
    in_time: bool = False
    """Whether its rows follow each other in time."""
    ordered: bool = True
    """Whether the order of its rows is that in which they were measured."""


def floats(values: Sequence[float]) -> Floats:
    """Numbers as a column of them."""
    return np.array(values, dtype=float)
