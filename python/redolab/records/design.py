"""Randomised blocks: every setting once per block in random order, the baseline twice (the A/A pair).

Drift and autocorrelation make a one-setting-after-the-other design call equal settings different
far too often; shuffled blocks with a paired test do not (docs/explanation/method.md).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from redolab.errors import UsageError
from redolab.records.load import Amount
from redolab.records.manifest import MOST_SAMPLES
from redolab.records.sample import Role

MOST_BLOCKS = 10_000
SEEDS = 2**64
"""Number of seeds, from 0 on: generators take 64 bits."""


@dataclass(frozen=True)
class Trial:
    """One sample to be taken."""

    sample: int
    block: int
    position: int
    setting: str
    role: Role


@dataclass(frozen=True)
class Design:
    """The settings to be measured, how often, for how long and in which order.

    Equal designs give equal orders: the seed decides.
    """

    settings: tuple[str, ...]
    baseline: str
    blocks: int
    seconds: float
    """Length of a sample, seconds."""
    warmup_s: float
    """Load under the setting before each sample, not counted, seconds."""
    seed: int
    null_pair: bool = True
    """Whether the baseline is measured twice in each block."""
    margin: float = 0.05
    """Ratios within 1 +- margin count as equivalent."""
    units: int | None = None
    """Units of work per sample; None: a sample lasts `seconds`. With units, `seconds` is only expected."""
    repeats: Mapping[str, int] = field(default_factory=dict)
    """How many times `units` a sample of a setting does, where once would be too short to be measured; 1
    for a setting that is not named."""
    units_each: int | None = None
    """Units of work of every session in a sample, in place of `units`."""
    across_tiers: bool = False
    """Whether settings of several servers are compared whose durability tiers differ."""
    at_most_s: float | None = None
    """Time after which the run ends though something is undecided, seconds: it ends as soon as nothing is.
    None: it ends after `blocks`."""
    lengths: tuple[float, ...] = ()
    """Length of a sample in each block, seconds, where blocks differ; `seconds` is the longest."""

    def __post_init__(self) -> None:
        if self.baseline not in self.settings:
            raise UsageError(
                f"The baseline {self.baseline!r} is not among the settings {', '.join(self.settings)}. "
                "Every setting is compared with the baseline, so it must be measured too."
            )
        if len(set(self.settings)) != len(self.settings):
            raise UsageError(
                f"A setting is named twice in {', '.join(self.settings)}. Name each setting once."
            )
        for value, name, most in (
            (self.blocks, "--blocks", MOST_BLOCKS),
            (self.seconds, "--seconds", 86_400),
            (1 if self.at_most_s is None else self.at_most_s, "--at-most", 30 * 86_400),
        ):
            if not 0 < value <= most:
                raise UsageError(f"{name} is {value:g}; it must be greater than 0 and at most {most:,}.")
        if not 0 <= self.seed < SEEDS:
            raise UsageError(f"--seed is {self.seed}; it must be at least 0 and at most {SEEDS - 1}.")
        samples = self.blocks * (len(self.settings) + self.null_pair)
        if samples > MOST_SAMPLES:
            raise UsageError(
                f"{self.blocks:,} blocks of {len(self.settings):,} settings need {samples:,} samples; a run "
                f"can have at most {MOST_SAMPLES:,}. Give fewer --blocks or fewer --settings."
            )

    def order(self) -> tuple[Trial, ...]:
        """Every trial of the run, in the order it is to be measured."""
        rng = random.Random(self.seed)
        trials: list[Trial] = []
        for block in range(1, self.blocks + 1):
            entries = _block_entries(self.settings, self.baseline, self.null_pair)
            rng.shuffle(entries)
            for position, (setting, role) in enumerate(entries, start=1):
                trials.append(Trial(len(trials) + 1, block, position, setting, role))
        return tuple(trials)

    @property
    def until_settled(self) -> bool:
        """Whether the run ends as soon as it knows enough."""
        return self.at_most_s is not None

    def length(self, block: int) -> float:
        """Length of a sample in a block, counted from 1, seconds."""
        return self.lengths[block - 1] if self.lengths else self.seconds

    def amount(self, trial: Trial) -> Amount:
        """How much work one sample is."""
        repeats = self.repeats.get(trial.setting, 1)
        units = None if self.units is None else repeats * self.units
        return Amount(self.length(trial.block), units, self.units_each)

    def block_time(self, block: int) -> float:
        """Seconds of load of a block, counted from 1, warm-ups included."""
        return (len(self.settings) + self.null_pair) * (self.length(block) + self.warmup_s)

    def load_time(self, trials: Sequence[Trial] | None = None) -> float:
        """Seconds of load of trials or of all, warm-ups included; the most, where the run may end earlier."""
        measured = self.order() if trials is None else trials
        return sum(self.length(trial.block) + self.warmup_s for trial in measured)


def _block_entries(settings: Sequence[str], baseline: str, null_pair: bool) -> list[tuple[str, Role]]:
    entries: list[tuple[str, Role]] = [
        (name, "baseline_a" if name == baseline else "treatment") for name in settings
    ]
    if null_pair:
        entries.append((baseline, "baseline_b"))
    return entries
