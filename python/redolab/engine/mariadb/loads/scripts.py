"""The user's own statements: set-up once, a unit of work from a client, teardown at the end."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.engine.client_job import ClientJob
from redolab.engine.mariadb.loads.base import MariadbLoad
from redolab.engine.mariadb.statements import Statements
from redolab.records.list_texts import with_levels
from redolab.records.load import Script


class MariadbScript(MariadbLoad):
    """`Script` on MariaDB and MySQL. Unqualified names are those of the database `redolab`.

    A unit of work is sent as one text, between BEGIN and COMMIT. In it `{session}` stands for the session's number,
    from 0.
    """

    def __init__(self, load: Script) -> None:
        self._load = load
        self._levels: Mapping[str, str] = {}

    def create(self, control: Statements) -> None:
        """Run the set-up."""
        self._execute(control, "sql.setup", self._load.setup)

    def apply(self, control: Statements, levels: Mapping[str, str]) -> None:
        """Leave the levels that go, and enter those that come."""
        before, self._levels = self._levels, levels
        for factor, level in before.items():
            if levels[factor] != level:
                self._execute(control, f"levels.{factor}.{level}.leave", self._brings(factor, level).leave)
        for factor, level in levels.items():
            if before.get(factor) != level:
                self._execute(control, f"levels.{factor}.{level}.enter", self._brings(factor, level).enter)

    def settle(self, control: Statements) -> None:
        """Execute what the file wants before every sample."""
        self._execute(control, "sql.settle", self._load.settle)

    def client_job(self) -> ClientJob:
        """The unit of work."""
        return ClientJob(with_levels(self._load.unit, self._levels, _literal, _identifier), text=True)
