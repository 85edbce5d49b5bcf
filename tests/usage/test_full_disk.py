"""No room for the run directory: exit 3 with the mend, and what was stored before can be read."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

import pytest

from redolab import open_run
from redolab.files.folder import Folder
from tests.conftest import Redolab
from tests.kill.machine import Running, assert_nothing_left, short_place


def test_the_disk_fills_up_in_a_run(redolab: Redolab) -> None:
    with short_place() as place:
        running = Running(place, "--blocks", "3", "--seconds", "0.3", "--settings", "wait,nowait")
        running.await_samples(3)
        # No file of this process may grow any more; the server's still may.
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (0, 0))
        assert running.end() == 3
        complaint = running.said[-1]
        assert complaint.startswith(f"redolab: The run directory {running.out} cannot be written: ")
        assert "Free some space there, or give --out a place with room." in complaint
        assert complaint.endswith(f"`redolab report {running.out}` reads them.")
        assert_nothing_left(place)
        stored = running.stored()
        assert 3 <= stored < 9
        done = redolab("report", running.out)
        assert done.code == 0, done.err
        assert (running.out / "report.html").exists()
        assert len(open_run(running.out).samples) == stored


@pytest.mark.parametrize("name", ["results.json", "report.html"])
def test_there_is_no_room_for_the_report(
    name: str, redolab: Redolab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Folder.write

    def full(folder: Folder, file: str, content: bytes) -> None:
        if file == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(folder, file, content)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", full)
        done = redolab("run", "commit-mode", "--quick", "--blocks", "2", "--seconds", "0.1",
                       "--settings", "wait,nowait", "--out", tmp_path / "run")  # fmt: skip
    assert done.code == 3
    assert "No space left on device. Free some space there" in done.complaint
    assert redolab("report", tmp_path / "run").code == 0
