"""Edits of the server's configuration that somebody else did not reload: a reload puts them in force.

Redolab reloads the configuration where it changes parameters of the whole server. So this is read before, and
reported in the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.engine.postgres.connecting.connection import Connection, fetch
from redolab.engine.postgres.parameters.alter_system import HIDDEN
from redolab.engine.postgres.parameters.text import same_value

_MOST_NAMED = 5
_FILES = ("default", "configuration file")
# A reload does not reach these.
_NOT_BY_RELOAD = ("internal", "postmaster")


def pending_edits(control: Connection, role: str) -> list[str]:
    """Sentences on others' edits that a reload puts in force, and on files that may not be read.

    Args:
        control: connected to the server.
        role: as it is quoted in a GRANT.
    """
    sentences = []
    try:
        sentences += _of_settings(fetch(control, "select_file_settings"))
    except HIDDEN:
        sentences.append(
            "Whether an edit of the configuration waits for a reload may not be read. A superuser's "
            f"GRANT SELECT ON pg_file_settings TO {role} and GRANT EXECUTE ON FUNCTION "
            f"pg_show_all_file_settings() TO {role} would show it."
        )
    try:
        changed = [row["file"] for row in fetch(control, "select_access_files") if row["changed"]]
    except HIDDEN:
        sentences.append(
            "This role may not see whether an edit of pg_hba.conf waits for a reload. A superuser's GRANT "
            f"EXECUTE ON FUNCTION pg_stat_file(text) TO {role} and GRANT pg_read_server_files TO {role} "
            "would show that."
        )
    else:
        if changed:
            sentences.append(
                f"{' and '.join(changed)} changed after the last reload: Redolab's reload puts that change "
                "in force."
            )
    return sentences


def _of_settings(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    wrong = [f"line {row['line']} of {row['file']} ({row['error']})" for row in rows if _is_wrong(row)]
    waiting = [_change(row) for row in rows if row["error"] is None and _waits(row)]
    sentences = []
    if waiting:
        more = f" and {len(waiting) - _MOST_NAMED} more" if len(waiting) > _MOST_NAMED else ""
        named = ", ".join(waiting[:_MOST_NAMED])
        sentences.append(
            f"Redolab's reload also puts in force other edits that wait for a reload: {named}{more}."
        )
    if wrong:
        sentences.append(f"The configuration files have an error, so a reload may be refused: {wrong[0]}.")
    return sentences


def _is_wrong(row: Mapping[str, Any]) -> bool:
    # One that only a restart puts in force is noted as an error too.
    return row["error"] is not None and row["context"] not in _NOT_BY_RELOAD


def _waits(row: Mapping[str, Any]) -> bool:
    if row["context"] is None or row["context"] in _NOT_BY_RELOAD:
        return False
    if row["in_file"] is None:
        return True  # It came from a file, and is not there any more.
    # What a role, a database or the command line sets is not changed by a file.
    return row["source"] in _FILES and not same_value(
        row["in_file"], row["in_force"], row["unit"], row["kind"]
    )


def _change(row: Mapping[str, Any]) -> str:
    if row["in_file"] is None:
        return f"{row['name']} back to its default"
    return f"{row['name']} = {row['in_file']} ({row['file']} line {row['line']})"
