"""How old the oldest transaction id of a server is, and whether a run may make it so much older.

A server takes no more commits 2^31 transaction ids after its oldest one, in whichever of its databases that
is, until a vacuum has frozen the oldest rows there.

Source: PostgreSQL manual, "Preventing Transaction ID Wraparound Failures".
"""

from __future__ import annotations

from dataclasses import dataclass

from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.errors import RefusedError
from redolab.units import millions

LIMIT = 1_600_000_000
"""How old the oldest transaction id may become in a run: some 500 million before the server stops."""
_END = 2**31


@dataclass(frozen=True)
class TransactionAge:
    """The oldest transaction id of a server."""

    age: int
    """Number of transaction ids given out since."""
    database: str
    """The database that has it."""
    may_connect: bool
    """Whether that database can be connected to, to vacuum it."""

    @property
    def left(self) -> int:
        """Transaction ids that a run may use up."""
        return max(0, LIMIT - self.age)

    def check(self, need: int) -> None:
        """Make sure that a run may use up `need` transaction ids.

        Raises:
            RefusedError: the oldest would be too old then.
        """
        if need > self.left:
            raise RefusedError(
                f"{self._oldest}. This run uses up at most {millions(need)} transaction ids more, and "
                f"Redolab stays below an age of {millions(LIMIT)}, because a server accepts no more commits "
                f"at {millions(_END)}. {self._mend} Or run with fewer --blocks or shorter --seconds. Nothing "
                "was changed."
            )

    def check_now(self) -> None:
        """Make sure that a run under way may go on.

        Raises:
            RefusedError: the oldest is too old by now.
        """
        if self.age > LIMIT:
            raise RefusedError(
                f"{self._oldest} by now, and Redolab stays below {millions(LIMIT)}, because a server accepts "
                f"no more commits at {millions(_END)}. So the run ends now; every sample that was finished "
                f"is kept. {self._mend}"
            )

    def sentence(self, need: int) -> str:
        """The sentence in the question before a run that uses up `need` at most."""
        return (
            f"{self._oldest}. The run uses up at most {millions(need)} of the {millions(self.left)} that are "
            f"left until {millions(LIMIT)}, where Redolab stops."
        )

    @property
    def _oldest(self) -> str:
        return (
            f"The oldest transaction id of this server is {millions(self.age)} transactions old, in the "
            f"database {self.database}"
        )

    @property
    def _mend(self) -> str:
        if self.may_connect:
            return f"VACUUM (FREEZE) in the database {self.database} makes it younger."
        return f"Only autovacuum can make it younger, because nobody can connect to {self.database}."


def read_age(control: Connection) -> TransactionAge:
    """The oldest transaction id of all databases: any of them can stop the server."""
    row = fetch(control, "select_transaction_age")[0]
    return TransactionAge(int(row["age"]), str(row["database"]), bool(row["may_connect"]))
