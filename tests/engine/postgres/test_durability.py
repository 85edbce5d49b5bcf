"""Hard kills of the embedded server: what a setting promises is kept, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from redolab import open_run
from tests.conftest import Redolab
from tests.servers import wait_until


def abandoned_segments() -> set[str]:
    """System V shared memory segments that no process of this machine uses any more."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    names = lines[0].split()
    rows = [dict(zip(names, line.split(), strict=True)) for line in lines[1:]]
    return {row["shmid"] for row in rows if row["nattch"] == "0"}


def test_a_setting_that_waits_loses_nothing(
    redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = abandoned_segments()
    done = redolab(
        "run", "durability", "--quick", "--blocks", "2", "--seconds", "0.4", "--sessions", "3",
        "--settings", "wait/immediate,wait/batch,nowait/batch", "--out", tmp_path / "run",
    )  # fmt: skip
    assert done.code == 0, done.err
    kills = open_run(tmp_path / "run").samples.to_pylist()
    assert len(kills) == 6
    for kill in kills:
        assert kill["spoiled"] is None
        assert kill["acknowledged"] > 0
        # At most one commit of each session was on its way.
        assert kill["unacknowledged"] <= kill["sessions"] == 3
        assert kill["recovery_s"] > 0
        if kill["setting"].startswith("wait"):
            assert kill["missing"] == 0
            assert kill["loss_window_s"] is None
        elif kill["missing"]:
            assert 0 <= kill["loss_window_s"] <= kill["elapsed_s"]
    assert sum(kill["missing"] for kill in kills) > 0, "asynchronous commits are lost in a hard kill"

    assert [path.name for path in (tmp_path / "redolab" / "servers").iterdir()] == ["lock"]
    # A server that is just being made elsewhere has one for a moment.
    wait_until(lambda: abandoned_segments() <= before, "the shared memory of every killed server is removed")
