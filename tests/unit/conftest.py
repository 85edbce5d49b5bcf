"""Nothing here survives a power cut, and nothing has to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

_ABOUT_FILES = Path(__file__).parent / "files"


@pytest.fixture(autouse=True)
def _no_flush(request: pytest.FixtureRequest) -> Iterator[None]:
    """A made-up run is hundreds of files, and to wait for the disk after each takes longer than its analysis.

    What is about files themselves flushes them.
    """
    with pytest.MonkeyPatch.context() as patch:
        if _ABOUT_FILES not in request.path.parents:
            patch.setattr(os, "fsync", lambda _: None)
        yield
