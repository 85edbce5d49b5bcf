"""Every connection to a database is opened in one place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import redolab
from tests.imports import drivers

ROOT = Path(redolab.__file__).parent
CRATES = ROOT.parents[1] / "crates"
# Where a connection may be opened, by the driver's name.
DOORS = {
    # The last begins one that leads nowhere: the client library tells its options of a connection alone.
    "psycopg": {
        f"engine/postgres/connecting/{name}.py" for name in ("connection", "limited", "effective_options")
    },
    # A connection of its own kind, which one module alone makes.
    "pymysql": {"engine/mariadb/connecting/client.py"},
    "oracledb": {"engine/oracle/connecting/connection.py"},
}
_OPENS = {"connect", "connect_start", "Connect", "Connection", "AsyncConnection", "PGconn"}


def openings(text: str) -> Iterator[str]:
    """The drivers whose connections this module opens, or could open under another name."""
    names: dict[str, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {
                alias.asname or alias.name.partition(".")[0]: alias.name.partition(".")[0]
                for alias in node.names
            }
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            driver = node.module.partition(".")[0]
            names |= {alias.asname or alias.name: driver for alias in node.names}
            if driver in DOORS and {alias.name for alias in node.names} & _OPENS:
                yield driver
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            parts = ast.unparse(node.func).split(".")
            driver = names.get(parts[0], "")
            if driver in DOORS and parts[-1] in _OPENS:
                yield driver
        # Whoever has a kind of its own, or another name for the driver's, opens by that.
        for other in getattr(node, "bases", []) if isinstance(node, ast.ClassDef) else []:
            parts = ast.unparse(other).partition("[")[0].split(".")
            driver = names.get(parts[0], "")
            if driver in DOORS and parts[-1] in _OPENS:
                yield driver


def test_no_other_module_opens_a_connection() -> None:
    found = {
        (driver, str(module.relative_to(ROOT)))
        for module in ROOT.rglob("*.py")
        for driver in openings(module.read_text())
    }
    assert {driver for driver, _ in found} == set(DOORS) == drivers(ROOT).keys()
    assert [(driver, module) for driver, module in found if module not in DOORS[driver]] == []


def test_what_opens_a_connection_is_recognised() -> None:
    for text in (
        "import psycopg\npsycopg.connect('')",
        "import psycopg as p\np.Connection.connect('')",
        "from psycopg import connect",
        "from psycopg import pq\npq.PGconn.connect(b'')",
        "def f():\n    import psycopg\n    return psycopg.AsyncConnection.connect('')",
    ):
        assert set(openings(text)) == {"psycopg"}
    assert set(openings("import pymysql\npymysql.connect()")) == {"pymysql"}
    assert set(openings("import pymysql\nclass A(pymysql.Connection[int]):\n    pass")) == {"pymysql"}
    assert set(openings("import oracledb\noracledb.connect()")) == {"oracledb"}
    assert set(openings("import psycopg\npsycopg.Error()")) == set()


def test_mysqls_own_kind_of_connection_is_made_in_one_module() -> None:
    kind = re.compile(r"\bimport .*\bClient\b|\bclient\.Client\b")
    users = {
        str(module.relative_to(ROOT)) for module in ROOT.rglob("*.py") if kind.search(module.read_text())
    }
    calls = {user for user in users if re.search(r"\bClient\(", (ROOT / user).read_text())}
    assert calls == {"engine/mariadb/connection.py"}


def rust(opens: str) -> set[str]:
    """The files of the crates in which this is found."""
    return {
        str(file.relative_to(CRATES))
        for file in CRATES.glob("*/src/**/*.rs")
        if re.search(opens, file.read_text())
    }


def test_the_compiled_client_opens_its_connections_in_one_file_for_each_protocol() -> None:
    assert rust(r"\bstartup_message\(") == {"redolab-load/src/wire/postgres/login.rs"}
    assert rust(r"\bTcpStream::connect\(") == {"redolab-load/src/wire/tcp.rs"}
    assert rust(r"\bUnixStream::connect\(") == {"redolab-load/src/wire/unix.rs"}
    opens = {f"redolab-load/src/wire/{name}.rs" for name in ("postgres", "mysql/connection")}
    assert rust(r"\b(tcp|unix)::connect\(") == opens
    assert rust(r"\bHandshakeResponse::new\(") == {"redolab-load/src/wire/mysql/login.rs"}
