"""Checks of what can be run on somebody's server and seen of it, by what a run and a profile ask first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing

from redolab.engine.base import Engine
from redolab.engine.offer import Wanted
from redolab.engine.server.observer import Observer
from redolab.errors import RedolabError, RefusedError
from redolab.records.checkup import Check, Checkup, missing, of_observation
from redolab.records.observation import Observation


def look_at(
    server: Callable[[Observation | None], Check],
    conditions: Callable[[], Iterable[str]],
    observe: Callable[[], Observer],
    refusals: Mapping[str, str],
) -> Checkup:
    """Look, without a change, at a server that can be reached.

    Args:
        server: who and what it is, by what a profile sees, or None where no profile is possible.
        conditions: warnings that a reader of a run's figures would get; raises `RefusedError` where no run
            can be.
        observe: opens what a profile sees with.
        refusals: why each run cannot be.
    """
    observation = None
    try:
        with closing(observe()) as observer:
            observation = observer.read()
        profile = of_observation(observation.not_available) or [Check("Profile", "works", "shows everything")]
    except RefusedError as error:
        profile, refusals = [missing("Profile", str(error))], {**refusals, "profile": str(error)}
    try:
        checks = [Check("Condition", "limited", "appears in every report", text) for text in conditions()]
    except RefusedError as error:
        checks = [missing("Runs", str(error))]
    return Checkup((server(observation), *checks, *profile), refusals)


def refusals(
    open_engine: Callable[[], Engine],
    wanted: Mapping[str, Wanted],
    also: Callable[[Wanted], None] = lambda _: None,
) -> dict[str, str]:
    """Why each run cannot be, in the words in which it would refuse; runs that can be are left out.

    Args:
        open_engine: connects to the server.
        wanted: runs, each under its name.
        also: looks at what an introduction does not; raises `RedolabError` where the run cannot be.
    """
    if not wanted:
        return {}
    try:
        engine = open_engine()
    except RedolabError as error:
        return dict.fromkeys(wanted, str(error))
    reasons = {}
    with closing(engine):
        for name, asked in wanted.items():
            try:
                here = asked.without(engine.missing)
                engine.introduce(here.load, here.combinations, here.transaction_ids, here.log_bytes)
                also(here)
            except RedolabError as error:
                reasons[name] = str(error)
    return reasons
