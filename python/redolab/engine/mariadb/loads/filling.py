"""Filling a table with numbered rows, by statements that both MariaDB and MySQL have."""

from __future__ import annotations

from redolab.engine.mariadb.statements import Statements

_BATCH = 65_536


def fill(control: Statements, more: str, rows: int) -> None:
    """Copy rows until there are as many as wanted, each time as many as there are, but no more than a batch.

    Args:
        control: what the copying is executed on.
        more: copies the rows whose number is below its second value, with its first added to the number; the
            table has the row of number 0.
        rows: how many there shall be.
    """
    filled = 1
    while filled < rows:
        copied = min(filled, rows - filled, _BATCH)
        control.run(more, filled, copied)
        filled += copied
