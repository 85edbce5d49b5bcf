"""The replayed server that tests of Oracle run against."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from redolab.url_secrets import ORACLE_PASSWORD
from tests.oracle.instance import Instance
from tests.oracle.replay import DIALECTS, Replayed, replayed


@pytest.fixture(params=DIALECTS)
def release(request: pytest.FixtureRequest) -> int:
    """Each release that can be replayed."""
    return int(request.param)


@pytest.fixture
def instance(release: int, monkeypatch: pytest.MonkeyPatch) -> Instance:
    found = Instance(release)
    monkeypatch.setenv(ORACLE_PASSWORD, found.password)
    return found


@pytest.fixture
def server(instance: Instance) -> Iterator[Replayed]:
    with replayed(instance) as found:
        yield found
