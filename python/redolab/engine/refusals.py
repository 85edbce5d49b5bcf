"""Why runs cannot be on a server, asked without a change to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from redolab.engine.base import Engine
from redolab.engine.offer import Wanted
from redolab.errors import RedolabError


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
    found = {}
    try:
        for name, asked in wanted.items():
            try:
                engine.introduce(asked.load, asked.combinations, asked.transaction_ids, asked.log_bytes)
                also(asked)
            except RedolabError as error:
                found[name] = str(error)
    finally:
        engine.close()
    return found
