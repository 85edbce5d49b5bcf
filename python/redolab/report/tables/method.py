"""How a run was made, as tables: order, machine, parameters, checks, instrument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from redolab import units
from redolab.analysis.statements.labels import joined
from redolab.report.tables import cells, wording
from redolab.report.tables.cells import Cell, Results, ShownColumn, ShownTable

_ACROSS = 6
"""Settings up to which each has a column of its own."""
_PRIORITIES = {True: "real time", False: "normal", None: cells.NOT_AVAILABLE}


def in_words(results: Results) -> str:
    """The design of the run in a few sentences."""
    design = results["method"].get("design", {})
    if not design:
        return ""
    pair = " and the baseline a second time, as the A/A pair" if design.get("null_pair") else ""
    sequential = design.get("at_most_s") is not None
    most = "At most " if sequential else ""
    text = (
        f"{most}{design['blocks']} blocks; each block measures every setting once in random order (seed "
        f"{design['seed']}){pair}. "
    )
    if results["method"].get("continued"):
        text += (
            f"The run was measured further from sample {results['method']['continued'][0]['sample']} on: it "
            f"has {blocks_measured(results)} blocks (passes over all settings). "
        )
    elif sequential:
        text += (
            f"The run ends as soon as {_enough(results)}, or after "
            f"{units.clock(design['at_most_s'])}: it has {blocks_measured(results)} blocks (passes over all "
            "settings). "
        )
    seconds, warmup = design["seconds"], design["warmup_s"]
    if any("kills" in setting for setting in results["settings"]):
        return text + f"Each kill comes after {seconds:g} s of load."
    length = (
        f"A sample is {cells.count(design['units'])} {wording.units(results)}"
        if design.get("units")
        else f"Samples last {lengths(results)}"
    )
    after = f" after {warmup:g} s of warm-up under the same setting" if warmup else ""
    return f"{text}{length}{after}."


def _enough(results: Results) -> str:
    """The clause that names what ends a run which ends as soon as it knows enough."""
    return "the recommended numbers are settled" if results.get("levels") else "every comparison is decided"


def blocks_measured(results: Results) -> int:
    """The blocks of which a sample was taken."""
    return max((entry["block"] for entry in results.get("timeline") or ()), default=0)


def lengths(results: Results) -> str:
    """How long the samples of the run are: one length, or the shortest and the longest."""
    seconds = results["load"]["seconds"]
    each = (results["method"].get("design", {}).get("lengths") or ())[: blocks_measured(results)] or [seconds]
    first, last = units.duration(min(each)), units.duration(max(each))
    return first if first == last else f"{first} to {last}"


def has_throughput(results: Results) -> bool:
    """Whether the samples of the run are known with their throughput."""
    return any(entry.get("throughput_per_s") is not None for entry in results.get("timeline") or ())


def mapping(results: Results) -> ShownTable:
    """The server parameters of each setting: a row per parameter, a column per setting."""
    entries = results["method"].get("mapping", ())
    scopes = {entry["parameter"]: entry["scope"] for entry in entries}
    values = {(entry["parameter"], entry["setting"]): str(entry["value"]) for entry in entries}
    named = list(dict.fromkeys(entry["setting"] for entry in entries))
    if len(named) <= _ACROSS:
        titles = ("Server parameter", *named, "Scope")
        rows = [
            [
                parameter,
                *(values.get((parameter, setting), "as found") for setting in named),
                scope,
            ]
            for parameter, scope in scopes.items()
        ]
    else:
        titles = ("Setting", "Server parameter", "Value", "Scope")
        rows = [[str(entry[key]) for key in ("setting", "parameter", "value", "scope")] for entry in entries]
    columns = tuple(ShownColumn(title, align="left") for title in titles)
    cells_of = [[Cell(text) for text in row] for row in rows]
    return ShownTable("mapping", "What each setting means for this server", columns, cells_of)


def tiers(results: Results) -> ShownTable:
    """The promise of a commit acknowledgement in each setting; one row where it is the same in all."""
    settings = results["settings"]
    promises = [(setting["name"], setting["tier"], setting.get("tier_text") or "") for setting in settings]
    if len(promises) > 1 and len({promise[1:] for promise in promises}) == 1:
        promises = [("every setting", *promises[0][1:])]
    rows = [[Cell(text) for text in promise] for promise in promises]
    columns = tuple(
        ShownColumn(name, align="left")
        for name in ("Setting", "Durability tier", "What an acknowledged commit survives")
    )
    return ShownTable("tiers", "Durability", columns, rows)


def timeline(results: Results) -> ShownTable:
    """Every sample in the order measured."""
    roles = {"baseline_a": "A", "baseline_b": "A′"}
    rows = [
        [
            Cell(str(entry["sample"])),
            Cell(str(entry["block"])),
            Cell(entry["setting"]),
            Cell(roles.get(entry["role"], "")),
            Cell(f"{entry['start_s']:.1f}"),
            Cell(f"{entry['elapsed_s']:.2f}"),
            Cell(cells.number(entry["throughput_per_s"], 4)),
            Cell(cells.number(_times(100, entry.get("cpu_use")))),
            Cell(cells.number(entry.get("run_queue"))),
            Cell(cells.count(entry["checkpoints"])),
            Cell(cells.count(entry["vacuums"])),
            Cell(entry["spoiled"] or ""),
        ]
        for entry in results["timeline"]
    ]
    columns = (
        ShownColumn("Sample"),
        ShownColumn("Block"),
        ShownColumn("Setting", align="left"),
        ShownColumn("A/A pair", align="left"),
        ShownColumn("Start", "s"),
        ShownColumn("Elapsed", "s"),
        ShownColumn(wording.units(results).capitalize(), "per s"),
        ShownColumn("CPU use", "%"),
        ShownColumn("Run queue", "processes"),
        ShownColumn("Checkpoints"),
        ShownColumn("Vacuums"),
        ShownColumn("Spoiled", align="left"),
    )
    return ShownTable("timeline", "Samples in the order measured", columns, rows)


def environment(results: Results) -> ShownTable:
    """Design, machine and server, as recorded."""
    method = results["method"]
    pairs = [
        ("run", results["run"]),
        ("redolab", method.get("redolab_version")),
        ("started", method.get("started_at")),
        ("finished", method.get("finished_at")),
        *_flat(results["engine"], "engine"),
        *_flat(results.get("load") or {}, "load"),
        *_flat(method.get("design", {}), "design"),
        *_flat(method.get("machine", {}), "machine"),
    ]
    rows = [[Cell(name.replace("_", " ")), cells.words(value)] for name, value in pairs]
    columns = (ShownColumn("What", align="left"), ShownColumn("As recorded", align="left"))
    return ShownTable("environment", "Design, machine and server", columns, rows)


def parameter_changes(results: Results) -> ShownTable:
    """Every parameter the run changed."""
    names = ("at", "setting", "parameter", "before", "after", "scope")
    rows = [
        [Cell(str(entry.get(name, ""))) for name in names]
        for entry in results["method"].get("parameter_changes", ())
    ]
    columns = tuple(
        ShownColumn(name, align="left")
        for name in ("Time (UTC)", "For setting", "Parameter", "Before", "After", "Scope")
    )
    return ShownTable("parameter-changes", "Parameters changed", columns, rows)


def diagnostics(results: Results) -> ShownTable:
    """Checks of the run, failed ones first."""
    order = ("failed", "warning", "passed", "not_available")
    entries = sorted(
        results.get("diagnostics") or (),
        key=lambda entry: order.index(entry["outcome"]) if entry["outcome"] in order else 0,
    )
    rows = [[cells.outcome(entry["outcome"]), Cell(entry["name"]), Cell(entry["text"])] for entry in entries]
    columns = tuple(ShownColumn(name, align="left") for name in ("Outcome", "Check", "What was seen"))
    return ShownTable("diagnostics", "What was checked", columns, rows)


def instrument(results: Results) -> ShownTable:
    """Work and cost of the instrument."""
    card = results["instrument"]
    pairs = (
        ("Wait events read from", "", cells.words(card.get("source"))),
        ("Sampling rate, while on", "readings/s", Cell(cells.number(card.get("rate_per_s")))),
        ("Time sampled", "s", Cell(cells.number(card.get("sampled_s")))),
        ("Readings of the server", "", Cell(cells.count(card.get("ticks")))),
        ("Late readings", "", Cell(cells.count(card.get("late")))),
        ("Lost readings", "", Cell(cells.count(card.get("lost")))),
        ("Looks at a process", "", Cell(cells.count(card.get("looks")))),
        ("Torn looks", "% of looks", _percent(card.get("torn_share"))),
        ("Priority", "", Cell(_PRIORITIES[card.get("realtime")])),
        ("CPU of the sampler", "s", Cell(cells.number(card.get("cpu_s")))),
        ("CPU of the sampler, while on", "% of one core", Cell(cells.number(card.get("cpu_pct_of_core")))),
        ("CPU per look", "µs", Cell(cells.number(card.get("cpu_per_look_us")))),
        ("Throughput with the sampler on", "ratio to off", _overhead(card)),
        ("On/off pairs behind it", "", Cell(cells.count(card.get("pairs")))),
    )
    rows = [[Cell(name), value, Cell(unit)] for name, unit, value in pairs]
    columns = (
        ShownColumn("Instrument", align="left"),
        ShownColumn("Figure"),
        ShownColumn("Unit", align="left"),
    )
    return ShownTable("instrument", "Instrument card", columns, rows, card.get("text") or "")


def commands(results: Results) -> str:
    """The commands that repeat the run in the same order and check this report."""
    again = results["method"].get("command") or f"redolab run {results['experiment']}"
    seed = results["method"].get("design", {}).get("seed")
    if "--seed" not in again and seed is not None:
        again = f"{again} --seed {seed}"
    run = results["run"]
    return f"{again}\nredolab report {run}\nredolab verify {run}"


def _overhead(card: Mapping[str, Any]) -> Cell:
    return cells.estimate(card["overhead"]) if card.get("overhead") else Cell("not measured")


def _times(factor: float, value: float | None) -> float | None:
    return None if value is None else factor * value


def _percent(share: float | None) -> Cell:
    return Cell(cells.number(_times(100, share)))


def _flat(value: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    for name, item in value.items():
        title = f"{prefix} {name}"
        if isinstance(item, Mapping):
            if {"point", "low", "high"} <= item.keys():
                yield title, cells.estimate(item).full
            else:
                yield from _flat(item, title)
        elif name.endswith("_bytes") and isinstance(item, int | float):
            yield title.removesuffix("_bytes"), units.size(item)
        elif isinstance(item, Sequence) and not isinstance(item, str):
            yield title, joined(map(str, item))
        else:
            yield title, item
