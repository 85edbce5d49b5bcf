"""How wait/nowait and immediate/batch are said in PostgreSQL, and what each promises.

Oracle's commit-write facility has no single counterpart. `commit_wait` is whether a session waits
until its log is flushed: `synchronous_commit`. `commit_logging` is whether the log is written at
once or left to gather, which PostgreSQL decides in two places: a session that waits may pause
before it flushes so that others join (`commit_delay`, once `commit_siblings` others are active);
for sessions that do not wait the WAL writer decides (`wal_writer_delay`, `wal_writer_flush_after`).

Source: PostgreSQL manual, "Write Ahead Log" (runtime configuration) and "Asynchronous Commit".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# What each pair of levels changes. A parameter it does not name stays as the server had it: the WAL
# writer has no part in a commit that waits, and a nervous one would only compete for the log.
_CHANGES: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("wait", "immediate"): {"commit_delay": "0"},
    ("wait", "batch"): {"commit_siblings": "1"},
    # 0 wakes the WAL writer for every page completed, and makes it flush whatever it writes.
    ("nowait", "immediate"): {"wal_writer_flush_after": "0", "wal_writer_delay": "10ms"},
    ("nowait", "batch"): {"wal_writer_flush_after": "1MB", "wal_writer_delay": "1s"},
}
GATHERING = ("commit_delay", "commit_siblings", "wal_writer_delay", "wal_writer_flush_after")


def parameter_names(combinations: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """Every parameter that the settings need; `commit_wait` alone needs only synchronous_commit."""
    factors = {factor for levels in combinations for factor in levels}
    return (
        *(("synchronous_commit",) if "commit_wait" in factors else ()),
        *(GATHERING if "commit_logging" in factors else ()),
    )


def commit_parameters(
    levels: Mapping[str, str], commit_delay_us: int, before: Mapping[str, str]
) -> dict[str, str]:
    """The parameters that realise `commit_wait` and `commit_logging`, where the levels have them.

    Args:
        levels: factor name to level.
        commit_delay_us: the pause under `wait/batch`, microseconds. The manual's starting point is
            half the time of one flush.
        before: the server's own values of the parameters in `GATHERING`.
    """
    if "commit_wait" not in levels:
        return {}
    parameters = {"synchronous_commit": "on" if levels["commit_wait"] == "wait" else "off"}
    if "commit_logging" not in levels:
        return parameters
    pair = (levels["commit_wait"], levels["commit_logging"])
    pause = {"commit_delay": str(commit_delay_us)} if pair == ("wait", "batch") else {}
    return {**parameters, **{name: before[name] for name in GATHERING}, **pause, **_CHANGES[pair]}


def durability_tier(commit_wait: str, fsync: bool, standbys: bool) -> str:
    """What an acknowledged commit is safe from (glossary: durability tier).

    Args:
        commit_wait: `wait` or `nowait`.
        fsync: whether the server flushes at all.
        standbys: whether a synchronous standby confirms.
    """
    if commit_wait == "nowait":
        return "memory"
    if not fsync:
        return "os"
    return "replica" if standbys else "disk"
