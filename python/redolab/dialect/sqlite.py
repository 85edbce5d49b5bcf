"""The words of SQLite, which posts no wait events."""

from __future__ import annotations

from redolab.dialect.base import Dialect

DIALECT = Dialect(products={"sqlite": "SQLite"})
