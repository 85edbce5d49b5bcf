"""Two readers of the same truth: an AWR report, and two readings of the views that it is the difference of.

A report's totals are what the views grew by between its snapshots. So the views are replayed with nothing at
the first reading and those totals at the second. What is observed must be what `redolab import awr` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from redolab.analysis.live.profile import profile_observation
from redolab.engine.oracle.observer import reading
from redolab.engine.oracle.observer.observer import OracleObserver
from redolab.importers.reading import ReadReport, read_reports
from redolab.records.observation import Observation
from redolab.records.report import Entry
from redolab.url_secrets import ORACLE_PASSWORD
from tests.oracle.instance import Instance
from tests.oracle.replay import DIALECTS, replayed
from tests.written_reports import RELEASES, Truth, awr_html, awr_text, truth
from tests.written_reports.cases import four_sessions, many_sessions, production
from tests.written_reports.truth import all_events, all_statistics

WRITTEN: Mapping[str, tuple[Truth, str]] = {
    "an hour, 12.2": (truth(release=RELEASES["12.2"]), "12.2"),
    "an hour, 19c": (truth(release=RELEASES["19c"]), "19c"),
    "four sessions": (four_sessions(), "11.2"),
    "many sessions": (many_sessions(), "11.2"),
    "production": (production(), "11.2"),
}


def end_at(instance: Instance, facts: Truth) -> None:
    """Let the views have grown by what the report prints."""
    with instance.lock:
        statistics = all_statistics(facts)
        for name in instance.statistics:
            instance.statistics[name] = statistics[name]
        for event in all_events(facts):
            instance.instance_waits[event.name] = [event.waits, round(event.seconds * 1e6)]
            instance.classes[event.name] = event.wait_class
        instance.instance_cpu_us["DB CPU"] = round(facts.db_cpu_s * 1e6)
        instance.instance_cpu_us["background cpu time"] = round(facts.background_cpu_s * 1e6)
        instance.machine |= {"BUSY_TIME": facts.busy_cs, "IDLE_TIME": facts.idle_cs, "NUM_CPUS": facts.cpus}


def observed(facts: Truth, monkeypatch: pytest.MonkeyPatch) -> Observation:
    """The difference of two readings, as long apart as the report's snapshots."""
    instance = Instance(next(iter(DIALECTS)))
    monkeypatch.setenv(ORACLE_PASSWORD, instance.password)
    clock = iter((0.0, facts.elapsed_s))
    monkeypatch.setattr(reading, "monotonic", lambda: next(clock))
    with replayed(instance) as server, closing(OracleObserver(server.url)) as observer:
        end_at(instance, facts)
        return observer.read()


@pytest.fixture(params=WRITTEN)
def pair(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[Observation, ReadReport]:
    """What was observed, and what the report of the same says."""
    facts, version = WRITTEN[request.param]
    path = tmp_path / "report.txt"
    path.write_text((awr_html if version != "11.2" else awr_text)(facts, version), newline="")
    return observed(facts, monkeypatch), read_reports(path, "awr")[0]


def entries(report: ReadReport, section: str, name: str, measure: str) -> Iterator[Entry]:
    for item in report.entries:
        if (item.section, item.measure) == (section, measure) and name.startswith(item.name):
            yield item


def printed(report: ReadReport, sections: tuple[str, ...], name: str, measure: str) -> tuple[float, float]:
    """A figure of a report and what its rounding leaves open; the sum where it prints parts."""
    found = [item for section in sections for item in entries(report, section, name, measure)]
    assert found, (sections, name, measure)
    values = [item.value for item in found if item.value is not None]
    assert len(values) == len(found)
    return sum(values), sum(item.rounding or 0.0 for item in found)


def agree(seen: float | None, told: tuple[float, float]) -> None:
    """To the last digit that is printed."""
    assert seen is not None
    assert abs(seen - told[0]) <= told[1] * 1.001 + 1e-9, (seen, told)


def test_counts_of_commits_and_of_the_log_agree(pair: tuple[Observation, ReadReport]) -> None:
    seen, report = pair
    for ours, theirs in (
        ("commits", "user commits"), ("log_bytes", "redo size"), ("log_writes", "redo writes"),
    ):  # fmt: skip
        agree(seen.counters[ours], printed(report, ("statistic",), theirs, "total"))


def test_waits_of_every_event_agree(pair: tuple[Observation, ReadReport]) -> None:
    seen, report = pair
    sections = ("foreground event", "background event")
    assert len(seen.timed) >= 2
    for waits in seen.timed:
        _, name = seen.events[waits.event]
        agree(waits.count, printed(report, sections, name, "waits"))
        agree(waits.time_s, printed(report, sections, name, "seconds"))


def test_log_writes_agree(pair: tuple[Observation, ReadReport]) -> None:
    seen, report = pair
    of_writer = ("background event",), "log file parallel write"
    agree(seen.counters["log_flushes"], printed(report, *of_writer, "waits"))
    agree(seen.counters["log_flush_time_s"], printed(report, *of_writer, "seconds"))
    flush_time_ms = profile_observation(seen)["log"]["flush_time_ms"]
    mean_s, rounding_s = printed(report, *of_writer, "mean_s")
    agree(flush_time_ms / 1e3, (mean_s, rounding_s))


def test_cpu_and_the_machine_agree(pair: tuple[Observation, ReadReport]) -> None:
    seen, report = pair
    sessions = printed(report, ("time model",), "DB CPU", "seconds")
    background = printed(report, ("time model",), "background cpu time", "seconds")
    agree(seen.ended_cpu_s, (sessions[0] + background[0], sessions[1] + background[1]))
    busy = printed(report, ("os",), "BUSY_TIME", "value")
    assert seen.host_busy_s is not None
    agree(100 * seen.host_busy_s, busy)
    agree(seen.host_cpus, printed(report, ("host",), "cpus", "value"))
