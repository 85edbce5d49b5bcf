"""All dialects, and the dialect of a stored run."""

from __future__ import annotations

from importlib import import_module

from redolab.dialect.base import NOTHING_KNOWN, Dialect, Grouping

_DATABASES = (
    "postgres",
    "mariadb",
    "sqlite",
    "oracle",
)
"""The modules that have a `DIALECT`."""
DIALECTS: tuple[Dialect, ...] = tuple(import_module(f"redolab.dialect.{name}").DIALECT for name in _DATABASES)


def dialect_of(engine: str) -> Dialect:
    """The dialect of an engine by its name in a manifest; an empty one where the engine is not known."""
    name = engine.lower()
    return next((dialect for dialect in DIALECTS if name in dialect.products), NOTHING_KNOWN)


def grouping_of(engine: str) -> Grouping | None:
    """How an engine's commits share flushes, by its name in a manifest; None where its dialect lacks it."""
    return dialect_of(engine).groupings.get(engine.lower())


def product_name(engine: str) -> str | None:
    """The name of the database as its maker writes it; None where the engine is not a known database."""
    return dialect_of(engine).products.get(engine.lower())
