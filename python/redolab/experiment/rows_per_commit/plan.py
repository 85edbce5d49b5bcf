"""rows-per-commit: what does it save to insert many rows before each commit, and how many are enough?"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace

from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Pilot, Plan, Size, Wish, combinations_of
from redolab.records.capability import Capability
from redolab.records.load import Amount, Inserts, Load

_ROWS = tuple(2**power for power in range(16))
# With further factors every number would be too many settings for a quick run.
_FEW_ROWS = (1, 8, 32, 128, 1024, 32768)
_MOST_ROWS = 1_000_000_000
# A row with its header and this filler takes 64 bytes, about what the smallest rows of an application do.
_PADDING_BYTES = 10
_PILOT_S = 0.15
# Shorter samples are over before the wait sampler looks, and the kernel's accounts are too coarse for them.
_SHORTEST_S = 0.1


def _rows(name: str) -> int:
    return int(name.partition("/")[0])


def _rows_at_once(name: str, load: Load) -> int:
    """Fewest rows that a setting inserts: one whole commit in each of its sessions."""
    rows, *others = name.split("/")
    return int(rows) * next((int(level) for level in others if level.isdigit()), load.sessions)


def _round_down(number: int) -> int:
    """Two significant digits, so that the rows of a sample can be remembered."""
    step: int = 10 ** max(len(str(number)) - 2, 0)
    return number // step * step


# Sixteen numbers of rows are fifteen comparisons: six blocks are the fewest in which Holm can let all pass.


class RowsPerCommit(Experiment):
    """The same rows, few or many of them to a commit."""

    name = "rows-per-commit"
    question = "What do many rows per commit save here, and how many are enough?"
    unit = "row"
    needs: frozenset[Capability] = frozenset({"inserts"})
    options = frozenset({"sessions", "rows", "client"})
    quick = Size(blocks=7, seconds=0.5, warmup_s=0.1)
    full = Size(blocks=35, seconds=15, warmup_s=2, units=900_000)
    sequential = True
    settling_s = 0.3

    def combine(self, wish: Wish, /) -> Mapping[str, Levels]:
        """Powers of two, with the numbers of sessions and both loops where they are asked for."""
        factors = {"rows_per_commit": tuple(map(str, _ROWS))}
        if len(wish.sessions) > 1:
            factors["sessions"] = tuple(map(str, wish.sessions))
        if wish.client:
            factors["loop"] = ("server", "client")
        return combinations_of(**factors)

    def defaults(self, wish: Wish, possible: tuple[str, ...], /) -> tuple[str, ...]:
        """All; in a quick run with further factors a few numbers of rows."""
        if not wish.quick or not (wish.client or len(wish.sessions) > 1):
            return possible
        return tuple(name for name in possible if _rows(name) in _FEW_ROWS)

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """The fewest rows."""
        return min(settings, key=_rows)

    def load(self, wish: Wish, _settings: Mapping[str, Levels], /) -> Inserts:
        """Inserts of small rows."""
        if wish.rows is not None and not 0 < wish.rows <= _MOST_ROWS:
            raise UsageError(
                f"--rows is {wish.rows}; it must be greater than 0 and at most {_MOST_ROWS:,}, the rows that "
                "each sample inserts."
            )
        sessions = max(wish.sessions, default=1)
        return Inserts("inserts", sessions, wish.scope, _PADDING_BYTES, loop=wish.ways.loops[0])

    def fit(self, plan: Plan, pilot: Pilot, /) -> Plan:
        """The rows of a sample that take `design.seconds` on average, estimated from short works in each
        setting.

        Where the rows are given, their time is estimated. The slower of two works counts: a disk that
        others use can be ten times as slow a moment later. A setting in which the rows take too short a time
        to be measured inserts them several times over.
        """
        design, load = plan.design, plan.load
        row_s = dict.fromkeys(design.settings, 0.0)
        for name in design.settings * 2:
            work = pilot(name, Amount(_PILOT_S))
            row_s[name] = max(row_s[name], work.session_elapsed_max_s / max(work.units, 1))

        block = [trial.setting for trial in design.order() if trial.block == 1]

        def length_s(name: str, rows: int) -> float:
            least = _rows_at_once(name, load)
            return row_s[name] * math.ceil(rows / least) * least

        def mean_s(rows: int) -> float:
            return sum(length_s(name, rows) for name in block) / len(block)

        rows = design.units
        if rows is None:
            most = bisect_right(range(1, _MOST_ROWS), design.seconds, key=mean_s)
            rows = _round_down(max(most, 1))
        repeats = {
            name: math.ceil(_SHORTEST_S / length_s(name, rows))
            for name in design.settings
            if 0 < length_s(name, rows) < _SHORTEST_S
        }
        seconds = sum(repeats.get(name, 1) * length_s(name, rows) for name in block) / len(block)
        return replace(plan, design=replace(design, units=rows, repeats=repeats, seconds=seconds))


EXPERIMENT = RowsPerCommit()
