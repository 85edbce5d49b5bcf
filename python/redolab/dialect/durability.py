"""Failures that an acknowledged commit survives, in the words that hold for every database."""

from __future__ import annotations

from collections.abc import Mapping

from redolab.dialect import innodb

TIER_TEXT: Mapping[str, str] = {
    "replica": "acknowledged once flushed here and confirmed by a standby",
    "disk": "acknowledged once flushed to disk; survives a crash and a power cut",
    "os": "acknowledged once handed to the operating system; lost in a power cut",
    "memory": "acknowledged before it is written; lost in a crash of the server",
}
"""The promise of a commit acknowledgement, by durability tier, in words; the strongest tier first."""


def durability_tier(commit_wait: str, fsync: bool, standbys: bool) -> str:
    """The failures that an acknowledged commit survives (glossary: durability tier).

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


def tier_seen(parameters: Mapping[str, str], commit_wait: str) -> str | None:
    """The durability tier of an observed server's commits; None where it is not known.

    Args:
        parameters: the server's own, by name, as far as they are known.
        commit_wait: `wait` where commits were seen to wait for the log, else `nowait`.
    """
    if innodb.REDO in parameters:
        return innodb.tier_of(parameters)
    return durability_tier(
        commit_wait, parameters.get("fsync") != "off", bool(parameters.get("synchronous_standby_names"))
    )
