"""A process that does CPU work when it gets an order, and nothing otherwise.

    python -m redolab.engine.machine.spinner PARENT      reads one order a line from standard input

An order is three numbers: the moment to begin and the moment to end (nanoseconds of the monotonic
clock), and the most spins to do. The answer is three numbers too: spins done, begun, ended. The
timed part is compiled code (crates/redolab-spin). It ends with its parent, at once even when the
parent is killed in the middle of the work, and with the end of its standard input.
"""

from __future__ import annotations

import signal
import sys

from redolab import _core


def main() -> None:
    """Carry out orders until there are no more."""
    _core.die_with_parent(int(sys.argv[1]))
    # A Ctrl-C in the terminal is Redolab's to answer; it ends this process when it closes the engine.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("ready", flush=True)
    for line in sys.stdin:
        start_ns, until_ns, most = map(int, line.split())
        done = _core.spin(start_ns, most, until_ns)
        print(done.spins, done.begun_ns, done.ended_ns, flush=True)


if __name__ == "__main__":
    main()
