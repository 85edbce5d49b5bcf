"""The servers that the breaker knows, by the name on its command line."""

from __future__ import annotations

from tests.breaker.family import Family, name_of
from tests.breaker.postgres import Postgres
from tests.breaker.somebody import Somebody

ENGINES = ("postgres", "mariadb", "mysql")


def why_missing(engine: str) -> str | None:
    """Why there is no such server here; None where there is one."""
    if engine == "postgres" or name_of(engine, 0):
        return None
    return f"{engine} is missing: run scripts/need-mariadb and scripts/need-servers"


def started(engine: str, seed: int) -> Somebody:
    """A new server of that kind, as the seed wants it."""
    if engine == "postgres":
        return Postgres(reads_file=seed % 2 == 0)
    name = name_of(engine, seed)
    assert name is not None, why_missing(engine)
    return Family(name)
