"""A page of results that have no run directory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from redolab.errors import UsageError
from redolab.files.folder import write_file

Kind = Literal["values", "profile", "forecast"]
"""The kind of a page: `render_` and its name in `redolab.report.page.html`."""


def check_page(out: Path, option: str) -> None:
    """See that nothing is at a page's place yet, before anything is measured for it.

    Raises:
        UsageError: something is there.
    """
    if out.exists() or out.is_symlink():
        raise UsageError(
            f"{out} exists already and is not overwritten. Give {option} another name, or remove it."
        )


def write_page(results: Mapping[str, Any], kind: Kind, out: Path, option: str) -> None:
    """Write the page of a results object.

    Raises:
        UsageError: something else is there, or the place cannot be written.
    """
    from redolab.report.page import html

    check_page(out, option)
    page: str = getattr(html, f"render_{kind}")(results)
    write_text(page, out, option)


def write_text(page: str, out: Path, option: str) -> None:
    """Write a page that is made.

    Raises:
        UsageError: the place cannot be written.
    """
    try:
        write_file(out, page.encode())
    except OSError as error:
        raise UsageError(
            f"{out} cannot be written: {error.strerror}. Give {option} a place you may write to."
        ) from error
