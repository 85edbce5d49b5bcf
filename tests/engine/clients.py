"""What tests of sessions that work over the wire have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable

from redolab.engine.postgres import PostgresEngine
from redolab.load import Amount, Inserts
from redolab.sample import Setting, Work

Open = Callable[..., tuple[PostgresEngine, dict[str, Setting]]]


def inserts(sessions: int, loop: str = "client") -> Inserts:
    return Inserts("", sessions, "session", 20, loop)


def work(engine: PostgresEngine, setting: Setting, amount: Amount) -> Work:
    engine.apply(setting)
    engine.settle()
    return engine.work(amount, threading.Event())
