"""Response time over arrival rate: the measured points, and the published curve through them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from redolab.analysis.time_based import UnitOfWork
from redolab.model.queueing import response_time_cpu, solve_servers

_STEPS = 60
_FULLEST = 0.98
"""Share of saturation at which a drawn curve ends: it has no upper end of its own."""


def curve(accounts: Mapping[str, Sequence[UnitOfWork]], sessions: int | None) -> dict[str, Any]:
    """The response-time figure: points per setting, and per setting R = S/(1-(S L/M)^M).

    `sessions` is None where their number differs between settings, or work came at random moments.

    M is solved at the setting's mean (L, S, R). The load is closed (L R = sessions), so the curve
    passes through the point but does not forecast; it is drawn because the literature draws it.
    """
    return {
        "closed_loop": {"sessions": sessions},
        "points": [
            {
                "setting": name,
                "arrival_rate_per_s": [item.arrival_rate for item in items],
                "response_time_ms": [
                    None if item.response_time is None else 1e3 * item.response_time for item in items
                ],
            }
            for name, items in accounts.items()
        ],
        "published": [_published(name, items) for name, items in accounts.items()],
    }


def _published(name: str, items: Sequence[UnitOfWork]) -> dict[str, Any]:
    arrival = _mean([item.arrival_rate for item in items])
    service = _mean([item.service_time for item in items])
    response = _mean([item.response_time for item in items])
    servers = None
    if arrival is not None and service is not None and response is not None:
        servers = solve_servers(service, arrival, response)
    rates: list[float] = []
    times: list[float] = []
    if servers is not None and service is not None:
        rates = [_FULLEST * servers / service * step / _STEPS for step in range(1, _STEPS + 1)]
        times = [1e3 * response_time_cpu(service, rate, servers) for rate in rates]
    return {
        "setting": name,
        "servers": servers,
        "service_time_ms": None if service is None else 1e3 * service,
        "arrival_rate_per_s": rates,
        "response_time_ms": times,
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
