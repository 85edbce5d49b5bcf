"""The statements that Redolab has for Oracle, and what each reads."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from redolab.engine.statements import statement

FOLDER = "oracle/sql"
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_SOURCES = re.compile(
    r"\b(?:from|join)\s+(v\$\w+|session_privs|user_tables|redolab_run|redolab_scanned)", re.IGNORECASE
)


@dataclass(frozen=True)
class Statement:
    """One file of the folder."""

    name: str
    """`<verb>_<noun>`."""
    oldest: int
    """The release from which on it is used, as major * 100 + minor."""
    purpose: str
    """Its leading comment."""
    text: str
    """The text that is sent."""

    @property
    def views(self) -> tuple[str, ...]:
        """The views that it reads, in upper case, each once."""
        return tuple(dict.fromkeys(name.upper() for name in _SOURCES.findall(self.text)))

    @property
    def privileges(self) -> tuple[str, ...]:
        """The views that a user must be granted, as a GRANT names them."""
        return tuple(granted(view) for view in self.views if view.startswith("V$"))


@functools.cache
def all_statements() -> tuple[Statement, ...]:
    """Every statement there is, by name and release."""
    return tuple(sorted(_read(), key=lambda item: (item.name, item.oldest)))


@functools.cache
def find(name: str, version: int) -> Statement:
    """The newest variant of a statement that a release understands.

    Args:
        name: of the statement.
        version: the server's release, as major * 100 + minor.
    """
    text = _sent(statement(FOLDER, name, version))
    return next(item for item in all_statements() if item.name == name and item.text == text)


def granted(view: str) -> str:
    """A view as a GRANT names it: what users read is a synonym, which takes no grant.

    >>> granted("V$SYSSTAT")
    'SYS.V_$SYSSTAT'
    """
    return f"SYS.V_{view.removeprefix('V')}"


def _read() -> Iterator[Statement]:
    for entry in (files("redolab.engine") / FOLDER).iterdir():
        name, oldest, _ = entry.name.split(".")
        text = entry.read_text()
        comments = "".join(_COMMENT.findall(text)).splitlines()
        purpose = " ".join(line.removeprefix("--").strip() for line in comments)
        yield Statement(name, int(oldest), purpose, _sent(text))


def _sent(text: str) -> str:
    return _COMMENT.sub("", text).strip()
