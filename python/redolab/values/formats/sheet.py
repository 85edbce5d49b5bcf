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
    """The numbers; NaN where a row does not have one."""
    unit: str | None = None


Texts = Sequence[str | None]


@dataclass(frozen=True)
class Sheet:
    """A program's file that does not hold separated values."""

    format: str
    """The kind of file, with the program that wrote it, in words."""
    figures: Mapping[str, SheetNumbers]
    """Columns of numbers by name, all with the same number of rows."""
    texts: Mapping[str, Callable[[], Texts]]
    """Columns of names, with as many rows."""
    default: str | None
    """The column of numbers to read where the user names none; None where no column is the usual one."""
    notes: tuple[str, ...] = ()
    in_time: bool = False
    """Whether its rows follow each other in time."""
    ordered: bool = True
    """Whether its rows are in the order in which they were measured."""


def floats(values: Sequence[float]) -> Floats:
    """Numbers as a column of them."""
    return np.array(values, dtype=float)
