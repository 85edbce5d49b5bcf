"""The settings of a rows-per-commit run that differ in their rows per commit alone, and their times."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redolab.analysis.compared import Compared
from redolab.analysis.levels import Level, one_step, span
from redolab.analysis.statements.labels import label
from redolab.analysis.time_based import UnitOfWork, units_of_work
from redolab.experiment.rows_per_commit import saving
from redolab.experiment.rows_per_commit.saving import Times
from redolab.records.sample import Sample
from redolab.stats.blocks import BlockValues, NullTest
from redolab.stats.estimates import MISSING, Estimate, mean_estimate, ratio_estimate
from redolab.stats.levels import NumbersSoFar
from redolab.stats.sequential import allowance

PUBLISHED_ROWS = 32
"""Rows per commit that the published series names as enough."""

SHARES = (0.9, 0.99)
"""The shares of the saving that rows per commit are recommended for."""


@dataclass(frozen=True)
class Sweep:
    """The settings that differ in their rows per commit alone."""

    label: str
    """Their other levels in words, such as `4 sessions, client loop`; empty where there are none."""
    names: Mapping[int, str]
    """Rows per commit to the setting's name, in rising order."""
    times: Times
    """Wall time over rows, seconds: with several sessions they insert at the same time."""
    so_far: NumbersSoFar | None = None
    """Their comparisons by the evidence so far, in a run that ends as soon as its levels are settled."""

    @property
    def measured(self) -> bool:
        """Whether its fewest and its most rows per commit have a block in common."""
        first, last = (self.times[rows] for rows in (min(self.names), max(self.names)))
        return len(self.names) > 1 and not set(first).isdisjoint(last)

    def reached(self, share: float) -> Estimate:
        """Rows per commit from which on a share of the saving of the most is collected."""
        if self.so_far is None:
            return saving.reached(self.times, share)
        return self.so_far.of_saving({share: saving.fewest(self.times, share)})[share]

    def saving(self) -> Estimate:
        """The saving of the most rows per commit against the fewest, as a share of the time of the fewest."""
        found = saving.saving(self.times)
        return found if self.so_far is None else self.so_far.saving(found.point)

    def collected(self, rows: int) -> Estimate:
        """The share of that saving that `rows` rows per commit bring."""
        found = saving.collected(self.times, rows)
        return found if self.so_far is None else self.so_far.collected(rows, found.point)

    def levels(self, margin: float) -> tuple[Level, ...]:
        """The numbers that end a run as soon as they are settled: those of two shares of the saving; where no
        saving is shown, whether there is one. None in a run of a number of blocks.

        Args:
            margin: a saving that does not count, as a share of the rate.
        """
        if self.so_far is None:
            return ()
        fewest, most = min(self.names), max(self.names)
        which = f"with {self.label}, " if self.label else ""
        shares = {share: self.reached(share) if self.measured else MISSING for share in SHARES}
        if any(found.point is None for found in shares.values()):
            gain = self.so_far.gain()
            settled = gain.high is not None and gain.high <= 1 + margin
            little = f"are not {100 * margin:g} % faster than" if settled else "may or may not be faster than"
            text = f"{which}{most:,} rows per commit {little} {fewest:,}"
            return (Level(f"{self.label}:saving", text, MISSING, settled),)
        return tuple(
            Level(
                f"{self.label}:{share:g}",
                f"{which}{100 * share:g} % of the saving needs {span(found)} rows per commit",
                found,
                settled := one_step(found, list(self.names)),
                None if settled else self.so_far.blocks_to_collect(share, saving.fewest(self.times, share)),
            )
            for share, found in shares.items()
        )


def sweeps(compared: Compared) -> tuple[Sweep, ...]:
    """The settings of a run by what they have in common; the one of the baseline first."""
    blocks, reach = compared.blocks["throughput_per_s"], allowance(compared.null)
    return tuple(
        Sweep(
            common,
            names,
            {rows: _block_times(compared.samples[name]) for rows, name in names.items()},
            NumbersSoFar(blocks, names, reach) if compared.until_settled else None,
        )
        for common, names in _in_common(compared.manifest)
    )


def sweep_levels(manifest: Mapping[str, Any], blocks: BlockValues, null: NullTest) -> tuple[Level, ...]:
    """The numbers that a run recommends, by the evidence so far.

    Args:
        manifest: of the run.
        blocks: logarithms of throughput.
        null: the A/A pair.
    """
    found = (
        Sweep(
            common,
            names,
            {rows: _rate_times(blocks, name) for rows, name in names.items()},
            NumbersSoFar(blocks, names, allowance(null)),
        )
        for common, names in _in_common(manifest)
    )
    margin = float(manifest["design"]["margin"])
    return tuple(level for sweep in found for level in sweep.levels(margin))


def _in_common(manifest: Mapping[str, Any]) -> list[tuple[str, dict[int, str]]]:
    """The label of each sweep, and its settings by rows per commit in rising order."""
    named: defaultdict[str, dict[int, str]] = defaultdict(dict)
    for setting in manifest["settings"]:
        levels = dict(setting["levels"])
        rows = int(levels.pop("rows_per_commit"))
        named[label(levels)][rows] = setting["name"]
    baseline = manifest["design"]["baseline"]
    found = [(common, dict(sorted(names.items()))) for common, names in named.items()]
    return sorted(found, key=lambda item: baseline not in item[1].values())


def rows_of_a_sample(compared: Compared) -> int:
    """The rows that elapsed times are stated for."""
    return int(compared.manifest["design"]["units"] or 1)


def _rate_times(blocks: BlockValues, name: str) -> dict[int, float]:
    """Seconds per row of a setting by block, from the logarithms of its rates."""
    found = {
        block: [math.exp(-value) for (setting, _), value in values.items() if setting == name]
        for block, values in blocks.items()
    }
    return {block: sum(each) / len(each) for block, each in found.items() if each}


def _block_times(samples: Sequence[Sample]) -> dict[int, float]:
    """Seconds per row by block; the mean of two where the baseline was measured twice."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for sample in samples:
        found[sample.block].append(sample.elapsed_s / units_of_work(sample))
    return {block: sum(values) / len(values) for block, values in found.items()}


def typical(by_block: Mapping[int, float]) -> Estimate:
    """The geometric mean, with Student's t interval on the logarithms."""
    return ratio_estimate(math.log(seconds) for seconds in by_block.values())


def averages(items: Sequence[UnitOfWork]) -> dict[str, float | None]:
    """Arrival rate per millisecond, and service, queue and response time in ms: means over the samples."""

    def milliseconds(values: Sequence[float | None]) -> float | None:
        return mean_estimate(values).scaled(1e3).point

    return {
        "arrival_rate_per_ms": mean_estimate(item.arrival_rate for item in items).scaled(1e-3).point,
        "service_time_ms": milliseconds([item.service_time for item in items]),
        "queue_time_ms": milliseconds([item.queue_time for item in items]),
        "response_time_ms": milliseconds([item.response_time for item in items]),
    }
