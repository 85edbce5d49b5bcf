from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from redolab.records.sample import ParameterChange


@dataclass(frozen=True)
class Parameter:
    name: str
    value: str


def read_parameters(control, names):
    out = {}
    with control.cursor() as c:
        for n in names:
            c.execute(f"select @@global.{n} as v")
            out[n] = Parameter(n, str(c.fetchone()["v"]))
    return out


class Parameters:
    def __init__(self, control, known, journal):
        self.changes = []
        self.control = control
        self._now = {n: p.value for n, p in known.items()}

    def apply(self, setting):
        for n, v in setting.parameters.items():
            if self._now.get(n) == v:
                continue
            with self.control.cursor() as c:
                c.execute(f"set global {n} = %s", (int(v),))
                c.execute(f"select @@global.{n} as v")
                assert str(c.fetchone()["v"]) == v, n
            self.changes.append(
                ParameterChange(
                    n,
                    self._now[n],
                    v,
                    "system",
                    datetime.now(UTC).isoformat(timespec="milliseconds"),
                    setting.name,
                )
            )
            self._now[n] = v
