"""The user's own experiment (`redolab run --list FILE`): their factors, their SQL, the same design."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from redolab.experiment.base import Experiment, Levels, Size, Wish, combinations_of
from redolab.experiment.commit_mode.plan import one_number
from redolab.experiment.listed.file import ListFile, read_list
from redolab.records.load import Script
from redolab.records.store import Run

NAME = "list"
"""The experiment of every run of a list file, whatever its file calls itself."""
_SESSIONS = 4
_QUICK = Size(blocks=10, seconds=1.5, warmup_s=0.3)
_FULL = Size(blocks=32, seconds=30, warmup_s=5)


def analyse(run: Run) -> dict[str, Any]:
    """The results object of a run of a list file."""
    from redolab.analysis.compared import circumstances, compare_run, results
    from redolab.analysis.verdict import verdict

    compared = compare_run(run)
    return results(compared, verdict(None, compared.null, compared.throughputs, circumstances(compared)))


def listed_experiment(path: Path) -> Experiment:
    """The experiment that a list file describes.

    Raises:
        UsageError: something in it is wrong; the text has line and column.
    """
    found = read_list(path)
    settings = combinations_of(**found.factors)
    baseline = found.baseline or next(iter(settings))

    def load(wish: Wish, chosen: Mapping[str, Levels]) -> Script:  # noqa: ARG001
        return Script(
            name=found.name,
            sessions=one_number(wish, int(found.run.get("sessions", _SESSIONS))),
            scope=wish.scope,
            file=found.file,
            levels=found.levels,
            places=found.places,
            **found.sql,
        )

    return Experiment(
        name=NAME,
        question=found.question,
        unit=found.unit,
        record="sample",
        needs=frozenset({"statements"}),
        options=frozenset({"sessions", "scope"}),
        combine=lambda wish: settings,  # noqa: ARG005
        defaults=lambda wish, possible: possible,  # noqa: ARG005
        baseline=lambda chosen: baseline if baseline in chosen else chosen[0],
        quick=_sized(found, _QUICK),
        full=_sized(found, _FULL),
        null_pair=True,
        load=load,
        analyse=analyse,
    )


def _sized(found: ListFile, size: Size) -> Size:
    return Size(
        blocks=int(found.run.get("blocks", size.blocks)),
        seconds=float(found.run.get("seconds", size.seconds)),
        warmup_s=float(found.run.get("warmup_s", size.warmup_s)),
    )
