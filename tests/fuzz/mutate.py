"""Bytes changed at random, by seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

_TOKENS = (
    b"", b"\0", b"\n", b"\r", b'"', b"'", b"[", b"]", b"{", b"}", b",", b";", b"\t", b":", b"=", b"#", b"-",
    b"1e999", b"NaN", b"inf", b"null", b"9" * 400, b"[" * 2000, b'{"a":' * 2000, b"\xff", b"\xed\xa0\x80",
    b"\xef\xbb\xbf", b"\\ud800", b'"""', b"a.b.c.d = 1", b"0x", b"_", b"1979-05-27T07:32:00Z",
)  # fmt: skip


def mutated(seeds: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """So many changed contents: bits flipped, parts cut, doubled and moved, tokens put in."""
    rng = random.Random(seed)
    for _ in range(count):
        content = bytearray(rng.choice(seeds))
        for _ in range(rng.choice((1, 1, 2, 4, 16))):
            _change(content, rng)
        yield bytes(content)


def _change(content: bytearray, rng: random.Random) -> None:
    first = rng.randrange(len(content) + 1)
    last = min(len(content), first + rng.choice((1, 4, 30, 1000)))
    kind = rng.randrange(6)
    if kind == 0 and first < len(content):
        content[first] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del content[first:last]
    elif kind == 2:
        content[first:first] = content[first:last]
    elif kind == 3:
        content[first:first] = rng.choice(_TOKENS)
    elif kind == 4:
        content[first:last] = rng.choice(_TOKENS)
    else:
        content[first:last] = rng.randbytes(last - first)
