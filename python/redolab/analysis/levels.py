"""The numbers that a run recommends, such as sessions, where it ends as soon as those are settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab import units
from redolab.analysis.verdict import allowed_for
from redolab.stats.blocks import BlockValues, Comparison, NullTest, Outcome
from redolab.stats.estimates import Estimate
from redolab.stats.levels import NumbersSoFar
from redolab.stats.sequential import allowance

LevelsOf = Callable[[Mapping[str, Any], BlockValues, NullTest], "Sequence[Level]"]
"""The levels of a run by its manifest, the logarithms of its throughput and its A/A pair."""
_FAR = 1_000
"""Blocks beyond which a forecast of them is not stated as a number."""


@dataclass(frozen=True)
class Level:
    """A recommended number: the fewest of the measured ones that are enough."""

    key: str
    text: str
    """The number with its interval, as a clause."""
    estimate: Estimate
    settled: bool
    blocks_needed: int | None = None
    """About how many further blocks would settle it; None where that is not known."""

    def as_json(self) -> dict[str, Any]:
        """The level as the results object has it."""
        return {
            "key": self.key,
            "text": self.text,
            "estimate": self.estimate.as_json(),
            "settled": self.settled,
            "blocks_needed": self.blocks_needed,
        }


@dataclass(frozen=True)
class SessionsSoFar:
    """How many sessions are enough, by the evidence so far."""

    sessions: NumbersSoFar
    level: Level

    def outcome(self, comparisons: Sequence[Comparison]) -> tuple[Outcome, str | None]:
        """The outcome of the number that is enough against the fewest, and its text where that says more.

        Args:
            comparisons: of throughput, with the fewest sessions.
        """
        numbers, enough = self.sessions.numbers, self.level.estimate
        if enough.low is None or enough.high is None:
            return "undecided", None
        if enough.low > numbers[0]:
            return "better", None
        if not self.level.settled:
            return "undecided", None
        decided = {item.setting: item.outcome for item in comparisons}
        if decided.get(self.sessions.names[int(enough.high)]) == "better":
            return "better", None
        most = decided.get(self.sessions.names[numbers[-1]])
        return (most, None) if most in ("worse", "equivalent") else ("equivalent", self.level.text)


def sessions_so_far(manifest: Mapping[str, Any], blocks: BlockValues, null: NullTest) -> SessionsSoFar:
    """The fewest sessions whose throughput is at most the margin below the best, by the evidence so far.

    Settings of another kind of server process are left out.

    Args:
        manifest: of a run whose settings are numbers of sessions.
        blocks: logarithms of throughput.
        null: the A/A pair.
    """
    names = {
        int(item["levels"]["sessions"]): item["name"]
        for item in manifest["settings"]
        if "server_process" not in item["levels"]
    }
    sessions = NumbersSoFar(blocks, names, allowance(null))
    margin = float(manifest["design"]["margin"])
    enough = sessions.near_best(margin)
    settled = one_step(enough, sessions.numbers)
    text = f"{span(enough)} {'session is' if enough.high == 1 else 'sessions are'} enough"
    if enough.low is None or enough.high is None:
        text = "it is not known how many sessions are enough"
    elif not settled:
        text = f"the fewest sessions that are enough may be {enough.low:,.0f} to {enough.high:,.0f}"
    elif enough.low == sessions.numbers[-1]:
        text = f"no fewer than {enough.low:,.0f} sessions, the most measured, are enough"
    needed = None if settled else sessions.blocks_to_settle(margin)
    return SessionsSoFar(sessions, Level("sessions", text, enough, settled, needed))


def sessions_levels(manifest: Mapping[str, Any], blocks: BlockValues, null: NullTest) -> Sequence[Level]:
    """The number of sessions to recommend, as the only level (see `sessions_so_far`)."""
    return (sessions_so_far(manifest, blocks, null).level,)


def one_step(estimate: Estimate, numbers: Sequence[int]) -> bool:
    """Whether the ends of an interval are one measured number, or two that follow each other and are not all.

    Args:
        estimate: its ends are measured numbers.
        numbers: the measured numbers in rising order.
    """
    if estimate.low is None or estimate.high is None:
        return False
    steps = numbers.index(int(estimate.high)) - numbers.index(int(estimate.low))
    return steps < min(2, len(numbers) - 1) or steps == 0


def span(estimate: Estimate) -> str:
    """A number with its interval: `32`, or `32 (16 to 32)`."""
    if estimate.low == estimate.high and estimate.point is not None:
        return _count(estimate.point)
    return units.with_interval(estimate.point, estimate.low, estimate.high, write=_count)


def reservations(levels: Sequence[Level], blocks: int, null: NullTest, baseline: str) -> list[str]:
    """Sentences on an A/A pair that differed, on the levels that a run has not settled, and on how to go on.

    Args:
        levels: of the run; of a run of a number of blocks there are none, and there is nothing to say.
        blocks: that it has.
        null: the A/A pair.
        baseline: the baseline's label.
    """
    odd = [allowed_for(null, baseline)] if levels and null.passed is False else []
    texts = [
        f"Not settled after {units.counted(blocks, 'block')}: {level.text}{_to_go(level.blocks_needed)}."
        for level in levels
        if not level.settled
    ]
    more = ["`redolab continue RUN --until-settled` measures further blocks."] if texts else []
    return [*odd, *texts, *more]


def _to_go(blocks: int | None) -> str:
    """A clause on the blocks that would settle a level."""
    if blocks is None:
        return ""
    if blocks > _FAR:
        return f"; more than {_FAR:,} further blocks would be needed"
    return f"; about {units.counted(blocks, 'further block')} would settle that"


def _count(number: float) -> str:
    return f"{number:,.0f}"
