"""The answer of cpu-capacity: how many CPUs the machine gives, against those it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, joined
from redolab.experiment.cpu_capacity import capacity
from redolab.experiment.cpu_capacity.capacity import Facts, Room
from redolab.experiment.cpu_capacity.figures import elapsed_figure, throughput_figure
from redolab.experiment.cpu_capacity.tables import (
    SOURCES,
    capacity_table,
    elapsed_table,
    findings,
    matrix_table,
    throttling_table,
)
from redolab.records.run import Run
from redolab.stats.blocks import Outcome
from redolab.stats.estimates import Estimate

_MARGIN = 0.05
_WORTH_SAYING = 0.01
_SHARED = 0.05
"""Part of the CPUs from which on other processes matter: for the rise of time, and for cores with threads."""
_MOST_OF_IT = 0.5
_OUTCOMES: Mapping[str, str] = {
    "equivalent": "as many effective CPUs as the system shows",
    "worse": "fewer effective CPUs than the system shows",
}


def analyse(run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a cpu-capacity run, finished or not; plain JSON types only.

    Args:
        run: the stored run.
        compared: the same, compared.
    """
    cpus = run.manifest["machine"]["processors"]
    room = capacity.Room(int(cpus["cores"]), len(cpus["allowed"]), cpus["quota_cpus"], cpus["quota_period_s"])
    spun = capacity.spun_of(compared.good)
    facts, uses = capacity.facts(spun, room), capacity.matrix_at_most(spun, room)
    tables = [
        elapsed_table(spun, room),
        capacity_table(facts.capacity, room),
        matrix_table(uses, max((item.processes for item in spun), default=0)),
    ]
    if room.quota is not None:
        tables.append(throttling_table(spun, room))
    text, outcome = verdict(facts, room, withheld=compared.null.passed is False)
    return results(
        compared,
        Verdict(text, outcome, compared.baseline, None, _OUTCOMES.get(outcome)),
        tables=tables,
        figures=[elapsed_figure(spun, room), throughput_figure(spun, room)],
        published=findings(spun, room, facts.jump, uses),
        sources=SOURCES,
        warnings=capacity.overstated(spun, room),
    ) | {"capacity": facts.as_json()}


def verdict(facts: Facts, room: Room, *, withheld: bool) -> tuple[str, Outcome]:
    """The answer in words, and its outcome against the CPUs that the system shows.

    `equivalent`: as many effective CPUs as threads. `worse`: fewer; cores, a quota or the hypervisor set
    the limit. `undecided`: the interval is too wide, or other processes had too much of the machine.
    """
    effective = facts.capacity.alone
    if effective.point is None:
        text = (
            "Too little was measured: let one block (a pass over all settings) finish, with 1 process and "
            "with a full machine."
        )
        return text, "undecided"
    gives = f"M = {_interval(effective)} effective CPUs"
    if withheld:
        return (
            f"Run again when fewer programs run here: {gives} cannot be trusted, so the verdict is "
            "withheld. One process alone, measured twice, differs from itself.",
            "withheld",
        )
    outcome, power = _outcome(facts, room), _power(facts, room)
    sentences = [
        f"{_advice(facts, room)}: this machine gives {gives}.",
        *power,
        _rise(facts, room),
        _disturbed(facts, room),
    ]
    return joined(sentences), outcome


def _advice(facts: Facts, room: Room) -> str:
    """Advice on the size of this machine, in half a sentence."""
    if _blurred(facts, room) or (facts.power == "undecided" and room.capped):
        return "Run again when the machine is quiet"
    return {
        "cores": "Size for CPU by cores",
        "threads": "Size for CPU by threads",
        "quota": "Size for the quota, or raise it",
        "less": "Size for fewer CPUs than its cores",
    }.get(facts.power, "Measure longer (more blocks)")


def _power(facts: Facts, room: Room) -> list[str]:
    """Meaning of the figure, given the cores and threads that the system shows."""
    shown = f"{room.cores} cores, {room.threads} threads"
    return {
        "cores": [f"Core-powered ({shown})."],
        "threads": [f"Thread-powered ({shown})."],
        "quota": [f"Capped by a quota of {room.limit:g} CPUs ({shown})."],
        "less": [
            f"The effective CPUs are fewer than the machine's cores ({shown}).",
            "The CPUs of this machine are probably threads of cores shared with other machines, or slow down "
            "when all are busy.",
        ],
        "undecided": [
            f"Undecided: a quota of {room.limit:g} CPUs ({shown}) seldom ran out, because other processes "
            "left less CPU time than the quota allows."
            if room.capped
            else f"Undecided ({shown})."
        ],
    }[facts.power]


def _rise(facts: Facts, room: Room) -> str:
    """The rise of time; empty under a quota, which need not be whole, and with other processes, which move
    it.
    """
    if room.capped or (facts.others.point or 0.0) > _SHARED:
        return ""
    if facts.jump is None:
        return "Elapsed time did not rise with the number of processes."
    return f"Elapsed time first rises from {facts.jump.flat} to {facts.jump.rises} processes."


def _disturbed(facts: Facts, room: Room) -> str:
    others, steal = facts.others.point or 0.0, facts.steal.point or 0.0
    text = ""
    if others > _WORTH_SAYING and room.capped:
        text += f"Other processes used {units.percent(others)} of the CPUs during the measurement. "
    elif others > _WORTH_SAYING:
        text += (
            f"Other processes used {units.percent(others)} of the CPUs during the measurement, which M "
            f"allows for. With these other processes at work, {_interval(facts.capacity.measured)} CPUs were "
            "left. "
        )
    if steal > _WORTH_SAYING:
        text += (
            f"The machine gave less than its CPUs, because the hypervisor took {units.percent(steal)} of "
            f"their time (steal). Without steal, M would be {_interval(facts.capacity.without_steal)} "
            "effective CPUs. "
        )
    return (text + _blurred(facts, room)).strip()


def _blurred(facts: Facts, room: Room) -> str:
    """Why other processes leave the answer undecided; empty where M allows for what they took."""
    others = facts.others.point or 0.0
    if room.capped:
        # They use what the quota leaves, and nothing is allowed for them.
        return ""
    if room.threads > room.cores and others > _SHARED:
        return (
            "Other processes may have shared a core with the process that was measured alone: run again when "
            "the machine is quiet."
        )
    if others > _MOST_OF_IT:
        return (
            "Other processes used most of the CPUs, so M (the effective CPUs) rests more on the correction "
            "for them than on measured work: run again."
        )
    return ""


def _outcome(facts: Facts, room: Room) -> Outcome:
    effective = facts.capacity.alone
    if facts.power == "undecided" or _blurred(facts, room):
        return "undecided"
    if effective.low is None or effective.high is None:
        return "undecided"
    if effective.high < room.threads * (1 - _MARGIN):
        return "worse"
    return "equivalent" if effective.low > room.threads * (1 - _MARGIN) else "undecided"


def _interval(value: Estimate) -> str:
    return units.with_interval(value.point, value.low, value.high, write="{:.2f}".format)


def lasting(results: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The CPUs that the machine gives, for forecasts; None where the run did not decide them."""
    decided = results["verdict"]["outcome"] in ("equivalent", "worse") and results["status"] == "finished"
    return results["capacity"] if decided else None
