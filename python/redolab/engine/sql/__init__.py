"""SQL statements, one file each, named `<verb>_<noun>.<min version>.sql`."""

from __future__ import annotations

import functools
from importlib.resources import files


@functools.cache
def statement(engine: str, name: str, version: int) -> str:
    """The text of the newest variant of `name` that server major `version` understands."""
    variants = {
        int(entry.name.split(".")[1]): entry
        for entry in (files(__name__) / engine).iterdir()
        if entry.name.startswith(f"{name}.")
    }
    return variants[max(low for low in variants if low <= version)].read_text()
