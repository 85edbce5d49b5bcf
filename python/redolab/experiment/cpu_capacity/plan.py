"""cpu-capacity: how many processes' worth of CPU work does this machine do at once?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redolab import units
from redolab.errors import RefusedError, UsageError
from redolab.experiment.base import Experiment, Levels, Pilot, Size, Wish, combinations_of
from redolab.machine.cpus import Cpus, read_cpus
from redolab.records.design import Design
from redolab.records.load import Amount, Load, Spins
from redolab.records.sample import Work
from redolab.records.store import Run

if TYPE_CHECKING:
    from redolab.experiment.cpu_capacity.capacity import Facts, Room
    from redolab.stats.blocks import Outcome
    from redolab.stats.estimates import Estimate

_ALL_UP_TO = 4
"""Threads up to which every number of processes is measured."""
_SHORTEST_S = 0.3
"""Of one process alone: clock and start-up are then below a percent of it."""
_PILOT_S = 0.5
_MARGIN = 0.05
_WORTH_SAYING = 0.01
_SHARED = 0.05
"""Part of the CPUs from which on other processes matter to where time rises, and to cores with threads."""
_MOST_OF_IT = 0.5

_OUTCOMES: Mapping[str, str] = {
    "equivalent": "as many effective CPUs as the system shows",
    "worse": "fewer effective CPUs than the system shows",
}


def _combine(wish: Wish) -> Mapping[str, Levels]:  # noqa: ARG001
    most = 2 * read_cpus().threads
    return combinations_of(processes=tuple(str(number) for number in range(1, most + 1)))


def _defaults(wish: Wish, possible: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(str(number) for number in numbers_of_processes(read_cpus()))


def numbers_of_processes(cpus: Cpus) -> tuple[int, ...]:
    """One, twice the threads, and what lies about the places where elapsed time can begin to rise."""
    most = 2 * cpus.threads
    if cpus.threads <= _ALL_UP_TO:
        return tuple(range(1, most + 1))
    full = math.ceil(cpus.limit)
    wanted = {1, 2, cpus.cores, cpus.cores + 1, full, full + 1, cpus.threads, most}
    return tuple(sorted(wanted))


def _baseline(settings: tuple[str, ...]) -> str:
    if "1" not in settings:
        raise UsageError(
            "cpu-capacity compares with one process alone, which is not among the settings "
            f"{', '.join(settings)}. Add 1 to --settings."
        )
    return "1"


def _load(wish: Wish, settings: Mapping[str, Levels]) -> Spins:  # noqa: ARG001
    most, limit = max(map(int, settings)), read_cpus().limit
    if most < limit:
        raise UsageError(
            f"{most} processes at most do not fill {limit:g} CPUs, so that nothing would be learned of them. "
            f"Add {math.ceil(limit)} or more to --settings."
        )
    return Spins("", most, "session")


def _fit(design: Design, load: Load, pilot: Pilot) -> Design:
    """The same work for every process, so that a sample takes the design's seconds on average."""
    alone, full = (
        _rate(pilot(setting, Amount(_PILOT_S))) for setting in (design.baseline, str(load.sessions))
    )
    order = [int(trial.setting) for trial in design.order()]
    per_spin_s = sum(number / min(number * alone, full) for number in order) / len(order)
    spins = math.ceil(max(design.seconds / per_spin_s, _SHORTEST_S * alone))
    return replace(design, units_each=spins, seconds=spins * per_spin_s)


def _rate(work: Work) -> float:
    if work.trouble or not work.units:
        raise RefusedError(
            f"The first, unrecorded processes did not work: {work.trouble or 'no spin was done'}. See what "
            "ends processes on this machine (a memory limit, for example)."
        )
    return work.units / work.session_elapsed_max_s


def _analyse(run: Run) -> dict[str, Any]:
    from redolab.analysis.compared import compare_run, results
    from redolab.analysis.verdict import Verdict
    from redolab.experiment.cpu_capacity import capacity
    from redolab.experiment.cpu_capacity import tables as cpu_shown

    compared = compare_run(run)
    cpus = run.manifest["machine"]["processors"]
    room = capacity.Room(int(cpus["cores"]), len(cpus["allowed"]), cpus["quota_cpus"], cpus["quota_period_s"])
    spun = capacity.spun_of(compared.good)
    facts, uses = capacity.facts(spun, room), capacity.matrix_at_most(spun, room)
    tables = [
        cpu_shown.elapsed_table(spun, room),
        cpu_shown.capacity_table(facts.capacity, room),
        cpu_shown.matrix_table(uses, max((item.processes for item in spun), default=0)),
    ]
    if room.quota is not None:
        tables.append(cpu_shown.throttling_table(spun, room))
    text, outcome = verdict(facts, room, withheld=compared.null.passed is False)
    return results(
        compared,
        Verdict(text, outcome, compared.baseline, None, _OUTCOMES.get(outcome)),
        tables=tables,
        figures=[cpu_shown.elapsed_figure(spun, room), cpu_shown.throughput_figure(spun, room)],
        published=cpu_shown.findings(spun, room, facts.jump, uses),
        sources=cpu_shown.SOURCES,
        warnings=capacity.overstated(spun, room),
    ) | {"capacity": facts.as_json()}


def verdict(facts: Facts, room: Room, *, withheld: bool) -> tuple[str, Outcome]:
    """The answer in words, and its outcome against the CPUs that the system shows.

    `equivalent`: as many effective CPUs as threads. `worse`: fewer; cores, a quota or the hypervisor set
    the limit. `undecided`: the interval does not tell, or other processes had too much of the machine.
    """
    effective = facts.capacity.alone
    if effective.point is None:
        return "Too little was measured: one block with 1 process and a full machine is needed.", "undecided"
    measured = f"M = {_interval(effective)} effective CPUs"
    if withheld:
        return (
            f"Withheld: one process alone differs from itself, so {measured} cannot be trusted. Run again "
            "when less else runs here.",
            "withheld",
        )
    shown = f"{room.cores} cores, {room.threads} threads"
    says = {
        "cores": f"Core-powered ({shown}): {measured}. Size for CPU by cores.",
        "threads": f"Thread-powered ({shown}): {measured}. Size for CPU by threads.",
        "quota": (
            f"Capped by a quota of {room.limit:g} CPUs ({shown}): {measured}. "
            "Size for the quota, or raise it."
        ),
        "less": (
            f"Less than its cores ({shown}): {measured}. The CPUs of this machine are probably threads of "
            "cores shared with other machines, or slow down when all are busy."
        ),
        "undecided": (
            f"Undecided: a quota of {room.limit:g} CPUs ({shown}) ran out seldom, because others left less: "
            f"{measured}. Run again when it is quiet."
            if room.capped
            else f"Undecided ({shown}): {measured}. Measure more blocks."
        ),
    }
    text = " ".join(part for part in (says[facts.power], _rise(facts, room), _disturbed(facts, room)) if part)
    return text, _outcome(facts, room)


def _rise(facts: Facts, room: Room) -> str:
    """Where time rises; not told of a quota, which need not be whole, nor beside others, who move it."""
    if room.capped or (facts.others.point or 0.0) > _SHARED:
        return ""
    if facts.jump is None:
        return "Elapsed time did not rise with the number of processes."
    return f"Elapsed time first rises from {facts.jump.flat} to {facts.jump.rises} processes."


def _disturbed(facts: Facts, room: Room) -> str:
    others, steal = facts.others.point or 0.0, facts.steal.point or 0.0
    text = ""
    if others > _WORTH_SAYING and room.capped:
        text += f"Other processes used {units.percent(others)} of the CPUs meanwhile. "
    elif others > _WORTH_SAYING:
        text += (
            f"Other processes used {units.percent(others)} of the CPUs meanwhile, which M allows for: as it "
            f"was, {_interval(facts.capacity.measured)} CPUs were left. "
        )
    if steal > _WORTH_SAYING:
        text += (
            f"The machine gave less than its CPUs: steal {units.percent(steal)}; without it M would be "
            f"{_interval(facts.capacity.without_steal)}. "
        )
    return (text + _blurred(facts, room)).strip()


def _blurred(facts: Facts, room: Room) -> str:
    """Why other processes leave the answer undecided; empty where M allows for what they took."""
    others = facts.others.point or 0.0
    if room.capped:
        # They use what the quota leaves, and nothing is allowed for them.
        return ""
    if room.threads > room.cores and others > _SHARED:
        return "They may have shared a core with the one process alone: run again when it is quiet."
    if others > _MOST_OF_IT:
        return "That is most of them, so that M rests more on the allowance than on work done: run again."
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
    if value.low is None or value.high is None:
        return f"{value.point or 0.0:.2f}"
    return f"{value.point or 0.0:.2f} ({value.low:.2f} to {value.high:.2f})"


def _lasting(results: Mapping[str, Any]) -> Mapping[str, Any] | None:
    decided = results["verdict"]["outcome"] in ("equivalent", "worse") and results["status"] == "finished"
    return results["capacity"] if decided else None


EXPERIMENT = Experiment(
    name="cpu-capacity",
    question="How many processes' worth of CPU work does this machine do at once?",
    unit="spin",
    record="sample",
    needs=frozenset({"cpu_work"}),
    options=frozenset(),
    combine=_combine,
    defaults=_defaults,
    baseline=_baseline,
    quick=Size(blocks=10, seconds=1.1, warmup_s=0.1),
    full=Size(blocks=30, seconds=10, warmup_s=1),
    null_pair=True,
    load=_load,
    analyse=_analyse,
    fit=_fit,
    lasting=_lasting,
)
