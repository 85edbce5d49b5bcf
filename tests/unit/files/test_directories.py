"""Directories of this user's alone: what others can write to or exchange on the way is refused."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from redolab.files.directories import UnsafeError, make_directories, own_directory


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="redolab-test-") as name:
        yield Path(name)


def opened(path: Path, mode: int = 0o700, *, new: bool = False) -> os.stat_result:
    directory = own_directory(path, mode, new=new)
    try:
        return os.fstat(directory)
    finally:
        os.close(directory)


def test_what_is_missing_is_made_and_closed_to_others(place: Path) -> None:
    found = opened(place / "a" / "b" / "c", 0o711)
    assert os.path.samestat(found, (place / "a" / "b" / "c").stat())
    assert stat.S_IMODE((place / "a" / "b").stat().st_mode) == 0o700
    assert stat.S_IMODE(found.st_mode) == 0o711


def test_a_mode_is_widened_as_far_as_needed(place: Path) -> None:
    assert stat.S_IMODE(opened(place / "a").st_mode) == 0o700
    assert stat.S_IMODE(opened(place / "a", 0o711).st_mode) == 0o711
    assert stat.S_IMODE(opened(place / "a").st_mode) == 0o711


def test_a_new_one_is_not_there_yet(place: Path) -> None:
    opened(place / "a", new=True)
    with pytest.raises(FileExistsError):
        opened(place / "a", new=True)


@pytest.mark.parametrize("target", ["mine", "not there", "file"])
def test_a_link_is_refused(target: str, place: Path) -> None:
    (place / "mine").mkdir(0o700)
    (place / "file").touch()
    (place / "a").symlink_to(target)
    with pytest.raises(UnsafeError, match=f"{place}/a is a symbolic link"):
        opened(place / "a")
    assert not (place / "not there").exists()


def test_a_file_is_refused(place: Path) -> None:
    (place / "a").touch(0o700)
    with pytest.raises(UnsafeError, match="is not a directory"):
        opened(place / "a")
    with pytest.raises(NotADirectoryError):
        opened(place / "a" / "b")


@pytest.mark.parametrize("mode", [0o770, 0o720, 0o707, 0o1777])
def test_one_that_others_can_write_to_is_refused(mode: int, place: Path) -> None:
    (place / "a").mkdir()
    (place / "a").chmod(mode)
    with pytest.raises(UnsafeError, match=f"{place}/a can be written by others"):
        opened(place / "a")


def test_one_of_another_user_is_refused(place: Path) -> None:
    path = Path("/usr")  # Root's, where this user is somebody else.
    if os.geteuid() == 0:
        path = place / "a"
        path.mkdir(0o700)
        os.chown(path, 65534, 65534)
    with pytest.raises(UnsafeError, match=f"{path} belongs to "):
        opened(path)


def test_on_the_way_nobody_else_may_exchange_a_name(place: Path) -> None:
    (place / "shared" / "a").mkdir(parents=True)
    (place / "shared").chmod(0o777)
    with pytest.raises(UnsafeError, match=f"{place}/shared can be written by others"):
        opened(place / "shared" / "a")
    with pytest.raises(UnsafeError, match=f"{place}/shared can be written by others"):
        opened(place / "shared" / "a" / "b")
    assert list((place / "shared" / "a").iterdir()) == []
    # As /tmp is: everybody may make names, and take away only their own.
    (place / "shared").chmod(0o1777)
    assert stat.S_ISDIR(opened(place / "shared" / "a" / "b").st_mode)


def test_a_group_of_several_is_others(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "shared").mkdir()
    (place / "shared").chmod(0o770)
    monkeypatch.setattr("grp.getgrgid", lambda _: _Group("staff", []))
    with pytest.raises(UnsafeError, match=f"{place}/shared can be written by others"):
        opened(place / "shared" / "a")
    monkeypatch.setattr("pwd.getpwuid", lambda _: _User("mary"))
    monkeypatch.setattr("grp.getgrgid", lambda _: _Group("mary", ["mary", "bob"]))
    with pytest.raises(UnsafeError, match=f"{place}/shared can be written by others"):
        opened(place / "shared" / "a")
    # A group of this user alone, as many systems make one for each.
    monkeypatch.setattr("grp.getgrgid", lambda _: _Group("mary", []))
    opened(place / "shared" / "a")


class _Group:
    def __init__(self, gr_name: str, gr_mem: list[str]) -> None:
        self.gr_name, self.gr_mem = gr_name, gr_mem


class _User:
    def __init__(self, pw_name: str) -> None:
        self.pw_name = pw_name


def test_a_link_on_the_way_is_followed_where_only_this_user_can_have_made_it(place: Path) -> None:
    for name in ("shared", "home", "disk"):
        (place / name).mkdir()
    (place / "home" / "absolute").symlink_to(place / "disk")
    (place / "home" / "relative").symlink_to("../disk")
    for name in ("absolute", "relative"):
        found = opened(place / "home" / name / "a")
        assert os.path.samestat(found, (place / "disk" / "a").stat())
    (place / "home" / "round").symlink_to("round")
    with pytest.raises(OSError, match="Too many levels"):
        opened(place / "home" / "round" / "a")
    (place / "shared").chmod(0o1777)
    (place / "shared" / "link").symlink_to(place / "disk")
    with pytest.raises(UnsafeError, match="is a symbolic link where others may make one"):
        opened(place / "shared" / "link" / "a")


def test_directories_are_made_once(place: Path) -> None:
    make_directories(place / "a" / "b", 0o755)
    make_directories(place / "a" / "b")
    assert stat.S_IMODE((place / "a").stat().st_mode) == 0o755
    (place / "file").touch()
    with pytest.raises(FileExistsError):
        make_directories(place / "file")
    (place / "link").symlink_to("not there")
    with pytest.raises(FileExistsError):
        make_directories(place / "link")
