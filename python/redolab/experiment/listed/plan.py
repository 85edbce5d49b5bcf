"""The user's own experiment (`redolab run --list FILE`): their factors, their SQL, the same design."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from redolab.experiment.base import Experiment, Levels, Size, Wish, combinations_of, one_number
from redolab.experiment.listed.file import ListFile, read_list
from redolab.records.capability import Capability
from redolab.records.load import Script

NAME = "list"
"""The experiment of every run of a list file, whatever the name in the file."""
_SESSIONS = 4
_QUICK = Size(blocks=10, seconds=1.5, warmup_s=0.3)
_FULL = Size(blocks=32, seconds=30, warmup_s=5)


class Listed(Experiment):
    """The question of a list file."""

    name = NAME
    needs: frozenset[Capability] = frozenset({"statements"})
    options = frozenset({"sessions", "scope"})

    def __init__(self, file: ListFile) -> None:
        self._file = file
        self.question = file.question
        self.unit = file.unit
        self.quick, self.full = self._sized(_QUICK), self._sized(_FULL)
        # A file that says how long a run is means so.
        self.sequential = not {"blocks", "seconds", "warmup_s"} & set(file.run)
        self._settings = combinations_of(**file.factors)

    def combine(self, _wish: Wish, /) -> Mapping[str, Levels]:
        """Every combination of the file's factors."""
        return self._settings

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """The file's own where it is measured, else the first."""
        named = self._file.baseline or next(iter(self._settings))
        return named if named in settings else settings[0]

    def load(self, wish: Wish, _settings: Mapping[str, Levels], /) -> Script:
        """The file's statements."""
        found = self._file
        return Script(
            name=found.name,
            sessions=one_number(wish, int(found.run.get("sessions", _SESSIONS))),
            scope=wish.scope,
            loop=wish.loop,
            file=found.file,
            levels=found.levels,
            places=found.places,
            **found.sql,
        )

    def _sized(self, size: Size) -> Size:
        run = self._file.run
        return Size(
            blocks=int(run.get("blocks", size.blocks)),
            seconds=float(run.get("seconds", size.seconds)),
            warmup_s=float(run.get("warmup_s", size.warmup_s)),
        )


def listed_experiment(path: Path) -> Listed:
    """The experiment that a list file describes.

    Raises:
        UsageError: something in it is wrong; the text has line and column.
    """
    return Listed(read_list(path))
