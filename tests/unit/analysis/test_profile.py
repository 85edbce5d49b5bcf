from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from redolab.analysis.profile import (
    account_of_instance,
    account_of_sessions,
    log_sync_share,
    profile,
    session_times,
    unaccounted_text,
)
from redolab.analysis.waits import NOTHING, SampledProcesses
from redolab.dialect.log_waits import is_log_sync
from redolab.records.account import Account, AccountRow
from redolab.records.design import Trial
from redolab.records.sample import Sample, WaitRow

from .synthetic import Behaviour, one_sample


@pytest.fixture
def sample() -> Sample:
    """Ten session-seconds: 2 s CPU, 1 s run queue, 7 s blocked."""
    trial = Trial(1, 1, 1, "wait/immediate", "baseline_a")
    base, _, _ = one_sample(trial, Behaviour(0.01, 0.001))
    return replace(
        base,
        elapsed_s=5.0,
        session_elapsed_s=10.0,
        session_cpu_s=2.0,
        session_run_queue_s=1.0,
        instance_cpu_s=2.5,
        instance_run_queue_s=1.1,
        host_busy_s=4.0,
        host_steal_s=0.0,
        ticks=500,
    )


def row(wait_class: str, event: str, ticks: int, state: str = "asleep") -> WaitRow:
    return WaitRow(1, "session", "client backend", wait_class, event, state, ticks)


def account(times: dict[str, float]) -> Account:
    return Account(
        tuple(AccountRow("session", name, seconds, 0.0, 1.0, "a test") for name, seconds in times.items())
    )


WAITS = (
    row("IO", "WalSync", 400),
    row("LWLock", "WALWrite", 200),
    row("", "", 100),
    # Runnable ticks are CPU and run queue, whose times are exact; a stale event changes nothing.
    row("IO", "WalSync", 200, "runnable"),
    row("", "", 100, "on_cpu"),
    # Outside the loop inside the server, so not in the elapsed time either.
    row("Client", "ClientRead", 50),
)


def test_exact_rows_and_blocked_time_divided_by_ticks(sample: Sample) -> None:
    found = session_times(sample, SampledProcesses(WAITS))
    assert found == pytest.approx(
        {
            "on_cpu": 2.0,
            "run_queue": 1.0,
            "IO:WalSync": 4.0,
            "LWLock:WALWrite": 2.0,
            "unaccounted": 1.0,
        }
    )
    assert sum(found.values()) == pytest.approx(sample.session_elapsed_s)
    assert log_sync_share(found) == pytest.approx(0.6)


def test_steal_is_a_row_where_the_hypervisor_took_time(sample: Sample) -> None:
    # The sessions have 2 of the machine's 4 s on CPU, so half of the 1.4 s taken is theirs.
    found = session_times(replace(sample, host_steal_s=1.4), SampledProcesses(WAITS))
    assert found == pytest.approx(
        {
            "on_cpu": 2.0,
            "run_queue": 1.0,
            "steal": 0.7,
            "IO:WalSync": 3.6,
            "LWLock:WALWrite": 1.8,
            "unaccounted": 0.9,
        }
    )
    rows = profile([(account(found), 100)])
    assert [item.row for item in rows[:3]] == ["on_cpu", "run_queue", "steal"]
    assert rows[-1].row == "unaccounted"
    assert sum(item.share.point or 0 for item in rows) == pytest.approx(1)
    whole = account_of_instance(replace(sample, host_steal_s=1.4), SampledProcesses(WAITS)).times()
    assert whole is not None
    assert whole["steal"] == pytest.approx(0.7)


def test_more_steal_than_blocked_time_leaves_a_negative_rest(sample: Sample) -> None:
    found = session_times(replace(sample, session_cpu_s=8.8, host_steal_s=0.5), SampledProcesses(WAITS))
    # All busy time is at most the sessions' own: 8.8 of 4 s counts as all of it.
    assert found == pytest.approx({"on_cpu": 8.8, "run_queue": 1.0, "steal": 0.5, "unaccounted": -0.3})


@pytest.mark.parametrize(
    ("share", "levels", "part"),
    [
        (0.01, ("wait", "batch"), None),
        (0.02, ("wait", "batch"), "the session that leads a group commit sleeps"),
        (0.02, ("wait", "immediate"), "the sessions were asleep and posted no"),
        (-0.02, ("wait", "batch"), "CPU, run queue and steal add up to more"),
    ],
)
def test_what_is_unaccounted_is_explained_from_one_percent_up(
    share: float, levels: tuple[str, str], part: str | None
) -> None:
    rows = profile([(account({"on_cpu": 1 - share, "unaccounted": share}), 1)])
    levels_of = dict(zip(("commit_wait", "commit_logging"), levels, strict=True))
    text = unaccounted_text(rows, levels_of, "embedded")
    assert text is None if part is None else (text or "").startswith(part)


def test_a_server_that_posts_the_commit_delay_is_not_said_to_hide_it() -> None:
    rows = profile([(account({"on_cpu": 0.5, "Timeout:CommitDelay": 0.3, "unaccounted": 0.2}), 1)])
    levels = {"commit_wait": "wait", "commit_logging": "batch"}
    assert unaccounted_text(rows, levels, "postgresql") == (
        "the sessions were asleep and posted no wait event."
    )


def test_negative_unaccounted_time_is_a_row(sample: Sample) -> None:
    found = session_times(replace(sample, session_cpu_s=9.5), SampledProcesses(WAITS))
    assert found == pytest.approx({"on_cpu": 9.5, "run_queue": 1.0, "unaccounted": -0.5})
    rows = profile([(account(found), 100)])
    assert [item.row for item in rows] == ["on_cpu", "run_queue", "unaccounted"]
    assert rows[-1].share.point == pytest.approx(-0.05)
    assert sum(item.share.point or 0 for item in rows) == pytest.approx(1)


def test_every_row_of_an_account_says_where_its_time_comes_from(sample: Sample) -> None:
    found = account_of_sessions(replace(sample, start_s=40.0), SampledProcesses(WAITS))
    assert found.elapsed_s == sample.session_elapsed_s
    assert {(item.scope, item.from_s, item.to_s) for item in found.rows} == {("session", 40.0, 45.0)}
    assert {item.row: item.source for item in found.rows} == {
        "on_cpu": "the kernel's accounts of the server's processes",
        "run_queue": "the kernel's accounts of the server's processes",
        "IO:WalSync": "the wait sampler",
        "LWLock:WALWrite": "the wait sampler",
        "unaccounted": "the wait sampler",
    }
    rest = account_of_sessions(replace(sample, session_cpu_s=9.5), SampledProcesses(WAITS)).row("unaccounted")
    assert rest is not None
    assert rest.source == "the elapsed time less the other rows"


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"ticks": 0}, {"unaccounted": "no wait events were sampled"}),
        (
            {"instance_cpu_s": None, "instance_run_queue_s": None},
            dict.fromkeys(
                ("on_cpu", "run_queue"), "the kernel's accounts of the server's processes cannot be read"
            ),
        ),
        (
            {"session_cpu_s": None},
            {"unaccounted": "the kernel's accounts of the server's processes cannot be read"},
        ),
    ],
)
def test_what_an_instance_cannot_tell_has_its_reason_and_no_total(
    sample: Sample, change: dict[str, Any], missing: dict[str, str]
) -> None:
    found = account_of_instance(replace(sample, **change), SampledProcesses(WAITS))
    assert {item.row: item.reason for item in found.rows if item.seconds is None} == missing
    assert found.total_s is None
    assert account_of_instance(replace(sample, **change), SampledProcesses(WAITS)).times() is None
    assert profile([(found, 100)]) == ()


def test_without_ticks_all_blocked_time_is_unaccounted(sample: Sample) -> None:
    assert session_times(sample, NOTHING) == pytest.approx(
        {"on_cpu": 2.0, "run_queue": 1.0, "unaccounted": 7.0}
    )


def test_without_kernel_accounts_time_is_divided_by_ticks_alone(sample: Sample) -> None:
    remote = replace(sample, session_cpu_s=None, session_run_queue_s=None)
    waits = (row("IO", "WalSync", 300, "unknown"), row("", "", 100, "unknown"))
    assert session_times(remote, SampledProcesses(waits)) == pytest.approx(
        {"IO:WalSync": 7.5, "on_cpu_or_unknown": 2.5}
    )
    assert session_times(remote, NOTHING) == {"unaccounted": 10.0}
    assert account_of_instance(remote, SampledProcesses(waits)).times() is None


def test_instance_adds_background_waits_that_are_not_idle(sample: Sample) -> None:
    background = (
        WaitRow(1, "background", "walwriter", "IO", "WalSync", "asleep", 100),
        WaitRow(1, "background", "walwriter", "Activity", "WalWriterMain", "asleep", 400),
        WaitRow(1, "background", "io worker", "Activity", "IoWorkerMain", "asleep", 1500),
    )
    found = account_of_instance(sample, SampledProcesses((*WAITS, *background))).times()
    assert found == pytest.approx(
        {
            "on_cpu": 2.5,
            "run_queue": 1.1,
            "IO:WalSync": 4.0 + 1.0,
            "LWLock:WALWrite": 2.0,
            "unaccounted": 1.0,
        }
    )


def test_shares_are_means_over_samples_and_sum_to_one() -> None:
    rows = profile(
        [
            (account({"on_cpu": 1.0, "run_queue": 0.0, "IO:WalSync": 3.0, "unaccounted": 0.0}), 2),
            (account({"on_cpu": 2.0, "run_queue": 1.0, "LWLock:WALWrite": 1.0, "unaccounted": 0.0}), 4),
        ]
    )
    assert [item.row for item in rows] == [
        "on_cpu",
        "run_queue",
        "IO:WalSync",
        "LWLock:WALWrite",
        "unaccounted",
    ]
    assert [item.share.point for item in rows] == pytest.approx([0.375, 0.125, 0.375, 0.125, 0])
    assert [item.time_s for item in rows] == pytest.approx([3, 1, 3, 1, 0])
    # Per unit: 0.5 and 0.5 s on CPU, 0 and 0.25 s in the run queue, ...; they sum to the mean R of 1.5 s.
    assert [item.per_unit.point for item in rows] == pytest.approx([0.5, 0.125, 0.75, 0.125, 0])
    assert profile([]) == ()
    unknown = AccountRow("session", "on_cpu", None, 0.0, 1.0, "a test", reason="nobody looked")
    assert profile([(Account((unknown,)), 1)]) == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("IO:WalSync", True),
        ("IO:WALSync", True),
        ("IO:WALWrite", True),
        ("LWLock:WALWrite", True),
        ("IPC:SyncRep", True),
        ("Timeout:CommitDelay", True),
        ("Timeout:PgSleep", False),
        ("LWLock:WALInsert", False),
        ("IO:DataFileRead", False),
        ("unaccounted", False),
    ],
)
def test_which_waits_are_the_commits_flush(name: str, expected: bool) -> None:
    assert is_log_sync(name) is expected


def test_a_client_that_is_waited_for_is_a_row_where_it_drives_the_sessions(sample: Sample) -> None:
    found = session_times(replace(sample, client_cpu_s=0.5, sessions=2), SampledProcesses(WAITS))
    # 7 s blocked by 750 ticks asleep, of which 50 waited for the client.
    assert found["Client:ClientRead"] == pytest.approx(7.0 * 50 / 750)
    assert sum(found.values()) == pytest.approx(sample.session_elapsed_s)


def test_a_session_that_is_done_before_the_others_waits_for_nobody(sample: Sample) -> None:
    # Two sessions for 5 s, of which one worked 4 s alone: a tenth of the ticks found it done.
    early = replace(sample, client_cpu_s=0.5, sessions=2, session_elapsed_s=9.0)
    seen = SampledProcesses((*WAITS[:5], row("Client", "ClientRead", 250)))
    found = session_times(early, seen)
    ticks = 250 - round(0.1 * 1_250)
    assert found["Client:ClientRead"] == pytest.approx(6.0 * ticks / (700 + ticks))
