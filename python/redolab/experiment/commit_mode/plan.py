"""commit-mode: what do wait/nowait and immediate/batch do to commits, and why?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Size, Wish, combinations_of
from redolab.records.load import Updates
from redolab.records.store import Run

DEFAULT_SESSIONS = 5
# `cpu`: 1,000 rows fit in a few dozen pages. `io`: a row of 1,000 bytes in half-filled pages makes
# 10,000 rows span 2,500 pages per session, each of which goes whole into the log after a checkpoint.
_LOADS = {"cpu": (1_000, 10), "io": (10_000, 1_000)}
_BOTH = combinations_of(commit_wait=("wait", "nowait"), commit_logging=("immediate", "batch"))
_WAIT_ALONE = combinations_of(commit_wait=("wait", "nowait"))


def all_settings(wish: Wish) -> Mapping[str, Levels]:  # noqa: ARG001
    """Both factors together, and the first of them alone."""
    return {**_BOTH, **_WAIT_ALONE}


def default_settings(wish: Wish, possible: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    """Both factors together."""
    return tuple(_BOTH)


def safest(settings: tuple[str, ...]) -> str:
    """wait/immediate where it is measured: what a server does unless told otherwise."""
    return "wait/immediate" if "wait/immediate" in settings else settings[0]


def one_number(wish: Wish, default: int) -> int:
    """The number of sessions, where it is no factor.

    Raises:
        UsageError: a list was given.
    """
    if len(wish.sessions) > 1:
        raise UsageError(
            f"--sessions takes one number here, not {', '.join(map(str, wish.sessions))}: the same sessions "
            "work in every setting. The experiments session-count and commit-scaling take a list."
        )
    return wish.sessions[0] if wish.sessions else default


def _load(wish: Wish, settings: Mapping[str, Levels]) -> Updates:  # noqa: ARG001
    name = wish.load or "cpu"
    if name not in _LOADS:
        raise UsageError(f"There is no load {name!r}. Use --load {' or --load '.join(_LOADS)}.")
    rows, padding_bytes = _LOADS[name]
    return Updates(name, one_number(wish, DEFAULT_SESSIONS), wish.scope, rows, padding_bytes)


def _analyse(run: Run) -> dict[str, Any]:
    from redolab.experiment.commit_mode.answer import analyse

    return analyse(run)


EXPERIMENT = Experiment(
    name="commit-mode",
    question="What do wait/nowait and immediate/batch do to commits here, and why?",
    unit="commit",
    record="sample",
    needs=frozenset({"updates", "commit_modes"}),
    options=frozenset({"sessions", "load", "scope"}),
    combine=all_settings,
    defaults=default_settings,
    baseline=safest,
    quick=Size(blocks=10, seconds=1.5, warmup_s=0.3),
    full=Size(blocks=32, seconds=90, warmup_s=10),
    null_pair=True,
    load=_load,
    analyse=_analyse,
)
