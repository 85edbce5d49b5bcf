"""Where the time of sessions and of the background went while they were watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from redolab.analysis.exhibits import Column, Table
from redolab.analysis.observed.exhibits import time_columns
from redolab.analysis.observed.watch.measures import Found, quotient
from redolab.analysis.observed.watch.stretches import Floats, Stretches, read_rows
from redolab.analysis.profile import UNACCOUNTED, row_place
from redolab.dialect.row_names import is_wait, row_meaning, row_name
from redolab.records.run import Run
from redolab.records.watched import BACKGROUND, SESSIONS

_TOP = 10
_IDLE: Mapping[str, str] = {SESSIONS: "a client", BACKGROUND: "work"}
_WHOSE: Mapping[str, str] = {SESSIONS: "the sessions", BACKGROUND: "the background processes"}


class Account:
    """The time of one scope: its rows over the stretches that count."""

    def __init__(self, section: str, rows: Mapping[str, Floats], stretches: Stretches) -> None:
        """Take the seconds of each row in each stretch."""
        self.section = section
        self.rows = rows
        self._whole: Floats = np.sum(list(rows.values()), axis=0) if rows else np.zeros(len(stretches))
        self._commits = stretches.columns["session_transactions"]
        self._lengths = stretches.columns["elapsed_s"]

    @property
    def seconds(self) -> float:
        """Seconds of all rows."""
        return float(self._whole.sum())

    def names(self) -> list[str]:
        """The rows in the order of every account: CPU first, waits by their time, unaccounted last."""
        return sorted(self.rows, key=lambda name: row_place(name, float(self.rows[name].sum())))

    def share(self, name: str) -> Found:
        """Share of a row in all rows."""
        return quotient(self.rows[name], self._whole, self._lengths, part=True)

    def per_commit(self, name: str | None = None) -> Found:
        """Seconds of a row, or of all of them, per commit, over the stretches that counted commits."""
        return quotient(self._whole if name is None else self.rows[name], self._commits, self._lengths)

    def profile(self) -> list[dict[str, Any]]:
        """The rows with their time per commit, as the profile of a run's setting; none without commits."""
        if self.per_commit().point is None:
            return []
        return [
            row | {"per_unit_ms": self.per_commit(row["row"]).estimate().scaled(1e3).as_json()}
            for row in self.told()
        ]

    def told(self) -> list[dict[str, Any]]:
        """The rows as the results object has them, like the rows of a live profile."""
        if not self.seconds > 0:
            return []
        return [
            {
                "row": name,
                "class": name.partition(":")[0],
                "share": self.share(name).estimate().as_json(),
                "time_s": float(self.rows[name].sum()),
                "exact": not is_wait(name) and name != UNACCOUNTED,
            }
            for name in self.names()
        ]

    def table(self) -> Table:
        """The account; the account of the sessions is shown next to the verdict."""
        rows = [self._row(name) for name in self.names()]
        whose = _WHOSE[self.section]
        return Table(
            f"account-{self.section}",
            f"Where the busy time of {whose} went",
            time_columns("Share of busy time"),
            rows,
            f"Busy time of {whose} is all time except waiting for {_IDLE[self.section]}. Shares have their "
            "95 % interval.",
            # With a time per commit there are bars of them.
            first=self.section == SESSIONS and self.per_commit().point is None,
        )

    def waits(self) -> Table:
        """The waits with the most time, and what they mean."""
        names = [name for name in self.rows if is_wait(name)]
        names = sorted(names, key=lambda name: (-float(self.rows[name].sum()), name))[:_TOP]
        return Table(
            f"waits-{self.section}",
            f"What {_WHOSE[self.section]} waited for most",
            (*time_columns("Share of busy time"), Column("meaning", "What it is", "text")),
            [self._row(name) | {"meaning": row_meaning(name) or name} for name in names],
        )

    def _row(self, name: str) -> dict[str, Any]:
        per_commit = self.per_commit(name).point
        return {
            "row": row_name(name),
            "seconds": float(self.rows[name].sum()),
            "share": self.share(name).estimate(),
            "per_commit_ms": None if per_commit is None else 1e3 * per_commit,
        }


def read_accounts(run: Run, stretches: Stretches) -> tuple[Account, Account]:
    """The accounts of the sessions and of the background over stretches."""
    return (
        Account(SESSIONS, read_rows(run, SESSIONS, stretches), stretches),
        Account(BACKGROUND, read_rows(run, BACKGROUND, stretches), stretches),
    )
