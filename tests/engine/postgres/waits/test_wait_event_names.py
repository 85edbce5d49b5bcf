"""The tables of wait events, against what each server's own program calls them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import pytest

from redolab.dialect.log_waits import is_log_sync, is_log_write
from redolab.dialect.row_names import row_name
from redolab.engine.postgres.preflight.preflight import NEWEST, OLDEST
from redolab.engine.postgres.waits.events import event_names, name_event
from redolab.engine.postgres.waits.name_check import list_difference, posted_difference
from tests.docs.pages import ROOT
from tests.servers import installed_servers, programs_of, versions_in_short

VERSIONS = range(OLDEST, NEWEST + 1)
Names = Mapping[int, tuple[str, str]]


def table(major: int) -> dict[int, tuple[str, str]]:
    names = event_names(major)
    assert names is not None
    return dict(names)


def names_of_program(program: Path) -> Names:
    """What `scripts/generate-wait-events` finds in it."""
    path = str(ROOT / "scripts" / "generate-wait-events")
    loader = importlib.machinery.SourceFileLoader("generate_wait_events", path)
    spec = importlib.util.spec_from_loader("generate_wait_events", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    found: Names = module.named_events(program)
    return found


@pytest.mark.parametrize("version", sorted({*installed_servers(), *versions_in_short()}))
def test_a_table_has_the_programs_own_names(version: str) -> None:
    said, known = names_of_program(programs_of(version) / "postgres"), table(int(version))
    assert len(said) > 200
    # Minor versions add events after the last of a class; none changes its number.
    assert {number: known[number] for number in said.keys() & known.keys()} == {
        number: said[number] for number in said.keys() & known.keys()
    }
    assert said.keys() <= known.keys() or known.keys() <= said.keys()


@pytest.mark.parametrize("major", VERSIONS)
def test_every_table_is_well_formed(major: int) -> None:
    text = files("redolab.engine.postgres.waits.events").joinpath(f"{major}.json").read_text()
    names = table(major)
    assert len(names) == len(json.loads(text)) > 200
    classes = {number >> 24: pair[0] for number, pair in names.items()}
    assert all(classes[number >> 24] == pair[0] for number, pair in names.items())
    assert set(classes.values()) == {
        "LWLock", "Lock", "BufferPin" if major < 19 else "Buffer", "Activity", "Client", "Extension", "IPC",
        "Timeout", "IO",
    }  # fmt: skip
    for number, wait_class in classes.items():
        events = sorted(n & 0xFFFFFF for n in names if n >> 24 == number)
        # The locks of early subsystems have left gaps; elsewhere the events are counted up.
        assert events == list(range(len(events))) or wait_class == "LWLock"
    assert len(set(names.values())) == len(names)


@pytest.mark.parametrize("major", VERSIONS)
def test_the_logs_events_are_found_in_every_version(major: int) -> None:
    names = [":".join(pair) for pair in table(major).values()]
    assert sorted(name.lower() for name in names if is_log_write(name)) == ["io:walsync", "io:walwrite"]
    # The sleep of commit_delay posts its event from 19 on.
    assert sorted(name.lower() for name in names if is_log_sync(name)) == [
        "io:walsync", "io:walwrite", "ipc:syncrep", "lwlock:walwrite",
        *(["timeout:commitdelay"] if major >= 19 else []),
    ]  # fmt: skip


@pytest.mark.parametrize("major", VERSIONS)
def test_a_number_in_no_table_is_shown_within_its_class(major: int) -> None:
    names = table(major)
    assert name_event(names, 0x0A0000FE) == ("IO", "#254")
    assert name_event(names, 0x040000FE) == ("BufferPin" if major < 19 else "Buffer", "#254")
    assert name_event(names, 0x07000009) == ("Extension", "#9")
    assert name_event(names, 0x0B000001) == ("InjectionPoint", "#1")
    assert name_event(names, 0x0E000001) == ("Class0x0e", "#1")


def test_page_locks_have_a_name_in_every_version() -> None:
    for major in VERSIONS:
        pages = [":".join(pair) for pair in table(major).values() if pair[1].startswith("BufferContent")]
        pages += [f"Buffer:{mode}" for kind, mode in table(major).values() if kind == "Buffer"]
        named = {row_name(page) for page in pages if page != "Buffer:BufferCleanup"}
        assert named == (
            {"page lock"} if major < 19 else {"page lock", "page lock to read", "page lock to write"}
        )


def test_a_list_of_another_minor_version_agrees() -> None:
    names = table(18)
    listed = list(names.values())
    longer = [*listed, ("IO", "ZzNew"), ("Extension", "SomebodysOwn"), ("InjectionPoint", "here")]
    assert list_difference(names, listed) is None
    assert list_difference(names, longer) is None
    assert list_difference(names, [pair for pair in listed if pair != ("LWLock", "WALWrite")]) is None
    last = max(number for number in names if number >> 24 == 0x0A)
    assert list_difference(names, [pair for pair in listed if pair != names[last]]) is None


def test_a_list_in_another_order_or_with_other_locks_disagrees() -> None:
    names = table(18)
    swapped = {**names, 0x0A00004D: names[0x0A00004E], 0x0A00004E: names[0x0A00004D]}
    assert "class IO" in str(list_difference(names, list(swapped.values())))
    other = {**names, 0x01000008: ("LWLock", "Elsewhere")}
    assert "class LWLock" in str(list_difference(names, list(other.values())))


def test_what_processes_publish_is_compared_where_it_is_steady() -> None:
    names = table(18)
    steady = {1: ("IO", "WalSync"), 2: ("Extension", "SomebodysOwn"), 3: ("", ""), 4: ("Lock", "tuple")}
    assert posted_difference(names, steady, {1: {0x0A00004E}, 2: {0x07000009}, 3: {0}}) is None
    assert posted_difference(names, steady, {1: {0x0A00004D, 0x0A00004E}}) is None
    assert posted_difference(names, steady, {1: {0x0A00FFFF}}) is None
    assert "process 1 waits for IO:WalSync" in str(posted_difference(names, steady, {1: {0x0A00004D}}))
    assert "process 1" in str(posted_difference(names, steady, {1: {0x01FFFFFF}}))
    assert "process 3" in str(posted_difference(names, steady, {3: {0x0A00004E}}))
