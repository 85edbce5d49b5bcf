from __future__ import annotations

import pytest

from redolab.model.queueing import (
    response_time_cpu,
    response_time_io,
    response_time_single,
    solve_servers,
)


def test_one_server_is_the_single_queue() -> None:
    assert response_time_cpu(1.0, 0.5, 1.0) == pytest.approx(2.0)
    assert response_time_io(1.0, 0.5, 1.0) == pytest.approx(2.0)


def test_two_servers() -> None:
    assert response_time_cpu(1.0, 1.0, 2.0) == pytest.approx(1 / (1 - 0.25))
    assert response_time_io(1.0, 1.0, 2.0) == pytest.approx(2.0)


def test_nothing_arrives_nothing_queues() -> None:
    assert response_time_cpu(0.3, 0.0, 2.0) == 0.3


def test_no_value_at_saturation() -> None:
    with pytest.raises(ValueError, match="below 1"):
        response_time_cpu(1.0, 2.0, 2.0)
    with pytest.raises(ValueError, match="below 1"):
        response_time_io(1.0, 3.0, 2.0)


@pytest.mark.parametrize("servers", [0.02, 0.7, 1.0, 1.4, 8.0, 64.0])
def test_the_solved_number_of_servers_is_the_one_used(servers: float) -> None:
    service, arrival = 0.01, 0.8 * servers / 0.01
    response = response_time_cpu(service, arrival, servers)
    assert solve_servers(service, arrival, response) == pytest.approx(servers, rel=1e-6)


@pytest.mark.parametrize("point", [(1.0, 0.5, 1.0), (1.0, 0.5, 0.9), (0.0, 1.0, 1.0), (1.0, 0.0, 2.0)])
def test_no_servers_fit(point: tuple[float, float, float]) -> None:
    assert solve_servers(*point) is None


def test_a_single_server_by_hand() -> None:
    # 33 % busy with writes of 1 ms: R = 1 / (1 - 1/3) ms.
    assert response_time_single(0.001, 1.2e6 / 3600) == pytest.approx(0.0015)
    with pytest.raises(ValueError, match="below 1"):
        response_time_single(0.001, 1000.0)
