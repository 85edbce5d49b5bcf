"""The answer in words: the gain of the best setting, and the waits of commits.

A verdict's first sentence answers the question: at most 30 words, what to do, and the one figure that it
rests on. Open questions, and why they are open, come after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from redolab import units
from redolab.analysis.at_risk import Price, in_words
from redolab.stats.blocks import Comparison, NullTest, Outcome
from redolab.stats.estimates import Estimate

RegimeName = Literal["log-bound", "cpu-bound", "mixed", "unknown"]


@dataclass(frozen=True)
class Regime:
    """The use of time of the baseline's commits."""

    name: RegimeName
    log_sync_share: Estimate
    cpu_share: Estimate
    """Share of the time on CPU or waiting for one."""
    text: str

    def as_json(self) -> dict[str, Any]:
        """The regime as the results object has it."""
        return {
            "name": self.name,
            "log_sync_share": self.log_sync_share.as_json(),
            "cpu_share": self.cpu_share.as_json(),
            "text": self.text,
        }


@dataclass(frozen=True)
class Verdict:
    """The answer, its outcome, and the setting it names as best."""

    text: str
    outcome: Outcome
    baseline: str
    best: str | None
    outcome_text: str | None = None
    """The outcome in the experiment's words, where those say more than the outcome's own."""
    price: str | None = None
    """The sentences of `text` that state what a crash may lose under it."""
    advised: str | None = None
    """The setting to use, if that is not the best one."""

    def as_json(self) -> dict[str, Any]:
        """The verdict as the results object has it."""
        return {
            "text": self.text,
            "outcome": self.outcome,
            "outcome_text": self.outcome_text,
            "baseline": self.baseline,
            "best": self.best,
            "price": self.price,
        }


@dataclass(frozen=True)
class Circumstances:
    """Facts that the verdict must state in addition to the figures."""

    baseline: str
    blocks_done: int
    blocks_planned: int
    log_device_ms: float | None
    """Delay of the emulated log device; None for a real one."""
    tiers: dict[str, str]
    """Durability tier by setting."""
    margin: float
    does: str = "works"
    """The verb for a setting and its units of work, as in `nowait commits 2 times as fast`."""
    did: str = "worked"
    prices: Mapping[str, Sequence[Price]] = field(default_factory=dict)
    """Possible losses in crashes, by setting, if the server's manual states them."""
    called: Mapping[str, str] = field(default_factory=dict)
    """A setting in the server's own words, with its name in brackets, if there are such words."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """A setting's short label, where its name is a key."""

    def label(self, name: str) -> str:
        """A setting as a sentence names it: its label, or its name if that is published."""
        return self.labels.get(name, name)

    def call(self, name: str) -> str:
        """A setting in the server's own words; its label if it does not have any."""
        return self.called.get(name, self.label(name))

    def use(self, name: str) -> str:
        """The instruction that gives a setting: `Set sync_binlog=0 (nowait)`, `Use btree`."""
        words = self.call(name)
        return f"{'Set' if '=' in words.partition('(')[0] else 'Use'} {words}"


def regime(
    log_sync: Estimate, cpu: Estimate, baseline: str, emulated_ms: float | None, place: str = "here"
) -> Regime:
    """Distinguish log-bound from CPU-bound: half of the baseline's commit time or more decides.

    With a log sync of a quarter or more, CPU alone does not bind: without log sync a commit would take three
    quarters of its time or less.

    Args:
        log_sync: share of a commit's time.
        cpu: share of CPU and of waiting for one.
        baseline: the setting that is described.
        emulated_ms: delay of the emulated log device; None for a real one.
        place: where commits wait, in words: `here`, or on which server.
    """
    sync, busy = log_sync.point, cpu.point
    where = "the log" if emulated_ms is None else f"an emulated {emulated_ms:g} ms log device"
    on_device = "" if emulated_ms is None else f" (on {where})"
    if sync is not None and sync >= 0.5:
        text = (
            f"Commits {place} wait for {where}: under {baseline} {units.percent(sync, 0)} of a "
            "session's commit time is log sync"
        )
        return Regime("log-bound", log_sync, cpu, text)
    if busy is not None and busy >= 0.5 and (sync is None or sync < 0.25):
        rest = "" if sync is None else f": log sync is {units.percent(sync, 0)} of commit time"
        text = f"Commits {place} are bound by CPU, not by {where}{rest}"
        return Regime("cpu-bound", log_sync, cpu, text)
    if sync is None:
        text = f"It is not known what commits {place} wait for, because no wait events were sampled"
        return Regime("unknown", log_sync, cpu, text)
    cpu_text = "" if busy is None else f", and {units.percent(busy, 0)} is CPU and the queue for it"
    text = (
        f"Commits {place} do not wait for one thing alone: under {baseline} {units.percent(sync, 0)} of a "
        f"session's commit time is log sync{on_device}{cpu_text}"
    )
    return Regime("mixed", log_sync, cpu, text)


def verdict(
    found: Regime | None,
    null: NullTest,
    comparisons: Sequence[Comparison],
    around: Circumstances,
) -> Verdict:
    """The verdict on throughput.

    Args:
        found: the use of the baseline's time, where that is known.
        null: the A/A pair.
        comparisons: comparisons of throughput.
        around: facts that must be stated in addition to the figures.
    """
    measured = [item for item in comparisons if item.ratio.point is not None]
    best = max(measured, key=lambda item: item.ratio.point or 0.0, default=None)
    doubted = withheld(null, around.baseline, around.labels)
    if doubted is None or (best is not None and best.outcome != "withheld"):
        answer = _answer(best, around)
    else:
        answer = _Answer([doubted.text], doubted.outcome, doubted.best)
    first, *others = answer.sentences
    if doubted is not None and answer.outcome != "withheld":
        others.append(allowed_for(null, around.label(around.baseline)))
    rests = rests_on(around.blocks_done, around.blocks_planned)
    text = joined([first, rests, *others, "" if found is None else f"{found.text}."])
    return Verdict(
        text, answer.outcome, around.baseline, answer.best, price=answer.price, advised=answer.advised
    )


def rests_on(done: int, planned: int) -> str:
    """How far a run came, as a sentence; empty where it came to its end."""
    return (
        f"This result rests on {done} of {planned} blocks (passes over all settings)."
        if done < planned
        else ""
    )


def joined(sentences: Sequence[str]) -> str:
    """A verdict's text from its sentences, without those that are empty."""
    return " ".join(sentence for sentence in sentences if sentence)


def withheld(
    null: NullTest, baseline: str, labels: Mapping[str, str] = MappingProxyType({})
) -> Verdict | None:
    """The verdict of a run whose A/A pair failed, whatever its experiment; None where it did not.

    Args:
        null: the A/A pair.
        baseline: the setting that was measured twice.
        labels: of the settings whose names are keys.
    """
    if null.passed is not False:
        return None
    shown = labels.get(baseline, baseline)
    text = (
        f"Run again when fewer programs run here: {shown} measured against itself came out "
        f"{ratio_text(null.ratio)}, so the verdict is withheld. Such a run would report differences that do "
        f"not exist (p = {null.pvalue or 0.0:.2g})."
    )
    return Verdict(text, "withheld", baseline, None)


def allowed_for(null: NullTest, baseline: str) -> str:
    """The sentence on an A/A pair that differed, in a verdict whose intervals are widened by that."""
    return (
        f"{baseline} measured against itself came out {ratio_text(null.ratio)}: every interval allows for "
        "that much, and an outcome that it could explain is withheld."
    )


def ratio_text(ratio: Estimate) -> str:
    """A throughput ratio in words: `25.3 times as fast (24 to 27)`, `2.1 % slower (0 to 4)`."""
    point, low, high = ratio.point, ratio.low, ratio.high
    if point is None:
        return "unknown"
    if point >= 2:
        return ratio.text(" times as fast")
    sign = 1 if point >= 1 else -1
    ends = sorted(100 * sign * (end - 1) for end in (low, high) if end is not None)
    around = f" ({ends[0]:.1f} to {ends[1]:.1f})" if len(ends) == 2 else ""
    return f"{100 * abs(point - 1):.1f} % {'faster' if sign > 0 else 'slower'}{around}"


def against(ratio: Estimate, baseline: str) -> str:
    """A throughput ratio with what it is against: `25.3 times as fast (24 to 27) as wait`."""
    text = ratio_text(ratio)
    return f"{text} {'as' if 'times as' in text else 'than'} {baseline}"


@dataclass(frozen=True)
class _Answer:
    """A verdict before its sentences are joined; its fields are those of `Verdict`."""

    sentences: Sequence[str]
    outcome: Outcome
    best: str | None = None
    price: str | None = None
    advised: str | None = None


def _answer(best: Comparison | None, around: Circumstances) -> _Answer:
    base = around.label(around.baseline)
    if best is None:
        return _Answer(
            [
                "Nothing can be compared yet: measure again, and let one block (a pass over all "
                "settings) finish."
            ],
            "undecided",
        )
    name, ratio = around.label(best.setting), best.ratio
    where = "" if around.log_device_ms is None else "on an emulated log device "
    if best.outcome == "better":
        condition, price = _price(best.setting, around)
        first = (
            f"Expect little: {where}{around.call(best.setting)}, the best setting, {around.does} only "
            f"{against(ratio, base)}."
            if (ratio.point or 0) < 1.1
            else f"{around.use(best.setting)}{condition}: {where}it {around.does} {against(ratio, base)}."
        )
        gives_up = around.tiers.get(best.setting) != around.tiers.get(around.baseline)
        return _Answer([first, price], "better", best.setting, price=price if gives_up else None)
    if best.outcome == "equivalent":
        first = (
            f"Keep {around.call(around.baseline)}: {where}{name}, the best other setting, {around.does} "
            f"{ratio_text(ratio)}, which counts as equal."
        )
        found = "The difference was found, but it lies" if best.detected else "The difference lies"
        inside = f"{found} inside the {100 * around.margin:g} % that count as equal."
        faster = best.setting if (ratio.point or 0) > 1 else around.baseline
        return _Answer([first, inside], "equivalent", faster, advised=around.baseline)
    if best.outcome == "worse":
        kept = around.call(around.baseline)
        text = f"Keep {kept}: {where}{name}, the next best, {around.does} {ratio_text(ratio)}."
        return _Answer([text, f"No other setting is faster than {base}."], "worse", around.baseline)
    return _Answer(undecided(best, around, where), "undecided")


def undecided(best: Comparison, around: Circumstances, where: str) -> list[str]:
    """Sentences on a difference that is not settled.

    Args:
        best: the comparison that comes closest to an answer.
        around: facts that must be stated in addition to the figures.
        where: words before the setting's name.
    """
    more = f"{units.counted(best.blocks_needed, 'more block')} would " if best.blocks_needed else ""
    against_base = against(best.ratio, around.label(around.baseline))
    seen = f"Measure longer (more blocks): {where}{around.label(best.setting)} {around.did} {against_base}"
    if best.excludes_equal and more:
        few = f"{best.blocks} blocks (passes over all settings) are too few to be sure; {more}be enough."
        return [f"{seen}, which is not certain yet.", few]
    settle = (
        f"{more[0].upper()}{more[1:]}settle whether there is a difference of {100 * around.margin:g} %."
        if more
        else ""
    )
    return [f"{seen}, which is not conclusive.", settle]


def _price(named: str, around: Circumstances) -> tuple[str, str]:
    """On what condition a setting is to be used, and what its commits are worth."""
    tier, base = around.tiers.get(named), around.tiers.get(around.baseline)
    if tier == base:
        return "", f"The commits of this setting are as durable as those of {around.label(around.baseline)}."
    lost, text = around.prices.get(named), around.label(named)
    if lost:
        price = f"The price: with {text} {' '.join(in_words(lost))}"
    elif tier == "memory":
        price = f"The price: with {text} commits that were acknowledged may be lost when the server crashes."
    else:
        price = f"The price: commits of this setting are durable to the tier {tier}, not {base}."
    return condition_of(tier), price


def condition_of(tier: str | None) -> str:
    """On what condition a setting of a tier is to be used in the place of one that promises more."""
    if tier == "memory":
        return " if a crash may lose acknowledged commits"
    return f" if durability to the tier {tier} is enough"
