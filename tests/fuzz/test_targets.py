"""A short pass of every fuzz target, the same each time; the long one is `make long`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from redolab.errors import RedolabError
from tests.fuzz.mutate import mutated
from tests.fuzz.targets import TARGETS, remove_place

# Those that read a whole run take longer.
_CASES = {
    "manifest": 20,
    "sealed": 20,
    "results": 20,
    "page": 10,
    "waits": 20,
    "ledger": 40,
    "awr page": 20,
    "awr text": 20,
    "awr miner": 20,
    "statspack": 20,
    "oracle pack": 20,
}


@pytest.fixture(scope="module", autouse=True)
def _place() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # To be put back: the targets have a ledger of their own.
        patch.setenv("XDG_DATA_HOME", "")
        yield
    remove_place()


@pytest.mark.parametrize("name", TARGETS)
def test_what_it_starts_from_is_read(name: str) -> None:
    target = TARGETS[name]
    assert [target.read(seed) for seed in target.seeds()] != [None]


@pytest.mark.parametrize("name", TARGETS)
def test_any_bytes_end_in_a_sentence(name: str) -> None:
    target = TARGETS[name]
    refused, told, whole = 0, 0, repr(target.read(target.seeds()[0]))
    for content in mutated(target.seeds(), _CASES.get(name, 150), seed=1):
        try:
            told += repr(target.read(content)) != whole
        except RedolabError:
            refused += 1
    # Damage must be seen: refused, or told as a difference.
    assert refused + told > 0
