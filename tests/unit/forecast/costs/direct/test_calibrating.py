"""Costs read from samples whose accounts are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from redolab.errors import UsageError
from redolab.experiment.calibrate.tables import cost, tables
from redolab.forecast.costs.costs import (
    SERVED_BY_FEW,
    SERVED_SHARE,
    Scenario,
    parameters,
    statements_of,
    with_sessions,
)
from redolab.forecast.costs.direct import calibrating, flushes, settings
from redolab.forecast.costs.direct.calibrating import calibrate
from redolab.forecast.costs.direct.settings import SampledSetting
from redolab.forecast.costs.run_costs import REPLICATES, RunCosts
from redolab.model.distribution import quantiles
from redolab.records.run import Run
from redolab.records.sample import Sample

US = 1e-6
COMMITS = 1_000
COLD, FLUSH_CPU, DEVICE, WAIT, ROW, EXIT = 2 * US, 12 * US, 500 * US, 20 * US, 2 * US, 5 * US
ROW_OF_MANY = 3 * US
# With 8, a fifth of the way from 2 CPUs to 32 sessions.
NOWAIT = {1: 38 * US, 8: 40.4 * US, 32: 50 * US, 64: 70 * US}
ALONE = NOWAIT[1] + COLD
FLUSHES = {1: 1.0, 8: 0.25, 32: 0.1, 64: 0.1}


def sample(number: int, block: int, setting: str, sessions: int, **known: float) -> Sample:
    values: dict[str, Any] = {field.name: None for field in fields(Sample)}
    values |= {
        "sample": number, "block": block, "position": 1, "setting": setting, "role": "treatment",
        "sessions": sessions, "commits": COMMITS, "rows": COMMITS, "elapsed_s": 1.0, "failed": 0,
        "session_elapsed_s": float(sessions), "log_write_time_s": 0.0, "ticks": 0, "client_cpu_s": None,
    }  # fmt: skip
    return Sample(**(values | known))


def waiting(number: int, block: int, sessions: int, rows: int = 1, slower: float = 1.0) -> Sample:
    """A sample of commits that wait, in which every cost is as above times `slower`."""
    flushes = FLUSHES[sessions]
    transaction = ALONE if sessions == 1 else NOWAIT[sessions]
    cpu = transaction + (rows - 1) * ROW_OF_MANY + flushes * FLUSH_CPU
    cpu += 0.0 if sessions == 1 else (1 - flushes) * WAIT
    flushing = flushes * (FLUSH_CPU + DEVICE)
    return sample(
        number, block, f"{sessions}/{rows}/wait", sessions,
        session_cpu_s=COMMITS * cpu * slower,
        session_elapsed_s=COMMITS * (ALONE + FLUSH_CPU + DEVICE) * slower if sessions == 1 else sessions,
        log_flushes=round(COMMITS * flushes),
        log_flush_time_s=COMMITS * flushing * slower,
        log_bytes=COMMITS * (60 + 80 * rows),
    )  # fmt: skip


def asynchronous(number: int, block: int, sessions: int, rows: int = 1) -> Sample:
    return sample(
        number, block, f"{sessions}/{rows}/nowait", sessions,
        session_cpu_s=COMMITS * (NOWAIT[sessions] + (rows - 1) * ROW),
        session_elapsed_s=COMMITS * NOWAIT[1] if sessions == 1 else sessions,
        log_flushes=2,
        log_flush_time_s=2 * (FLUSH_CPU + DEVICE + 3e-9 * COMMITS * 140 / 2),
        log_bytes=COMMITS * 140,
    )  # fmt: skip


def samples(blocks: int = 1, slower: float = 1.0) -> list[Sample]:
    """Every setting of a calibration, once in each block; those after the first are slower."""
    found: list[Sample] = []
    for block in range(1, blocks + 1):
        factor = 1.0 if block == 1 else slower
        found += [
            waiting(len(found) + 1, block, 1, slower=factor),
            waiting(len(found) + 2, block, 32, slower=factor),
            waiting(len(found) + 3, block, 32, 32, factor),
            asynchronous(len(found) + 4, block, 1),
            asynchronous(len(found) + 5, block, 32),
            asynchronous(len(found) + 6, block, 8, 32),
        ]
    return found


def paused(number: int, pause_ms: float, longer_s: float) -> Sample:
    """A lone session that pauses after each commit, on its CPU; flushes take so much longer."""
    flush_s = FLUSH_CPU + DEVICE + longer_s
    return sample(
        number, 1, f"1/1/wait/{pause_ms:g} ms", 1,
        session_cpu_s=COMMITS * (1e-3 * pause_ms + ALONE + FLUSH_CPU),
        session_elapsed_s=COMMITS * (1e-3 * pause_ms + ALONE + flush_s),
        log_flushes=COMMITS, log_flush_time_s=COMMITS * flush_s, log_bytes=COMMITS * 140,
    )  # fmt: skip


def in_a_client(found: list[Sample]) -> list[Sample]:
    """The same with a client of two threads: 3 us a statement, and 3 to wake up for an answer.

    A lone session has a server that costs as much as with several, a client that takes 3 us more to wake up
    on a CPU that has idled, and CPUs that take a while to be there. All statements of a batch cost as much.
    """

    def client_s(sessions: int) -> float:
        return (9 if sessions == 1 else 3 + 3 * 2 / sessions) * US

    def statements(item: Sample) -> int:
        return statements_of(int(item.setting.split("/")[1]))

    def server_s(item: Sample) -> float:
        count = statements(item)
        row_s = ROW if "nowait" in item.setting else ROW_OF_MANY
        return (item.session_cpu_s or 0.0) + COMMITS * (
            0.0 if count == 1 else (count - 1) * NOWAIT[item.sessions] - (count - 3) * row_s
        )

    def more_s(item: Sample) -> float:
        return COMMITS * (NOWAIT[8] - NOWAIT[1] + 2 * EXIT) if item.sessions == 1 else 0.0

    return [
        replace(
            item,
            client_cpu_s=COMMITS * statements(item) * client_s(item.sessions),
            session_cpu_s=server_s(item) + more_s(item),
            session_elapsed_s=item.session_elapsed_s
            + more_s(item)
            + (COMMITS * client_s(1) if item.sessions == 1 else 0.0),
        )
        for item in found
    ]


def levels(name: str) -> Mapping[str, str]:
    if name.endswith(" ms"):
        factors = ("sessions", "rows_per_commit", "commit_wait", "pause_ms")
        return dict(zip(factors, name.removesuffix(" ms").split("/"), strict=True)) | {"loop": "server"}
    factors = ("sessions", "rows_per_commit", "commit_wait", "log_device_ms")
    return dict(zip(factors, name.split("/"), strict=False))


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Calibrate on these samples, without a stored run."""

    def of(found: list[Sample], **manifest: Any) -> RunCosts:
        monkeypatch.setattr(settings, "read_samples", lambda run: found)  # noqa: ARG005
        monkeypatch.setattr(calibrating, "read_latency", lambda run, kind="commit": {})  # noqa: ARG005
        names = dict.fromkeys(item.setting for item in found)
        run = SimpleNamespace(
            path=Path("a-run"),
            manifest={
                "record": "sample", "unit": "commit", "experiment": "calibrate", "machine": {"cpus": 2},
                "engine": {"name": "embedded"},
                "design": {"seed": 1}, "load": {"loop": "server", "sessions": 32},
                "settings": [{"name": name, "levels": levels(name)} for name in names],
            } | manifest,
        )  # fmt: skip
        return calibrate(cast("Run", run))

    return of


def test_costs_are_what_the_accounts_say(given: Any) -> None:
    point = given(samples()).point
    assert point.loop == "server"
    assert point.cpus == 2
    assert point.flush_cpu_s == pytest.approx(FLUSH_CPU)
    assert point.flush_mean_s == pytest.approx(DEVICE)
    assert dict(point.transaction_cpu_s) == pytest.approx({1: NOWAIT[1], 32: NOWAIT[32]})
    assert point.transaction_with(8) == pytest.approx(NOWAIT[8])
    assert point.cold_s == pytest.approx(COLD)
    assert point.hand_over_exit_s == 0.0
    assert point.available == 1.0
    assert point.row_with(8) == point.row_with(1) == pytest.approx(ROW)
    assert point.row_with(32) == pytest.approx(ROW_OF_MANY)
    assert point.row_bytes == pytest.approx(80)
    assert point.commit_bytes == pytest.approx(60)
    assert point.device_s_per_byte == pytest.approx(3e-9)
    # A commit waits in vain too.
    assert 0 < point.wake_s < (1 - SERVED_SHARE) * WAIT
    served_s = dict(point.served_s)
    assert served_s[32] == pytest.approx(SERVED_SHARE * WAIT, rel=0.1)
    assert served_s[1] == pytest.approx(SERVED_BY_FEW * served_s[32])


def test_who_has_a_cpu_to_himself_goes_on_with_warm_caches(given: Any) -> None:
    point = given(samples()).point

    def going_on_s(sessions: int) -> float:
        return float(parameters(point, Scenario(sessions)).served_s)

    assert going_on_s(2) == 0.0
    assert SERVED_BY_FEW * going_on_s(32) < going_on_s(4) < going_on_s(8) < going_on_s(32)
    assert going_on_s(32) == dict(point.served_s)[32]
    # A pool's sessions, of which few work at a time, go on as cold as those that loop.
    assert parameters(point, Scenario(8, arrival_rate_per_s=100.0)).served_s == going_on_s(8)
    assert parameters(point, Scenario(2, arrival_rate_per_s=100.0)).served_s == 0.0


def test_what_others_have_of_cpus_that_are_short(given: Any) -> None:
    busy = [replace(item, instance_cpu_s=1.9 if item.setting == "32/1/nowait" else 0.5) for item in samples()]
    point = given(busy).point
    assert point.available == pytest.approx(0.95)
    assert parameters(point, Scenario(8)).cpus == pytest.approx(0.95 * point.cpus)
    # Arrivals come to the same CPUs.
    assert parameters(point, Scenario(8, arrival_rate_per_s=100.0)).cpus == pytest.approx(0.95 * point.cpus)
    assert parameters(point, Scenario(1)).cpus == point.cpus
    idle = [replace(item, instance_cpu_s=0.5) for item in samples()]
    assert given(idle).point.available == 1.0


def test_what_others_have_where_commits_wait_is_of_the_cpu_time_used(given: Any) -> None:
    used = [replace(item, instance_cpu_s=1.8, host_busy_s=2.0) for item in samples()]
    point = given(used).point
    assert (point.available, point.available_waiting) == pytest.approx((1.0, 0.9))
    assert parameters(point, Scenario(8)).cpus == pytest.approx(0.9 * point.cpus)
    assert parameters(point, Scenario(8, commit_wait="nowait")).cpus == point.cpus
    # A count of ticks can be short of the processes' own time.
    short = [replace(item, instance_cpu_s=1.8, host_busy_s=1.7) for item in samples()]
    assert given(short).point.available_waiting == 1.0


def test_what_a_client_costs_is_told_from_the_server(given: Any) -> None:
    client = {"loop": "client", "sessions": 32}
    point = given(in_a_client(samples()), load=client).point
    assert dict(point.client_s) == pytest.approx({1: 3 * US, 2: 3 * US, 32: 3 * US})
    assert point.client_wake_s == pytest.approx(3 * US)
    assert point.client_with(1) == pytest.approx(6 * US)
    assert point.client_with(16) == pytest.approx((3 + 3 * 2 / 16) * US)
    # What 8 cost where nobody waits is what there is at least; with 32 it is more, with 17 half of that.
    assert dict(point.transaction_cpu_s) == pytest.approx({1: NOWAIT[8], 2: NOWAIT[8], 32: NOWAIT[32]})
    assert point.transaction_with(17) == pytest.approx((NOWAIT[8] + NOWAIT[32]) / 2)
    # On its way to either side, half of what the client takes more where its CPU has idled.
    assert point.hand_over_exit_s == pytest.approx(EXIT + 1.5 * US)
    assert point.cold_s == pytest.approx(COLD)
    assert point.flush_cpu_s == pytest.approx(FLUSH_CPU)
    assert point.row_with(1) == pytest.approx(NOWAIT[8])
    assert point.row_with(32) == pytest.approx(NOWAIT[32])
    assert 0 < point.wake_s < WAIT
    # Without commits that do not wait, what a lone session's client takes is all that is known.
    waits = [item for item in in_a_client(samples()) if "nowait" not in item.setting]
    point = given(waits, load=client).point
    assert (point.client_s, point.client_wake_s) == (((1, pytest.approx(9 * US)),), 0.0)
    assert (point.cold_s, point.hand_over_exit_s) == (0.0, 0.0)


def test_pauses_tell_of_the_device_alone(given: Any) -> None:
    pauses = [paused(90, 8, 150 * US), paused(91, 1, 40 * US), paused(92, 50, -3 * US)]
    client = {"loop": "client", "sessions": 32}
    for plain, manifest in ((samples(), {}), (in_a_client(samples()), {"load": client})):
        before = given(plain, **manifest)
        assert before.point.after_idle_s == ()
        calibrated = given([*plain, *pauses], **manifest)
        (idle_s, nothing_s), *points = calibrated.point.after_idle_s
        assert nothing_s == 0.0
        assert points == [
            (pytest.approx(1e-3 + idle_s), pytest.approx(40 * US)),
            (pytest.approx(8e-3 + idle_s), pytest.approx(150 * US)),
            (pytest.approx(50e-3 + idle_s), 0.0),
        ]
        shown = {row["cost"]: row["time"] for row in tables(calibrated)[0].rows}
        assert shown["more after 1 ms idle"].point == pytest.approx(40)
        assert shown["more after 8 ms idle"].point == pytest.approx(150)
        # They are no settings, and costs beside the device's are read as without them.
        assert calibrated.measured.keys() == before.measured.keys()
        assert calibrated.today == before.today
        for read in ("transaction_cpu_s", "row_cpu_s", "client_s", "flush_cpu_s", "flush_s", "row_bytes"):
            assert getattr(calibrated.point, read) == getattr(before.point, read)


def test_flushes_of_others_in_a_short_run_leave_no_time_that_is_less_than_none(given: Any) -> None:
    found = samples()
    found[0] = replace(found[0], session_elapsed_s=0.9 * COMMITS * DEVICE)
    point = given([*found, paused(90, 8, 150 * US)]).point
    (idle_s, _), _ = point.after_idle_s
    assert 0 < idle_s < US
    assert parameters(point, Scenario(4)).device_after_idle_s == point.after_idle_s


def test_what_a_byte_takes_is_without_the_pause_before_the_log_writer_s_flush(given: Any) -> None:
    # A flush of the log writer comes once in 500 commits.
    gap_s = COMMITS / 2 * NOWAIT[1]
    idle_s = ALONE
    longer_s = 20 * US
    pause = paused(90, 1e3 * (gap_s - idle_s), longer_s)
    bytes_of_flush = COMMITS * 140 / 2
    point = given([*samples(), pause]).point
    assert point.device_s_per_byte == pytest.approx(3e-9 - longer_s / bytes_of_flush, rel=0.05)
    point = given([*samples(), paused(90, 1e3 * (gap_s - idle_s), 1.0)]).point
    assert point.device_s_per_byte == 0.0


def test_a_flush_that_was_held_up_does_not_carry_what_few_flushes_tell(given: Any) -> None:
    plain = [*samples(3), *(paused(90 + block, 8, 150 * US) for block in range(3))]
    writer = max(item.sample for item in plain if item.setting == "1/1/nowait")

    def held_up(item: Sample) -> Sample:
        flushing_s = item.log_flush_time_s or 0.0
        return replace(item, log_flush_time_s=flushing_s + 0.05) if item.sample in (writer, 92) else item

    before, after = given(plain).point, given([held_up(item) for item in plain]).point
    assert before.device_s_per_byte > 0
    assert after.device_s_per_byte == pytest.approx(before.device_s_per_byte)
    assert after.after_idle_s == before.after_idle_s


def test_another_device_is_taken_to_need_as_long_however_it_idled(given: Any) -> None:
    point = given([*samples(), paused(90, 8, 150 * US)]).point
    assert parameters(point, Scenario(4)).device_after_idle_s == point.after_idle_s
    assert parameters(point, Scenario(4, log_device_ms=2.0)).device_after_idle_s == ()


@pytest.mark.parametrize(("queues", "one"), [(1, True), (8, False), (None, True)])
def test_a_disk_with_one_queue_tells_one_cpu(given: Any, queues: int | None, one: bool) -> None:
    point = given(samples(), machine={"cpus": 2, "disk_queues": queues}).point
    assert point.one_interrupt is one


def test_flush_times_keep_their_mean_and_their_rare_long_ones() -> None:
    lone = SampledSetting(Scenario(1), "server", [samples()[0]])
    times = {600.0: 990, 20_600.0: 10}
    flush_s = flushes.flush_quantiles(lone, {1: times}, 700 * US)
    assert len(flush_s) == flushes.QUANTILES
    assert quantiles(flush_s).mean_s == pytest.approx(700 * US)
    # One in a hundred: two of the two hundred parts.
    assert flush_s[-2:] == pytest.approx([20_000 * US] * 2, rel=0.11)
    assert flush_s[-3] < 1_000 * US


def test_a_cost_between_measured_numbers_of_sessions_is_linear() -> None:
    curve = ((1, 10.0), (8, 20.0), (32, 40.0))
    assert with_sessions(curve, 2, cpus=2) == 10.0
    assert with_sessions(curve, 5, cpus=2) == pytest.approx(15.0)
    assert with_sessions(curve, 8, cpus=2) == pytest.approx(20.0)
    assert with_sessions(curve, 8, cpus=16) == 10.0
    assert with_sessions(curve, 20, cpus=2) == pytest.approx(30.0)
    assert with_sessions(curve, 8, cpus=8) == 10.0


def test_a_cost_beyond_the_most_sessions_measured_grows_on_and_never_falls() -> None:
    assert with_sessions(((1, 10.0), (8, 20.0), (32, 40.0)), 44, cpus=2) == pytest.approx(50.0)
    for cpus in (2, 4, 16):
        assert with_sessions(((1, 10.0), (32, 50.0)), 63, cpus=cpus) == pytest.approx(90.0)
    assert with_sessions(((1, 50.0), (32, 10.0)), 128, cpus=2) == 10.0


def test_today_is_the_plainest_busy_setting(given: Any) -> None:
    calibrated = given(samples())
    assert calibrated.today == "32/1/wait"
    assert calibrated.measured["32/32/wait"].scenario.rows_per_commit == 32
    assert calibrated.replicates == ()


def test_resampled_blocks_scatter_around_the_point(given: Any) -> None:
    calibrated = given(samples(4, slower=1.3))
    assert len(calibrated.replicates) == REPLICATES
    flush = cost(calibrated, lambda each: each.flush_cpu_s)
    assert flush.point is not None
    assert flush.low is not None
    assert flush.high is not None
    assert FLUSH_CPU < flush.low < flush.point < flush.high < 1.31 * FLUSH_CPU
    [table] = tables(calibrated)
    assert [row["cost"] for row in table.rows] == [
        "commit, 1 session: CPU", "commit, 32 sessions: CPU", "more after a flush: CPU",
        "further row, 8 sessions: CPU", "further row, 32 sessions: CPU", "flush: CPU", "flush: device",
        "wait for a flush: CPU", "going on after a flush: CPU",
    ]  # fmt: skip


def test_an_emulated_device_is_known_by_the_time_asked_of_it(given: Any) -> None:
    asked = [replace(item, device_requested_s=1e-3 * item.commits) for item in samples()]
    assert given(asked).point.emulated
    assert not given(samples()).point.emulated


def test_without_rows_their_cost_is_not_known(given: Any) -> None:
    found = [item for item in samples() if "/32/" not in item.setting]
    assert not given(found).point.row_known


def test_rows_are_known_from_either_kind_of_commit(given: Any) -> None:
    waits = given([item for item in samples() if item.setting != "8/32/nowait"]).point
    assert waits.row_with(8) == waits.row_with(32) == pytest.approx(ROW_OF_MANY)
    nowait = given([item for item in samples() if item.setting != "32/32/wait"]).point
    assert nowait.row_with(8) == nowait.row_with(32) == pytest.approx(ROW)


@pytest.mark.parametrize(
    ("left_out", "words"),
    [("1/1/wait", "a setting with one session"), ("32/1/wait", "a setting with several sessions")],
)
def test_what_is_missing_is_named(given: Any, left_out: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        given([item for item in samples() if item.setting != left_out])
    assert "redolab run calibrate" in str(refused.value)


def test_without_the_kernel_s_accounts_there_is_no_calibration(given: Any) -> None:
    found = samples()
    found[0] = sample(1, 1, "1/1/wait", 1, log_flushes=COMMITS, log_flush_time_s=0.5, log_bytes=1)
    with pytest.raises(UsageError, match="needs CPU times"):
        given(found)


def test_settings_of_another_log_device_are_another_system(given: Any) -> None:
    slow = waiting(99, 1, 1, slower=5.0)
    found = [*samples(), replace(slow, setting="1/1/wait/9")]
    point = given(found, design={"seed": 1, "baseline": "32/1/wait"}).point
    assert point.flush_cpu_s == pytest.approx(FLUSH_CPU)


def test_a_run_of_something_else_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match="did not measure commits"):
        given(samples(), unit="query", experiment="consistent-read")


def test_today_is_what_a_calibration_is_compared_with(given: Any) -> None:
    found = samples()
    found += [waiting(len(found) + 1, 1, 64), asynchronous(len(found) + 2, 1, 64)]

    def of(**manifest: Any) -> str:
        return str(given(found, **manifest).today)

    assert of(design={"seed": 1, "baseline": "32/1/wait"}) == "32/1/wait"
    # Calibrations of before had a lone session there, and other runs have what they are about.
    assert of(design={"seed": 1, "baseline": "1/1/wait"}) == "64/1/wait"
    assert of(design={"seed": 1, "baseline": "32/1/wait"}, experiment="commit-scaling") == "64/1/wait"


def test_how_costs_grow_beyond_today_is_measured(given: Any) -> None:
    found = samples()
    found += [waiting(len(found) + 1, 1, 64), asynchronous(len(found) + 2, 1, 64)]
    point = given(found, design={"seed": 1, "baseline": "32/1/wait"}).point
    assert dict(point.transaction_cpu_s)[64] == pytest.approx(NOWAIT[64])
    assert point.served_s[-1][0] == 64
