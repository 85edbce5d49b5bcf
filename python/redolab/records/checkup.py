"""What a look at the machine or at a server found: what works, what is missing, its cost and its mend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["works", "limited", "missing"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    """What it is, in a few words."""
    state: State
    """`limited`: it works, and something is lost. `missing`: it is not to be had here."""
    found: str
    """What was found, one phrase."""
    costs: str = ""
    """What cannot be had for it, one sentence; empty where nothing is lost."""
    mend: str = ""
    """What to do about it, one sentence; empty where nothing is lost or nothing can be done."""


@dataclass(frozen=True)
class Checkup:
    """What was found of one engine."""

    checks: tuple[Check, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Of the runs asked about those that cannot be, by their names, and why and what mends it."""


def missing(name: str, why: str) -> Check:
    """A check that was refused with a text that ends in its mend."""
    return Check(name, "missing", "refused", why)


def not_there(name: str, why: str, wanted: Iterable[str], *also: Check) -> Checkup:
    """The checkup of a server that cannot be reached, or not be seen.

    Args:
        name: of the check that says so.
        why: with what mends it, in sentences.
        wanted: names of the runs asked about.
        also: further checks.
    """
    return Checkup((missing(name, why), *also), dict.fromkeys((*wanted, "profile"), why))


def of_observation(not_available: Iterable[tuple[str, str]]) -> list[Check]:
    """What watching a server could not see, each with the reason that names its mend."""
    return [
        Check("Profile", "limited", "shows a part", f"Not seen: {what}.", why) for what, why in not_available
    ]
