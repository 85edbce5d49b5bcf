"""durability: how many acknowledged commits does a hard kill of the server lose?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from redolab.experiment.base import Experiment, Levels, Size, Wish
from redolab.experiment.commit_mode import plan as commit_mode
from redolab.records.load import Ledger
from redolab.records.store import Run


def _load(wish: Wish, settings: Mapping[str, Levels]) -> Ledger:  # noqa: ARG001
    return Ledger("ledger", commit_mode.one_number(wish, commit_mode.DEFAULT_SESSIONS), wish.scope)


def _analyse(run: Run) -> dict[str, Any]:
    from redolab.experiment.durability.answer import analyse

    return analyse(run)


EXPERIMENT = Experiment(
    name="durability",
    question="How many acknowledged commits does a hard kill of the server lose?",
    unit="commit",
    record="kill",
    needs=frozenset({"commit_modes", "hard_kill"}),
    options=frozenset({"sessions", "scope"}),
    combine=commit_mode.all_settings,
    defaults=commit_mode.default_settings,
    baseline=commit_mode.safest,
    quick=Size(blocks=10, seconds=1.6, warmup_s=0),
    full=Size(blocks=40, seconds=3, warmup_s=0),
    null_pair=False,
    load=_load,
    analyse=_analyse,
)
