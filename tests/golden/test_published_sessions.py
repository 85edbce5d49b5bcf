"""The published session profiles and timed events, recomputed from their raw numbers."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from redolab.experiment.session_count.pool import (
    TOTAL,
    UNACCOUNTED_TIME,
    TimedEvent,
    session_profile,
    top_events,
)

DATA = Path(__file__).parent / "data"


def rows(name: str, sessions: int) -> list[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        assert file.readline().startswith("# Bobby Durrett")
        return [row for row in csv.DictReader(file) if int(row["sessions"]) == sessions]


@pytest.mark.parametrize("sessions", [4, 32])
def test_the_profile_of_a_session_and_what_is_unaccounted(sessions: int) -> None:
    published = {row["timesource"]: row for row in rows("fewer_sessions_profile.csv", sessions)}
    parts = {
        name: float(row["seconds"])
        for name, row in published.items()
        if name not in {TOTAL, UNACCOUNTED_TIME}
    }
    total = float(published[TOTAL]["seconds"])
    found = session_profile(total, parts)

    assert [row.name for row in found] == list(published)
    assert sum(row.seconds for row in found[1:]) == pytest.approx(total)
    for row in found:
        if row.name == UNACCOUNTED_TIME:
            # Whole seconds were printed: the total and each of three parts are off by half of one at most.
            assert row.seconds == pytest.approx(float(published[row.name]["seconds"]), abs=2.0)
        else:
            assert round(100 * row.share) == int(published[row.name]["percentage"])


@pytest.mark.parametrize("sessions", [4, 32])
def test_the_top_five_timed_events(sessions: int) -> None:
    published = rows("fewer_sessions_top5.csv", sessions)
    events = [
        TimedEvent(
            row["event"],
            row["wait_class"],
            float(row["time_s"]),
            float(row["waits"]) if row["waits"] else None,
        )
        for row in reversed(published)
    ]
    found = top_events([*events, TimedEvent("a sixth", "", -1.0, None)])
    assert {event.event for event in found} == {row["event"] for row in published}
    assert [event.time_s for event in found] == sorted(
        (float(row["time_s"]) for row in published), reverse=True
    )
    by_name = {event.event: event for event in found}
    for row in published:
        average = by_name[row["event"]].average_ms
        if not row["avg_wait_ms"]:
            assert average is None
        else:
            # Seconds and milliseconds were printed whole.
            printed = float(row["avg_wait_ms"])
            assert average == pytest.approx(printed, abs=0.5 + 500 / float(row["waits"]))
    # Every percentage is of one DB time, to the half second in which the times were printed.
    for row in published:
        if float(row["time_s"]) > 100:
            db_time_s = 100 * float(published[0]["time_s"]) / float(published[0]["pct_db_time"])
            assert 100 * float(row["time_s"]) / db_time_s == pytest.approx(
                float(row["pct_db_time"]), abs=100 / db_time_s
            )
