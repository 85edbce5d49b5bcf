"""The lengths of the samples of a run that ends as soon as it knows enough.

A great difference shows in short samples, and only the number of blocks delays it. A small one needs longer
samples. So the first blocks are short, and their samples become twice as long every few blocks. The lengths
are fixed before the run and stored with it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from redolab.errors import UsageError
from redolab.records.design import MOST_BLOCKS, Design
from redolab.records.manifest import MOST_SAMPLES

FIRST_S = 0.4
"""Length of the samples of the first blocks, seconds: a few hundred commits on a slow log."""
LONGEST_S = 6.4
WARMUP_S = 0.1
LONGEST_RUN_S = 86_400.0
"""Time of a run that may take as long as it needs."""
_ALIKE = 9
"""Blocks of one length: the fewest in which three comparisons can be decided and the A/A pair can fail."""


def lengths(at_most_s: float | None, samples: int, seconds: float | None) -> tuple[float, ...]:
    """The length of a sample in each block that can begin within the time.

    Args:
        at_most_s: time of load, seconds; None: as long as it takes.
        samples: of a block.
        seconds: length of every sample, where the user gave one.
    """
    if seconds is not None and not seconds > 0:
        # The design refuses it.
        return (seconds,)

    def length(block: int) -> float:
        return seconds or min(FIRST_S * 2 ** (block // _ALIKE), LONGEST_S)

    return _fitting([], length, samples, WARMUP_S, at_most_s, min(MOST_BLOCKS, MOST_SAMPLES // samples))


def further(
    design: Design, done: int, *, blocks: int | None = None, at_most_s: float | None = None
) -> Design:
    """The design with more blocks than a run has; the length of a sample in a block stays as it was planned.

    Args:
        design: of the run.
        done: the last block that was begun.
        blocks: how many more; None: as many as fit the time.
        at_most_s: time of load, seconds.

    Raises:
        UsageError: a run cannot have that many more.
    """
    if blocks is not None and not 0 < blocks <= MOST_BLOCKS - done:
        raise UsageError(
            f"--blocks is {blocks}; it must be greater than 0 and at most {MOST_BLOCKS - done:,}."
        )
    planned = design.lengths or (design.seconds,) * design.blocks

    def length(block: int) -> float:
        return planned[min(block, len(planned) - 1)]

    samples = len(design.settings) + design.null_pair
    most = min(MOST_BLOCKS, MOST_SAMPLES // samples) if blocks is None else done + blocks
    found = _fitting(planned[:done], length, samples, design.warmup_s, at_most_s, most)
    return replace(design, blocks=len(found), seconds=max(found), lengths=found)


def _fitting(
    done: Sequence[float],
    length: Callable[[int], float],
    samples: int,
    warmup_s: float,
    at_most_s: float | None,
    most: int,
) -> tuple[float, ...]:
    """The lengths of the blocks that are done, and of as many more as fit the time: one at least."""
    found, used_s = list(done), 0.0
    while len(found) < most:
        next_s = length(len(found))
        used_s += samples * (next_s + warmup_s)
        if at_most_s is not None and used_s > at_most_s and len(found) > len(done):
            break
        found.append(next_s)
    return tuple(found)
