"""Costs from a server at work and a prior, with their uncertainty; and the assumptions, in
sentences.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from redolab.files.system import allowed_cpus
from redolab.forecast.costs.costs import Costs
from redolab.forecast.costs.inferred.fit import COMMITS, ROUNDS, Fitted, Workload, fit, simulated_commits
from redolab.forecast.costs.inferred.priors import Found, Prior
from redolab.forecast.costs.logs import Logs
from redolab.forecast.costs.run_costs import WHOLE, Effort, Measured, NoCostsError, RunCosts
from redolab.model.allowance import Allowance
from redolab.records.run import Run
from redolab.stats.estimates import Estimate
from redolab.units import counted, duration, significant

# Simulated in each round for a replicate, whose scatter alone is wanted.
_FEW, _FEW_ROUNDS = 1_500, 4
_MISFIT = 0.10
_WORTH_SAYING = 0.05
Drawn = Callable[[random.Random], Workload]
"""Gives what was seen, from its stretches drawn anew."""

SEEN = (
    "No cost was measured by itself: {sessions} did {commits} commits per second, with {cpu} of CPU time "
    "in the server per commit. The division of that time between transaction, rows, flush and waking up is "
    "assumed to be as in {calibrations} of {system}{machine}; each part may be {spread:g} times larger or "
    "smaller."
)
OF_ANOTHER = "Redolab has no calibration of {system}, so the forecast uses calibrations of {other} instead."
ONE_MACHINE = " on one kind of machine"
NO_CLIENT = (
    "The clients are assumed to run elsewhere, and to take no CPU time from the server. A client is "
    "assumed to send each row as a statement of its own, and a COMMIT after several rows."
)
ELSEWHERE = "The clients are assumed to run elsewhere, and to take no CPU time from the server."
CLIENT = (
    "The clients are assumed to run on the server's machine: {cpu} of CPU time per commit used by other "
    "processes there is attributed to them. A client is assumed to send each row as a statement of its "
    "own, and a COMMIT after several rows."
)
OTHERS = (
    "Processes of neither the server nor its clients are assumed to have kept {others} of {cpus} CPUs "
    "busy, and to continue to do so."
)
TIMED = "A flush of the log takes {flush} by the server's clock, {spread}."
SOLVED = (
    "The time of a flush was not measured: with flushes of {flush} a commit takes as long as it was observed "
    "to take ({busy} in the server), {spread}."
)
NO_FLUSH = "No commit waited for a flush, so the flush time ({flush}) is an assumption."
AS_SEEN, AS_PRIOR = "distributed as observed", "distributed as in those calibrations"
THINKS = (
    "After each transaction a session pauses for {think} on average (by Little's law); the pauses are "
    "assumed to be exponentially distributed."
)
LOOPS = "Sessions are assumed to begin their next transaction at once."
OTHER = (
    "A commit takes {busy} in the server, of which {other} are neither CPU time nor the log. This other part "
    "is assumed to stay the same."
)
MISFIT = (
    "With these costs the forecast of today's setting is {forecast} commits per second, but {seen} "
    "were observed."
)


def inferred(
    run: Run,
    seen: Workload,
    drawn: Drawn,
    found: Found,
    logs: Logs,
    quantities: Callable[[float], Mapping[str, Estimate]],
    cautions: Sequence[str],
    one_interrupt: bool = False,
    seed: int = 1,
    effort: Effort = WHOLE,
) -> RunCosts:
    """Costs with which today's setting, the only one of the run, gives what was seen.

    A replicate is the same from stretches drawn anew and with every cost of the prior off by a factor of
    its own.

    Args:
        run: where it was seen.
        seen: what was seen.
        drawn: the same from its stretches drawn anew.
        found: the prior.
        logs: of the server.
        quantities: with such a think time in seconds, what was seen by the names in
            `redolab.forecast.models.quantities.QUANTITIES`.
        cautions: further assumptions, in sentences.
        one_interrupt: whether one CPU handles all interrupts of the log's disk.
        seed: of the draws.
        effort: how many replicates there are, and what the simulations may take.

    Raises:
        NoCostsError: a figure is beyond what can be forecast, or impossible.
        SimulationTooLongError: the simulations take more.
    """
    if seen.beyond:
        raise NoCostsError(run, f"The costs of a commit cannot be inferred: {seen.beyond}.")
    system = f"{logs.product} as it was seen, {'two logs' if len(logs.columns) > 1 else 'one log'}"

    def shape(prior: Prior) -> Costs:
        plain = prior.shape(logs, seen.cpus, one_interrupt)
        return replace(plain, system=system, measured_system=logs.system(prior.loop))

    allowance = effort.allowance
    before = 0 if allowance is None else allowance.rest
    fitted = fit(seen, shape(found.prior), allowance=allowance)
    if allowance is not None:
        # A replicate takes as much less as it has fewer rounds, and fewer commits in each.
        each = (_FEW_ROUNDS + 1) * simulated_commits(_FEW, seen.sessions)
        of_fit = (ROUNDS + 1) * simulated_commits(COMMITS, seen.sessions)
        allowance.expect(effort.replicates * (before - allowance.rest) * each / of_fit)
    rng = random.Random(seed)
    draws = [(drawn(rng), found.prior.drawn(rng)) for _ in range(effort.replicates)]

    def replicate(draw: tuple[Workload, Prior], mine: Allowance | None) -> Costs:
        again, prior = draw
        return fit(again, shape(prior), _FEW_ROUNDS, _FEW, fitted.think_s, mine).calibration

    # Threads take turns as they come: what each may take must not depend on the others.
    parts = None if allowance is None else allowance.divided(len(draws))
    with ThreadPoolExecutor(len(allowed_cpus())) as pool:
        replicates = tuple(pool.map(replicate, draws, parts or [None] * len(draws)))
    if allowance is not None and parts is not None:
        allowance.give_back(parts)
    today = str(run.manifest["design"]["baseline"])
    measured = Measured(seen.scenario(fitted.think_s), fitted.calibration.loop, quantities(fitted.think_s))
    assumed = (*_assumptions(seen, found, logs.product, fitted), *cautions)
    return RunCosts(
        fitted.calibration,
        replicates,
        {today: measured},
        today,
        assumed,
        fitted.other_s,
        seen.rows_counted,
    )


def _assumptions(seen: Workload, found: Found, engine: str, fitted: Fitted) -> Iterator[str]:
    prior = found.prior
    other = _system(prior)
    yield SEEN.format(
        commits=significant(seen.commits_per_s),
        sessions=counted(seen.sessions, "session"),
        cpu=duration(seen.server_cpu_s),
        calibrations="a calibration" if prior.calibrations == 1 else f"{prior.calibrations} calibrations",
        system=other,
        machine=ONE_MACHINE if prior.one_machine else "",
        spread=prior.spread,
    )
    if not found.own:
        yield OF_ANOTHER.format(system=engine, other=other)
    if seen.client_cpu_s is None:
        yield NO_CLIENT if prior.loop == "client" else ELSEWHERE
    else:
        yield CLIENT.format(cpu=duration(seen.client_cpu_s))
    if seen.others > _WORTH_SAYING * seen.cpus:
        yield OTHERS.format(others=significant(seen.others), cpus=seen.cpus)
    flush = duration(fitted.flush_s)
    spread = AS_SEEN if seen.flush_shape else AS_PRIOR
    if seen.flush_s is not None:
        yield TIMED.format(flush=duration(seen.flush_s), spread=spread)
    elif seen.commit_wait != "nowait":
        yield SOLVED.format(flush=flush, busy=duration(seen.busy_s), spread=spread)
    else:
        yield NO_FLUSH.format(flush=flush)
    away_s = fitted.think_s - fitted.other_s
    yield THINKS.format(think=duration(away_s)) if away_s > 0 else LOOPS
    if fitted.other_s:
        yield OTHER.format(busy=duration(seen.busy_s), other=duration(fitted.other_s))
    off = fitted.simulated.commits_per_s / seen.commits_per_s
    if abs(off - 1) > _MISFIT:
        yield MISFIT.format(
            forecast=significant(fitted.simulated.commits_per_s), seen=significant(seen.commits_per_s)
        )


def _system(prior: Prior) -> str:
    from redolab.dialect.known import product_name

    logs = "" if prior.logs == 1 else " with two logs"
    return f"{product_name(prior.engine) or prior.engine}{logs}"
