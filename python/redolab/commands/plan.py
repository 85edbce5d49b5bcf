"""What a run would do, told before anything is touched: `redolab run --plan`, and before a load."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from redolab import units
from redolab.dialect.postgres import GATHERING, parameter_names
from redolab.engine import find_offer
from redolab.experiment.base import Experiment, Plan
from redolab.measure.consumption import NOT_WAITING_PER_S, WAITING_PER_S, Consumption, consumption
from redolab.outlet import terminal
from redolab.report.screen.paper import Paper

# Set-up, snapshots, checkpoints and the report, seconds: to tell the time a run needs.
_SET_UP_S = 5.0
_PER_TRIAL_S = {"sample": 0.1, "kill": 1.5, "draw": 0.03}


def needed_s(experiment: Experiment, plan: Plan) -> float:
    """About how long the run takes, seconds; with fixed work what the experiment expects it to take."""
    order = plan.design.order()
    making_s = sum(plan.load.making_s(plan.combinations[trial.setting]) for trial in order)
    each_s = _PER_TRIAL_S.get(experiment.record, 0.0)
    return plan.design.load_time() + making_s + len(order) * each_s + _SET_UP_S


def amount_text(plan: Plan) -> str:
    """How much one sample is, in words."""
    design = plan.design
    work = f"{design.seconds:g} s" if design.units is None else f"{design.units:,} units of work"
    return f"{work} after {design.warmup_s:g} s of warm-up" if design.warmup_s else work


def changes(plan: Plan) -> list[str]:
    """The server's parameters that the run changes and puts back, each with how far that reaches."""
    names = parameter_names(plan.combinations.values())
    brought = sorted({name for levels in plan.combinations.values() for name in plan.load.parameters(levels)})
    system = plan.load.scope == "system"
    return [
        f"{name} ({'whole server' if system or name in _SERVER_WIDE else 'its own sessions'})"
        for name in (*names, *brought)
    ]


def planned(experiment: Experiment, plan: Plan, target: str) -> dict[str, Any]:
    """The plan as `redolab run --plan --json` prints it."""
    design = plan.design
    order: dict[int, list[str]] = {}
    for trial in design.order():
        order.setdefault(trial.block, []).append(trial.setting)
    return {
        "format": 1,
        "experiment": experiment.name,
        "question": experiment.question,
        "unit": experiment.unit,
        "engine": _engine(target),
        "load": {"kind": type(plan.load).__name__.lower(), "name": plan.load.name},
        "sessions": plan.load.sessions,
        "settings": [{"name": name, "levels": dict(levels)} for name, levels in plan.combinations.items()],
        "baseline": design.baseline,
        "blocks": design.blocks,
        "samples": len(design.order()),
        "seconds_per_sample": design.seconds,
        "units_per_sample": design.units,
        "warmup_s": design.warmup_s,
        "seed": design.seed,
        "needed_s": needed_s(experiment, plan),
        "creates": creates(plan, target),
        "changes": changes(plan),
        "disk_bytes": plan.load.disk_bytes(design.units),
        "consumes": _as_json(consumes(plan, target)),
        "order": list(order.values()),
    }


def consumes(plan: Plan, target: str) -> Consumption | None:
    """What the run uses up of a server that has transaction ids, at most; None on anything else."""
    if not find_offer(target).uses_up:
        return None
    return consumption(plan.design, plan.load, plan.combinations)


def _as_json(used: Consumption | None) -> dict[str, Any] | None:
    if used is None:
        return None
    return {
        "transaction_ids": used.transaction_ids,
        "log_bytes": used.log_bytes,
        "commits_per_s": NOT_WAITING_PER_S,
        "waiting_commits_per_s": WAITING_PER_S,
    }


def creates(plan: Plan, target: str) -> list[str]:
    """What the run makes on the engine and removes again."""
    offer = find_offer(target)
    return [*offer.makes, *plan.load.makes(plan.design.units, offer.within)]


def print_plan(experiment: Experiment, plan: Plan, target: str, console: Console | None = None) -> None:
    """Print the plan for a reader."""
    console = console or terminal()
    paper = Paper(console.width, plain=console.options.ascii_only)
    told = planned(experiment, plan, target)
    console.print(paper.text(f"{experiment.name}: {experiment.question}", "bold"))
    console.print()
    named = f", {told['load']['name']}" if told["load"]["name"] else ""
    facts = [
        ("Engine", find_offer(target).text or find_offer(target).title),
        ("Load", f"{told['load']['kind']}{named}; at most {units.counted(told['sessions'], 'session')}"),
        ("Unit of work", experiment.unit),
        ("Settings", ", ".join(plan.combinations)),
        ("Baseline", f"{told['baseline']}{', twice in each block' if plan.design.null_pair else ''}"),
        ("Samples", f"{told['samples']} of {amount_text(plan)}, in {plan.design.blocks} blocks"),
        ("Time", f"about {units.clock(told['needed_s'])}"),
        ("Creates", "; ".join(told["creates"]) or "nothing"),
        ("Changes", ", ".join(told["changes"]) or "no parameter"),
        ("Afterwards", "everything created is removed, every parameter put back"),
        ("Disk", f"at most about {told['disk_bytes'] / 1e9:.1f} GB while it runs"),
        ("Seed", str(told["seed"])),
    ]
    used = consumes(plan, target)
    if used is not None:
        facts.insert(-1, ("Uses up", used.text))
    for line in paper.facts(facts):
        console.print(line)
    console.print()
    console.print(Text("Order", "bold"))
    for line in paper.facts([(f"  {n}", "  ".join(block)) for n, block in enumerate(told["order"], 1)]):
        console.print(line)


def _engine(target: str) -> str:
    return target.partition("://")[0]


_SERVER_WIDE = frozenset(GATHERING) - {"commit_delay", "commit_siblings"}
