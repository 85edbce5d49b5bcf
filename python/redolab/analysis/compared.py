"""The common part of every run of samples: its accounts of time, and its settings compared in blocks.

A question's answer starts from `compare_run`, and hands its verdict, tables, figures and findings to
`redolab.analysis.results`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from redolab.analysis import common_sections
from redolab.analysis.at_risk import AtRisk, Price, at_risk, prices
from redolab.analysis.commit_times import Histogram
from redolab.analysis.profile import Times, by_sample
from redolab.analysis.reading import (
    Sightings,
    counting,
    read_latency,
    read_samples,
    read_sightings,
    setting_names,
)
from redolab.analysis.servers.pairs import Group, groups_of, pairs_of
from redolab.analysis.statements.labels import labels
from redolab.analysis.statements.words import called
from redolab.analysis.time_based import UnitOfWork, instance_account, session_account
from redolab.analysis.verdict import Circumstances
from redolab.analysis.waits import NOTHING
from redolab.records.run import Run
from redolab.records.sample import Sample
from redolab.records.servers import server_of
from redolab.stats import blocks as significance
from redolab.stats import sequential
from redolab.stats.blocks import BlockValues, Comparison, Metric, NullTest
from redolab.stats.estimates import mean_estimate


@dataclass(frozen=True)
class Compared:
    """A run's samples by setting, their accounts, and every setting against the baseline of its server."""

    run: Run
    names: tuple[str, ...]
    """The settings, in the order of the design."""
    baseline: str
    """Baseline of the first server where there are several; those of the others are in `groups`."""
    margin: float
    """Ratios within 1 +- margin count as equivalent."""
    seed: int
    """Seed of the design: every resampling starts from it."""
    everything: tuple[Sample, ...]
    """In the order measured, spoiled ones too."""
    good: tuple[Sample, ...]
    """Samples that count."""
    samples: Mapping[str, Sequence[Sample]]
    """Samples that count, by setting."""
    seen: Sightings
    latency: Mapping[int, Histogram]
    """Commit times by sample, where they were noted."""
    responses: Mapping[int, Histogram]
    """Response times from the moment asked for, by sample, where work came at random moments."""
    lags: Mapping[int, Histogram]
    """The client's lag there, by sample."""
    sessions: Mapping[str, Sequence[UnitOfWork]]
    """Session accounts of `samples`."""
    instance: Mapping[str, Sequence[UnitOfWork]]
    """Instance accounts of `samples`."""
    blocks: Mapping[Metric, BlockValues]
    null: NullTest
    comparisons: tuple[Comparison, ...]
    """On every metric, with Holm over the pairs of each; servers with each other after those within one."""

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest of the run."""
        return self.run.manifest

    @property
    def unit(self) -> str:
        """The unit of work, singular."""
        return str(self.manifest.get("unit", "commit"))

    @cached_property
    def labels(self) -> Mapping[str, str]:
        """The short label of each setting, for sentences."""
        return labels(self.manifest["settings"])

    @cached_property
    def prices(self) -> Mapping[str, Sequence[Price]]:
        """Possible losses in crashes, by setting; without settings that lose nothing, or of unknown loss."""
        found = {}
        for declared in self.manifest["settings"]:
            units = mean_estimate(item.arrival_rate for item in self.sessions[declared["name"]]).point
            rate = units if self.unit == "commit" else None
            server = server_of(self.manifest["engine"], declared["levels"])
            found[declared["name"]] = prices(server, declared, rate)
        return {name: price for name, price in found.items() if price}

    @cached_property
    def at_risk(self) -> Mapping[str, AtRisk]:
        """Possible losses in a crash of the server, by setting; without settings of unknown loss."""
        found = {name: at_risk(price) for name, price in self.prices.items()}
        return {name: risk for name, risk in found.items() if risk is not None}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The settings of each server with its baseline."""
        return groups_of(self.manifest)

    @property
    def until_settled(self) -> bool:
        """Whether the run ends as soon as it knows enough."""
        return _until_settled(self.manifest)

    @property
    def throughputs(self) -> list[Comparison]:
        """The comparisons of throughput."""
        return [item for item in self.comparisons if item.metric == "throughput_per_s"]

    @property
    def blocks_done(self) -> int:
        """Blocks of which every sample was taken and counts."""
        planned: dict[int, set[tuple[str, str]]] = {}
        for trial in self.manifest.get("order", ()):
            planned.setdefault(trial["block"], set()).add((trial["setting"], trial["role"]))
        taken: dict[int, set[tuple[str, str]]] = {}
        for sample in self.good:
            taken.setdefault(sample.block, set()).add((sample.setting, sample.role))
        return sum(taken.get(block, set()) >= entries for block, entries in planned.items())

    @property
    def blocks_planned(self) -> int:
        """Blocks of the design; of a run that knew enough before, those that it has."""
        if self.until_settled and self.manifest["status"] == "finished":
            return max((sample.block for sample in self.everything), default=0)
        return int(self.manifest["design"]["blocks"])


def compare_run(run: Run) -> Compared:
    """Read a run of samples and compare its settings inside blocks, as `redolab.analysis.servers.pairs` says.

    A run without any sample that counts gives empty samples and estimates without a point.
    """
    design, names = run.manifest["design"], setting_names(run.manifest)
    baseline, seed, margin = design["baseline"], int(design["seed"]), float(design["margin"])
    everything, seen = read_samples(run), read_sightings(run)
    good = counting(everything)
    samples = {name: [item for item in good if item.setting == name] for name in names}
    blocks = {metric: block_values(good, metric) for metric in significance.METRICS}
    null = null_of(run.manifest, blocks["throughput_per_s"])
    return Compared(
        run=run,
        names=names,
        baseline=baseline,
        margin=margin,
        seed=seed,
        everything=everything,
        good=good,
        samples=samples,
        seen=seen,
        latency=read_latency(run),
        responses=read_latency(run, "response"),
        lags=read_latency(run, "lag"),
        sessions={name: [session_account(item) for item in samples[name]] for name in names},
        instance={
            name: [instance_account(item, seen.get(item.sample, NOTHING)) for item in samples[name]]
            for name in names
        },
        blocks=blocks,
        null=null,
        comparisons=tuple(
            item
            for metric in significance.METRICS
            for item in comparisons_of(run.manifest, blocks[metric], metric, null)
        ),
    )


def null_of(manifest: Mapping[str, Any], blocks: BlockValues) -> NullTest:
    """The A/A pair of a run, by the rules of its design.

    A run that ends as soon as it knows enough is judged by the evidence so far, one with a number of blocks
    by tests of that number.

    Args:
        manifest: of the run.
        blocks: its throughput so far.
    """
    design = manifest["design"]
    if _until_settled(manifest):
        return sequential.watch_null(blocks, design["baseline"])
    return significance.null_test(blocks, design["baseline"], int(design["seed"]))


def comparisons_of(
    manifest: Mapping[str, Any], blocks: BlockValues, metric: Metric, null: NullTest
) -> tuple[Comparison, ...]:
    """Every comparison of a run on one metric, by the same rules.

    Args:
        manifest: of the run.
        blocks: the metric so far.
        metric: what is compared.
        null: the A/A pair, which is watched on throughput for every metric.
    """
    design, pairs = manifest["design"], pairs_of(manifest)
    margin = float(design["margin"])
    if _until_settled(manifest):
        found = sequential.compare_sequentially(blocks, pairs, metric, margin=margin)
        return sequential.doubted(found, null, margin)
    found = significance.compare_pairs(blocks, pairs, metric, margin=margin, seed=int(design["seed"]))
    return tuple(replace(item, outcome="withheld") for item in found) if null.passed is False else found


def _until_settled(manifest: Mapping[str, Any]) -> bool:
    return manifest["design"].get("at_most_s") is not None


def block_values(samples: Sequence[Sample], metric: Metric = "throughput_per_s") -> BlockValues:
    """Logarithms of a metric by block; `samples` are those that count.

    A setting that occurs twice in a block under the same role keeps its later sample.
    """
    found: defaultdict[int, dict[tuple[str, str], float]] = defaultdict(dict)
    for sample in samples:
        account = session_account(sample)
        value = account.arrival_rate if metric == "throughput_per_s" else account.response_time
        if value is not None and value > 0:
            found[sample.block][sample.setting, sample.role] = math.log(value)
    return dict(found)


def circumstances(compared: Compared, does: str = "works", did: str = "worked") -> Circumstances:
    """Facts that a verdict must state in addition to the figures; `does` and `did` are its verb."""
    return Circumstances(
        baseline=compared.baseline,
        blocks_done=compared.blocks_done,
        blocks_planned=compared.blocks_planned,
        log_device_ms=common_sections.log_device_ms(compared.manifest),
        tiers={setting["name"]: setting["tier"] for setting in compared.manifest["settings"]},
        margin=compared.margin,
        prices=compared.prices,
        labels=compared.labels,
        called={
            item["name"]: called(compared.manifest, item, compared.labels[item["name"]])
            for item in compared.manifest["settings"]
        },
        does=does,
        did=did,
    )


def session_times(compared: Compared) -> dict[str, tuple[Times, ...]]:
    """Seconds per row of the sessions' time account, by setting and sample that counts."""
    return {name: by_sample(items, compared.seen)[0] for name, items in compared.samples.items()}
