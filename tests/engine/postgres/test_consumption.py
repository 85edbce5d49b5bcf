"""What real runs use up of a server is within what was told before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Redolab
from tests.servers import Server

# One session commits far slower than the stated rates, on any machine: what is checked are the amounts.
RUNS = {
    "commit-mode": ("--sessions", "1", "--settings", "wait,nowait", "--blocks", "2", "--seconds", "0.5"),
    "commit-mode-io": ("--sessions", "1", "--settings", "wait,nowait", "--blocks", "2", "--seconds", "0.5",
                       "--load", "io"),
    "commit-scaling": ("--sessions", "1,2", "--blocks", "2", "--seconds", "0.4"),
    "rows-per-commit": ("--rows", "20000", "--settings", "32,1024", "--blocks", "2"),
    "consistent-read": ("--rows", "20000", "--blocks", "2", "--settings", "0,1"),
}  # fmt: skip


@pytest.fixture
def logical(own_server: Server) -> Server:
    """A server whose log says most of each row, which checkpoints at every chance."""
    own_server.stop()
    own_server.start("-c", "wal_level=logical", "-c", "max_wal_size=64MB", "-c", "checkpoint_timeout=30s")
    return own_server


def position(server: Server) -> tuple[int, int]:
    """The next transaction id, and where the log has come to."""
    ids = server.ask("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
    return int(ids), int(server.ask("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"))


def test_a_run_uses_up_no_more_than_was_told(logical: Server, redolab: Redolab, tmp_path: Path) -> None:
    seen = {}
    for name, arguments in RUNS.items():
        asked = ("run", name.removesuffix("-io"), "--engine", logical.url(), "--quick", *arguments)
        told = json.loads(redolab(*asked, "--plan", "--json").out)["consumes"]
        ids, log = position(logical)
        done = redolab(*asked, "--yes", "--out", tmp_path / name)
        assert done.code == 0, done.err
        ids_after, log_after = position(logical)
        seen[name] = (ids_after - ids) / told["transaction_ids"], (log_after - log) / told["log_bytes"]
    assert all(0 < share <= 1 for shares in seen.values() for share in shares), seen
