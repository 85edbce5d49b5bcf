"""The report in a terminal: the verdict first, made for 80 columns, readable without colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from redolab import units
from redolab.report import cells, durability, tables, time_tables
from redolab.report.cells import Cell, Column, Results, Table
from redolab.report.paper import TONES, Paper
from redolab.report.rows import profile_rows, row_name, shares

_SHOWN_SHARE = 0.01
_SHOWN_ROWS = 5


def print_terminal(results: Results, report: Path, console: Console | None = None) -> None:
    """Print a run's report; the path of its page comes last, on one line however long it is."""
    console = console or Console(highlight=False)
    console.print(Screen(results))
    console.print("Report", style="bold")
    console.print(Text(f"  {report}"), soft_wrap=True)


class Screen:
    """A run's report as something rich can print."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        page = _Page(options.max_width, plain=options.ascii_only)
        if self._results["experiment"] == "durability":
            yield from page.durability(self._results)
        else:
            yield from page.commits(self._results)


class _Page(Paper):
    """Builds the parts of a run's screen."""

    def commits(self, results: Results) -> Iterator[RenderableType]:
        yield from self._verdict(results, cells.outcome(results["verdict"]["outcome"]))
        failed = results["null_test"]["passed"] is False
        yield self.text(tables.null_test(results), "bold red" if failed else "")
        yield Text()
        yield from self.facts(tables.facts(results))
        yield from self.table(_settings(results), _stamp(results))
        yield from self.table(_ratios(results), _stamp(results))
        yield from self._time(results)
        yield from self._cautions(results)

    def durability(self, results: Results) -> Iterator[RenderableType]:
        yield from self._verdict(results, durability.outcome(results))
        yield Text()
        yield from self.facts(durability.facts(results))
        yield from self.table(_losses(results), _stamp(results))
        yield from self._cautions(results)

    def _verdict(self, results: Results, outcome: Cell) -> Iterator[RenderableType]:
        first, rest = tables.verdict(results)
        yield self.text(first, "bold")
        if rest:
            yield self.text(rest)
        yield Text()
        line = Text("Outcome: ").append(outcome.text, TONES.get(outcome.tone, "bold"))
        yield line
        if results["status"] != "finished":
            note = f"The run was {results['status']}; this is what was measured until then."
            yield self.text(note, "bold yellow")

    def _time(self, results: Results) -> Iterator[RenderableType]:
        unit = cells.time_unit(results)
        yield Text()
        title = self.text("Where the time goes, session scope", "bold")
        if _stamp(results):
            title.append("  ").append_text(self.text(_stamp(results), "bold yellow"))
        yield title
        for setting in results["settings"]:
            if not shares(setting):
                yield self.text(f"  {setting['name']}  not measured")
                continue
            response = cells.estimate(setting["response_time_ms"], unit.per_ms).text
            yield self.text(f"  {setting['name']}  {response} {unit.name} per commit")
            shown = _largest(shares(setting), profile_rows(results))
            for row, share in shown:
                yield self._bar(row, share)
        for note in (*time_tables.unaccounted(results), "Rows under 1 % stand in the report."):
            yield Padding(self.text(note, "dim"), (0, 0, 0, 2))

    def _bar(self, row: str, share: float) -> Text:
        name = self.words(row_name(row))[:21]
        line = Text(f"    {name:<21} {self.words(units.percent(share).replace('-', '−')):>8}  ")
        length = max(0, round((self.width - 40) * share))
        return line.append(self.words("█" * length), TONES.get(row, TONES["wait"]))

    def _cautions(self, results: Results) -> Iterator[RenderableType]:
        wrong = [item for item in results["diagnostics"] if item["outcome"] in ("failed", "warning")]
        lines = [(item["outcome"], f"{item['name']}: {item['text']}") for item in wrong]
        lines += [("warning", text) for text in results["warnings"]]
        yield Text()
        if not lines:
            return
        yield Text("Read with care", "bold")
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1)
        for outcome, text in lines:
            grid.add_row(Text(f"  {outcome}", TONES[outcome]), self.text(text))
        yield Group(grid, Text())


def _stamp(results: Results) -> str:
    return tables.emulation(results)


def _settings(results: Results) -> Table:
    unit = cells.time_unit(results)

    def time(value_ms: float | None) -> Cell:
        return Cell(cells.number(unit.of(value_ms)))

    rows = [
        [
            Cell(setting["name"]),
            Cell(setting["tier"]),
            Cell(cells.number(setting["throughput_per_s"]["point"])),
            time(setting["service_time_ms"]["point"]),
            time(setting["queue_time_ms"]["point"]),
            time(setting["response_time_ms"]["point"]),
        ]
        for setting in results["settings"]
    ]
    columns = (
        Column("Setting", align="left"),
        Column("Tier", align="left"),
        Column("Commits", "per s"),
        Column("CPU", f"{unit.name}/commit"),
        Column("Wait", f"{unit.name}/commit"),
        Column("R", f"{unit.name}/commit"),
    )
    return Table("settings", "Settings", columns, rows, "Wait contains the time in the run queue.")


def _ratios(results: Results) -> Table:
    rows = []
    unsettled = []
    for setting in results["settings"]:
        entry = tables.comparison(results, setting["name"], "throughput_per_s")
        if entry is None:
            continue
        ratio = cells.estimate(entry["ratio"], suffix="×")
        rows.append(
            [
                Cell(setting["name"]),
                Cell(ratio.text),
                Cell(ratio.interval),
                cells.pvalue(entry["pvalue_adjusted"]),
                cells.outcome(entry["outcome"]),
            ]
        )
        if entry.get("blocks_needed"):
            unsettled.append(f"{setting['name']}: {tables.blocks_needed(entry)} would settle it.")
    columns = (
        Column("Setting", align="left"),
        Column("Ratio"),
        Column("Interval"),
        Column("p, adjusted"),
        Column("Outcome", align="left"),
    )
    caption = f"Commits/s against {tables.baseline(results)}"
    return Table("ratios", caption, columns, rows, " ".join(unsettled))


def _losses(results: Results) -> Table:
    table = durability.losses(results)
    titles = {
        "Setting": "Setting",
        "Durability tier": "Tier",
        "Kills": "Kills",
        "Acknowledged": "Acknowledged",
        "Missing": "Missing",
        "Oldest missing": "Window",
        "Promise": "Promise",
    }
    places = [place for place, column in enumerate(table.columns) if column.title in titles]
    columns = [
        Column(titles[table.columns[place].title], align=table.columns[place].align) for place in places
    ]
    rows = [[row[place] for place in places] for row in table.rows]
    note = "Window: how long before the kill the oldest missing commit was acknowledged."
    return Table(table.key, table.caption, columns, rows, note)


def _largest(shares: Mapping[str, Mapping[str, Any]], order: Sequence[str]) -> list[tuple[str, float]]:
    known = {row: share["point"] for row, share in shares.items() if share["point"] is not None}
    big = [row for row in known if abs(known[row]) >= _SHOWN_SHARE and row != "unaccounted"]
    kept = sorted(big, key=lambda row: -abs(known[row]))[:_SHOWN_ROWS]
    kept += [row for row in ("unaccounted",) if row in known]
    return [(row, known[row]) for row in order if row in kept]
