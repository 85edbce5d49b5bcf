"""The long form: `python -m tests.matrix [SERVER] [--only WORDS]`; each setting by itself, then in groups.

Exit code 1 where anything was untrue.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Sequence
from itertools import groupby

from tests.matrix.odd import Odd, together
from tests.matrix.play import odds_of, play, served
from tests.server_programs import server_programs
from tests.servers import installed_servers

SERVERS = (*(f"postgres {version}" for version in installed_servers()), *server_programs())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    parser.add_argument("servers", nargs="*", metavar="SERVER", help=", ".join(SERVERS))
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="settings with these words in their names"
    )
    parser.add_argument("--groups", action="store_true", help="in groups alone")
    parser.add_argument("--group", type=int, metavar="NUMBER", help="one group alone, counted from 0")
    asked = parser.parse_args(arguments)
    return sum(_tried(server, asked) for server in asked.servers or SERVERS) and 1


def _tried(server: str, asked: argparse.Namespace) -> int:
    odds = [odd for odd in odds_of(server) if asked.only in odd.name]
    in_groups = asked.groups or asked.group is not None
    tried = [] if in_groups else [[odd] for odd in sorted(odds, key=_start)]
    groups = [group for group in together(odds) if len(group) > 1] if not asked.only or in_groups else []
    tried += groups if asked.group is None else [groups[asked.group]]
    faults = 0
    for _, sharing in groupby(tried, key=lambda group: [_start(odd) for odd in group if odd.start]):
        faults += _shared(server, list(sharing))
    print(f"{server}: {len(odds)} settings, {len(tried)} servers, {faults} of them untrue", flush=True)
    return faults


def _start(odd: Odd) -> list[tuple[str, str]]:
    return sorted(odd.start.items())


def _shared(server: str, groups: Sequence[Sequence[Odd]]) -> int:
    """Try these one after the other on one server, which needs no restart between them."""
    faults = 0
    try:
        with served(server, groups[0]) as it:
            for odds in groups:
                began_s = time.monotonic()
                found = play(it, odds)
                faults += bool(found)
                _tell(server, odds, found, time.monotonic() - began_s)
    except Exception:  # noqa: BLE001  the others are tried, and this one is told
        _tell(server, groups[0], [f"the matrix itself failed: {traceback.format_exc()}"], 0)
        faults += 1
    return faults


def _tell(server: str, odds: Sequence[Odd], faults: Sequence[str], took_s: float) -> None:
    names = odds[0].name if len(odds) == 1 else f"{len(odds)} together"
    print(f"{server}: {names}; {took_s:.0f} s; {'UNTRUE' if faults else 'true'}", flush=True)
    for fault in faults:
        print(f"    {fault}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
