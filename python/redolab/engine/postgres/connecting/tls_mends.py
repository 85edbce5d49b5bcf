"""Remedies for encrypted connections that fail."""

from __future__ import annotations

# Text of the client library, the server or the client load -> what to do.
TLS_MENDS = (
    (
        "cleartext password",
        "Correct the server's TLS settings, or let its pg_hba.conf ask for scram-sha-256. sslmode=disable "
        "sends the password in clear text, readable on the network.",
    ),
    (
        "does not match host name",
        "Connect by a name that the certificate has (hostaddr can give the address as well), or use "
        "sslmode=verify-ca, which does not compare names.",
    ),
    (
        "certificate has expired",
        "Renew the server's certificate.",
    ),
    (
        "certificate is not valid yet",
        "Check the clocks of both machines.",
    ),
    (
        "certificate is not for a server",
        "Have a certificate made for a server: if it has an extendedKeyUsage, that must include serverAuth.",
    ),
    (
        "certificate verify failed",
        "sslrootcert must name the file with the root certificate of the authority that signed the server's "
        "certificate, and the certificate must be valid today.",
    ),
    (
        "certificate is not trusted",
        "sslrootcert must name the file with the root certificate of the authority that signed the server's "
        "certificate.",
    ),
    (
        "cannot be verified by Redolab's load",
        "Have a certificate made of X.509 version 3 with the server's names in subjectAltName, signed "
        "with SHA-256 or better by a key of RSA 2048 to 8192, ECDSA P-256 or P-384, or Ed25519.",
    ),
    (
        "root certificate file",
        "Name the file of root certificates in sslrootcert, use the operating system's file with "
        "sslrootcert=system, or ask for less protection with sslmode=require.",
    ),
    (
        "group or world access",
        "Others may read the file of the client's key: forbid that with chmod 600.",
    ),
    (
        "client certificate",
        "Give a client certificate that the server's ssl_ca_file vouches for: sslcert and sslkey, or "
        "~/.postgresql/postgresql.crt and postgresql.key.",
    ),
    (
        "unknown ca",
        "The server does not know the signer of the client certificate (sslcert): its ssl_ca_file must "
        "contain that signer.",
    ),
    (
        "does not support SSL",
        "Switch TLS on in the server (ssl = on), or use sslmode=prefer, which also works without TLS.",
    ),
    (
        "does not support TLS",
        "The control connection had TLS: check which proxy or pooler is between Redolab and the server.",
    ),
    (
        "no TLS version or cipher in common",
        "Let the server speak TLS 1.2 or 1.3, with a key of RSA 2048 to 8192, ECDSA P-256 or P-384, or "
        "Ed25519.",
    ),
    (
        "answer is not TLS",
        "Check which proxy or pooler is between Redolab and the server.",
    ),
    (
        "channel binding",
        "channel_binding=require needs TLS, and a password that is stored as scram-sha-256.",
    ),
    (
        "unsupported authentication method",
        "The load from a client can log in by scram-sha-256, md5, password, certificates and trust. Let "
        "pg_hba.conf ask this role for one of these.",
    ),
    (
        "unsupported SASL mechanism",
        "The load from a client can log in by scram-sha-256, md5, password, certificates and trust. Let "
        "pg_hba.conf ask this role for one of these.",
    ),
    (
        "which is not allowed on this connection",
        "The control connection was authenticated in another way: check require_auth, and which proxy or "
        "pooler is between Redolab and the server.",
    ),
    (
        "password missing",
        "Give the password in PGPASSWORD or ~/.pgpass.",
    ),
    (
        "requirepeer",
        "Check who runs the server: requirepeer names another user.",
    ),
)
