"""The database `redolab`: how it is made, and how it is proved to be Redolab's own before it is used.

It counts as Redolab's own only if its journal bears the seal of a mark that this machine kept, if its lists
are plain tables, and if nobody else defined anything in it. One without anything in it counts where this
machine kept a mark for this server: a run that was killed between two statements leaves it so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pymysql

from redolab.engine.mariadb.connection import Connection, address, ask, error_number, fetch
from redolab.engine.mariadb.own.journal import JOURNAL, LISTS, seal
from redolab.engine.private.marks import Left, Marks
from redolab.engine.server.recovery import Standing

MARKS = Marks("databases")
"""Marks of MariaDB and MySQL, each with the place of its server."""

_COMMENT = "made by redolab; removed at the end of the run; seal {}"
_SEALED = re.compile(r"made by redolab; removed at the end of the run; seal ([0-9a-f]{64})")
_MOST_LETTERS = 200
_NO_DATABASE = 1049


def server_place(control: Connection) -> str:
    """The key by which this machine distinguishes servers."""
    row = ask(control, "select @@hostname as host, @@port as port, @@datadir as data")[0]
    return f"{row['host']}:{row['port']} {row['data']}"[:_MOST_LETTERS]


def left_here(control: Connection) -> Left:
    """The changes that killed runs of this machine left on this server."""
    return MARKS.left_on(server_place(control), address(control))


def find_database(control: Connection, marks: Mapping[str, str]) -> Standing | None:
    """The database `redolab` and whether it is Redolab's own; None when it does not exist.

    Args:
        control: connected to the server.
        marks: those that prove a database to be one's own, each with the place of its server.

    Raises:
        pymysql.Error: this user has no right by which it would be seen.
    """
    row = fetch(control, "select_schema", 500)[0]
    if not row["databases"]:
        _check_missing(control)
        return None
    if not row["contents"]:
        here = server_place(control)
        is_noted = here in marks.values()
        return Standing(None, None if is_noted else "it is empty, and Redolab noted nothing of it", is_noted)
    comments = str(row["comments"] or "").split("\n")
    seals = [match[1] for match in map(_SEALED.fullmatch, comments) if match]
    mark = next((mark for mark in marks if seal(mark, JOURNAL) in seals), None)
    lists = str(row["lists"] or "").split(",")
    doubt = odd = None
    if not seals:
        doubt = "Redolab did not make it"
    elif mark is None:
        doubt = "its mark is not known on this machine"
    if row["odd_lists"] or (JOURNAL not in lists and mark is not None):
        odd = "its lists are not the plain tables that Redolab makes"
    elif row["definer"]:
        odd = f"{row['definer']} defined a view, trigger, routine or event in it"
    return Standing(None if doubt else mark, doubt, bool(seals), lists=lists, odd=odd)


def _check_missing(control: Connection) -> None:
    """Make sure that it is not only hidden: a user without rights does not see it."""
    try:
        ask(control, "use redolab")
    except pymysql.Error as error:
        if error_number(error) != _NO_DATABASE:
            raise


def make_database(control: Connection, mark: str) -> None:
    """Make the database, whose lists bear the seal of `mark`: one of them that is left is proof enough."""
    ask(control, "create database redolab character set utf8mb4")
    comment = _COMMENT.format(seal(mark, JOURNAL))
    for name, columns in LISTS.items():
        ask(control, f"create table redolab.{name} ({columns}) engine=InnoDB comment=%s", comment)


def drop_database(control: Connection) -> None:
    """Drop everything in it, its journal last, and the database."""
    rows = ask(
        control,
        "select table_name as name from information_schema.tables where table_schema = 'redolab' "
        "and table_type = 'BASE TABLE' and table_name <> %s",
        JOURNAL,
    )
    if rows:
        names = ", ".join(f"redolab.{quoted(row['name'])}" for row in rows)
        # A user's own list may have made tables that refer to one another.
        ask(control, "set session foreign_key_checks = 0")
        ask(control, f"drop table if exists {names}")
        ask(control, "set session foreign_key_checks = 1")
    ask(control, "drop database redolab")


def quoted(name: str) -> str:
    """An identifier as SQL wants it.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"
