"""The answer of commit-scaling: the limit of commits, their growth, and whether there is a wall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redolab import units
from redolab.analysis.common_sections import log_device_ms
from redolab.analysis.compared import Compared
from redolab.analysis.levels import reservations, sessions_levels
from redolab.analysis.results import results
from redolab.analysis.verdict import Verdict, joined, rests_on, withheld
from redolab.experiment.commit_scaling import growth
from redolab.experiment.commit_scaling.by_sessions import Scaling, commits_per_flush, scaling, typical
from redolab.experiment.commit_scaling.figures import figures
from redolab.experiment.commit_scaling.tables import SOURCE, findings, tables
from redolab.records.run import Run
from redolab.stats.blocks import Comparison, Outcome
from redolab.stats.estimates import Estimate

# With a log that is busy half of the time a device twice as fast would save a quarter or more; CPUs are
# shared by many, and limit only when they are nearly all in use.
_LOG_BUSY, _CPUS_BUSY = 0.5, 0.8


def analyse(_run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a commit-scaling run, finished or not; plain JSON types only.

    Args:
        compared: the run, compared.
    """
    found = scaling(compared)
    return results(
        compared,
        _verdict(compared, found),
        tables=tables(found),
        figures=figures(found),
        published=findings(found),
        sources=(SOURCE,),
        levels=found.levels,
    )


levels = sessions_levels
"""The sessions that a run recommends, by the evidence so far."""


def _verdict(compared: Compared, found: Scaling) -> Verdict:
    """The limit of commits, whether there is a wall, and how many sessions are enough."""
    held_back = withheld(compared.null, compared.baseline, compared.labels)
    if held_back is not None and found.so_far is None:
        return held_back
    best = growth.greatest(found.rates)
    enough = found.enough(compared.margin)
    rivals = [item for item in compared.throughputs if item.ratio.point is not None]
    so_far = rests_on(compared.blocks_done, compared.blocks_planned)
    if best is None or enough.point is None or not rivals:
        text = joined(["Measure again: too few samples are valid to compare anything.", so_far])
        return Verdict(text, "undecided", compared.baseline, None)
    outcome, outcome_text = _outcome(found, rivals)
    if held_back is not None and outcome == "undecided":
        return held_back
    named = found.names[int(enough.point)]
    label = compared.labels.get(compared.baseline, compared.baseline)
    unsure = reservations(found.levels, compared.blocks_done, compared.null, label)
    emulated_ms = log_device_ms(compared.manifest)
    sentences = [
        _first(found, best, enough, outcome, "" if emulated_ms is None else "on an emulated log device "),
        so_far,
        *unsure,
        *_growth(found, best, enough, compared.margin),
        *_limit(found, best, emulated_ms),
        *_wall(found, best),
    ]
    text = joined(sentences)
    return Verdict(text, outcome, compared.baseline, None if outcome == "undecided" else named, outcome_text)


def _outcome(found: Scaling, rivals: Sequence[Comparison]) -> tuple[Outcome, str | None]:
    """The outcome of the greatest throughput, or of the sessions that are enough where those end the run."""
    if found.so_far is not None:
        return found.so_far.outcome(rivals)
    return max(rivals, key=lambda item: item.ratio.point or 0.0).outcome, None


def _first(found: Scaling, best: int, enough: Estimate, outcome: Outcome, where: str) -> str:
    """The number of sessions to have, and their gain."""
    fewest, most, point = min(found.names), max(found.names), int(enough.point or 0)
    if fewest in (best, point):
        brought = _times(found.ratio(most, fewest))
        return (
            f"Let {_sessions(fewest)} commit at a time: {where}{most} sessions bring {brought} as many "
            "commits."
        )
    asked = point if outcome != "undecided" else best
    brought = f"{where}{_sessions(asked)} bring {_times(found.ratio(asked, fewest))} the commits"
    if outcome == "undecided":
        doubt = "which is not conclusive" if found.so_far is None else "which is not sure yet"
        return f"Measure longer (more blocks): {brought} of {_sessions(fewest)}, {doubt}."
    brought = brought.replace(_sessions(asked), "they", 1)
    if point < most:
        return (
            f"Let {_sessions(point)} commit at a time: {brought} of {_sessions(fewest)}, and more sessions "
            "only wait longer."
        )
    return (
        f"Let at least {_sessions(point)} commit at a time: {brought} of {_sessions(fewest)}, the best "
        "measured."
    )


def _limit(found: Scaling, best: int, emulated_ms: float | None) -> list[str]:
    """The busy resource where throughput is greatest, and the way to raise throughput."""
    log, cpus = found.log_busy[best].point, found.cpus_busy[best].point
    if log is None and cpus is None:
        return ["It is not known what limits commits here."]
    own = found.server_cpu[best].point
    device = "the log" if emulated_ms is None else f"the log (an emulated {emulated_ms:g} ms device)"
    seen = [] if log is None else [f"{device} was busy {units.percent(log, 0)} of the time"]
    if cpus is not None:
        seen.append(f"the CPUs {units.percent(cpus, 0)}")
    where = [f"With {_sessions(best)}, which committed most, {' and '.join(seen)}."]
    if own is not None and cpus is not None:
        where.append(f"The database used {units.percent(own, 0)} of the CPUs.")
    if log is not None and log >= _LOG_BUSY:
        mend = "A faster log device or more commits per flush would help; more CPU would do little."
        return ["The log limits commits here.", *where, mend]
    if cpus is not None and cpus >= _CPUS_BUSY and own is not None and own < cpus / 2:
        return ["Other programs limited commits here.", *where, "Measure again when the machine is quiet."]
    if cpus is not None and cpus >= _CPUS_BUSY:
        mend = "More CPU or less work per commit would help; a faster log device would do little."
        return ["CPU limits commits here.", *where, mend]
    return ["Neither the log nor the CPUs limited commits alone.", *where]


def _growth(found: Scaling, best: int, enough: Estimate, margin: float) -> list[str]:
    """The number of sessions from which on throughput no longer grows, and whether it falls after."""
    most = max(found.names)
    if best == min(found.names):
        return [f"More than {_sessions(best)} at a time did not bring more commits."]
    low, high, point = enough.low, enough.high, int(enough.point or 0)
    around = "" if low is None or high is None or low == high else f" ({low:.0f} to {high:.0f})"
    if point < most:
        text = f"From {_sessions(point)} on{around}, throughput is within {100 * margin:g} % of its maximum."
    elif low is None or low == most:
        text = f"Throughput still grew up to {_sessions(most)}, the largest number measured."
    else:
        text = (
            f"Throughput may still have grown from {low:.0f} to {_sessions(most)}, the largest number "
            "measured."
        )
    if best == most:
        return [text]
    fall = found.ratio(most, best)
    if fall.high is None or fall.high >= 1:
        return [text]
    return [text, f"{_sessions(most)} bring only {_times(fall)} the commits of {_sessions(best)}."]


def _wall(found: Scaling, best: int) -> list[str]:
    """The effect of group commit, against the single-server prediction."""
    served, wall = commits_per_flush(found.samples[best]), found.wall_per_s
    reached = typical(found.rates[best]).point
    if served.point is None or wall is None or reached is None:
        return []
    said = (
        "If every commit had to make a flush of its own (a single-server queue), commits would have stopped "
        f"at {units.significant(wall)} per second; {units.significant(reached)} were measured."
    )
    flush = f"One flush of the log served {units.significant(served.point)} commits."
    if reached > wall:
        return [
            "Commits passed the predicted wall, the rate at which every commit has a flush of its own.",
            said,
            flush,
        ]
    return [
        "This run did not reach the predicted wall, the rate at which every commit has a flush of its "
        "own, so it did not test the wall.",
        said,
        flush,
    ]


def _times(ratio: Estimate) -> str:
    if ratio.point is None:
        return "an unknown number of times"
    return units.with_interval(ratio.point, ratio.low, ratio.high, " times")


def _sessions(number: int) -> str:
    return f"{number} session{'' if number == 1 else 's'}"
