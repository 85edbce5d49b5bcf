"""Settings of every session of Redolab's own at its log-in, so that no custom of a server changes an answer.

Settings that an administrator makes for applications (limits of rows, digits, time zones) hold for every
session that does not set its own.
"""

from __future__ import annotations

from collections.abc import Mapping

_MOST = (1 << 64) - 1
READING: Mapping[str, int | str] = {
    "sql_select_limit": _MOST,
    "max_join_size": _MOST,
    # After the one above, which sets it too.
    "sql_big_selects": 1,
    "group_concat_max_len": 1 << 20,
    "max_sort_length": 1024,
    "div_precision_increment": 4,
    "sql_mode": "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
    "sql_auto_is_null": 0,
    "sql_safe_updates": 0,
    "completion_type": 0,
    "time_zone": "+00:00",
}
"""Whatever the answers of Redolab's own statements depend on; every MariaDB and MySQL has all of them."""

LASTING: Mapping[str, int] = {
    "wait_timeout": 8 * 3600,
    "net_read_timeout": 60,
    "net_write_timeout": 60,
    "max_statement_time": 0,
    "max_execution_time": 0,
    "sql_require_primary_key": 0,
    # Else a table of Redolab's would have a column more than on another server.
    "sql_generate_invisible_primary_key": 0,
}
"""For sessions of a run, whose samples no limit for applications may cut short; some servers lack some."""


def at_log_in() -> str:
    """The statement that sets `READING`."""
    values = ", ".join(f"{name} = {value!r}" for name, value in READING.items())
    return f"SET SESSION {values}"
