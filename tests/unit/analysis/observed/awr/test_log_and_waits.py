"""What reports say of the log writer, of idle events and of what is printed twice."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from redolab.dialect.oracle import LOG_SYNC, LOG_WRITE
from redolab.importers.layout import Kind
from tests.imported_reports import results_of, table
from tests.written_reports import Event, Truth, awr_html, statspack, truth
from tests.written_reports.pack import oracle_pack


def with_log(sync_s: float, write_s: float, **changes: Any) -> Truth:
    """An hour whose syncs and log writes have these means."""
    facts = truth()
    syncs = [replace(item, seconds=sync_s * item.waits) if item.name == LOG_SYNC else item
             for item in facts.foreground]  # fmt: skip
    writes = [replace(item, seconds=write_s * item.waits) if item.name == LOG_WRITE else item
              for item in facts.background]  # fmt: skip
    return truth(foreground=tuple(syncs), background=tuple(writes), **changes)


def test_a_log_writer_without_time_left_comes_first_whatever_the_locks_take(tmp_path: Path) -> None:
    writes = next(item.waits for item in truth().background if item.name == LOG_WRITE)
    facts = with_log(1.2e-3, 0.94 * 3600 / writes)
    locks = tuple(
        replace(item, seconds=40_000) if "row lock" in item.name else item for item in facts.foreground
    )
    page = awr_html(truth(foreground=locks, background=facts.background), "19c")
    text = results_of(tmp_path, [page])["verdict"]["text"]
    assert text.startswith("Change the log or how commits are made: log file sync is 1.1 % of DB time")
    assert "The log is saturated: it was written for 94.0 % of the time" in text
    assert "Waits for row locks are 85" in text
    assert "these sessions wait for the log as well" in text
    assert "Look elsewhere" not in text


@pytest.mark.parametrize(("sync_ms", "write_ms", "is_far"), [(3.42, 0.56, True), (1.0, 0.56, False)])
def test_syncs_that_are_far_longer_than_writes_are_not_the_disks(
    sync_ms: float, write_ms: float, is_far: bool, tmp_path: Path
) -> None:
    results = results_of(tmp_path, [awr_html(with_log(sync_ms / 1e3, write_ms / 1e3), "19c")])
    assert ("The disk is not the cause: a commit waited 3.42 ms" in results["verdict"]["text"]) == is_far
    mend = next(row["mend"] for row in table(results, "bounds-1") if row["part"] == LOG_SYNC)
    assert ("a faster log device gives little" in mend) == is_far


@pytest.mark.parametrize("make", [lambda facts: awr_html(facts, "19c"), oracle_pack])
def test_what_a_log_write_writes_and_wastes_is_told(make: Any, tmp_path: Path) -> None:
    facts = truth()
    kind: Kind = "oracle-pack" if make is oracle_pack else "awr"
    figures = results_of(tmp_path, [make(facts)], kind)["settings"][0]["figures"]
    wasted = facts.statistics["redo wastage"]
    written = facts.redo_bytes + wasted
    for key, value in (
        ("written_per_log_write", written / facts.redo_writes),
        ("blocks_per_log_write", facts.statistics["redo blocks written"] / facts.redo_writes),
        ("redo_wastage_share", wasted / written),
    ):
        assert figures[key]["point"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("parameters", "release", "said"),
    [
        (
            {"commit_write": "BATCH,NOWAIT"},
            "19.0.0.0.0",
            "commit_write is set (BATCH,NOWAIT): it is",
        ),
        ({"commit_write": ""}, "19.0.0.0.0", ""),
        ({"commit_wait": "NOWAIT"}, "19.0.0.0.0", "commit_wait is NOWAIT: commits do not wait"),
        ({"commit_wait": "WAIT"}, "19.0.0.0.0", ""),
    ],
)
def test_parameters_that_do_not_do_what_they_look_like_are_named(
    parameters: dict[str, str], release: str, said: str, tmp_path: Path
) -> None:
    page = awr_html(truth(parameters=parameters, release=release), "19c")
    warnings = results_of(tmp_path, [page])["warnings"]
    assert any(text.startswith(said) for text in warnings) if said else not warnings


def test_an_idle_event_of_a_later_release_is_no_wait(tmp_path: Path) -> None:
    facts = truth(release="11.2.0.4.0")
    timer = Event("lreg timer", "Other", 1_199, 3_599.0)
    expected, found = (
        results_of(tmp_path / name, [statspack(each, "11.2")], "statspack")["settings"][0]["figures"]
        for name, each in (
            ("without", facts),
            ("with", replace(facts, background=(*facts.background, timer))),
        )
    )
    assert found["queue_time_s"]["point"] == pytest.approx(expected["queue_time_s"]["point"])


def test_what_the_report_gives_a_share_of_db_time_is_not_idle(tmp_path: Path) -> None:
    facts = truth()
    timer = Event("PL/SQL lock timer", "Other", 100, 500.0)
    page = awr_html(replace(facts, foreground=(*facts.foreground, timer)), "19c")
    rows = {row["event"]: row for row in table(results_of(tmp_path, [page]), "events-1")}
    assert rows["PL/SQL lock timer"]["seconds"] == pytest.approx(500.0)


def test_the_number_of_cpus_is_the_statistics_own(tmp_path: Path) -> None:
    page = awr_html(truth(), "19c")
    broken = re.sub(r"(>Linux x86 64-bit</td><td[^>]*> *)8<", r"\g<1>126<", page)
    assert broken != page
    expected, found = (results_of(tmp_path / name, [text]) for name, text in (("a", page), ("b", broken)))
    assert found["settings"] == expected["settings"]
    assert not found["warnings"]


def test_bounds_of_histograms_are_powers_of_two_of_a_millisecond(tmp_path: Path) -> None:
    rows = table(results_of(tmp_path, [awr_html(truth(release="11.2.0.4.0"), "11.2")]), "waits-1")
    bounds = [row["below_ms"] for row in rows]
    assert bounds
    assert set(bounds) <= {2.0**power for power in range(12)}
    assert 1_024.0 in bounds
