"""The long pass: `python -m tests.fuzz SECONDS [TARGET...]`, each target for so long, led by coverage.

Needs Atheris, which `make long` installs. Ends with 1 where a target raised anything but `RedolabError`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_READERS = (
    "json", "tomllib", "redolab.experiment.listed.file", "redolab.files.documents", "redolab.files.foreign",
    "redolab.forecast.checks.ledger", "redolab.records.manifest", "redolab.files.tables",
    "redolab.files.parquet_sizes", "redolab.records.sealed", "redolab.files.shapes", "redolab.records.schema",
    "redolab.records.store", "redolab.values.file", "redolab.commands.verify",
)  # fmt: skip
"""Whose coverage leads; the rest of Redolab would be slow to instrument."""


def main(arguments: list[str]) -> int:
    seconds, *names = arguments
    from tests.fuzz.targets import TARGETS

    failed = []
    for name in names or TARGETS:
        print(f"fuzzing {name} for {seconds} s", flush=True)
        # Atheris ends its process without cleaning up, so each target has one of its own.
        with tempfile.TemporaryDirectory(prefix="redolab-fuzz-") as place:
            ended = subprocess.run(
                [
                    sys.executable,
                    "-c",
                    f"from tests.fuzz.__main__ import fuzz; fuzz({name!r}, {int(seconds)})",
                ],
                env={**os.environ, "TMPDIR": place},
                check=False,
            )
        if ended.returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "no target failed")
    return 1 if failed else 0


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one target for so long; ends the process."""
    import atheris

    with atheris.instrument_imports(include=list(_READERS)):
        from redolab.errors import RedolabError
        from tests.fuzz.targets import TARGETS

    target = TARGETS[name]
    corpus = Path(tempfile.mkdtemp(prefix="redolab-corpus-"))
    for number, seed in enumerate(target.seeds()):
        (corpus / str(number)).write_bytes(seed)

    def one(content: bytes) -> None:
        with contextlib.suppress(RedolabError):
            target.read(content)

    options = [
        f"-max_total_time={seconds}",
        "-timeout=30",
        "-rss_limit_mb=4096",
        "-max_len=65536",
        "-verbosity=0",
    ]
    atheris.Setup([sys.executable, *options, f"-artifact_prefix={Path.cwd()}/", str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
