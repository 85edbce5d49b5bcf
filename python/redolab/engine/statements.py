"""SQL statements, one file each, named `<verb>_<noun>.<min version>.sql`."""

from __future__ import annotations

import functools
from importlib.resources import files


@functools.cache
def has_statement(folder: str, name: str) -> bool:
    """Whether a folder has a variant of `name` at all; its arguments are those of `statement`."""
    return any(entry.name.startswith(f"{name}.") for entry in (files("redolab.engine") / folder).iterdir())


@functools.cache
def statement(folder: str, name: str, version: int) -> str:
    """The text of the newest variant of `name` that server major `version` understands.

    Args:
        folder: a database's, below `engine/`, such as `postgres/sql`.
        name: `<verb>_<noun>`.
        version: the server's, as the database's files count it.
    """
    variants = {
        int(entry.name.split(".")[1]): entry
        for entry in (files("redolab.engine") / folder).iterdir()
        if entry.name.startswith(f"{name}.")
    }
    return variants[max(low for low in variants if low <= version)].read_text()
