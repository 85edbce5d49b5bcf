"""The kinds of hostile moments, as a table: what each fits, when it comes, and what it does."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.breaker import statements as words
from tests.breaker.machine import namespace_refusal
from tests.breaker.scene import RUN, WATCH, NotYetError, Scene, Theirs
from tests.breaker.somebody import StatementError

_STEPS_S = (-3600, -90, -7, 7, 90, 3600)


@dataclass(frozen=True)
class Kind:
    """One kind of moment."""

    strike: Callable[[Scene], None]
    fits: frozenset[str] = frozenset({RUN})
    turn: int = 1
    """Of several in one run those with a lower one come first: what ends a run leaves no place for others."""


def _of_words(table: Mapping[str, words.Variants]) -> Callable[[Scene], None]:
    def strike(scene: Scene) -> None:
        variants = table["postgres" if scene.server.engine == "postgres" else "family"]
        if callable(variants):
            variants = variants(scene.server)
        scene.sql(*scene.draw.choice(variants))

    return strike


def _journal_locked(scene: Scene) -> None:
    of = words.LOCKED["postgres" if scene.server.engine == "postgres" else "family"]
    # Whoever waits for one that is never let go waits for a minute.
    scene.lift_later(scene.server.hold(*scene.draw.choice(of)), often=0.75)


def _read_only(scene: Scene) -> None:
    on, off, parameters = words.read_only(scene.server)
    scene.sql(*on)
    scene.expected |= parameters

    def writable() -> None:
        scene.server.execute(*off)
        for key in parameters:
            scene.expected.pop(key, None)

    scene.lift_later(writable)


def _same_parameter(scene: Scene) -> None:
    _set_by_somebody(scene, words.SAME[scene.server.engine])


def _other_parameter(scene: Scene) -> None:
    _set_by_somebody(scene, words.OTHER[scene.server.engine])


def _set_by_somebody(scene: Scene, choices: tuple[words.Theirs, ...]) -> None:
    chosen = scene.draw.choice(choices)
    began_s = time.time()
    scene.sql(*chosen.statements)
    scene.expected |= chosen.expected
    if choices is words.SAME[scene.server.engine]:
        scene.theirs[chosen.name] = Theirs(chosen.value, began_s, time.time())


def _connections_killed(scene: Scene) -> None:
    try:
        if not scene.server.at_work():
            raise NotYetError("no connection is there")
        scene.server.end_connections()
    except StatementError as error:
        raise NotYetError(str(error)) from error


def _restarted(how: signal.Signals) -> Callable[[Scene], None]:
    def strike(scene: Scene) -> None:
        scene.server.end(how)
        scene.restarted()
        scene.lift_within(scene.server.mend, 2.0)

    return strike


def _killed_while_down(scene: Scene) -> None:
    """The guard meets a server that is not there, and then one that is still starting."""
    if not scene.lab.guards():
        raise NotYetError("there is no guard")
    scene.server.end(scene.draw.choice((signal.SIGTERM, signal.SIGKILL)))
    scene.restarted()
    scene.lab.strike(signal.SIGKILL)
    scene.lift_within(scene.server.mend, 5.0)


def _disk_full(scene: Scene) -> None:
    scene.server.disk.fill()

    def free() -> None:
        scene.server.disk.free()
        if not scene.server.alive():
            scene.restarted()
        scene.server.revive()

    scene.lift_later(free)


def _clock_stepped(scene: Scene) -> None:
    scene.server.clock.step(scene.draw.choice(_STEPS_S))


def _run_signalled(number: signal.Signals) -> Callable[[Scene], None]:
    def strike(scene: Scene) -> None:
        if not scene.lab.strike(number):
            raise NotYetError("it is over")

    return strike


def _guard_signalled(number: signal.Signals) -> Callable[[Scene], None]:
    def strike(scene: Scene) -> None:
        found = scene.lab.strike_guards(number)
        if not found:
            raise NotYetError("there is no guard")
        if number == signal.SIGKILL:
            scene.killed_guards |= set(found)

    return strike


def _both_signalled(number: signal.Signals) -> Callable[[Scene], None]:
    def strike(scene: Scene) -> None:
        # One that was killed before is no reason to wait for another.
        if not scene.killed_guards:
            _guard_signalled(number)(scene)
        scene.lab.strike(number)

    return strike


_BOTH = frozenset({RUN, WATCH})
_FIRST, _LATER, LAST = 1, 2, 3
"""Turns: what a run outlives, what it may outlive, what ends it."""

KINDS: Mapping[str, Kind] = {
    "clock stepped": Kind(_clock_stepped, _BOTH, _FIRST),
    "same parameter changed": Kind(_same_parameter, turn=LAST),
    "another parameter changed": Kind(_other_parameter, _BOTH, _FIRST),
    "connections killed": Kind(_connections_killed, _BOTH, _LATER),
    "journal locked": Kind(_journal_locked, turn=_FIRST),
    "guard interrupted": Kind(_guard_signalled(signal.SIGINT), turn=_FIRST),
    "guard killed": Kind(_guard_signalled(signal.SIGKILL), turn=_FIRST),
    "journal emptied": Kind(_of_words(words.EMPTIED), turn=_FIRST),
    "journal row deleted": Kind(_of_words(words.ROW_DELETED), turn=_FIRST),
    "journal edited": Kind(_of_words(words.EDITED), turn=_FIRST),
    "journal dropped": Kind(_of_words(words.DROPPED), turn=_LATER),
    "view planted": Kind(_of_words(words.PLANTED), turn=LAST),
    "owner changed": Kind(_of_words(words.OWNER), turn=_LATER),
    "comment changed": Kind(_of_words(words.COMMENT), turn=_LATER),
    "schema dropped": Kind(_of_words(words.SCHEMA_DROPPED), turn=LAST),
    "schema renamed": Kind(_of_words(words.SCHEMA_RENAMED), turn=LAST),
    "rights revoked": Kind(_of_words(words.RIGHTS), _BOTH, _LATER),
    "read-only": Kind(_read_only, _BOTH, _LATER),
    "server restarted": Kind(_restarted(signal.SIGTERM), _BOTH, _LATER),
    "server crashed": Kind(_restarted(signal.SIGKILL), _BOTH, _LATER),
    "disk full": Kind(_disk_full, _BOTH, _LATER),
    "run killed": Kind(_run_signalled(signal.SIGKILL), _BOTH, LAST),
    "run interrupted": Kind(_run_signalled(signal.SIGINT), _BOTH, LAST),
    "run killed while the server is down": Kind(_killed_while_down, turn=LAST),
    "both killed": Kind(_both_signalled(signal.SIGKILL), turn=LAST),
    "both interrupted": Kind(_both_signalled(signal.SIGINT), turn=LAST),
}


def kinds_for(what: str) -> list[str]:
    """The kinds that fit a run or a watch, and that can be had on this machine."""
    return [name for name, kind in KINDS.items() if what in kind.fits and why_not(name) is None]


def why_not(name: str) -> str | None:
    """Why a kind cannot be tried here; None where it can."""
    return namespace_refusal() if name == "disk full" else None
