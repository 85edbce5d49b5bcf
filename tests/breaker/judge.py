"""The judge: what it reads of the server and of the run directory itself, held against what Redolab said."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from tests.breaker.scene import RUN, Scene, Theirs
from tests.breaker.somebody import State, StatementError

_CLAIMS = re.compile(
    r"every parameter (?:changed |that was changed )?is (?:put )?back|everything is (?:put )?back"
    r"|nothing was changed|nothing is left|is as (?:it was )?before",
    re.IGNORECASE,
)
_SET = r"(?:SET (?:GLOBAL|PERSIST)|RESET PERSIST|ALTER SYSTEM (?:SET|RESET))"
_VALUE = r"(?:'(?:[^']|'')*'|[^\s;,'\"`)]+)"
_STATEMENTS = re.compile(
    rf"{_SET} [`\"]?[\w.]+[`\"]?(?: (?:=|TO) {_VALUE})?"
    r"|DROP (?:SCHEMA|DATABASE) [`\"]?redolab[`\"]?(?: CASCADE)?"
    r"|SELECT (?:pg_catalog\.)?pg_reload_conf\(\)",
    re.IGNORECASE,
)
_OWN_NAMED = re.compile(r"(?:schema|database) [`\"]?redolab\b", re.IGNORECASE)
FINE_CODES = (0, 3, 130)


def differences(before: State, now: State) -> list[tuple[str, str]]:
    """What is not as it was."""
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def wanted(before: State, scene: Scene) -> State:
    """How it must be at the end: as before, but for what others set."""
    return {**before, **scene.expected}


def statements_in(text: str) -> list[str]:
    """The statements that a reader would copy out of a text."""
    return [found.rstrip(".") for found in _STATEMENTS.findall(" ".join(text.split()))]


def is_named(key: tuple[str, str], text: str) -> bool:
    """Whether a text names what is left, and the statement that mends it."""
    if key[0] == "own":
        return _OWN_NAMED.search(text) is not None
    if key[0] == "trap":
        # The sample under way has executed it, which no statement takes back: the run must end and say why.
        return re.search(r"\bviews?\b", text) is not None
    return re.search(rf"{_SET} [`\"]?{re.escape(key[1])}\b", text, re.IGNORECASE) is not None


def _noted_s(change: Mapping[str, Any]) -> float:
    """When a change was noted, by the clock of the day, seconds."""
    return datetime.fromisoformat(change["at"]).timestamp()


class Judge:
    """Collects what is untrue of one run."""

    def __init__(self, scene: Scene, before: State, report: bool) -> None:
        self.faults: list[str] = []
        self._report = report
        self._scene, self._before = scene, before

    def read(self) -> State:
        """The server now.

        Raises:
            StatementError: it does not answer.
        """
        return self._scene.server.state()

    def left(self, now: State) -> list[tuple[str, str]]:
        """What is not as it must be."""
        return differences(wanted(self._before, self._scene), now)

    def check_exit(self, now: State) -> None:
        """Exit code 0 says that all is as before, at that very moment."""
        if left := self.left(now):
            self.faults.append(f"exit code 0, and at that moment changed: {self._told(left, now)}")

    def check_words(self, code: int, text: str, at_last: State) -> None:
        """Hold the exit code and the last words against the server."""
        self._check_code(code, text)
        self._check_left(code, text, at_last, self.left(at_last))

    def check_next(self, code: int, text: str, at_last: State) -> None:
        """Where nobody was left to put back, the next run does, whatever others did to its lists."""
        self._check_code(code, text)
        left = self.left(at_last)
        self._check_left(code, _CLAIMS.sub("", text), at_last, left)
        self.check_recovery(text, left)

    def _check_code(self, code: int, text: str) -> None:
        if "Traceback" in text:
            self.faults.append("a traceback")
        if code not in FINE_CODES and not (code == -signal.SIGKILL and self._scene.lab.killed):
            self.faults.append(f"exit code {code}")
        if code == 3 and "redolab: " not in text:
            self.faults.append("exit code 3 without a sentence")

    def _check_left(self, code: int, text: str, at_last: State, left: Sequence[tuple[str, str]]) -> None:
        unnamed = [key for key in left if not is_named(key, text)]
        if unnamed:
            self.faults.append(f"changed and not named: {self._told(unnamed, at_last)}")
        if left and code in (0, 130):
            self.faults.append(f"exit code {code}, and left: {self._told(left, at_last)}")
        claims = _CLAIMS.search(text)
        # What a trap did is no parameter, and is named by itself.
        if claims and any(key[0] not in ("own", "trap") for key in left):
            self.faults.append(f"said {claims[0]!r}, and left: {self._told(left, at_last)}")

    def check_theirs(self, code: int, text: str) -> None:
        """What others set of parameters that the run changed is named."""
        if code < 0:
            return
        last = {change["parameter"]: change for change in self._changes()}
        for name, theirs in self._scene.theirs.items():
            if name not in last or self._is_too_late(theirs, last[name]):
                continue
            if code != 3:
                self.faults.append(f"somebody set {name} = {theirs.value}, and the exit code is {code}")
            if name not in text:
                self.faults.append(f"somebody set {name} = {theirs.value}, and it is not named")

    def _is_too_late(self, theirs: Theirs, last: Mapping[str, Any]) -> bool:
        """Whether it was set when the run may have read the server for the last time.

        Of a parameter that its last setting had as before, nothing is noted when the run ends.
        """
        if last["setting"] == "restore":
            return _noted_s(last) < theirs.to_s
        first = next(it for it in self._changes() if it["parameter"] == last["parameter"])
        return bool(last["after"] == first["before"]) and self._last_sample_s() < theirs.from_s

    def _last_sample_s(self) -> float:
        """When the last sample ended, by the clock of the day, seconds; no end where none is stored."""
        stored = self._scene.lab.stored()
        ends = (
            []
            if stored is None
            else [
                datetime.fromisoformat(sample["started_at"]).timestamp() + sample["elapsed_s"]
                for sample in stored.samples.to_pylist()
            ]
        )
        return max(ends, default=float("inf"))

    def check_manifest(self, now: State) -> None:
        """What it noted as put back is put back, and was when it noted it."""
        last: dict[str, dict[str, Any]] = {}
        for change in self._changes():
            if change["setting"] == "restore" and change["scope"] == "system":
                last[change["parameter"]] = change
        left = self.left(now)
        for name, change in last.items():
            key = ("parameter", name)
            theirs = self._scene.theirs.get(name)
            # What somebody set after it was put back is no untruth.
            overlooked = theirs and _noted_s(change) > theirs.to_s and now.get(key) == theirs.value
            if overlooked or (theirs is None and key in left):
                self.faults.append(
                    f"noted a restore of {name} to {change['after']}, and it is {now.get(key)}"
                )

    def _changes(self) -> Iterable[dict[str, Any]]:
        if self._scene.what != RUN:
            return ()
        stored = self._scene.lab.stored()
        return () if stored is None else stored.manifest["parameter_changes"]

    def check_samples(self, code: int, text: str, announced: int) -> None:
        """What was stored before is there and can be read."""
        stored = self._scene.lab.stored()
        rows = 0 if stored is None else stored.samples.num_rows
        if rows < announced:
            self.faults.append(f"{announced} samples were announced and {rows} are stored")
        told = re.search(r"Watched: (\d+) stretch", text)
        if told and int(told[1]) != rows:
            self.faults.append(f"{told[0]} was said, and {rows} are stored")
        if stored is not None and rows and self._report:
            ended = self._scene.lab.report()
            nothing_counts = ended.code == 2 and "can be used, so no figure can be computed" in ended.err
            if (ended.code and not nothing_counts) or "Traceback" in ended.err:
                self.faults.append(f"redolab report ended with {ended.code}: {ended.err.strip()[-300:]}")
        if code == 0 and (stored is None or stored.manifest["status"] != "finished"):
            self.faults.append("exit code 0, and the run is not finished")

    def check_guard(self, code: int, text: str) -> None:
        """A guard that was killed is started anew or named."""
        killed = self._scene.killed_guards
        if killed and code >= 0 and not self._scene.lab.guards_seen - killed and "guard" not in text:
            self.faults.append("its guard was killed, and it says nothing of it")

    def check_recovery(self, text: str, left: Sequence[tuple[str, str]]) -> None:
        """The statements that were printed, executed by whoever reads them, put things back."""
        refused = []
        left = [key for key in left if key[0] != "trap" and not (key[0] == "own" and "next run" in text)]
        if not left:
            return
        names = [re.escape(name) for _, name in left]
        # Those for what somebody else set are for whoever wants the earlier value.
        of_left = re.compile(rf"\b(?:{'|'.join([*names, 'pg_reload_conf'])})\b", re.IGNORECASE)
        for statement in filter(of_left.search, statements_in(text)):
            try:
                self._scene.server.execute(statement)
            except StatementError as error:
                refused.append(f"{statement}: {error}")
        now = self._scene.server.state()
        if still := [key for key in left if key in self.left(now)]:
            told = self._told(still, now)
            self.faults.append(f"after the printed statements still changed: {told} (refused: {refused})")

    def _told(self, keys: Iterable[tuple[str, str]], now: State) -> str:
        want = wanted(self._before, self._scene)
        return "; ".join(
            f"{kind} {name} was {want.get((kind, name))} is {now.get((kind, name))}" for kind, name in keys
        )
