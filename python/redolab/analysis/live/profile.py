"""Every figure of a live profile, for the results object of `redolab profile`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from redolab.analysis.live.division import Blocked, Division, divide_each, divide_group
from redolab.analysis.live.group import Json, WaitLengths, group
from redolab.analysis.live.instrument import cautions, host, instrument
from redolab.analysis.live.log import log
from redolab.analysis.live.looks import FIRST_EVENT, MAIN_LOOP, Counted, count
from redolab.analysis.waits import event_name
from redolab.dialect.log_waits import is_log_sync
from redolab.records.observation import Observation
from redolab.stats.estimates import Estimate
from redolab.stats.share_limits import LEVEL

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FORMAT = 1


def profile_observation(observation: Observation) -> dict[str, Any]:
    """The figures of a live profile (docs/reference/profile-json.md); pure, quick, no server.

    `redolab profile` joins its key `advice` (`redolab.forecast.advice.advice.advised`).

    Shares are of busy time, 0 to 1; a session's busy time is its elapsed time less waiting for its
    client, a background process's less its main loop. Every estimate has its interval at 95 %.
    """
    counted = count(observation)
    return {
        "format": FORMAT,
        "profile": "live",
        "engine": dict(observation.server),
        "at": observation.at,
        "elapsed_s": observation.elapsed_s,
        "host": host(observation),
        "instance": _instance(observation, counted),
        "all_sessions": _all_sessions(observation, counted),
        "kinds": _kinds(observation, counted),
        "sessions": _sessions(observation, counted),
        "log": log(observation),
        "instrument": instrument(observation),
        "not_available": [{"what": what, "why": why} for what, why in observation.not_available],
        "warnings": [*observation.warnings, *cautions(observation, counted)],
    }


def _instance(observation: Observation, counted: Counted) -> Json:
    import numpy as np

    members = np.arange(len(observation.processes))
    ended = observation.ended_cpu_s or 0.0
    division = divide_group(counted.blocked, members, ended)
    whole = [item for item in observation.timed if item.process is None]
    parts = [item for item in observation.timed if item.process is not None]
    lengths = WaitLengths(whole or parts, observation.wait_ends)
    found = group(observation, counted, members, division, lengths, ended)
    return found | {"idle_s": float(division.time_s[MAIN_LOOP])}


def _all_sessions(observation: Observation, counted: Counted) -> Json:
    import numpy as np

    members = np.flatnonzero(counted.is_session)
    found = _of_sessions(observation, counted, members)
    return {
        "sessions": len(members),
        "log_sync_share": _log_sync_share(observation, counted, members),
        **found,
    }


def _kinds(observation: Observation, counted: Counted) -> list[Json]:
    import numpy as np

    kinds = []
    for kind in np.unique(counted.blocked.pool[counted.is_session]):
        members = np.flatnonzero(counted.blocked.pool == kind)
        first = observation.processes[members[0]]
        found = _of_sessions(observation, counted, members)
        kinds.append(
            {"user": first.user, "application": first.application, "sessions": len(members), **found}
        )
    return sorted(kinds, key=lambda item: -item["busy_s"])


def _of_sessions(observation: Observation, counted: Counted, members: npt.NDArray[np.int64]) -> Json:
    mine = set(members.tolist())
    lengths = WaitLengths(
        [item for item in observation.timed if item.process in mine],
        [item for item in observation.wait_ends if item.process in mine],
    )
    return group(observation, counted, members, divide_group(counted.blocked, members), lengths)


def _sessions(observation: Observation, counted: Counted) -> list[Json]:
    import numpy as np

    timed, ends = defaultdict(list), defaultdict(list)
    for waits in observation.timed:
        timed[waits.process].append(waits)
    for item in observation.wait_ends:
        ends[item.process].append(item)
    each = divide_each(counted.blocked)
    found = []
    for place in np.flatnonzero(counted.is_session):
        process = observation.processes[place]
        described = {
            "pid": process.pid,
            "connection": process.connection,
            "user": process.user,
            "application": process.application,
            "database": process.database,
            "client": process.client,
            "kind": process.kind,
            "ended": process.ended,
        }
        lengths = WaitLengths(timed[int(place)], ends[int(place)])
        part = Division(**{name: value[place] for name, value in vars(each).items()})
        found.append(described | group(observation, counted, np.array([place]), part, lengths))
    return sorted(found, key=lambda item: -item["busy_s"])


def _log_sync_share(observation: Observation, counted: Counted, members: npt.NDArray[np.int64]) -> Json:
    """Share of the sessions' busy time spent waiting for a commit's flush, by any process."""
    import numpy as np

    columns = np.arange(FIRST_EVENT + len(observation.events))
    syncs = [
        FIRST_EVENT + place
        for place, event in enumerate(observation.events)
        if is_log_sync(event_name(*event))
    ]
    if not syncs:
        return Estimate(0.0 if len(members) else None, None, None, LEVEL).as_json()
    columns[syncs] = syncs[0]
    division = divide_group(_merged(counted.blocked, columns), members)
    busy = float(division.busy_s)
    return Estimate(
        float(division.time_s[syncs[0]]) / busy if busy > 0 else None,
        float(division.low[syncs[0]]),
        float(division.high[syncs[0]]),
        LEVEL,
    ).as_json()


def _merged(blocked: Blocked, columns: npt.NDArray[np.int64]) -> Blocked:
    """The same looks and accounts with some columns joined; `columns` maps each to its new column."""
    import numpy as np

    counts, exact = np.zeros_like(blocked.counts), np.zeros_like(blocked.exact_s)
    np.add.at(counts.T, columns, blocked.counts.T)
    np.add.at(exact.T, columns, blocked.exact_s.T)
    column = np.where(blocked.column < 0, -1, columns[blocked.column])
    return replace(blocked, counts=counts, column=column, exact_s=exact)
