"""Checks of the run that could change its answer, in plain words."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from redolab import units
from redolab.analysis.checks.diagnostic import Diagnostic, signed_percent
from redolab.analysis.checks.machine import machine_checks
from redolab.analysis.checks.noise import autocorrelation, carry_over, drift, regimes, residual_noise
from redolab.analysis.checks.seams import seams
from redolab.analysis.reading import Sightings, counting
from redolab.analysis.statements.labels import joined
from redolab.analysis.time_based import session_account, session_blocked_s, units_of_work
from redolab.analysis.waits import NOTHING, is_awake, session_waits
from redolab.records.sample import Sample

_STATES_TOLERANCE = 0.05
_NAMED = 3
"""Settings that are named where there are many."""


def diagnose(
    samples: Sequence[Sample],
    sightings: Sightings,
    baseline: str,
    source: str,
    labels: Mapping[str, str] = MappingProxyType({}),
    *,
    short: bool = False,
) -> tuple[Diagnostic, ...]:
    """Every check of a run; `samples` are all of them, spoiled ones too.

    `source` is where wait events were read, as in `Instrument.source`, or `none`; `labels` are those of the
    settings whose names are keys. `short` is whether samples may be so short that the setting before could
    matter.
    """
    good = counting(samples)
    noise = residual_noise(good)
    return (
        spoiled_samples(samples),
        autocorrelation(noise),
        drift(noise),
        regimes(noise),
        *((carry_over(good, labels),) if short else ()),
        *seams(good, baseline),
        *machine_checks(good, sightings, labels),
        checkpoints(good),
        steal(good),
        row_counts(good),
        littles_law([sample for sample in good if sample.response_s is None]),
        *arrivals([sample for sample in good if sample.response_s is not None], labels),
        adds_up(good),
        short_waits([sample for sample in good if sample.setting == baseline], source),
        sampled_states(good, sightings),
        sampling_clock(good, sightings),
    )


def spoiled_samples(samples: Sequence[Sample]) -> Diagnostic:
    """Samples that do not count, and why."""
    name = "spoiled samples"
    spoiled = [sample for sample in samples if sample.spoiled is not None]
    idle = len(samples) - len(spoiled) - len(counting(samples))
    if not spoiled and not idle:
        return Diagnostic(name, "passed", f"All {len(samples)} samples count.")
    reasons = sorted({sample.spoiled or "" for sample in spoiled})
    if idle:
        reasons.append(f"{idle} without a unit of work")
    return Diagnostic(
        name,
        "warning",
        f"{len(spoiled) + idle} of {len(samples)} samples do not count: {'; '.join(reasons)}.",
    )


def checkpoints(samples: Sequence[Sample]) -> Diagnostic:
    """Checkpoints and vacuums that fell inside samples."""
    name = "checkpoints and vacuums"
    if any(sample.checkpoints is None or sample.vacuums is None for sample in samples):
        return Diagnostic(name, "not_available", "This server does not report its checkpoints.")
    hit = [sample for sample in samples if sample.checkpoints or sample.vacuums]
    if not hit:
        return Diagnostic(name, "passed", "No checkpoint or vacuum ran during a sample.")
    residual = dict(zip(_numbers(samples), residual_noise(samples).residual, strict=True))
    slower = statistics.fmean(residual[sample.sample] for sample in hit)
    return Diagnostic(
        name,
        "warning",
        f"A checkpoint or vacuum ran during {len(hit)} of {len(samples)} samples (checkpoints: "
        f"{sum(sample.checkpoints or 0 for sample in hit)}, vacuums: "
        f"{sum(sample.vacuums or 0 for sample in hit)}). The throughput of these samples differed by "
        f"{signed_percent(math.expm1(slower))} from the mean of their setting.",
    )


def steal(samples: Sequence[Sample]) -> Diagnostic:
    """CPU time the hypervisor gave to others; no process account shows it."""
    name = "steal"
    shares = [
        sample.host_steal_s / (sample.elapsed_s * sample.host_cpus)
        for sample in samples
        if sample.host_steal_s is not None and sample.host_cpus
    ]
    if not shares:
        return Diagnostic(name, "not_available", "The machine's steal time could not be read.")
    mean, worst = statistics.fmean(shares), max(shares)
    text = (
        f"The hypervisor took {units.percent(mean)} of the machine's CPU time "
        f"({units.percent(worst)} in the worst sample)."
    )
    return Diagnostic(name, "passed" if worst < 0.02 else "warning", text)


def row_counts(samples: Sequence[Sample]) -> Diagnostic:
    """The sessions' own count of rows changed against the server's, within 0.1 %.

    One more row per session and sample is allowed: the end of the session's own loop.
    """
    name = "row counts"
    known = [sample for sample in samples if sample.server_rows is not None and sample.rows > 0]
    if not known:
        return Diagnostic(name, "not_available", "The server's own count of changed rows could not be read.")
    counted = sum(sample.rows for sample in known)
    server = sum(sample.server_rows or 0 for sample in known)
    allowed = 0.001 * counted + sum(sample.sessions for sample in known)
    text = (
        f"The sessions counted {counted:,} changed rows and the server {server:,}: a difference of "
        f"{signed_percent(server / counted - 1, 3)}."
    )
    if abs(server - counted) <= allowed:
        return Diagnostic(name, "passed", text)
    return Diagnostic(name, "failed", text + " Something else wrote to Redolab's tables, or rows were lost.")


def littles_law(samples: Sequence[Sample]) -> Diagnostic:
    """L R against the number of sessions: every session must be inside its loop all the time."""
    name = "Little's law"
    ratios = [
        account.arrival_rate * account.response_time / sample.sessions
        for sample in samples
        for account in (session_account(sample),)
        # Runs on a pool of threads were once stored without their number of sessions.
        if account.response_time is not None and sample.sessions
    ]
    if not ratios:
        return Diagnostic(
            name, "not_available", "There is not a valid sample in which the sessions worked all the time."
        )
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    text = (
        f"Throughput times response time is {units.percent(statistics.fmean(ratios))} of the number "
        f"of sessions ({units.percent(worst)} in the worst sample)."
    )
    if abs(worst - 1) <= 0.05:
        return Diagnostic(name, "passed", text)
    return Diagnostic(name, "warning", text + " Some sessions stopped working before the end of a sample.")


def arrivals(
    samples: Sequence[Sample], labels: Mapping[str, str] = MappingProxyType({})
) -> tuple[Diagnostic, ...]:
    """Work that came at random moments, and how much of it was done; nothing without such samples."""
    name = "arrivals"
    if not samples:
        return ()
    behind = [sample for sample in samples if (sample.arrivals_unserved or 0) > _most_left(sample)]
    waited = sum(sample.arrivals_waited or 0 for sample in samples)
    left = sum(sample.arrivals_unserved or 0 for sample in samples)
    done = sum(sample.commits for sample in samples)
    text = (
        f"{done + left:,} transactions were asked for. {waited + left:,} of them found no free session, and "
        f"{left:,} had not begun when their sample ended."
    )
    if not behind:
        return (Diagnostic(name, "passed", text),)
    settings = list(dict.fromkeys(labels.get(sample.setting, sample.setting) for sample in behind))
    others = f" and {len(settings) - _NAMED} others" if len(settings) > _NAMED else ""
    why = (
        f" Under {joined(settings[:_NAMED])}{others} more transactions were asked for than could be done: "
        "the backlog grew, there is no steady state, and response times depend on the length of a sample."
    )
    return (Diagnostic(name, "warning", text + why),)


def _most_left(sample: Sample) -> float:
    """Transactions that may be left over at the end because by chance more arrived than the mean."""
    return 3 * math.sqrt(sample.commits + (sample.arrivals_unserved or 0))


def adds_up(samples: Sequence[Sample]) -> Diagnostic:
    """Samples in which CPU and run queue exceed the elapsed time of the sessions."""
    name = "time adds up"
    blocked = [session_blocked_s(sample) for sample in samples]
    known = [value for value in blocked if value is not None]
    if not known:
        return Diagnostic(name, "not_available", "The kernel's CPU accounts of the server could not be read.")
    over = sum(value < 0 for value in known)
    if not over:
        return Diagnostic(name, "passed", "CPU and run queue never exceed the sessions' time.")
    worst = min(
        value / sample.session_elapsed_s
        for value, sample in zip(blocked, samples, strict=True)
        if value is not None
    )
    return Diagnostic(
        name,
        "passed" if worst > -0.01 else "warning",
        f"CPU and run queue exceed the sessions' time in {over} of {len(known)} samples, by "
        f"{units.percent(-worst)} at most; the profile shows it as negative unaccounted time.",
    )


def short_waits(samples: Sequence[Sample], source: str) -> Diagnostic:
    """Whether the baseline's waits are long enough for the sampler to divide them well.

    A query to pg_stat_activity pairs the event of one moment with the process state of another;
    the server's memory is read together with the state.

    Source: Redolab's own prototypes: rows within 4 points of exact tracing for waits of 1 ms,
    15 points off for waits of about 50 us.
    """
    name = "short waits"
    if source == "none":
        return Diagnostic(name, "not_available", "No wait events are sampled here.")
    waits = [
        blocked / units_of_work(sample)
        for sample in samples
        for blocked in (session_blocked_s(sample),)
        if blocked is not None
    ]
    if not waits:
        return Diagnostic(name, "not_available", "Blocked time per unit of work is not known.")
    mean = statistics.fmean(waits)
    text = f"A unit of work of the baseline is blocked for {units.duration(mean)} on average."
    if mean >= 2e-4 or source == "server memory":
        return Diagnostic(name, "passed", text)
    return Diagnostic(
        name,
        "warning",
        text + " Sampling does not divide waits of so short a time well: single wait rows may be wrong by 15 "
        "percentage points. CPU, run queue and the sum of the waits are exact.",
    )


def sampled_states(samples: Sequence[Sample], sightings: Sightings) -> Diagnostic:
    """Whether the sampler saw the sessions awake as often as the kernel's exact accounts say.

    A sampler that is kept from the CPU by the load wakes when the load sleeps, and then sees too
    much sleep; every wait row would be wrong with it.
    """
    name = "sampler against kernel"
    seen = awake = 0
    exact_s = elapsed_s = 0.0
    for sample in samples:
        if sample.session_cpu_s is None or sample.session_run_queue_s is None:
            continue
        rows = list(session_waits(sample, sightings.get(sample.sample, NOTHING)))
        seen += sum(row.ticks for row in rows)
        awake += sum(row.ticks for row in rows if is_awake(row))
        exact_s += sample.session_cpu_s + sample.session_run_queue_s
        elapsed_s += sample.session_elapsed_s
    if not seen or elapsed_s <= 0:
        return Diagnostic(
            name,
            "not_available",
            "The sampler's readings or the kernel's accounts are missing, so the two were not compared.",
        )
    difference = awake / seen - exact_s / elapsed_s
    text = (
        f"Sessions were on CPU or ready to run (in the run queue) in {units.percent(awake / seen)} of the "
        f"sampler's looks, and by the kernel's accounts for {units.percent(exact_s / elapsed_s)} of the "
        "time."
    )
    if abs(difference) <= _STATES_TOLERANCE:
        return Diagnostic(name, "passed", text)
    return Diagnostic(
        name,
        "warning",
        text
        + (
            " Single wait rows may be wrong by as much as these two figures differ; CPU and run queue are "
            "exact."
        ),
    )


def sampling_clock(samples: Sequence[Sample], sightings: Sightings) -> Diagnostic:
    """How many of the sampler's readings were late or lost."""
    name = "sampling clock"
    ticks = sum(sample.ticks for sample in samples)
    if ticks == 0:
        return Diagnostic(
            name, "not_available", "No wait events were sampled: all blocked time is unaccounted."
        )
    late = sum(sample.ticks_late for sample in samples) / ticks
    lost = sum(sample.ticks_lost for sample in samples) / ticks
    blind = sum(not sightings.get(sample.sample, NOTHING).waits for sample in samples)
    text = f"{units.percent(late)} of {ticks:,} readings were late, and {units.percent(lost)} were lost."
    if blind:
        text += f" {blind} samples have no reading of the wait sampler at all."
    well = late <= 0.1 and lost <= 0.01 and not blind
    return Diagnostic(name, "passed" if well else "warning", text)


def _numbers(samples: Sequence[Sample]) -> list[int]:
    return [sample.sample for sample in sorted(samples, key=lambda sample: sample.start_s)]
