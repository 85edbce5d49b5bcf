"""`--engine`, given once or several times: the servers of a run, their names, and what all of them can do."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from redolab.commands.targets.named import is_server, named_servers, server_of
from redolab.engine import engine_names, find_offer
from redolab.engine.offer import Offer
from redolab.errors import UsageError
from redolab.experiment import EXPERIMENTS, find_experiment
from redolab.records.capability import Ways

_Word = TypeVar("_Word")
_NAMED = re.compile(r"([A-Za-z][\w.-]{0,39})=(.+)", re.DOTALL)


def named_targets(engines: Sequence[str]) -> dict[str, str]:
    """The value of each `--engine`, by the name of its server.

    Several may be named, as `old=embedded`. One without a name is called after its engine, with a number
    where there are more of it.

    Raises:
        UsageError: two have the same name, or are the same server of somebody's.
    """
    if len(engines) == 1:
        target = server_of(engines[0])
        return {_engine(target): target}
    parts = [_part(text) for text in engines]
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
                f"--engine names {target} twice, and a run needs its server for itself. Name two servers, "
                "or give it once."
            )
        found[name] = target
    return found


def experiment_and_engines(
    words: Sequence[str | None], engines: Sequence[str]
) -> tuple[str | None, tuple[str, ...]]:
    """The experiment and the engines that the arguments of a command name, in whatever order.

    Args:
        words: arguments without an option: an experiment, engines and URLs.
        engines: the values of `--engine`.

    Raises:
        UsageError: two of them name experiments, or one names nothing that there is.
    """
    given = [word for word in words if word is not None]
    experiments = [word for word in given if word in EXPERIMENTS]
    named = [word for word in given if word not in experiments and is_server(word)]
    unknown = [word for word in given if word not in (*experiments, *named)]
    if len(experiments) > 1:
        raise UsageError(f"One experiment runs at a time. Name only one of {', '.join(experiments)}.")
    if unknown and experiments:
        find_offer(unknown[0], also=named_servers())
    elif unknown:
        find_experiment(unknown[0], also=[*engine_names(), *named_servers()])
    return (experiments[0] if experiments else None), (*named, *engines)


def common_ways(offers: Mapping[str, Offer]) -> Ways:
    """How the sessions can work on all servers alike, and how far parameters reach on all of them.

    Args:
        offers: by the server's name.

    Raises:
        UsageError: they have nothing in common.
    """
    every = [offer.ways for offer in offers.values()]
    loops = _in_all([ways.loops for ways in every])
    scopes = _in_all([ways.scopes for ways in every])
    if not loops or not scopes:
        raise UsageError(
            f"{', '.join(offers)} cannot be measured side by side: they cannot be loaded in the same way, "
            "or settings cannot be applied in the same way. Run each alone."
        )
    in_client = {scope for ways in every for scope in ways.client_scopes}
    return Ways(
        loops=loops,
        timed=_in_all([ways.timed for ways in every]),
        scopes=scopes,
        client_scopes=tuple(scope for scope in scopes if scope in in_client),
        server_processes=_in_all([ways.server_processes for ways in every]),
    )


def _in_all(lists: Sequence[tuple[_Word, ...]]) -> tuple[_Word, ...]:
    """Items that all lists have, in the order of the first."""
    first, *others = lists
    return tuple(word for word in first if all(word in other for other in others))


def _part(text: str) -> tuple[str, str]:
    """The name that a server is given, empty if none is, and what it is."""
    match = _NAMED.fullmatch(text)
    name, word = (match[1], match[2]) if match else ("", text)
    target = server_of(word)
    return name or (word if target != word else ""), target


def _engine(target: str) -> str:
    return target.partition("://")[0]
