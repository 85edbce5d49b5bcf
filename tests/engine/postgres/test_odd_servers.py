"""Servers as people really have them: what is said of them is true, or refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from redolab import open_run
from tests.conftest import Redolab
from tests.servers import Server, made, wait_until

RUN = ("run", "commit-mode", "--quick", "--blocks", "2", "--seconds", "0.2", "--yes")


def test_where_alter_system_is_switched_off_a_run_that_needs_it_is_refused(
    own_server: Server, redolab: Redolab, tmp_path: Path
) -> None:
    configuration = own_server.data / "postgresql.conf"
    configuration.write_text(f"{configuration.read_text()}\nallow_alter_system = off\n")
    with made(own_server, "odd") as url:
        own_server.ask("select pg_reload_conf()")
        wait_until(lambda: own_server.ask("show allow_alter_system") == "off", "it is off")
        ended = redolab(*RUN, "--engine", url, "--out", tmp_path / "refused")
        assert ended.code == 3
        assert "ALTER SYSTEM is switched off on this server (allow_alter_system = off)" in ended.err
        assert "Nothing was changed." in ended.err
        assert not (tmp_path / "refused").exists()
        asked = redolab("doctor", "commit-mode", "--engine", url)
        assert asked.code == 3
        assert "allow_alter_system = off" in asked.err
        needs_none = ("--scope", "session", "--settings", "wait,nowait")
        ended = redolab(*RUN, *needs_none, "--engine", url, "--out", tmp_path / "run")
        assert ended.code == 0, ended.err
        samples = open_run(tmp_path / "run").samples.to_pylist()
        assert [sample["spoiled"] for sample in samples] == [None] * 6
        own_server.assert_left_clean("odd")


@pytest.mark.parametrize("target", ["postgresql:///{database}", "postgresql:///?service=odd"])
def test_a_server_is_named_as_it_is_reached(
    target: str, newest: Server, url: str, database: str, redolab: Redolab, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    place = urlsplit(url)
    services = tmp_path / "services"
    services.write_text(f"[odd]\ndbname={database}\n")
    for name, value in {
        "PGHOST": "127.0.0.1", "PGPORT": str(place.port), "PGUSER": "postgres",
        "PGSERVICEFILE": str(services),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    asked = target.format(database=database)
    told = f"127.0.0.1:{place.port}, database {database}"
    profiled = redolab("profile", asked, "--seconds", "0.5", "--json")
    assert profiled.code == 0, profiled.err
    assert json.loads(profiled.out)["engine"]["place"] == told
    assert told in " ".join(redolab("doctor", "commit-mode", "--engine", asked).out.split())


def test_a_server_that_is_not_reached_is_named_as_it_was_asked_for(
    redolab: Redolab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", "1")
    assert "at 127.0.0.1:1, database odd" in redolab("profile", "postgresql:///odd").err
    several = redolab("profile", "postgresql://127.0.0.2,127.0.0.3/odd").err
    assert "at 127.0.0.2,127.0.0.3:5432, database odd" in several
