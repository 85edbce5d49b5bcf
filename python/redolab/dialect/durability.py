"""What an acknowledged commit is safe from, in the words that hold for every database."""

from __future__ import annotations


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
