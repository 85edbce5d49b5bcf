"""The user's own statements on real servers: levels come and go, and nothing is left."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from redolab import open_run
from tests.conftest import Redolab
from tests.servers import Server, made

LIST = """
name = "diary"
unit = "entry"

[factors]
index = ["none", "btree"]
commit = ["on", "off"]

[run]
sessions = 2

[sql]
setup = '''
create table entry (session int, what text);
create table public.diary (what text);'''
unit = '''
insert into entry values (session, :'commit');
insert into public.diary select 'wrong' where :'commit' <> current_setting('synchronous_commit');
'''
settle = "truncate entry"
teardown = "create table public.kept as table public.diary; drop table public.diary"

[levels.index.btree]
enter = "create index entry_what on entry (what); insert into public.diary values ('enter')"
leave = "drop index entry_what; insert into public.diary values ('leave')"

[levels.commit.on]
parameters = { synchronous_commit = "on" }

[levels.commit.off]
parameters = { synchronous_commit = "off", work_mem = "2048kB" }
"""
SHORT = ("--quick", "--seconds", "0.2", "--blocks", "3", "--seed", "4")


def test_a_list_on_somebody_elses_server(
    server: Server, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    file = tmp_path / "diary.toml"
    file.write_text(LIST)
    with made(server, database) as url:
        with server.admin(database) as admin:
            admin.execute("grant create on schema public to public")
        done = redolab("run", "--list", file, "--engine", url, "--yes", *SHORT, "--out", tmp_path / "run")
        assert done.code == 0, done.err
        with server.admin(database) as admin:
            left = admin.execute(
                "select table_schema, table_name from information_schema.tables "
                "where table_schema in ('redolab', 'public')"
            ).fetchall()
            diary = [row["what"] for row in admin.execute("select what from public.kept").fetchall()]
            admin.execute("drop table public.kept")
        server.assert_left_clean(database)
    # The teardown was executed: the diary is gone, and what it kept of it is there.
    assert [(row["table_schema"], row["table_name"]) for row in left] == [("public", "kept")]

    run = open_run(tmp_path / "run")
    order = [row["setting"].split("/")[0] for row in run.samples.to_pylist()]
    # Each change of the level is one enter or one leave, and no unit saw another setting's parameters.
    levels = ["none", *order]
    changes = [(one, two) for one, two in pairwise(levels) if one != two]
    assert diary == ["enter" if two == "btree" else "leave" for _, two in changes]
    samples = run.samples.to_pylist()
    assert len(samples) == 15
    for sample in samples:
        assert sample["spoiled"] is None
        assert sample["units"] == sample["commits"] > 0
    tiers = {s["name"]: (s["tier"], s["parameters"].get("work_mem")) for s in run.manifest["settings"]}
    assert tiers["none/on"] == ("disk", "4MB")
    assert tiers["btree/off"] == ("memory", "2MB")
    results: dict[str, Any] = json.loads((tmp_path / "run" / "results.json").read_text())
    assert results["unit"] == "entry"
    assert results["verdict"]["baseline"] == "none/on"
    assert results["load"]["kind"] == "script"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("unit = 'selekt 2'", ":3:9: the server refuses sql.unit: syntax error"),
        ("unit = '''\nselect 1;\n  selekt 2'''", ":5:3: the server refuses sql.unit: syntax error"),
        ("unit = \"select 'it''s', :'a', wrong\"", ":3:31: the server refuses sql.unit: column"),
        ("unit = 'select 1/0'", ":3:9: the server refuses sql.unit: division by zero"),
        ("unit = 'select 1'\nsetup = 'create tabel t ()'", ":4:17: the server refuses sql.setup: syntax"),
        ("unit = 'select 1'\nsettle = 'truncate missing'", ":4:11: the server refuses sql.settle: relation"),
    ],
)
def test_what_the_server_refuses_is_said_with_its_place(
    sql: str, said: str, newest: Server, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'factors.a = ["1", "2"]\n[sql]\n{sql}\n')
    with made(newest, database) as url:
        done = redolab("run", "--list", file, "--engine", url, "--yes", *SHORT, "--out", tmp_path / "run")
        assert done.code == 2
        assert said in done.complaint.replace("mine.toml", "")
        newest.assert_left_clean(database)
