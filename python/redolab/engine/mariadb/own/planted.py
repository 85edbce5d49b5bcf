"""The objects in the database `redolab` other than tables.

Neither MariaDB nor MySQL gives a database an owner. Whoever has rights on `redolab`.* can drop a table and
put a view in its place, whose functions are called with the rights of the run.
"""

from __future__ import annotations

from collections.abc import Mapping

COUNTED: Mapping[str, str] = {
    "views": "(select count(*) from information_schema.tables where table_schema = 'redolab' "
    "and table_type <> 'BASE TABLE')",
    "triggers": "(select count(*) from information_schema.triggers where trigger_schema = 'redolab')",
}
"""Columns of a SELECT that count it."""
MEND = (
    "Look who has rights there (SELECT User, Host FROM mysql.db WHERE 'redolab' LIKE Db), and take them away."
)
