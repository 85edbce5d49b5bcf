"""Writes noise.csv.gz: 40 series of 100 logarithms of throughput of one setting, nothing differing.

Each is autocorrelated (AR(1)) with a standard deviation of 1, plus a straight drift given in
those standard deviations over the whole series, eight series for each of five kinds. Run it from
this directory; the same seed gives the same file.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from scipy.signal import lfilter

KINDS = (("independent", 0.0, 0.0), ("ar 0.5", 0.5, 0.0), ("ar 0.8", 0.8, 0.0),
         ("drift 1", 0.0, 1.0), ("ar 0.5, drift 2", 0.5, 2.0))  # fmt: skip
SERIES, LENGTH, SETTLE = 8, 100, 200


def main() -> None:
    rng = np.random.default_rng(20261121)
    lines = ["kind,series,sample,log_throughput"]
    for kind, correlation, drift in KINDS:
        for series in range(1, SERIES + 1):
            shocks = rng.normal(size=SETTLE + LENGTH) * np.sqrt(1 - correlation**2)
            values = lfilter([1], [1, -correlation], shocks)[SETTLE:]
            values += drift * np.linspace(-0.5, 0.5, LENGTH)
            name = kind.replace(",", " +")
            lines += [f"{name},{series},{i},{value:.5f}" for i, value in enumerate(values, 1)]
    content = ("\n".join(lines) + "\n").encode()
    Path("noise.csv.gz").write_bytes(gzip.compress(content, mtime=0))


if __name__ == "__main__":
    main()
