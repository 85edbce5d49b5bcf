"""`redolab watch` as somebody types it: what it refuses, how it ends, and what a kill leaves of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from redolab.records.store import open_run
from tests.conftest import Redolab
from tests.servers import PASSWORD, Server, command, wait_until


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "Give the URL of a server"),
        (["sqlite:///file"], "Give the URL of a server"),
        (["oracle://u@h"], "with the name of a service"),
        (["postgresql://u@h/db", "--seconds", "0"], "--seconds is 0"),
        (["postgresql://u@h/db", "--seconds", "nan"], "--seconds is nan"),
        (["postgresql://u@h:port/db?nonsense=1"], "not a connection URL"),
    ],
)
def test_wrong_usage_ends_with_2(redolab: Redolab, tmp_path: Path, arguments: list[str], said: str) -> None:
    ended = redolab("watch", *arguments, "--out", tmp_path / "watch")
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.complaint
    assert not (tmp_path / "watch").exists()


def test_a_server_that_is_not_there_ends_with_3(redolab: Redolab, tmp_path: Path) -> None:
    ended = redolab("watch", "postgresql://u@127.0.0.1:1/db", "--out", tmp_path / "watch")
    assert (ended.code, ended.out) == (3, "")
    assert "Is the server running on that host" in ended.complaint
    assert not (tmp_path / "watch").exists()


def test_a_directory_of_something_else_is_refused(redolab: Redolab, url: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{}")
    for place, said in (("full", "exists already"), ("broken", "format")):
        ended = redolab("watch", url, "--seconds", "1", "--out", tmp_path / place)
        assert (ended.code, ended.out) == (2, "")
        assert said in ended.complaint
    assert (tmp_path / "full" / "file").read_text() == "mine"


class Watch:
    """The command in a process of its own."""

    def __init__(self, url: str, out: Path, *options: str) -> None:
        self.out, self._log = out, out.with_suffix(".err")
        with self._log.open("wb") as err:
            self.process = subprocess.Popen(
                command("watch", url, "--out", out, *options), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=err, env={**os.environ, "PGPASSWORD": PASSWORD},
            )  # fmt: skip
        wait_until(lambda: "watching " in self.said, "it watches")

    @property
    def said(self) -> str:
        return self._log.read_text()

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_was_seen(
    number: signal.Signals, newest: Server, url: str, tmp_path: Path
) -> None:
    for options, status, code in (((), "finished", 0), (("--seconds", "600"), "interrupted", 130)):
        watch = Watch(url, tmp_path / status, *options)
        time.sleep(3.0)
        ended = watch.end(number)
        assert "Traceback" not in watch.said
        run = open_run(watch.out)
        assert run.manifest["status"] == status
        assert run.samples.num_rows == 1
        assert "Watched: 1 stretch stored in" in watch.said
        assert ended == code
    newest.assert_left_clean(url.rpartition("/")[2])


def test_killed_it_keeps_every_whole_stretch_and_goes_on(newest: Server, url: str, tmp_path: Path) -> None:
    out = tmp_path / "watch"
    first = Watch(url, out)
    wait_until(lambda: any((out / "parts").glob("samples-*")), "a stretch is stored")
    second = subprocess.run(
        command("watch", url, "--seconds", "1", "--out", out), capture_output=True, text=True, check=False,
        env={**os.environ, "PGPASSWORD": PASSWORD}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert second.returncode == 2
    assert "still being watched" in second.stderr
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    kept = open_run(out)
    assert kept.manifest["status"] == "running"
    assert kept.samples.num_rows >= 1
    again = Watch(url, out)
    time.sleep(2.5)
    again.end(signal.SIGINT)
    run = open_run(out)
    assert run.samples.num_rows == kept.samples.num_rows + 1
    assert run.samples.slice(0, kept.samples.num_rows).equals(kept.samples)
    assert run.samples["block"].to_pylist()[-1] == 2
    assert json.loads((out / "manifest.json").read_text())["status"] == "finished"
    newest.assert_left_clean(url.rpartition("/")[2])


def test_no_password_is_kept(url: str, tmp_path: Path) -> None:
    out = tmp_path / "watch"
    watch = Watch(url.replace("postgres@", f"postgres:{PASSWORD}@"), out)
    shown = Path(f"/proc/{watch.process.pid}/cmdline").read_bytes()
    time.sleep(2.5)
    watch.end(signal.SIGINT)
    kept = b"".join(file.read_bytes() for file in out.rglob("*") if file.is_file())
    assert PASSWORD.encode() not in kept + shown + watch.said.encode()
    assert url.encode() in shown
