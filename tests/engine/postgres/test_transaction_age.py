"""A server whose transaction ids are nearly used up: refused before a run, and left alone during one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from redolab.engine.postgres.connecting.connection import Connector
from redolab.engine.postgres.preflight.transaction_age import LIMIT, TransactionAge, read_age
from redolab.errors import RefusedError
from redolab.measure import consumption
from redolab.records.store import open_run
from tests.conftest import Redolab
from tests.servers import Server, installed_servers, made

# Otherwise the server would vacuum by itself, and be young again.
NO_VACUUM = ("-c", "autovacuum_freeze_max_age=2000000000")
IDS_PER_PAGE = 32_768
QUICK = ("--quick", "--yes", "--seconds", "0.2", "--sessions", "2", "--settings", "wait,nowait")
USE_UP = """
create procedure use_up(ids int) language plpgsql as $$
begin
    for i in 1 .. ids loop
        perform pg_current_xact_id();
        commit;
    end loop;
end
$$
"""


def grow_old(server: Server, age: int) -> None:
    """Let the oldest transaction id be `age` ids old, or a few more."""
    now = server.ask("select max(age(datfrozenxid)) from pg_database")
    oldest = server.ask("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint") - now
    server.stop()
    # There is no commit status of the ids between: they were never used.
    next_id = (oldest + age) // IDS_PER_PAGE * IDS_PER_PAGE
    server._run("pg_resetwal", "-D", str(server.data), "-x", str(next_id))
    server.start(*NO_VACUUM)
    with server.admin() as admin:
        admin.execute(USE_UP.encode())
        admin.execute(f"call use_up({oldest + age - next_id})".encode())
        assert 0 <= read_age(admin).age - age < 10


def test_a_run_that_would_use_up_too_many_is_refused(
    own_server: Server, redolab: Redolab, tmp_path: Path
) -> None:
    grow_old(own_server, LIMIT - 5_000_000)
    arguments = ("run", "commit-mode", "--engine", own_server.url(), *QUICK, "--out", tmp_path / "run")
    before = own_server.settings(), own_server.altered()
    done = redolab(*arguments, "--blocks", "1000")
    assert done.code == 3, done.err
    for said in ("is 1,595 million transactions old, in the database", "stays below an age of 1,600 million",
                 "at 2,147 million", "VACUUM (FREEZE) in the database", "fewer --blocks"):  # fmt: skip
        assert said in done.complaint
    own_server.assert_left_clean("postgres")
    assert (own_server.settings(), own_server.altered()) == before
    assert not (tmp_path / "run").exists()
    with own_server.admin() as admin:
        admin.execute(b"vacuum (freeze)")
    # The next commit stops in every database when the oldest of any is too old.
    done = redolab(*arguments, "--blocks", "1000")
    assert done.code == 3, done.err
    assert "1,595 million transactions old, in the database template0" in done.complaint
    assert "Only autovacuum can make it younger" in done.complaint
    done = redolab(*arguments, "--blocks", "2")
    assert done.code == 0, done.err


def test_a_run_on_a_quicker_server_than_stated_ends_early_and_keeps_what_it_has(
    own_server: Server, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rate in ("WAITING_PER_S", "NOT_WAITING_PER_S"):
        monkeypatch.setattr(consumption, rate, 10)
    grow_old(own_server, LIMIT - 6_000)
    arguments = ("run", "commit-mode", "--engine", own_server.url(), *QUICK, "--out", tmp_path / "run")
    done = redolab(*arguments, "--blocks", "15")
    assert done.code == 3, done.err
    assert "is 1,600 million transactions old" in done.err
    assert "every sample that was finished is kept" in done.err
    run = open_run(tmp_path / "run")
    assert run.manifest["status"] == "failed"
    assert 0 < run.samples.num_rows < 45
    assert (tmp_path / "run" / "report.html").exists()
    own_server.assert_left_clean("postgres")


def test_the_oldest_of_all_databases_counts_in_every_version(
    servers: Callable[[str], Server], database: str
) -> None:
    for version in installed_servers():
        server = servers(version)
        server.role(f"reader_of_{database}")
        with made(server, database), server.admin() as admin:
            admin.execute(f"grant connect on database {database} to reader_of_{database}".encode())
            with Connector(server.conninfo(f"reader_of_{database}", database)).connect("reader") as reader:
                seen = read_age(reader)
            rows = admin.execute("select datname, age(datfrozenxid) as age from pg_database").fetchall()
        assert seen.age <= max(row["age"] for row in rows) <= seen.age + 100
        assert seen.database in {row["datname"] for row in rows}


def test_age_and_need_together_decide() -> None:
    old = TransactionAge(1_500_000_000, "app", may_connect=True)
    old.check(100_000_000)
    with pytest.raises(RefusedError, match="uses up at most 100 million transaction ids more"):
        old.check(100_000_001)
    assert old.sentence(30_000_000) == (
        "The oldest transaction id of this server is 1,500 million transactions old, in the database app. "
        "The run uses up at most 30 million of the 100 million that are left until 1,600 million, where "
        "Redolab stops."
    )
    TransactionAge(LIMIT, "app", may_connect=True).check_now()
    with pytest.raises(RefusedError, match="nobody can connect to template0"):
        TransactionAge(LIMIT + 1, "template0", may_connect=False).check_now()
    assert TransactionAge(2_000_000_000, "app", may_connect=True).left == 0
