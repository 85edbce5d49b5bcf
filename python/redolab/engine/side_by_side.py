"""Several servers as one engine: each setting is put in force on its own server, and only that one works.

The runner, a sample and what is stored know one engine. A setting's level `server` names the server that is
meant (`redolab.records.servers`); the server itself never sees that level.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Any, TypeVar

from redolab.engine.base import Engine, KillRecovery, MachineProbe, Watch
from redolab.errors import EngineError, RedolabError, RefusedError, UsageError
from redolab.records.load import Amount, Load
from redolab.records.sample import ParameterChange, Setting, Snapshot, Work
from redolab.records.servers import SERVER, SIDE_BY_SIDE, name_on, name_without, without_server

_Value = TypeVar("_Value")


class SideBySide(Engine):
    """Open engines by name; closed together."""

    def __init__(self, engines: Mapping[str, Engine], lacking: Sequence[str] = ()) -> None:
        """Take over the engines.

        Args:
            engines: by the server's name, the first one's first.
            lacking: which settings a server lacks, and why; one sentence each, without its full stop.
        """
        self._engines, self._lacking = dict(engines), list(lacking)
        self._at_work: str | None = None
        self._changes: list[ParameterChange] = []
        self._known = dict.fromkeys(self._engines, 0)

    @property
    def changes(self) -> list[ParameterChange]:
        """Every parameter change so far, under the name that its setting has here."""
        for name, engine in self._engines.items():
            new = engine.changes[self._known[name] :]
            self._known[name] += len(new)
            self._changes += [replace(change, setting=name_on(name, change.setting)) for change in new]
        return self._changes

    @property
    def meanwhile(self) -> list[str]:
        """Events at each server, with its name."""
        return _named({name: engine.meanwhile for name, engine in self._engines.items()})

    @property
    def farewell(self) -> str:
        """The farewell of each server, with its name."""
        return " ".join(_named({name: [it.farewell] for name, it in self._engines.items() if it.farewell}))

    def sampler(self) -> Mapping[str, Any]:
        """How wait events are read: one word where all servers have the same, else each by its name."""
        samplers = {name: engine.sampler() for name, engine in self._engines.items()}
        each = _named({name: [str(sampler["source"])] for name, sampler in samplers.items()})
        rates = [float(sampler["rate_per_s"]) for sampler in samplers.values()]
        return {"source": "; ".join(each), "rate_per_s": sum(rates) / len(rates)}

    def describe(self) -> Mapping[str, Any]:
        """One record for all, with that of each server; what they do not share is null or empty."""
        servers = {name: dict(engine.describe()) for name, engine in self._engines.items()}
        records = list(servers.values())
        return {
            "name": SIDE_BY_SIDE,
            "local": all(record.get("local") for record in records),
            "emulated": _common(record.get("emulated") for record in records) or {},
            "log_filesystem": _common(record.get("log_filesystem") for record in records),
            "servers": servers,
        }

    def conditions(self) -> list[str]:
        """Conditions of every server."""
        return _named({name: engine.conditions() for name, engine in self._engines.items()})

    def not_measured(self) -> list[str]:
        """Figures that every server lacks, and the settings that one of them does not have."""
        lacked = _named({name: engine.not_measured() for name, engine in self._engines.items()})
        return [*(f"{text}." for text in self._lacking), *lacked]

    def heed(self, stop: threading.Event) -> None:
        """Let every server end early."""
        for engine in self._engines.values():
            engine.heed(stop)

    def heed_in_closing(self, hurry: threading.Event) -> None:
        """Let no server wait for anybody."""
        for engine in self._engines.values():
            engine.heed_in_closing(hurry)

    def prepare(self, load: Load, combinations: Sequence[Mapping[str, str]]) -> tuple[Setting, ...]:
        """Prepare each server for the combinations that are its own; in the order of `combinations`.

        Raises:
            UsageError: a server has no such load.
            RefusedError: something is missing; the text names the server too.
        """
        made = {}
        for name, engine in self._engines.items():
            own = [without_server(levels) for levels in combinations if levels[SERVER] == name]
            try:
                made[name] = iter(engine.prepare(load, own))
            except EngineError:
                raise
            except (UsageError, RefusedError) as error:
                raise type(error)(f"{name}: {error}") from error
        self.parameters_before = [
            replace(before, server=name)
            for name, engine in self._engines.items()
            for before in engine.parameters_before
        ]
        return tuple(_on(levels[SERVER], next(made[levels[SERVER]])) for levels in combinations)

    def apply(self, setting: Setting) -> None:
        """Put a setting in force on its server; the one that worked before is settled first.

        What it had left to write would be written while the next one is measured.
        """
        name = setting.levels[SERVER]
        if self._at_work not in (None, name):
            self._engine.settle()
        self._at_work = name
        self._engine.apply(
            replace(
                setting,
                name=name_without(setting.levels, setting.name),
                levels=without_server(setting.levels),
            )
        )

    def settle(self) -> None:
        """Settle the server of the setting in force."""
        self._engine.settle()

    def probe(self) -> MachineProbe:
        """See how fast its machine is."""
        return self._engine.probe()

    def work(self, amount: Amount, stop: threading.Event) -> Work:
        """Let its sessions work."""
        return self._engine.work(amount, stop)

    def snapshot(self) -> Snapshot:
        """Read its counters."""
        return self._engine.snapshot()

    def watch(self, in_turns_s: float = 0.0) -> AbstractContextManager[Watch]:
        """Sample its wait events."""
        return self._engine.watch(in_turns_s)

    def kill_and_recover(self, seconds: float, stop: threading.Event) -> KillRecovery:
        """Kill it hard; the others live on."""
        return self._engine.kill_and_recover(seconds, stop)

    def close(self) -> None:
        """Close every server, whatever closing another one raises.

        Raises:
            RefusedError: something could not be put back; the text says on which server, and what.
        """
        wrong: list[str] = []
        with ExitStack() as stack:
            for name, engine in self._engines.items():
                stack.callback(_close, name, engine, wrong)
        if wrong:
            raise RefusedError(" ".join(reversed(wrong)))

    @property
    def _engine(self) -> Engine:
        assert self._at_work is not None, "apply() comes first"
        return self._engines[self._at_work]


def _on(server: str, setting: Setting) -> Setting:
    """The setting with its server, which distinguishes it from those of other servers."""
    return replace(setting, name=name_on(server, setting.name), levels={SERVER: server, **setting.levels})


def _close(name: str, engine: Engine, wrong: list[str]) -> None:
    try:
        engine.close()
    except RedolabError as error:
        wrong.append(f"{name}: {error}")


def _named(said: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences of all servers once, and other sentences with the name of their server."""
    texts = list(dict.fromkeys(text for texts_of_one in said.values() for text in texts_of_one))
    sentences = []
    for text in texts:
        names = [name for name, texts_of_one in said.items() if text in texts_of_one]
        sentences.append(text if len(names) == len(said) else f"{', '.join(names)}: {text}")
    return sentences


def _common(values: Iterable[_Value]) -> _Value | None:
    """The value that all have; None where they differ."""
    first, *others = values
    return first if all(other == first for other in others) else None
