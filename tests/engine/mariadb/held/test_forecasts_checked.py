"""A forecast is checked on the database whose commits were measured, and on no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab.commands import verify_forecast
from redolab.forecast.checks import ledger
from redolab.forecast.costs import of_run
from tests.engine.mariadb.held.holding import databases
from tests.forecasts import made_up_run, make_calibrated
from tests.mariadb import MariaDB
from tests.servers import in_this_process


# A URL of the family does not tell which of the two it leads to.
@pytest.mark.parametrize("is_postgresql", [True, False])
def test_another_database_is_refused_once_it_says_what_it_is(
    is_postgresql: bool, server: MariaDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other = ("MariaDB", "MySQL") if server.flavour == "mariadb" else ("MySQL", "MariaDB")
    measured = "PostgreSQL" if is_postgresql else other
    there = databases(server)
    monkeypatch.setattr(verify_forecast, "open_run", lambda _: made_up_run(measured.lower()))
    monkeypatch.setattr(of_run, "costs_of", lambda _: make_calibrated(replicates=2, loop="client"))
    words = ("verify-forecast", "costs", "--set", "sessions=4", "--engine", server.url, "--yes")
    ended = in_this_process(tmp_path, *words, "--out", str(tmp_path / "out"), environment={})
    assert ended.code == 2
    assert f"The costs were measured on {measured}, and --engine names {here}" in ended.complaint
    assert databases(server) == there
    assert not ledger.own_path().exists()
    assert not (tmp_path / "out").exists()
