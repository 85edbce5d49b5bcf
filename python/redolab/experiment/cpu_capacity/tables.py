"""The tables, figures and findings of a cpu-capacity run, as data for the report."""

from __future__ import annotations

from collections.abc import Sequence

from redolab.analysis.exhibits import Agreement, Column, Finding, Table
from redolab.experiment.cpu_capacity.capacity import (
    Capacity,
    Jump,
    Room,
    Spun,
    Use,
    by_processes,
    elapsed_ratios,
    mean_of,
)
from redolab.stats.estimates import MISSING, Estimate, mean_estimate

SOURCES = (
    "Craig Shallahamer, OraPub, Cores vs Threads part 2, 13 May 2011",
    "Craig Shallahamer, OraPub, Cores vs Threads part 2B, 26 May 2011",
    "Craig Shallahamer, OraPub, Cores vs Threads part 3, 10 June 2011",
)


def elapsed_table(spun: Sequence[Spun], room: Room) -> Table:
    """Elapsed, run queue and utilisation by both methods, as published; and the CPU time of others."""
    ratios = elapsed_ratios(spun)
    rows = []
    for processes, items in by_processes(spun).items():
        ratio = Estimate(1.0, None, None) if processes == 1 else ratios.get(processes, MISSING)
        rows.append(
            {
                "processes": processes,
                "elapsed_s": mean_of(items, lambda item: item.elapsed_s),
                "elapsed_ratio": ratio,
                "run_queue": mean_of(items, lambda item: (item.cpu_s + item.run_queue_s) / item.elapsed_s),
                "waiting": mean_of(items, lambda item: item.run_queue_s / item.elapsed_s),
                "by_cores": mean_of(items, lambda item: item.busy * room.threads / room.cores),
                "by_threads": mean_of(items, lambda item: item.busy),
                "by_quota": None if room.quota is None else _used(items, room.quota),
                "others": mean_of(items, lambda item: item.others),
                "steal": mean_of(items, lambda item: item.steal),
            }
        )
    columns = [
        Column("processes", "processes", "count"),
        Column("elapsed_s", "elapsed", "estimate", "s"),
        Column("elapsed_ratio", "over that of one", "estimate"),
        Column("run_queue", "run queue", "estimate"),
        Column("waiting", "of it waiting", "estimate"),
        Column("by_cores", "utilisation over cores", "share"),
        Column("by_threads", "over threads", "share"),
        Column("others", "other processes", "share"),
        Column("steal", "steal", "share"),
    ]
    if room.quota is not None:
        columns.insert(7, Column("by_quota", "over the quota", "share"))
    return Table(
        key="cpu-elapsed",
        caption="Processes with the same work each, from one moment on until all are done",
        columns=columns,
        rows=rows,
        note=(
            "Run queue is the average number of this run's processes that ran or could have run. Utilisation "
            f"is the busy time of the whole machine, as the kernel counts it, divided by {room.cores} cores "
            f"and by {room.threads} threads"
            + (
                "; divided by the quota, it is the CPU time of these processes alone. "
                if room.quota is not None
                else ". "
            )
            + "Other processes and steal are shares of the threads' time."
        ),
        first=True,
    )


def capacity_table(found: Capacity, room: Room) -> Table:
    """Effective CPUs without other processes, as they were, and without steal; under a quota as they were."""
    cases = {
        "without other processes: what the machine gives": found.alone,
        "as measured, with other processes": found.measured,
        "without other processes and steal": found.without_steal,
    }
    note = "A process's worth is the work that one process alone does in a second on a CPU. "
    if room.capped:
        cases = {"as measured, under the quota": found.measured}
    else:
        note += (
            "The corrections add the CPU time of other processes, at the speed that the measured processes "
            "had meanwhile."
        )
    return Table(
        key="cpu-effective",
        caption="Effective CPUs: how many processes' worth of work the machine does at once",
        columns=[
            Column("case", "case", "text"),
            Column("effective", "effective CPUs (M)", "estimate"),
            Column("per_core", "per core", "estimate"),
            Column("per_thread", "per thread", "estimate"),
        ],
        rows=[
            {
                "case": case,
                "effective": value,
                "per_core": value.scaled(1 / room.cores),
                "per_thread": value.scaled(1 / room.threads),
            }
            for case, value in cases.items()
        ],
        note=note.strip(),
        first=True,
    )


def matrix_table(uses: Sequence[Use], processes: int) -> Table:
    """Utilisation for both units of the requirement over both units of the capacity."""
    return Table.of(
        "cpu-utilisation",
        f"Utilisation U = R / C with {processes} processes, in every pair of units",
        uses,
        [
            Column("required", "busy time counted in", "text"),
            Column("capacity", "capacity counted in", "text"),
            Column("utilisation_pct", "U", "number", "%"),
            Column("meaning", "meaning", "text"),
        ],
        {
            "utilisation_pct": lambda use: 100 * use.utilization,
            "meaning": lambda use: (
                "units agree" if use.right else "units mixed: wrong by the threads per core"
            ),
        },
        note=(
            "The kernel counts busy time in threads. With one thread per core all four figures are the same."
        ),
    )


def throttling_table(spun: Sequence[Spun], room: Room) -> Table:
    """Effect of the quota: periods in which it ran out, and the time withheld."""
    period_s = room.period_s or 0.0
    rows = [
        {
            "processes": processes,
            "periods": mean_of(items, lambda item: (item.throttled_periods or 0) * period_s / item.elapsed_s),
            "withheld": mean_of(items, lambda item: (item.throttled_s or 0.0) / item.elapsed_s),
        }
        for processes, items in by_processes(spun).items()
    ]
    return Table(
        key="cpu-throttling",
        caption="Effect of the quota",
        columns=[
            Column("processes", "processes", "count"),
            Column("periods", "periods in which it ran out", "share"),
            Column("withheld", "CPU time withheld per second, summed over CPUs", "estimate", "s"),
        ],
        rows=rows,
        note=f"The figures are from cpu.stat of the control group; a period is {1e3 * period_s:g} ms.",
    )


def findings(spun: Sequence[Spun], room: Room, jump: Jump | None, uses: Sequence[Use]) -> list[Finding]:
    """The published findings next to those of this run."""
    return [_jump_finding(room, jump), _step_finding(spun, room), _matrix_finding(room, uses)]


def _jump_finding(room: Room, jump: Jump | None) -> Finding:
    agreement: Agreement
    flat = None if jump is None else Estimate(float(jump.flat), None, None)
    if room.cores == room.threads:
        agreement, why = (
            "not comparable",
            "Here a core has one thread, so there are as many threads as cores.",
        )
    elif jump is None:
        agreement, why = "differs", "Elapsed time never rose as much as it does on a full machine."
    elif jump.flat < room.threads:
        agreement, why = "agrees", f"Elapsed time rises before the {room.threads} threads are used up."
    else:
        agreement, why = "differs", f"Elapsed time stays flat up to the {room.threads} threads."
    return Finding(
        key="cpu-first-jump",
        finding="Elapsed time rises with the first process beyond the cores, not beyond the threads",
        theirs="flat up to 8 processes on 8 cores with 16 threads",
        ours=flat,
        unit="processes",
        agreement=agreement,
        why=why,
        source=SOURCES[2],
    )


def _step_finding(spun: Sequence[Spun], room: Room) -> Finding:
    agreement: Agreement
    beyond = room.cores + 1
    ratio = elapsed_ratios(spun).get(beyond)
    if room.capped:
        agreement, why = "not comparable", "Here a CPU quota limits the processes, not the number of cores."
    elif ratio is None or ratio.low is None or ratio.high is None:
        agreement, why = "not comparable", "This run did not measure one process more than there are cores."
    elif ratio.low <= 2 <= ratio.high:
        agreement, why = "agrees", "The interval of the ratio contains 2."
    else:
        agreement = "differs"
        why = (
            "The published ideal lets each process run to its end on a core of its own. An operating system "
            f"shares time: {beyond} processes on {room.cores} cores take {beyond / room.cores:.2g} times as "
            "long as one process, and longer when other programs run."
        )
    return Finding(
        key="cpu-step",
        finding="One process more than the machine has room for doubles the elapsed time",
        theirs="30 s to 60 s, 2 times (ideal; measured about the same on 8 cores)",
        ours=ratio,
        unit="times",
        agreement=agreement,
        why=why,
        source=SOURCES[2],
    )


def _matrix_finding(room: Room, uses: Sequence[Use]) -> Finding:
    agreement: Agreement
    mixed = next((use for use in uses if (use.required, use.capacity) == ("threads", "cores")), None)
    ours = None if mixed is None else Estimate(100 * mixed.utilization, None, None)
    if mixed is None or room.cores == room.threads:
        agreement, why = (
            "not comparable",
            "Here a core has one thread, so counting in cores and counting in threads give the same figure.",
        )
    elif mixed.utilization > 1:
        agreement, why = (
            "agrees",
            "Busy time counted in threads, divided by the number of cores, passes 100 % on a full machine.",
        )
    else:
        agreement, why = "differs", "The machine was not busy enough to pass 100 %."
    return Finding(
        key="cpu-mixed-units",
        finding="Busy time counted in threads, divided by a capacity counted in cores, passes 100 %",
        theirs="217 % over 64 cores, 54 % over 256 threads",
        ours=ours,
        unit="%",
        agreement=agreement,
        why=why,
        source=SOURCES[1],
    )


def _used(items: Sequence[Spun], quota: float) -> Estimate:
    return mean_estimate(item.cpu_s / (item.elapsed_s * quota) for item in items)
