"""One seed played: a server, a run or a watch of it, the moments of the plan, and the judge at the end."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field

from tests.breaker.judge import Judge
from tests.breaker.lab import Lab, run_words, watch_words
from tests.breaker.moments import KINDS
from tests.breaker.plan import BLOCKS, Plan, Planned, plan_of
from tests.breaker.scene import RUN, NotYetError, Scene
from tests.breaker.servers import started
from tests.breaker.somebody import State, StatementError

_POLL_S = 0.02
# A run waits a minute for a server, and as long for a lock; MySQL looks at a full disk once a minute.
_ENDS_LIMIT_S = 200.0
_LOOK_S = 0.3
_QUIET_LIMIT_S = 100.0
_GONE_LIMIT_S = 10.0


@dataclass
class Played:
    """What came of one seed."""

    engine: str
    seed: int
    plan: Plan
    struck: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    code: int = 0
    said: str = ""
    took_s: float = 0.0


def play(engine: str, seed: int, report: bool = True) -> Played:
    """Play one seed on a new server.

    Args:
        engine: of `servers.ENGINES`.
        seed: of the plan, from 1.
        report: whether what was stored is reported too, which takes more CPU than all the rest.
    """
    began_s = time.monotonic()
    plan = plan_of(engine, seed)
    played = Played(engine, seed, plan)
    server = started(engine, seed)
    try:
        lab = Lab(server.place / "lab")
        scene = Scene(plan.what, server, lab, random.Random(seed))
        before = server.state()
        try:
            _begin(scene, plan, seed)
            _strike_all(scene, plan)
            _judge(scene, before, played, report)
        finally:
            if hasattr(lab, "process"):
                lab.kill_all()
    finally:
        server.close()
    played.took_s = time.monotonic() - began_s
    return played


_REPLACED = re.compile(r"process (\d+), [^;]*; a new one took over")
"""What a run says of a guard whose place another one has taken."""


def _begin(scene: Scene, plan: Plan, seed: int) -> None:
    if plan.what == RUN:
        scope = ("--scope", "system") if plan.system and scene.server.engine == "postgres" else ()
        scene.lab.start("run", *run_words(scene.server.url, seed, BLOCKS, scope))
    else:
        scene.lab.start("watch", *watch_words(scene.server.url, plan.watch_s))


def _strike_all(scene: Scene, plan: Plan) -> None:
    for planned in plan.moments:
        if not _await_moment(scene, planned):
            return
        while not scene.lab.over:
            scene.draw = random.Random(planned.seed)
            with suppress(NotYetError, StatementError):
                KINDS[planned.kind].strike(scene)
                scene.struck.append(planned.kind)
                break
            scene.lift_due()
            time.sleep(_POLL_S)


def _await_moment(scene: Scene, planned: Planned) -> bool:
    """Wait for it; returns whether there is still something to break."""
    while scene.lab.announced < planned.samples and not scene.lab.over:
        scene.lift_due()
        time.sleep(_POLL_S)
    due_s = time.monotonic() + planned.delay_s
    while time.monotonic() < due_s and not scene.lab.over:
        scene.lift_due()
        time.sleep(_POLL_S)
    return not scene.lab.over


def _judge(scene: Scene, before: State, played: Played, report: bool) -> None:
    lab, judge = scene.lab, Judge(scene, before, report)
    give_up = time.monotonic() + _ENDS_LIMIT_S
    while not lab.over and time.monotonic() < give_up:
        scene.lift_due()
        if scene.killed_guards:
            lab.guards()
        time.sleep(_POLL_S if not scene.killed_guards else _LOOK_S)
    announced = max(lab.announced, 0)
    if not lab.over:
        judge.faults.append(f"it does not end within {_ENDS_LIMIT_S:.0f} s")
        lab.kill_all()
    code = lab.process.wait()
    if code == 0:
        with suppress(StatementError, OSError):
            judge.check_exit(judge.read())
    scene.lift_due(over=True)
    while scene.lifts:
        time.sleep(_POLL_S)
        scene.lift_due()
    scene.server.revive()
    if not lab.await_quiet(_QUIET_LIMIT_S):
        judge.faults.append(f"still running after {_QUIET_LIMIT_S:.0f} s: {lab.left()}")
        lab.kill_all()
    _await_gone(scene, judge)
    text, struck = lab.last_words, list(scene.struck)
    replaced = {int(pid) for pid in _REPLACED.findall("\n".join(lab.lines))}
    nobody_left = code == -signal.SIGKILL and bool(scene.killed_guards - replaced)
    if nobody_left:
        judge.check_samples(code, text, announced)
        code, text = _next_run(scene, judge)
    at_last = judge.read()
    if nobody_left:
        judge.check_next(code, text, at_last)
    else:
        judge.check_words(code, text, at_last)
        judge.check_manifest(at_last)
        judge.check_samples(code, text, announced)
        judge.check_guard(code, text)
        judge.check_theirs(code, text)
        judge.check_recovery(text, judge.left(at_last))
    if not struck and code:
        judge.faults.append("it ended before anything hostile happened")
    played.struck, played.faults = struck, judge.faults
    played.code, played.said = code, "\n".join(lab.lines)


def _await_gone(scene: Scene, judge: Judge) -> None:
    give_up = time.monotonic() + _GONE_LIMIT_S
    while scene.server.at_work():
        if time.monotonic() > give_up:
            judge.faults.append(f"{scene.server.at_work()} connections are left")
            scene.server.end_connections()
            return
        time.sleep(_POLL_S)


def _next_run(scene: Scene, judge: Judge) -> tuple[int, str]:
    """Where nobody is left to put back, the same user's next run does."""
    scene.server.allow()
    first = scene.lab.lines
    scene.lab.start("next", *run_words(scene.server.url, 1, 1))
    try:
        scene.lab.process.wait(timeout=_ENDS_LIMIT_S)
    except subprocess.TimeoutExpired:
        judge.faults.append("the next run does not end")
    if not scene.lab.await_quiet(_QUIET_LIMIT_S):
        judge.faults.append(f"still running after the next run: {scene.lab.left()}")
    _await_gone(scene, judge)
    code, text = scene.lab.process.returncode, scene.lab.last_words
    words = "\n".join(scene.lab.lines)
    scene.lab.lines = [*first, "--- the next run ---", *scene.lab.lines]
    return code, text if code else words
