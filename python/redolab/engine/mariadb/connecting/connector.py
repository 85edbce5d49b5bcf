"""Stand-in: private servers alone."""

from __future__ import annotations

from pathlib import Path

import pymysql
from pymysql.constants import CLIENT
from pymysql.cursors import DictCursor

from redolab.engine.mariadb.connection import Connection, Target, connect


class Connector:
    patience_s = 10.0

    def __init__(self, target: Target) -> None:
        self.target = target
        self.place = target.place

    @classmethod
    def to_private(cls, socket: Path) -> Connector:
        return cls(Target("localhost", 3306, "root", str(socket), None, None))

    def connect(self, name: str, read_only: bool = False, several: bool = False) -> Connection:
        if read_only:
            return connect(self.target, name, customs=False)
        return pymysql.connect(
            unix_socket=self.target.unix_socket,
            user="root",
            connect_timeout=10,
            program_name=name,
            charset="utf8mb4",
            autocommit=True,
            cursorclass=DictCursor,
            client_flag=CLIENT.MULTI_STATEMENTS if several else 0,
        )
