"""Redolab: a laboratory for database commit performance. See README.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redolab.records.store import Run, open_run

    __version__: str

__all__ = ["Run", "__version__", "open_run"]


def __getattr__(name: str) -> Any:
    # Arrow takes a tenth of a second to load; `redolab --help` must not wait for it.
    if name in ("Run", "open_run"):
        from redolab.records import store

        return getattr(store, name)
    if name == "__version__":
        from importlib import metadata

        return metadata.version("redolab")
    raise AttributeError(f"module 'redolab' has no attribute {name!r}")
