"""The answer in words: what commits wait for, and what the best setting gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from redolab import units
from redolab.stats.blocks import Comparison, NullTest, Outcome
from redolab.stats.estimates import Estimate

_Answer = tuple[str, Outcome, str | None]
"""Half a sentence, the outcome, and the setting named as best."""
RegimeName = Literal["log-bound", "cpu-bound", "mixed", "unknown"]


@dataclass(frozen=True)
class Regime:
    """What the baseline's commits spend their time on."""

    name: RegimeName
    log_sync_share: Estimate
    cpu_share: Estimate
    """On CPU or waiting for one."""
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

    def as_json(self) -> dict[str, Any]:
        """The verdict as the results object has it."""
        return {
            "text": self.text,
            "outcome": self.outcome,
            "outcome_text": self.outcome_text,
            "baseline": self.baseline,
            "best": self.best,
        }


@dataclass(frozen=True)
class Circumstances:
    """What the verdict must say beside the figures."""

    baseline: str
    blocks_done: int
    blocks_planned: int
    log_device_ms: float | None
    """Delay of the emulated log device; None for a real one."""
    tiers: dict[str, str]
    """Durability tier by setting."""
    margin: float
    does: str = "works"
    """What a setting does with its units of work, as in `nowait commits 2 times as fast`."""
    did: str = "worked"


def regime(log_sync: Estimate, cpu: Estimate, baseline: str, emulated_ms: float | None) -> Regime:
    """Tell log-bound from CPU-bound: half of the baseline's commit time or more decides.

    Beside a log sync of a quarter or more CPU alone does not bind: without it a commit would take three
    quarters of its time or less.
    """
    sync, busy = log_sync.point, cpu.point
    where = "the log" if emulated_ms is None else f"an emulated {emulated_ms:g} ms log device"
    on_device = "" if emulated_ms is None else f" (on {where})"
    if sync is not None and sync >= 0.5:
        text = (
            f"Commits here wait for {where}: under {baseline} {units.percent(sync, 0)} of a "
            "session's commit time is log sync"
        )
        return Regime("log-bound", log_sync, cpu, text)
    if busy is not None and busy >= 0.5 and (sync is None or sync < 0.25):
        rest = "" if sync is None else f": log sync is {units.percent(sync, 0)} of commit time"
        text = f"Commits here are bound by CPU, not by {where}{rest}"
        return Regime("cpu-bound", log_sync, cpu, text)
    if sync is None:
        text = "What commits here wait for could not be seen (no wait events were sampled)"
        return Regime("unknown", log_sync, cpu, text)
    cpu_text = "" if busy is None else f" and {units.percent(busy, 0)} CPU and its queue"
    text = (
        f"Commits here wait for no single thing: under {baseline} {units.percent(sync, 0)} of a "
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
        found: what the baseline's time is spent on, where the verdict begins with that.
        null: the A/A pair.
        comparisons: those of throughput.
        around: what must be said beside the figures.
    """
    measured = [item for item in comparisons if item.ratio.point is not None]
    best = max(measured, key=lambda item: item.ratio.point or 0.0, default=None)
    if null.passed is False:
        answer, outcome, named = _withheld(null, around.baseline)
    else:
        answer, outcome, named = _answer(best, around)
    first = answer[0].upper() + answer[1:] if found is None else found.text + _joint(found.name) + answer
    if around.blocks_done < around.blocks_planned:
        first = (
            f"From {around.blocks_done} of {around.blocks_planned} blocks: " + first[0].lower() + first[1:]
        )
    sentences = [first + "."]
    if outcome != "withheld":
        sentences += _price(named, around)
    return Verdict(" ".join(sentences), outcome, around.baseline, named)


def withheld(null: NullTest, baseline: str) -> Verdict | None:
    """The verdict of a run whose A/A pair failed, whatever its experiment; None where it did not."""
    if null.passed is not False:
        return None
    text, outcome, best = _withheld(null, baseline)
    return Verdict(text[0].upper() + text[1:] + ".", outcome, baseline, best)


def ratio_text(ratio: Estimate) -> str:
    """A throughput ratio in words: `25.3 times as fast (24 to 27)`, `2.1 % slower (0 to 4)`."""
    point, low, high = ratio.point, ratio.low, ratio.high
    if point is None:
        return "unknown"
    if point >= 2:
        around = (
            "" if low is None or high is None
            else f" ({units.significant(low)} to {units.significant(high)})"
        )  # fmt: skip
        return f"{units.significant(point)} times as fast{around}"
    sign = 1 if point >= 1 else -1
    ends = sorted(100 * sign * (end - 1) for end in (low, high) if end is not None)
    around = f" ({ends[0]:.1f} to {ends[1]:.1f})" if len(ends) == 2 else ""
    return f"{100 * abs(point - 1):.1f} % {'faster' if sign > 0 else 'slower'}{around}"


def _answer(best: Comparison | None, around: Circumstances) -> _Answer:
    if best is None:
        return "nothing can be compared yet", "undecided", None
    name, text = best.setting, ratio_text(best.ratio)
    if best.outcome == "better":
        small = (best.ratio.point or 0) < 1.1
        how = (
            f"{name}, the best setting, {around.does} only {text}"
            if small
            else f"{name} {around.does} {text}"
        )
        return how, "better", name
    if best.outcome == "equivalent":
        seen = "a difference that was found, but" if best.detected else "which lies"
        return (
            f"{name}, the best setting, {around.does} {text}, {seen} inside the "
            f"{100 * around.margin:g} % that count as equal",
            "equivalent",
            name if (best.ratio.point or 0) > 1 else around.baseline,
        )
    if best.outcome == "worse":
        return (
            f"no setting beats {around.baseline}: {name}, the next best, {around.does} {text}",
            "worse",
            around.baseline,
        )
    if best.excludes_equal and best.blocks_needed:
        return (
            f"{name} {around.did} {text}, but {best.blocks} blocks are too few to be sure; "
            f"{best.blocks_needed} more would do",
            "undecided",
            None,
        )
    more = (
        f"; {best.blocks_needed} more blocks would settle a {100 * around.margin:g} % difference"
        if best.blocks_needed
        else ""
    )
    return (
        f"whether another setting is faster is undecided ({name} {around.did} {text}{more})",
        "undecided",
        None,
    )


def _withheld(null: NullTest, baseline: str) -> _Answer:
    text = (
        f"the verdict is withheld, because {baseline} measured against itself came out "
        f"{ratio_text(null.ratio)} (p = {null.pvalue or 0.0:.2g}), so this run would see "
        "differences where there are none"
    )
    return text, "withheld", None


def _price(named: str | None, around: Circumstances) -> list[str]:
    if named is None or named == around.baseline:
        return []
    tier, base = around.tiers.get(named), around.tiers.get(around.baseline)
    if tier == base:
        return [f"Its commits are as durable as those of {around.baseline}."]
    if tier == "memory":
        return [
            f"The price: with {named} commits that were acknowledged may be lost when the server crashes."
        ]
    return [f"The price: its commits are durable to the tier {tier}, not {base}."]


def _joint(name: RegimeName) -> str:
    return ", and " if name in {"log-bound", "cpu-bound"} else "; "
