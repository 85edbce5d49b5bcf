"""Engines on a database of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.engine import PostgresEngine
from redolab.records.load import Load
from redolab.records.sample import Setting
from tests.engine.clients import Open
from tests.servers import PASSWORD, Server


@pytest.fixture
def opened(newest: Server, url: str, database: str) -> Iterator[Open]:
    """Opens an engine on a database of its own with settings named by their levels."""
    engines = []

    def prepare(load: Load, *combinations: dict[str, str]) -> tuple[PostgresEngine, dict[str, Setting]]:
        engine = PostgresEngine(Connector(f"{url}?password={PASSWORD}"), None, 1)
        engines.append(engine)
        return engine, {setting.name: setting for setting in engine.prepare(load, combinations)}

    yield prepare
    for engine in engines:
        engine.close()
    newest.assert_left_clean(database)
