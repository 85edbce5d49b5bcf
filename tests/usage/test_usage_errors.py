"""A command that asks for what is not there: exit 2, one paragraph with the mend, nothing started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Redolab

URL = "postgresql://nobody@127.0.0.1:1/none"


def both(one: str, other: str) -> tuple[str, ...]:
    return "--engine", one, "--engine", other


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no-such-experiment"], "It has: commit-mode, durability, "),
        (
            ["cpu-capacity", "--engine", "embedded"],
            "does not run on embedded, only on machine. Leave --engine out",
        ),
        (["cpu-capacity", "--engine", URL], "does not run on postgresql, only on machine"),
        (
            ["commit-mode", "--engine", "machine"],
            "commit-mode does not run on machine, only on embedded, postgresql, mariadb, mysql, mysql:// or "
            "oracle. Leave --engine out to use the default. The engine machine only computes",
        ),
        (["commit-mode", "--engine", "sqlite"], "On SQLite, Redolab supports only the load of whole scans"),
        (["durability", "--engine", "mariadb://u@h/"], "does not run on mysql://, only on embedded,"),
        (["cpu-capacity", "--engine", "mysql://u@h/"], "The question is about the machine alone"),
        (["cpu-capacity", "--sessions", "4"], "cpu-capacity does not take the option --sessions"),
        (["cpu-capacity", "--log-device-ms", "5"], "only for Redolab's own servers"),
        (["cpu-capacity", "--settings", "2,3"], "Add 1 to --settings"),
        (["cpu-capacity", "--settings", "1,0"], "cpu-capacity has no setting '0'"),
        (["cpu-capacity", "--settings", "1,many"], "cpu-capacity has no setting 'many'"),
        (["cpu-capacity", "--seconds", "nan"], "--seconds is nan"),
        (
            ["commit-mode", "--settings", "wait,sometimes"],
            "no setting 'sometimes'. Its settings are: wait/immediate",
        ),
        (["commit-mode", "--settings", "wait"], "Name at least two settings."),
        (["commit-mode", "--settings", "wait,wait"], "Name each setting once."),
        (
            ["commit-mode", "--engine", "oracle"],
            "Use embedded, mariadb, mariadb:skip-log-bin, mysql, mysql:skip-log-bin, sqlite, machine or gen",
        ),
        (["commit-mode", "--engine", "mariadb:skip-bin-log"], "Unknown engine 'mariadb:skip-bin-log'"),
        (["commit-mode", "--engine", "mariadb:"], "Unknown engine 'mariadb:'"),
        (["commit-mode", "--engine", "sqlite:skip-log-bin"], "Unknown engine 'sqlite:skip-log-bin'"),
        (["commit-mode", "--scope", "planet"], "Use transaction, session, system."),
        (["commit-mode", "--load", "heavy"], "Use --load hot or --load cpu or --load io."),
        (["commit-mode", "--sessions", "0"], "--sessions is 0; it must be a number greater than 0"),
        (["commit-mode", "--sessions", "-3"], "--sessions is -3; it must be a number greater than 0"),
        (["commit-mode", "--sessions", "1000000"], "at most 1,000"),
        (["commit-mode", "--blocks", "0"], "--blocks is 0; it must be greater than 0"),
        (["commit-mode", "--blocks", "1000000000"], "at most 10,000"),
        (["commit-mode", "--seconds", "0"], "--seconds is 0; it must be greater than 0"),
        (["commit-mode", "--seconds", "-1"], "--seconds is -1; it must be greater than 0"),
        (["commit-mode", "--seconds", "nan"], "--seconds is nan; it must be greater than 0"),
        (["commit-mode", "--seconds", "inf"], "at most 86,400"),
        (["commit-mode", "--log-device-ms", "0"], "--log-device-ms is 0; it must be greater than 0"),
        (["commit-mode", "--log-device-ms", "-5"], "--log-device-ms is -5; it must be greater than 0"),
        (["commit-mode", "--log-device-ms", "nan"], "--log-device-ms is nan; it must be greater than 0"),
        (["commit-mode", "--log-device-ms", "inf"], "at most 1000"),
        (["commit-mode", "--log-device-ms", "5,"], "--log-device-ms is 5,; it must be greater than 0"),
        (
            ["commit-mode", "--log-device-ms", "5,2"],
            "names 2 devices, but embedded has 1 log: the write-ahead log.",
        ),
        (
            ["consistent-read", "--engine", "mariadb:skip-log-bin", "--log-device-ms", "5,2"],
            "names 2 devices, but mariadb:skip-log-bin has 1 log: the redo log.",
        ),
        (
            ["consistent-read", "--engine", "mariadb", "--log-device-ms", "5,2,1"],
            "names 3 devices, but mariadb has 2 logs: the redo log and the binary log.",
        ),
        (["commit-mode", "--engine", URL, "--log-device-ms", "5"], "Leave --log-device-ms out"),
        (["durability", "--engine", URL, "--yes"], "only on embedded, mariadb or mysql. Leave --engine out"),
        (["durability", "--engine", URL, "--yes"], "kills only servers that it started itself"),
        (["commit-mode", "--seed", "-50"], "--seed is -50; it must be at least 0"),
        (
            ["calibrate", "--seed", "-1"],
            "--seed is -1; it must be at least 0 and at most 18446744073709551615",
        ),
        (["sampling-distribution", "--seed", str(2**64)], "--seed is 18446744073709551616; it must be"),
        (["cpu-capacity", "--seed", "9" * 26], "it must be at least 0 and at most"),
        (["commit-mode", "--yes", "--engine", "postgresql://[::1/db"], "not a connection URL"),
        (["commit-mode", *both("a=embedded", "a=embedded")], "Two servers are called a."),
        (["commit-mode", *both("embedded", "none")], "Unknown engine 'none'."),
        (["commit-mode", *both("embedded", "sqlite")], "commit-mode does not run on sqlite"),
        (["commit-mode", "--yes", *both(URL, f"b={URL}")], "a run needs its server for itself"),
        (["commit-mode", "--across-tiers"], "give --engine more than once"),
        (["rows-per-commit", *both("embedded", "embedded")], "compares settings within one server."),
        (["commit-mode", *both("embedded", "embedded"), "--settings", "wait"], "Name at least two settings."),
        (["commit-mode", *both("embedded", URL), "--log-device-ms", "5"], "Leave --log-device-ms out"),
        (
            ["commit-mode", *both("postgresql://u:one@a/d", "b=postgresql://u:two@b/d")],
            "Two URLs contain different passwords",
        ),
        (["commit-mode", "--yes", "--engine", "postgresql://h/db?colour=blue"], "not a connection URL"),
    ],
)
def test_wrong_usage_is_said_in_one_paragraph(
    arguments: list[str], said: str, redolab: Redolab, tmp_path: Path
) -> None:
    done = redolab("run", *arguments, "--out", tmp_path / "run")
    assert done.code == 2
    assert said in done.complaint
    assert done.out == ""
    assert not (tmp_path / "run").exists()


def test_a_run_never_overwrites_another(redolab: Redolab, tmp_path: Path) -> None:
    kept = tmp_path / "run" / "kept"
    kept.parent.mkdir()
    kept.write_text("mine")
    for place in (kept.parent, kept):
        done = redolab("run", "commit-mode", "--out", place)
        assert done.code == 2
        assert f"{place} exists already" in done.complaint
    assert kept.read_text() == "mine"


def test_a_place_that_cannot_be(redolab: Redolab, tmp_path: Path) -> None:
    done = redolab("run", "commit-mode", "--out", tmp_path / ("x" * 300))
    assert done.code == 2
    assert "Give --out a place" in done.complaint


@pytest.mark.parametrize("command", ["report", "verify"])
def test_there_is_no_such_run(command: str, redolab: Redolab, tmp_path: Path) -> None:
    done = redolab(command, tmp_path / "none")
    assert done.code == 2
    assert "holds no stored run" in done.complaint


def test_unknown_options_and_words_for_numbers_are_refused(redolab: Redolab) -> None:
    for arguments in (["run"], ["run", "commit-mode", "--fast"], ["run", "commit-mode", "--blocks", "two"]):
        assert redolab(*arguments).code == 2


def test_more_samples_than_a_run_can_have(redolab: Redolab, tmp_path: Path) -> None:
    many = ",".join(map(str, range(1, 51)))
    ended = redolab(
        "run", "session-count", "--sessions", many, "--blocks", "10000", "--out", tmp_path / "run"
    )
    assert ended.code == 2
    assert "at most 200,000" in ended.err
    assert not (tmp_path / "run").exists()
