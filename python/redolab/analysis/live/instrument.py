"""Work and cost of the observer of a live profile, and how far its looks can be trusted."""

from __future__ import annotations

import math

from redolab.analysis.live.group import Json
from redolab.analysis.live.looks import Counted
from redolab.records.observation import Instrument, Observation

_MANY_TORN = 0.2
_BIASED = 0.1


def host(observation: Observation) -> Json:
    """How busy the machine was, shares of all its CPUs' time."""
    whole = observation.elapsed_s * (observation.host_cpus or 0)
    busy, steal = observation.host_busy_s, observation.host_steal_s
    return {
        "cpus": observation.host_cpus,
        "busy_share": busy / whole if busy is not None and whole else None,
        "steal_share": steal / whole if steal is not None and whole else None,
    }


def instrument(observation: Observation) -> Json:
    """Work of the observer and its cost."""
    item, elapsed = observation.instrument, observation.elapsed_s
    rate = observation.ticks / elapsed if elapsed > 0 else None
    return {
        "source": item.source,
        "rate_per_s": item.rate_per_s,
        "ticks": observation.ticks,
        "ticks_per_s": rate,
        "late": item.late,
        "lost": item.lost,
        "looks": item.looks,
        "torn": item.torn,
        "torn_share": item.torn / item.looks if item.looks else None,
        "cpu_s": item.cpu_s,
        "cpu_pct_of_core": 100 * item.cpu_s / elapsed if elapsed > 0 else None,
        "us_per_look": 1e6 * item.cpu_s / item.looks if item.looks else None,
        "server_cpu_s": item.server_cpu_s,
        "realtime": item.realtime,
        "text": _instrument_text(item, rate or 0.0, elapsed),
    }


def _instrument_text(item: Instrument, rate: float, elapsed: float) -> str:
    priority = {True: ", at real-time priority", False: ", without real-time priority", None: ""}
    cost = f"{100 * item.cpu_s / elapsed:.2g} % of a core" if elapsed > 0 else "cost unknown"
    per_look = f", {1e6 * item.cpu_s / item.looks:.2g} µs a look" if item.looks else ""
    torn = f", {100 * item.torn / item.looks:.2g} % of the looks torn" if item.looks else ""
    return (
        f"Wait events were read from {item.source} at {rate:.1f} ticks a second ({item.rate_per_s:g} asked "
        f"for; {item.late} late, {item.lost} lost{torn}). That cost "
        f"{cost}{per_look}{priority[item.realtime]}."
    )


PARALLEL = "parallel worker"
"""The kind of a process that does a part of a session's statement, as PostgreSQL has it."""


def cautions(observation: Observation, counted: Counted) -> list[str]:
    """Warnings for the reader about the quality of the looks."""
    item, cautions = observation.instrument, []
    if item.looks and item.torn > _MANY_TORN * item.looks:
        cautions.append(
            f"The wait event changed during {100 * item.torn / item.looks:.0f} % of the sampler's looks at a "
            "process: waits are as short as a look, so the rows of waits are less certain than their "
            "intervals show."
        )
    sessions = counted.is_session & counted.has_accounts
    looked, elapsed = counted.looked[sessions].sum(), counted.blocked.elapsed_s[sessions].sum()
    if looked and elapsed:
        seen = counted.awake[sessions].sum() / looked
        spent = (counted.cpu_s + counted.run_queue_s)[sessions].sum() / elapsed
        if abs(seen - spent) > _BIASED:
            cautions.append(
                f"Sessions were awake in {100 * seen:.0f} % of the sampler's looks, but for "
                f"{100 * spent:.0f} % of the time by the kernel's accounts: the sampler could not run "
                "freely, so waits may be divided wrongly."
            )
    return [*cautions, *_workers(observation)]


def _workers(observation: Observation) -> list[str]:
    """The part of the sessions' statements that other processes did."""
    workers = [one for one in observation.processes if one.kind == PARALLEL]
    if not workers:
        return []
    known = [one.cpu_s for one in workers if one.cpu_s is not None]
    used = f" and used {math.fsum(known):.3g} s of CPU" if len(known) == len(workers) else ""
    return [
        f"{len(workers)} parallel workers did a part of the sessions' statements{used}. The time of these "
        "workers is in the account of the instance, not in the account of the sessions."
    ]
