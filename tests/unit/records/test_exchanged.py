"""Names of a run directory that somebody gives to something else at every step: nothing else is touched.

Before each single call that names or opens a file, the run directory and that of its parts are put aside, and
links to somebody's directories put in their place: what was checked must be what is used.
"""

from __future__ import annotations

import ast
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import redolab as package
from redolab.engine.private.marks import Marks
from redolab.errors import RedolabError, RefusedError
from redolab.files import entries
from redolab.files.folder import write_file
from redolab.forecast.checks import ledger
from redolab.records.run import Run
from redolab.records.store import open_run
from redolab.records.writing import watch_writer
from redolab.records.writing.watch_writer import WatchWriter, check_place
from redolab.records.writing.writer import RunWriter, write_document, write_report
from tests.unit.records.test_watch_writer import MANIFEST, abandon, check, write

NOBODY = 65534
CALLS = ("open", "stat", "unlink", "rename", "rmdir", "mkdir", "scandir", "listdir")
root_alone = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make what belongs to somebody else")


class Exchange:
    """Counts calls, and before one of them gives the names of a run to somebody's directories."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, place: Path, victim: Path) -> None:
        self.at, self.done, self.place, self.victim = at, 0, place, victim
        self._rename = os.rename
        for module, names in ((os, CALLS), (fcntl, ("flock",))):
            for name in names:
                patch.setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **options: Any) -> Any:
            self.done += 1
            if self.done == self.at:
                self._exchange(self.place / "parts", self.victim / "parts")
                self._exchange(self.place, self.victim)
            return call(*arguments, **options)

        return stepped

    def _exchange(self, name: Path, other: Path) -> None:
        if os.path.lexists(name):
            self._rename(name, f"{name}.aside")
            name.symlink_to(other)


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Somebody's directory, which has the same names as a run and as its parts."""
    names = [f"{kind}-{n:06d}.parquet" for kind in ("samples", "entries") for n in range(1, 10)]
    names += ["manifest.json", "results.json", "report.html", "samples.parquet", "entries.parquet", "thesis"]
    (tmp_path / "victim" / "parts").mkdir(parents=True)
    for name in names:
        for place in (tmp_path / "victim", tmp_path / "victim" / "parts"):
            (place / name).write_text("somebody's")
    return tmp_path / "victim"


def content(place: Path) -> dict[str, bytes]:
    return {str(file.relative_to(place)): file.read_bytes() for file in place.rglob("*") if file.is_file()}


def ended(place: Path, *, closed: bool) -> Run:
    writer = WatchWriter(place, MANIFEST)
    write(writer, range(1, 3))
    if not closed:
        abandon(writer)
        return open_run(place)
    run = writer.finish("finished")
    write_report(run, "a page")
    return run


Act = Callable[[Path], Callable[[], object]]


def begin(place: Path) -> Callable[[], object]:
    return lambda: WatchWriter(place, MANIFEST)


def go_on(place: Path) -> Callable[[], object]:
    return lambda: WatchWriter(place, None)


def join(place: Path) -> Callable[[], object]:
    writer = WatchWriter(place, MANIFEST)
    return lambda: write(writer, range(1, 3))


def close(place: Path) -> Callable[[], object]:
    writer = WatchWriter(place, MANIFEST)
    write(writer, range(1, 2))
    return lambda: writer.finish("finished")


def discard(place: Path) -> Callable[[], object]:
    return WatchWriter(place, MANIFEST).discard


def report(place: Path) -> Callable[[], object]:
    run = open_run(place)

    def made() -> None:
        write_document(run, "league.json", {})
        write_report(run, "a page")

    return made


@pytest.mark.parametrize(
    ("act", "earlier"),
    [
        (begin, None),
        (join, None),
        (close, None),
        (discard, None),
        (go_on, "running"),
        (go_on, "closed"),
        (report, "closed"),
    ],
)
def test_what_was_checked_is_what_is_used(
    act: Act, earlier: str | None, tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_writer, "JOINED", 2)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    before = content(victim)
    if earlier is not None:
        ended(tmp_path / "earlier", closed=earlier == "closed")
    for at in range(1, 200):
        place = tmp_path / f"run-{at}"
        if earlier is not None:
            shutil.copytree(tmp_path / "earlier", place)
        go = act(place)
        with monkeypatch.context() as patch:
            exchange = Exchange(patch, at, place, victim)
            with suppress(RedolabError):
                go()
        assert content(victim) == before, f"{act.__name__}, step {at}"
        if exchange.done < at:
            assert at > 5
            return
    pytest.fail("it has no end")


# Whoever may write beside a run, or has its directory.


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory as /tmp is, which every user reaches."""
    with tempfile.TemporaryDirectory(prefix="redolab-test-") as name:
        Path(name).chmod(0o755)
        (Path(name) / "shared").mkdir()
        (Path(name) / "shared").chmod(0o1777)
        yield Path(name) / "shared"


@root_alone
@pytest.mark.parametrize(
    ("mode", "owner", "where", "why"),
    [
        (0o755, NOBODY, "run", "belongs to nobody"),
        (0o755, NOBODY, ".", "belongs to nobody"),
        (0o755, NOBODY, "inner/run", "belongs to nobody"),
        (0o777, 0, "run", "can be written by others"),
        (0o777, 0, ".", "can be written by others"),
        (0o1777, 0, ".", "can be written by others"),
    ],
)
@pytest.mark.parametrize("earlier", [False, True])
def test_root_stores_nothing_where_others_can(
    mode: int, owner: int, where: str, why: str, earlier: bool, shared: Path
) -> None:
    place = shared / "place"
    if earlier:
        ended(place / where, closed=True)
    place.mkdir(exist_ok=True)
    place.chmod(mode)
    os.chown(place, owner, owner)
    before = content(shared)
    uses: list[Callable[[], object]] = [lambda: check_place(place / where)]
    if earlier:
        uses.append(lambda: WatchWriter(place / where, None))
    else:
        uses += [lambda: WatchWriter(place / where, MANIFEST), lambda: RunWriter(place / where, MANIFEST)]
    for use in uses:
        with pytest.raises(
            RefusedError, match=f"Redolab does not store a run at .*{why}. Give --out a directory"
        ):
            use()
    assert content(shared) == before
    if not earlier:
        assert list(place.iterdir()) == []
    else:
        # Reading is no danger, nor a report: it goes by descriptor, whoever owns the directory.
        run = open_run(place / where)
        check(run, 2)
        write_report(run, "another page")
        assert (place / where / "report.html").read_text() == "another page"


@root_alone
def test_where_everybody_may_write_a_directory_of_ones_own_will_do(shared: Path) -> None:
    ended(shared / "run", closed=True)
    check(WatchWriter(shared / "run", None).finish("finished"), 2)
    os.seteuid(NOBODY)
    try:
        ended(shared / "his" / "run", closed=True)
        check(WatchWriter(shared / "his" / "run", None).finish("finished"), 2)
        # He is no root: a link of his own, and a directory that others write to, will do as before.
        (shared / "link").symlink_to(shared / "his")
        (shared / "his").chmod(0o777)
        check(ended(shared / "link" / "another", closed=True), 2)
    finally:
        os.seteuid(0)


@root_alone
def test_root_follows_links_that_only_root_can_have_made(shared: Path, victim: Path) -> None:
    beside = shared.parent / "home"
    beside.mkdir()
    (beside / "link").symlink_to(shared.parent / "disk")
    (shared.parent / "disk").mkdir()
    check(ended(beside / "link" / "run", closed=True), 2)
    assert (shared.parent / "disk" / "run" / "manifest.json").exists()
    run = open_run(beside / "link" / "run")
    write_report(run, "a page")
    for owner in (0, NOBODY):
        planted = shared / f"of-{owner}"
        planted.symlink_to(shared.parent / "disk")
        os.chown(planted, owner, owner, follow_symlinks=False)
        with pytest.raises(RefusedError, match=f"of-{owner} is a symbolic link where others may make one"):
            RunWriter(planted / "new", MANIFEST)
        assert not (shared.parent / "disk" / "new").exists()
        # Somebody else's run, reported by root, is reported where it is.
        with pytest.raises(RefusedError, match="is a symbolic link where others may make one"):
            write_report(open_run(planted / "run"), "astray")
        with pytest.raises(OSError, match="is a symbolic link where others may make one"):
            write_file(planted / "page.html", b"astray")
    assert (shared.parent / "disk" / "run" / "report.html").read_text() == "a page"
    assert not (shared.parent / "disk" / "page.html").exists()


@root_alone
def test_no_mark_is_read_where_somebody_can_plant_one(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(shared / "data"))
    marks = Marks("marks")
    assert marks.keep("0" * 32, "here")
    assert marks.kept() == {"0" * 32: "here"}
    os.chown(shared / "data" / "redolab" / "marks", NOBODY, NOBODY)
    assert marks.kept() == {}
    assert not marks.keep("1" * 32, "there")
    os.chown(shared / "data" / "redolab" / "marks", 0, 0)
    marks.forget("0" * 32)
    assert marks.kept() == {}


@root_alone
def test_no_second_name_of_a_file_of_roots_is_added_to(
    shared: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(shared / "data"))
    (shared / "data" / "redolab").mkdir(parents=True)
    os.chown(shared / "data" / "redolab", NOBODY, NOBODY)
    os.link(victim / "thesis", shared / "data" / "redolab" / "forecasts.jsonl")
    with pytest.raises(RefusedError, match="it has a second name"):
        ledger.note_scores("0" * 64, [], [])
    assert (victim / "thesis").read_text() == "somebody's"


# The source.

BY_NAME = {
    "unlink", "rename", "renames", "replace", "rmdir", "removedirs", "mkdir", "makedirs", "symlink_to",
    "touch", "hardlink_to", "chmod", "lchmod", "chown", "write_text", "write_bytes", "rmtree", "move", "copy",
    "copyfile", "copytree", "iterdir", "scandir", "listdir", "glob", "rglob", "exists", "is_file", "is_dir",
    "is_symlink", "lexists", "stat", "lstat", "open", "read_text", "read_bytes", "readlink", "samefile",
    "symlink", "link", "mkfifo", "truncate", "utime",
}  # fmt: skip
"""Calls that take a name, unless they are given the directory that it is in."""
WHERE_NAMES_ARE_USED = {
    "files/directories.py": "opens directories, step by step",
    "files/entries.py": "where the system opens no directories, which it does here",
    "files/foreign.py": "reads what the user named",
    "engine/private/processes.py": "reads what the kernel says of processes",
}
BY_NAME_ALL_THE_SAME = {
    # Words of a refusal.
    "records/writing/writer.py: os.path.lexists(path)", "engine/private/checkup.py: place.exists()",
    "engine/private/place.py: base.exists()", "engine/private/server.py: self.directory.exists()",
    # The first step, after which all is done by descriptor.
    "engine/private/directory.py: os.open(directory.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)",
    # By descriptor.
    "engine/private/directory.py: os.listdir(base)",
    "engine/private/directory.py: here.link(_ELSEWHERE, place)",
    # Reads what a server wrote, and believes none of it.
    "engine/private/guard.py: os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)",
    "engine/private/place.py: log.open('rb')", "engine/private/place.py: log.stat()",
}  # fmt: skip


def test_nothing_goes_by_name_after_a_check_by_descriptor() -> None:
    root = Path(package.__file__).parent
    found = {
        f"{place}: {ast.unparse(node)}"
        for room in ("records", "files", "engine/private")
        for path in sorted((root / room).rglob("*.py"))
        for place in [path.relative_to(root).as_posix()]
        if place not in WHERE_NAMES_ARE_USED
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _by_name(node)
    }
    assert found == BY_NAME_ALL_THE_SAME
    assert entries.BY_DESCRIPTOR
    assert entries._paths == {}


def _by_name(call: ast.Call) -> bool:
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name not in BY_NAME or any(str(keyword.arg).endswith("dir_fd") for keyword in call.keywords):
        return False
    # A text has that method too.
    return name != "replace" or ast.unparse(function) == "os.replace"
