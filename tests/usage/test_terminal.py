"""No text from outside commands the terminal, whatever way it comes."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import pty
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg
import pytest
from psycopg import sql

import redolab as package
from redolab.commands.league import league_now
from redolab.printable import printable
from redolab.report.page.html import render
from redolab.report.screen.league import print_league
from redolab.report.screen.live import LiveScreen
from redolab.report.screen.terminal import print_terminal
from tests.conftest import Redolab
from tests.report.fixtures import NAMES, stored
from tests.screens import profiles
from tests.screens.test_live import nothing_new
from tests.servers import PASSWORD, Server, command

EVIL = "ev\x1b[7;33;41mil\x1b]0;t\x07\x9b7m\x7f\u202egnp\r\u2028\u200f[bold]b[/] [link=http://x]y[/link]"
SEEN = r"ev\x1b[7;33;41mil\x1b]0;t\x07\x9b7m\x7f\u202egnp\r\u2028\u200f[bold]b[/] [link=http://x]y[/link]"
_COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def check(*texts: str) -> str:
    """Make sure that nothing in it is obeyed by a terminal; gives it without the places where lines break."""
    whole = "".join(texts)
    assert _COMMANDS.search(whole) is None, ascii(whole)
    return re.sub(r"\s+", "", whole)


def spread(results: Any, *names: str) -> Any:
    """Results in which some names are hostile."""
    text = json.dumps(results)
    for name in names:
        assert json.dumps(name) in text, name
        text = text.replace(json.dumps(name), json.dumps(f"{name} {EVIL}"))
    return json.loads(text)


def hostile(name: str) -> dict[str, Any]:
    """A run whose texts somebody else has chosen."""
    results = stored(name)
    results["verdict"]["text"] = f"{EVIL}. {EVIL}"
    results["warnings"] = [EVIL]
    results["run"] = EVIL
    for setting in results.get("settings") or ():
        setting["name"] = f"{setting['name']} {EVIL}"
    return results


def test_everything_a_terminal_obeys_is_written_out() -> None:
    assert printable(EVIL) == SEEN
    assert printable("\x00\t\r\x08\x85\xad\u061c\u200b\u2066\ufeff\ud800\U000e0041") == (
        r"\x00\t\r\x08\x85\xad\u061c\u200b\u2066\ufeff\ud800\U000e0041"
    )
    kept = "line\nTäst 測試 👩\u200d💻 می\u200cخواهم ± −"
    assert printable(kept) == kept
    for number in range(0x110000):
        if number != 10:
            assert _COMMANDS.search(printable(chr(number))) is None


def test_one_module_alone_writes_for_a_person() -> None:
    inside = Path(package.__file__).parent
    # The answers of one process to another.
    apart = {"console.py", "engine/machine/spinner.py"}
    for path in inside.rglob("*.py"):
        name = str(path.relative_to(inside))
        if name in apart:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            assert called not in {"print", "Console", "typer.echo"}, (name, called)
            assert not called.startswith(("sys.stdout.write", "sys.stderr.write")), (name, called)


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_run(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    print_terminal(hostile(name), Path(EVIL) / "report.html")
    shown = check(*capfd.readouterr())
    assert re.sub(r"\s", "", SEEN) in shown


def test_a_hostile_run_on_the_page() -> None:
    results = stored("log_bound")
    results["run"] = EVIL
    results["verdict"]["text"] = "</script><script>alert(1)</script>"
    results["warnings"] = ["<img src=x onerror=alert(1)>"]
    page = render(results)
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page


def test_a_line_of_another_machines_league(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    print_league(spread(league_now(), "M/M/1", "Erlang C"))
    seen = check(*capfd.readouterr())
    # A name is broken into lines between which the figures of its row lie, and no figure is cut.
    assert re.sub(r"\s", "", SEEN)[:14] in seen
    assert "108238.3" in seen


def test_a_column_of_a_file(redolab: Redolab, tmp_path: Path) -> None:
    column = EVIL.replace("\r", "").replace("\u2028", "").replace(";", ":")
    file = tmp_path / "a.csv"
    rows = "\n".join(f"{value % 7},{column}{value % 2}" for value in range(60))
    file.write_text(f"{column},g\n{rows}\n")
    done = redolab("analyze", file, "--value", column, "--group", "g")
    assert done.code == 0, done.err
    assert r"\x1b[7:33:41mil" in check(done.out, done.err)
    refused = redolab("analyze", file, "--value", f"no {EVIL}")
    assert refused.code == 2
    check(refused.out, refused.err)
    told = redolab("analyze", file, "--value", column, "--json")
    assert told.code == 0
    check(told.out)


def test_a_question_of_a_list_file(redolab: Redolab, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    evil = json.dumps(EVIL).replace("\x7f", "\\u007f")
    file.write_text(
        f'name = {evil}\nquestion = {evil}\nunit = {evil}\nfactors.a = ["1", {evil.replace("/", "")}]\n'
        f'sql.unit = "select 1"\nlevels.a.1.parameters = {{ {evil} = "x" }}\n'
    )
    done = redolab("run", "--list", file, "--plan")
    assert done.code == 0, done.err
    assert r"\x1b[7;33;41mil" in check(done.out, done.err)
    file.write_text(f"factors.{evil} = [1, 2]\nsql.unit = 'x'\n")
    refused = redolab("run", "--list", file, "--plan")
    assert refused.code == 2
    assert r"\x1b[7;33;41mil" in check(refused.out, refused.err)


@pytest.mark.parametrize(
    "arguments",
    [
        [EVIL], ["run", EVIL], ["run", f"--{EVIL}"], ["run", "commit-mode", EVIL], ["run", "--rows", EVIL],
        ["run", "commit-mode", "--engine", EVIL], ["run", "commit-mode", "--settings", EVIL],
        ["profile", EVIL], ["report", EVIL], ["verify", EVIL], ["forecast", EVIL, "--set", f"{EVIL}=1"],
        ["run", "commit-mode", "--scope", EVIL], ["league", "--import", EVIL],
        ["profile", f"postgresql://u@h/db?{EVIL}=1", "--seconds", "1"],
    ],
)  # fmt: skip
def test_an_argument_that_is_echoed(arguments: list[str], redolab: Redolab) -> None:
    done = redolab(*arguments)
    assert done.code == 2
    check(done.out, done.err)


def test_a_role_of_a_watched_server(newest: Server, url: str, database: str, redolab: Redolab) -> None:
    role = EVIL[:40]
    newest.role(role)
    try:
        busy = psycopg.connect(
            host="127.0.0.1", port=newest.port, user=role, dbname=database, password=PASSWORD, autocommit=True
        )
        ended = Event()

        def work() -> None:
            while not ended.is_set():
                busy.execute("select count(*) from generate_series(1, 20000)")

        worker = Thread(target=work)
        worker.start()
        try:
            done = redolab("profile", url, "--seconds", "1")
        finally:
            ended.set()
            worker.join()
            busy.close()
        assert done.code == 0, done.err
        assert r"ev\x1b[7;33;41mil" in check(done.out, done.err)
    finally:
        with newest.admin() as admin:
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def test_what_a_database_says_ends_a_run(
    newest: Server, url: str, database: str, redolab: Redolab, tmp_path: Path
) -> None:
    with newest.admin(database) as admin:
        admin.execute(
            sql.SQL(
                "create function public.say() returns event_trigger language plpgsql as "
                "$$ begin raise exception {}; end $$"
            ).format(sql.Literal("%") + sql.SQL(", ") + sql.Literal(EVIL))
        )
        admin.execute(
            b"create event trigger say on ddl_command_end when tag in ('CREATE TABLE') "
            b"execute function public.say()"
        )
    done = redolab(
        "run", "commit-mode", "--engine", url, "--yes", "--quick", "--blocks", "2", "--seconds", "0.1",
        "--sessions", "2", "--out", tmp_path / "run",
    )  # fmt: skip
    assert done.code == 3
    assert r"ev\x1b[7;33;41mil" in check(done.out, done.err)


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port behind which something else than a database answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        ended = Event()

        def serve() -> None:
            while not ended.is_set():
                try:
                    connection, _ = listening.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(5)
                    answer(connection)

        server = Thread(target=serve)
        server.start()
        try:
            yield listening.getsockname()[1]
        finally:
            ended.set()
            server.join()


def _refuse_postgres(connection: socket.socket) -> None:
    while (asked := connection.recv(8192))[4:8] in (b"\x04\xd2\x16\x2f", b"\x04\xd2\x16\x30"):
        connection.sendall(b"N")
    assert asked
    fields = b"SFATAL\0VFATAL\0C28000\0M" + EVIL.encode() + b"\0\0"
    connection.sendall(b"E" + struct.pack("!i", len(fields) + 4) + fields)


def _refuse_mysql(connection: socket.socket) -> None:
    body = b"\xff" + struct.pack("<H", 1130) + EVIL.encode()
    connection.sendall(struct.pack("<I", len(body))[:3] + b"\0" + body)


@pytest.mark.parametrize(("scheme", "answer"), [("postgresql", _refuse_postgres), ("mysql", _refuse_mysql)])
def test_a_server_before_anybody_has_logged_in(
    scheme: str, answer: Callable[[socket.socket], None], redolab: Redolab
) -> None:
    with answering(answer) as port:
        done = redolab("profile", f"{scheme}://u@127.0.0.1:{port}/", "--seconds", "1")
    assert done.code == 3
    assert r"ev\x1b[7;33;41mil" in check(done.out, done.err)
    assert done.out == ""


def test_on_a_terminal_nothing_but_colours_is_sent(tmp_path: Path) -> None:
    """What rich sends to a terminal are colours, and no text adds anything to it."""
    (tmp_path / "results.json").write_text(json.dumps(hostile("log_bound")))
    program = (
        "import json, sys; from pathlib import Path\n"
        "from redolab.report.screen.terminal import print_terminal\n"
        "from redolab.console import say\n"
        "print_terminal(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[1]))\n"
        "say(json.loads(Path(sys.argv[1]).read_text())['run'])"
    )
    sent = _on_a_terminal([sys.executable, "-c", program, str(tmp_path / "results.json")])
    assert "\x1b[1m" in sent
    check(re.sub("\x1b\\[[0-9;]*m", "", sent).replace("\r\n", "\n"))
    for part in ("\x1b[7;33;41m", "\x1b]", "http://x\x1b"):
        assert part not in sent
    sent = _on_a_terminal(command("run", EVIL))
    check(re.sub("\x1b\\[[0-9;]*m", "", sent).replace("\r\n", "\n"))
    assert "\x1b[7;33;41m" not in sent


def test_the_bar_of_a_run_shows_the_name_of_a_setting_as_text(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'factors.a = ["one", "ev\\u001b[7;33;41mil[link=x]y"]\nsql.unit = "select 1"\n'
        "run = { sessions = 1, seconds = 0.1, blocks = 2 }\n"
    )
    arguments = command("run", "--list", file, "--quick", "--out", tmp_path / "run")
    sent = _on_a_terminal(arguments)
    assert "measuring" in sent or "preparing" in sent
    assert "\x1b[7;33;41m" not in sent
    assert "\x1b]8" not in sent
    assert (tmp_path / "run" / "report.html").exists(), sent


def _on_a_terminal(arguments: list[str]) -> str:
    """What a command sends to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40"}
    with subprocess.Popen(
        arguments, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    ):
        os.close(theirs)
        sent = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            sent += part
    os.close(ours)
    return sent.decode()


def test_the_live_screen() -> None:
    results = spread(profiles.busy(), *_names(profiles.busy()))
    screen = LiveScreen(nothing_new, None)

    async def look() -> str:
        shown = ""
        async with screen.run_test(size=(200, 60)) as pilot:
            screen.post_message(LiveScreen.Changed(results))
            await pilot.pause()
            for key in ("1", "2", "enter", "escape", "3", "4", "5"):
                await pilot.press(key)
                await pilot.pause()
                shown += "\n".join(strip.text for strip in screen.screen._compositor.render_strips())
        return shown

    try:
        assert r"ev\x1b[7;33;41mil" in check(asyncio.run(look()))
    finally:
        screen.end_reading()


def _names(results: dict[str, Any]) -> set[str]:
    """What others have named in a live profile."""
    return {item[key] for item in results["sessions"] for key in ("user", "application") if item[key]}
