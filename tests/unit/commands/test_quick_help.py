"""`redolab --help` is quick: nothing that is slow to import, and no driver, comes with the command line."""

from __future__ import annotations

import subprocess
import sys

SLOW = {
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "statsmodels",
    "psycopg",
    "pymysql",
    "oracledb",
    "sqlite3",
    "textual",
}


def test_the_command_line_imports_no_driver_and_nothing_slow() -> None:
    code = "import sys, redolab.cli; print(*(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert SLOW.isdisjoint(done.stdout.split())
