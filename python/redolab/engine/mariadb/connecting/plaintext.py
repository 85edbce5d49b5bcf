"""The warning about a connection that others can listen to."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

from redolab.engine.mariadb.connecting.client import Client


@dataclass(frozen=True)
class Plaintext:
    """A connection without encryption over a network, in words."""

    text: str
    leaves: bool
    """Whether it leaves this machine: then it is named wherever its figures are."""


def plaintext(connection: Client) -> Plaintext | None:
    """The warning about a connection; None where it is encrypted, or a socket of this machine."""
    if connection.is_encrypted or connection.unix_socket:
        return None
    address = connection.address
    where = f"The connection to the server ({address}) is not encrypted"
    # An IPv6 address may have the name of an interface behind it, and one of IPv4 inside it.
    ip = ip_address(address.partition("%")[0])
    if (getattr(ip, "ipv4_mapped", None) or ip).is_loopback:
        return Plaintext(
            f"{where}. The connection ends on this machine; if a tunnel begins at that address, the "
            "tunnel must encrypt the data.",
            False,
        )
    return Plaintext(
        f"{where}. Anybody on the network path can read and change everything that is sent, including the "
        "figures. Add ?ssl-mode=VERIFY_IDENTITY to the URL if the server has TLS.",
        True,
    )
