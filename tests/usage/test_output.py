"""Output that cannot be written, or that nobody reads: a sentence and an exit code, never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from redolab.console import show_json
from tests.conftest import Redolab
from tests.servers import command

LISTED = 'factors.a = ["1", "2"]\nsql.unit = "select 1"\n'
CSV = "x\n" + "\n".join(str(value % 7) for value in range(60))


def _commands(place: Path) -> list[list[str]]:
    (place / "mine.toml").write_text(LISTED)
    (place / "x.csv").write_text(CSV)
    return [
        ["experiments"],
        ["--help"],
        ["run", "--help"],
        ["run", "commit-mode", "--plan"],
        ["run", "commit-mode", "--plan", "--json"],
        ["run", "--list", str(place / "mine.toml"), "--plan"],
        ["analyze", str(place / "x.csv")],
        ["analyze", str(place / "x.csv"), "--json"],
        ["league"],
    ]


def _environment(place: Path) -> dict[str, str]:
    return {**os.environ, "XDG_DATA_HOME": str(place / "data")}


def test_a_full_disk_is_said_with_exit_code_3(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    for arguments in _commands(tmp_path):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                command(*arguments),
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
                env=environment,
            )
        assert (arguments, done.returncode, done.stderr.decode().splitlines()) == (
            arguments,
            3,
            [
                "redolab: The standard output cannot be written: No space left on device. Free some space, "
                "or redirect it elsewhere."],
        )  # fmt: skip


def test_a_reader_that_is_gone_ends_it_without_a_word(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    for arguments in _commands(tmp_path):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            command(*arguments),
            stdout=writer,
            stderr=subprocess.PIPE,
            check=False,
            env=environment,
        )
        os.close(writer)
        assert (arguments, done.returncode, done.stderr) == (arguments, 141, b"")


def test_no_line_ends_in_blanks_in_a_pipe(tmp_path: Path) -> None:
    for arguments in [*_commands(tmp_path), ["doctor"]]:
        done = subprocess.run(
            command(*arguments), capture_output=True, check=False, text=True, env=_environment(tmp_path)
        )
        assert done.stdout, arguments
        assert (arguments, [line for line in done.stdout.splitlines() if line != line.rstrip()]) == (
            arguments,
            [],
        )


@pytest.mark.parametrize("arguments", [["run", "no-such"], ["run", "--no-such"], ["no-such"]])
def test_a_complaint_that_cannot_be_written_keeps_its_exit_code(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command(*arguments), stdout=full, stderr=full, check=False)
    assert done.returncode == 2


def test_closed_streams_are_no_reason_to_fail(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command("experiments")], check=False, timeout=60
    )
    assert done.returncode == 0


def test_what_was_measured_is_kept_though_its_report_cannot_be_printed(tmp_path: Path) -> None:
    environment = _environment(tmp_path)
    arguments = ["run", "sampling-distribution", "--quick", "--out", str(tmp_path / "run"), "--blocks", "2"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command(*arguments), stdout=full, stderr=subprocess.PIPE, check=False, env=environment
        )
    assert (done.returncode, b"Traceback" in done.stderr) == (3, False), done.stderr
    assert (tmp_path / "run" / "report.html").exists()
    assert json.loads((tmp_path / "run" / "manifest.json").read_bytes())["status"] == "finished"


def test_json_is_printed_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    every = "".join(map(chr, range(0x20))) + "\x7f\x9b\u202e\ud800"
    show_json({every: every})
    out = capsys.readouterr().out
    assert json.loads(out) == {every: every}
    assert all(letter == "\n" or " " <= letter <= "~" for letter in out)


def test_what_cannot_be_encoded_is_written_out(redolab: Redolab, monkeypatch: pytest.MonkeyPatch) -> None:
    name = os.fsdecode(b"/no\xff\x1b[31m")
    ended = redolab("report", name)
    assert (ended.code, ended.out) == (2, "")
    assert "/no\\xff\\x1b[31m is not UTF-8" in ended.err
