"""What SQLite's words mean. It posts no wait events."""

from __future__ import annotations

from redolab.dialect.base import Dialect

DIALECT = Dialect(products={"sqlite": "SQLite"})
