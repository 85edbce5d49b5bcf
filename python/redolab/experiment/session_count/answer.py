"""The answer of session-count: the pool to have, what it gives, and what limits it."""

from __future__ import annotations

from typing import Any

from redolab import units
from redolab.analysis.compared import Compared, results
from redolab.analysis.time_based import commits_per_flush
from redolab.analysis.verdict import Verdict, ratio_text, withheld
from redolab.experiment.session_count.by_sessions import Counted, client_share, counted
from redolab.experiment.session_count.figures import figures
from redolab.experiment.session_count.tables import SOURCE, findings, tables
from redolab.records.store import Run
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
    )


def _verdict(compared: Compared, found: Counted) -> Verdict:
    """The pool to have, what it gives against the fewest and the most sessions, and what limits it."""
    held_back = withheld(compared.null, compared.baseline)
    if held_back is not None:
        return held_back
    if found.pool.point is None or found.best is None:
        return Verdict("Too few samples count to compare anything.", "undecided", compared.baseline, None)
    pool = int(found.pool.point)
    outcome = _outcome(found, pool)
    if outcome == "undecided":
        text = f"{_undecided(compared, found, pool)} {_finding(found)}"
    else:
        text = f"{_recommended(found, pool)} {_pooler(found, pool)} {_finding(found)}"
    if compared.blocks_done < compared.blocks_planned:
        so_far = f"From {compared.blocks_done} of {compared.blocks_planned} blocks: "
        text = so_far + text[0].lower() + text[1:]
    return Verdict(text, outcome, compared.baseline, None if outcome == "undecided" else found.names[pool])


def _outcome(found: Counted, pool: int) -> Outcome:
    """Of the pool against the fewest sessions; of the most, where the fewest are the pool."""
    fewest, most = found.sessions[0], found.sessions[-1]
    against = found.against_fewest(pool if pool != fewest else most)
    return "undecided" if against is None else against.outcome


def _undecided(compared: Compared, found: Counted, pool: int) -> str:
    """What was seen, and how much more would settle it."""
    fewest, most = found.sessions[0], found.sessions[-1]
    asked, margin = pool if pool != fewest else most, units.percent(compared.margin, 0)
    text = (
        f"Whether more sessions than {fewest} do the work sooner is undecided: {asked} sessions were "
        f"{_faster(found.ratio(asked, fewest))} {fewest}"
    )
    against = found.against_fewest(asked)
    if against is not None and against.blocks_needed:
        text += (
            f"; {against.blocks_needed} more block{'s' * (against.blocks_needed > 1)} would settle a "
            f"difference of {margin}"
        )
    return (
        f"{text}. Of those measured {pool} are the fewest within {margin} of the best{_between(found.pool)}."
    )


def _recommended(found: Counted, pool: int) -> str:
    fewest, most = found.sessions[0], found.sessions[-1]
    margin = units.percent(found.compared.margin, 0)
    per_cpu = "" if found.cpus is None else f", {units.significant(pool / found.cpus, 2)} per CPU"
    text = f"Let {pool} sessions work at a time{per_cpu}{_between(found.pool)}: "
    if pool == most:
        sure = "still grew" if found.pool.low == most else "seemed still to grow"
        return (
            f"{text}throughput {sure} at {most} sessions, the most measured, so measure more with "
            "--sessions before you set a limit."
        )
    text += f"of those measured they are the fewest within {margin} of the best throughput"
    if pool == fewest:
        return f"{text}, and no fewer were measured."
    return f"{text}, {_faster(found.ratio(pool, fewest))} {fewest}."


def _pooler(found: Counted, pool: int) -> str:
    """What a pooler in front of the most sessions would change."""
    most = found.sessions[-1]
    if pool == most:
        p95 = _p95(found, pool)
        return f"A pooler with fewer would cost throughput{'' if p95 is None else f'; commits take {p95}'}."
    text = f"A pooler that holds {most} clients to {pool} sessions would make the work "
    text += f"{_faster(found.ratio(pool, most))} {most}"
    mine, theirs = _p95(found, pool), _p95(found, most)
    if mine is not None and theirs is not None:
        text += f", and a commit in the server {mine} instead of {theirs}"
    return text + "; the clients wait for a session instead."


def _finding(found: Counted) -> str:
    """Whether many sessions were slower, as was published, and what decides it."""
    fewest, most = found.sessions[0], found.sessions[-1]
    few, many = _per_flush(found, fewest), _per_flush(found, most)
    flush = (
        ""
        if few is None or many is None
        else f"one flush of the log serves {many} commits with {most} sessions and {few} with {fewest}"
    )
    why = f": {flush}" if flush else ""
    against = found.against_fewest(most)
    outcome = "undecided" if against is None else against.outcome
    if outcome == "better":
        return f"That fewer sessions are faster, as was published, does not hold here{why}."
    if outcome == "worse":
        return f"Many sessions are slower here, as was published{why}."
    if outcome == "equivalent":
        return f"Between {fewest} and {most} sessions there is no difference that matters{why}."
    return f"{flush[0].upper()}{flush[1:]}." if flush else ""


def _warnings(found: Counted) -> list[str]:
    if not found.compared.good:
        return []
    if not found.compared.manifest["engine"].get("local"):
        return [
            "The server is on another machine: its CPUs are not known, so name the sessions with --sessions; "
            "the network is part of every commit time."
        ]
    shares = {number: client_share(found.samples(number)).point for number in found.sessions}
    told = ", ".join(
        f"{units.percent(share, 0)} with {number} sessions"
        for number, share in shares.items()
        if share is not None
    )
    if not told:
        return []
    return [
        f"The client runs on the server's machine and took part of the CPU time in use: {told}. With clients "
        "on other machines the server would have that CPU, and a network in every round trip."
    ]


def _between(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return ""
    return f" (interval {estimate.low:.0f} to {estimate.high:.0f})"


def _faster(ratio: Estimate) -> str:
    text = ratio_text(ratio)
    return f"{text} {'as' if 'times as' in text else 'than'} with"


def _p95(found: Counted, sessions: int) -> str | None:
    point = found.commit_time_ms(sessions, 95).point
    return None if point is None else f"{units.duration(point / 1e3)} (95th percentile)"


def _per_flush(found: Counted, sessions: int) -> str | None:
    point = mean_estimate(map(commits_per_flush, found.samples(sessions))).point
    return None if point is None else units.significant(point, 2)
