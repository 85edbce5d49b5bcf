"""The clean machines: `python -m tests.clean_machine [WHEEL] [--only WORDS]`; without a wheel, that of dist/.

Debian 12 and 13 with Python and nothing to build with; root and an ordinary user; each way to install. And
the RUN lines of the Containerfile.
Exit code 1 where anything failed.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.clean_machine.image import SUITE, play_image
from tests.clean_machine.root import USER, NotHereError, fresh, suites
from tests.clean_machine.story import Told, play
from tests.clean_machine.ways import PIPX, UV, VENV, Way

_DIST = Path(__file__).parents[2] / "dist"
# CPU time that an installation may take beside the download.
MOST_CPU_S = 30.0


def cases() -> Iterator[tuple[str, bool, str, Way]]:
    """Suite, slim or not, user, way."""
    for suite in suites():
        yield suite, False, "root", VENV
        yield suite, True, USER, VENV
        yield suite, False, USER, PIPX
        yield suite, False, USER, UV


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clean_machine", description=__doc__)
    parser.add_argument("wheel", nargs="?", type=Path)
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="machines with these words in their names"
    )
    asked = parser.parse_args(arguments)
    wheel = asked.wheel or next(iter(_DIST.glob(f"*{platform.machine()}.whl")), None)
    if wheel is None:
        print("NOT tested: clean machines. There is no wheel in dist/: make dist")
        return 1
    wrong = 0
    for suite, slim, user, way in cases():
        name = f"{suite}{' slim' if slim else ''}, {user}, {way.name}"
        if asked.only not in name:
            continue
        try:
            with fresh(suite, slim=slim, packages=way.packages) as root:
                told = play(root, way, user, wheel.absolute())
        except NotHereError as error:
            print(f"NOT tested: {name}: {error}", flush=True)
            continue
        wrong += bool(told.faults) or (told.install_cpu_s or 0.0) > MOST_CPU_S
        print(f"{name}: {_in_words(told)}", flush=True)
    image = f"{SUITE}, the Containerfile"
    if asked.only in image:
        wrong += _image(image, wheel.absolute())
    return wrong and 1


def _image(name: str, wheel: Path) -> int:
    """Try it; 1 where anything failed."""
    try:
        with fresh(SUITE) as root:
            faults = play_image(root, wheel)
    except NotHereError as error:
        print(f"NOT tested: {name}: {error}", flush=True)
        return 0
    words = "its RUN lines, doctor, a verdict, report, verify; nothing was written outside of its volume"
    print(f"{name}: {chr(10).join(['WRONG', *faults]) if faults else words}", flush=True)
    return 1 if faults else 0


def _in_words(told: Told) -> str:
    if told.faults:
        return "\n  ".join(["WRONG", *told.faults])
    words = "installed, a verdict, report, verify, explore, removed without a trace"
    if told.install_cpu_s is not None:
        words += f"; {told.install_cpu_s:.1f} s of CPU to install"
        words += f" (WRONG: at most {MOST_CPU_S:.0f})" if told.install_cpu_s > MOST_CPU_S else ""
    if told.beyond_s is not None:
        words += f"; the run took {told.beyond_s:.1f} s longer than announced"
    return words


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
