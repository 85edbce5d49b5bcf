"""What the advice of a watch gives to type, and the statements for a role: pasted, they do it and undo it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from redolab import open_run
from redolab.analysis.compared import compare_run
from redolab.analysis.statements.to_set import entry
from redolab.commands.watch import watch
from redolab.forecast.advice.statements import Today
from redolab.records.store import read_manifest
from tests.conftest import Redolab
from tests.engine.postgres.test_statements import paste, seen, session_of
from tests.forecasts import make_calibrated
from tests.servers import PASSWORD, Server, wait_until

OF_ROLES = (
    "select setconfig from pg_db_role_setting s join pg_roles r on r.oid = s.setrole where rolname = %s"
)
CHANGES = (("commit_wait", "nowait"), ("commit_delay_us", "134"))


def advised(server: Server, place: Path, user: str = "postgres") -> dict[str, dict[str, Any]]:
    """The changes of parameters that a watch of the server gives, by their factor."""
    watch(server.url(user=user), place, 1.0, "test")
    run: Any = SimpleNamespace(manifest=read_manifest(place))
    today = Today.of(run, make_calibrated(replicates=1))
    return {factor: today.changed(factor, level, 5_000.0) for factor, level in CHANGES}


def await_values(server: Server, role: str, values: dict[str, str]) -> None:
    wait_until(lambda: seen(server, role, values), f"{role} has {values}")


def config_of(server: Server, role: str) -> Sequence[str]:
    with server.admin() as admin:
        rows = admin.execute(OF_ROLES.encode(), (role,)).fetchall()
    return [line for row in rows for line in row["setconfig"]]


def test_what_a_watch_advises_does_it_and_undoes_it(newest: Server, tmp_path: Path, redolab: Redolab) -> None:
    with newest.admin() as admin:
        admin.execute("alter system set synchronous_commit = 'local'")
        admin.execute("select pg_reload_conf()")
    wait_until(lambda: newest.ask("show synchronous_commit") == "local", "it is altered")
    newest.role("app")
    lines = newest.altered()
    wanted = {
        "commit_wait": {"synchronous_commit": "off"},
        "commit_delay_us": {"commit_delay": "134", "commit_siblings": "5"},
    }
    before = {"synchronous_commit": "local", "commit_delay": "0", "commit_siblings": "7"}
    try:
        for factor, change in advised(newest, tmp_path / "watch").items():
            assert change["ways"][0]["look"] == []
            for way in change["ways"]:
                role = "app" if way["scope"] == "role" else "postgres"
                with newest.admin() as admin:
                    paste(admin, way["set"])
                    if way["scope"] != "session":
                        await_values(newest, role, wanted[factor])
                    else:
                        values = admin.execute("select current_setting('synchronous_commit') as value")
                        assert factor != "commit_wait" or values.fetchall() == [{"value": "off"}]
                    for line in way["look"]:
                        assert admin.execute(line.encode()).fetchall() or way["scope"] != "role"
                    paste(admin, way["undo"])
                await_values(newest, role, before)
        assert [line for line in newest.altered() if line not in lines] in ([], ["commit_siblings = '7'"])
        assert config_of(newest, "app") == []
        with newest.admin() as admin:
            admin.execute("alter system reset commit_siblings")
            admin.execute("alter system reset synchronous_commit")
    finally:
        with newest.admin() as admin:
            admin.execute("drop role app")


def test_the_price_of_a_watchs_advice_is_the_servers_own(
    newest: Server, tmp_path: Path, redolab: Redolab
) -> None:
    price = advised(newest, tmp_path / "watch")["commit_wait"]["price"]
    # wal_writer_delay is 200 ms: three rounds of it, at 5,000 commits per second.
    assert [(it["crash"], it["window_s"], it["commits"]) for it in price] == [
        ("server", pytest.approx(0.6), 3_000), ("power", pytest.approx(0.6), 3_000),
    ]  # fmt: skip


def test_a_value_of_the_watchs_own_role_is_not_the_servers(
    newest: Server, tmp_path: Path, redolab: Redolab
) -> None:
    """The server's own is `local`, by ALTER SYSTEM, and the watching role does not see it."""
    newest.role("bench", "grant pg_monitor to bench")
    with newest.admin() as admin:
        admin.execute("alter system set synchronous_commit = 'local'")
        admin.execute("alter role bench set synchronous_commit = off")
        admin.execute("select pg_reload_conf()")
    try:
        change = advised(newest, tmp_path / "watch", user="bench")["commit_wait"]
        everywhere, *_, own = change["ways"]
        assert change["as_before"] == []
        assert "The values of synchronous_commit before the change are not known here" in everywhere["reach"]
        with newest.admin() as admin:
            (shown,) = admin.execute(everywhere["look"][0].encode()).fetchall()
        assert shown == {"name": "synchronous_commit", "setting": "local"}
        # The role's own value was seen, and comes back.
        assert own["undo"] == ['ALTER ROLE "bench" SET synchronous_commit = off;']
    finally:
        with newest.admin() as admin:
            admin.execute("alter system reset synchronous_commit")
            admin.execute("drop role bench")


def test_roles_get_back_what_they_had_before(
    newest: Server, url: str, redolab: Redolab, tmp_path: Path
) -> None:
    before = {"app": ["synchronous_commit=local", "work_mem=8MB"], "Re ports": ["synchronous_commit=on"]}
    with newest.admin() as admin:
        newest.role("app")
        admin.execute("create role \"Re ports\" login password 'x'")
        admin.execute("alter role app set synchronous_commit = 'local'")
        admin.execute("alter role app set work_mem = '8MB'")
        admin.execute('alter role "Re ports" set synchronous_commit = on')
    try:
        done = redolab(
            "run", "commit-mode", "--engine", url, "--yes", "--blocks", "2", "--seconds", "0.1",
            "--sessions", "2", "--scope", "session", "--settings", "wait,nowait", "--out", tmp_path / "run",
        )  # fmt: skip
        assert done.code == 0, done.err
        compared = compare_run(open_run(tmp_path / "run"))
        for declared in compared.manifest["settings"]:
            found = entry(compared, declared, "recommended")
            ways = [way for way in found["ways"] if way["scope"] == "role"]
            assert ['"Re ports"' in way["set"][-1] for way in ways] == [False, True]
            assert "FROM pg_db_role_setting" in ways[0]["look"][0]
            assert "RESET removes the role's own value" in ways[0]["reach"]
            for way in ways:
                with newest.admin() as admin:
                    paste(admin, way["set"])
                    paste(admin, way["undo"])
                assert {role: sorted(config_of(newest, role)) for role in before} == before
        with session_of(newest, "app") as session:
            assert session.execute("show synchronous_commit").fetchall() == [{"synchronous_commit": "local"}]
        assert PASSWORD not in (tmp_path / "run" / "manifest.json").read_text()
    finally:
        with newest.admin() as admin:
            admin.execute("drop role app")
            admin.execute('drop role "Re ports"')
