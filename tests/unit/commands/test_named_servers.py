"""`--engine` given several times: names, what all servers have in common, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from redolab.commands.targets.engines import common_ways, named_targets
from redolab.engine import find_offer
from redolab.errors import UsageError
from redolab.records.capability import Ways
from redolab.records.sample import Scope

ONE, OTHER = "postgresql://u@one/d", "postgresql://u@other/d?sslmode=require"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["embedded"], {"embedded": "embedded"}),
        ([ONE], {"postgresql": ONE}),
        # A name is for several.
        (["old=embedded"], {"old=embedded": "old=embedded"}),
        (["embedded", "embedded"], {"embedded-1": "embedded", "embedded-2": "embedded"}),
        (["embedded", "mariadb"], {"embedded": "embedded", "mariadb": "mariadb"}),
        (["embedded", ONE], {"embedded": "embedded", "postgresql": ONE}),
        # An `=` in a URL names nothing.
        ([ONE, OTHER], {"postgresql-1": ONE, "postgresql-2": OTHER}),
        (["old=embedded", f"v1.2-x={OTHER}"], {"old": "embedded", "v1.2-x": OTHER}),
        (["a=embedded", "embedded"], {"a": "embedded", "embedded": "embedded"}),
        (["mariadb", "mariadb:x"], {"mariadb": "mariadb", "mariadb:x": "mariadb:x"}),
    ],
)  # fmt: skip
def test_names(given: list[str], named: dict[str, str]) -> None:
    assert named_targets(given) == named
    assert list(named_targets(given)) == list(named)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a=embedded", "a=mariadb"], "Two servers are called a"),
        (["embedded=mariadb", "embedded"], "Two servers are called embedded"),
        ([ONE, f"b={ONE}"], "twice, and a run needs its server for itself"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(given: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        named_targets(given)


def test_all_servers_are_loaded_alike() -> None:
    offer = find_offer("embedded")
    in_client = Ways(("client",), timed=("client",), scopes=("system",))
    assert common_ways({"a": offer}) == offer.ways
    assert common_ways({"a": offer, "b": replace(offer, ways=in_client)}) == in_client
    # First what the first server does untold.
    turned: tuple[Scope, ...] = ("system", "session")
    other = Ways(("client", "server"), scopes=turned)
    assert common_ways({"a": replace(offer, ways=other), "b": offer}) == other
    # What only a client obeys on one of them is measured with clients on all.
    kinds = ("shared", "pooled")
    picky = replace(other, client_scopes=("session",), server_processes=kinds)
    assert common_ways({"a": replace(offer, ways=picky)}) == picky
    assert common_ways({"a": replace(offer, ways=picky), "b": offer}) == replace(picky, server_processes=())
    nowhere = replace(offer, ways=Ways((), scopes=("system",)))
    with pytest.raises(UsageError, match="a, b cannot be measured side by side"):
        common_ways({"a": offer, "b": nowhere})
