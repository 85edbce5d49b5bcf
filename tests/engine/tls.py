"""A server that speaks TLS, certificates as people have them, and somebody who listens on the way."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.servers import Server, installed_servers

HOST = "localhost"
_PROPER = f"subjectAltName=DNS:{HOST},IP:127.0.0.1"
_ACCESS = """
hostssl all by_certificate 127.0.0.1/32 cert
host all by_password 127.0.0.1/32 password
host all anybody 127.0.0.1/32 trust
hostnossl all without_tls 127.0.0.1/32 scram-sha-256
hostssl all without_tls 127.0.0.1/32 reject
"""


def programs_with_tls() -> Path:
    """The programs of a server that was built with TLS, as Debian's is."""
    for programs in installed_servers().values():
        configured = subprocess.run([programs / "pg_config", "--configure"], capture_output=True, check=True)
        if re.search(rb"--with-(openssl|ssl=openssl)", configured.stdout):
            return programs
    raise AssertionError("no PostgreSQL with TLS is installed; .ci/run installs Debian's")


def _openssl(*arguments: str | Path, place: Path) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _newkey(key: str) -> tuple[str, ...]:
    """`rsa:2048`, `ed25519`, or a curve."""
    curve = ("-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{key}")
    return curve if key.startswith("P-") else ("-newkey", key)


class Certificates:
    """Files `NAME.crt` and `NAME.key` in one directory, made with the `openssl` command."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.self_signed(
            "ca", "/CN=The root", "basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign,cRLSign"
        )
        self.self_signed("other_ca", "/CN=Another root", "basicConstraints=critical,CA:TRUE")
        self.self_signed("elliptic_ca", "/CN=A root of curves", "keyUsage=critical,keyCertSign", key="P-384")
        self.self_signed(
            "limited_ca", "/CN=A root for some", "nameConstraints=critical,permitted;DNS:localhost"
        )
        self.signed("between", "/CN=In between", "ca", "basicConstraints=critical,CA:TRUE")

    def crt(self, name: str) -> Path:
        return self.place / f"{name}.crt"

    def key(self, name: str) -> Path:
        return self.place / f"{name}.key"

    def self_signed(
        self, name: str, subject: str, *extensions: str, days: str = "30", key: str = "rsa:2048"
    ) -> None:
        """As `openssl req -x509` makes them: able to sign others, unless the extensions say otherwise."""
        added = [word for extension in extensions for word in ("-addext", extension)]
        _openssl(
            "req", "-new", "-x509", *_newkey(key), "-noenc", "-days", days, "-subj", subject, *added,
            "-keyout", self.key(name), "-out", self.crt(name), place=self.place,
        )  # fmt: skip

    def signed(
        self,
        name: str,
        subject: str,
        signer: str,
        *extensions: str,
        days: str = "30",
        key: str = "rsa:2048",
    ) -> None:
        """As `openssl x509 -req` makes them: before OpenSSL 3.2 of version 1 without extensions."""
        with_extensions: list[str | Path] = []
        if extensions:
            (self.place / "extensions").write_text("\n".join(extensions))
            with_extensions = ["-extfile", self.place / "extensions"]
        request = self.place / "request"
        _openssl(
            "req", "-new", *_newkey(key), "-noenc", "-subj", subject, "-keyout", self.key(name),
            "-out", request, place=self.place,
        )  # fmt: skip
        _openssl(
            "x509", "-req", "-in", request, "-days", days, "-CA", self.crt(signer),
            "-CAkey", self.key(signer), "-CAcreateserial", "-out", self.crt(name), *with_extensions,
            place=self.place,
        )  # fmt: skip

    def encrypt(self, name: str, target: Path) -> None:
        """The key of a certificate, behind a password."""
        _openssl(
            "pkcs8", "-topk8", "-in", self.key(name), "-passout", "pass:x", "-out", target, place=self.place
        )

    def chain(self, name: str, *parts: str) -> None:
        """Several certificates in one file, the first one's key beside it."""
        self.crt(name).write_text("".join(self.crt(part).read_text() for part in parts))
        shutil.copy(self.key(parts[0]), self.key(name))


def make_server_certificates(made: Certificates) -> None:
    """The certificates that servers have, good and bad."""
    made.signed("proper", f"/CN={HOST}", "ca", _PROPER, "extendedKeyUsage=serverAuth")
    made.signed("old", f"/CN={HOST}", "ca")
    made.signed("elsewhere", f"/CN={HOST}", "ca", "subjectAltName=DNS:db.example.org,IP:127.0.0.2")
    made.signed("by_address", f"/CN={HOST}", "ca", "subjectAltName=IP:127.0.0.2")
    made.signed("called_by_address", "/CN=127.0.0.1", "ca", "subjectAltName=DNS:db.example.org")
    made.signed("nameless", "/O=Nobody", "ca", "subjectAltName=email:dba@example.org")
    for name, key in (("elliptic", "P-256"), ("old_elliptic", "P-384"), ("edwards", "ed25519")):
        names = () if name == "old_elliptic" else (_PROPER,)
        made.signed(name, f"/CN={HOST}", "elliptic_ca", *names, key=key)
    made.signed("within", f"/CN={HOST}", "limited_ca", f"subjectAltName=DNS:{HOST}")
    made.signed("beyond", "/CN=db.example.org", "limited_ca", "subjectAltName=DNS:db.example.org")
    made.signed("old_beyond", "/CN=db.example.org", "limited_ca")
    made.signed("star", "/CN=star", "ca", "subjectAltName=DNS:*.example.org")
    made.signed("expired", f"/CN={HOST}", "ca", _PROPER, days="-1")
    made.signed("by_another", f"/CN={HOST}", "other_ca", _PROPER)
    made.signed("for_clients", f"/CN={HOST}", "ca", _PROPER, "extendedKeyUsage=clientAuth")
    made.signed("able_to_sign", f"/CN={HOST}", "ca", _PROPER, "basicConstraints=critical,CA:TRUE")
    made.signed("leaf", f"/CN={HOST}", "between", _PROPER)
    made.chain("over_two", "leaf", "between")
    made.chain("under_root", "between", "ca")
    # As PostgreSQL's manual makes one, and as Debian's package ssl-cert does.
    made.self_signed("own", f"/CN={HOST}")
    made.self_signed("snake_oil", f"/CN={HOST}", "basicConstraints=CA:FALSE", f"subjectAltName=DNS:{HOST}")
    made.signed("by_snake_oil", f"/CN={HOST}", "snake_oil", _PROPER)


class TlsServer(Server):
    """A server that offers TLS, and a role for every way to be let in."""

    def __init__(self, place: Path, certificates: Certificates) -> None:
        super().__init__(programs_with_tls(), place)
        self.certificates = certificates
        with (self.data / "postgresql.conf").open("a") as file:
            file.write("ssl = on\nssl_ca_file = 'client_ca.crt'\n")
        access = self.data / "pg_hba.conf"
        access.write_text(_ACCESS + access.read_text())
        self._put(certificates.crt("ca"), "client_ca.crt")
        self._put_pair("proper")

    def _put(self, source: Path, name: str) -> None:
        target = self.data / name
        # As the owner of the directory has it, whoever runs the tests.
        target.unlink(missing_ok=True)
        shutil.copy(source, target)
        target.chmod(0o600)
        owner = self.data.stat()
        os.chown(target, owner.st_uid, owner.st_gid)

    def _put_pair(self, name: str) -> None:
        self._put(self.certificates.crt(name), "server.crt")
        self._put(self.certificates.key(name), "server.key")

    def show(self, name: str) -> None:
        """Show another certificate from now on."""
        self._put_pair(name)
        self.stop()
        self.start()


@dataclass
class Heard:
    """What went over one connection, from its client and from the server."""

    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)

    @property
    def is_encrypted(self) -> bool:
        """It asked for TLS, was offered it, and then sent nothing but records of TLS."""
        asks, offer, rest = self.sent[:8], self.received[:1], bytes(self.sent[8:])
        if asks != b"\x00\x00\x00\x08\x04\xd2\x16\x2f" or offer != b"S" or not rest:
            return False
        while rest:
            if rest[0] not in {0x14, 0x15, 0x16, 0x17} or rest[1] != 3:
                return False
            rest = rest[5 + int.from_bytes(rest[3:5]) :]
        return True


def sent_by(heard: Sequence[Heard]) -> bytes:
    return b"\n".join(bytes(connection.sent) for connection in heard)


@contextmanager
def listening(port: int, alter: Callable[[bytes], bytes] | None = None) -> Iterator[tuple[int, list[Heard]]]:
    """A port that leads to the server on `port`, and what is heard there.

    `alter` changes what the server sends.
    """
    heard: list[Heard] = []
    ends = [socket.create_server(("127.0.0.1", 0))]
    threads: list[threading.Thread] = []

    def begin(target: Callable[..., None], *arguments: Any) -> None:
        threads.append(threading.Thread(target=target, args=arguments))
        threads[-1].start()

    def carry(source: socket.socket, target: socket.socket, into: bytearray, change: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                into += data
                target.sendall(alter(data) if alter and change else data)
        _shut(source, target)

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = ends[0].accept()
                server = socket.create_connection(("127.0.0.1", port))
                ends.extend((client, server))
                heard.append(Heard())
                begin(carry, client, server, heard[-1].sent, False)
                begin(carry, server, client, heard[-1].received, True)

    begin(serve)
    try:
        yield ends[0].getsockname()[1], heard
    finally:
        _shut(*ends)
        for thread in threads:
            thread.join()
        for end in ends:
            end.close()


def _shut(*ends: socket.socket) -> None:
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def url_of(port: int, user: str, database: str = "postgres", **parameters: str | Path) -> str:
    """The server by name; its address is given too, because the name may lead elsewhere."""
    query = "&".join(f"{name}={value}" for name, value in {"hostaddr": "127.0.0.1", **parameters}.items())
    return f"postgresql://{user}@{HOST}:{port}/{database}?{query}"
