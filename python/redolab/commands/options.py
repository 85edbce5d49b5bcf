"""Options of the commands, each with its help: those of `run`, and those that several take alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redolab.engine import engine_choices, watched_choices

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else.")]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FACTOR=VALUE", help="Ask about this value; may be given several times."),
]
Seed = Annotated[int | None, typer.Option(help="Of the random order, 0 to 2^64 - 1; drawn if not given.")]
Out = Annotated[Path | None, typer.Option(help="Run directory.", show_default="redolab-runs/...")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask before loading a server.")]
RunPath = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.", show_default=False)]

# Of `run`.
ExperimentName = Annotated[
    str | None, typer.Argument(help="What to run; see `redolab experiments`.", show_default=False)
]
ListFile = Annotated[
    Path | None,
    typer.Option("--list", metavar="FILE", help="An experiment of your own, from a TOML file."),
]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Tell what would be done, and do nothing.")]
EngineNames = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        metavar="[NAME=]ENGINE",
        help=f"{engine_choices()}; several are measured side by side.",
        show_default="the first that the experiment runs on",
    ),
]
AcrossTiers = Annotated[
    bool,
    typer.Option("--across-tiers", help="Compare servers also where their commits promise different things."),
]
Quick = Annotated[bool, typer.Option("--quick/--full", help="Two minutes, or the published length.")]
Sessions = Annotated[
    str | None, typer.Option(help="Working sessions; a list where their number is the question.")
]
Rows = Annotated[int | None, typer.Option(help="Rows of a sample, or of the table.")]
Client = Annotated[bool, typer.Option("--client", help="Also from a client: every statement a round trip.")]
LoadName = Annotated[
    str | None,
    typer.Option(
        help="hot: a small hot set. cpu: bound by the CPU. io: many pages, heavy on the log.",
        show_default="hot",
    ),
]
ScopeName = Annotated[
    str | None,
    typer.Option(
        help="Put settings in force per transaction, session, or system.",
        show_default="session where the engine has it",
    ),
]
Settings = Annotated[str | None, typer.Option(help="Only these settings, with commas between.")]
LogDeviceMs = Annotated[
    str | None,
    typer.Option(help="Emulate a log device with this flush time; REDO,BINLOG: a device for each log."),
]
Blocks = Annotated[int | None, typer.Option(help="Passes over all settings.")]
Seconds = Annotated[float | None, typer.Option(help="Length of a sample.")]

# Of `doctor`.
AskedEngine = Annotated[
    str | None,
    typer.Option("--engine", help=engine_choices(), show_default="every one of Redolab's own"),
]
AskedExperiment = Annotated[
    str | None,
    typer.Argument(
        metavar="EXPERIMENT", help="Ask about this one alone; exit 3 where it cannot run.", show_default=False
    ),
]

# Of `analyze`.
ValuesPath = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A CSV file, a run directory, or - for stdin.", show_default=False),
]
ValueColumn = Annotated[
    str | None, typer.Option("--value", help="The column of numbers.", show_default="the only one")
]
AgainstColumn = Annotated[
    str | None,
    typer.Option("--against", help="A column of numbers to take off, row by row: do the two differ?"),
]
GroupColumn = Annotated[
    str | None,
    typer.Option("--group", help="A column that names the group of each value: compare the groups."),
]
Children = Annotated[
    int | None,
    typer.Option(
        help="Cut the values in their order into so many groups, and look at their means.",
        show_default="as many as values in each",
    ),
]
ValuesPage = Annotated[Path | None, typer.Option(help="Also write a page with the histograms.")]

# Of `profile`.
WatchedUrl = Annotated[
    str,
    typer.Argument(metavar="URL", help=watched_choices(), show_default=False),
]
WatchedSeconds = Annotated[
    float | None,
    typer.Option(
        help="Watch so long and print; without it, a live screen on a terminal.", show_default="10 elsewhere"
    ),
]
WatchedSession = Annotated[
    int | None, typer.Option(help="Show this session alone, by the number that the server gives it.")
]

# Of `watch`.
WatchOut = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Run directory: a new one, or that of an earlier watch to go on with.",
        show_default="redolab-runs/...",
    ),
]
WatchSeconds = Annotated[float | None, typer.Option(help="Watch so long.", show_default="until Ctrl-C")]

# Of `import`.
ReportKind = Annotated[
    str, typer.Argument(metavar="KIND", help="awr, statspack or oracle-pack.", show_default=False)
]
ReportFiles = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Reports of one database.", show_default=False)
]

# Of `profile` and `forecast`.
PageFile = Annotated[
    Path | None, typer.Option("--page", metavar="FILE", help="Also write a page, one HTML file.")
]

# Of `explore` and `report`.
ExplorePage = Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write: one HTML file.")]
CostsOf = Annotated[
    Path | None,
    typer.Option(
        "--costs", metavar="RUN", help="Explore with the costs of this run.", show_default="its own"
    ),
]

# Of `report`.
Begins = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="TIME",
        help="Of a watch, from then on alone, beside the rest; a second --from and --to is compared instead.",
    ),
]
Ends = Annotated[
    list[str] | None,
    typer.Option(
        "--to", metavar="TIME", help="Of a watch, until then; 2026-11-24T16:30, 2026-11-24 or 16:30 UTC."
    ),
]

# Of `forecast`.
Sweep = Annotated[
    str | None,
    typer.Option(
        "--sweep",
        metavar="FACTOR=LEVELS",
        help="Forecast each level: sessions=1..128 (powers of two) or sessions=1,2,5.",
    ),
]
Elbow = Annotated[
    bool, typer.Option("--elbow", help="Ask for the fewest sessions that give 95 % of the best throughput.")
]
KeepP95Under = Annotated[
    float | None,
    typer.Option(
        "--keep-p95-under",
        metavar="MS",
        help="Ask for the largest arrival rate that keeps 95 % of the response times under so many ms.",
    ),
]
RowsFor = Annotated[
    float | None,
    typer.Option(
        "--rows-for",
        metavar="SHARE",
        help="Ask for the fewest rows per commit that bring this share of the benefit.",
    ),
]
Work = Annotated[
    int | None,
    typer.Option("--work", metavar="ROWS", help="Ask how long all sessions together take for so many rows."),
]

# Of `verify-forecast`.
CheckedSweep = Annotated[
    str | None,
    typer.Option(
        "--sweep", metavar="FACTOR=LEVELS", help="Check each level: sessions=1..64 or sessions=1,2,5."
    ),
]
CheckedEngine = Annotated[
    str | None,
    typer.Option("--engine", help="The server of RUN, where it was one of yours.", show_default="embedded"),
]
CheckedBlocks = Annotated[
    int | None, typer.Option("--blocks", help="Passes over all settings.", show_default="5")
]
CheckedSeconds = Annotated[
    float | None, typer.Option("--seconds", help="Length of a sample.", show_default="2")
]

# Of `league`.
Export = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write this machine's ledger to a file, to share it.")
]
TakeIn = Annotated[
    Path | None, typer.Option("--import", metavar="FILE", help="Take in the ledger of another machine.")
]
Forget = Annotated[bool, typer.Option("--forget", help="Remove everything that was imported before.")]
