"""Every question on every engine that it can be put to, in its smallest form; why it cannot on the others."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from redolab import open_run
from redolab.commands.experiments import QUESTIONS, pairs
from redolab.engine import OFFERS
from redolab.engine.oracle.observer import reading
from redolab.experiment import EXPERIMENTS
from redolab.url_secrets import ORACLE_PASSWORD
from tests.conftest import Redolab
from tests.mariadb import running_mariadb
from tests.oracle.instance import COSTS, Instance
from tests.oracle.replay import replayed
from tests.server_programs import first_on_path
from tests.servers import Ended, Server, wait_until

_CANNOT = Path(__file__).parent / "cannot.toml"
_LIST = """
factors.value = ["1", "2"]
sql.unit = "select :'value'"
"""
SHORT = ("--blocks", "2", "--seconds", "0.2")
# Each as small as it can be and still end in a verdict.
SMALLEST = {
    "commit-mode": (*SHORT, "--settings", "wait/immediate,nowait/batch", "--sessions", "2"),
    "durability": ("--blocks", "2", "--seconds", "0.3", "--settings", "wait/immediate,nowait/batch"),
    "rows-per-commit": ("--blocks", "2", "--rows", "320", "--settings", "1,32"),
    "session-count": (*SHORT, "--sessions", "1,2"),
    "commit-scaling": (*SHORT, "--sessions", "1,2"),
    "response-curve": (*SHORT, "--settings", "2/1/wait"),
    "cpu-capacity": SHORT,
    "consistent-read": (
        "--blocks", "2", "--seconds", "0.01", "--rows", "3600", "--settings", "0,2",
    ),
    "sampling-distribution": ("--blocks", "2"),
    "calibrate": (*SHORT, "--sessions", "2"),
    "--list FILE": (*SHORT, "--sessions", "1"),
    "verify-forecast": (*SHORT, "--set", "sessions=3"),
    "profile": ("--seconds", "0.5"),
}  # fmt: skip
WORKS = [(pair.question, pair.offer.name) for pair in pairs() if pair.why_not is None]


def some_of(works: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Pairs with every question and every engine in them, few of them: for each question the engine that the
    fewest so far were of.
    """
    chosen: list[tuple[str, str]] = []
    for question in dict.fromkeys(question for question, _ in works):
        of = Counter(engine for _, engine in chosen)
        chosen.append(min((pair for pair in works if pair[0] == question), key=lambda pair: of[pair[1]]))
    return set(chosen)


# What a stored run says is computed without its engine: it is computed a second time for so many alone.
VERIFIED = some_of([(question, engine) for question, engine in WORKS if question != "profile"])

IN_CLIENT = {question for question, needs in QUESTIONS.items() if "client_sessions" in needs}

Target = Callable[[str, str], str]


@pytest.fixture(scope="module")
def calibrated() -> Iterator[dict[str, Path]]:
    """A calibration of each engine that was asked for one: what forecasts start from."""
    made: dict[str, Path] = {}
    yield made
    for place in made.values():
        shutil.rmtree(place.parent)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where private servers live and what outlives a run is kept; nothing is left there."""
    # The path of a socket may be no longer than 107 bytes.
    made = Path(tempfile.mkdtemp(prefix="redolab-pair-"))
    made.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(made / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(made / "data"))
    yield made
    left = list((made / "cache").rglob("*"))
    assert {path.name for path in left} <= {"redolab", "servers", "lock"}
    wait_until(lambda: not named_in_processes(made), "every process of the run ends")
    shutil.rmtree(made)


@pytest.fixture
def target(newest: Server, url: str, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    """What `--engine` says for an engine; somebody's servers are left as they were.

    Where MySQL cannot be had the test says so.
    """
    settings, altered = newest.settings(), newest.altered()
    with ExitStack() as stack:

        def named(engine: str, question: str) -> str:
            if engine == "mysql":
                monkeypatch.setenv("PATH", first_on_path("mysql 9.7"))
            if engine == "mysql://":
                there = Path(tempfile.mkdtemp(prefix="redolab-mariadb-"))
                stack.callback(shutil.rmtree, there)
                server = running_mariadb(there / "server", "--log-bin=binlog")
                return stack.enter_context(server).url
            if engine == "oracle":
                return oracle(stack, monkeypatch, live=question in IN_CLIENT)
            return url if engine == "postgresql" else engine

        yield named
    newest.assert_left_clean(database)
    assert (newest.settings(), newest.altered()) == (settings, altered)


def oracle(stack: ExitStack, monkeypatch: pytest.MonkeyPatch, *, live: bool) -> str:
    """The URL of a replayed Oracle: there is none other. For clients its time is everybody's."""
    instance = Instance(2103)
    instance.live, instance.costs = live, dict(COSTS)
    monkeypatch.setenv(ORACLE_PASSWORD, instance.password)
    if not live:
        # What its sessions are told to spend takes no time of ours.
        monkeypatch.setattr(reading, "monotonic", lambda: instance.now() + time.monotonic())
    return stack.enter_context(replayed(instance)).url


def named_in_processes(place: Path) -> list[str]:
    """The servers with the place in their command line, and the guards with it in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "cmdline").read_bytes()
            if b"redolab.engine" in text:
                text += (process / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(place) in text:
            found.append(process.name)
    return found


def asked(question: str, target: str, place: Path, calibrated: Path | None) -> list[str | Path]:
    """The words of the command line."""
    out = ("--json", "--out", place / "run")
    if question == "profile":
        return ["profile", target, *SMALLEST[question], "--json"]
    if question == "verify-forecast":
        assert calibrated is not None
        engine = ("--engine", target, "--yes") if "://" in target else ()
        return [question, calibrated, *SMALLEST[question], *engine, *out]
    name: tuple[str | Path, ...] = (question,)
    if question == "--list FILE":
        file = place / "mine.toml"
        file.write_text(_LIST)
        name = ("--list", file)
    return ["run", *name, "--quick", *SMALLEST[question], "--engine", target, "--yes", *out]


@pytest.mark.parametrize(("question", "engine"), WORKS)
def test_a_pair_works(
    question: str,
    engine: str,
    place: Path,
    target: Target,
    redolab: Redolab,
    calibrated: dict[str, Path],
) -> None:
    named = target(engine, question)
    if question == "verify-forecast" and engine not in calibrated:
        done = redolab(*asked("calibrate", named, place, None))
        assert done.code == 0, done.err
        keep(place, engine, calibrated)
    done = redolab(*asked(question, named, place, calibrated.get(engine)))
    results = said(done)
    if question == "profile":
        assert results["instance"]
        assert results["instrument"]
        return
    # By a URL the server says itself which of the family it is.
    assert results["engine"]["name"] == {"mysql://": "mariadb"}.get(engine, engine)
    verdict = results["verdict"]["text"]
    assert verdict.endswith(".")
    assert len(verdict.split()) > 5
    run = open_run(place / "run")
    assert run.manifest["status"] == "finished"
    assert run.samples.num_rows == len(run.manifest["order"])
    counted = {sample["setting"] for sample in run.samples.to_pylist() if sample["spoiled"] is None}
    assert counted == {setting["name"] for setting in run.manifest["settings"]}
    if question in EXPERIMENTS:
        assert results["unit"] == EXPERIMENTS[question].unit
    assert (place / "run" / "report.html").stat().st_size > 10_000
    if (question, engine) in VERIFIED:
        verified = redolab("verify", place / "run")
        assert verified.code == 0, verified.err
    if question == "calibrate":
        keep(place, engine, calibrated)
    if question == "consistent-read":
        assert verdict.count(" with 2 rounds of uncommitted updates, a scan takes ") == 1


def said(done: Ended) -> dict[str, Any]:
    """The results object of a command that did what it was asked for."""
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def keep(place: Path, engine: str, calibrated: dict[str, Path]) -> None:
    """Take the run out of a place that is about to be removed."""
    calibrated[engine] = Path(tempfile.mkdtemp(prefix="redolab-calibrated-")) / "run"
    shutil.move(place / "run", calibrated[engine])


def test_the_file_says_why_each_of_the_others_cannot_be() -> None:
    told = {
        (question, engine): why
        for engine, reasons in tomllib.loads(_CANNOT.read_text()).items()
        for why, questions in reasons.items()
        for question in questions
    }
    assert told == {(pair.question, pair.offer.name): pair.why_not for pair in pairs() if pair.why_not}
    assert told.keys() | set(WORKS) == {(question, offer.name) for question in QUESTIONS for offer in OFFERS}


def test_a_run_of_every_question_and_of_every_engine_is_verified() -> None:
    assert {question for question, _ in VERIFIED} == QUESTIONS.keys() - {"profile"}
    assert {engine for _, engine in VERIFIED} == {
        engine for question, engine in WORKS if question != "profile"
    }


def test_every_question_has_a_smallest_form() -> None:
    assert SMALLEST.keys() == QUESTIONS.keys()
