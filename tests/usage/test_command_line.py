"""By the command line and through files: bytes that are no text, secrets, long texts, pipes, memory."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from redolab import console
from redolab.bounds import MOST_ECHO
from redolab.commands.process import exit_code, hide_secrets
from redolab.errors import RefusedError, UsageError
from redolab.files import foreign
from redolab.files.documents import parse_toml
from redolab.files.folder import Folder
from redolab.records.store import open_run
from redolab.records.writing import watch_writer
from redolab.records.writing.watch_writer import WatchWriter
from redolab.records.writing.writer import RunWriter
from redolab.url_secrets import take_secrets, without_secrets
from redolab.values.file import read_values
from tests.servers import command
from tests.unit.records.test_watch_writer import MANIFEST, entries, stretch

SECRET = "s3cret-thing"


@pytest.mark.parametrize("argument", ["run\udcff", "--out=caf\udce9/run", "postgresql://u@h/\udcff"])
def test_what_is_no_text_is_refused_before_anything_begins(
    argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "execv", lambda *_: pytest.fail("started over"))
    with pytest.raises(UsageError, match=r"\\x(ff|e9).* is not UTF-8"):
        hide_secrets(["redolab", "run", argument])
    hide_secrets(["redolab", "run", "run-\xe9", "--out=\u4e2d/\U0001f600"])


@pytest.mark.parametrize("scheme", ["mysql", "MariaDB", "POSTGRESQL", "oracle", "jdbc:mysql", "db2"])
@pytest.mark.parametrize(
    "given",
    [
        " {}://u:{}@h/d", "\t{}://u:{}@h/d", "\n{}://u:{}@h/d", "\xa0{}://u:{}@h/d", "\ufeff{}://u:{}@h/d",
        "\"{}://u:{}@h/d\"", "'{}://u:{}@h/d'", "<{}://u:{}@h/d>", "--engine= {}://u:{}@h/d", "{} ://u:{}@h/d",
        "--engine=old='{}://u:{}@h/d", "x {}://u:{}@h/d", "{}:// u:{}@h/d", " {}://h/d?password={}",
    ],
)  # fmt: skip
def test_a_password_is_taken_out_whatever_slips_in_front_of_its_url(scheme: str, given: str) -> None:
    found: dict[str, str] = {}
    assert SECRET not in take_secrets(given.format(scheme, SECRET), found)
    assert list(found.values()) == [SECRET]


@pytest.mark.parametrize(
    "given",
    [
        "mysql:/u:{}@h/", "mysql//u:{}@h/", "mysql:u:{}@h", "mysql:///u:{}@h/", "//u:{}@h", "://u:{}@h",
        "mysql:\\\\u:{}@h",
        "old=mysql://u@h,mysql://u:{}@h/", "mysql://u:{}@h/ mysql://u:{}@i/",
        "mysql://u@h?x=mysql://u:{}@h", " host=h password={}", "\"host=h password={}\"",
        "'password={} host=h'",
    ],
)  # fmt: skip
def test_what_is_nearly_a_url_is_refused_without_its_password(given: str) -> None:
    with pytest.raises(UsageError) as refused:
        take_secrets(given.replace("{}", SECRET), {})
    assert SECRET not in str(refused.value)


def test_no_error_echoes_what_would_be_a_password(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse() -> None:
        raise UsageError(f"There is no engine 'u:{SECRET}@h:3306/db' here at 12:30, ask a@b.")

    assert exit_code(refuse) == 2
    assert (
        capsys.readouterr().err == "redolab: There is no engine 'u:...@h:3306/db' here at 12:30, ask a@b.\n"
    )
    assert without_secrets("postgres@127.0.0.1:5432, u@h:1/x") == "postgres@127.0.0.1:5432, u@h:1/x"


def test_what_is_said_has_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    console.say(f"begins {'x' * 2_000_000} ends")
    said = capsys.readouterr().err
    assert said.startswith("begins x")
    assert said.endswith("x ends\n")
    assert len(said) <= MOST_ECHO + 10


@pytest.mark.parametrize("kind", ["cell", "quoted", "name", "group"])
def test_no_refusal_of_a_column_echoes_it_whole(kind: str, tmp_path: Path) -> None:
    long = "x" * (2_000_000 if kind in ("cell", "quoted") else 300_000)
    text = {
        "cell": f"v\n1\n{long}\n2\n",
        "quoted": f'v\n1\n"{long}"\n2\n',
        "name": f"v,{long}\n1,2\n",
        "group": f"v,g\n1,{long}\n2,b\n",
    }[kind]
    (tmp_path / "values.csv").write_text(text)
    with pytest.raises(UsageError) as refused:
        read_values(str(tmp_path / "values.csv"), "v", "g" if kind == "group" else None)
    assert len(str(refused.value)) < 1000


def test_a_pipe_that_nobody_writes_into_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, said = tmp_path / "pipe", []
    os.mkfifo(pipe)

    def say(text: str) -> None:
        said.append(text)
        threading.Thread(target=pipe.write_bytes, args=(b"1" * 200_000,)).start()

    monkeypatch.setattr(foreign, "say", say)
    monkeypatch.setattr(foreign, "_SILENT_S", 0.0)
    assert foreign.read_regular(pipe, 1 << 20, pipes=True) == b"1" * 200_000
    assert said == [f"{pipe} is a pipe: waiting until somebody writes into it. Ctrl-C ends the wait."]


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(), OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        ImportError("libarrow.so.2600: failed to map segment from shared object"),
    ],
)  # fmt: skip
def test_too_little_memory_is_a_sentence(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ValueError from error

    def bare() -> None:
        raise error

    assert exit_code(bare) == 3
    assert "too little memory" in capsys.readouterr().err
    with pytest.raises(ValueError):  # noqa: PT011  what is no refusal of the system stays what it is
        exit_code(fail)
    with pytest.raises(ImportError):
        exit_code(lambda: __import__("redolab.none"))


def test_under_a_limit_of_memory_a_command_ends_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text("v\n" + "".join(f"{number % 7}\n" for number in range(60)))
    for megabytes in (250, 700):
        size = megabytes << 20
        done = subprocess.run(
            command("analyze", tmp_path / "values.csv"), capture_output=True, text=True, check=False,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (size, size)),
        )  # fmt: skip
        assert (done.returncode, done.stdout) in ((3, ""), (0, done.stdout))
        assert "Traceback" not in done.stderr
        assert done.returncode == 0 or "too little memory" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "a." * 100_000 + "a=1",
        f"[{'a . ' * 100_000}a]",
        "x={" + '"a".' * 100_000 + "a=1}",
        "[[" + "'a'." * 99 + "a]]",
    ],
)
def test_a_key_of_very_many_parts_is_refused_at_once(text: str) -> None:
    with pytest.raises(UsageError, match="more than 60 objects"):
        parse_toml(text, "a file")
    parse_toml('text = """' + "a, 1.5, ..., b.c " * 1000 + '"""', "a file")


def test_too_few_open_files_lose_no_sample(tmp_path: Path) -> None:
    writer = WatchWriter(tmp_path / "run", MANIFEST)
    writer.add(stretch(1), entries(1, 4))
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        with pytest.raises(RefusedError, match=r"Too many open files\. Allow more .*is kept"):
            writer.add(stretch(2), entries(2, 4))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    writer.add(stretch(2), entries(2, 4))
    assert writer.finish("finished").samples["sample"].to_pylist() == [1, 2]


def test_a_join_that_finds_no_room_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_writer, "JOINED", 3)
    writer = WatchWriter(tmp_path / "run", MANIFEST)
    for number in (1, 2):
        writer.add(stretch(number), entries(number, 4))
    for kind in ("entries", "samples"):
        with monkeypatch.context() as patch:
            patch.setattr(Folder, "write", _full(f"{kind}-000001-"))
            with pytest.raises(RefusedError, match="Every stretch that was already stored is kept"):
                writer.add(stretch(writer.samples + 1), entries(writer.samples + 1, 4))
        assert open_run(writer.path).samples["sample"].to_pylist() == list(range(1, writer.samples + 1))
    assert writer.finish("failed").samples["sample"].to_pylist() == [1, 2, 3, 4]


def _full(at: str) -> Any:
    write = Folder.write

    def full(folder: Folder, name: str, content: bytes) -> None:
        if name.startswith(at):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(folder, name, content)

    return full


def test_a_disk_that_is_full_before_the_first_sample_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", _full("manifest"))
        for writes in (RunWriter, WatchWriter):
            with pytest.raises(RefusedError, match=r"No space left.*, so none is lost\.$"):
                writes(tmp_path / "run", MANIFEST)
            # What could not be begun does not block its place.
            assert not (tmp_path / "run").exists()
    writer = WatchWriter(tmp_path / "run", MANIFEST)
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", _full("samples"))
        with pytest.raises(RefusedError, match=r"No stretch was stored yet, so none is lost\.$"):
            writer.add(stretch(1), entries(1, 4))
    writer.add(stretch(1), entries(1, 4))
    with monkeypatch.context() as patch:
        patch.setattr(Folder, "write", _full("entries"))
        with pytest.raises(RefusedError, match="Every stretch that was already stored is kept"):
            writer.add(stretch(2), entries(2, 4))
    assert writer.finish("failed").samples["sample"].to_pylist() == [1]
