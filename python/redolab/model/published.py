"""The published response-time curves for an installation without the compiled part, which has them too.

Source: Craig Shallahamer, "Forecasting Oracle Performance" and OraPub (2010-2012).
"""

from __future__ import annotations

import math


def response_time_cpu(service_time: float, arrival_rate: float, servers: float) -> float:
    """R = S / (1 - (S L / M)^M); ValueError where S L reaches M."""
    busy = _utilization(service_time, arrival_rate, servers)
    return service_time if busy == 0 else service_time / -math.expm1(servers * math.log(busy))


def response_time_io(service_time: float, arrival_rate: float, servers: float) -> float:
    """R = S / (1 - S L / M); ValueError where S L reaches M."""
    return service_time / (1 - _utilization(service_time, arrival_rate, servers))


def solve_servers(service_time: float, arrival_rate: float, response_time: float) -> float | None:
    """The M at which the published CPU curve passes through a measured (L, R); None where no M does.

    Source: SciPy, `scipy.special.lambertw`.
    """
    from scipy.special import lambertw

    busy = service_time * arrival_rate
    if not (service_time > 0 and busy > 0 and response_time > service_time):
        return None
    free = -math.log1p(-service_time / response_time)
    if not math.isfinite(free) or free == 0:
        return None
    ratio = free / busy if busy < math.inf else 0.0
    return free / float(lambertw(ratio).real) if ratio > 0 else None


def _utilization(service_time: float, arrival_rate: float, servers: float) -> float:
    share = service_time * arrival_rate / servers
    if 0 <= share < 1:
        return share
    raise ValueError(f"S L / M is {share:g}; the curve needs it below 1")
