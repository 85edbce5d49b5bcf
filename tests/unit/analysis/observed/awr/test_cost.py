"""What a commit cost by a report: figures worked out by hand from the truth that it was written from."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from redolab.analysis.observed.figures import AWR
from tests.imported_reports import results_of, table
from tests.written_reports import RELEASES, Event, Truth, awr_html, awr_text, statspack, truth


def true_figures(facts: Truth) -> dict[str, float]:
    sync = next(event for event in facts.foreground if event.name == "log file sync")
    write = next(event for event in facts.background if event.name == "log file parallel write")
    waited = sum(event.seconds for event in (*facts.foreground, *facts.background) if not event.idle)
    cpu = facts.db_cpu_s + facts.background_cpu_s
    return {
        "arrival_rate_per_s": facts.commits / facts.elapsed_s,
        "service_time_s": cpu / facts.commits,
        "queue_time_s": waited / facts.commits,
        "response_time_s": (cpu + waited) / facts.commits,
        "log_sync_s": sync.seconds / sync.waits,
        "log_sync_share": sync.seconds / facts.db_time_s,
        "log_syncs_per_commit": sync.waits / facts.commits,
        "log_write_s": write.seconds / write.waits,
        "log_writes_per_s": facts.redo_writes / facts.elapsed_s,
        "commits_per_log_write": facts.commits / facts.redo_writes,
        "redo_per_commit": facts.redo_bytes / facts.commits,
        "redo_per_log_write": facts.redo_bytes / facts.redo_writes,
        "log_utilization": write.seconds / facts.elapsed_s,
        "cpu_utilization_cores": facts.busy_cs / 100 / facts.elapsed_s / facts.cores,
        "cpu_utilization_threads": facts.busy_cs / 100 / facts.elapsed_s / facts.cpus,
    }


@pytest.mark.parametrize(
    ("version", "text"),
    [*((version, False) for version in ("11.2", "12.1", "12.2", "19c")), ("11.2", True), ("19c", True)],
)
def test_every_figure_holds_the_truth_between_its_ends(version: str, text: bool, tmp_path: Path) -> None:
    facts = truth(release=RELEASES[version])
    page = awr_text(facts, version) if text else awr_html(facts, version)
    found = results_of(tmp_path, [page])["settings"][0]["figures"]
    for key, true in true_figures(facts).items():
        assert found[key]["low"] <= true * (1 + 1e-12), key
        assert found[key]["high"] >= true * (1 - 1e-12), key
        assert found[key]["point"] == pytest.approx(true, rel=0.01), key
        assert found[key]["level"] == 1


@pytest.mark.parametrize("version", ["9.2", "10.2", "11.2"])
def test_statspack_says_the_same_as_far_as_it_goes(version: str, tmp_path: Path) -> None:
    facts = truth(release=RELEASES[version])
    found = results_of(tmp_path, [statspack(facts, version)], "statspack")["settings"][0]["figures"]
    missing = {"log_sync_share", "cpu_utilization_cores", "cpu_utilization_threads"}
    known = true_figures(facts)
    # Its CPU has no background before 10g here.
    known = {key: known[key] for key in known if version != "9.2" or key[:7] not in ("service", "respons")}
    for key, true in known.items():
        if found[key]["point"] is None:
            assert key in missing or (version == "10.2" and key == "cpu_utilization_cores")
            assert version != "11.2"
        else:
            assert found[key]["low"] <= true * (1 + 1e-12), key
            assert found[key]["high"] >= true * (1 - 1e-12), key


def test_the_four_rows_add_up_to_db_time_and_the_rest_may_be_negative(tmp_path: Path) -> None:
    for number, db_time_s in enumerate((9000.0, 6000.0)):
        facts = truth(db_time_s=db_time_s)
        rows = table(results_of(tmp_path / str(number), [awr_html(facts, "19c")]), "account-1")
        assert [row["row"] for row in rows] == ["CPU", "log file sync", "other waits", "UNACCOUNTED"]
        assert sum(row["seconds"] for row in rows) == pytest.approx(db_time_s, abs=0.01)
        assert sum(row["share"]["point"] for row in rows) == pytest.approx(1)
        assert (rows[-1]["seconds"] < 0) == (db_time_s < 6900)


def test_without_the_backgrounds_cpu_the_sessions_alone_is_told_as_that(tmp_path: Path) -> None:
    """Not the statistic of every process, which other rows of the same page contradict."""
    facts = truth()
    page = awr_html(facts, "19c").replace("background cpu time", "another time")
    results = results_of(tmp_path, [page])
    found = results["settings"][0]["figures"]["service_time_s"]
    assert found["point"] == pytest.approx(facts.db_cpu_s / facts.commits, rel=0.01)
    (told,) = [text for text in results["warnings"] if "Background cpu time" in text]
    assert "S is the CPU time of sessions alone." in told


def test_a_log_sync_that_no_session_has_is_not_taken_from_the_background(tmp_path: Path) -> None:
    facts = truth()
    without = tuple(event for event in facts.foreground if event.name != "log file sync")
    results = results_of(tmp_path, [awr_html(truth(foreground=without), "19c")])
    assert results["settings"][0]["figures"]["log_sync_s"]["point"] is None
    assert results["verdict"]["text"].startswith("Look elsewhere first: no log file sync")


def test_of_a_pluggable_database_nothing_is_said_of_the_log_writer(tmp_path: Path) -> None:
    found = results_of(tmp_path, [awr_html(truth(), "19c", pdb=True)])["settings"][0]["figures"]
    for key in ("log_write_s", "log_utilization", "queue_time_s", "response_time_s", "servers"):
        assert found[key]["point"] is None
    assert found["log_sync_share"]["point"] is not None


def test_what_a_reader_looks_up_stands_there_as_printed(tmp_path: Path) -> None:
    facts = truth()
    results = results_of(tmp_path, [awr_html(facts, "19c")])
    load = {row["name"]: row for row in table(results, "load-profile")}
    assert load["Redo size (bytes)"]["per_s"] == pytest.approx(facts.redo_bytes / facts.elapsed_s, abs=0.06)
    model = {row["name"]: row["seconds"] for row in table(results, "time-model")}
    assert model["DB CPU"] == pytest.approx(facts.db_cpu_s, abs=0.006)
    waits = {row["name"]: row for row in table(results, "background-waits")}
    assert waits["log file parallel write"]["waits"] == 231_870
    assert waits["log file parallel write"]["mean_s"] == pytest.approx(259.69 / 231_870, abs=6e-6)


def test_without_a_table_of_waits_nothing_is_taken_for_nothing(tmp_path: Path) -> None:
    page = awr_html(truth(), "19c").replace("Foreground Wait Events", "Foreground Wait Incidents")
    results = results_of(tmp_path, [page])
    rows = {row["row"]: row["seconds"] for row in table(results, "account-1")}
    assert rows["CPU"] == pytest.approx(truth().db_cpu_s, abs=0.01)
    # The largest events have a table of their own, and log file sync is one of them.
    sync = next(event for event in truth().foreground if event.name == "log file sync")
    assert rows["log file sync"] == pytest.approx(sync.seconds, abs=0.6)
    assert [rows[name] for name in ("other waits", "UNACCOUNTED")] == [None, None]
    assert results["settings"][0]["figures"]["queue_time_s"]["point"] is None


def test_without_any_table_of_events_the_waits_are_not_told(tmp_path: Path) -> None:
    page = awr_html(truth(), "19c").replace("Foreground Wait Events", "Foreground Wait Incidents")
    results = results_of(tmp_path, [re.sub("top 10", "ten", page, flags=re.IGNORECASE)])
    rows = {row["row"]: row["seconds"] for row in table(results, "account-1")}
    assert [rows[name] for name in ("log file sync", "other waits", "UNACCOUNTED")] == [None, None, None]
    assert "no table of wait events" in results["verdict"]["text"]


def test_what_is_not_known_has_its_reason(tmp_path: Path) -> None:
    setting = results_of(tmp_path, [awr_html(truth(), "19c", pdb=True)])["settings"][0]
    unknown = {key for key, value in setting["figures"].items() if value["point"] is None}
    assert setting["missing"].keys() == unknown
    assert "container" in setting["missing"]["log_write_s"]
    assert all(figure.why for figure in AWR.values())


def test_syncs_and_writes_are_compared_wait_by_wait(tmp_path: Path) -> None:
    rows = table(results_of(tmp_path, [awr_html(truth(), "19c")]), "waits-1")
    by_bound = {row["below_ms"]: (row["sync"]["point"], row["write"]["point"]) for row in rows}
    # By hand from the truth's histograms: 2.5 + 21.5 + 38.0 and 11.0 + 54.0 + 27.0 percent.
    assert by_bound[2.0] == pytest.approx((0.62, 0.92), abs=0.001)


@pytest.mark.parametrize(
    ("share", "begins"),
    [
        (0.8, "Change how commits are made: log file sync is 80"),
        (0.3, "Commits are one thing to change: log file sync is 30"),
        (0.02, "Look elsewhere first: log file sync is 2"),
    ],
)
def test_the_verdict_says_what_to_do_first(share: float, begins: str, tmp_path: Path) -> None:
    facts = truth()
    sync = next(event for event in facts.foreground if event.name == "log file sync")
    page = awr_html(truth(db_time_s=round(sync.seconds / share, 2)), "19c")
    text = results_of(tmp_path, [page])["verdict"]["text"]
    assert text.startswith(begins)
    assert len(text.split(". ", 1)[0].split()) <= 30


def verdict(place: Path, **changes: object) -> str:
    text: str = results_of(place, [awr_html(truth(**changes), "19c")])["verdict"]["text"]
    return text


def events(of: tuple[Event, ...], **seconds: tuple[int, float]) -> tuple[Event, ...]:
    """The same with other waits and seconds, by the last word of an event's name."""
    return tuple(
        replace(event, waits=seconds[event.name.split()[-1]][0], seconds=seconds[event.name.split()[-1]][1])
        if event.name.startswith("log file") and event.name.split()[-1] in seconds
        else event
        for event in of
    )


LOCK = Event("enq: TX - row lock contention", "Application", 4_000, 8_700.0)


def test_a_log_writer_that_always_writes_is_what_to_change(tmp_path: Path) -> None:
    """Sessions wait for row locks of sessions that wait for the log, so its own share is small."""
    facts = truth()
    text = verdict(
        tmp_path,
        db_time_s=10_000.0,
        foreground=(LOCK, *events(facts.foreground, sync=(500, 560.0))),
        background=events(facts.background, write=(20_263, 3384.0)),
        redo_writes=20_263,
    )
    assert text.startswith("Change the log or how commits are made: log file sync is 5.6 % of DB time")
    assert "Waits for row locks are 87 % of DB time" in text.replace("87.0 %", "87 %")
    assert "so these sessions wait for the log as well" in text
    assert "The log is saturated: it was written for 94 % of the time, 167 ms a write" in text.replace(
        "94.0", "94"
    )
    assert "Look elsewhere" not in text


def test_syncs_far_longer_than_writes_are_not_the_disk(tmp_path: Path) -> None:
    facts = truth()
    waits = 230_000

    def text(sync_ms: float, place: str) -> str:
        return verdict(
            tmp_path / place,
            foreground=events(facts.foreground, sync=(waits, sync_ms * waits / 1e3)),
            background=events(facts.background, write=(waits, 0.56 * waits / 1e3)),
        )

    assert "The disk is not the cause: a commit waited 3.42 ms and a log write took 0.56" in text(3.42, "far")
    assert "disk is not the cause" not in text(1.1, "near")


def test_where_commits_are_not_the_matter_the_largest_part_is_named(tmp_path: Path) -> None:
    facts = truth()
    text = verdict(
        tmp_path, db_time_s=10_000.0, foreground=(LOCK, *events(facts.foreground, sync=(5_000, 20.0)))
    )
    assert text.startswith("Look elsewhere first")
    assert "enq: TX - row lock contention takes 87" in text
    assert "look at what such a session does before its commit" in text
