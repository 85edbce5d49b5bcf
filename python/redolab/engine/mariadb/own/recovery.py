"""Putting somebody's server back: after a run, after a killed one, from any later process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, suppress

import pymysql

from redolab.engine.mariadb.connecting.connector import Connector
from redolab.engine.mariadb.connection import Connection, address, ask, error_number, error_text
from redolab.engine.mariadb.own.journal import read_changed, read_teardown
from redolab.engine.mariadb.own.schema import (
    MARKS,
    drop_database,
    find_database,
    left_here,
    server_place,
)
from redolab.engine.mariadb.own.sessions import end_sessions, is_same_life, read_sessions
from redolab.engine.mariadb.parameters import literal, read_values, same_value, set_global
from redolab.engine.server.kept import Changed, Kept
from redolab.engine.server.putting_back import ServerParameters
from redolab.engine.server.recovery import Finished, SchemaRecovery, Standing
from redolab.errors import RedolabError, sentence

_LOCKED = 1205
_WHO_LOCKS = (
    "another session holds a lock on one of its tables: an open transaction that read it, or a backup under "
    "FLUSH TABLES WITH READ LOCK"
)


class GlobalVariables(ServerParameters):
    """Parameters of one server, which SET GLOBAL changes."""

    errors = (pymysql.Error, OSError)

    def __init__(self, control: Connection) -> None:
        """Take the connection."""
        self._control = control

    def seen(self, changed: Collection[Changed]) -> Mapping[str, str | None]:
        """The values that the server has."""
        values = read_values(self._control, [one.name for one in changed])
        return {one.name: values.get(one.name) for one in changed}

    def put(self, one: Changed) -> None:
        """Put it back by SET GLOBAL, and read it back."""
        assert one.before is not None, "a variable has a value"
        set_global(self._control, one.name, one.before)

    def same(self, one: str | None, other: str | None) -> bool:
        """Whether they are the same value; `ON` and `1` are."""
        return one == other if one is None or other is None else same_value(one, other)

    def statement(self, one: Changed) -> str:
        """SET GLOBAL."""
        return f"SET GLOBAL {one.name} = {literal(one.value)};"

    def words(self, error: Exception) -> str:
        """The error in one line."""
        return why(error)


class MariadbRecovery(SchemaRecovery):
    """One server, and the database `redolab` on it."""

    marks = MARKS
    kind, within, journal = "database", "on that server", "redolab.parameter_journal"
    afterwards = "A restart of the server resets its parameters to its configuration."

    def __init__(self, control: Connection, connector: Connector, marks: Mapping[str, str]) -> None:
        """Take what is put back.

        Args:
            control: connected to the server, which this process has taken.
            connector: to it, for a connection that takes several statements at once.
            marks: those that prove a database to be one's own, each with the place of its server.
        """
        self._control, self._connector, self._marks = control, connector, marks
        self.parameters = GlobalVariables(control)

    def end_sessions(self, kept: Kept) -> None:
        """End the run's sessions that still work, by their numbers."""
        with suppress(pymysql.Error):
            end_sessions(self._control, kept.sessions)

    def tear_down(self, kept: Kept) -> str:
        """Execute it in a connection of its own."""
        try:
            with closing(self._connector.connect("redolab list", several=True)) as of_list:
                with suppress(pymysql.err.OperationalError):  # Somebody dropped it.
                    ask(of_list, "use redolab")
                with of_list.cursor() as cursor:
                    cursor.execute(kept.teardown)
                    while cursor.nextset():
                        pass
        except (pymysql.Error, RedolabError) as error:
            return (
                f"The teardown of the list failed: {sentence(why(error))} Objects that it created may still "
                "exist."
            )
        return ""

    def find(self, kept: Kept) -> Standing | None:  # noqa: ARG002
        """Find it by the seal of its journal."""
        return find_database(self._control, self._marks)

    def drop_statement(self, name: str) -> str:
        """DROP DATABASE."""
        return f"DROP DATABASE {name}"

    def drop(self, standing: Standing) -> None:  # noqa: ARG002
        """Drop everything in it first."""
        drop_database(self._control)

    def listed(self, standing: Standing) -> Kept:
        """The contents of its lists; nothing, where it is empty.

        Raises:
            RefusedError: somebody else wrote one of the rows.
        """
        control, mark = self._control, standing.mark
        if not mark:
            return Kept()
        sessions, started = read_sessions(control) if "session" in standing.lists else ((), 0)
        return Kept(
            mark=mark,
            address=address(control),
            changed=read_changed(control, mark),
            teardown=read_teardown(control, mark) if "teardown" in standing.lists else "",
            sessions=sessions,
            started=started,
        )

    def restarted(self, kept: Kept) -> bool:
        """Whether the server was restarted: SET GLOBAL lasts until a restart."""
        try:
            return kept.started > 0 and not is_same_life(self._control, kept.started)
        except (pymysql.Error, OSError):
            return False  # What puts parameters back will say what is wrong.

    def forget(self, kept: Kept) -> None:
        """Forget its mark, or all of this server's, where nothing is left of any of them."""
        here, reached = server_place(self._control), kept.address or address(self._control)
        for mark, place in MARKS.kept().items():
            if mark == kept.mark or (not kept.mark and place == here):
                MARKS.forget(mark, reached)


def recover(control: Connection, connector: Connector) -> Iterator[Finished]:
    """Put back what killed runs of this machine left, and drop it.

    What a run changed is known by what this machine noted of it; where that could not be, by the lists in its
    database.

    Args:
        control: connected to the server, which this process has taken.
        connector: to it, for a connection that takes several statements at once.

    Yields what came of each.

    Raises:
        RefusedError: the lists cannot be read.
    """
    for noted in left_here(control).here:
        yield MariadbRecovery(control, connector, MARKS.kept()).finish_noted(noted)
    finished = MariadbRecovery(control, connector, MARKS.kept()).recover()
    if finished is not None:
        yield finished


def why(error: Exception) -> str:
    """The text of an error, in one line without a full stop."""
    if error_number(error) == _LOCKED:
        return _WHO_LOCKS
    text = str(error) if isinstance(error, RedolabError) else error_text(error)
    return " ".join(text.split()).rstrip(".")
