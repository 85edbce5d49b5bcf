"""Whether the synchronous standbys are there that a waiting commit needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.errors import RefusedError

_NUMBER = re.compile(r"\s*(?:(?:first|any)\s+)?(\d{1,9})\s*\(", re.IGNORECASE)


def why_none_confirm(control: Connection) -> str:
    """Why a commit that waits would not return on this server, one sentence; empty where it would.

    Where this role may not see the standbys it is empty too.
    """
    return why_not(fetch(control, "select_standbys")[0])


def why_not(row: Mapping[str, Any]) -> str:
    """The same sentence, from a row of `select_standbys`."""
    names, confirming = str(row["names"]), row["confirming"]
    wanted = standbys_wanted(names)
    if confirming is None or confirming >= wanted:
        return ""
    those = f"only {confirming}" if confirming else "none"
    return (
        f"A waiting commit does not return on this server: synchronous_standby_names = '{names}' asks for "
        f"{wanted} standby{'s' if wanted > 1 else ''} to confirm it, but {those} "
        f"{'do' if confirming > 1 else 'does'}."
    )


def check_standbys(control: Connection) -> None:
    """Make sure that commits can return.

    Raises:
        RefusedError: fewer synchronous standbys are connected than a commit waits for.
    """
    if why := why_none_confirm(control):
        raise RefusedError(
            f"{why} Connect the standbys (pg_stat_replication shows them and their sync_state), or take them "
            "out of synchronous_standby_names, then SELECT pg_reload_conf(). Nothing was changed."
        )


def standbys_wanted(names: str) -> int:
    """How many must confirm by `synchronous_standby_names`; 0 where it is empty.

    >>> [standbys_wanted(text) for text in ("", "one", "one, two", "2 (a, b)", "ANY 3 (*)", "first 2(a)")]
    [0, 1, 1, 2, 3, 2]
    """
    if not names.strip():
        return 0
    number = _NUMBER.match(names)
    return int(number[1]) if number else 1
