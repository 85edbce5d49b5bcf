"""`--engine`, given once or several times: the servers of a run, their names, and what all of them can do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from redolab.engine.offer import Offer
from redolab.errors import UsageError
from redolab.records.capability import Ways

_NAMED = re.compile(r"([A-Za-z][\w.-]{0,39})=(.+)", re.DOTALL)


def named_targets(engines: Sequence[str]) -> dict[str, str]:
    """What each `--engine` says, by the name of its server.

    Several may be named, as `old=embedded`. One without a name is called after its engine, with a number
    where there are more of it.

    Raises:
        UsageError: two have the same name, or are the same server of somebody's.
    """
    if len(engines) == 1:
        return {_engine(engines[0]): engines[0]}
    parts = [(match[1], match[2]) if (match := _NAMED.fullmatch(text)) else ("", text) for text in engines]
    alike = Counter(_engine(target) for name, target in parts if not name)
    numbers: Counter[str] = Counter()
    found: dict[str, str] = {}
    for given, target in parts:
        name = given or _engine(target)
        if not given and alike[name] > 1:
            numbers[name] += 1
            name = f"{name}-{numbers[name]}"
        if name in found:
            raise UsageError(
                f"Two servers are called {name}. Give each a name of its own, as --engine old=embedded."
            )
        if "://" in target and target in found.values():
            raise UsageError(
                f"--engine names {target} twice, and a run holds its server alone: name two servers, or give "
                "it once."
            )
        found[name] = target
    return found


def common_ways(offers: Mapping[str, Offer]) -> Ways:
    """How the sessions can work on all servers alike, and how far parameters reach on all of them.

    Args:
        offers: by the server's name.

    Raises:
        UsageError: they have nothing in common.
    """
    first, *others = (offer.ways for offer in offers.values())
    loops = tuple(loop for loop in first.loops if all(loop in each.loops for each in others))
    scopes = tuple(scope for scope in first.scopes if all(scope in each.scopes for each in others))
    if not loops or not scopes:
        raise UsageError(
            f"{', '.join(offers)} cannot be measured side by side: there is no way to load them alike, or to "
            "put settings in force alike. Run each alone."
        )
    timed = tuple(loop for loop in first.timed if all(loop in each.timed for each in others))
    in_client = {scope for offer in offers.values() for scope in offer.ways.client_scopes}
    kinds = tuple(
        kind for kind in first.server_processes if all(kind in each.server_processes for each in others)
    )
    return Ways(loops, timed, scopes, tuple(scope for scope in scopes if scope in in_client), kinds)


def _engine(target: str) -> str:
    return target.partition("://")[0]
