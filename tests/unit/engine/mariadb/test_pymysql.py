"""What Redolab relies on inside pymysql: whoever takes another version sees here what it changes."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import pymysql
from pymysql import connections
from pymysql.cursors import DictCursor

from redolab.engine.mariadb.answers import Row, RowCursor
from redolab.engine.mariadb.connecting.client import Client
from redolab.engine.mariadb.connecting.log_ins import LogIns

OVERRIDDEN = {
    "__init__", "connect", "_execute_command", "_read_query_result", "_read_ok_packet", "_read_packet",
    "_read_bytes",
}  # fmt: skip


# The stubs leave out what is inside.
Connection: Any = connections.Connection


def calls(function: Any) -> set[str]:
    """What a function of pymysql calls and reads of its connection."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    }


def test_what_is_overridden_is_there() -> None:
    own = {name for name, found in vars(Client).items() if inspect.isfunction(found)}
    assert own & set(dir(Connection)) == OVERRIDDEN


def test_every_byte_is_read_in_one_place() -> None:
    readers = {
        name
        for name, found in vars(Connection).items()
        if inspect.isfunction(found) and "_rfile" in calls(found) and ".read(" in inspect.getsource(found)
    }
    assert readers == {"_read_bytes"}
    callers = {
        name
        for name, found in vars(Connection).items()
        if inspect.isfunction(found) and "_read_bytes" in calls(found)
    }
    assert callers == {"_read_packet"}
    source = inspect.getsource(inspect.getmodule(Connection) or Connection)
    assert source.count(".recv(") == 0
    assert source.count("_rfile.read(") == 1


def test_every_log_in_is_done_by_redolabs_own() -> None:
    source = inspect.getsource(Connection._request_authentication)
    # Each turn of the log-in asks for who does it, and pymysql's own stand behind that.
    assert source.count("_get_auth_plugin_handler(") == 2
    assert source.count("_process_auth(") == 1
    assert (
        "if auth_plugin_handler:\n                    auth_packet = auth_plugin_handler.authenticate"
        in source
    )
    process = inspect.getsource(Connection._process_auth)
    assert process.index("handler.authenticate(auth_packet)") < process.index("_auth.")
    assert "received multiple auth switch requests" in source
    made: Any = Client.__new__(Client)
    made._auth_plugin_map = LogIns()
    for plugin in (b"mysql_native_password", b"dialog", b"\xff\xfe", "", b"mysql_clear_password"):
        assert type(made._get_auth_plugin_handler(plugin)).__name__ == "LogIn"
    assert LogIns()


def test_commands_and_answers_go_by_what_is_overridden() -> None:
    assert {"_execute_command", "_read_query_result"} <= calls(Connection.query)
    assert "_read_query_result" in calls(Connection.next_result)
    assert {"_execute_command", "_read_ok_packet"} <= calls(Connection.ping)
    assert "_current_timeout" in calls(Connection._write_bytes)
    assert "connect_timeout" in inspect.signature(pymysql.connect).parameters


def test_rows_are_of_redolabs_own_kind() -> None:
    assert DictCursor.dict_type is dict
    assert RowCursor.dict_type is Row
