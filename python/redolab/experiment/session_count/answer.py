"""The answer of session-count: the pool to have, its gain, and its limit."""

from __future__ import annotations

from typing import Any

from redolab import units
from redolab.analysis.compared import Compared
from redolab.analysis.levels import reservations, sessions_levels
from redolab.analysis.results import results
from redolab.analysis.time_based import commits_per_flush
from redolab.analysis.verdict import Verdict, against, joined, rests_on, withheld
from redolab.experiment.session_count.by_sessions import SessionCounts, client_share, counted
from redolab.experiment.session_count.figures import figures
from redolab.experiment.session_count.tables import SOURCE, findings, tables
from redolab.records.run import Run
from redolab.stats.blocks import Outcome
from redolab.stats.estimates import Estimate, mean_estimate


def analyse(_run: Run, compared: Compared) -> dict[str, Any]:
    """The results object of a session-count run, finished or not; plain JSON types only.

    Args:
        compared: the run, compared.
    """
    found = counted(compared)
    return results(
        compared,
        _verdict(compared, found),
        tables=tables(found),
        figures=figures(found),
        published=findings(found),
        sources=(SOURCE,),
        warnings=_warnings(found),
        levels=found.levels,
    )


levels = sessions_levels
"""The pool that a run recommends, by the evidence so far."""


def _verdict(compared: Compared, found: SessionCounts) -> Verdict:
    """The pool to have, its gain against the fewest and the most sessions, and its limit."""
    held_back = withheld(compared.null, compared.baseline, compared.labels)
    if held_back is not None and found.so_far is None:
        return held_back
    so_far = rests_on(compared.blocks_done, compared.blocks_planned)
    if found.pool.point is None or found.best is None:
        text = joined(["Measure again: too few samples are valid to compare anything.", so_far])
        return Verdict(text, "undecided", compared.baseline, None)
    pool = int(found.pool.point)
    outcome, outcome_text = _outcome(found, pool)
    if held_back is not None and outcome == "undecided":
        return held_back
    first, *rest = (
        _undecided(compared, found, pool)
        if outcome == "undecided"
        else [*_recommended(found, pool), *_pooler(found, pool)]
    )
    label = compared.labels.get(compared.baseline, compared.baseline)
    unsure = reservations(found.levels, compared.blocks_done, compared.null, label)
    text = joined([first, so_far, *unsure, *rest, *_finding(found)])
    best = None if outcome == "undecided" else found.names[pool]
    return Verdict(text, outcome, compared.baseline, best, outcome_text)


def _outcome(found: SessionCounts, pool: int) -> tuple[Outcome, str | None]:
    """Outcome of the pool against the fewest sessions; of the most, where the fewest are the pool."""
    if found.so_far is not None:
        return found.so_far.outcome(found.compared.throughputs)
    fewest, most = found.sessions[0], found.sessions[-1]
    compared_to = found.against_fewest(pool if pool != fewest else most)
    return ("undecided" if compared_to is None else compared_to.outcome), None


def _undecided(compared: Compared, found: SessionCounts, pool: int) -> list[str]:
    """The measured difference, and the blocks that would settle it."""
    fewest, most = found.sessions[0], found.sessions[-1]
    asked, margin = pool if pool != fewest else most, units.percent(compared.margin, 0)
    doubt = "which is not conclusive" if found.so_far is None else "which is not sure yet"
    texts = [
        f"Measure longer (more blocks): {asked} sessions were {_faster(found.ratio(asked, fewest))} "
        f"{fewest} sessions, {doubt}."
    ]
    compared_to = found.against_fewest(asked)
    if found.so_far is None and compared_to is not None and compared_to.blocks_needed:
        more = units.counted(compared_to.blocks_needed, "more block")
        texts.append(f"{more} would settle whether there is a difference of {margin}.")
    return [
        *texts,
        f"{pool} sessions are the smallest number of sessions measured within {margin} of the best "
        f"throughput{_between(found.pool)}.",
    ]


def _recommended(found: SessionCounts, pool: int) -> list[str]:
    """The pool to have, and how sure its number is."""
    fewest, most = found.sessions[0], found.sessions[-1]
    margin = units.percent(found.compared.margin, 0)
    per_cpu = (
        "" if found.cpus is None else f"That is {units.significant(pool / found.cpus, 2)} sessions per CPU."
    )
    fewer = f"{_faster(found.ratio(pool, fewest))} {fewest} sessions"
    if pool == most:
        sure = "still grew" if found.pool.low == most else "seemed still to grow"
        return [
            f"Let at least {pool} sessions work at a time: they were {fewer}, the best measured.",
            per_cpu,
            f"Throughput {sure} at {most} sessions, so measure more with --sessions before you set a limit.",
        ]
    best = (
        f"That is the smallest number of sessions measured within {margin} of the best "
        f"throughput{_between(found.pool)}."
    )
    if pool == fewest:
        more = f"{_faster(found.ratio(most, fewest))} {fewest} sessions"
        first = f"Let {pool} sessions work at a time: {most} were {more}."
        return [first, per_cpu, best, f"No run had fewer than {fewest} sessions."]
    return [
        f"Let {pool} sessions work at a time: they were {fewer}, and more sessions bring little.",
        per_cpu,
        best,
    ]


def _pooler(found: SessionCounts, pool: int) -> list[str]:
    """Effect of a pooler in front of the most sessions."""
    most = found.sessions[-1]
    mine, theirs = _p95(found, pool), _p95(found, most)
    if pool == most:
        text = "A pooler with fewer sessions would cost throughput."
        return [text] if mine is None else [text, f"With {pool} sessions a commit takes {mine}."]
    texts = [
        f"A pooler that limits {most} clients to {pool} sessions would make the work "
        f"{_faster(found.ratio(pool, most))} {most}."
    ]
    texts.append("The clients would wait for a session of the pool instead.")
    if mine is not None and theirs is not None:
        texts.append(f"A commit in the server would take {mine} instead of {theirs}.")
    return texts


def _finding(found: SessionCounts) -> list[str]:
    """Whether many sessions were slower, as was published, and the reason."""
    fewest, most = found.sessions[0], found.sessions[-1]
    few, many = _per_flush(found, fewest), _per_flush(found, most)
    flush = (
        ""
        if few is None or many is None
        else f"One flush of the log serves {many} commits with {most} sessions and {few} with {fewest}."
    )
    compared_to = found.against_fewest(most)
    outcome = "undecided" if compared_to is None else compared_to.outcome
    said = {
        "better": "The published finding that fewer sessions are faster does not hold here.",
        "worse": "Many sessions are slower here, as was published.",
        "equivalent": f"Between {fewest} and {most} sessions there is no difference that matters.",
    }.get(outcome, "")
    return [said, flush]


def _warnings(found: SessionCounts) -> list[str]:
    if not found.compared.good:
        return []
    if not found.compared.manifest["engine"].get("local"):
        return [
            "The server is on another machine: its CPUs are not known, so name the sessions with --sessions; "
            "the network is part of every commit time."
        ]
    shares = {number: client_share(found.samples(number)).point for number in found.sessions}
    parts = ", ".join(
        f"{units.percent(share, 0)} with {number} sessions"
        for number, share in shares.items()
        if share is not None
    )
    if not parts:
        return []
    return [
        f"The client runs on the server's machine and took part of the CPU time in use: {parts}. With "
        "clients on other machines the server would have that CPU, and a network in every round trip."
    ]


def _between(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return ""
    return f" (interval {estimate.low:.0f} to {estimate.high:.0f})"


def _faster(ratio: Estimate) -> str:
    return against(ratio, "with")


def _p95(found: SessionCounts, sessions: int) -> str | None:
    point = found.commit_time_ms(sessions, 95).point
    return None if point is None else f"{units.duration(point / 1e3)} (95th percentile)"


def _per_flush(found: SessionCounts, sessions: int) -> str | None:
    point = mean_estimate(map(commits_per_flush, found.samples(sessions))).point
    return None if point is None else units.significant(point, 2)
