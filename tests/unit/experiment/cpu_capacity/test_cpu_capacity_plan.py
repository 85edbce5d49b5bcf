"""What cpu-capacity plans, how it sizes its work, and what it says; no process is started."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from redolab.errors import RefusedError, UsageError
from redolab.experiment.answers import lasting
from redolab.experiment.base import Levels, Wish
from redolab.experiment.cpu_capacity import plan as cpu_capacity
from redolab.experiment.cpu_capacity.answer import verdict
from redolab.experiment.cpu_capacity.capacity import Capacity, Facts, Jump, Power, Room
from redolab.machine.cpus import Cpus, Quota
from redolab.records.load import Amount, Spins
from redolab.records.sample import Work
from redolab.stats.estimates import MISSING, Estimate

FEW = Cpus((0, 1), (), (0, 1), cores=2, sockets=1, kinds=(), quota=None)
MANY = Cpus(
    tuple(range(64)), (), tuple(range(64)), cores=32, sockets=2, kinds=(), quota=Quota(5.5, 0.1, Path("/g"))
)
EXPERIMENT = cpu_capacity.EXPERIMENT


@pytest.fixture(autouse=True)
def _two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_capacity, "read_cpus", lambda: FEW)


def test_every_number_up_to_twice_the_threads_on_a_small_machine() -> None:
    plan = EXPERIMENT.plan(Wish(quick=True, seed=3))
    assert plan.design.settings == ("1", "2", "3", "4")
    assert plan.design.baseline == "1"
    assert plan.combinations["3"] == {"processes": "3"}
    assert plan.load == Spins("", 4, "session")


def test_a_large_machine_is_measured_where_time_can_begin_to_rise() -> None:
    assert cpu_capacity.numbers_of_processes(FEW) == (1, 2, 3, 4)
    assert cpu_capacity.numbers_of_processes(MANY) == (1, 2, 6, 7, 32, 33, 64, 128)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("2", "4"), "Add 1 to --settings"),
        (("1", "5"), "no setting '5'"),
        (("1", "0"), "no setting '0'"),
        (("1", "1.5"), "no setting '1.5'"),
    ],
)
def test_settings_that_tell_nothing_are_refused(settings: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        EXPERIMENT.plan(Wish(settings=settings))


def test_too_few_processes_for_the_machine_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_capacity, "read_cpus", lambda: replace(MANY, quota=None))
    with pytest.raises(UsageError, match="With at most 2 processes, 64 CPUs are never all busy"):
        EXPERIMENT.plan(Wish(settings=("1", "2")))


def fitted(seconds: float, alone: float, full: float) -> tuple[int, float]:
    """Spins of a process and mean length of a sample, where a pilot measures these rates."""
    plan = EXPERIMENT.plan(Wish(quick=True, seconds=seconds, seed=3))

    def pilot(setting: str, amount: Amount, _levels: Levels | None = None, /) -> Work:
        rate = alone if setting == "1" else full
        spins = round(rate * amount.seconds)
        return Work(0, 0, 0, amount.seconds, amount.seconds, spins)

    design = EXPERIMENT.fit(plan, pilot).design
    assert design.amount(design.order()[0]) == Amount(design.seconds, None, design.units_each)
    assert design.units_each is not None
    return design.units_each, design.seconds


def test_the_same_work_for_every_process_lasts_the_seconds_on_average() -> None:
    # 1 and 2 processes take t, 3 take 1.5 t and 4 take 2 t, one process twice in each block: 6.5 t in five.
    spins, seconds = fitted(1.3, alone=300.0, full=600.0)
    assert spins == pytest.approx(300, abs=1)
    assert seconds == pytest.approx(1.3, rel=0.01)


def test_no_sample_is_too_short_for_the_clock() -> None:
    spins, seconds = fitted(0.01, alone=1000.0, full=2000.0)
    assert spins == pytest.approx(300, abs=1)
    assert seconds == pytest.approx(0.39, rel=0.01)


def test_a_pilot_that_does_nothing_is_refused() -> None:
    with pytest.raises(RefusedError, match="did not work"):
        fitted(1.0, alone=0.0, full=0.0)


def facts(point: float, low: float, high: float, kind: Power = "cores", others: float = 0.0) -> Facts:
    found = Estimate(point, low, high)
    return Facts(
        capacity=Capacity(measured=found, alone=found, without_steal=found),
        power=kind,
        jump=Jump(2, 3),
        others=Estimate(others, others, others),
        steal=Estimate(0.0, 0.0, 0.0),
        throttled=MISSING,
    )


@pytest.mark.parametrize(
    ("found", "room", "begins", "outcome"),
    [
        (facts(1.98, 1.95, 2.01), Room(2, 2), "Core-powered (2 cores, 2 threads).", "equivalent"),
        (facts(1.93, 1.85, 2.01), Room(2, 2), "Core-powered", "undecided"),
        (facts(2.4, 2.35, 2.45), Room(2, 4), "Core-powered (2 cores, 4 threads)", "worse"),
        (facts(3.95, 3.9, 4.0, "threads"), Room(2, 4), "Thread-powered", "equivalent"),
        (facts(1.5, 1.48, 1.52, "quota"), Room(2, 2, 1.5, 0.1), "Capped by a quota of 1.5 CPUs", "worse"),
        (
            facts(1.2, 1.18, 1.22, "less"),
            Room(2, 2),
            "The effective CPUs are fewer than the machine's cores",
            "worse",
        ),
        (facts(2.8, 2.5, 3.1, "undecided"), Room(2, 4), "Undecided (2 cores, 4 threads)", "undecided"),
        (facts(1.2, 1.0, 1.4, "undecided"), Room(2, 2, 1.5, 0.1), "Undecided: a quota of", "undecided"),
        # Beside others on a machine with one thread per core the correction holds ...
        (facts(1.98, 1.95, 2.01, others=0.4), Room(2, 2), "Core-powered", "equivalent"),
        # (Under a quota others use what it leaves, however much that is.)
        (facts(1.5, 1.48, 1.52, "quota", others=0.7), Room(2, 2, 1.5, 0.1), "Capped by a quota", "worse"),
        # ... unless little but the correction is left ...
        (facts(1.98, 1.95, 2.01, others=0.6), Room(2, 2), "Core-powered", "undecided"),
        # ... with two threads per core they may have shared the core of the one process alone.
        (facts(2.4, 2.35, 2.45, others=0.4), Room(2, 4), "Core-powered", "undecided"),
    ],
)
def test_the_verdict(found: Facts, room: Room, begins: str, outcome: str) -> None:
    text, decided = verdict(found, room, withheld=False)
    assert f" {begins}" in text
    first = text.partition(" effective CPUs.")[0]
    assert f"this machine gives M = {found.capacity.alone.point:.2f} (" in first
    assert decided == outcome


def test_the_verdict_says_what_others_and_the_hypervisor_took() -> None:
    found = replace(facts(1.98, 1.95, 2.01, others=0.4), steal=Estimate(0.1, 0.1, 0.1))
    text, _ = verdict(found, Room(2, 2), withheld=False)
    assert "Other processes used 40.0 % of the CPUs during the measurement" in text
    assert (
        "The machine gave less than its CPUs, because the hypervisor took 10.0 % of their time (steal)"
        in text
    )
    assert "first rises" not in text
    quiet, _ = verdict(facts(1.98, 1.95, 2.01), Room(2, 2), withheld=False)
    assert quiet.endswith("Elapsed time first rises from 2 to 3 processes.")


def test_of_a_quota_no_jump_is_told() -> None:
    text, _ = verdict(facts(1.5, 1.48, 1.52, "quota"), Room(2, 2, 1.5, 0.1), withheld=False)
    assert "rises" not in text


def test_no_figure_and_no_trust() -> None:
    nothing = replace(facts(1, 1, 1), capacity=Capacity(MISSING, MISSING, MISSING))
    assert verdict(nothing, Room(2, 2), withheld=False)[1] == "undecided"
    assert verdict(facts(2, 1.9, 2.1), Room(2, 2), withheld=True)[1] == "withheld"


@pytest.mark.parametrize(
    ("outcome", "status", "kept"),
    [
        ("equivalent", "finished", True),
        ("worse", "finished", True),
        ("undecided", "finished", False),
        ("withheld", "finished", False),
        ("equivalent", "interrupted", False),
    ],
)
def test_only_a_decided_run_is_kept(outcome: str, status: str, kept: bool) -> None:
    verdict = {"outcome": outcome}
    results = {"experiment": "cpu-capacity", "status": status, "verdict": verdict, "capacity": {"a": 1}}
    assert (lasting(results) is not None) == kept
    assert lasting({**results, "experiment": "commit-mode"}) is None
