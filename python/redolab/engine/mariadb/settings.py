"""The setting for a combination of factor levels on a server: parameters, their values, and their tier."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from typing import Any

from redolab.dialect import innodb
from redolab.dialect.durability import TIER_TEXT
from redolab.engine.mariadb.statements import Statements
from redolab.records.load import Load
from redolab.records.sample import Setting

_PROBES = 25


def half_commit_us(control: Statements) -> int:
    """Half the median time of a lone commit, microseconds: where a pause that gathers commits begins.

    Under the parameters that the server has; in a table of Redolab's own, which is dropped again.
    """
    control.run("create table redolab.probe (value bigint not null) engine=InnoDB select 0 as value")
    times = []
    for _ in range(_PROBES):
        started = time.perf_counter()
        control.run("update redolab.probe set value = value + 1")
        times.append(time.perf_counter() - started)
    control.run("drop table redolab.probe")
    return min(innodb.LONGEST_PAUSE_US, max(10, round(statistics.median(times) / 2 * 1e5) * 10))


def setting_of(
    levels: Mapping[str, str], load: Load, server: Mapping[str, Any], now: Mapping[str, str], pause_us: int
) -> Setting:
    """The setting of one combination.

    Args:
        levels: factor to level; the server is one that can do it.
        load: what the sessions do.
        server: who and what it is: `flavour`, `binlog`, `innodb_flush_method`; where it has that also
            `binlog_storage_engine`.
        now: the values of `innodb_flush_log_at_trx_commit` and `sync_binlog` as they were found.
        pause_us: the pause of a level that gathers commits, microseconds.
    """
    second = innodb.has_second_log(server)
    values = innodb.commit_parameters(
        levels,
        flavour=server["flavour"],
        binlog=second,
        pause_us=pause_us,
        sessions=int(levels.get("sessions", load.sessions)),
    ) | load.parameters(levels)
    logs = {**now, **values}
    tier = innodb.durability_tier(
        logs[innodb.REDO],
        logs[innodb.BINLOG] if second else None,
        server["innodb_flush_method"],
        innodb.has_redo_log(server),
    )
    scopes = dict.fromkeys(values, load.scope)
    return Setting("/".join(levels.values()), levels, values, scopes, tier, TIER_TEXT[tier])
