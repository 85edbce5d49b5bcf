"""The setting for a combination of factor levels on a server: parameters, their values and their scope."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from redolab.dialect.durability import TIER_TEXT, durability_tier
from redolab.dialect.postgres import commit_parameters, parameter_names
from redolab.engine.postgres.connecting.connection import Connection
from redolab.engine.postgres.parameters.before import Parameter, read_parameters
from redolab.engine.postgres.parameters.parameters import Parameters, check_reach, check_rights
from redolab.engine.postgres.sessions.counters import publish_counters
from redolab.errors import UsageError
from redolab.records.load import Load
from redolab.records.sample import Setting

_PROBES = 25


def known_parameters(
    control: Connection,
    server: Mapping[str, Any],
    load: Load,
    combinations: Sequence[Mapping[str, str]],
) -> dict[str, Parameter]:
    """The parameters that the settings need, which this role may change and which nothing overrides.

    Raises:
        UsageError: the server has no such parameter.
        RefusedError: a right is missing, or something overrides one.
    """
    brought = {name for levels in combinations for name in load.parameters(levels)}
    names = (*parameter_names(combinations), *sorted(brought))
    parameters = read_parameters(control, names)
    unknown = [name for name in names if name not in parameters]
    if unknown:
        raise UsageError(f"This server has no parameter {', '.join(unknown)}.")
    check_rights(parameters, load.scope, server)
    check_reach(parameters, load.scope)
    return parameters


def half_flush_us(control: Connection) -> int:
    """Half the median time of a lone commit, microseconds: the manual's starting commit_delay."""
    times = []
    control.execute("set synchronous_commit = on")
    for _ in range(_PROBES):
        started = time.perf_counter()
        control.execute("update redolab.probe set value = value + 1")
        times.append(time.perf_counter() - started)
    control.execute("reset synchronous_commit")
    publish_counters(control)
    return min(100_000, max(10, round(statistics.median(times) / 2 * 1e5) * 10))


def setting_of(
    levels: Mapping[str, str],
    *,
    parameters: Parameters,
    server: Mapping[str, Any],
    delay_us: int,
    before: Mapping[str, str],
    brought: Mapping[str, str],
) -> Setting:
    """The setting of one combination.

    Args:
        levels: factor to level.
        parameters: those of the server.
        server: who and what it is.
        delay_us: the commit_delay of a level that gathers commits.
        before: the parameters' values as they were found.
        brought: those that the load itself sets under these levels.

    Raises:
        UsageError: the server does not take a value.
    """
    values = commit_parameters(levels, delay_us, before) | {
        name: parameters.as_shown(name, value) for name, value in brought.items()
    }
    commit = values.get("synchronous_commit", server["synchronous_commit"])
    tier = durability_tier(
        "nowait" if commit == "off" else "wait",
        server["fsync"] == "on",
        bool(server["synchronous_standby_names"]),
    )
    return Setting(
        "/".join(levels.values()),
        levels,
        values,
        {name: parameters.reach(name) for name in values},
        tier,
        TIER_TEXT[tier],
    )
