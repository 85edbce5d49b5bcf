"""Whole runs against somebody else's server: what is measured is true, and all is left as it was."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from redolab import open_run
from redolab.dialect.postgres import GATHERING
from redolab.engine.postgres.preflight.preflight import NEWEST, OLDEST
from redolab.engine.statements import statement
from tests.conftest import Redolab
from tests.servers import Server, made

NAMES = ("synchronous_commit", *GATHERING)
SHORT = ("--quick", "--seconds", "0.2", "--blocks", "2", "--seed", "1")

# Notes the parameters in force in every transaction of the working sessions, whoever set them.
OBSERVER = """
create table public.combinations (parameters text primary key);
create function public.observe() returns trigger language plpgsql security definer as $$
begin
    if current_setting('application_name') like 'redolab session %' then
        insert into public.combinations
        select string_agg(current_setting(n), ' ' order by i)
          from unnest(array['synchronous_commit', 'commit_delay', 'commit_siblings',
                            'wal_writer_delay', 'wal_writer_flush_after']) with ordinality as p(n, i)
            on conflict do nothing;
    end if;
    return new;
end $$;
create function public.watch() returns event_trigger language plpgsql as $$
begin
    if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'redolab.account')
    then
        create trigger observer before update on redolab.account
            for each row execute function public.observe();
    end if;
end $$;
create event trigger redolab_observer on ddl_command_end when tag in ('CREATE TABLE')
    execute function public.watch();
"""


@pytest.mark.parametrize("scope", ["transaction", "session", "system"])
def test_a_run_sets_what_it_says_and_puts_it_back(
    server: Server, scope: str, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    assert_a_run_conforms(server, scope, database, redolab, tmp_path)


def test_a_run_on_a_further_version_does_so_too(
    further: Server, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    assert_a_run_conforms(further, "system", database, redolab, tmp_path)


def assert_a_run_conforms(
    server: Server, scope: str, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    # A value that an administrator set stands in postgresql.auto.conf, another in postgresql.conf.
    with server.admin() as admin:
        admin.execute("alter system set wal_writer_delay = '150ms'")
        admin.execute("alter system set work_mem = '5MB'")
    server.read_files()
    before, altered = server.settings(), server.altered()
    assert before["commit_siblings"][0] == "7"

    with made(server, database) as url:
        with server.admin(database) as admin:
            admin.execute(OBSERVER.encode())
        door = server.socket_url(database) if scope == "session" else url
        place = tmp_path / "run"
        done = redolab("run", "commit-mode", "--engine", door, "--yes", "--scope", scope,
                       *SHORT, "--out", place)  # fmt: skip
        assert done.code == 0, done.err
        server.assert_left_clean(database)
        with server.admin(database) as admin:
            rows = admin.execute("select parameters from public.combinations").fetchall()
            in_force = {row["parameters"] for row in rows}

    assert server.settings() == before
    assert server.altered() == altered
    run = open_run(place)
    samples = run.samples.to_pylist()
    assert len(samples) == 10
    for sample in samples:
        assert_plausible(sample)
    assert sum(sample["ticks"] for sample in samples) > 0

    manifest = run.manifest
    assert manifest["status"] == "finished"
    assert re.match(rf"{server.major}\D", manifest["engine"]["version"])
    assert manifest["engine"]["local"]
    meant = {" ".join(s["parameters"][name] for name in NAMES) for s in manifest["settings"]}
    assert len(meant) == 4
    assert in_force == meant
    assert "150ms" in next(s["parameters"]["wal_writer_delay"] for s in manifest["settings"])

    scopes = {name: s["scopes"][name] for s in manifest["settings"] for name in NAMES}
    assert scopes == {
        "synchronous_commit": scope, "commit_delay": scope, "commit_siblings": scope,
        "wal_writer_delay": "system", "wal_writer_flush_after": "system",
    }  # fmt: skip
    assert manifest["parameter_changes"][-1]["setting"] == "restore"
    # The list of changes is a chain from the server's own value back to it.
    for name in NAMES:
        chain = [c for c in manifest["parameter_changes"] if c["parameter"] == name]
        assert {c["scope"] for c in chain} == {scopes[name]}
        assert all(one["after"] == two["before"] for one, two in pairwise(chain))
        assert chain[0]["before"] == chain[-1]["after"]


def assert_plausible(sample: dict[str, Any]) -> None:
    """The sessions' own count is the server's, and no account holds more than there can be."""
    assert sample["spoiled"] is None
    assert sample["commits"] == sample["rows"] > 0
    assert sample["server_rows"] == sample["rows"]
    assert sample["failed"] == 0
    assert sample["log_bytes"] > 60 * sample["commits"]
    # Under nowait/batch the log is written once a second or once a megabyte: a short sample may see none.
    assert sample["log_writes"] > 0 or sample["setting"] == "nowait/batch"
    assert 0 < sample["session_cpu_s"] <= sample["instance_cpu_s"]
    assert sample["session_cpu_s"] <= sample["host_cpus"] * sample["elapsed_s"] * 1.05
    assert sample["session_run_queue_s"] >= 0
    if sample["setting"].startswith("wait"):
        # A commit that waits has been flushed, by itself or together with others.
        assert 0 < sample["log_flushes"] <= 1.05 * sample["commits"] + 5
        assert sample["log_flush_time_s"] > 0
    else:
        assert sample["log_flushes"] < 0.5 * sample["commits"]


def test_every_statement_has_a_variant_for_every_version() -> None:
    names = ("select_server", "select_parameters", "select_counters", "select_sessions",
             "create_schema", "create_updates", "create_inserts", "create_ledger")  # fmt: skip
    for name in names:
        for version in range(OLDEST, NEWEST + 1):
            assert statement("postgres/sql", name, version).startswith("-- ")
