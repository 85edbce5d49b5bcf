"""The rules of a log-in, which both clients have, and what each of them answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pymysql
import pytest

import redolab
from redolab.engine.mariadb.connecting.log_ins import ANOTHER, IN_THE_CLEAR, LOG_INS, LogIns

ROOT = Path(redolab.__file__).parents[2]
RULES = ROOT / "crates/redolab-load/src/wire/mysql/log_ins.rs"
SECRET = b"s3cret-of-the-test"
NONCE = bytes(range(1, 21))


def rust_text(source: str, name: str) -> str:
    """A text in a Rust source, as it is when it is compiled."""
    (written,) = re.findall(rf'const {name}: &str =\s*"((?:[^"\\]|\\.)*)";', source, re.DOTALL)
    return re.sub(r"\\\n\s*", "", written)


def test_both_clients_have_the_same_rules() -> None:
    source = RULES.read_text()
    rules = re.findall(r'\("([a-z0-9_]+)", Sent::(\w+)\)', source)
    assert dict(rules) == {plugin: sent.value for plugin, sent in LOG_INS.items()}
    assert rust_text(source, "IN_THE_CLEAR") == IN_THE_CLEAR
    assert rust_text(source, "ANOTHER") == ANOTHER


def test_the_rules_are_in_one_place_of_each_client() -> None:
    for folder, ending, own in (
        ("crates", ".rs", "log_ins.rs"),
        ("python/redolab", ".py", "log_ins.py"),
    ):
        named = re.compile(r"""["'](mysql_clear_password|sha256_password|dialog|mysql_old_password)""")
        users = {
            file.name
            for file in (ROOT / folder).rglob(f"*{ending}")
            # A test in the source itself names what is refused.
            if named.search(file.read_text().partition("#[cfg(test)]")[0])
        }
        assert users == {own}


class Packet:
    """One of pymysql's, whose head is read."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def get_all_data(self) -> bytes:
        return self._data

    def is_auth_switch_request(self) -> bool:
        return self._data[:1] == b"\xfe"

    def read_all(self) -> bytes:
        return NONCE + b"\0"


class Wire:
    """What a log-in needs of a connection."""

    password = SECRET

    def __init__(self, secure: bool) -> None:
        self._secure = secure
        self.sent = b""

    def write_packet(self, data: bytes) -> None:
        self.sent += data

    def _read_packet(self) -> Any:
        return "the next one"


def answer(plugin: bytes | str, packet: bytes, secure: bool = False) -> bytes:
    """What is sent."""
    wire = Wire(secure)
    assert LogIns().get(plugin)(wire).authenticate(Packet(packet)) == "the next one"
    return wire.sent


SWITCH = b"\xfe..."
WANTS_PASSWORD, WANTS_NOTHING, A_KEY = b"\x01\x04", b"\x01\x03", b"\x01-----BEGIN PUBLIC KEY-----"


def test_a_proof_is_a_hash() -> None:
    for plugin, length in ((b"mysql_native_password", 20), ("caching_sha2_password", 32)):
        sent = answer(plugin, SWITCH)
        assert len(sent) == length
        assert SECRET not in sent
    assert answer("caching_sha2_password", WANTS_NOTHING) == b""


@pytest.mark.parametrize(
    ("plugin", "packet"),
    [
        (b"mysql_clear_password", SWITCH), (b"sha256_password", SWITCH), ("sha256_password", A_KEY),
        ("caching_sha2_password", WANTS_PASSWORD),
    ],
)  # fmt: skip
def test_the_password_itself_goes_where_nobody_listens(plugin: bytes | str, packet: bytes) -> None:
    assert answer(plugin, packet, secure=True) == SECRET + b"\0"
    with pytest.raises(pymysql.OperationalError, match="password itself"):
        answer(plugin, packet)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize(
    "plugin",
    [
        b"dialog", b"mysql_old_password", b"client_ed25519", b"parsec", b"auth_gssapi_client",
        b"authentication_ldap_sasl_client", b"", b"MYSQL_NATIVE_PASSWORD", b"mysql_native_password ", b"\xff",
        b"mysql_native_password/../x", b"auth_socket", "authentication_webauthn_client",
    ],
)  # fmt: skip
def test_every_other_plugin_is_refused_by_its_name(plugin: bytes | str, secure: bool) -> None:
    name = plugin.decode(errors="replace") if isinstance(plugin, bytes) else plugin
    for packet in (SWITCH, WANTS_PASSWORD, A_KEY):
        with pytest.raises(pymysql.OperationalError) as refused:
            answer(plugin, packet, secure)
        text = refused.value.args[1]
        assert f"a log-in by {name or 'no name'}, which" in text
        assert "caching_sha2_password or mysql_native_password" in text


@pytest.mark.parametrize("packet", [A_KEY, b"\x01", b"\x01\x02", b"\x01\x04\x04", b"\x01\x03\x00"])
def test_a_key_that_the_server_sends_is_not_believed(packet: bytes) -> None:
    for plugin in ("caching_sha2_password", "mysql_native_password"):
        with pytest.raises(pymysql.OperationalError, match="not MySQL's protocol"):
            answer(plugin, packet)


def test_a_native_log_in_never_sends_the_password() -> None:
    for secure in (False, True):
        with pytest.raises(pymysql.OperationalError, match="not MySQL's protocol"):
            answer("mysql_native_password", WANTS_PASSWORD, secure)
