"""Results of checking the machine or a server: what works, what is missing, its cost and its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

State = Literal["works", "limited", "missing"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    """The thing in a few words."""
    state: State
    """`limited`: it works, but something is lost. `missing`: it is not available here."""
    found: str
    """The result, one phrase."""
    costs: str = ""
    """The loss that follows from it, one sentence; empty where nothing is lost."""
    mend: str = ""
    """The remedy, one sentence; empty where nothing is lost or nothing can be done."""


@dataclass(frozen=True)
class Checkup:
    """The checks of one engine, with the runs that it refuses."""

    checks: tuple[Check, ...] = ()
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Requested runs that are not possible, by name, each with the reason and the remedy."""


def missing(name: str, why: str) -> Check:
    """A check that was refused with a text that ends in its remedy."""
    return Check(name, "missing", "refused", why)


def not_there(name: str, why: str, wanted: Iterable[str], *also: Check) -> Checkup:
    """The checkup of a server that cannot be reached or observed.

    Args:
        name: of the check that failed.
        why: the reason with the remedy, in sentences.
        wanted: names of the requested runs.
        also: further checks.
    """
    return Checkup((missing(name, why), *also), dict.fromkeys((*wanted, "profile"), why))


def of_observation(not_available: Iterable[tuple[str, str]]) -> list[Check]:
    """Checks for the parts that watching a server could not see, each with its reason and remedy."""
    return [
        Check("Profile", "limited", "shows only a part", f"Not available: {what}.", why)
        for what, why in not_available
    ]
