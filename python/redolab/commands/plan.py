"""The plan of a run, shown before anything is touched: `redolab run --plan`, and before a load."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.text import Text

from redolab import units
from redolab.console import terminal
from redolab.engine import find_offer
from redolab.experiment.base import Experiment, Plan
from redolab.experiment.side_by_side import part_of
from redolab.measure.consumption import NOT_WAITING_PER_S, WAITING_PER_S, Consumption, consumption
from redolab.records.design import Design
from redolab.records.servers import SIDE_BY_SIDE
from redolab.report.screen.paper import Paper

Servers = Mapping[str, str]
"""The value of `--engine` for each server of a run, by the server's name."""

# Set-up, snapshots, checkpoints and the report, seconds: part of the time that a run needs.
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
    first_s, last_s = design.length(1), design.seconds
    seconds = f"{first_s:g} s" if first_s == last_s else f"{first_s:g} s at first and {last_s:g} s at most"
    work = seconds if design.units is None else f"{design.units:,} units of work"
    return f"{work} after {design.warmup_s:g} s of warm-up" if design.warmup_s else work


def blocks_text(design: Design) -> str:
    """How many blocks there are, in words."""
    return f"{'at most ' if design.until_settled else ''}{design.blocks} blocks"


def time_text(experiment: Experiment, plan: Plan) -> str:
    """How long the run takes, in words."""
    if plan.design.at_most_s is None:
        return f"about {units.clock(needed_s(experiment, plan))}"
    return f"as long as something is undecided, and at most {units.clock(plan.design.at_most_s)} of measuring"


def changes(
    plan: Plan, servers: Servers, there: Mapping[str, Collection[str] | None] = MappingProxyType({})
) -> list[str]:
    """The servers' parameters that the run changes and puts back, each with how far that reaches.

    Args:
        plan: what is to be run.
        servers: the engines by name, as `--engine` names them.
        there: the parameters that a server turned out to have, where that is known.
    """
    levels, system = plan.combinations.values(), plan.load.scope == "system"
    brought = sorted({name for each in levels for name in plan.load.parameters(each)})
    found: dict[str, None] = {}
    for server, target in servers.items():
        offer = find_offer(target)
        known = there.get(server)
        of_commits = [name for name in offer.changes(target, levels) if known is None or name in known]
        for name in (*of_commits, *brought):
            wide = system or name in offer.server_wide
            found[f"{name} ({'whole server' if wide else 'its own sessions'})"] = None
    return list(found)


def planned(experiment: Experiment, plan: Plan, servers: Servers) -> dict[str, Any]:
    """The plan as `redolab run --plan --json` prints it."""
    design = plan.design
    engines = {name: target.partition("://")[0] for name, target in servers.items()}
    several = len(servers) > 1
    used = {name: _as_json(one) for name, one in consumes(plan, servers).items()}
    order: dict[int, list[str]] = {}
    for trial in design.order():
        order.setdefault(trial.block, []).append(trial.setting)
    return {
        "format": 1,
        "experiment": experiment.name,
        "question": experiment.question,
        "unit": experiment.unit,
        "engine": SIDE_BY_SIDE if several else next(iter(engines.values())),
        **({"servers": engines} if several else {}),
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
        "creates": creates(plan, servers),
        "changes": changes(plan, servers),
        "disk_bytes": disk_bytes(plan, servers),
        "consumes": used if several else next(iter(used.values()), None),
        "order": list(order.values()),
    }


def consumes(plan: Plan, servers: Servers) -> dict[str, Consumption]:
    """The most that the run uses up of each server that has transaction ids, by the server's name."""
    return {
        name: consumption(part.design, part.load, part.combinations)
        for name, target in servers.items()
        if find_offer(target).uses_up
        for part in (part_of(plan, name) if len(servers) > 1 else plan,)
    }


def _as_json(used: Consumption) -> dict[str, Any]:
    return {
        "transaction_ids": used.transaction_ids,
        "log_bytes": used.log_bytes,
        "commits_per_s": NOT_WAITING_PER_S,
        "waiting_commits_per_s": WAITING_PER_S,
    }


def creates(plan: Plan, servers: Servers) -> list[str]:
    """Objects that the run creates on the engine and removes again; for several servers, one text each."""
    found = []
    for name, target in servers.items():
        offer = find_offer(target)
        made = [*offer.makes, *plan.load.makes(plan.design.units, offer.within)]
        found += [f"{name}: {', '.join(made)}"] if len(servers) > 1 else made
    return found


def disk_bytes(plan: Plan, servers: Servers) -> int:
    """About how much disk Redolab's own servers need at most, bytes; of somebody's, that one."""
    private = sum("://" not in target for target in servers.values())
    return max(1, private) * plan.load.disk_bytes(plan.design.units)


def print_plan(
    experiment: Experiment,
    plan: Plan,
    servers: Servers,
    lacking: Sequence[str],
    console: Console | None = None,
) -> None:
    """Print the plan for a reader.

    Args:
        experiment: the question.
        plan: what would be measured.
        servers: on what.
        lacking: the settings that a server does not have, and why; one sentence each, without its full stop.
        console: where to; the terminal without one.
    """
    console = console or terminal()
    paper = Paper(console.width, plain=console.options.ascii_only)
    shown = planned(experiment, plan, servers)
    console.print(paper.text(f"{experiment.name}: {experiment.question}", "bold"))
    console.print()
    named = f", {shown['load']['name']}" if shown["load"]["name"] else ""
    facts = [
        *_engines(servers),
        ("Load", f"{shown['load']['kind']}{named}; at most {units.counted(shown['sessions'], 'session')}"),
        ("Unit of work", experiment.unit),
        ("Settings", ", ".join(plan.combinations)),
        *(("Not applicable", f"{text}.") for text in lacking),
        ("Baseline", f"{shown['baseline']}{', twice in each block' if plan.design.null_pair else ''}"),
        ("Samples", f"{shown['samples']} of {amount_text(plan)}, in {blocks_text(plan.design)}"),
        ("Time", time_text(experiment, plan)),
        ("Creates", "; ".join(shown["creates"]) or "nothing"),
        ("Changes", ", ".join(shown["changes"]) or "no parameter"),
        ("Afterwards", "everything created is removed, every parameter put back"),
        ("Disk", f"at most about {shown['disk_bytes'] / 1e9:.1f} GB while it runs"),
        ("Seed", str(shown["seed"])),
    ]
    if used := consumes(plan, servers):
        facts.insert(-1, ("Uses up", "; ".join(_on(name, servers) + one.text for name, one in used.items())))
    for line in paper.facts(facts):
        console.print(line)
    console.print()
    console.print(Text("Order", "bold"))
    for line in paper.facts([(f"  {n}", "  ".join(block)) for n, block in enumerate(shown["order"], 1)]):
        console.print(line)


def _engines(servers: Servers) -> list[tuple[str, str]]:
    offers = {name: find_offer(target) for name, target in servers.items()}
    if len(servers) == 1:
        return [("Engine", offer.text or offer.title) for offer in offers.values()]
    return [(f"Server {name}", offer.title) for name, offer in offers.items()]


def _on(name: str, servers: Servers) -> str:
    """The prefix of a text about one server, where there are several."""
    return f"{name}: " if len(servers) > 1 else ""
