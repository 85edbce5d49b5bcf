"""The servers that the tests run on beside the wheels': the system's, and those unpacked beside it."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

# As `scripts/need-servers` has it; the session of the tests gets a cache of its own later.
_KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "redolab-test-servers"
_UNPACKED = {"mariadb 11.8": "mariadbd", "mysql 9.7": "mysqld"}
INSTALLED = "mariadb 10.11"
FAMILY = (INSTALLED, *_UNPACKED)


@cache
def server_programs() -> dict[str, Path]:
    """The program of each server of MariaDB's family that can be had here, by its name in `FAMILY`."""
    installed = shutil.which("mariadbd", path=f"{os.environ['PATH']}:/usr/sbin")
    assert installed is not None, "MariaDB is missing. Debian: apt-get install mariadb-server-core"
    found = {name: unpacked(name, f"usr/sbin/{program}") for name, program in _UNPACKED.items()}
    return {
        INSTALLED: Path(installed).resolve(),
        **{name: program for name, program in found.items() if program is not None},
    }


def program_of(name: str) -> Path:
    """The program of one server of the family; where it cannot be had the test says why it does not run."""
    if name not in server_programs():
        not_to_be_had(name)
    return server_programs()[name]


def pgbouncer_program() -> Path:
    """The program of PgBouncer; where it cannot be had the test says why it does not run."""
    place = _KEPT / "pgbouncer-1.24"
    if not place.exists():
        why = place.with_name(f"{place.name}.missing")
        pytest.skip(
            why.read_text().strip() if why.exists() else "PgBouncer is missing: run scripts/need-servers"
        )
    return (place / "usr/sbin/pgbouncer").resolve()


def first_on_path(name: str) -> str:
    """The search path with which Redolab finds this server."""
    return f"{program_of(name).parent}:{os.environ['PATH']}"


def unpacked(name: str, path: str) -> Path | None:
    """A file of a server that `scripts/need-servers` unpacked, or None where it could not."""
    return _place(name) / path if _place(name).exists() else None


def not_to_be_had(name: str) -> NoReturn:
    """End a test that needs such a server, and say why."""
    why = _place(name).with_name(f"{_place(name).name}.missing")
    pytest.skip(why.read_text().strip() if why.exists() else f"{name} is missing: run scripts/need-servers")


def _place(name: str) -> Path:
    return _KEPT / name.replace(" ", "-")
