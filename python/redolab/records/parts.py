"""The small files of a run that is not closed: one of each table for a sample, or for several together.

A part for one sample is `samples-000007.parquet`, one for several `samples-000001-000060.parquet`; its other
tables have the same numbers. Its row of `samples` comes last, and a sample counts from that moment on. Small
parts that were joined but not removed yet do not count; the joined part does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_OF_SAMPLES = re.compile(r"samples-(\d{6,9})(?:-(\d{6,9}))?\.parquet")
_OF_ANY_TABLE = re.compile(r"[a-z]+-\d{6,}(?:-\d{6,})?\.parquet")


def is_part(name: str) -> bool:
    """Whether a file of that name is a part of a table."""
    return _OF_ANY_TABLE.fullmatch(name) is not None


class Span(NamedTuple):
    """The samples of a part, the first and the last of them."""

    first: int
    last: int

    def file(self, kind: str) -> str:
        """The name of the file that has their rows of a table."""
        numbers = f"{self.first:06d}" if self.first == self.last else f"{self.first:06d}-{self.last:06d}"
        return f"{kind}-{numbers}.parquet"


def found_in(names: Iterable[str]) -> list[Span]:
    """Every part among the names of files, in the order of samples; a longer part comes before its parts."""
    matches = (match for name in names if (match := _OF_SAMPLES.fullmatch(name)))
    spans = (Span(int(match[1]), int(match[2] or match[1])) for match in matches)
    return sorted((span for span in spans if span.first <= span.last), key=lambda span: (span[0], -span[1]))


def parts_to_read(names: Iterable[str]) -> list[Span]:
    """The parts to be read: every sample of the run once.

    Parts inside a longer one were joined into it, and had not been removed yet.

    >>> parts_to_read(["samples-000002.parquet", "samples-000001-000002.parquet", "samples-000003.parquet"])
    [Span(first=1, last=2), Span(first=3, last=3)]
    """
    kept: list[Span] = []
    for span in found_in(names):
        if not kept or span.last > kept[-1].last:
            kept.append(span)
    return kept
