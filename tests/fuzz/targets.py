"""A target for each reader of bytes from outside: takes any bytes, and raises nothing but `RedolabError`."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from redolab.commands.verify import verify
from redolab.engine.mariadb.connecting.login_path import login_path_options
from redolab.experiment.answers import analyse
from redolab.experiment.listed.file import read_list
from redolab.files.documents import parse_json, parse_toml
from redolab.files.tables import parse_table
from redolab.forecast.checks import ledger
from redolab.forecast.track_record import Score, Silence
from redolab.importers.layout import Kind
from redolab.importers.series import import_reports
from redolab.records.sample import Sample
from redolab.records.schema import schema
from redolab.records.sealed import FILE, canonical, seal
from redolab.report.page.html import render
from redolab.values.file import read_values
from tests.hostile.runs import make_runs
from tests.imported_reports import Silent
from tests.unit.engine.mariadb.test_login_path import WRITTEN
from tests.written_reports import awr_html, awr_miner, awr_text, statspack, truth
from tests.written_reports.pack import oracle_pack

_PSQL = b" n |  ms   \n---+-------\n 0 | 0.608\n 1 |      \n(2 rows)\n"
_EXPANDED = b"-[ RECORD 1 ]\nms | 0.608\n-[ RECORD 2 ]\nms | 1.5\n"
_HGRM = b" Value Percentile TotalCount 1/(1-Percentile)\n\n 1.0 0.0 2 1.00\n 2.0 1.0 3\n#[Mean = 1.3]\n"
_HLOG = (
    b"#[Histogram log format version 1.2]\n0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvs"
    b"PEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=\n"
)
_CSV = b'# a comment\nname;time\na;1,5\nb;\n"c;d";3e-3\n'
_LIST = Path(__file__).parents[2] / "python" / "redolab" / "experiment" / "listed" / "file.py"
_SCRIPTS = 4
"""Elements of that name in a page: its results, its figures, their libraries and its own."""
_LATER = [item.name for item in dataclasses.fields(Sample) if item.default is not dataclasses.MISSING]


@dataclass(frozen=True)
class Target:
    """One reader."""

    read: Callable[[bytes], object]
    seeds: Callable[[], tuple[bytes, ...]]
    """What it reads without an error, to start from."""


@functools.cache
def place() -> Path:
    """A directory of this process, which the ledger lies in too."""
    made = Path(tempfile.mkdtemp(prefix="redolab-fuzz-"))
    os.environ["XDG_DATA_HOME"] = str(made / "data")
    return made


def remove_place() -> None:
    """Remove it again."""
    shutil.rmtree(place())
    place.cache_clear()
    _runs.cache_clear()


@functools.cache
def _runs() -> Mapping[str, Path]:
    return make_runs(place() / "runs", ("verify-forecast",))


def _file(content: bytes, name: str) -> Path:
    path = place() / name
    path.write_bytes(content)
    return path


def _in_run(name: str) -> Target:
    """A whole run with one file of it replaced."""

    def read(content: bytes) -> object:
        run = _runs()["verify-forecast"]
        kept = (run / name).read_bytes()
        try:
            (run / name).write_bytes(content)
            return verify(run)
        finally:
            (run / name).write_bytes(kept)

    return Target(read, lambda: ((_runs()["verify-forecast"] / name).read_bytes(),))


def _ledger_lines() -> tuple[bytes, ...]:
    sealed = seal({"number": 1})
    score = Score("group commit, simulated", "single rows", "throughput_per_s", 100.0, 104.0, 90.0, 111.0)
    scored = {
        "kind": "scored", "format": 1, "sha256": sealed["sha256"], "scored_at": "2026-11-21T08:00:00+00:00",
        "scores": [dataclasses.asdict(score)],
        "silences": [dataclasses.asdict(Silence("USL", "single rows", "three numbers of sessions"))],
    }  # fmt: skip
    return (b"".join(canonical(line) + b"\n" for line in ({"kind": "sealed", **sealed}, scored)),)


def _import(content: bytes) -> object:
    ledger.import_ledger(_file(content, "shared.jsonl"))
    found = ledger.read_ledger()
    ledger.forget_imported()
    return found


def _report(kind: Kind, pages: Callable[[], tuple[str, ...]]) -> Target:
    """A report, imported, analysed and shown: no markup of it may reach the page."""

    def read(content: bytes) -> object:
        run = place() / "imported"
        shutil.rmtree(run, ignore_errors=True)
        results = analyse(import_reports([_file(content, "report")], kind, run, Silent(), "redolab import"))
        page = render(results)
        if page.count("<script") != _SCRIPTS or "<img" in page:
            raise AssertionError("markup of a report reached the page")
        return [results["settings"], results["tables"], results["warnings"]]

    return Target(read, lambda: tuple(page.encode() for page in pages()))


def _samples(content: bytes) -> object:
    return parse_table(content, "samples.parquet", schema(Sample), _LATER, 1_000_000, "")


def _login_paths(content: bytes) -> object:
    file = _file(content, ".mylogin.cnf")
    file.chmod(0o600)
    return login_path_options(None, file)


TARGETS: Mapping[str, Target] = {
    "json": Target(
        lambda content: parse_json(content, "a file"),
        lambda: (
            b'{"a": [1, -2.5e3, null, true, "\\u00e9"], "b": {"c": {}}}',
            _ledger_lines()[0].splitlines()[1],
        ),
    ),
    "toml": Target(
        lambda content: parse_toml(content.decode(errors="surrogateescape"), "a file"),
        lambda: (b'[a]\nb = [1, 2.5, "c"]\nd = { e = 2026-11-21 }\n', _list_text()),
    ),
    "login paths": Target(_login_paths, lambda: (WRITTEN, WRITTEN[:24])),
    "list": Target(lambda content: read_list(_file(content, "list.toml")), lambda: (_list_text(),)),
    "csv": Target(
        lambda content: read_values(str(_file(content, "values.csv"))),
        lambda: (_CSV, b"1\n2\n3\n", b"sep=;\nn;ms\n0;1.001,5\n1;3\n", _PSQL, _EXPANDED),
    ),
    "pgbench": Target(
        lambda content: read_values(str(_file(content, "pgbench_log.1"))),
        lambda: (b"0 0 3131 0 1499414498 750\n1 0 skipped 0 1499414498 1208\n",),
    ),
    "histogram": Target(
        lambda content: read_values(str(_file(content, "values.hlog"))), lambda: (_HLOG, _HGRM)
    ),
    "groups": Target(
        lambda content: read_values(str(_file(content, "values.csv")), "time", "name"), lambda: (_CSV,)
    ),
    "ledger": Target(_import, _ledger_lines),
    "parquet": Target(_samples, lambda: ((_runs()["verify-forecast"] / "samples.parquet").read_bytes(),)),
    "manifest": _in_run("manifest.json"),
    "sealed": _in_run(FILE),
    "results": _in_run("results.json"),
    "page": _in_run("report.html"),
    "waits": _in_run("waits.parquet"),
    "awr page": _report("awr", lambda: (awr_html(truth(), "19c"), awr_html(truth(), "11.2", tbody=True))),
    "awr text": _report("awr", lambda: (awr_text(truth(), "19c"), awr_text(truth(), "11.2", paged=True))),
    "awr miner": _report("awr", lambda: (awr_miner([truth()]),)),
    "oracle pack": _report("oracle-pack", lambda: (oracle_pack(truth()),)),
    "statspack": _report(
        "statspack", lambda: tuple(statspack(truth(), of) for of in ("9.2", "10.2", "11.2"))
    ),
}


def _list_text() -> bytes:
    text = _LIST.read_text().split('"""')[1]
    return text.split("\n\n", 1)[1].encode()
