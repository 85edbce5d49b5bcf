"""The files Redolab keeps: written whole, never through a link or into something that is no file."""

from __future__ import annotations

import ast
import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import redolab as package
from redolab.errors import RefusedError
from redolab.files.folder import Folder, write_file
from redolab.forecast.checks import ledger
from redolab.records.writing.writer import RunWriter
from tests.conftest import Redolab

TEXT = "somebody's\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of somebody's that a planted link leads to."""
    (tmp_path / "away").mkdir()
    path = tmp_path / "away" / "victim"
    path.write_text(TEXT)
    return path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "place"
    path.mkdir()
    return path


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_link_in_the_place_of_a_file_is_replaced(place: Path, victim: Path) -> None:
    for target in (victim, victim.parent / "not there"):
        (place / "page").unlink(missing_ok=True)
        (place / "page").symlink_to(target)
        write_file(place / "page", b"new")
        assert not (place / "page").is_symlink()
        assert (place / "page").read_bytes() == b"new"
    assert victim.read_text() == TEXT
    assert not (victim.parent / "not there").exists()


def test_no_draft_has_a_name_that_can_be_foreseen(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drafts: list[str] = []

    def note(descriptor: int) -> None:
        drafts.extend(path.name for path in place.iterdir() if path.name != "page")

    monkeypatch.setattr(os, "fsync", note)
    write_file(place / "page", b"1")
    write_file(place / "page", b"2")
    assert len(set(drafts)) == len(drafts) == 2
    assert [path.name for path in place.iterdir()] == ["page"]


def test_a_file_that_stands_where_a_draft_would_is_left(
    place: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "known")
    for name in (".known.draft", "page.draft"):
        (place / name).symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_file(place / "page", b"new")
    assert victim.read_text() == TEXT


def test_a_draft_that_could_not_be_written_is_removed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(place / "page", b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_file(place / "page", b"new")
    assert [path.name for path in place.iterdir()] == ["page"]
    assert (place / "page").read_bytes() == b"old"


def test_the_umask_decides_who_reads_a_file(place: Path, umask: None) -> None:
    write_file(place / "page", b"x")
    assert stat.S_IMODE((place / "page").stat().st_mode) == 0o640
    with Folder.to_write(place) as folder:
        os.close(folder.create("for the server", b"x", 0o644))
    assert stat.S_IMODE((place / "for the server").stat().st_mode) == 0o644


def test_a_directory_may_be_reached_through_a_link(place: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(place)
    write_file(tmp_path / "link" / "page", b'{"a": 1}')
    assert json.loads((place / "page").read_text()) == {"a": 1}


def test_what_is_no_file_is_not_replaced(place: Path) -> None:
    os.mkfifo(place / "pipe")
    (place / "directory").mkdir()
    for name, why in (("pipe", "not a regular file"), ("directory", "Is a directory")):
        with pytest.raises(OSError, match=why):
            write_file(place / name, b"x")
    assert stat.S_ISFIFO((place / "pipe").stat().st_mode)
    assert sorted(path.name for path in place.iterdir()) == ["directory", "pipe"]


def test_a_new_file_replaces_nothing(place: Path, victim: Path) -> None:
    (place / "page").symlink_to(victim)
    (place / "dangling").symlink_to(place / "not there")
    for name in ("page", "dangling"):
        with pytest.raises(FileExistsError), Folder.to_write(place) as folder:
            folder.create(name, b"x", 0o600)
    assert victim.read_text() == TEXT
    assert not (place / "not there").exists()


def test_lines_are_added_to_a_file_alone(place: Path, victim: Path) -> None:
    (place / "link").symlink_to(victim)
    (place / "dangling").symlink_to(place / "not there")
    os.mkfifo(place / "pipe")
    (place / "directory").mkdir()
    for name, why in (
        ("link", "a symbolic link, which is not followed"),
        ("dangling", "a symbolic link, which is not followed"),
        ("pipe", "not a regular file"),
        ("directory", "Is a directory"),
    ):
        with pytest.raises(OSError, match=why), Folder.to_write(place) as folder:
            folder.append(name)
    assert victim.read_text() == TEXT
    assert not (place / "not there").exists()
    for line in (b"one\n", b"two\n"):
        with Folder.to_write(place) as folder:
            file = folder.append("lines")
        os.write(file, line)
        os.close(file)
    assert (place / "lines").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("dangling", [False, True])
def test_the_ledger_is_no_link(
    dangling: bool, place: Path, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(place))
    (place / "redolab").mkdir()
    target = victim.parent / "not there" if dangling else victim
    (place / "redolab" / "forecasts.jsonl").symlink_to(target)
    with pytest.raises(RefusedError, match="cannot be written: it is a symbolic link"):
        ledger.note_scores("0" * 64, [], [])
    assert victim.read_text() == TEXT
    assert [path.name for path in victim.parent.iterdir()] == ["victim"]


def test_what_outlives_runs_lies_in_a_directory_that_others_cannot_enter(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "new" / "data"))
    ledger.note_scores("0" * 64, [], [])
    for path in (place / "new", place / "new" / "data", place / "new" / "data" / "redolab"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """A directory of somebody's, with the names that a run has."""
    path = tmp_path / "others"
    (path / "run" / "parts").mkdir(parents=True)
    (path / "run" / "parts" / "thesis").write_text(TEXT)
    return path


def test_a_run_that_is_discarded_takes_no_other_directory_along(place: Path, others: Path) -> None:
    writer = RunWriter(place / "mine" / "run", {})
    (place / "mine").rename(place / "moved")
    (place / "mine").symlink_to(others)
    writer.discard()
    assert (others / "run" / "parts" / "thesis").read_text() == TEXT
    assert list((place / "moved" / "run").iterdir()) == []


def test_a_run_directory_may_be_a_link_to_an_empty_one(place: Path, tmp_path: Path, redolab: Redolab) -> None:
    (tmp_path / "out").symlink_to(place)
    done = redolab("run", "sampling-distribution", "--quick", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    assert (place / "manifest.json").exists()
    assert not (place / "parts").exists()
    (tmp_path / "large").mkdir()
    (tmp_path / "again").symlink_to(tmp_path / "large")
    RunWriter(tmp_path / "again", {}).discard()
    assert list((tmp_path / "large").iterdir()) == []


WRITING = dict.fromkeys(("write_text", "write_bytes", "O_CREAT"), ("files/folder.py",)) | dict.fromkeys(
    # What the one decides the other does, with descriptors or without.
    ("mkdir", "makedirs", "rmtree"), ("files/directories.py", "files/entries.py")
)  # fmt: skip


def test_there_is_one_place_that_writes_files_and_one_that_makes_directories() -> None:
    root = Path(package.__file__).parent
    seen, elsewhere = set(), []
    for path in root.rglob("*.py"):
        place = str(path.relative_to(root))
        for node in ast.walk(ast.parse(path.read_text())):
            name = node.attr if isinstance(node, ast.Attribute) else ""
            seen.add(name)
            if place not in WRITING.get(name, (place,)):
                elsewhere.append(f"{place}:{node.lineno} {name}")  # type: ignore[attr-defined]
            if isinstance(node, ast.Call) and _opens_to_write(node):
                elsewhere.append(f"{place}:{node.lineno} open")
    assert elsewhere == []
    assert {"O_CREAT", "mkdir", "rmtree"} <= seen


def _opens_to_write(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [*call.args, *(keyword.value for keyword in call.keywords)]
    # Nothing is kept of what is written to it.
    if call.args and ast.unparse(call.args[0]) == "os.devnull":
        return False
    return name == "open" and any(
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) & set("wax+")
        for mode in modes
    )
