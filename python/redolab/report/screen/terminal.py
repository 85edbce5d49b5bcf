"""The report in a terminal: the verdict first, made for 80 columns, readable without colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from redolab import units
from redolab.console import terminal
from redolab.dialect.row_names import row_name
from redolab.report.page import drawing
from redolab.report.screen import terminal_tables
from redolab.report.screen.fitting import fitted
from redolab.report.screen.paper import TONES, Paper
from redolab.report.screen.sweep import run_plot
from redolab.report.tables import (
    advice,
    care,
    cells,
    findings,
    naming,
    shown_tables,
    tables,
    time_tables,
    to_set,
    wording,
)
from redolab.report.tables.cells import Results
from redolab.report.tables.contents import has
from redolab.report.tables.rows import shares

_NAME = 24
"""Characters of a row's name before its bar."""


def print_terminal(results: Results, report: Path, console: Console | None = None) -> None:
    """Print a run's report; the path of its page comes last, on one line however long it is."""
    console = console or terminal()
    console.print(Screen(results))
    _print_place(report, console)


def print_figures(results: Results, console: Console | None = None) -> None:
    """Print a run's report as far as it goes without its advice."""
    (console or terminal()).print(Screen(results))


def print_rest(results: Results, report: Path, console: Console | None = None) -> None:
    """Print the advice after the figures, and the path of the page."""
    console = console or terminal()
    console.print(_Advice(results))
    _print_place(report, console)


def _print_place(report: Path, console: Console) -> None:
    console.print("Report", style="bold")
    console.print(Text(f"  {report}"), soft_wrap=True)


class Screen:
    """A run's report as something rich can print."""

    def __init__(self, results: Results) -> None:
        self._results = naming.labelled(results)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        yield from _Page(options.max_width, plain=options.ascii_only).report(self._results)


class _Advice(Screen):
    """A run's advice, as something rich can print."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        page = _Page(options.max_width, plain=options.ascii_only)
        yield from page.to_change(self._results)
        yield Text()


class _Page(Paper):
    """Builds the parts of a run's screen."""

    def report(self, results: Results) -> Iterator[RenderableType]:
        stamp = tables.emulation(results)
        yield from self._verdict(results)
        yield from self._null_test(results)
        yield from self._to_set(results)
        yield Text()
        yield from self.facts(tables.facts(results))
        for table in shown_tables.first(results):
            yield from self.table(fitted(table, self.width), stamp)
        if tables.has_rates(results):
            yield from self.table(fitted(terminal_tables.settings(results), self.width), stamp)
        if tables.comparisons_on(results, "throughput_per_s"):
            yield from self.table(fitted(terminal_tables.ratios(results), self.width), stamp)
        if lines := run_plot(results, self.width):
            yield Text()
            yield from map(self.text, lines)
        if has(results, "time"):
            few = len(results["settings"]) <= drawing.FEW
            yield from self._bars(results, stamp) if few else self._shares(results, stamp)
        yield from self.to_change(results)
        yield from self._findings(results)
        yield from self._cautions(results)

    def _verdict(self, results: Results) -> Iterator[RenderableType]:
        outcome = tables.outcome(results)
        first, rest = tables.verdict(results)
        yield self.text(first, "bold")
        if rest:
            yield self.text(rest)
        yield Text()
        line = Text("Outcome: ").append(outcome.text, TONES.get(outcome.tone, "bold"))
        yield line
        if any(unfinished := wording.unfinished(results)):
            yield self.text(" ".join(unfinished), "bold yellow")

    def _null_test(self, results: Results) -> Iterator[RenderableType]:
        text = tables.null_test(results)
        if text:
            failed = results["null_test"]["passed"] is False
            yield self.text(text, "bold red" if failed else "")

    def _to_set(self, results: Results) -> Iterator[RenderableType]:
        """The statements to type, each on a line of its own even on a narrow screen."""
        advised = to_set.recommended(results)
        if advised is None:
            return
        yield Text()
        yield self.text(advised.title, "bold")
        for sentence in advised.sentences:
            yield self.text(sentence)
        yield from self._ways(advised)

    def to_change(self, results: Results) -> Iterator[RenderableType]:
        """The advice in sentences, and the statements of what is shown to help."""
        yield from self.numbered("What to change", advice.sentences(results))
        for item in to_set.of_advice(results):
            yield Text()
            if not item.helps:
                yield self.text(
                    f"{item.title} That change is not shown to help, so its statements are only in the "
                    "report."
                )
                continue
            yield self.text(item.title, "bold")
            for sentence in item.sentences:
                yield self.text(sentence)
            yield from self._ways(item)

    def _ways(self, shown: to_set.Shown) -> Iterator[RenderableType]:
        """The first way to set parameters, and the names of the others."""
        for way in shown.ways[:1]:
            yield self.text(way.reach)
            if way.look:
                yield from self._code("To look first:", way.look)
            yield from self._code("To set it:", way.set)
            if way.undo:
                yield from self._code("To undo it:", way.undo)
        if shown.ways[1:]:
            yield self.text(f"{shown.more} (in the report).", "dim")

    def _code(self, title: str, lines: str) -> Iterator[RenderableType]:
        yield Text(title)
        yield Text(
            "\n".join(f"  {self.words(line)}" for line in lines.split("\n")), no_wrap=True, overflow="ignore"
        )

    def _bars(self, results: Results, stamp: str) -> Iterator[RenderableType]:
        unit = cells.time_unit(results)
        yield Text()
        title = self.text("Where the time goes, session scope", "bold")
        if stamp:
            title.append("  ").append_text(self.text(stamp, "bold yellow"))
        yield title
        longest = max(
            (setting["response_time_ms"]["point"] or 0.0 for setting in results["settings"]), default=0
        )
        for setting in results["settings"]:
            if not shares(setting):
                yield self.text(f"  {setting['name']}  not measured")
                continue
            response = cells.estimate(setting["response_time_ms"], unit.per_ms).text
            yield self.text(f"  {setting['name']}  {response} {wording.per_unit(results, unit)}")
            reach = (setting["response_time_ms"]["point"] or 0.0) / longest if longest else 0.0
            for row, share in terminal_tables.largest(setting, results):
                yield self._bar(row, share, reach)
        scale = "All bars have the same time scale. Rows under 1 % are in the report."
        for note in (*time_tables.unaccounted(results), scale):
            yield Padding(self.text(note, "dim"), (0, 0, 0, 2))

    def _shares(self, results: Results, stamp: str) -> Iterator[RenderableType]:
        yield from self.table(terminal_tables.shares_by_setting(results, self.width), stamp)
        for note in time_tables.unaccounted(results):
            yield Padding(self.text(note, "dim"), (0, 0, 0, 2))

    def _bar(self, row: str, share: float, reach: float) -> Text:
        """A row of a setting whose whole time reaches so far over the longest one's."""
        name = self.words(row_name(row))[:_NAME]
        line = Text(f"    {name:<{_NAME}} {self.words(units.percent(share).replace('-', '−')):>8}  ")
        length = max(0, round((self.width - _NAME - 19) * share * reach))
        return line.append(self.words("█" * length), TONES.get(row, TONES["wait"]))

    def _findings(self, results: Results) -> Iterator[RenderableType]:
        lines = [(item["agreement"], findings.in_words(item)) for item in results.get("published") or ()]
        if lines:
            yield Text()
            yield Text("Compared with the published figures", "bold")
            yield self._list(lines)

    def _cautions(self, results: Results) -> Iterator[RenderableType]:
        lines = care.read_with_care(results)
        yield Text()
        if lines:
            yield Text("Read with care", "bold")
            yield Group(self._list(lines), Text())

    def _list(self, lines: Sequence[tuple[str, str]]) -> Grid:
        grid = Grid.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1)
        for outcome, text in lines:
            grid.add_row(Text(f"  {outcome}", TONES.get(outcome.replace(" ", "_"), "")), self.text(text))
        return grid
