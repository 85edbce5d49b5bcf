"""A forecast in the terminal: the answer first, made for 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.text import Text

from redolab.console import terminal
from redolab.report.screen.fitting import fitted
from redolab.report.screen.paper import Paper
from redolab.report.screen.plot import SweepPoint, plotted
from redolab.report.tables import forecast
from redolab.report.tables.cells import Results


def print_forecast(results: Results, console: Console | None = None) -> None:
    """Print the results object of `redolab forecast`."""
    console = console or terminal()
    console.print(ForecastScreen(results))


class ForecastScreen:
    """A forecast, as something rich can print."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        results, paper = self._results, Paper(options.max_width, plain=options.ascii_only)
        sentences = forecast.sentences(results)
        for sentence in sentences:
            yield paper.text(sentence, "bold")
        if sentences:
            yield Text()
        yield from paper.facts(forecast.facts(results))
        for table in forecast.tables(results):
            yield from paper.table(fitted(table, paper.width, "With --json too"))
        lines = sweep_plot(results, paper.width)
        if lines:
            yield Text()
            yield from map(paper.text, lines)
        care = forecast.cautions(results)
        if care:
            yield Text()
            yield Text("Read with care", "bold")
            yield from paper.facts([("  warning", text) for text in care])


def sweep_plot(results: Results, width: int) -> list[str]:
    """The sweep's throughput as lines of a plot, the fewest sessions with nearly all of the best marked."""
    sweep = forecast.swept(results)
    if sweep is None:
        return []
    points = [
        SweepPoint(label, *(said.get(end) for end in ("point", "low", "high")))
        for label, said in zip(sweep.labels, sweep.estimates, strict=True)
    ]
    mark = f"{100 * forecast.ENOUGH:g} % of the best"
    return plotted(points, f"{sweep.unit} over {sweep.factor}", width, sweep.enough, mark)
