"""consistent-read: what do another session's uncommitted updates cost a query that must not see them?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from redolab.errors import UsageError
from redolab.experiment.base import Experiment, Levels, Pilot, Plan, Size, Wish, combinations_of, resized
from redolab.records.capability import Capability
from redolab.records.load import Amount, Scans

# As published: 18 million rows, of which each round updates 1 million twice; up to three rounds. Nine
# rounds of the same make twice the versions, where an effect in proportion to them cannot be missed.
PARTS = 18
"""Rows of which a round updates one, twice."""
_QUICK_ROWS, _FULL_ROWS = 720_000, 18_000_000
_MOST_ROWS = 2_000_000_000
_MOST_ROUNDS = 50
_DEFAULT_ROUNDS = ("0", "1", "2", "3", "9")
_PILOT_SCANS = 3
_FEWEST_SCANS, _MOST_SCANS = 3, 1_000


class ConsistentRead(Experiment):
    """A whole scan while updates are not committed."""

    name = "consistent-read"
    question = "What do another session's uncommitted updates cost a query that must not see them?"
    unit = "query"
    needs: frozenset[Capability] = frozenset({"scans"})
    options = frozenset({"rows"})
    quick = Size(blocks=20, seconds=0.3, warmup_s=0, units=_FEWEST_SCANS)
    full = Size(blocks=60, seconds=5, warmup_s=0, units=_FEWEST_SCANS)

    def combine(self, _wish: Wish, /) -> Mapping[str, Levels]:
        """Rounds of updates."""
        return combinations_of(rounds=tuple(map(str, range(_MOST_ROUNDS + 1))))

    def defaults(self, _wish: Wish, _possible: tuple[str, ...], /) -> tuple[str, ...]:
        """None, the published rounds, and many."""
        return _DEFAULT_ROUNDS

    def baseline(self, settings: tuple[str, ...], /) -> str:
        """The fewest rounds."""
        return min(settings, key=int)

    def load(self, wish: Wish, settings: Mapping[str, Levels], /) -> Scans:
        """Scans of a table of which each round updates a part."""
        usual = _QUICK_ROWS if wish.quick else _FULL_ROWS
        rows = usual if wish.rows is None else wish.rows
        if not PARTS <= rows <= _MOST_ROWS:
            raise UsageError(
                f"--rows is {rows:,}; it must be at least {PARTS}, because a round updates one row of "
                f"{PARTS}, and at most {_MOST_ROWS:,}."
            )
        most = max(int(levels["rounds"]) for levels in settings.values())
        return Scans("", 1, "session", rows, rows // PARTS, most)

    def fit(self, plan: Plan, pilot: Pilot, /) -> Plan:
        """As many scans to a sample as take its seconds without any update, and at least three."""
        design = plan.design
        work = pilot(design.baseline, Amount(design.seconds, _PILOT_SCANS))
        each_s = work.session_elapsed_max_s / max(work.units, 1)
        scans = round(design.seconds / each_s) if each_s > 0 else _FEWEST_SCANS
        scans = min(max(scans, _FEWEST_SCANS), _MOST_SCANS)
        return replace(plan, design=resized(design, scans, scans * each_s))


EXPERIMENT = ConsistentRead()
